/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_CTX_H
#define VFCTL_BASE_CTX_H

#include <signal.h>

#include "base/util.h"
#include "vfctl/context.h"

struct host;
struct state;

struct vfctl_ctx {
	char *error; /* NULL: none */
	char *doubt; /* see host_take_doubt() */
	vfctl_log_fn log;
	void *log_data;
	char *state_path;
	char *temp_dir;
	unsigned write_timeout_ms;
	bool unfinished; /* see vfctl_ctx_unfinished() */
	volatile sig_atomic_t cancelled;
	struct host *host;
	void (*host_free)(struct host *);
};

/*
 * Set the words of a failure and return @error (a negative errno), so that a
 * failing function ends with `return ctx_fail(ctx, -EBUSY, "...")`.
 */
int ctx_fail(struct vfctl_ctx *ctx, int error, const char *fmt, ...) _printf_(3, 4);
/* -ENOMEM with its words. */
int ctx_oom(struct vfctl_ctx *ctx);
/* Put "fmt: " before the words already there; returns @error. */
int ctx_prefix(struct vfctl_ctx *ctx, int error, const char *fmt, ...) _printf_(3, 4);
/* Put "fmt" behind the words already there; returns @error. */
int ctx_append(struct vfctl_ctx *ctx, int error, const char *fmt, ...) _printf_(3, 4);
void ctx_clear(struct vfctl_ctx *ctx);

void ctx_log(struct vfctl_ctx *ctx, enum vfctl_log_level level, const char *fmt, ...)
	_printf_(3, 4);
#define log_info(ctx, ...) ctx_log(ctx, VFCTL_LOG_INFO, __VA_ARGS__)
#define log_warn(ctx, ...) ctx_log(ctx, VFCTL_LOG_WARNING, __VA_ARGS__)
#define log_debug(ctx, ...) ctx_log(ctx, VFCTL_LOG_DEBUG, __VA_ARGS__)

/* "EBUSY" for -EBUSY or EBUSY; never NULL. */
const char *errno_name(int error);

#endif
