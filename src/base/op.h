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
 * with words. observe, apply and revert take neighbours: ops of one type whose targets are the same up
 * to the '/' (one datagram for all VFs of a PF). A type whose ops are done one by one has OP_CALLS().
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
	/* What is there now, in the words of @want; @ret_texts has room for @count. */
	int (*observe)(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
		char **ret_texts);
	/* Carry out, and look at the host again: what does not read back is a failure. */
	int (*apply)(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
	/* Back to @before, from wherever a failure or a crash left it. */
	int (*revert)(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
	/* Would that refuse? With its words; nothing is changed. NULL: it refuses nothing. */
	int (*check_revert)(struct vfctl_ctx *ctx, const struct op *op);
	/* Does @text, a want or a before, say what was observed? NULL: when they are equal. */
	bool (*same)(const char *text, const char *observed);
};

/* The calls of a type from functions of one op. */
int ops_observe_each(struct vfctl_ctx *ctx, const struct op *ops, size_t count, char **ret_texts,
	int (*one)(struct vfctl_ctx *ctx, const struct op *op, char **ret_text));
/* The first failure ends it. */
int ops_apply_each(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	int (*one)(struct vfctl_ctx *ctx, const struct op *op));
/* In reverse order; all are tried. @one NULL: there is nothing to take back. */
int ops_revert_each(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	int (*one)(struct vfctl_ctx *ctx, const struct op *op));

#define OP_CALLS(name) .observe = name##_observe, .apply = name##_apply, .revert = name##_revert
/* @apply_one and @revert_one are functions of their own; @revert_one may be NULL. */
#define OP_ONE_BY_ONE(name, observe_one, apply_one, revert_one)                          \
	static int name##_observe(struct vfctl_ctx *ctx, const struct op *ops,           \
		size_t count, char **ret_texts)                                          \
	{                                                                                \
		return ops_observe_each(ctx, ops, count, ret_texts, observe_one);        \
	}                                                                                \
	static int name##_apply(struct vfctl_ctx *ctx, const struct op *ops, size_t count) \
	{                                                                                \
		return ops_apply_each(ctx, ops, count, apply_one);                       \
	}                                                                                \
	static int name##_revert(struct vfctl_ctx *ctx, const struct op *ops, size_t count) \
	{                                                                                \
		return ops_revert_each(ctx, ops, count, revert_one);                     \
	}
/* Both are done alike: @write_one(ctx, op, text) with the text of want, or of before if there is one. */
#define OP_WRITTEN(name, observe_one, write_one)                                         \
	static int name##_forth(struct vfctl_ctx *ctx, const struct op *op)              \
	{                                                                                \
		return write_one(ctx, op, op->want);                                     \
	}                                                                                \
	static int name##_back(struct vfctl_ctx *ctx, const struct op *op)               \
	{                                                                                \
		return op->before ? write_one(ctx, op, op->before) : 0;                  \
	}                                                                                \
	OP_ONE_BY_ONE(name, observe_one, name##_forth, name##_back)
/* The way back is more than another text: @turn_one(ctx, op, back). */
#define OP_TURNED(name, observe_one, turn_one)                                           \
	static int name##_forth(struct vfctl_ctx *ctx, const struct op *op)              \
	{                                                                                \
		return turn_one(ctx, op, false);                                         \
	}                                                                                \
	static int name##_back(struct vfctl_ctx *ctx, const struct op *op)               \
	{                                                                                \
		return turn_one(ctx, op, true);                                          \
	}                                                                                \
	OP_ONE_BY_ONE(name, observe_one, name##_forth, name##_back)
/* The same of neighbours: @turn(ctx, ops, count, back). */
#define OP_TURNED_TOGETHER(name, turn)                                                   \
	static int name##_apply(struct vfctl_ctx *ctx, const struct op *ops, size_t count) \
	{                                                                                \
		return turn(ctx, ops, count, false);                                     \
	}                                                                                \
	static int name##_revert(struct vfctl_ctx *ctx, const struct op *ops, size_t count) \
	{                                                                                \
		return turn(ctx, ops, count, true);                                      \
	}

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
