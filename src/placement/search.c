// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Branch and bound over whole guests, hardest first. Plans are compared level by level
 * (enum vfctl_plan_level), all as "less is better"; a branch ends when what is certain of
 * it is not less than the best plan known. Guests that ask the same are tried in one
 * order only, and nodes that are twins as one. When the steps run out, what the first
 * bound ruled out stays ruled out: that is the proven gap.
 */
#include "placement/search.h"

#include <errno.h>
#include <time.h>

#define STEPS 250000
#define TIMEOUT_MS 30000
/* An option or a leaf costs about as much as so many edges of a flow. */
#define EDGES_PER_STEP 64
#define OPTIONS_PER_STEP 2
/* The first pass settles these levels, the second the rest. */
#define FIRST_LEVELS (VFCTL_LEVEL_FORM + 1)

typedef int64_t score[VFCTL_LEVELS];

struct search {
	struct vfctl_ctx *ctx;
	const struct site *site;
	struct job *jobs; /* in the order they are tried */
	size_t count;
	size_t *same_until; /* first job behind the ones that ask the same */
	struct room *rooms; /* of each depth */
	struct option_list *lists;
	struct flow flow;
	uint64_t flow_work; /* counted so far */
	struct chosen *now, *best;
	score sum;	    /* of what is placed now, but for VFs' distance */
	score best_score, root;
	bool has_best;
	unsigned levels; /* that count in this pass */
	uint64_t steps, max_steps, next_look, deadline_ms;
	bool stopped, proven, cut; /* cut: a guest had more options than are looked at */
	bool first_fit;
	int error;
};

/* ---- scores ---- */

static int compare(const score a, const score b, unsigned levels)
{
	for (unsigned i = 0; i < levels; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* ---- limits ---- */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool step(struct search *s)
{
	s->steps += 1 + (s->flow.work - s->flow_work) / EDGES_PER_STEP;
	if (s->flow.work - s->flow_work >= EDGES_PER_STEP)
		s->flow_work = s->flow.work;
	if (s->steps >= s->max_steps)
		s->stopped = true;
	if (s->steps < s->next_look)
		return !s->stopped;
	s->next_look = s->steps + 1024;
	if (s->ctx->cancelled)
		s->error = ctx_fail(s->ctx, -EINTR, "the planner was interrupted");
	if (s->error || now_ms() >= s->deadline_ms)
		s->stopped = true;
	return !s->stopped;
}

/* ---- bounds ---- */

/*
 * Most of the jobs from @depth on that could still be placed, each resource by itself:
 * the smallest first until it is used up; and of guests for one node, of which a node
 * holds no more than go into it.
 */
static size_t fit_by(const struct search *s, size_t depth, uint64_t total,
	uint64_t (*need)(const struct job *job))
{
	size_t n = s->count - depth, fits = 0;
	uint64_t needs[64];
	_free_ uint64_t *more = n > 64 ? malloc(n * sizeof(*more)) : NULL;
	uint64_t *v = n > 64 ? more : needs;

	if (!v)
		return n;
	for (size_t i = 0; i < n; i++) {
		uint64_t x = need(&s->jobs[depth + i]);
		size_t at = i;

		/* Jobs come in falling order mostly: put it in front by insertion. */
		for (; at > 0 && v[at - 1] > x; at--)
			v[at] = v[at - 1];
		v[at] = x;
	}
	for (; fits < n && v[fits] <= total; fits++)
		total -= v[fits];
	return fits;
}

static uint64_t need_threads(const struct job *job) { return job->threads; }
static uint64_t need_memory(const struct job *job) { return job->request->memory_bytes; }
static uint64_t need_vfs(const struct job *job) { return job->vfs; }
static uint64_t need_shared(const struct job *job) { return job->request->shared_vcpus; }

static uint64_t all_memory(const struct search *s, const struct room *room)
{
	uint64_t sum = 0;

	for (unsigned p = 0; p < s->site->page_count; p++)
		sum += room->memory[p];
	return sum;
}

/* Guests of one node each that need at least as much as the @of one: so many go in. */
static size_t fit_by_node(const struct search *s, size_t depth, const struct room *rooms,
	size_t of)
{
	uint64_t size = s->jobs[of].threads, memory = s->jobs[of].request->memory_bytes;
	size_t large = 0, others, by_threads = 0, by_memory = 0, large_memory = 0;
	size_t n = s->count - depth, a, b;

	for (size_t i = depth; i < s->count; i++) {
		large += !s->jobs[i].split && s->jobs[i].threads >= size;
		large_memory += !s->jobs[i].split &&
			s->jobs[i].request->memory_affinity == VFCTL_AFFINITY_REQUIRED &&
			s->jobs[i].request->memory_bytes >= memory;
	}
	for (unsigned k = 0; k < s->site->node_count; k++) {
		by_threads += size ? rooms[k].threads / size : large;
		by_memory += memory ? all_memory(s, &rooms[k]) / memory : large_memory;
	}
	others = n - large;
	a = others + (large < by_threads ? large : by_threads);
	b = n - large_memory + (large_memory < by_memory ? large_memory : by_memory);
	return a < b ? a : b;
}

static uint64_t asked_of(const struct job *job, const struct vfctl_vf_want *like)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < job->request->want_count; i++) {
		const struct vfctl_vf_want *w = &job->request->wants[i];

		if (w->any_pf == like->any_pf && w->fabric == like->fabric &&
			(w->any_pf || vfctl_bdf_compare(&w->pf, &like->pf) == 0))
			sum += w->count;
	}
	return sum;
}

