// SPDX-License-Identifier: GPL-2.0-or-later
/* The guests of a search: equal requests, their difficulty, and the needs of each alone. */
#include "placement/search/branch.h"

/* Evaluating an option is as much work as visiting this many edges of a flow. */
#define EDGES_PER_WORK 64
/* Limit for the VFs of one guest's options while it is judged alone. */
#define VFS_WORK_MAX 100000

int demands_by_index(const void *a, const void *b)
{
	const struct demand *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

int demands_by_size(const void *a, const void *b)
{
	const struct demand *x = a, *y = b;

	if (x->threads != y->threads)
		return x->threads < y->threads ? -1 : 1;
	if (x->request->memory_bytes != y->request->memory_bytes)
		return x->request->memory_bytes < y->request->memory_bytes ? -1 : 1;
	return demands_by_index(a, b);
}

int demands_by_hardness(const void *a, const void *b)
{
	const struct demand *x = a, *y = b;

	if (x->hardness != y->hardness)
		return x->hardness > y->hardness ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return demands_by_index(a, b);
}

/* The largest share of a host's resource that it takes, in thousandths. */
static void judge_hardness(const struct search *s, struct demand *demand)
{
	uint64_t threads = 1, memory = 1, vfs = 1, share;

	for (unsigned n = 0; n < s->capacity->node_count; n++) {
		threads += s->capacity->start[n].threads;
		memory += search_memory(s, &s->capacity->start[n]) >> 20;
	}
	for (size_t g = 0; g < s->capacity->group_count; g++)
		vfs += s->capacity->groups[g].free;
	share = demand->threads * 1000 / threads;
	if ((demand->request->memory_bytes >> 20) * 1000 / memory > share)
		share = (demand->request->memory_bytes >> 20) * 1000 / memory;
	if (demand->vfs * 1000 / vfs > share)
		share = demand->vfs * 1000 / vfs;
	demand->hardness = share + (demand->request->cell_count > 1 ? 1000 : 0);
}

static bool names_a_node(const struct vfctl_request *r)
{
	bool named = r->node != VFCTL_NODE_NONE;

	for (size_t k = 0; k < r->cell_count; k++)
		named |= r->cells[k].node != VFCTL_NODE_NONE;
	return named;
}

void demands_find_types(struct search *s)
{
	bool named = false;

	for (size_t i = 0; i < s->count; i++)
		named |= names_a_node(s->demands[i].request);
	for (size_t i = 0; i < s->count; i++)
		s->demands[i].none_equal = named;
	for (size_t i = 0; i < s->count; i++) {
		s->demands[i].type = i;
		for (size_t k = 0; k < i && s->demands[i].type == i; k++)
			if (!s->demands[i].current && s->demands[k].type == k &&
				s->demands[i].must_split == s->demands[k].must_split &&
				request_same(s->demands[k].request, s->demands[i].request))
				s->demands[i].type = k;
		judge_hardness(s, &s->demands[i]);
	}
}

void demands_find_runs(struct search *s)
{
	for (size_t i = s->count; i-- > 0;)
		s->same_until[i] = i + 1 < s->count && s->demands[i].type == s->demands[i + 1].type ?
			s->same_until[i + 1] : i + 1;
}

void demands_find_reach(struct search *s, size_t type)
{
	s->reach[type] = s->demands[type].reach = match_reach(s->capacity, &s->demands[type]);
	if (!s->reach[type])
		s->error = ctx_oom(s->ctx);
}

/*
 * Whether the VFs for all wants are available together. An option ensures that only for each want
 * alone.
 */
static bool has_vfs(struct search *s, const struct demand *demand, const struct option *o,
	const struct opt_cell *cells)
{
	struct flow_mark mark = {0};
	int r = 1;

	if (!demand->vfs || s->error)
		return true;
	r = flow_mark(&s->flow, &mark);
	if (r == 0)
		r = match_add(s->capacity, &s->flow, demand, o, cells);
	if (r < 0)
		s->error = ctx_oom(s->ctx);
	if (mark.left)
		flow_return(&s->flow, &mark);
	flow_mark_clear(&mark);
	return r > 0;
}

uint64_t search_vf_work(const struct search *s, const struct demand *demand, uint64_t edges)
{
	return 1 + (demand->vfs * s->capacity->group_count + s->flow.work - edges) / EDGES_PER_WORK;
}

bool demand_has_option(struct search *s, const struct demand *demand, struct option_list *list)
{
	uint64_t most = list->work + VFS_WORK_MAX;

	for (size_t i = 0; i < list->count && list->work < most; i++) {
		uint64_t edges = s->flow.work;

		if (has_vfs(s, demand, &list->v[i], &list->cells[list->v[i].first_cell]))
			return true;
		list->work += search_vf_work(s, demand, edges);
		if (list->limit && i % 64 == 63 && limit_reached(list->limit))
			break;
	}
	list->cut |= list->work >= most || (list->limit && list->limit->reached);
	return false;
}

/* The minimum needs of each guest alone, for the bounds. */
void demand_judge_alone(struct search *s, struct demand *demand, struct option_list *list)
{
	size_t cells = demand->request->cell_count ? demand->most_cells : 1;

	if (options_make(s->capacity, demand, s->rooms, cells, true, list) < 0) {
		s->error = ctx_oom(s->ctx);
		return;
	}
	s->judged_cells = s->count == 1 ? cells : 0;
	demand->least_distance = UINT64_MAX;
	demand->can_be_local = false;
	for (size_t i = 0; i < list->count; i++) {
		uint64_t d = list->v[i].distance + list->v[i].vf_distance;

		demand->can_be_local |= list->v[i].local;
		demand->least_distance = d < demand->least_distance ? d : demand->least_distance;
	}
	/* A guest that fits on a node is not split, except in a batch without space for it. */
	if (demand->split && !demand->request->cell_count && !demand->must_split &&
		demand_has_option(s, demand, list))
		demand->most_cells = 1;
	demand->split = demand->most_cells > 1;
	/* If it is split, or if options were not tried, this may not hold. */
	if (!demand->request->cell_count && demand->most_cells > 1) {
		demand->can_be_local = true;
		demand->least_distance = 0;
	}
	if (list->cut || !list->count) {
		demand->can_be_local |= list->cut;
		demand->least_distance = 0;
	}
}

static int make_chosen(struct search *s, struct chosen **ret)
{
	struct chosen *c = calloc(s->count, sizeof(*c));

	*ret = c;
	for (size_t i = 0; c && i < s->count; i++) {
		c[i].cells = calloc(s->capacity->node_count, sizeof(*c[i].cells));
		c[i].vfs = calloc(VFCTL_GUEST_VFS_MAX, sizeof(*c[i].vfs));
		if (!c[i].cells || !c[i].vfs)
			return ctx_oom(s->ctx);
	}
	return c ? 0 : ctx_oom(s->ctx);
}

static void free_chosen(struct chosen *c, size_t count)
{
	for (size_t i = 0; c && i < count; i++) {
		free(c[i].cells);
		free(c[i].vfs);
	}
	free(c);
}

void search_result_clear(struct search_result *result, size_t count)
{
	free_chosen(result->chosen, count);
	result->chosen = NULL;
}

int search_allocate(struct search *s)
{
	int r;

	s->same_until = calloc(s->count, sizeof(*s->same_until));
	s->rooms = calloc((s->count + 1) * s->capacity->node_count, sizeof(*s->rooms));
	s->lists = calloc(s->count, sizeof(*s->lists));
	s->reach = calloc(s->count, sizeof(*s->reach));
	s->best_rooms = calloc(s->capacity->node_count + 1, sizeof(*s->best_rooms));
	if (!s->best_rooms || !s->same_until || !s->rooms || !s->lists || !s->reach)
		return ctx_oom(s->ctx);
	r = make_chosen(s, &s->now);
	return r < 0 ? r : make_chosen(s, &s->best);
}

void search_release(struct search *s)
{
	for (size_t i = 0; s->lists && i < s->count; i++)
		options_clear(&s->lists[i]);
	for (size_t i = 0; s->reach && i < s->count; i++)
		free(s->reach[i]);
	free(s->reach);
	free(s->best_rooms);
	free(s->lists);
	free(s->same_until);
	free(s->rooms);
	flow_clear(&s->flow);
	free_chosen(s->now, s->count);
	free_chosen(s->best, s->count);
}
