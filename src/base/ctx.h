/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_CTX_H
#define VFCTL_BASE_CTX_H

#include <signal.h>
#include <stdint.h>

#include "base/context.h"
#include "base/util.h"

struct host;
struct state;
struct vfctl_hypervisor;
struct vfctl_ids;
struct id_store;
struct op_type;

/*
 * Tables that higher rooms provide for lower ones: passed in when a context is opened (src/open.c),
 * so that no lower room refers to a higher one.
 */
struct ctx_tables {
	const struct op_type *const *op_types; /* every operation; NULL-terminated */
	/*
	 * Open the store of identities in the context's state file. @write false: create nothing;
	 * without a file all values are free.
	 */
	int (*open_local_ids)(struct vfctl_ctx *ctx, bool write, struct id_store **ret);
};

/* One reason of a refusal. */
struct ctx_reason {
	enum vfctl_reason_kind kind;
	char *text;
};

struct vfctl_ctx {
	const struct ctx_tables *tables;
	char *error; /* NULL if nothing failed */
	struct ctx_reason *reasons; /* reasons for the failure, see vfctl_ctx_reason() */
	size_t reason_count;
	char *unread; /* see host_take_doubt() */
	vfctl_log_fn log;
	void *log_data;
	char *state_path;
	char *temp_dir;
	unsigned write_timeout_ms;
	unsigned lock_wait_ms;
	bool unfinished; /* see vfctl_ctx_unfinished() */
	char unfinished_path[96]; /* path of the last unfinished write, see host_write_goes_on() */
	bool mistaken;	 /* see vfctl_ctx_usage_error() */
	int64_t deadline_ms; /* CLOCK_MONOTONIC; 0: none */
	char *origin;	     /* who requests the changes, for the audit lines; NULL: not stated */
	vfctl_progress_fn progress; /* NULL: no progress is reported */
	void *progress_data;
	unsigned vf_number, vf_count; /* see ctx_progress_vf() */
	unsigned collisions; /* planned values that another host claimed first */
	vfctl_confirm_fn confirm; /* NULL: each change is kept */
	void *confirm_data;
	volatile sig_atomic_t cancelled;
	struct vfctl_hypervisor *hypervisor; /* not owned; NULL: not connected to libvirt */
	struct vfctl_ids *ids; /* pools of the change in progress; not owned, may be NULL */
	struct db *journal; /* the state file while it records a change of this process */
	struct db *state; /* the state file while it is open for writing */
	struct db *reader; /* the state file opened for reading, until it is opened for writing */
	void (*reader_close)(struct db *db);
	struct host *host;
	void (*host_free)(struct host *);
	void (*audit)(struct vfctl_ctx *ctx, const char *text); /* set with the host */
};

/* vfctl_ctx_new() with these tables, which must outlive the context. */
int ctx_new(const struct ctx_tables *tables, struct vfctl_ctx **ret_ctx);

/*
 * Set the message of a failure and return @error (a negative errno), so that a failing function
 * ends with `return ctx_fail(ctx, -EBUSY, "...")`.
 */
int ctx_fail(struct vfctl_ctx *ctx, int error, const char *fmt, ...) _printf_(3, 4);
/* Return -ENOMEM and set its message. */
int ctx_oom(struct vfctl_ctx *ctx);
/* Insert "fmt: " before the present message; returns @error. */
int ctx_prefix(struct vfctl_ctx *ctx, int error, const char *fmt, ...) _printf_(3, 4);
/* Append "fmt" to the present message; returns @error. */
int ctx_append(struct vfctl_ctx *ctx, int error, const char *fmt, ...) _printf_(3, 4);
/* Add a reason to the failure with the present message: a sentence, copied. */
void ctx_add_reason(struct vfctl_ctx *ctx, enum vfctl_reason_kind kind, const char *text);
/*
 * Like ctx_fail(), and mark the failure as a mistake of the caller (vfctl_ctx_usage_error()): an
 * unknown name, or a value that is not valid.
 */
#define ctx_usage_error(ctx, ...) ctx_mark_usage_error((ctx), ctx_fail((ctx), __VA_ARGS__))
/*
 * Mark the failure with the present message as a mistake of the caller, unless @error means a lack
 * of resources or privileges. Returns @error, which may be 0.
 */
int ctx_mark_usage_error(struct vfctl_ctx *ctx, int error);
void ctx_clear(struct vfctl_ctx *ctx);
/*
 * If @r equals @error, it is not a failure here: returns 0 and drops its message; else returns @r.
 */
int ctx_ignore_error(struct vfctl_ctx *ctx, int r, int error);

void ctx_log(struct vfctl_ctx *ctx, enum vfctl_log_level level, const char *fmt, ...)
	_printf_(3, 4);
#define log_info(ctx, ...) ctx_log(ctx, VFCTL_LOG_INFO, __VA_ARGS__)
#define log_warn(ctx, ...) ctx_log(ctx, VFCTL_LOG_WARNING, __VA_ARGS__)
#define log_debug(ctx, ...) ctx_log(ctx, VFCTL_LOG_DEBUG, __VA_ARGS__)

/*
 * A line for the system's log: what was changed, with the old and the new value. It begins with the
 * user who requested it. Failures of planning are not logged.
 */
void ctx_audit(struct vfctl_ctx *ctx, const char *fmt, ...) _printf_(2, 3);

/*
 * The rest of the budget that vfctl_ctx_set_deadline_ms() set, at most @max_ms: the longest time
 * that a wait may take now. 0 if the budget is used up.
 */
unsigned ctx_time_left(const struct vfctl_ctx *ctx, unsigned max_ms);

/* Report the current wait: vfctl_ctx_set_progress(). */
void ctx_progress(struct vfctl_ctx *ctx, const char *fmt, ...) _printf_(2, 3);
/* The following actions are for VF @number (from 1) of @count; a @count of 0 ends that. */
void ctx_progress_vf(struct vfctl_ctx *ctx, size_t number, size_t count);

/* "EBUSY" for -EBUSY or EBUSY; never NULL. */
const char *errno_name(int error);

#endif
