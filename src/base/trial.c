// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The operation that asks whether a change is kept: the last one of a trial that can be rolled back
 * (vfctl_ctx_set_confirm()). In the journal it marks the change as a trial: it never reads back as
 * done, so recovery rolls the change back.
 */
#include <errno.h>
#include <string.h>

#include "base/trial.h"

static int observe_one(struct vfctl_ctx *ctx, const struct op *op, char **ret_text)
{
	*ret_text = strdup(op->before ? op->before : "");
	return *ret_text ? 0 : ctx_oom(ctx);
}

static int apply_one(struct vfctl_ctx *ctx, const struct op *op)
{
	int r = ctx->confirm ? ctx->confirm(ctx, ctx->confirm_data) : 0;

	if (r == 0)
		return 0;
	return ctx_fail(ctx, r, r == -EINTR ? "interrupted; rolled back" : "not confirmed; rolled back");
}

OP_ONE_BY_ONE(trial, observe_one, apply_one, NULL)

const struct op_type op_trial = {.name = "trial", OP_CALLS(trial)};
