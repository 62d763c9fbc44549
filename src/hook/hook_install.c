// SPDX-License-Identifier: GPL-2.0-or-later
#include "hook/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/change.h"
#include "base/parse.h"
#include "base/planning.h"
#include "hook/hook_install.h"
#include "host/host.h"

#define HOOK_DIR "/etc/libvirt/hooks/qemu.d"
/*
 * libvirt runs every executable file in HOOK_DIR, whatever its name, so an incomplete file must not
 * be there. In the directory above it runs only files with certain names.
 */
#define HOOK_NEW "/etc/libvirt/hooks/.50-vfctl.new"
#define RELOAD_STAMP "/run/vfctl/hook-reload"

/* Where a file of the host is: in the tests, below the root of the simulated one. */
struct at {
	char path[4096];
};

static struct at *put_at(struct at *at, struct vfctl_ctx *ctx, const char *path)
{
	snprintf(at->path, sizeof(at->path), "%s%s", host_of(ctx)->root, path);
	return at;
}

#define AT_HOST(ctx, file) (put_at(&(struct at){{0}}, (ctx), (file))->path)

/* ---- the daemon ---- */

static const char *const daemons[] = {"libvirtd", "virtqemud"};

static bool is_daemon_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(daemons); i++)
		if (str_eq(name, daemons[i]))
			return true;
	return false;
}

/* The process id in a stale file may belong to another process now. */
static bool is_daemon(int pid)
{
	char path[32], exe[4096], *deleted;
	_cleanup_(buf_free) struct buf comm = {0};
	struct host here = {.root_fd = -1};
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = '\0';
		/* A daemon that was upgraded but not restarted. */
		deleted = strstr(exe, " (deleted)");
		if (deleted)
			*deleted = '\0';
		return is_daemon_name(strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe);
	}
	/* Only root can read more than the name. */
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	return files_read(&here, path, &comm) == 0 && comm.data &&
		is_daemon_name(str_rstrip(comm.data));
}

/* libvirtd, or the daemon of the qemu driver; both write a pid file. */
static int find_daemon(struct vfctl_ctx *ctx)
{
	static const char *const files[] = {"/run/virtqemud.pid", "/run/libvirtd.pid",
		"/run/libvirt/virtqemud.pid", "/run/libvirt/libvirtd.pid"};
	struct host here = {.root_fd = -1};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_(buf_free) struct buf text = {0};
		int pid;

		if (files_read(&here, AT_HOST(ctx, files[i]), &text) == 0 && text.data &&
			parse_int(str_rstrip(text.data), 1, INT_MAX, &pid) == 0 && is_daemon(pid))
			return pid;
	}
	return 0;
}

static bool has_libvirt(struct vfctl_ctx *ctx)
{
	static const char *const dirs[] = {"/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/libexec"};

	for (size_t i = 0; i < ARRAY_SIZE(dirs) * ARRAY_SIZE(daemons); i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/%s", dirs[i / ARRAY_SIZE(daemons)],
			daemons[i % ARRAY_SIZE(daemons)]);
		if (access(AT_HOST(ctx, path), F_OK) == 0)
			return true;
	}
	return access(AT_HOST(ctx, "/etc/libvirt/qemu.conf"), F_OK) == 0 || find_daemon(ctx);
}

/* Use a pidfd: the process id may be reused between the check and the signal. */
static int tell_daemon(int pid)
{
	_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 || !is_daemon(pid))
		return fd < 0 && errno != ESRCH ? -errno : 0;
	return syscall(SYS_pidfd_send_signal, fd, SIGHUP, NULL, 0) < 0 && errno != ESRCH ? -errno : 0;
}

static int64_t changed_at(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mtime : -1;
}

/* The directory of a process in /proc has the time of its start. */
static int64_t started_at(int pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return changed_at(path);
}

