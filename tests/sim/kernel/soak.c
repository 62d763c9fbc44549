// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * soak ROUNDS: what a process that lives for long does through the library, over and over: VFs
 * created and destroyed, a guest with one of each PF defined and undefined, the host listed; each
 * round with changes that are refused, too. Memory in use and open descriptors after the last
 * round are as after round WARM. The host is $SIM_ROOT, the state file $SIM_STATE.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_DO_QUICK_LEAK_CHECK
#define VALGRIND_COUNT_LEAKS(a, b, c, d)
#endif
#ifdef __SANITIZE_ADDRESS__
/* sanitizer/allocator_interface.h, which gcc does not install */
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

#include "facts/session.h"
#include "guest/plans.h"
#include "hypervisor.h"
#include "vfs/plans.h"

#define WARM 10
#define VFS 7

static const char guest_yaml[] = "name: soak\nuuid: 11111111-1111-4111-8111-111111111111\n"
	"vcpus: 2\nmemory: 512MiB\nhugepages: none\nvfs:\n  - {pf: ens1, vlan: 7}\n"
	"  - {pf: ib0}\n";

/* Exact under valgrind and ASan; glibc counts what it keeps for later, so: 0. */
static unsigned long heap_in_use(void)
{
#ifdef __SANITIZE_ADDRESS__
	return __sanitizer_get_current_allocated_bytes();
#else
	unsigned long lost = 0, dubious = 0, reachable = 0, suppressed = 0;

	if (RUNNING_ON_VALGRIND) {
		VALGRIND_DO_QUICK_LEAK_CHECK;
		VALGRIND_COUNT_LEAKS(lost, dubious, reachable, suppressed);
	}
	return lost + dubious + reachable + suppressed;
#endif
}

/* valgrind before 3.22 does not know openat2; the links of a simulated host are relative. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d);

long __wrap_syscall(long number, long a, long b, long c, long d)
{
	const struct open_how *how = (const void *)c;
	const char *path = (const char *)b;

	if (number != SYS_openat2 || !RUNNING_ON_VALGRIND)
		return __real_syscall(number, a, b, c, d);
	path += strspn(path, "/");
	return openat((int)a, *path ? path : ".", (int)how->flags, (mode_t)how->mode);
}

static unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int connect_sim(struct vfctl_ctx *ctx, const char *uri, struct vfctl_hypervisor **ret)
{
	return sim_hypervisor_new(ctx, ret);
}

/* Run what was planned, if it was. */
static int finish(struct vfctl_ctx *ctx, int planned, struct vfctl_change **change)
{
	int r = planned == 0 ? vfctl_change_run(ctx, *change) : planned;

	vfctl_change_free(*change);
	return r;
}

static int create(struct vfctl_ctx *ctx, const char *pf, uint32_t count, struct vfctl_ids *ids)
{
	const struct vfctl_create_options options = {.count = count, .ids = ids};
	struct vfctl_change *change = NULL;

	return finish(ctx, vfctl_create_plan(ctx, pf, &options, false, &change), &change);
}

static int destroy(struct vfctl_ctx *ctx, const char *pf, struct vfctl_ids *ids)
{
	struct vfctl_change *change = NULL;

	return finish(ctx, vfctl_destroy_plan(ctx, ids, pf, NULL, false, &change), &change);
}

static int define(struct vfctl_ctx *ctx, struct vfctl_session *session)
{
	struct vfctl_guest *guest = NULL;
	struct vfctl_change *change = NULL;
	int r = vfctl_guest_parse(ctx, "soak.yaml", guest_yaml, strlen(guest_yaml), &guest);

	if (r == 0)
		r = finish(ctx, vfctl_define_plan(ctx, guest, session_place(session), NULL,
			NULL, false, &change), &change);
	vfctl_guest_free(guest);
	return r;
}

static int undefine(struct vfctl_ctx *ctx, struct vfctl_session *session)
{
	const struct vfctl_undefine_options options = {.ids = session_ids(session)};
	struct vfctl_change *change = NULL;

	return finish(ctx, vfctl_undefine_plan(ctx, session_hypervisor(session), "soak",
		&options, false, &change), &change);
}

static int list(struct vfctl_ctx *ctx)
{
	struct vfctl_snapshot *snapshot = NULL;
	int r = vfctl_snapshot_read(ctx, NULL, &snapshot);

	vfctl_snapshot_free(snapshot);
	return r;
}

/* A request that must be refused: the round fails if it is not. */
static int refused(int r)
{
	return r < 0 ? 0 : -EPROTO;
}

static int one_round(struct vfctl_ctx *ctx)
{
	const struct session_options options = {.write = true, .connect = connect_sim};
	struct vfctl_session *session = NULL;
	int r = session_open(ctx, &options, &session);
	struct vfctl_ids *ids = r == 0 ? session_ids(session) : NULL;

	if (r == 0)
		r = create(ctx, "ens1", VFS, ids);
	if (r == 0)
		r = create(ctx, "ib0", VFS, ids);
	if (r == 0)
		r = define(ctx, session);
	if (r == 0) /* it is defined so already */
		r = define(ctx, session);
	if (r == 0)
		r = refused(destroy(ctx, "ens1", ids));
	if (r == 0)
		r = refused(create(ctx, "ens1", VFS + 1, ids));
	if (r == 0)
		r = list(ctx);
	if (r == 0)
		r = undefine(ctx, session);
	if (r == 0)
		r = destroy(ctx, "ens1", ids);
	if (r == 0)
		r = destroy(ctx, "ib0", ids);
	vfctl_session_close(session);
	return r;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc == 2 ? (unsigned)atoi(argv[1]) : 0, fds = 0, fds_end;
	const char *root = getenv("SIM_ROOT"), *state = getenv("SIM_STATE");
	struct vfctl_ctx *ctx = NULL;
	unsigned long heap = 0, heap_end;
	struct host *h;
	int r;

	if (rounds <= WARM || !root || !state || vfctl_ctx_new(&ctx) < 0)
		return 2;
	r = sim_host_new(root, &h);
	if (r == 0)
		host_set(ctx, h);
	if (r == 0)
		r = vfctl_ctx_set_state_path(ctx, state);
	for (unsigned i = 1; i <= rounds && r == 0; i++) {
		r = one_round(ctx);
		if (i == WARM) {
			heap = heap_in_use();
			fds = open_descriptors();
		}
	}
	heap_end = heap_in_use();
	fds_end = open_descriptors();
	if (r < 0)
		fprintf(stderr, "soak: %s\n", vfctl_ctx_error(ctx));
	else
		printf("%u rounds: %lu bytes in use after round %d, %lu at the end; %u and %u "
		       "descriptors\n", rounds, heap, WARM, heap_end, fds, fds_end);
	vfctl_ctx_free(ctx);
	return r < 0 || heap_end > heap || fds_end > fds;
}
