/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_OP_H
#define VFCTL_BASE_OP_H

#include "base/ctx.h"

struct vfctl_inventory;
struct vfctl_pf;

/*
 * One effect on the host as data: any process can print it, store it, apply it, roll it back and
 * compare it with the host, even after the death of the process that created it. All texts are
 * canonical for their type and owned by the op.
 */
struct op {
	const struct op_type *type;
	char *target; /* "0000:11:00.0", "0000:11:00.0/3", "/etc/modprobe.d/x.conf" */
	char *want;   /* NULL: nothing by itself; it belongs to another op (a VF to its PF's count) */
	char *before; /* NULL: there was nothing; what is created is removed with another op */
};

enum op_nature {
	OP_UNDOABLE,
	OP_HOLDS,  /* kept as long as a later operation cannot be rolled back (a lease) */
	OP_KEPT,   /* harmless: kept when the others are rolled back (a loaded module) */
	OP_COMMIT, /* cannot be rolled back: after it the change can only be finished */
};

/*
 * A kind of change that vfctl can make to a host. Each call returns 0 or a negative errno with a
 * message. observe, apply and revert take neighbours: ops of one type whose targets are the same up
 * to the '/' (one datagram for all VFs of a PF). The macros below define these calls for a type
 * whose ops are done one by one.
 */
struct op_type {
	const char *name;
	enum op_nature nature;
	bool lost_on_reboot; /* a reboot of the host removes it */
	bool asks_libvirt; /* its calls need ctx->hypervisor */
	const char *asks_libvirt_of; /* and so do those of targets that begin with this */
	bool after_all; /* not done before everything that precedes it is done */
	bool of_all_vfs; /* all VFs of the PF depend on its target (a bond) */
	bool may_be_stale; /* -EAGAIN means that the state it was planned for has changed: plan it again */
	/* Whether the target certainly does not exist any more; then nothing is rolled back. */
	bool (*is_gone)(struct vfctl_ctx *ctx, const struct op *op);
	/* Read the present state, in the form of @want; @ret_texts has space for @count. */
	int (*observe)(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
		char **ret_texts);
	/* Carry out the ops and read them back: a different value is a failure. */
	int (*apply)(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
	/* Restore @before, whatever state a failure or a crash left. */
	int (*revert)(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
	/* Whether revert would refuse, and why. Nothing is changed. NULL: it never refuses. */
	int (*check_revert)(struct vfctl_ctx *ctx, const struct op *op);
	/*
	 * After an interruption: whether a guest has begun to use the target, and the roll-back would
	 * disturb it: -EBUSY with the reason. @inv: the present state with its users; @pf: its PF in that.
	 * NULL: it disturbs no guest.
	 */
	int (*check_unused)(struct vfctl_ctx *ctx, const struct op *op,
		const struct vfctl_inventory *inv, const struct vfctl_pf *pf);
	/* Whether @text, a want or a before, means the observed state. NULL: they must be equal. */
	bool (*same)(const char *text, const char *observed);
};

/* The calls of a type from functions for one op. */
int ops_observe_each(struct vfctl_ctx *ctx, const struct op *ops, size_t count, char **ret_texts,
	int (*one)(struct vfctl_ctx *ctx, const struct op *op, char **ret_text));
/* It ends at the first failure. */
int ops_apply_each(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	int (*one)(struct vfctl_ctx *ctx, const struct op *op));
/* In reverse order; all are tried. @one NULL: there is nothing to roll back. */
int ops_revert_each(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	int (*one)(struct vfctl_ctx *ctx, const struct op *op));

#define OP_CALLS(name) .observe = name##_observe, .apply = name##_apply, .revert = name##_revert
/* @apply_one and @revert_one are different functions; @revert_one may be NULL. */
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
/*
 * One function does both: @write_one(ctx, op, text) with the text of want, or of before if there is
 * one.
 */
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
/* For a revert that does more than write before: @apply_or_revert_one(ctx, op, back). */
#define OP_APPLY_OR_REVERT(name, observe_one, apply_or_revert_one)                       \
	static int name##_forth(struct vfctl_ctx *ctx, const struct op *op)              \
	{                                                                                \
		return apply_or_revert_one(ctx, op, false);                              \
	}                                                                                \
	static int name##_back(struct vfctl_ctx *ctx, const struct op *op)               \
	{                                                                                \
		return apply_or_revert_one(ctx, op, true);                               \
	}                                                                                \
	OP_ONE_BY_ONE(name, observe_one, name##_forth, name##_back)
/* For neighbouring operations written in one call: @apply_or_revert(ctx, ops, count, back). */
#define OP_APPLY_OR_REVERT_ALL(name, apply_or_revert)                                    \
	static int name##_apply(struct vfctl_ctx *ctx, const struct op *ops, size_t count) \
	{                                                                                \
		return apply_or_revert(ctx, ops, count, false);                          \
	}                                                                                \
	static int name##_revert(struct vfctl_ctx *ctx, const struct op *ops, size_t count) \
	{                                                                                \
		return apply_or_revert(ctx, ops, count, true);                           \
	}

void op_clear(struct op *op);

/* The number of ops from @start that one call takes. */
size_t ops_together(const struct op *ops, size_t count, size_t start);

/* Apply all in order; it ends at the first failure. */
int ops_apply(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/*
 * The first operation whose device disappeared; NULL: all devices exist, or this cannot be
 * determined.
 */
const struct op *ops_gone(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/* Whether there is anything to roll back. */
bool ops_leave_something(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/* Whether one of them stays as long as later operations cannot be rolled back. */
bool ops_hold(const struct op *ops, size_t count);
/*
 * Roll back all in reverse order, except those that must be kept. All are tried; the first failure
 * is returned.
 */
int ops_revert(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/*
 * Whether a roll-back of any of them would be refused, with the message of the first one. Nothing
 * is changed.
 */
int ops_check_revert(struct vfctl_ctx *ctx, const struct op *ops, size_t count);

/* Whether the host is as all of them want it: 1 yes, 0 no. */
int ops_are_done(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/*
 * Whether the first operation that cannot be rolled back was carried out: 1 yes, 0 no (also if
 * there is none).
 */
int ops_are_committed(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/*
 * Apply the operations that cannot be rolled back and are not done yet; returns the first failure.
 */
int ops_finish(struct vfctl_ctx *ctx, const struct op *ops, size_t count);
/* Observe a single operation. */
int op_observe(struct vfctl_ctx *ctx, const struct op *op, char **ret_text);
int op_apply(struct vfctl_ctx *ctx, const struct op *op);
int op_revert(struct vfctl_ctx *ctx, const struct op *op);
/* -EBADMSG: its target, or @text as its want or before, is not valid for its type. */
int op_fail_target(struct vfctl_ctx *ctx, const struct op *op);
int op_fail_value(struct vfctl_ctx *ctx, const struct op *op, const char *text);
/* Return a copy of @text as the observed state. */
int op_say(struct vfctl_ctx *ctx, const char *text, char **ret);
/* Return a text as the observed state and pass on its ownership; NULL: memory is exhausted. */
int op_give(struct vfctl_ctx *ctx, char *text, char **ret);
/* Whether @text, a want or a before, means the observed state. */
bool op_is(const struct op_type *type, const char *text, const char *observed);

#endif