/* The same of the VFs of one kind: a fabric, or a PF. */
static size_t fit_by_vfs(const struct search *s, size_t depth, const struct vfctl_vf_want *like)
{
	size_t n = s->count - depth, others = 0, fits = 0;
	uint64_t left = 0;

	for (size_t g = 0; g < s->site->group_count; g++)
		if (site_group_answers(&s->site->groups[g], like))
			left += s->site->groups[g].free;
	/* What is used of the kind already: others may have had it from elsewhere. */
	for (size_t i = 0; i < depth; i++) {
		uint64_t asked = s->now[i].placed ? asked_of(&s->jobs[i], like) : 0;

		left -= asked < left ? asked : left;
	}
	for (uint64_t size = 1; size <= VFCTL_GUEST_VFS_MAX; size++)
		for (size_t i = depth; i < s->count; i++)
			if (asked_of(&s->jobs[i], like) == size && left >= size) {
				left -= size;
				fits++;
			}
	for (size_t i = depth; i < s->count; i++)
		others += asked_of(&s->jobs[i], like) == 0;
	return fits + others < n ? fits + others : n;
}

static uint64_t vfs_left(const struct search *s)
{
	uint64_t vfs = 0;

	/* match_begin() made the edges to the sink first, in the groups' order. */
	for (size_t g = 0; g < s->site->group_count; g++)
		vfs += s->flow.left[2 * g];
	return vfs;
}

static size_t most_placed(const struct search *s, size_t depth, const struct room *rooms)
{
	uint64_t threads = 0, memory = 0, vfs = 0, shared = 0;
	size_t most = s->count - depth, n, looked = 0;

	for (unsigned k = 0; k < s->site->node_count; k++) {
		threads += rooms[k].threads;
		memory += all_memory(s, &rooms[k]);
		shared += rooms[k].shared;
	}
	vfs = vfs_left(s);
	n = fit_by(s, depth, threads, need_threads);
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
		for (size_t w = 0; depth == 0 && w < s->jobs[i].request->want_count; w++) {
			n = fit_by_vfs(s, depth, &s->jobs[i].request->wants[w]);
			most = n < most ? n : most;
		}
	}
	return most;
}

