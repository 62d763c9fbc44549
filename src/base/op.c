// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/op.h"

#include <errno.h>

void op_clear(struct op *op)
{
	free(op->target);
	free(op->want);
	free(op->before);
	*op = (struct op){0};
}

/* ---- neighbouring operations of one type ---- */

int ops_observe_each(struct vfctl_ctx *ctx, const struct op *ops, size_t count, char **ret_texts,
	int (*one)(struct vfctl_ctx *ctx, const struct op *op, char **ret_text))
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = one(ctx, &ops[i], &ret_texts[i]);
	return r;
}

int ops_apply_each(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	int (*one)(struct vfctl_ctx *ctx, const struct op *op))
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = one(ctx, &ops[i]);
	return r;
}

static int apply_op(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	int r = ops->type->apply(ctx, ops, count);

	/*
	 * Kernel and libvirt use -EAGAIN for "busy"; the caller that runs the change would plan it
	 * again.
	 */
	return r == -EAGAIN && !ops->type->may_be_stale ? -EBUSY : r;
}

/* The first failure; the remaining operations are still tried. */
struct first {
	char *message;
	int error;
};

static void note_op(struct vfctl_ctx *ctx, struct first *first, int r)
{
	if (r < 0 && !first->error) {
		first->error = r;
		first->message = steal(ctx->error);
	}
}

static int first_failure(struct vfctl_ctx *ctx, struct first *first)
{
	_free_ char *message = first->message;

	return first->error ? ctx_fail(ctx, first->error, "%s", message ? message : "") : 0;
}

int ops_revert_each(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	int (*one)(struct vfctl_ctx *ctx, const struct op *op))
{
	struct first first = {0};

	while (one && count-- > 0)
		note_op(ctx, &first, one(ctx, &ops[count]));
	return first_failure(ctx, &first);
}

int op_observe(struct vfctl_ctx *ctx, const struct op *op, char **ret_text)
{
	return op->type->observe(ctx, op, 1, ret_text);
}

int op_apply(struct vfctl_ctx *ctx, const struct op *op)
{
	return apply_op(ctx, op, 1);
}

int op_revert(struct vfctl_ctx *ctx, const struct op *op)
{
	return op->type->revert(ctx, op, 1);
}

int op_fail_target(struct vfctl_ctx *ctx, const struct op *op)
{
	return ctx_fail(ctx, -EBADMSG, "an operation %s has '%.100s' as its target", op->type->name,
		op->target);
}

int op_fail_value(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	return ctx_fail(ctx, -EBADMSG, "an operation %s of %.100s has the value '%.100s'", op->type->name,
		op->target, text);
}

int op_say(struct vfctl_ctx *ctx, const char *text, char **ret)
{
	return op_give(ctx, strdup(text), ret);
}

int op_give(struct vfctl_ctx *ctx, char *text, char **ret)
{
	*ret = text;
	return text ? 0 : ctx_oom(ctx);
}

static size_t stem(const char *target)
{
	return strcspn(target, "/");
}

static bool are_neighbours(const struct op *a, const struct op *b)
{
	size_t len = stem(a->target);

	return a->type == b->type && len == stem(b->target) &&
		!strncmp(a->target, b->target, len) && !a->want == !b->want &&
		!str_eq(a->target, b->target);
}

size_t ops_together(const struct op *ops, size_t count, size_t start)
{
	size_t n = 1;

	while (start + n < count && are_neighbours(&ops[start], &ops[start + n]))
		n++;
	return n;
}

int ops_apply(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	int r = 0;

	for (size_t i = 0, n; i < count && r == 0; i += n) {
		n = ops_together(ops, count, i);
		if (ops[i].want)
			r = apply_op(ctx, &ops[i], n);
	}
	return r;
}

/* The start of the group that ends before @end. */
static size_t group_before(const struct op *ops, size_t end)
{
	size_t start = end - 1;

	while (start > 0 && are_neighbours(&ops[start - 1], &ops[start]))
		start--;
	return start;
}

static bool is_gone(struct vfctl_ctx *ctx, const struct op *op)
{
	return op->type->is_gone && op->type->is_gone(ctx, op);
}

const struct op *ops_gone(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_gone(ctx, &ops[i]))
			return &ops[i];
	return NULL;
}

bool ops_leave_something(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ops[i].before && (ops[i].type->nature == OP_UNDOABLE ||
			ops[i].type->nature == OP_HOLDS) && !is_gone(ctx, &ops[i]))
			return true;
	return false;
}

bool ops_hold(const struct op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ops[i].type->nature == OP_HOLDS)
			return true;
	return false;
}

/*
 * Roll back the operations of one device, which are gone together or not at all. The device may
 * disappear during the roll-back.
 */
static int revert_group(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	int r = ops->type->revert(ctx, ops, count);

	if (r == 0 || !is_gone(ctx, ops))
		return r;
	ctx_clear(ctx);
	return 0;
}

int ops_revert(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	struct first first = {0};

	while (count > 0) {
		size_t start = group_before(ops, count), n = count - start;
		bool stays = first.error && ops_hold(&ops[start], n);

		if (!stays && ops_leave_something(ctx, &ops[start], n))
			note_op(ctx, &first, revert_group(ctx, &ops[start], n));
		count = start;
	}
	return first_failure(ctx, &first);
}

int ops_check_revert(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	int r = 0;

	while (count-- > 0 && r == 0)
		if (ops[count].type->check_revert && ops_leave_something(ctx, &ops[count], 1))
			r = ops[count].type->check_revert(ctx, &ops[count]);
	return r;
}

bool op_is(const struct op_type *type, const char *text, const char *observed)
{
	return type->same ? type->same(text, observed) : str_eq(text, observed);
}

/* Whether one group is done: 1 if all are as wanted. */
static int is_done(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	_strv_ char **texts = calloc(count + 1, sizeof(*texts));
	int r = texts ? ops->type->observe(ctx, ops, count, texts) : ctx_oom(ctx);

	for (size_t i = 0; r == 0 && i < count; i++)
		if (!texts[i] || !op_is(ops->type, ops[i].want, texts[i])) {
			/* The array ends at its first NULL. */
			for (size_t k = i; k < count; k++)
				free(steal(texts[k]));
			return 0;
		}
	return r < 0 ? r : 1;
}

/* Whether a later operation of the same target decides about it. */
static bool is_overtaken(const struct op *ops, size_t count, size_t i)
{
	for (size_t k = i + 1; k < count; k++)
		if (ops[k].type == ops[i].type && ops[k].want &&
			str_eq(ops[k].target, ops[i].target))
			return true;
	return false;
}

static const struct op *first_commit(const struct op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ops[i].type->nature == OP_COMMIT)
			return &ops[i];
	return NULL;
}

int ops_are_committed(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	const struct op *commit = first_commit(ops, count);

	return commit ? is_done(ctx, commit, 1) : 0;
}

int ops_finish(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	struct first first = {0};

	for (size_t i = 0; i < count; i++) {
		int r = ops[i].type->nature == OP_COMMIT ? is_done(ctx, &ops[i], 1) : 1;

		if (first.error && ops[i].type->after_all)
			continue;
		note_op(ctx, &first, r == 0 ? op_apply(ctx, &ops[i]) : r);
	}
	return first_failure(ctx, &first);
}

int ops_are_done(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	int r = 1;

	for (size_t i = 0, n; i < count && r == 1; i += n) {
		n = ops_together(ops, count, i);
		if (ops[i].want && !is_overtaken(ops, count, i))
			r = is_done(ctx, &ops[i], n);
	}
	return r;
}
