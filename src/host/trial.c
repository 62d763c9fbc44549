// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/trial.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/parse.h"
#include "host/host.h"

#define LOCK_TRY "try"
#define KEPT "kept"

static void write_note(int lock, const char *note)
{
	if (ftruncate(lock, 0) == 0 && pwrite(lock, note, strlen(note), 0) < 0)
		return; /* then --confirm does not find this process */
}

int vfctl_trial_open(struct vfctl_ctx *ctx, int *ret_lock)
{
	_free_ char *holder = NULL;
	int r = host_try_lock(ctx, LOCK_TRY, ret_lock);

	if (r == -EBUSY) {
		holder = host_lock_holder(ctx, LOCK_TRY);
		return ctx_fail(ctx, r, "another vfctl try waits for its answer: %s; to keep its changes: "
			"vfctl try --confirm", holder ? holder : "?");
	}
	if (r < 0)
		return r;
	write_note(*ret_lock, "");
	return 0;
}

void vfctl_trial_ask(int lock)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	write_note(lock, pid);
}

void vfctl_trial_close(int lock, bool kept)
{
	if (lock < 0)
		return;
	write_note(lock, kept ? KEPT "\n" : "rolled back\n");
	close(lock);
}

static bool is_kept(struct vfctl_ctx *ctx)
{
	_free_ char *note = NULL;

	return host_read(ctx, &note, HOST_LOCK_DIR "/" LOCK_TRY ".lock") == 0 && str_eq(note, KEPT);
}

/*
 * The process that holds the lock. A number that a file has is not enough: SIGUSR1 ends a process
 * that does not expect it.
 */
static pid_t find_trial(struct vfctl_ctx *ctx, const char *holder)
{
	_free_ char *note = NULL;
	char beginning[32];
	uint32_t pid;

	if (!holder || host_read(ctx, &note, HOST_LOCK_DIR "/" LOCK_TRY ".lock") < 0 ||
		parse_u32(note, 2, INT32_MAX, &pid) < 0)
		return 0;
	snprintf(beginning, sizeof(beginning), "process %u ", pid);
	return strncmp(holder, beginning, strlen(beginning)) == 0 ? (pid_t)pid : 0;
}

int vfctl_trial_confirm(struct vfctl_ctx *ctx, bool *ret_kept)
{
	_free_ char *holder = NULL;
	_close_ int lock = -1;
	int r = host_try_lock(ctx, LOCK_TRY, &lock);
	pid_t pid;

	if (r == 0)
		return ctx_usage_error(ctx, -ESRCH, "no vfctl try waits for an answer");
	if (r != -EBUSY)
		return r;
	holder = host_lock_holder(ctx, LOCK_TRY);
	pid = find_trial(ctx, holder);
	if (!pid)
		return ctx_fail(ctx, -ESRCH, "vfctl try does not wait for an answer now: %s",
			holder ? holder : "?");
	if (kill(pid, SIGUSR1) < 0)
		return ctx_fail(ctx, -errno, "confirm process %d: %s", (int)pid, strerror(errno));
	r = host_lock(ctx, LOCK_TRY, false, &lock);
	if (r == 0)
		*ret_kept = is_kept(ctx);
	return r;
}