/* Most room that can be left when @need threads more are given away. */
static int64_t most_room(const struct search *s, const struct room *rooms, uint64_t need,
	uint64_t need_vf)
{
	uint64_t threads = 0, usable = 0, vfs = 0, sum = 0, largest = 0;

	for (unsigned n = 0; n < s->site->node_count; n++) {
		threads += rooms[n].threads;
		usable += site_usable_threads(s->site, &rooms[n]);
		largest = s->site->nodes[n].threads > largest ? s->site->nodes[n].threads : largest;
	}
	for (size_t g = 0; g < s->site->group_count; g++)
		vfs += s->site->groups[g].free;
	threads = threads > need ? threads - need : 0;
	threads = usable < threads ? usable : threads;
	vfs = vfs > need_vf ? vfs - need_vf : 0;
	for (uint64_t size = 1; size < largest; size *= 2) {
		uint64_t guests = 0, all = threads / size;

		for (unsigned n = 0; n < s->site->node_count; n++)
			if (size < s->site->nodes[n].threads)
				guests += site_usable_threads(s->site, &rooms[n]) / size;
		guests = guests < all ? guests : all;
		sum += size * (guests + SITE_VF_WEIGHT * (guests < vfs ? guests : vfs));
	}
	/* Whole nodes: the smallest that are free now, while there are threads for them. */
	for (unsigned n = 0; n < s->site->node_count; n++) {
		uint64_t all = s->site->nodes[n].threads;

		if (all && site_usable_threads(s->site, &rooms[n]) >= all && threads >= all)
			sum += (1 + SITE_VF_WEIGHT) * all;
	}
	return (int64_t)sum;
}

/* Least unevenness when @taken VFs are gone, were they all free to come from any PF. */
static int64_t least_unevenness(const struct search *s, uint64_t taken)
{
	uint64_t all = 0, sum = 0, level;
	size_t groups = s->site->group_count, open = 0;

	for (size_t g = 0; g < groups; g++)
		all += s->site->groups[g].free;
	if (taken >= all)
		return 0;
	/* All PFs down to the same level, those below it as they are. */
	for (level = 0;; level++) {
		uint64_t below = 0;

		open = 0;
		for (size_t g = 0; g < groups; g++) {
			below += s->site->groups[g].free < level + 1 ? s->site->groups[g].free
								     : level + 1;
			open += s->site->groups[g].free > level;
		}
		if (below > all - taken || !open)
			break;
	}
	for (size_t g = 0, left = all - taken; g < groups; g++) {
		uint64_t n = s->site->groups[g].free < level ? s->site->groups[g].free : level;

		left -= n;
		sum += n * n;
		if (g + 1 == groups) /* what is over: one more each */
			sum += left * (2 * level + 1);
	}
	return (int64_t)sum;
}

static void bound(const struct search *s, size_t depth, const struct room *rooms, score ret)
{
	size_t more = most_placed(s, depth, rooms), local = 0;
	uint64_t distance = (uint64_t)s->flow.total, need = 0, vfs = 0, most_vfs = 0;

	for (size_t i = depth; i < s->count; i++) {
		local += s->jobs[i].can_be_local;
		most_vfs += s->jobs[i].vfs;
	}
	memcpy(ret, s->sum, sizeof(score));
	ret[VFCTL_LEVEL_PLACED] -= (int64_t)more;
	ret[VFCTL_LEVEL_LOCAL] -= (int64_t)(local < more ? local : more);
	if (more == s->count - depth)
		for (size_t i = depth; i < s->count; i++) {
			distance += s->jobs[i].least_distance;
			need += s->jobs[i].threads;
			vfs += s->jobs[i].vfs;
		}
	ret[VFCTL_LEVEL_DISTANCE] += (int64_t)distance;
	for (size_t i = 0; i < depth; i++) {
		vfs += s->now[i].placed ? s->jobs[i].vfs : 0;
		most_vfs += s->now[i].placed ? s->jobs[i].vfs : 0;
	}
	ret[VFCTL_LEVEL_ROOM] = s->levels > VFCTL_LEVEL_ROOM ?
		-most_room(s, rooms, need, vfs) : INT64_MIN;
	ret[VFCTL_LEVEL_BALANCE] = s->levels > VFCTL_LEVEL_BALANCE ?
		least_unevenness(s, most_vfs) : 0;
}

