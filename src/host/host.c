// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/host.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/lock_holder.h"

#define LOCK_TELL_MS 1000
#define REPLY_TIMEOUT_MS 30000
/* A lock that is held for longer than this belongs to a process that hangs. */
#define READ_TIMEOUT_MS 30000
#define MODULE_TIMEOUT_MS 60000
#define SERVICE_TIMEOUT_MS 60000
/* Minimum time for a write of a roll-back, even if the budget is used up. */
#define WRITE_LEAST_MS 1000
#define WAIT_MAX_MS 30000
#define PATH_ROOM 512

static void host_delete(struct host *h)
{
	h->ops->free(h);
}

/*
 * The user who requests changes: that of this process, and the original user before sudo or su
 * (audit(7)).
 */
static char *own_origin(void)
{
	struct host here = {.root_fd = -1};
	_buf_ struct buf login = {0};

	if (files_read(&here, "/proc/self/loginuid", &login) < 0 || !login.data ||
		str_eq(login.data, "4294967295"))
		return str_format("uid %u", getuid());
	return str_format("uid %u, login uid %s", getuid(), login.data);
}

static void host_audit(struct vfctl_ctx *ctx, const char *text)
{
	struct host *h = ctx->host;
	_free_ char *line = NULL;

	if (!h || !h->ops->audit)
		return;
	if (!ctx->origin)
		ctx->origin = own_origin();
	line = str_format("%s: %s", ctx->origin ? ctx->origin : "?", text);
	/* One event is one line of plain text, whatever the name of a domain contains. */
	for (char *c = line; c && *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f ||
			((unsigned char)*c == 0xc2 && ((unsigned char)c[1] & 0xe0) == 0x80))
			*c = '?';
	if (line)
		h->ops->audit(h, line);
}

void host_set(struct vfctl_ctx *ctx, struct host *h)
{
	ctx->audit = host_audit;
	if (ctx->host)
		ctx->host_free(ctx->host);
	ctx->host = h;
	ctx->host_free = host_delete;
}

struct host *host_of(struct vfctl_ctx *ctx)
{
	struct host *h;

	if (!ctx->host && real_host_new(&h) == 0)
		host_set(ctx, h);
	return ctx->host;
}

/* Format a path from the variable arguments that follow @fmt. */
#define PATH_OF(path, fmt)                                                               \
	char path[PATH_ROOM];                                                            \
	do {                                                                             \
		va_list args_;                                                           \
		int n_;                                                                  \
		va_start(args_, fmt);                                                    \
		n_ = vsnprintf(path, sizeof(path), fmt, args_);                          \
		va_end(args_);                                                           \
		if (n_ < 0 || (size_t)n_ >= sizeof(path))                                \
			path[0] = '\0'; /* matches no file: -ENOENT */                     \
	} while (0)

/*
 * Ordinary results of sysfs and procfs besides success: absent, removed meanwhile, not a link, not
 * supported by this driver, the speed of a link that is down.
 */
static bool is_answer(int r)
{
	static const int answers[] = {-ENOENT, -ENOTDIR, -ENODEV, -ENXIO, -ESRCH, -EINVAL,
		-EOPNOTSUPP};

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		if (r == answers[i])
			return true;
	return r >= 0;
}

static int note_host(struct vfctl_ctx *ctx, const char *path, int r)
{
	if (!is_answer(r) && !ctx->unread)
		ctx->unread = str_format("%s cannot be read: %s", path, strerror(-r));
	return r;
}

char *host_take_unread(struct vfctl_ctx *ctx)
{
	return steal(ctx->unread);
}

static int try_read(struct vfctl_ctx *ctx, const char *path, char **ret_text)
{
	struct host *h = host_of(ctx);
	_buf_ struct buf text = {0};
	int r;

	if (!h)
		return -ENOMEM;
	r = note_host(ctx, path, h->ops->read(h, path, &text));
	if (r < 0)
		return r;
	*ret_text = str_rstrip(buf_steal(&text));
	return 0;
}

int host_try_read(struct vfctl_ctx *ctx, char **ret_text, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	return try_read(ctx, path, ret_text);
}

int host_try_read_slow(struct vfctl_ctx *ctx, char **ret_text, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	struct host *h = host_of(ctx);
	_buf_ struct buf text = {0};
	int r;

	if (!h || !h->ops->read_slow)
		return h ? try_read(ctx, path, ret_text) : -ENOMEM;
	ctx_progress(ctx, "reading %s", path);
	r = note_host(ctx, path, h->ops->read_slow(h, path, ctx_time_left(ctx, READ_TIMEOUT_MS), &text));
	if (r < 0)
		return r;
	*ret_text = str_rstrip(buf_steal(&text));
	return 0;
}

