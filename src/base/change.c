// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/change.h"

#include <errno.h>

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

bool vfctl_change_operation(const struct vfctl_change *change, size_t index, size_t number,
	struct vfctl_operation *ret)
{
	const struct step *row = index < change->steps.count ? &change->steps.v[index] : NULL;
	const struct op *op = row && number < row->op_count ? &row->ops[number] : NULL;

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

/* What its operations ask, which @change then has. */
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
