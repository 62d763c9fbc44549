/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_CTX_H
#define VFCTL_BASE_CTX_H

#include <signal.h>
#include <stdint.h>

#include "base/util.h"
#include "core/context.h"

struct host;
struct state;
struct vfctl_hypervisor;
struct vfctl_ids;
struct id_store;
struct op_type;

/*
 * What higher rooms give to lower ones: passed in when a context is opened (src/open.c), so that no
 * lower room names them.
 */
struct ctx_tables {
	const struct op_type *const *op_types; /* every operation; NULL-terminated */
	/*
	 * The store of identities in the context's state file. @write false: nothing is made; without
	 * a file all values are free.
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
	char *error; /* NULL: none */
	struct ctx_reason *reasons; /* of the failure, see vfctl_ctx_reason() */
	size_t reason_count;
	char *doubt; /* see host_take_doubt() */
	vfctl_log_fn log;
	void *log_data;
	char *state_path;
	char *temp_dir;
	unsigned write_timeout_ms;
	bool unfinished; /* see vfctl_ctx_unfinished() */
	char unfinished_path[96]; /* the last one, see host_write_goes_on() */
	bool mistaken;	 /* see vfctl_ctx_mistaken() */
	int64_t deadline_ms; /* CLOCK_MONOTONIC; 0: none */
	char *origin;	     /* who asks, for the audit lines; NULL: not stated */
	vfctl_progress_fn doing; /* NULL: no progress is reported */
	void *doing_data;
	unsigned vf_number, vf_count; /* see ctx_doing_vf() */
	unsigned collisions; /* values planned and then claimed by another host first */
	volatile sig_atomic_t cancelled;
	struct vfctl_hypervisor *hypervisor; /* not owned; NULL: none is at hand */
	struct vfctl_ids *ids; /* the pools, of the change that goes on; not owned, may be NULL */
	struct db *journal; /* the state file, while a change of this process is in it */
	struct db *state; /* the state file, while it is open for writing */
	struct db *reader; /* the state file open for reading, until it is opened for writing */
	void (*reader_close)(struct db *db);
	struct host *host;
	void (*host_free)(struct host *);
	void (*audit)(struct vfctl_ctx *ctx, const char *text); /* set with the host */
};

/* vfctl_ctx_new() with these tables, which outlive the context. */
int ctx_new(const struct ctx_tables *tables, struct vfctl_ctx **ret_ctx);

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
/* One reason more of the failure whose words are there: a sentence, copied. */
void ctx_add_reason(struct vfctl_ctx *ctx, enum vfctl_reason_kind kind, const char *text);
/* The same for vfctl_ctx_mistaken(): a name that nothing has, a value that cannot be. */
#define ctx_mistake(ctx, ...) ctx_blame((ctx), ctx_fail((ctx), __VA_ARGS__))
/*
 * The failure whose words are there is the mistake of whoever asked, if @error says so: what the
 * machine is short of, or may not, stays a plain failure. Returns @error, which may be 0.
 */
int ctx_blame(struct vfctl_ctx *ctx, int error);
void ctx_clear(struct vfctl_ctx *ctx);
/* @error is no failure here: 0, and its words are gone, when @r is that; else @r. */
int ctx_forgive(struct vfctl_ctx *ctx, int r, int error);

void ctx_log(struct vfctl_ctx *ctx, enum vfctl_log_level level, const char *fmt, ...)
	_printf_(3, 4);
#define log_info(ctx, ...) ctx_log(ctx, VFCTL_LOG_INFO, __VA_ARGS__)
#define log_warn(ctx, ...) ctx_log(ctx, VFCTL_LOG_WARNING, __VA_ARGS__)
#define log_debug(ctx, ...) ctx_log(ctx, VFCTL_LOG_DEBUG, __VA_ARGS__)

/*
 * A line for the system's log: what was changed, from what to what. Who asked is put before
 * it. Not for what only failed to be planned.
 */
void ctx_audit(struct vfctl_ctx *ctx, const char *fmt, ...) _printf_(2, 3);

/*
 * What is left of the budget that vfctl_ctx_set_deadline_ms() gave, @max_ms at most: the
 * longest that a wait may take now. 0 when the budget is used up.
 */
unsigned ctx_time_left(const struct vfctl_ctx *ctx, unsigned max_ms);

/* Say what is being waited for: vfctl_ctx_set_progress(). */
void ctx_doing(struct vfctl_ctx *ctx, const char *fmt, ...) _printf_(2, 3);
/* From now on it is all for VF @number (from 1) of @count; a @count of 0 ends that. */
void ctx_doing_vf(struct vfctl_ctx *ctx, size_t number, size_t count);

/* "EBUSY" for -EBUSY or EBUSY; never NULL. */
const char *errno_name(int error);

#endif
