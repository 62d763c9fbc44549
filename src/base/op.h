/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_OP_H
#define VFCTL_BASE_OP_H

#include "base/ctx.h"

/*
 * One effect on the host as data: it can be printed, stored, carried out, taken back and
 * compared with the host by whoever reads it, also after the process that made it died.
 * All texts are canonical for their type and owned by the op.
 */
struct op {
	const struct op_type *type;
	char *target; /* "0000:11:00.0", "0000:11:00.0/3", "/etc/modprobe.d/x.conf" */
	char *want;   /* NULL: nothing is done; it goes with another op (a VF with its PF's count) */
	char *before; /* NULL: there was nothing; what is made goes with another op as well */
};

enum op_nature {
	OP_UNDOABLE,
	OP_HOLDS,  /* undoable, and stays as long as one after it cannot be taken back (a lease) */
	OP_KEPT,   /* harmless: it stays when the others are taken back (a loaded module) */
	OP_COMMIT, /* cannot be taken back: from here on the change goes forward */
};

/*
 * What vfctl can do to a host; one row for each kind. Each call returns 0 or a negative errno
 * with words. Most take one op; some take neighbours of one type whose targets are the same up to
 * the '/': one datagram for all VFs of a PF.
 */
struct op_type {
	const char *name;
	enum op_nature nature;
	bool volatile_; /* the kernel forgets it when the host boots */
	bool asks_libvirt; /* its calls need ctx->hypervisor */
	const char *asks_libvirt_of; /* so do those of targets that begin with this */
	bool after_all; /* not done while something before it is left to do */
	bool may_be_stale; /* -EAGAIN of it: what it was planned on has changed, plan it anew */
	/* Is what it is done to not there any more, for certain? Nothing is taken back then. */
	bool (*is_gone)(struct vfctl_ctx *ctx, const struct op *op);
	/* What is there now, in the words of @want. */
	int (*observe_one)(struct vfctl_ctx *ctx, const struct op *op, char **ret_text);
	/* Carry out, and look at the host again: what does not read back is a failure. */
	int (*apply_one)(struct vfctl_ctx *ctx, const struct op *op);
	/* Back to @before, from wherever a failure or a crash left it. */
	int (*revert_one)(struct vfctl_ctx *ctx, const struct op *op);
	/* Would that refuse? With its words; nothing is changed. NULL: it refuses nothing. */
	int (*check_revert)(struct vfctl_ctx *ctx, const struct op *op);
	/* Both of them, instead, where it is done alike: @text is @want, or @before when there is one. */
	int (*write_one)(struct vfctl_ctx *ctx, const struct op *op, const char *text);
	/* The same where the way back is not only another text. */
	int (*turn_one)(struct vfctl_ctx *ctx, const struct op *op, bool back);
	/* The same of neighbours, instead; @ret_texts has room for @count. */
	int (*observe)(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
		char **ret_texts);
	int (*apply)(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
	int (*revert)(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
	int (*turn)(struct vfctl_ctx *ctx, const struct op *ops, size_t count, bool back);
	/* Does @text, a want or a before, say what was observed? NULL: when they are equal. */
	bool (*same)(const char *text, const char *observed);
};

void op_clear(struct op *op);

/* How many of the ops from @start on one call takes. */
size_t ops_together(const struct op *ops, size_t count, size_t start);

/* All in order; the first failure ends it. */
int ops_apply(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/* The first of them whose device went away; NULL: all are there, or it cannot be told. */
const struct op *ops_gone(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/* Is there anything to take back? */
bool ops_leave_something(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/* Is there one among them that stays as long as what comes after cannot be taken back? */
bool ops_hold(const struct op *ops, size_t count);
/* All in reverse order; all are tried but what then has to stay; the first failure is returned. */
int ops_revert(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/* Would that refuse any of them? With the words of the first one. Nothing is changed. */
int ops_check_revert(struct vfctl_ctx *ctx, const struct op *ops, size_t count);

/* Is the host as all of them want it? 1 yes, 0 no. */
int ops_are_done(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/* Was the first that cannot be taken back carried out? 1 yes, 0 no (or there is none). */
int ops_are_committed(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/* Carry out those that cannot be taken back and are not done; the first failure is returned. */
int ops_finish(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/* One alone. */
int op_observe(struct vfctl_ctx *ctx, const struct op *op, char **ret_text);
int op_apply(struct vfctl_ctx *ctx, const struct op *op);
int op_revert(struct vfctl_ctx *ctx, const struct op *op);
/* -EBADMSG: its target, or @text as its want or before, is none of its type. */
int op_fail_target(struct vfctl_ctx *ctx, const struct op *op);
int op_fail_value(struct vfctl_ctx *ctx, const struct op *op, const char *text);
/* A copy of @text as what was observed. */
int op_say(struct vfctl_ctx *ctx, const char *text, char **ret);
/* The same, of a text that is handed over; NULL: out of memory. */
int op_give(struct vfctl_ctx *ctx, char *text, char **ret);
/* Does @text, a want or a before, say what was observed? */
bool op_is(const struct op_type *type, const char *text, const char *observed);

#endif