/* ---- leaves ---- */

static void keep(struct search *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct chosen *to = &s->best[s->jobs[i].index];
		const struct chosen *from = &s->now[i];

		to->placed = from->placed;
		if (!from->placed)
			continue;
		to->option = from->option;
		memcpy(to->cells, from->cells, from->option.cell_count * sizeof(*to->cells));
		if (s->jobs[i].vfs)
			memcpy(to->vfs, from->vfs, s->jobs[i].vfs * sizeof(*to->vfs));
	}
	s->has_best = true;
}

static void leaf(struct search *s, const struct room *rooms)
{
	struct leaf l;
	score sum;
	int r, order;

	memcpy(sum, s->sum, sizeof(sum));
	sum[VFCTL_LEVEL_DISTANCE] += s->flow.total;
	order = s->has_best ? compare(sum, s->best_score, FIRST_LEVELS) : -1;
	if (order > 0 || (order == 0 && s->levels == FIRST_LEVELS))
		return;
	r = match_all(s->site, s->jobs, s->now, s->count, rooms, &s->flow.work, &l);
	if (r < 0)
		s->error = ctx_oom(s->ctx);
	if (r <= 0)
		return;
	sum[VFCTL_LEVEL_ROOM] = -(int64_t)l.room;
	sum[VFCTL_LEVEL_BALANCE] = (int64_t)l.balance;
	if (s->has_best && compare(sum, s->best_score, VFCTL_LEVELS) >= 0)
		return;
	memcpy(s->best_score, sum, sizeof(sum));
	keep(s);
	s->proven = compare(s->best_score, s->root, s->levels) <= 0;
}

/* ---- branching ---- */

static int by_promise(const void *a, const void *b)
{
	const struct option *x = a, *y = b;
	uint64_t dx = x->distance + x->vf_distance, dy = y->distance + y->vf_distance;

	if (x->stay != y->stay)
		return x->stay ? -1 : 1;
	if (x->local != y->local)
		return x->local ? -1 : 1;
	if (dx != dy)
		return dx < dy ? -1 : 1;
	if (x->form != y->form)
		return x->form < y->form ? -1 : 1;
	if (x->room != y->room)
		return x->room > y->room ? -1 : 1;
	/* As they were made: lower nodes first. */
	return x->first_cell < y->first_cell ? -1 : x->first_cell > y->first_cell;
}

static void add_score(struct search *s, const struct job *job, const struct option *o, int sign)
{
	s->sum[VFCTL_LEVEL_PLACED] -= sign;
	s->sum[VFCTL_LEVEL_LOCAL] -= sign * o->local;
	s->sum[VFCTL_LEVEL_MOVES] += sign * (job->home && !o->stay);
	s->sum[VFCTL_LEVEL_DISTANCE] += sign * (int64_t)o->distance;
	s->sum[VFCTL_LEVEL_FORM] += sign * (int64_t)o->form;
}

/* Nodes of one choice against those of another, as numbers: smaller comes first. */
static int compare_nodes(const struct chosen *a, const struct opt_cell *cells,
	const struct option *o)
{
	if (a->option.cell_count != o->cell_count)
		return a->option.cell_count < o->cell_count ? -1 : 1;
	for (size_t k = 0; k < o->cell_count; k++)
		if (a->cells[k].node != cells[k].node)
			return a->cells[k].node < cells[k].node ? -1 : 1;
	return 0;
}

/* Of two guests that ask the same, the first goes to the lower nodes. */
static bool is_mirrored(const struct search *s, size_t depth, const struct option *o,
	const struct opt_cell *cells)
{
	return depth > 0 && s->same_until[depth - 1] > depth && s->now[depth - 1].placed &&
		!s->jobs[depth].home && compare_nodes(&s->now[depth - 1], cells, o) > 0;
}

static void dive(struct search *s, size_t depth);

