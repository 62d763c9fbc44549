// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/ctx.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/parse.h"

#define STATE_PATH "/var/lib/vfctl/state.db"
#define WRITE_TIMEOUT_MS 120000
#define LOCK_WAIT_MS 30000

int ctx_new(const struct ctx_tables *tables, struct vfctl_ctx **ret_ctx)
{
	struct vfctl_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return -ENOMEM;
	ctx->tables = tables;
	ctx->state_path = strdup(STATE_PATH);
	ctx->temp_dir = strdup("/tmp");
	if (!ctx->state_path || !ctx->temp_dir) {
		vfctl_ctx_free(ctx);
		return -ENOMEM;
	}
	ctx->write_timeout_ms = WRITE_TIMEOUT_MS;
	ctx->lock_wait_ms = LOCK_WAIT_MS;
	*ret_ctx = ctx;
	return 0;
}

const char *vfctl_version(void)
{
	return VFCTL_VERSION;
}

static void clear_reasons(struct vfctl_ctx *ctx)
{
	for (size_t i = 0; i < ctx->reason_count; i++)
		free(ctx->reasons[i].text);
	free(ctx->reasons);
	ctx->reasons = NULL;
	ctx->reason_count = 0;
}

void vfctl_ctx_free(struct vfctl_ctx *ctx)
{
	if (!ctx)
		return;
	if (ctx->reader)
		ctx->reader_close(ctx->reader);
	if (ctx->host)
		ctx->host_free(ctx->host);
	free(ctx->error);
	clear_reasons(ctx);
	free(ctx->unread);
	free(ctx->state_path);
	free(ctx->origin);
	free(ctx->temp_dir);
	free(ctx);
}

const char *vfctl_ctx_error(const struct vfctl_ctx *ctx)
{
	return ctx->error ? ctx->error : "";
}

const char *vfctl_ctx_remedy(const struct vfctl_ctx *ctx)
{
	const char *semicolon = ctx->error ? strstr(ctx->error, "; ") : NULL;

	return semicolon ? semicolon + 2 : "";
}

const char *vfctl_ctx_reason(const struct vfctl_ctx *ctx, size_t index,
	enum vfctl_reason_kind *ret_kind)
{
	if (index >= ctx->reason_count)
		return NULL;
	if (ret_kind)
		*ret_kind = ctx->reasons[index].kind;
	return ctx->reasons[index].text;
}

void ctx_add_reason(struct vfctl_ctx *ctx, enum vfctl_reason_kind kind, const char *text)
{
	char *copy = strdup(text);

	if (copy && array_grow(ctx->reasons, ctx->reason_count))
		ctx->reasons[ctx->reason_count++] = (struct ctx_reason){kind, steal(copy)};
	free(copy);
}

void vfctl_ctx_set_log(struct vfctl_ctx *ctx, vfctl_log_fn fn, void *data)
{
	ctx->log = fn;
	ctx->log_data = data;
}

static int set_text(char **field, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

int vfctl_ctx_set_state_path(struct vfctl_ctx *ctx, const char *path)
{
	return set_text(&ctx->state_path, path);
}

bool vfctl_ctx_is_cancelled(const struct vfctl_ctx *ctx)
{
	return ctx->cancelled;
}

void vfctl_ctx_set_confirm(struct vfctl_ctx *ctx, vfctl_confirm_fn fn, void *data)
{
	ctx->confirm = fn;
	ctx->confirm_data = data;
}

bool vfctl_ctx_usage_error(const struct vfctl_ctx *ctx)
{
	return ctx->mistaken;
}

bool vfctl_ctx_unfinished(const struct vfctl_ctx *ctx)
{
	return ctx->unfinished;
}

int vfctl_ctx_set_temp_dir(struct vfctl_ctx *ctx, const char *path)
{
	return set_text(&ctx->temp_dir, path);
}

static int set_write_timeout(struct vfctl_ctx *ctx, const char *value)
{
	uint32_t ms;

	if (parse_u32(value, 1, 3600000, &ms) < 0)
		return -EINVAL;
	ctx->write_timeout_ms = ms;
	return 0;
}

int vfctl_ctx_set(struct vfctl_ctx *ctx, const char *key, const char *value)
{
	static const struct {
		const char *key;
		int (*set)(struct vfctl_ctx *ctx, const char *value);
	} settings[] = {
		{"state", vfctl_ctx_set_state_path},
		{"temp-dir", vfctl_ctx_set_temp_dir},
		{"origin", vfctl_ctx_set_origin},
		{"write-timeout-ms", set_write_timeout},
	};
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (!str_eq(settings[i].key, key))
			continue;
		r = settings[i].set(ctx, value);
		return r == -EINVAL ? ctx_usage_error(ctx, r, "%s must be 1 to 3600000 ms, not '%s'", key,
			value) : r < 0 ? ctx_oom(ctx) : 0;
	}
	return ctx_usage_error(ctx, -EINVAL, "a context has no setting '%s'; it has state, temp-dir, "
		"origin and write-timeout-ms", key);
}

