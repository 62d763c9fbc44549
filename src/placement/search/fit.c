// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether a guest can be placed at all. The first option with enough VFs is accepted; options are
 * not compared.
 */
#include "placement/search/branch.h"

/* If there is an option, its VFs are usually available too: first generate only this many. */
#define FEW_WAYS 8
/* In the units of the search. */
#define WORK_PER_STEP 16
/* Steps for the preparation. */
#define FIRST_STEPS 4

static bool fits_in(struct search *s, size_t cells, struct option_list *list)
{
	for (size_t enough = FEW_WAYS;; enough = 0) {
		list->enough = enough;
		if (options_make(s->capacity, s->demands, s->capacity->start, cells, true, list) < 0)
			s->error = ctx_oom(s->ctx);
		if (s->error || demand_has_option(s, s->demands, list))
			return true;
		if (!enough || list->count < enough)
			return false;
	}
}

/* True also after an error. */
static bool fits_node(struct search *s, struct option_list *list, bool *ret_cut)
{
	const struct demand *demand = s->demands;
	size_t cells = demand->request->cell_count ? demand->most_cells : 1;

	*ret_cut = false;
	for (; cells <= demand->most_cells; cells++) {
		if (fits_in(s, cells, list))
			return true;
		*ret_cut |= list->cut;
	}
	return false;
}

int search_fit(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *request, uint64_t deadline_ms, struct fit *io)
{
	struct limit limit = {.cancelled = &ctx->cancelled, .deadline_ms = deadline_ms};
	_cleanup_(options_clear) struct option_list list = {.limit = &limit,
		.max_work = io->steps * WORK_PER_STEP};
	struct demand demand;
	struct search s = {.ctx = ctx, .capacity = capacity, .demands = &demand, .count = 1};
	uint64_t steps = FIRST_STEPS;
	bool cut = false;

	demand_init(capacity, request, 0, &demand);
	demand.reach = match_reach(capacity, &demand);
	if (!demand.reach || match_begin(capacity, &s.flow) < 0)
		s.error = ctx_oom(ctx);
	io->fits = !s.error && fits_node(&s, &list, &cut);
	io->sure = io->fits || !cut;
	io->clock |= limit.reached;
	steps += list.work / WORK_PER_STEP;
	io->steps -= steps < io->steps ? steps : io->steps;
	free(demand.reach);
	flow_clear(&s.flow);
	return s.error;
}