/* Place the job so and go on with @next. 1 when it could be, 0 when VFs were missing. */
static int with_option(struct search *s, size_t depth, const struct option *o,
	const struct opt_cell *cells, void (*next)(struct search *s, size_t depth))
{
	size_t nodes = s->site->node_count;
	struct room *rooms = &s->rooms[depth * nodes];
	const struct job *job = &s->jobs[depth];
	struct flow_mark mark = {0};
	int r = 1;

	if (job->vfs) {
		if (flow_mark(&s->flow, &mark) < 0)
			r = -ENOMEM;
		else
			r = match_add(s->site, &s->flow, job, o, cells);
	}
	if (r < 0)
		s->error = ctx_oom(s->ctx);
	if (r > 0) {
		memcpy(rooms + nodes, rooms, nodes * sizeof(*rooms));
		option_take(s->site, job, o, cells, rooms + nodes);
		s->now[depth].placed = true;
		s->now[depth].option = *o;
		memcpy(s->now[depth].cells, cells, o->cell_count * sizeof(*cells));
		add_score(s, job, o, 1);
		next(s, depth + 1);
		add_score(s, job, o, -1);
		s->now[depth].placed = false;
	}
	if (mark.left)
		flow_return(&s->flow, &mark);
	flow_mark_clear(&mark);
	return r;
}

/* Is there enough of everything in all, wherever it is? Ways are only sought if so. */
static bool could_place(const struct search *s, size_t depth)
{
	const struct room *rooms = &s->rooms[depth * s->site->node_count];
	const struct vfctl_request *r = s->jobs[depth].request;
	uint64_t threads = 0, memory = 0, shared = 0;

	for (unsigned n = 0; n < s->site->node_count; n++) {
		threads += rooms[n].threads;
		memory += all_memory(s, &rooms[n]);
		shared += rooms[n].shared;
	}
	if (threads < s->jobs[depth].threads || memory < r->memory_bytes ||
		shared < r->shared_vcpus)
		return false;
	for (size_t w = 0; w < r->want_count && !s->jobs[depth].home; w++) {
		uint32_t left = 0;

		for (size_t g = 0; g < s->site->group_count; g++)
			if (site_group_answers(&s->site->groups[g], &r->wants[w]))
				left += s->site->groups[g].free;
		if (left < r->wants[w].count)
			return false;
	}
	return vfs_left(s) >= s->jobs[depth].vfs;
}

static void try_options(struct search *s, size_t depth, size_t cells)
{
	struct option_list *list = &s->lists[depth];
	const struct job *job = &s->jobs[depth];

	if (!could_place(s, depth))
		return;
	if (options_make(s->site, job, &s->rooms[depth * s->site->node_count], cells,
		    depth + 1 == s->count, list) < 0) {
		s->error = ctx_oom(s->ctx);
		return;
	}
	s->cut |= list->cut;
	s->steps += list->work / OPTIONS_PER_STEP;
	list->work = 0;
	if (list->count)
		qsort(list->v, list->count, sizeof(*list->v), by_promise);
	for (size_t i = 0; i < list->count && !s->stopped && !s->proven && !s->error; i++) {
		const struct option *o = &list->v[i];

		if (is_mirrored(s, depth, o, &list->cells[o->first_cell]))
			continue;
		if (!step(s))
			return;
		with_option(s, depth, o, &list->cells[o->first_cell], dive);
	}
}

/* More cells cost distance: can that still be better than the best plan? */
static bool worth_splitting(struct search *s, size_t depth, const struct room *rooms,
	size_t cells)
{
	unsigned nearest = UINT32_MAX;
	score b;

	if (!s->has_best)
		return true;
	for (unsigned i = 0; i < s->site->node_count; i++)
		for (unsigned k = 0; k < i; k++) {
			unsigned d = site_distance(s->site, i, k);

			nearest = d < nearest ? d : nearest;
		}
	bound(s, depth, rooms, b);
	b[VFCTL_LEVEL_DISTANCE] += (int64_t)(cells * (cells - 1) / 2 * (nearest - 10));
	return compare(b, s->best_score, s->levels) < 0;
}

