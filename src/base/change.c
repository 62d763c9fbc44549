// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/planning.h"

#include <errno.h>

#include "base/buf.h"
#include "base/change.h"
#include "base/json.h"

int change_new(struct vfctl_ctx *ctx, struct vfctl_change **ret_change)
{
	struct vfctl_change *change = calloc(1, sizeof(*change));

	if (!change)
		return ctx_oom(ctx);
	change->lock_fd = change->placement_fd = change->other_fd = -1;
	*ret_change = change;
	return 0;
}

size_t vfctl_change_count(const struct vfctl_change *change)
{
	return change->steps.count;
}

const char *vfctl_change_describe(const struct vfctl_change *change, size_t index)
{
	return index < change->steps.count ? change->steps.v[index].describe : NULL;
}

static const struct op *operation_at(const struct vfctl_change *change, size_t step, size_t number)
{
	const struct step *row = step < change->steps.count ? &change->steps.v[step] : NULL;

	return row && number < row->op_count ? &row->ops[number] : NULL;
}

const char *vfctl_operation_type(const struct vfctl_change *change, size_t step, size_t number)
{
	const struct op *op = operation_at(change, step, number);

	return op ? op->type->name : NULL;
}

const char *vfctl_operation_target(const struct vfctl_change *change, size_t step, size_t number)
{
	const struct op *op = operation_at(change, step, number);

	return op ? op->target : NULL;
}

const char *vfctl_operation_want(const struct vfctl_change *change, size_t step, size_t number)
{
	const struct op *op = operation_at(change, step, number);

	return op ? op->want : NULL;
}

const char *vfctl_operation_before(const struct vfctl_change *change, size_t step, size_t number)
{
	const struct op *op = operation_at(change, step, number);

	return op ? op->before : NULL;
}

bool vfctl_change_operation(const struct vfctl_change *change, size_t index, size_t number,
	struct vfctl_operation *ret)
{
	const struct op *op = operation_at(change, index, number);

	if (op)
		*ret = (struct vfctl_operation){op->type->name, op->target, op->want, op->before};
	return op;
}

const char *vfctl_change_nothing(const struct vfctl_change *change)
{
	return change->nothing;
}

const char *vfctl_change_pending(const struct vfctl_change *change)
{
	return change->pending;
}

const char *vfctl_change_result(const struct vfctl_change *change)
{
	return change->result;
}

bool vfctl_change_moves_ids(const struct vfctl_change *change)
{
	return change->ids_changed;
}

/* Append a member whose value is a string or null. */
static void put_member(struct buf *out, const char *key, const char *text)
{
	json_put(out, key);
	buf_puts(out, ": ");
	if (text)
		json_put(out, text);
	else
		buf_puts(out, "null");
}

static void put_operation(struct buf *out, const struct op *op)
{
	buf_puts(out, "{");
	put_member(out, "type", op->type->name);
	buf_puts(out, ", ");
	put_member(out, "target", op->target);
	buf_puts(out, ", ");
	put_member(out, "want", op->want);
	buf_puts(out, ", ");
	put_member(out, "before", op->before);
	buf_puts(out, "}");
}

static void put_step(struct buf *out, const struct step *step)
{
	buf_puts(out, "{");
	put_member(out, "text", step->describe);
	buf_puts(out, ", \"operations\": [");
	for (size_t i = 0; i < step->op_count; i++) {
		buf_puts(out, i ? ", " : "");
		put_operation(out, &step->ops[i]);
	}
	buf_puts(out, "]}");
}

int vfctl_change_json(struct vfctl_ctx *ctx, const struct vfctl_change *change, char **ret_json)
{
	_buf_ struct buf out = {0};
	char *text;

	buf_puts(&out, "{\"format\": 1, \"steps\": [");
	for (size_t i = 0; i < change->steps.count; i++) {
		buf_puts(&out, i ? ", " : "");
		put_step(&out, &change->steps.v[i]);
	}
	buf_puts(&out, "], ");
	put_member(&out, "nothing", change->nothing);
	buf_puts(&out, ", ");
	put_member(&out, "pending", change->pending);
	buf_puts(&out, ", ");
	put_member(&out, "result", change->result);
	buf_printf(&out, ", \"moves_ids\": %s}\n", change->ids_changed ? "true" : "false");
	text = buf_steal(&out);
	if (!text)
		return ctx_oom(ctx);
	*ret_json = text;
	return 0;
}

/* Exchange the hypervisor and the pools of @ctx with those of @change. */
static void swap_asked(struct vfctl_ctx *ctx, struct vfctl_change *change)
{
	struct vfctl_hypervisor *hypervisor = ctx->hypervisor;
	struct vfctl_ids *ids = ctx->ids;

	ctx->hypervisor = change->hypervisor;
	ctx->ids = change->ids;
	change->hypervisor = hypervisor;
	change->ids = ids;
}

int vfctl_change_run(struct vfctl_ctx *ctx, struct vfctl_change *change)
{
	int r;

	if (change->dry_run)
		return ctx_fail(ctx, -EINVAL, "the change was planned as a dry run, without locks; "
			"plan it again to run it");
	swap_asked(ctx, change);
	r = steps_run(ctx, &change->steps, &change->entry);
	swap_asked(ctx, change);
	return r;
}

int change_planned(struct vfctl_ctx *ctx, struct vfctl_change *change, int r)
{
	if (r == 0 && change->steps.failed)
		return ctx_oom(ctx);
	if (r != -EALREADY)
		return r;
	steps_clear(&change->steps);
	free(change->nothing);
	change->nothing = steal(ctx->error);
	ctx_clear(ctx);
	return 0;
}

void change_drop_done(struct vfctl_ctx *ctx, struct vfctl_change *change)
{
	struct steps *s = &change->steps;
	int r = 1;

	swap_asked(ctx, change);
	for (size_t i = 0; i < s->count && r == 1; i++)
		r = ops_are_done(ctx, s->v[i].ops, s->v[i].op_count);
	swap_asked(ctx, change);
	ctx_clear(ctx);
	if (r == 1 && !s->failed)
		steps_clear(s);
}

void vfctl_change_free(struct vfctl_change *change)
{
	if (!change)
		return;
	steps_clear(&change->steps);
	free(change->entry.story);
	free(change->entry.lock);
	free(change->pending);
	free(change->nothing);
	free(change->result);
	close_fd(&change->lock_fd);
	close_fd(&change->placement_fd);
	close_fd(&change->other_fd);
	free(change);
}
