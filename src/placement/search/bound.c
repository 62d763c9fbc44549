// SPDX-License-Identifier: GPL-2.0-or-later
/* Bounds: no plan below a branch can be better, level by level. */
#include "placement/search/branch.h"

/*
 * Upper limit of the demands from @depth on that could still be placed. Each resource is taken
 * alone: the smallest demands first until it is used up; for guests on one node, no more per node
 * than fit into it.
 */
static size_t fit_by(const struct search *s, size_t depth, uint64_t total,
	uint64_t (*need)(const struct demand *demand))
{
	size_t n = s->count - depth, fits = 0;
	uint64_t needs[64];
	_free_ uint64_t *more = n > 64 ? malloc(n * sizeof(*more)) : NULL;
	uint64_t *v = n > 64 ? more : needs;

	if (!v)
		return n;
	for (size_t i = 0; i < n; i++) {
		uint64_t x = need(&s->demands[depth + i]);
		size_t at = i;

		/* The values usually come in descending order: insert at the front. */
		for (; at > 0 && v[at - 1] > x; at--)
			v[at] = v[at - 1];
		v[at] = x;
	}
	for (; fits < n && v[fits] <= total; fits++)
		total -= v[fits];
	return fits;
}

static uint64_t need_threads(const struct demand *demand) { return demand->threads; }
static uint64_t need_memory(const struct demand *demand) { return demand->request->memory_bytes; }
static uint64_t need_vfs(const struct demand *demand) { return demand->vfs; }
static uint64_t need_shared(const struct demand *demand) { return demand->request->shared_vcpus; }

uint64_t search_memory(const struct search *s, const struct node_free *room)
{
	uint64_t sum = 0;

	for (unsigned p = 0; p < s->capacity->page_count; p++)
		sum += room->memory[p];
	return sum;
}

/* Number of guests of one node each that need at least as much as guest @of. */
static size_t fit_by_node(const struct search *s, size_t depth, const struct node_free *rooms,
	size_t of)
{
	uint64_t size = s->demands[of].threads, memory = s->demands[of].request->memory_bytes;
	size_t large = 0, others, by_threads = 0, by_memory = 0, large_memory = 0;
	size_t n = s->count - depth, a, b;
	bool slack = false;

	for (size_t i = depth; i < s->count; i++) {
		large += !s->demands[i].split && s->demands[i].threads >= size;
		slack |= s->demands[i].slack > 0;
		large_memory += !s->demands[i].split &&
			s->demands[i].request->memory_affinity == VFCTL_AFFINITY_REQUIRED &&
			s->demands[i].request->memory_bytes >= memory;
	}
	for (unsigned k = 0; k < s->capacity->node_count; k++) {
		uint32_t threads = slack ? rooms[k].threads : capacity_open_threads(s->capacity, &rooms[k]);

		by_threads += size ? threads / size : large;
		by_memory += memory ? search_memory(s, &rooms[k]) / memory : large_memory;
	}
	others = n - large;
	a = others + (large < by_threads ? large : by_threads);
	b = n - large_memory + (large_memory < by_memory ? large_memory : by_memory);
	return a < b ? a : b;
}

static uint64_t asked_of(const struct demand *demand, const struct vfctl_vf_want *like)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < demand->request->want_count; i++) {
		const struct vfctl_vf_want *w = &demand->request->wants[i];

		if (w->any_pf == like->any_pf && w->fabric == like->fabric &&
			(w->any_pf || vfctl_bdf_compare(&w->pf, &like->pf) == 0))
			sum += w->count;
	}
	return sum;
}

/* The same for the VFs of one kind: a fabric, or a PF. */
static size_t fit_by_vfs(const struct search *s, size_t depth, const struct vfctl_vf_want *like)
{
	struct vfctl_vf_want any_port = *like;
	size_t n = s->count - depth, others = 0, fits = 0;
	uint64_t left = 0;

	any_port.port = 0;
	for (size_t g = 0; g < s->capacity->group_count; g++)
		if (capacity_group_answers(&s->capacity->groups[g], &any_port))
			left += s->capacity->groups[g].free;
	/* VFs of this kind that are already used; their guests might have used others. */
	for (size_t i = 0; i < depth; i++) {
		uint64_t asked = s->now[i].placed ? asked_of(&s->demands[i], like) : 0;

		left -= asked < left ? asked : left;
	}
	for (uint64_t size = 1; size <= VFCTL_GUEST_VFS_MAX; size++)
		for (size_t i = depth; i < s->count; i++)
			if (asked_of(&s->demands[i], like) == size && left >= size) {
				left -= size;
				fits++;
			}
	for (size_t i = depth; i < s->count; i++)
		others += asked_of(&s->demands[i], like) == 0;
	return fits + others < n ? fits + others : n;
}

uint64_t search_vfs_left(const struct search *s)
{
	uint64_t vfs = 0;

	/* match_begin() created the edges to the sink first, in the order of the groups. */
	for (size_t g = 0; g < s->capacity->group_count; g++)
		vfs += s->flow.left[2 * g];
	return vfs;
}