static void dive(struct search *s, size_t depth)
{
	const struct room *rooms = &s->rooms[depth * s->site->node_count];
	const struct job *job = &s->jobs[depth];
	score b;

	if (s->stopped || s->proven || s->error)
		return;
	if (depth == s->count) {
		leaf(s, rooms);
		return;
	}
	if (s->has_best) {
		bound(s, depth, rooms, b);
		if (compare(b, s->best_score, s->levels) >= 0)
			return;
	}
	for (size_t cells = job->request->cell_count ? job->most_cells : 1;
		cells <= job->most_cells && !s->stopped && !s->proven && !s->error; cells++)
		if (cells == 1 || job->request->cell_count ||
			worth_splitting(s, depth, rooms, cells))
			try_options(s, depth, cells);
	/* Without it, and then without those that ask the same. */
	if (!s->stopped && !s->proven && !s->error) {
		size_t next = job->home ? depth + 1 : s->same_until[depth];

		for (size_t i = depth; i < next; i++)
			s->now[i].placed = false;
		if (step(s)) {
			memcpy(&s->rooms[next * s->site->node_count], rooms,
				s->site->node_count * sizeof(*rooms));
			dive(s, next);
		}
	}
}

/* ---- plans to begin with ---- */

static void greedy(struct search *s, size_t depth);

/* The first option whose VFs are there, with the fewest cells. */
static bool greedy_place(struct search *s, size_t depth)
{
	struct option_list *list = &s->lists[depth];
	const struct job *job = &s->jobs[depth];

	if (!could_place(s, depth))
		return false;
	for (size_t cells = job->request->cell_count ? job->most_cells : 1;
		cells <= job->most_cells; cells++) {
		if (options_make(s->site, job, &s->rooms[depth * s->site->node_count], cells,
			    true, list) < 0) {
			s->error = ctx_oom(s->ctx);
			return true;
		}
		if (list->count && !s->first_fit)
			qsort(list->v, list->count, sizeof(*list->v), by_promise);
		for (size_t i = 0; i < list->count; i++) {
			const struct option *o = &list->v[i];
			int r;

			step(s);
			if (s->error)
				return true;
			r = with_option(s, depth, o, &list->cells[o->first_cell], greedy);
			if (r != 0)
				return true;
		}
	}
	return false;
}

static void greedy(struct search *s, size_t depth)
{
	size_t nodes = s->site->node_count;

	if (depth == s->count) {
		leaf(s, &s->rooms[depth * nodes]);
		return;
	}
	if (greedy_place(s, depth) || s->error)
		return;
	s->now[depth].placed = false;
	memcpy(&s->rooms[(depth + 1) * nodes], &s->rooms[depth * nodes],
		nodes * sizeof(*s->rooms));
	greedy(s, depth + 1);
}

static void run_greedy(struct search *s, bool first)
{
	s->first_fit = first;
	greedy(s, 0);
}

/* ---- all of it ---- */

