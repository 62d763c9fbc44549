// SPDX-License-Identifier: GPL-2.0-or-later
/* Remedies with another guest, which moves or is left out of the batch. */
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "placement/explain/refuse.h"
#include "placement/explain/remedies.h"

#define MOVES_TRIED_MAX 64

static uint64_t nodes_of(const struct capacity *s, const struct vfctl_occupant *o)
{
	uint64_t nodes = 0;

	for (unsigned n = 0; n < s->node_count; n++)
		if (vfctl_cpuset_intersects(&o->cpus, &s->model->topology->nodes[n].cpus))
			nodes |= UINT64_C(1) << n;
	return nodes;
}

static void tell_move(struct refusal *f, size_t occupant, uint32_t cpus, uint64_t nodes)
{
	const struct vfctl_occupant *o = &f->capacity->model->occupants[occupant];
	const struct change change = {.kind = CHANGE_MOVE, .index = occupant};
	_buf_ struct buf line = {0};
	char where[128];

	refusal_nodes(f->capacity, nodes, where);
	buf_printf(&line, "or move guest %s (%" PRIu32 " CPU%s, %zu VF%s) %s %s", o->name, cpus,
		plural(cpus), o->vf_count, plural(o->vf_count),
		nodes == nodes_of(f->capacity, o) ? "within" : "to", where);
	tell_remedy_of_host(f, &change, &line);
}

static bool try_move(struct refusal *f, size_t occupant, bool *gone)
{
	const struct vfctl_occupant *o = &f->capacity->model->occupants[occupant];
	struct resident resident;
	uint64_t nodes = 0;
	bool fits = false;
	int r = resident_init(f->ctx, f->capacity->model, o, &resident);

	if (r < 0) {
		f->error = r;
		return false;
	}
	if (resident.request.vcpus) {
		gone[occupant] = true;
		fits = refusal_fits_beside(f, gone, &resident.request, &nodes);
		gone[occupant] = false;
	}
	if (fits)
		tell_move(f, occupant, resident.request.vcpus, nodes);
	resident_clear(&resident);
	return fits;
}

struct by_size {
	size_t occupant; /* or guest of the batch */
	uint64_t size;
};

static int smaller_first(const void *a, const void *b)
{
	const struct by_size *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->occupant < y->occupant ? -1 : 1;
}

void remedy_by_move(struct refusal *f)
{
	const struct vfctl_host_model *m = f->capacity->model;
	_free_ struct by_size *order = calloc(m->occupant_count + 1, sizeof(*order));
	_free_ bool *gone = calloc(m->occupant_count + 1, sizeof(*gone));
	size_t count = 0;

	if (!order || !gone) {
		f->error = ctx_oom(f->ctx);
		return;
	}
	for (size_t i = 0; i < m->occupant_count; i++)
		if (resident_may_move(m, &m->occupants[i]))
			order[count++] = (struct by_size){i,
				vfctl_cpuset_count(&m->occupants[i].cpus) +
				16 * m->occupants[i].vf_count};
	qsort(order, count, sizeof(*order), smaller_first);
	for (size_t i = 0; i < count && i < MOVES_TRIED_MAX && remedies_may_go_on(f); i++)
		if (try_move(f, order[i].occupant, gone))
			return;
}

static void tell_leave(struct refusal *f, size_t guest, uint64_t nodes)
{
	const struct vfctl_request *r = &f->plan->requests[guest];
	const struct change change = {.kind = CHANGE_LEAVE, .index = guest};
	size_t vfs = f->plan->assignments[guest].vf_count;
	_buf_ struct buf line = {0};
	char where[128];

	refusal_nodes(f->capacity, nodes, where);
	buf_printf(&line, "or omit guest %s (%" PRIu32 " vCPU%s, %zu VF%s): then it fits on %s",
		r->name, r->vcpus, plural(r->vcpus), vfs, plural(vfs), where);
	tell_remedy_of_host(f, &change, &line);
}

void remedy_by_leaving(struct refusal *f)
{
	const struct refused_plan *plan = f->plan;
	_free_ struct by_size *order = calloc(plan->count + 1, sizeof(*order));
	size_t count = 0;
	uint64_t nodes;

	if (!order) {
		f->error = ctx_oom(f->ctx);
		return;
	}
	for (size_t i = 0; i < plan->count; i++)
		if (plan->chosen[i].placed)
			order[count++] = (struct by_size){i,
				vfctl_cpuset_count(&plan->assignments[i].held_cpus) +
				16 * plan->assignments[i].vf_count};
	qsort(order, count, sizeof(*order), smaller_first);
	for (size_t i = 0; i < count && remedies_may_go_on(f); i++)
		if (refusal_fits_without(f, order[i].occupant, &nodes)) {
			tell_leave(f, order[i].occupant, nodes);
			return;
		}
}
