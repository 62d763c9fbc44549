// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/placement.h"

#include <errno.h>

int vf_home(const struct vfctl_topology *topology, const struct vfctl_free_vf *vf)
{
	const struct vfctl_node *own = vfctl_topology_node(topology, vf->node);
	unsigned best_distance = 0;
	int best = VFCTL_NODE_NONE;

	if (!own || !vfctl_cpuset_empty(&own->cpus))
		return own ? vf->node : VFCTL_NODE_NONE;
	for (size_t i = 0; i < topology->node_count; i++) {
		const struct vfctl_node *node = &topology->nodes[i];
		unsigned distance =
			vfctl_topology_distance(topology, vf->node, (int)node->id);

		if (vfctl_cpuset_empty(&node->cpus))
			continue;
		if (best != VFCTL_NODE_NONE && distance >= best_distance)
			continue;
		best = (int)node->id;
		best_distance = distance;
	}
	return best;
}

bool vf_answers(const struct vfctl_free_vf *vf, const struct vfctl_vf_want *want)
{
	return (want->any_pf || vfctl_bdf_compare(&vf->pf, &want->pf) == 0) &&
	       (want->fabric == VFCTL_FABRIC_ANY || want->fabric == vf->fabric);
}

size_t vf_free_on(const struct occupancy *o, const struct vfctl_vf_want *want, int node)
{
	size_t n = 0;

	for (size_t i = 0; i < o->model->vf_count; i++)
		if (!o->vf_taken[i] && vf_answers(&o->model->vfs[i], want) &&
			vf_home(o->model->topology, &o->model->vfs[i]) == node)
			n++;
	return n;
}

/* A PF is on one fabric, so wants are nested: the narrow ones served first is exact. */
static int narrowness(const struct vfctl_vf_want *want)
{
	return !want->any_pf ? 2 : want->fabric != VFCTL_FABRIC_ANY;
}

/* State of one search: what this guest has taken so far, and the order of preference. */
struct search {
	const struct occupancy *o;
	int node;
	bool *taken;
	size_t *pf_free; /* free VFs of each VF's PF when the want was begun */
};

static size_t free_of_pf(const struct search *s, const struct vfctl_bdf *pf)
{
	const struct vfctl_host_model *m = s->o->model;
	size_t n = 0;

	for (size_t i = 0; i < m->vf_count; i++)
		n += !s->o->vf_taken[i] && !s->taken[i] &&
		     vfctl_bdf_compare(&m->vfs[i].pf, pf) == 0;
	return n;
}

/* Local before homeless, then the PF with most VFs left, then in order of address. */
static bool better(const struct search *s, size_t a, size_t b)
{
	const struct vfctl_host_model *m = s->o->model;
	bool a_home = vf_home(m->topology, &m->vfs[a]) == s->node;
	bool b_home = vf_home(m->topology, &m->vfs[b]) == s->node;
	int order;

	if (a_home != b_home)
		return a_home;
	if (s->pf_free[a] != s->pf_free[b])
		return s->pf_free[a] > s->pf_free[b];
	order = vfctl_bdf_compare(&m->vfs[a].pf, &m->vfs[b].pf);
	return order ? order < 0 : m->vfs[a].index < m->vfs[b].index;
}

static bool take_one(
	const struct search *s, const struct vfctl_vf_want *want, size_t *ret)
{
	const struct vfctl_host_model *m = s->o->model;
	bool found = false;
	size_t best = 0;

	for (size_t i = 0; i < m->vf_count; i++) {
		int home = vf_home(m->topology, &m->vfs[i]);

		if (s->o->vf_taken[i] || s->taken[i] || !vf_answers(&m->vfs[i], want))
			continue;
		if (home != s->node && home != VFCTL_NODE_NONE)
			continue;
		if (!found || better(s, i, best))
			best = i;
		found = true;
	}
	if (found) {
		s->taken[best] = true;
		*ret = best;
	}
	return found;
}

static bool serve(const struct search *s, const struct vfctl_request *request,
	uint32_t want, struct vf_pick *pick)
{
	const struct vfctl_host_model *m = s->o->model;
	size_t at = 0;

	for (uint32_t i = 0; i < want; i++)
		at += request->wants[i].count;
	/* The VFs of a PF mostly come together: count once for each run of them. */
	for (size_t i = 0; i < m->vf_count; i++)
		s->pf_free[i] = i && !vfctl_bdf_compare(&m->vfs[i].pf, &m->vfs[i - 1].pf)
					? s->pf_free[i - 1]
					: free_of_pf(s, &m->vfs[i].pf);
	for (uint32_t i = 0; i < request->wants[want].count; i++, at++) {
		if (!take_one(s, &request->wants[want], &pick->index[at]))
			return false;
		pick->want[at] = want;
		pick->homeless +=
			vf_home(m->topology, &m->vfs[pick->index[at]]) == VFCTL_NODE_NONE;
	}
	return true;
}

void vf_pick_clear(struct vf_pick *pick)
{
	free(pick->index);
	free(pick->want);
	*pick = (struct vf_pick){0};
}

static bool serve_all(
	const struct search *s, const struct vfctl_request *request, struct vf_pick *pick)
{
	for (int level = 2; level >= 0; level--)
		for (uint32_t w = 0; w < request->want_count; w++)
			if (narrowness(&request->wants[w]) == level &&
				!serve(s, request, w, pick))
				return false;
	return true;
}

int vf_pick(struct vfctl_ctx *ctx, const struct occupancy *o,
	const struct vfctl_request *request, unsigned node, struct vf_pick *ret)
{
	_cleanup_(vf_pick_clear) struct vf_pick pick = {0};
	size_t count = o->model->vf_count ? o->model->vf_count : 1;
	_free_ bool *taken = calloc(count, sizeof(*taken));
	_free_ size_t *pf_free = calloc(count, sizeof(*pf_free));
	struct search s = {.o = o, .node = (int)node, .taken = taken, .pf_free = pf_free};

	for (size_t i = 0; i < request->want_count; i++)
		pick.count += request->wants[i].count;
	pick.index = calloc(pick.count + 1, sizeof(*pick.index));
	pick.want = calloc(pick.count + 1, sizeof(*pick.want));
	if (!taken || !pf_free || !pick.index || !pick.want)
		return ctx_oom(ctx);
	if (!serve_all(&s, request, &pick))
		return 0;
	*ret = pick;
	pick = (struct vf_pick){0};
	return 1;
}
