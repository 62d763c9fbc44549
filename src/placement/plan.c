// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/placement.h"

#include <errno.h>

static const char *name_of(const char *const *names, size_t count, unsigned value)
{
	return value < count ? names[value] : "unknown";
}

const char *vfctl_refusal_name(enum vfctl_refusal refusal)
{
	static const char *const names[] = {"none", "VFs", "CPUs", "memory", "others"};

	return name_of(names, ARRAY_SIZE(names), refusal);
}

const char *vfctl_reason_kind_name(enum vfctl_reason_kind kind)
{
	static const char *const names[] = {"choice", "warning", "short", "remedy"};

	return name_of(names, ARRAY_SIZE(names), kind);
}

const char *vfctl_threads_name(enum vfctl_threads threads)
{
	static const char *const names[] = {"prefer", "require", "isolate", "none"};

	return name_of(names, ARRAY_SIZE(names), threads);
}

static void clear_assignment(struct vfctl_assignment *a)
{
	for (size_t i = 0; i < a->reason_count; i++)
		free(a->reasons[i].text);
	free(a->reasons);
	free(a->cells);
	free(a->vf_cells);
	free(a->vcpus);
	free(a->vfs);
	free(a->vf_wants);
}

void vfctl_plan_free(struct vfctl_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->count; i++)
		clear_assignment(&plan->assignments[i]);
	free(plan->assignments);
	free(plan);
}

static void free_plan(struct vfctl_plan **plan)
{
	vfctl_plan_free(*plan);
}

int occupancy_init(
	struct vfctl_ctx *ctx, struct occupancy *o, const struct vfctl_host_model *model)
{
	*o = (struct occupancy){.model = model, .taken = model->reserved_cpus};
	vfctl_cpuset_or(&o->taken, &model->busy_cpus);
	for (size_t i = 0; i < model->occupant_count; i++)
		vfctl_cpuset_or(&o->taken, &model->occupants[i].cpus);
	o->vf_taken = calloc(model->vf_count ? model->vf_count : 1, sizeof(*o->vf_taken));
	return o->vf_taken ? 0 : ctx_oom(ctx);
}

void occupancy_clear(struct occupancy *o)
{
	free(o->vf_taken);
	free(o->given);
}

/* What @a holds is no longer free for the next request. */
static int occupancy_add(struct vfctl_ctx *ctx, struct occupancy *o,
	const struct vfctl_assignment *a, const struct vf_pick *vfs)
{
	if (!array_grow(o->given, o->given_count))
		return ctx_oom(ctx);
	o->given[o->given_count++] = (struct vfctl_promise){
		.node = a->node,
		.page_bytes = a->page_bytes,
		.bytes = a->memory_bytes,
	};
	vfctl_cpuset_or(&o->taken, &a->held_cpus);
	for (size_t i = 0; i < vfs->count; i++)
		o->vf_taken[vfs->index[i]] = true;
	return 0;
}

struct vfctl_cpuset host_cpus_near(
	const struct occupancy *o, const struct vfctl_node *node)
{
	struct vfctl_cpuset online = o->model->reserved_cpus, near;

	vfctl_cpuset_and(&online, &o->model->topology->online);
	near = online;
	vfctl_cpuset_and(&near, &node->cpus);
	return vfctl_cpuset_empty(&near) ? online : near;
}

static void clear_candidates(struct candidate *candidates, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		vf_pick_clear(&candidates[i].vfs);
		core_pick_clear(&candidates[i].cores);
	}
	free(candidates);
}

static int look_at_cores(struct vfctl_ctx *ctx, struct candidate *c,
	const struct occupancy *o, const struct vfctl_request *request)
{
	_cleanup_(core_pool_clear) struct core_pool pool = {0};
	struct vfctl_cpuset host = host_cpus_near(o, c->node);
	int r;

	r = core_pool_init(ctx, &pool, o, c->node->id);
	if (r < 0)
		return r;
	c->free_cores = (uint32_t)pool.count;
	r = pool.count ? core_pool_pick(ctx, &pool, request, &c->cores) : 0;
	if (r < 0)
		return r;
	c->cores_fit = r > 0;
	c->cpus_fit =
		c->cores_fit && (request->emulator_cores || !vfctl_cpuset_empty(&host));
	if (!r)
		c->most_vcpus = core_pool_most_vcpus(&pool, request);
	return 0;
}

static int look_at_node(struct vfctl_ctx *ctx, struct candidate *c,
	const struct occupancy *o, const struct vfctl_request *request)
{
	static const struct vfctl_vf_want any = {
		.any_pf = true, .fabric = VFCTL_FABRIC_ANY};
	int r = vf_pick(ctx, o, request, c->node->id, &c->vfs);

	if (r < 0)
		return r;
	c->vfs_fit = r > 0;
	c->free_vfs = vf_free_on(o, &any, (int)c->node->id);
	c->memory_fits = memory_pick(o, c->node, request, &c->page_bytes);
	return look_at_cores(ctx, c, o, request);
}

static bool fits(const struct candidate *c)
{
	return c->vfs_fit && c->cpus_fit && c->memory_fits;
}

/* The order among nodes that fit; at last the one with the lower number. */
static bool better(const struct candidate *a, const struct candidate *b,
	const struct vfctl_request *request)
{
	if (a->vfs.homeless != b->vfs.homeless)
		return a->vfs.homeless < b->vfs.homeless;
	/* A guest without VFs on a node that has some would take the CPUs next to them.
	 */
	if (!request->want_count && !a->free_vfs != !b->free_vfs)
		return !a->free_vfs;
	if (a->page_bytes != b->page_bytes)
		return a->page_bytes > b->page_bytes;
	if (a->cores.left != b->cores.left)
		return a->cores.left < b->cores.left;
	if (a->free_vfs != b->free_vfs)
		return request->want_count ? a->free_vfs > b->free_vfs
					   : a->free_vfs < b->free_vfs;
	return a->node->id < b->node->id;
}