const char *vfctl_ctx_state_path(const struct vfctl_ctx *ctx)
{
	return ctx->state_path;
}

void vfctl_ctx_cancel(struct vfctl_ctx *ctx)
{
	ctx->cancelled = 1;
}

void vfctl_ctx_set_write_timeout_ms(struct vfctl_ctx *ctx, unsigned timeout_ms)
{
	ctx->write_timeout_ms = timeout_ms;
}

void vfctl_ctx_set_lock_wait_ms(struct vfctl_ctx *ctx, unsigned wait_ms)
{
	ctx->lock_wait_ms = wait_ms;
}

int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void vfctl_ctx_set_deadline_ms(struct vfctl_ctx *ctx, unsigned budget_ms)
{
	ctx->deadline_ms = budget_ms ? now_ms() + budget_ms : 0;
}

unsigned ctx_time_left(const struct vfctl_ctx *ctx, unsigned max_ms)
{
	int64_t left = ctx->deadline_ms ? ctx->deadline_ms - now_ms() : max_ms;

	if (left <= 0)
		return 0;
	return left < max_ms ? (unsigned)left : max_ms;
}

int vfctl_ctx_set_origin(struct vfctl_ctx *ctx, const char *origin)
{
	char *copy = strdup(origin);

	if (!copy)
		return -ENOMEM;
	free(ctx->origin);
	ctx->origin = copy;
	return 0;
}

void ctx_audit(struct vfctl_ctx *ctx, const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list args;

	if (!ctx->audit)
		return;
	va_start(args, fmt);
	text = str_vformat(fmt, args);
	va_end(args);
	if (text)
		ctx->audit(ctx, text);
}

void vfctl_ctx_set_progress(struct vfctl_ctx *ctx, vfctl_progress_fn fn, void *data)
{
	ctx->progress = fn;
	ctx->progress_data = data;
}

void ctx_progress(struct vfctl_ctx *ctx, const char *fmt, ...)
{
	char text[VFCTL_PROGRESS_SIZE];
	size_t len = 0;
	va_list args;

	if (!ctx->progress)
		return;
	if (ctx->vf_count)
		len = (size_t)snprintf(text, sizeof(text), "VF %u of %u: ", ctx->vf_number,
			ctx->vf_count);
	va_start(args, fmt);
	vsnprintf(text + len, sizeof(text) - len, fmt, args);
	va_end(args);
	ctx->progress(ctx->progress_data, text);
}

void ctx_progress_vf(struct vfctl_ctx *ctx, size_t number, size_t count)
{
	ctx->vf_number = (unsigned)number;
	ctx->vf_count = (unsigned)count;
}

static void set_error(struct vfctl_ctx *ctx, char *text)
{
	free(ctx->error);
	ctx->error = text;
}

int ctx_fail(struct vfctl_ctx *ctx, int error, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = str_vformat(fmt, args);
	va_end(args);
	set_error(ctx, text);
	clear_reasons(ctx);
	ctx->mistaken = false;
	return error;
}

int ctx_mark_usage_error(struct vfctl_ctx *ctx, int error)
{
	static const int mistakes[] = {-EINVAL, -ENOENT, -ERANGE, -EEXIST, -E2BIG, -EILSEQ, -EISDIR,
		-ENOTDIR, -EMEDIUMTYPE, -EFBIG, -EBADMSG, -ENAMETOOLONG, -ELOOP};

	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++)
		if (error == mistakes[i])
			ctx->mistaken = true;
	return error;
}

int ctx_oom(struct vfctl_ctx *ctx)
{
	return ctx_fail(ctx, -ENOMEM, "out of memory");
}

int ctx_prefix(struct vfctl_ctx *ctx, int error, const char *fmt, ...)
{
	_free_ char *head = NULL;
	va_list args;

	va_start(args, fmt);
	head = str_vformat(fmt, args);
	va_end(args);
	if (head)
		set_error(ctx, str_format("%s: %s", head, ctx->error ? ctx->error : ""));
	return error;
}

int ctx_append(struct vfctl_ctx *ctx, int error, const char *fmt, ...)
{
	_free_ char *tail = NULL;
	va_list args;

	va_start(args, fmt);
	tail = str_vformat(fmt, args);
	va_end(args);
	if (tail)
		set_error(ctx, str_format("%s%s", ctx->error ? ctx->error : "", tail));
	return error;
}

void ctx_clear(struct vfctl_ctx *ctx)
{
	set_error(ctx, NULL);
	clear_reasons(ctx);
	ctx->mistaken = false;
}

int ctx_ignore_error(struct vfctl_ctx *ctx, int r, int error)
{
	if (r != error)
		return r;
	ctx_clear(ctx);
	return 0;
}

void ctx_log(struct vfctl_ctx *ctx, enum vfctl_log_level level, const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list args;

	if (!ctx->log)
		return;
	va_start(args, fmt);
	text = str_vformat(fmt, args);
	va_end(args);
	if (text)
		ctx->log(ctx->log_data, level, text);
}

const char *errno_name(int error)
{
	const char *name = strerrorname_np(error < 0 ? -error : error);

	return name ? name : "unknown error";
}
