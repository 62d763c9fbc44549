// SPDX-License-Identifier: GPL-2.0-or-later
/* The first plans of a search: a known one, and greedy ones. */
#include "placement/search/branch.h"

#define GREEDY_WORK_LEAST 500

static void greedy(struct search *s, size_t depth);

void search_spend_first(struct search *s, uint64_t work)
{
	s->first_work -= work < s->first_work ? work : s->first_work;
}

/* This guest's share of the work: all shares together never exceed the total. */
static uint64_t greedy_work(const struct search *s)
{
	uint64_t share = s->first_work / GREEDY_GUESTS;

	if (s->count == 1)
		return s->any_steps * OPTION_WORK_PER_STEP;
	return share > GREEDY_WORK_LEAST ? share : GREEDY_WORK_LEAST;
}

/* Use the first option with enough VFs, with the fewest cells. */
static bool greedy_place(struct search *s, size_t depth)
{
	struct option_list *list = &s->lists[depth];
	const struct demand *demand = &s->demands[depth];

	if (s->limit.reached || !search_could_place(s, depth))
		return false;
	list->work = 0;
	list->max_work = greedy_work(s);
	for (size_t cells = demand->request->cell_count ? demand->most_cells : 1;
		cells <= demand->most_cells && list->work <= list->max_work; cells++) {
		uint64_t before = list->work, vf_work = 0;

		if (options_make(s->capacity, demand, &s->rooms[depth * s->capacity->node_count], cells,
			    true, list) < 0) {
			s->error = ctx_oom(s->ctx);
			return true;
		}
		search_spend_first(s, list->work - before);
		if (list->count && !s->first_fit)
			qsort(list->v, list->count, sizeof(*list->v), options_by_promise);
		for (size_t i = 0; i < list->count && vf_work <= list->max_work; i++) {
			const struct option *o = &list->v[i];
			uint64_t edges = s->flow.work, work;
			int r;

			search_step(s);
			if (s->error)
				return true;
			r = search_with_option(s, depth, o, &list->cells[o->first_cell], greedy);
			if (r != 0)
				return true;
			work = search_vf_work(s, demand, edges);
			vf_work += work;
			search_spend_first(s, work);
		}
	}
	return false;
}

static void greedy(struct search *s, size_t depth)
{
	size_t nodes = s->capacity->node_count;

	if (depth == s->count) {
		search_leaf(s, &s->rooms[depth * nodes]);
		return;
	}
	if (greedy_place(s, depth) || s->error)
		return;
	s->now[depth].placed = false;
	memcpy(&s->rooms[(depth + 1) * nodes], &s->rooms[depth * nodes],
		nodes * sizeof(*s->rooms));
	greedy(s, depth + 1);
}

void search_greedy(struct search *s, bool first)
{
	s->first_fit = first;
	greedy(s, 0);
}

void search_known_plan(struct search *s, size_t depth)
{
	size_t nodes = s->capacity->node_count;
	const struct chosen *known;

	if (depth == s->count) {
		search_leaf(s, &s->rooms[depth * nodes]);
		return;
	}
	known = &s->known[s->demands[depth].index];
	if (known->placed &&
		search_with_option(s, depth, &known->option, known->cells, search_known_plan) != 0)
		return;
	s->now[depth].placed = false;
	memcpy(&s->rooms[(depth + 1) * nodes], &s->rooms[depth * nodes],
		nodes * sizeof(*s->rooms));
	search_known_plan(s, depth + 1);
}