static const struct candidate *best_of(const struct candidate *candidates, size_t count,
	const struct vfctl_request *request, size_t *ret_fitting)
{
	const struct candidate *best = NULL;

	*ret_fitting = 0;
	for (size_t i = 0; i < count; i++) {
		if (!fits(&candidates[i]))
			continue;
		(*ret_fitting)++;
		if (!best || better(&candidates[i], best, request))
			best = &candidates[i];
	}
	return best;
}

static int fill(struct vfctl_ctx *ctx, struct vfctl_assignment *a,
	const struct occupancy *o, const struct vfctl_request *request,
	struct candidate *chosen)
{
	struct vf_pick *vfs = &chosen->vfs;

	a->vfs = calloc(vfs->count + 1, sizeof(*a->vfs));
	a->vf_wants = calloc(vfs->count + 1, sizeof(*a->vf_wants));
	a->vf_cells = calloc(vfs->count + 1, sizeof(*a->vf_cells));
	a->cells = calloc(1, sizeof(*a->cells));
	if (!a->vfs || !a->vf_wants || !a->vf_cells || !a->cells)
		return ctx_oom(ctx);
	for (size_t i = 0; i < vfs->count; i++) {
		a->vfs[i] = o->model->vfs[vfs->index[i]];
		a->vf_wants[i] = vfs->want[i];
	}
	a->vf_count = vfs->count;
	a->node = (int)chosen->node->id;
	a->vcpus = steal(chosen->cores.cpus);
	a->vcpu_count = request->vcpus;
	a->guest_threads = chosen->cores.guest_threads;
	a->held_cpus = chosen->cores.held;
	a->emulator_cpus = request->emulator_cores ? chosen->cores.emulator
						   : host_cpus_near(o, chosen->node);
	if (request->iothreads)
		a->iothread_cpus = a->emulator_cpus;
	a->memory_bytes = request->memory_bytes;
	a->page_bytes = chosen->page_bytes;
	a->cell_count = 1;
	a->cells[0] = (struct vfctl_cell){.node = a->node, .memory_node = a->node,
		.vcpu_count = request->vcpus, .memory_bytes = a->memory_bytes,
		.page_bytes = a->page_bytes};
	return 0;
}

static enum vfctl_refusal why_refused(const struct candidate *candidates, size_t count)
{
	enum vfctl_refusal refusal = count ? VFCTL_REFUSAL_VFS : VFCTL_REFUSAL_CPUS;

	for (size_t i = 0; i < count; i++) {
		if (!candidates[i].vfs_fit)
			continue;
		if (candidates[i].cpus_fit)
			return VFCTL_REFUSAL_MEMORY;
		refusal = VFCTL_REFUSAL_CPUS;
	}
	return refusal;
}

static int decide(struct vfctl_ctx *ctx, struct vfctl_assignment *a, struct occupancy *o,
	const struct vfctl_request *request, struct candidate *candidates, size_t count)
{
	const struct candidate *best;
	size_t fitting;
	bool ok;
	int r;

	best = best_of(candidates, count, request, &fitting);
	if (!best) {
		a->refusal = why_refused(candidates, count);
		ok = explain_refusal(a, o, request, candidates, count);
		return ok ? 0 : ctx_oom(ctx);
	}
	r = fill(ctx, a, o, request, &candidates[best - candidates]);
	if (r < 0)
		return r;
	if (!explain_choice(a, o, request, best, fitting))
		return ctx_oom(ctx);
	return occupancy_add(ctx, o, a, &best->vfs);
}

static int place(struct vfctl_ctx *ctx, struct vfctl_assignment *a, struct occupancy *o,
	const struct vfctl_request *request)
{
	const struct vfctl_topology *topology = o->model->topology;
	struct candidate *candidates;
	size_t count = 0;
	int r = 0;

	candidates = calloc(topology->node_count, sizeof(*candidates));
	if (!candidates)
		return ctx_oom(ctx);
	a->node = VFCTL_NODE_NONE;
	for (size_t i = 0; r == 0 && i < topology->node_count; i++) {
		const struct vfctl_node *node = &topology->nodes[i];

		if (vfctl_cpuset_empty(&node->cpus) ||
			(request->node != VFCTL_NODE_NONE &&
				request->node != (int)node->id))
			continue;
		candidates[count].node = node;
		r = look_at_node(ctx, &candidates[count++], o, request);
	}
	if (r == 0)
		r = decide(ctx, a, o, request, candidates, count);
	clear_candidates(candidates, count);
	return r;
}

int vfctl_plan_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, struct vfctl_plan **ret)
{
	_cleanup_(free_plan) struct vfctl_plan *plan = NULL;
	_cleanup_(occupancy_clear) struct occupancy o = {0};
	int r;

	(void)options;
	r = check_model(ctx, model);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = check_request(ctx, model, &requests[i]);
	if (r == 0)
		r = occupancy_init(ctx, &o, model);
	if (r < 0)
		return r;
	plan = calloc(1, sizeof(*plan));
	if (!plan)
		return ctx_oom(ctx);
	plan->assignments = calloc(count ? count : 1, sizeof(*plan->assignments));
	if (!plan->assignments)
		return ctx_oom(ctx);
	plan->count = count;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = place(ctx, &plan->assignments[i], &o, &requests[i]);
	if (r < 0)
		return r;
	*ret = steal(plan);
	return 0;
}
