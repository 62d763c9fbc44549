// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a guest is not on a node: what it lacks, or what the chosen place has over it. */
#include <errno.h>
#include <inttypes.h>

#include "placement/placement.h"

struct answer {
	struct vfctl_assignment words; /* only its reasons */
	struct vfctl_plan *there, *best;
};

static void clear_answer(struct answer *a)
{
	vfctl_plan_free(a->there);
	vfctl_plan_free(a->best);
	for (size_t i = 0; i < a->words.reason_count; i++)
		free(a->words.reasons[i].text);
	free(a->words.reasons);
}

static bool copy_reasons(struct answer *a, const struct vfctl_assignment *from, bool choice)
{
	bool ok = true;

	for (size_t i = 0; i < from->reason_count; i++)
		if ((from->reasons[i].kind == VFCTL_REASON_CHOICE) == choice)
			ok &= reason_add(&a->words, from->reasons[i].kind, "%s",
				from->reasons[i].text);
	return ok;
}

/* The first level at which the two differ decides. */
static bool compare_plans(struct answer *a, int node)
{
	static const char *const less[VFCTL_LEVELS] = {
		[VFCTL_LEVEL_LOCAL] = "not all of it would be local there",
		[VFCTL_LEVEL_DISTANCE] = "its VFs or memory would be farther away",
		[VFCTL_LEVEL_FORM] = "its pages would be smaller, or its cells less even",
		[VFCTL_LEVEL_ROOM] = "less room would be left for the next guests",
		[VFCTL_LEVEL_BALANCE] = "the PFs' VFs would be used less evenly",
	};
	const struct vfctl_assignment *best = &a->best->assignments[0];

	if (best->node == node && best->cell_count == 1)
		return reason_add(&a->words, VFCTL_REASON_CHOICE,
			"node %d is where it goes", node);
	for (unsigned i = 0; i < VFCTL_LEVELS; i++)
		if (a->there->value[i] != a->best->value[i] && less[i])
			return reason_add(&a->words, VFCTL_REASON_CHOICE, "node %d fits too, but %s "
				"(%s: %" PRIu64 " there, %" PRIu64 " on node %d)", node, less[i],
				vfctl_plan_level_name((enum vfctl_plan_level)i),
				a->there->value[i], a->best->value[i], best->node);
	return reason_add(&a->words, VFCTL_REASON_CHOICE, "node %d is as good as node %d, which "
		"has the lower number", node, best->node);
}

int vfctl_plan_why_not(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request, int node,
	const struct vfctl_plan_options *options, struct vfctl_reason **ret_reasons,
	size_t *ret_count)
{
	_cleanup_(clear_answer) struct answer a = {0};
	struct vfctl_request there = *request;
	bool ok = true;
	int r;

	there.node = node;
	there.cells = NULL;
	there.cell_count = 0;
	there.cells_max = 1;
	if (request->cell_count > 1)
		return ctx_fail(ctx, -EINVAL, "%s has %zu cells, each on a node of its own: it "
			"cannot go wholly to one", request->name, request->cell_count);
	r = vfctl_plan_make(ctx, model, &there, 1, options, &a.there);
	if (r == 0)
		r = vfctl_plan_make(ctx, model, request, 1, options, &a.best);
	if (r < 0)
		return r;
	if (a.there->assignments[0].refusal != VFCTL_REFUSAL_NONE)
		ok = copy_reasons(&a, &a.there->assignments[0], false);
	else if (a.best->assignments[0].refusal == VFCTL_REFUSAL_NONE)
		ok = compare_plans(&a, node);
	if (!ok)
		return ctx_oom(ctx);
	*ret_reasons = steal(a.words.reasons);
	*ret_count = a.words.reason_count;
	a.words.reason_count = 0;
	return 0;
}