int host_try_bytes(struct vfctl_ctx *ctx, struct buf *ret_bytes, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	struct host *h = host_of(ctx);

	return h ? h->ops->read(h, path, ret_bytes) : -ENOMEM;
}

int host_read(struct vfctl_ctx *ctx, char **ret_text, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	int r = try_read(ctx, path, ret_text);

	if (r < 0)
		ctx_fail(ctx, r, "read %s: %s", path, strerror(-r));
	return r;
}

int host_try_link(struct vfctl_ctx *ctx, char **ret_target, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	struct host *h = host_of(ctx);

	return h ? note_host(ctx, path, h->ops->readlink(h, path, ret_target)) : -ENOMEM;
}

int host_try_link_name(struct vfctl_ctx *ctx, char **ret_name, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	_free_ char *target = NULL;
	const char *slash;
	int r = host_try_link(ctx, &target, "%s", path);

	if (r < 0)
		return r;
	slash = strrchr(target, '/');
	*ret_name = strdup(slash ? slash + 1 : target);
	return note_host(ctx, path, *ret_name ? 0 : -ENOMEM);
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

int host_try_list(struct vfctl_ctx *ctx, char ***ret_names, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	struct host *h = host_of(ctx);
	int r;

	if (!h)
		return -ENOMEM;
	r = note_host(ctx, path, h->ops->list(h, path, ret_names));
	if (r == 0)
		qsort(*ret_names, strv_len(*ret_names), sizeof(char *), compare_names);
	return r;
}

bool host_exists(struct vfctl_ctx *ctx, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	struct host *h = host_of(ctx);
	_free_ char *target = NULL;
	int r;

	if (!h)
		return false;
	r = note_host(ctx, path, h->ops->readlink(h, path, &target));
	return r == 0 || r == -EINVAL; /* -EINVAL: it exists, but is not a link */
}

bool host_write_goes_on(struct vfctl_ctx *ctx, const char *fmt, ...)
{
	PATH_OF(path, fmt);

	return str_eq(ctx->unfinished_path, path);
}

int host_check(struct vfctl_ctx *ctx)
{
	struct host *h = host_of(ctx);
	int r = h && h->ops->check ? h->ops->check(h) : 0;

	return r < 0 ? ctx_fail(ctx, r, "%s describes more devices and files than any host has; vfctl "
		"stopped reading it", h->root) : 0;
}

int host_check_writable(struct vfctl_ctx *ctx)
{
	struct host *h = host_of(ctx);

	if (h && h->ops->read_only)
		return ctx_fail(ctx, -EROFS, "%s is a captured host and cannot be changed",
			h->root);
	return 0;
}

static const char *write_hint(int error)
{
	if (error == -EACCES || error == -EPERM)
		return " (it needs root)";
	return "";
}

/* With a budget, every write has a time limit, because any device may hang. */
static unsigned write_budget(const struct vfctl_ctx *ctx, unsigned timeout_ms)
{
	unsigned left;

	if (!ctx->deadline_ms)
		return timeout_ms;
	left = ctx_time_left(ctx, ctx->write_timeout_ms);
	return left > WRITE_LEAST_MS ? left : WRITE_LEAST_MS;
}

static int write_path(struct vfctl_ctx *ctx, const char *path, const char *text,
	unsigned timeout_ms)
{
	struct host *h = host_of(ctx);
	int r = host_check_writable(ctx);

	if (r < 0)
		return r;
	timeout_ms = write_budget(ctx, timeout_ms);
	ctx_progress(ctx, "writing '%s' to %s", text, path);
	r = h->ops->write(h, path, text, timeout_ms);
	log_debug(ctx, "write '%s' to %s: %s", text, path, r < 0 ? errno_name(r) : "ok");
	if (r == -ETIMEDOUT) {
		ctx->unfinished = true;
		str_copy(ctx->unfinished_path, sizeof(ctx->unfinished_path), path);
		return ctx_fail(ctx, r,
			"write '%s' to %s: the kernel did not answer within %u s; the write goes on in "
			"a process of its own (see dmesg, and which process uses the device)",
			text, path, (timeout_ms + 999) / 1000);
	}
	if (r < 0)
		return ctx_fail(ctx, r, "write '%s' to %s: %s (%s)%s", text, path,
			errno_name(r), strerror(-r), write_hint(r));
	return 0;
}

int host_write(struct vfctl_ctx *ctx, const char *text, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	return write_path(ctx, path, text, 0);
}

int host_write_slow(struct vfctl_ctx *ctx, const char *text, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	return write_path(ctx, path, text, ctx->write_timeout_ms);
}

int host_write_watched(struct vfctl_ctx *ctx, void (*tick)(void *data), void *data,
	const char *text, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	struct host *h = host_of(ctx);
	int r;

	if (!h)
		return ctx_oom(ctx);
	h->tick = tick;
	h->tick_data = data;
	r = write_path(ctx, path, text, ctx->write_timeout_ms);
	h->tick = NULL;
	return r;
}

int host_replace(struct vfctl_ctx *ctx, const char *text, const char *fmt, ...)
{
	PATH_OF(path, fmt);
	struct host *h = host_of(ctx);
	int r = host_check_writable(ctx);

	if (r < 0)
		return r;
	r = h->ops->replace(h, path, text);
	log_debug(ctx, "%s %s: %s", text ? "write" : "remove", path, r < 0 ? errno_name(r) : "ok");
	if (r < 0)
		return ctx_fail(ctx, r, "%s %s: %s (%s)%s", text ? "write" : "remove", path,
			errno_name(r), strerror(-r), write_hint(r));
	return 0;
}

int host_exchange(struct vfctl_ctx *ctx, int protocol, const void *request, size_t len,
	struct buf *ret_reply)
{
	struct host *h = host_of(ctx);
	int r;

	if (!h)
		return ctx_oom(ctx);
	ctx_progress(ctx, "waiting for the kernel's answer by netlink");
	r = note_host(ctx, "netlink", h->ops->exchange(h, protocol, request, len,
		ctx_time_left(ctx, REPLY_TIMEOUT_MS), ret_reply));
	if (r < 0)
		return ctx_fail(ctx, r, "netlink: %s", strerror(-r));
	return 0;
}

/* Where modules come from that the kernel's own package does not have. */
static const char *module_source(const char *name)
{
	if (str_eq(name, "nvidia-peermem") || str_eq(name, "nvidia_peermem"))
		return "; it is part of NVIDIA's GPU driver: Debian's nvidia-open-kernel-dkms or "
			"nvidia-kernel-dkms";
	if (str_starts(name, "ib_") || str_starts(name, "rdma_"))
		return "; Ubuntu has it in linux-modules-extra, Debian in each linux-image but the cloud "
			"kernel";
	return "";
}

int host_load_module(struct vfctl_ctx *ctx, const char *name)
{
	struct host *h = host_of(ctx);
	int r = host_check_writable(ctx);

	if (r < 0)
		return r;
	ctx_progress(ctx, "loading the kernel module %s", name);
	r = h->ops->load_module(h, name, ctx_time_left(ctx, MODULE_TIMEOUT_MS));
	if (r < 0)
		return ctx_fail(ctx, r, "cannot load the kernel module %s (for the reason: modprobe %s)%s",
			name, name, module_source(name));
	return 0;
}

int host_service(struct vfctl_ctx *ctx, const char *verb, const char *unit)
{
	struct host *h = host_of(ctx);
	int r = host_check_writable(ctx);

	if (r < 0)
		return r;
	ctx_progress(ctx, "systemctl %s %s", verb, unit);
	r = h->ops->service ? h->ops->service(h, verb, unit, ctx_time_left(ctx, SERVICE_TIMEOUT_MS))
			    : -EOPNOTSUPP;
	if (r < 0)
		return ctx_fail(ctx, r, "systemctl %s %s failed (for the reason: systemctl status %s)",
			verb, unit, unit);
	return 0;
}

int host_hangup(struct vfctl_ctx *ctx, const char *name)
{
	struct host *h = host_of(ctx);
	int r = host_check_writable(ctx);

	if (r == 0 && h->ops->hangup)
		r = h->ops->hangup(h, name);
	return r < 0 ? ctx_fail(ctx, r, "send SIGHUP to %s: %s", name, strerror(-r)) : 0;
}

int host_nvme_identify(struct vfctl_ctx *ctx, const char *path, unsigned cns,
	uint8_t ret_data[HOST_NVME_DATA])
{
	struct host *h = host_of(ctx);

	if (!h || !h->ops->nvme_identify)
		return -EOPNOTSUPP;
	ctx_progress(ctx, "asking %s for its controllers", path);
	return h->ops->nvme_identify(h, path, cns, ret_data);
}

int host_kernel_log(struct vfctl_ctx *ctx, struct buf *ret_text)
{
	struct host *h = host_of(ctx);

	return h && h->ops->kernel_log ? h->ops->kernel_log(h, ret_text) : -EOPNOTSUPP;
}

int host_may_write(struct vfctl_ctx *ctx, const char *fmt, ...)
{
	struct host *h = host_of(ctx);
	unsigned mode;
	int r;
	PATH_OF(path, fmt);

	if (!h || !h->ops->mode)
		return -EOPNOTSUPP;
	r = h->ops->mode(h, path, &mode);
	return r < 0 ? r : (mode & 0200) != 0;
}

int host_hold(struct vfctl_ctx *ctx, const char *path, const void *data, size_t len, int *ret_fd)
{
	struct host *h = host_of(ctx);
	int r = h && h->ops->hold ? h->ops->hold(h, path, data, len, ret_fd) : -EOPNOTSUPP;

	return r < 0 ? ctx_fail(ctx, r, "hold %s: %s", path, strerror(-r)) : 0;
}

/* The caller frees the result. */
static char *find_holder(const struct host *h, const char *name)
{
	_free_ char *path = str_format("%s" HOST_LOCK_DIR "/%s.lock", h->root, name);
	char *holder = path ? lock_holder(path, false) : NULL;

	return holder ? holder : strdup("a process of another PID namespace");
}

char *host_lock_holder(struct vfctl_ctx *ctx, const char *name)
{
	struct host *h = host_of(ctx);

	return h ? find_holder(h, name) : NULL;
}

static int fail_busy(struct vfctl_ctx *ctx, const struct host *h, const char *name,
	unsigned timeout_ms)
{
	_free_ char *holder = find_holder(h, name);

	return ctx_fail(ctx, -EBUSY, "waited %u s for " HOST_LOCK_DIR "/%s.lock, which is held by %s; "
		"try again when that is done", (timeout_ms + 999) / 1000, name, holder ? holder : "?");
}

/* A process that waits for longer than a moment reports once which process it waits for. */
static int lock_patiently(struct vfctl_ctx *ctx, struct host *h, const char *name, bool shared,
	unsigned timeout_ms, int *ret_fd)
{
	unsigned first = timeout_ms < LOCK_TELL_MS ? timeout_ms : LOCK_TELL_MS;
	int64_t start = now_ms();
	int r = h->ops->lock(h, name, shared, first, ret_fd);
	_free_ char *holder = NULL;

	if (r != -EBUSY || first == timeout_ms || now_ms() - start < first)
		return r;
	holder = find_holder(h, name);
	log_info(ctx, "waiting for " HOST_LOCK_DIR "/%s.lock, which is held by %s", name,
		holder ? holder : "?");
	ctx_progress(ctx, "waiting for another vfctl that works on %s", name);
	return h->ops->lock(h, name, shared, timeout_ms - first, ret_fd);
}

static int lock_within(struct vfctl_ctx *ctx, const char *name, bool shared,
	unsigned timeout_ms, int *ret_fd)
{
	struct host *h = host_of(ctx);
	int r = host_check_writable(ctx);

	if (r < 0)
		return r;
	r = lock_patiently(ctx, h, name, shared, timeout_ms, ret_fd);
	if (r == -EBUSY)
		return fail_busy(ctx, h, name, timeout_ms);
	if (r < 0)
		return ctx_fail(ctx, r, "take the lock /run/vfctl/%s.lock: %s%s", name,
			strerror(-r), write_hint(r));
	return 0;
}

int host_lock(struct vfctl_ctx *ctx, const char *name, bool shared, int *ret_fd)
{
	ctx_progress(ctx, "waiting for another vfctl that works on %s", name);
	return lock_within(ctx, name, shared, ctx_time_left(ctx, ctx->lock_wait_ms), ret_fd);
}

int host_try_lock(struct vfctl_ctx *ctx, const char *name, int *ret_fd)
{
	int r = lock_within(ctx, name, false, 0, ret_fd);

	return r == -EBUSY ? ctx_fail(ctx, r, "another vfctl works on %s", name) : r;
}

void host_sleep_ms(struct vfctl_ctx *ctx, unsigned ms)
{
	struct host *h = host_of(ctx);

	if (h)
		h->ops->sleep(h, ms);
}

bool host_wait_ms(struct vfctl_ctx *ctx, unsigned ms, unsigned *waited_ms)
{
	if (*waited_ms >= WAIT_MAX_MS || ctx->cancelled || !ctx_time_left(ctx, ms))
		return false;
	host_sleep_ms(ctx, ms);
	*waited_ms += ms;
	return true;
}