/* A daemon that does not run reads the hooks when it starts. */
static int apply_reload(struct vfctl_ctx *ctx, const struct op *op)
{
	int pid = find_daemon(ctx), fd, r = pid ? tell_daemon(pid) : 0;

	if (r < 0)
		return ctx_fail(ctx, r, "tell the libvirt daemon (pid %d) to read its hooks: "
			"%s", pid, strerror(-r));
	mkdir(AT_HOST(ctx, "/run/vfctl"), 0755);
	fd = open(AT_HOST(ctx, RELOAD_STAMP), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
	return 0;
}

/* ---- files ---- */

static bool same_content(const char *a, const char *b)
{
	_cleanup_(buf_free) struct buf x = {0}, y = {0};
	struct host here = {.root_fd = -1};

	return files_read(&here, a, &x) == 0 && files_read(&here, b, &y) == 0 &&
		x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
}

/* Beside the running program (a build tree), or where the package installs it. */
static int find_program(struct vfctl_ctx *ctx, const char *given, char **ret)
{
	_free_ char *beside = NULL;
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *tries[3];

	if (n > 0) {
		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		beside = str_format("%s/vfctl-hook-qemu", self);
	}
	tries[0] = given;
	tries[1] = VFCTL_LIBEXECDIR "/vfctl-hook-qemu";
	tries[2] = beside;
	for (size_t i = 0; i < (given ? 1 : ARRAY_SIZE(tries)); i++)
		if (tries[i] && access(tries[i], R_OK) == 0) {
			*ret = strdup(tries[i]);
			return *ret ? 0 : ctx_oom(ctx);
		}
	if (given)
		return ctx_usage_error(ctx, -ENOENT, "hook program %s not found", given);
	return ctx_fail(ctx, -ENOENT, "hook program not found: " VFCTL_LIBEXECDIR
		"/vfctl-hook-qemu");
}

static int copy_to(const char *from, const char *to)
{
	_close_ int in = open(from, O_RDONLY | O_CLOEXEC);
	_close_ int out = -1;
	struct stat st;
	off_t done = 0;

	if (unlink(to) < 0 && errno != ENOENT)
		return -errno;
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (in < 0 || out < 0 || fstat(in, &st) < 0)
		return -errno;
	while (done < st.st_size)
		if (sendfile(out, in, &done, (size_t)(st.st_size - done)) <= 0)
			return -errno;
	return fchmod(out, 0755) < 0 || fsync(out) < 0 ? -errno : 0;
}

static int install(struct vfctl_ctx *ctx, const char *program)
{
	const char *new = AT_HOST(ctx, HOOK_NEW);
	int r;

	mkdir(AT_HOST(ctx, "/etc/libvirt"), 0755);
	mkdir(AT_HOST(ctx, "/etc/libvirt/hooks"), 0755);
	mkdir(AT_HOST(ctx, HOOK_DIR), 0755);
	if (!has_libvirt(ctx))
		log_warn(ctx, "libvirt is not installed on this host (neither libvirtd nor virtqemud "
			"exists); the hook has no effect until it is");
	r = copy_to(program, new);
	if (r == 0 && rename(new, AT_HOST(ctx, VFCTL_HOOK_PATH)) < 0)
		r = -errno;
	if (r < 0) {
		unlink(new);
		return ctx_fail(ctx, r, "write %s: %s%s", VFCTL_HOOK_PATH, strerror(-r),
			r == -EACCES || r == -ENOENT ? " (it needs root)" : "");
	}
	return 0;
}

static int apply_program(struct vfctl_ctx *ctx, const struct op *op)
{
	if (op->want[0])
		return install(ctx, op->want);
	if (unlink(AT_HOST(ctx, VFCTL_HOOK_PATH)) < 0 && errno != ENOENT)
		return ctx_fail(ctx, -errno, "remove %s: %s", VFCTL_HOOK_PATH, strerror(errno));
	return 0;
}

static int observe_program(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	const char *path = AT_HOST(ctx, VFCTL_HOOK_PATH);
	bool is = op->want[0] && same_content(op->want, path);
	bool there = access(path, F_OK) == 0;

	return op_say(ctx, is ? op->want : there ? "another" : "", ret);
}

static int observe_reload(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	struct vfctl_hook_status status;
	int r = vfctl_hook_status_read(ctx, &status);

	return r < 0 ? r : op_say(ctx, status.seen_by_daemon ? "seen" : "", ret);
}

/*
 * Both are kept if a later step fails: the hook does nothing for domains that vfctl did not define.
 * They are not in the journal: the copy is one rename, and the next `hook install` repeats a
 * missing reload.
 */
OP_ONE_BY_ONE(hook_program, observe_program, apply_program, NULL)
const struct op_type op_hook_program = {.name = "hook-program", OP_CALLS(hook_program),
	.nature = OP_KEPT};
OP_ONE_BY_ONE(hook_reload, observe_reload, apply_reload, NULL)
const struct op_type op_hook_reload = {.name = "hook-reload", OP_CALLS(hook_reload),
	.nature = OP_KEPT};

static void add_reload(struct vfctl_ctx *ctx, struct steps *steps)
{
	int pid = find_daemon(ctx);

	if (pid)
		step_add_op(steps, &op_hook_reload, "seen", NULL, "libvirt",
			"tell the libvirt daemon (pid %d) to read its hooks again", pid);
}

int vfctl_hook_install_plan(struct vfctl_ctx *ctx, const char *program,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	struct vfctl_hook_status status;
	_free_ char *found = NULL;
	int r = host_check_writable(ctx);

	if (r == 0)
		r = change_new(ctx, &change);
	if (r == 0)
		r = find_program(ctx, program, &found);
	if (r == 0)
		r = vfctl_hook_status_read(ctx, &status);
	if (r < 0)
		return r;
	if (!status.executable || !same_content(found, AT_HOST(ctx, VFCTL_HOOK_PATH)))
		step_add_op(&change->steps, &op_hook_program, found, NULL, VFCTL_HOOK_PATH,
			"copy %s to %s", found, VFCTL_HOOK_PATH);
	if (change->steps.count || !status.seen_by_daemon)
		add_reload(ctx, &change->steps);
	*ret_change = steal(change);
	return 0;
}

int vfctl_hook_remove_plan(struct vfctl_ctx *ctx, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = host_check_writable(ctx);

	if (r == 0)
		r = change_new(ctx, &change);
	if (r < 0)
		return r;
	if (access(AT_HOST(ctx, VFCTL_HOOK_PATH), F_OK) == 0) {
		step_add_op(&change->steps, &op_hook_program, "", NULL, VFCTL_HOOK_PATH,
			"remove %s", VFCTL_HOOK_PATH);
		add_reload(ctx, &change->steps);
	}
	*ret_change = steal(change);
	return 0;
}

int vfctl_hook_status_read(struct vfctl_ctx *ctx, struct vfctl_hook_status *ret_status)
{
	struct vfctl_hook_status s = {.daemon_pid = find_daemon(ctx)};
	const char *hook = AT_HOST(ctx, VFCTL_HOOK_PATH);
	_free_ char *program = NULL;
	int64_t told, installed = changed_at(hook);

	s.has_libvirt = has_libvirt(ctx);
	s.installed = installed >= 0;
	s.executable = access(hook, X_OK) == 0;
	if (find_program(ctx, NULL, &program) == 0)
		s.current = same_content(program, hook);
	ctx_clear(ctx);
	told = changed_at(AT_HOST(ctx, RELOAD_STAMP));
	if (s.daemon_pid && started_at(s.daemon_pid) > told)
		told = started_at(s.daemon_pid);
	s.seen_by_daemon = s.installed && (!s.daemon_pid || told >= installed);
	*ret_status = s;
	return 0;
}