static int by_index(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_size(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	if (x->threads != y->threads)
		return x->threads < y->threads ? -1 : 1;
	if (x->request->memory_bytes != y->request->memory_bytes)
		return x->request->memory_bytes < y->request->memory_bytes ? -1 : 1;
	return by_index(a, b);
}

static int by_hardness(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	if (x->hardness != y->hardness)
		return x->hardness > y->hardness ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return by_index(a, b);
}

/* The share of the host it takes, in thousandths, of what it takes most of. */
static void judge_hardness(const struct search *s, struct job *job)
{
	uint64_t threads = 1, memory = 1, vfs = 1, share;

	for (unsigned n = 0; n < s->site->node_count; n++) {
		threads += s->site->start[n].threads;
		memory += all_memory(s, &s->site->start[n]) >> 20;
	}
	for (size_t g = 0; g < s->site->group_count; g++)
		vfs += s->site->groups[g].free;
	share = job->threads * 1000 / threads;
	if ((job->request->memory_bytes >> 20) * 1000 / memory > share)
		share = (job->request->memory_bytes >> 20) * 1000 / memory;
	if (job->vfs * 1000 / vfs > share)
		share = job->vfs * 1000 / vfs;
	job->hardness = share + (job->request->cell_count > 1 ? 1000 : 0);
}

static void find_types(struct search *s)
{
	for (size_t i = 0; i < s->count; i++) {
		s->jobs[i].type = i;
		for (size_t k = 0; k < i && s->jobs[i].type == i; k++)
			if (!s->jobs[i].home && s->jobs[k].type == k &&
				s->jobs[i].must_split == s->jobs[k].must_split &&
				request_same(s->jobs[k].request, s->jobs[i].request))
				s->jobs[i].type = k;
		judge_hardness(s, &s->jobs[i]);
	}
}

static void find_runs(struct search *s)
{
	for (size_t i = s->count; i-- > 0;)
		s->same_until[i] = i + 1 < s->count && s->jobs[i].type == s->jobs[i + 1].type ?
			s->same_until[i + 1] : i + 1;
}

/* What each guest needs at least, were it alone: for the bounds. */
static void judge_alone(struct search *s, struct job *job, struct option_list *list)
{
	size_t cells = job->request->cell_count ? job->most_cells : 1;

	if (options_make(s->site, job, s->rooms, cells, true, list) < 0) {
		s->error = ctx_oom(s->ctx);
		return;
	}
	job->least_distance = UINT64_MAX;
	job->can_be_local = false;
	for (size_t i = 0; i < list->count; i++) {
		uint64_t d = list->v[i].distance + list->v[i].vf_distance;

		job->can_be_local |= list->v[i].local;
		job->least_distance = d < job->least_distance ? d : job->least_distance;
	}
	/* A guest that a node holds is not split, but for a batch that has no room for it. */
	if (list->count && !job->request->cell_count && !job->must_split)
		job->most_cells = 1;
	job->split = job->most_cells > 1;
	/* Split, or with options that were not looked at, it may be otherwise. */
	if (!job->request->cell_count && job->most_cells > 1) {
		job->can_be_local = true;
		job->least_distance = 0;
	}
	if (list->cut || !list->count) {
		job->can_be_local |= list->cut;
		job->least_distance = 0;
	}
}

static void set_result(const struct search *s, unsigned settled, struct search_result *ret)
{
	static const bool more_is_better[VFCTL_LEVELS] = {[VFCTL_LEVEL_PLACED] = true,
		[VFCTL_LEVEL_LOCAL] = true, [VFCTL_LEVEL_ROOM] = true};

	ret->steps = s->steps;
	ret->gap_level = VFCTL_LEVELS;
	for (unsigned i = 0; i < VFCTL_LEVELS; i++) {
		int64_t best = s->best_score[i];
		int64_t root = i < settled || s->root[i] > best ? best : s->root[i];

		ret->value[i] = (uint64_t)(more_is_better[i] ? -best : best);
		ret->bound[i] = (uint64_t)(more_is_better[i] ? -root : root);
		if (ret->gap_level == VFCTL_LEVELS && root < best)
			ret->gap_level = (enum vfctl_plan_level)i;
	}
}

static bool run_pass(struct search *s, unsigned levels, uint64_t steps)
{
	s->levels = levels;
	s->max_steps = steps;
	s->stopped = s->steps >= steps;
	s->proven = s->has_best && compare(s->best_score, s->root, levels) <= 0;
	if (!s->proven && !s->stopped)
		dive(s, 0);
	return s->proven || (!s->stopped && !s->cut && !s->error);
}

static void prepare(struct search *s)
{
	memcpy(s->rooms, s->site->start, s->site->node_count * sizeof(*s->rooms));
	if (match_begin(s->site, &s->flow) < 0)
		s->error = ctx_oom(s->ctx);
	find_types(s);
	for (size_t i = 0; i < s->count && !s->error; i++) {
		if (s->jobs[i].type == i)
			judge_alone(s, &s->jobs[i], &s->lists[0]);
		s->jobs[i].least_distance = s->jobs[s->jobs[i].type].least_distance;
		s->jobs[i].can_be_local = s->jobs[s->jobs[i].type].can_be_local;
		s->jobs[i].most_cells = s->jobs[s->jobs[i].type].most_cells;
		s->jobs[i].split = s->jobs[s->jobs[i].type].split;
	}
}

/* Begin with what simpler planners would do, so that none of them can be better. */
static void begin(struct search *s)
{
	static int (*const orders[])(const void *, const void *) = {by_index, by_size,
		by_hardness};

	s->levels = VFCTL_LEVELS;
	s->max_steps = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(orders) && !s->error &&
		(!i || now_ms() < s->deadline_ms); i++) {
		qsort(s->jobs, s->count, sizeof(*s->jobs), orders[i]);
		find_runs(s);
		bound(s, 0, s->rooms, s->root);
		if (i == 0)
			run_greedy(s, true);
		if (!s->error)
			run_greedy(s, false);
	}
}