static size_t most_placed(const struct search *s, size_t depth, const struct node_free *rooms)
{
	uint64_t slack = 0, memory = 0, vfs = 0, shared = 0;
	size_t most = s->count - depth, n, looked = 0;

	if (s->count && s->demands[0].current) /* all guests can stay */
		return most;
	for (size_t i = depth; i < s->count; i++)
		slack += s->demands[i].slack;
	for (unsigned k = 0; k < s->capacity->node_count; k++) {
		memory += search_memory(s, &rooms[k]);
		shared += rooms[k].shared;
	}
	vfs = search_vfs_left(s);
	n = fit_by(s, depth, capacity_threads_within(s->capacity, rooms, slack), need_threads);
	most = n < most ? n : most;
	n = fit_by(s, depth, memory, need_memory);
	most = n < most ? n : most;
	n = fit_by(s, depth, vfs, need_vfs);
	most = n < most ? n : most;
	n = fit_by(s, depth, shared, need_shared);
	most = n < most ? n : most;
	for (size_t i = depth; i < s->count && looked < 8; i = s->same_until[i], looked++) {
		n = fit_by_node(s, depth, rooms, i);
		most = n < most ? n : most;
		for (size_t w = 0; depth == 0 && w < s->demands[i].request->want_count; w++) {
			n = fit_by_vfs(s, depth, &s->demands[i].request->wants[w]);
			most = n < most ? n : most;
		}
	}
	return most;
}

/* The smallest unevenness after @taken VFs are removed, if each could come from any PF. */
static int64_t least_unevenness(const struct search *s, uint64_t taken)
{
	uint64_t all = 0, sum = 0, level;
	size_t groups = s->capacity->group_count, open = 0;

	for (size_t g = 0; g < groups; g++)
		all += s->capacity->groups[g].free;
	if (taken >= all)
		return 0;
	/* Lower all PFs to the same level; those below it are not changed. */
	for (level = 0;; level++) {
		uint64_t below = 0;

		open = 0;
		for (size_t g = 0; g < groups; g++) {
			below += s->capacity->groups[g].free < level + 1 ? s->capacity->groups[g].free
								     : level + 1;
			open += s->capacity->groups[g].free > level;
		}
		if (below > all - taken || !open)
			break;
	}
	for (size_t g = 0, left = all - taken; g < groups; g++) {
		uint64_t n = s->capacity->groups[g].free < level ? s->capacity->groups[g].free : level;

		left -= n;
		sum += n * n;
		if (g + 1 == groups) /* the remainder: one more each */
			sum += left * (2 * level + 1);
	}
	return (int64_t)sum;
}

void search_bound(const struct search *s, size_t depth, const struct node_free *rooms, score ret)
{
	size_t more = most_placed(s, depth, rooms), local = 0;
	uint64_t distance = (uint64_t)s->flow.total, need = 0, slack = 0, vfs = 0, most_vfs = 0;

	for (size_t i = depth; i < s->count; i++) {
		local += s->demands[i].can_be_local;
		most_vfs += s->demands[i].vfs;
	}
	memcpy(ret, s->sum, sizeof(score));
	ret[VFCTL_LEVEL_PLACED] -= (int64_t)more;
	ret[VFCTL_LEVEL_LOCAL] -= (int64_t)(local < more ? local : more);
	if (more == s->count - depth)
		for (size_t i = depth; i < s->count; i++) {
			distance += s->demands[i].least_distance;
			need += s->demands[i].threads;
			slack += s->demands[i].slack;
			vfs += s->demands[i].vfs;
		}
	ret[VFCTL_LEVEL_DISTANCE] += (int64_t)distance;
	for (size_t i = 0; i < depth; i++) {
		vfs += s->now[i].placed ? s->demands[i].vfs : 0;
		most_vfs += s->now[i].placed ? s->demands[i].vfs : 0;
	}
	ret[VFCTL_LEVEL_ROOM] = s->levels > VFCTL_LEVEL_ROOM ?
		-(int64_t)future_capacity_most(s->capacity, rooms, need, slack, vfs) : INT64_MIN;
	ret[VFCTL_LEVEL_BALANCE] = s->levels > VFCTL_LEVEL_BALANCE ?
		least_unevenness(s, most_vfs) : 0;
}

/* An upper limit of what is left, wherever the VFs come from: each is the cheapest. */
static uint64_t most_left(const struct search *s, const struct node_free *rooms, uint64_t taken)
{
	const struct capacity *capacity = s->capacity;
	uint64_t sum = 0, cheapest = UINT64_MAX;
	struct future_capacity_vfs vfs[CAPACITY_NODES_MAX + 1];
	uint32_t usable[CAPACITY_NODES_MAX];

	future_capacity_usable(capacity, rooms, usable);
	future_capacity_vfs_at_start(capacity, vfs);
	for (unsigned n = 0; n < capacity->node_count; n++) {
		sum += future_capacity_node(capacity, usable[n], &vfs[n]);
		for (size_t f = 0; f < capacity->future_capacity.fabric_count; f++) {
			uint64_t worth = vfs[n].of[f] ? future_capacity_vf_worth(capacity, usable[n], f,
				vfs[n].of[f]) : UINT64_MAX;

			cheapest = worth < cheapest ? worth : cheapest;
		}
	}
	for (size_t f = 0; f < capacity->future_capacity.fabric_count; f++)
		cheapest = vfs[capacity->node_count].of[f] ? 0 : cheapest;
	sum += future_capacity_pairs(capacity, usable);
	return taken ? sum - taken * cheapest : sum;
}

void search_bound_leaf(const struct search *s, const struct node_free *rooms, score io)
{
	uint64_t taken = 0;

	for (size_t i = 0; i < s->count; i++)
		taken += s->now[i].placed ? s->demands[i].vfs : 0;
	io[VFCTL_LEVEL_ROOM] = -(int64_t)most_left(s, rooms, taken);
	io[VFCTL_LEVEL_BALANCE] = least_unevenness(s, taken);
}
