// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a guest is not on a node: what is short there, or why the chosen place is better. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "placement/explain/change.h"
#include "placement/make.h"
#include "placement/model/host_model.h"
#include "placement/placement.h"

struct answer {
	struct vfctl_assignment message; /* only its reasons are used */
	struct vfctl_plan *there, *best;
};

static void clear_answer(struct answer *a)
{
	vfctl_plan_free(a->there);
	vfctl_plan_free(a->best);
	for (size_t i = 0; i < a->message.reason_count; i++)
		free(a->message.reasons[i].text);
	free(a->message.reasons);
	free(a->message.remedies);
}

/*
 * Whether the guest is on other nodes too: the request for this node is the caller's, not the
 * guest's.
 */
static bool leaves_node(const struct vfctl_assignment *from, size_t reason)
{
	for (size_t i = 0; i < from->remedy_count; i++)
		for (size_t k = 0; k < from->remedies[i].count; k++)
			if (from->remedies[i].reason == reason &&
				(from->remedies[i].changes[k].kind == CHANGE_NODE ||
					from->remedies[i].changes[k].kind == CHANGE_CELLS))
				return true;
	return false;
}

static bool copy_reasons(struct answer *a, const struct vfctl_assignment *from, bool choice)
{
	bool ok = true;

	for (size_t i = 0; i < from->reason_count; i++)
		if ((from->reasons[i].kind == VFCTL_REASON_CHOICE) == choice &&
			!leaves_node(from, i))
			ok &= reason_add(&a->message, from->reasons[i].kind, "%s",
				from->reasons[i].text);
	return ok;
}

static void chosen_nodes(const struct vfctl_assignment *a, char buf[128])
{
	struct vfctl_cpuset nodes = {0};
	int n = snprintf(buf, 128, a->cell_count > 1 ? "nodes " : "node ");

	for (size_t k = 0; k < a->cell_count; k++)
		vfctl_cpuset_add(&nodes, (unsigned)a->cells[k].node);
	vfctl_cpuset_format(&nodes, buf + n, (size_t)(128 - n));
}

/* The first level in which the two differ decides. */
static bool compare_plans(struct answer *a, int node, int asked)
{
	static const char *const less[VFCTL_LEVELS] = {
		[VFCTL_LEVEL_LOCAL] = "less of it would be local",
		[VFCTL_LEVEL_DISTANCE] = "its VFs or memory would be farther away",
		[VFCTL_LEVEL_FORM] = "its pages would be smaller, or its cells less even,",
		[VFCTL_LEVEL_ROOM] = "less space would be left for the next guests",
		[VFCTL_LEVEL_BALANCE] = "the PFs' VFs would be used less evenly",
	};
	const struct vfctl_assignment *best = &a->best->assignments[0];
	char where[128];

	chosen_nodes(best, where);
	if (asked != VFCTL_NODE_NONE && asked != node)
		return reason_add(&a->message, VFCTL_REASON_CHOICE, "the guest asks for node %d",
			asked);
	if (best->node == node && best->cell_count == 1)
		return reason_add(&a->message, VFCTL_REASON_CHOICE,
			"node %d is the chosen node", node);
	for (unsigned i = 0; i < VFCTL_LEVELS; i++)
		if (a->there->value[i] != a->best->value[i] && less[i])
			return reason_add(&a->message, VFCTL_REASON_CHOICE, "node %d fits too, but %s "
				"than on %s (level %s: %" PRIu64 " against %" PRIu64 ")", node,
				less[i], where, vfctl_plan_level_name((enum vfctl_plan_level)i),
				a->there->value[i], a->best->value[i]);
	return reason_add(&a->message, VFCTL_REASON_CHOICE, "node %d is as good as %s, which has the "
		"lower number", node, where);
}

int vfctl_plan_why_not(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request, int node,
	const struct vfctl_plan_options *options, struct vfctl_reason **ret_reasons,
	size_t *ret_count)
{
	_cleanup_(clear_answer) struct answer a = {0};
	struct vfctl_vf_want wants[VFCTL_GUEST_VFS_MAX];
	struct vfctl_plan_options half = options ? *options : (struct vfctl_plan_options){0};
	struct vfctl_request there = *request;
	bool ok = true;
	int r;

	/* Two plans share the time of one. */
	half.timeout_ms = (half.timeout_ms ? half.timeout_ms : SEARCH_TIMEOUT_MS) / 2 + 1;

	there.node = node;
	there.cells = NULL;
	there.cell_count = 0;
	there.cells_max = 1;
	for (size_t i = 0; i < request->want_count && i < VFCTL_GUEST_VFS_MAX; i++) {
		wants[i] = request->wants[i];
		wants[i].cell = VFCTL_CELL_ANY;
	}
	there.wants = wants;
	if (request->cell_count > 1)
		return ctx_usage_error(ctx, -EINVAL, "%s has %zu cells, each on its own node, so it "
			"cannot be on one node", request->name, request->cell_count);
	r = plan_make(ctx, model, &there, 1, &half, true, &a.there);
	if (r == 0)
		r = vfctl_plan_make(ctx, model, request, 1, &half, &a.best);
	if (r < 0)
		return r;
	if (a.there->assignments[0].refusal != VFCTL_REFUSAL_NONE)
		ok = copy_reasons(&a, &a.there->assignments[0], false);
	else if (a.best->assignments[0].refusal == VFCTL_REFUSAL_NONE)
		ok = compare_plans(&a, node, request->cell_count == 1 ?
			request->cells[0].node : request->node);
	if (!ok)
		return ctx_oom(ctx);
	*ret_reasons = steal(a.message.reasons);
	*ret_count = a.message.reason_count;
	a.message.reason_count = 0;
	return 0;
}