static void search_all(struct search *s, const struct vfctl_plan_options *options,
	struct search_result *ret)
{
	uint64_t steps = options && options->max_steps ? options->max_steps : STEPS;
	unsigned timeout = options && options->timeout_ms ? options->timeout_ms : TIMEOUT_MS;
	unsigned settled = 0;

	s->deadline_ms = now_ms() + timeout;
	prepare(s);
	if (s->error)
		return;
	if (s->count > 1)
		begin(s);
	qsort(s->jobs, s->count, sizeof(*s->jobs), by_hardness);
	find_runs(s);
	s->levels = VFCTL_LEVELS;
	bound(s, 0, s->rooms, s->root);
	s->proven = s->stopped = false;
	s->steps = s->next_look = 0;
	if (s->count > 1 && !s->error && run_pass(s, FIRST_LEVELS, steps / 2))
		settled = FIRST_LEVELS;
	s->cut = false;
	if (!s->error && run_pass(s, VFCTL_LEVELS, steps))
		settled = VFCTL_LEVELS;
	if (s->has_best)
		set_result(s, settled, ret);
}

static int make_chosen(struct search *s, struct chosen **ret)
{
	struct chosen *c = calloc(s->count, sizeof(*c));

	*ret = c;
	for (size_t i = 0; c && i < s->count; i++) {
		c[i].cells = calloc(s->site->node_count, sizeof(*c[i].cells));
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

static int allocate(struct search *s)
{
	int r;

	s->same_until = calloc(s->count, sizeof(*s->same_until));
	s->rooms = calloc((s->count + 1) * s->site->node_count, sizeof(*s->rooms));
	s->lists = calloc(s->count, sizeof(*s->lists));
	if (!s->same_until || !s->rooms || !s->lists)
		return ctx_oom(s->ctx);
	r = make_chosen(s, &s->now);
	return r < 0 ? r : make_chosen(s, &s->best);
}

static void release(struct search *s)
{
	for (size_t i = 0; s->lists && i < s->count; i++)
		options_clear(&s->lists[i]);
	free(s->lists);
	free(s->same_until);
	free(s->rooms);
	flow_clear(&s->flow);
	free_chosen(s->now, s->count);
	free_chosen(s->best, s->count);
}

int search_run(struct vfctl_ctx *ctx, const struct site *site, struct job *jobs, size_t count,
	const struct vfctl_plan_options *options, struct search_result *ret)
{
	struct search s = {.ctx = ctx, .site = site, .jobs = jobs, .count = count};
	int r = allocate(&s);

	*ret = (struct search_result){.gap_level = VFCTL_LEVELS};
	if (r == 0 && count)
		search_all(&s, options, ret);
	r = r < 0 ? r : s.error;
	if (r == 0)
		ret->chosen = steal(s.best);
	release(&s);
	return r;
}
