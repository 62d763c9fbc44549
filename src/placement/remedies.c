// SPDX-License-Identifier: GPL-2.0-or-later
/* What would make a guest fit: changes of the request or of the host, each tried on a plan. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "placement/refuse.h"

#define REMEDIES_MAX 5
#define MOVES_TRIED_MAX 64

bool refusal_would_fit(struct refusal *f, const struct vfctl_request *changed,
	uint64_t *ret_nodes)
{
	size_t placed = 0;
	int r = f->error;

	if (r == 0)
		r = plan_try(f->ctx, f->site->model, NULL, changed, 1, &placed, ret_nodes);
	if (r < 0)
		f->error = r;
	return r == 0 && placed == 1;
}

static void remedy(struct refusal *f, uint64_t nodes, const char *change)
{
	char where[128];

	refusal_nodes(f->site, nodes, where);
	f->remedies++;
	refusal_say(f, reason_add(f->a, VFCTL_REASON_REMEDY, "with %s it fits, on %s", change, where));
}

/* The host with @more VFs of @pf, all of them new. */
static bool fits_with_vfs(struct refusal *f, const struct vfctl_model_pf *pf, uint32_t more)
{
	struct vfctl_host_model m = *f->site->model;
	size_t placed = 0;
	int r;

	m.vfs = calloc(m.vf_count + more + 1, sizeof(*m.vfs));
	if (!m.vfs) {
		f->error = ctx_oom(f->ctx);
		return false;
	}
	if (m.vf_count)
		memcpy(m.vfs, f->site->model->vfs, m.vf_count * sizeof(*m.vfs));
	for (uint32_t i = 0; i < more; i++)
		m.vfs[m.vf_count++] = (struct vfctl_free_vf){.pf = pf->bdf, .node = pf->node,
			.fabric = pf->fabric, .port = pf->port, .root = pf->root,
			.index = pf->num_vfs + i, .bdf = {.domain = UINT32_MAX,
				.bus = (uint8_t)(i / 256), .slot = (uint8_t)(i / 8 % 32),
				.function = (uint8_t)(i % 8)}};
	r = plan_try(f->ctx, &m, NULL, f->request, 1, &placed, NULL);
	free(m.vfs);
	if (r < 0)
		f->error = r;
	return r == 0 && placed == 1;
}

/* The PF with which the fewest more VFs would do. */
static void try_more_vfs(struct refusal *f)
{
	const struct vfctl_host_model *m = f->site->model;
	const struct vfctl_model_pf *best = NULL;
	uint32_t fewest = VFCTL_GUEST_VFS_MAX + 1;
	char words[64];

	for (size_t i = 0; i < m->pf_count && !f->error; i++) {
		const struct vfctl_model_pf *pf = &m->pfs[i];
		uint32_t could = pf->max_vfs > pf->num_vfs ? pf->max_vfs - pf->num_vfs : 0;

		for (uint32_t n = 1; n <= could && n < fewest; n++)
			if (fits_with_vfs(f, pf, n)) {
				fewest = n;
				best = pf;
			} else if (n == 1 && could > 1 && !fits_with_vfs(f, pf,
					   could < fewest ? could : fewest - 1)) {
				break;
			}
	}
	if (!best || f->error)
		return;
	f->remedies++;
	refusal_say(f, reason_add(f->a, VFCTL_REASON_REMEDY, "create %" PRIu32 " more VF%s on %s (it has %"
		PRIu32 " of %" PRIu32 "), or release a guest that holds some", fewest,
		fewest == 1 ? "" : "s", pf_words(m, &best->bdf, words), best->num_vfs,
		best->max_vfs));
}

static void try_policies(struct refusal *f)
{
	static const char *const threads[] = {"threads: prefer", "threads: none"};
	struct vfctl_request changed = *f->request;
	uint64_t nodes;

	if (changed.threads == VFCTL_THREADS_ISOLATE || changed.threads == VFCTL_THREADS_REQUIRE) {
		changed.threads = VFCTL_THREADS_PREFER;
		if (refusal_would_fit(f, &changed, &nodes))
			remedy(f, nodes, threads[0]);
	}
	changed = *f->request;
	changed.emulator_cores = 0;
	if (f->request->emulator_cores && refusal_would_fit(f, &changed, &nodes))
		remedy(f, nodes, f->site->has_host_cpus ?
			"emulator_cores: 0 (QEMU's threads on the reserved CPUs)" :
			"emulator_cores: 0 (QEMU's threads on its vCPUs' CPUs: jitter)");
	changed = *f->request;
	changed.page_bytes = VFCTL_PAGES_AUTO;
	if (f->request->page_bytes != VFCTL_PAGES_AUTO && refusal_would_fit(f, &changed, &nodes))
		remedy(f, nodes, "hugepages: auto");
	changed = *f->request;
	changed.memory_affinity = VFCTL_AFFINITY_PREFERRED;
	if (f->request->memory_affinity == VFCTL_AFFINITY_REQUIRED &&
		refusal_would_fit(f, &changed, &nodes))
		remedy(f, nodes, "memory_affinity: preferred (slower)");
}

/* Wishes that go beyond what a guest needs. */
static void try_wishes(struct refusal *f)
{
	struct vfctl_request changed = *f->request;
	uint64_t nodes;

	changed.max_distance = 0;
	if (f->request->max_distance && refusal_would_fit(f, &changed, &nodes))
		remedy(f, nodes, "no max_distance");
	changed = *f->request;
	changed.whole_node = false;
	if (f->request->whole_node && refusal_would_fit(f, &changed, &nodes))
		remedy(f, nodes, "whole_node: false");
	changed = *f->request;
	changed.whole_l3 = false;
	if (f->request->whole_l3 && refusal_would_fit(f, &changed, &nodes))
		remedy(f, nodes, "whole_l3: false");
}

static void try_freedom(struct refusal *f)
{
	struct vfctl_vf_want wants[VFCTL_GUEST_VFS_MAX];
	struct vfctl_request changed = *f->request;
	bool in_cells = false;
	uint64_t nodes;

	for (size_t i = 0; i < changed.want_count && i < VFCTL_GUEST_VFS_MAX; i++) {
		wants[i] = changed.wants[i];
		in_cells |= wants[i].cell != VFCTL_CELL_ANY;
		if (wants[i].affinity == VFCTL_AFFINITY_REQUIRED)
			wants[i].affinity = VFCTL_AFFINITY_PREFERRED;
	}
	changed.wants = wants;
	if (changed.want_count && refusal_would_fit(f, &changed, &nodes))
		remedy(f, nodes, "affinity: preferred (some of its VFs would be remote)");
	changed = *f->request;
	changed.node = VFCTL_NODE_NONE;
	if (f->request->node != VFCTL_NODE_NONE && refusal_would_fit(f, &changed, &nodes)) {
		remedy(f, nodes, "no node given");
		return;
	}
	changed = *f->request;
	changed.cells = NULL;
	changed.cell_count = changed.cells_max = 0;
	if (!in_cells && (f->request->cell_count || f->request->cells_max) &&
		refusal_would_fit(f, &changed, &nodes))
		remedy(f, nodes, "cells: auto");
}

/* The most of something that fits: @set puts it into the request. */
static uint64_t most_that_fits(struct refusal *f, uint64_t step, uint64_t asked,
	void (*set)(struct vfctl_request *r, uint64_t value), uint64_t *ret_nodes)
{
	uint64_t least = 0, from = 1, below = (asked + step - 1) / step;

	while (from < below && !f->error) {
		uint64_t middle = from + (below - from) / 2, nodes;
		struct vfctl_request changed = *f->request;

		set(&changed, middle * step);
		/* One given cell is all of the guest. */
		changed.cell_count = 0;
		changed.cells_max = f->request->cell_count ? 1 : f->request->cells_max;
		if (refusal_would_fit(f, &changed, &nodes)) {
			least = middle;
			*ret_nodes = nodes;
			from = middle + 1;
		} else {
			below = middle;
		}
	}
	return least * step;
}

/* Steps in which more is never easier: whole cores, whole pages of any size. */
static uint32_t vcpu_step(const struct refusal *f)
{
	return f->request->threads == VFCTL_THREADS_REQUIRE ?
		f->site->class_threads[f->site->class_count - 1] : 1;
}

static uint64_t memory_step(const struct vfctl_request *r)
{
	const uint64_t mib = UINT64_C(1) << 20, gib = UINT64_C(1) << 30;

	if (r->page_bytes == VFCTL_PAGES_AUTO)
		return r->memory_bytes >= gib ? gib : mib;
	return r->page_bytes > mib ? r->page_bytes : mib;
}

static void set_vcpus(struct vfctl_request *r, uint64_t value)
{
	r->vcpus = (uint32_t)value;
	if (r->shared_vcpus > r->vcpus)
		r->shared_vcpus = r->vcpus;
}

static void set_memory(struct vfctl_request *r, uint64_t value)
{
	r->memory_bytes = value;
}

static void try_less(struct refusal *f)
{
	const struct vfctl_request *r = f->request;
	uint64_t most, nodes = 0;
	char text[96], memory[32];

	/* Given cells would have to be made smaller one by one. */
	for (size_t i = 0; i < r->want_count; i++)
		if (r->cell_count && r->wants[i].cell != VFCTL_CELL_ANY)
			return;
	if (r->cell_count > 1)
		return;
	if (f->a->refusal != VFCTL_REFUSAL_VFS) {
		most = most_that_fits(f, vcpu_step(f), r->vcpus, set_vcpus, &nodes);
		if (most) {
			snprintf(text, sizeof(text), "%" PRIu64 " vCPU%s", most,
				most == 1 ? "" : "s");
			remedy(f, nodes, text);
		}
	}
	if (f->a->refusal != VFCTL_REFUSAL_MEMORY)
		return;
	most = most_that_fits(f, memory_step(r), r->memory_bytes, set_memory, &nodes);
	if (most) {
		snprintf(text, sizeof(text), "%s of memory", memory_text(most, memory));
		remedy(f, nodes, text);
	}
}

/* The guest that is smallest and has somewhere else to go. */
static bool try_move(struct refusal *f, size_t occupant, bool *gone)
{
	const struct vfctl_occupant *o = &f->site->model->occupants[occupant];
	struct vfctl_request both[2] = {*f->request};
	struct tenant tenant;
	size_t placed = 0;
	uint64_t nodes = 0;
	int r = tenant_init(f->ctx, f->site->model, o, &tenant);

	if (r == 0 && tenant.request.vcpus) {
		/* Where it goes is what is told, so it comes first. */
		both[1] = both[0];
		both[0] = tenant.request;
		gone[occupant] = true;
		r = plan_try(f->ctx, f->site->model, gone, both, 2, &placed, &nodes);
		gone[occupant] = false;
	}
	if (r == 0 && placed == 2) {
		char where[128];

		refusal_nodes(f->site, nodes, where);
		f->remedies++;
		refusal_say(f, reason_add(f->a, VFCTL_REASON_REMEDY, "or move guest %s (%" PRIu32 " CPUs, "
			"%zu VF%s) to %s", o->name, tenant.request.vcpus, o->vf_count,
			o->vf_count == 1 ? "" : "s", where));
	}
	if (r == 0)
		tenant_clear(&tenant);
	else
		f->error = r;
	return placed == 2;
}

struct by_size {
	size_t occupant;
	uint64_t size;
};

static int smaller_first(const void *a, const void *b)
{
	const struct by_size *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->occupant < y->occupant ? -1 : 1;
}

static void try_moves(struct refusal *f)
{
	const struct vfctl_host_model *m = f->site->model;
	_free_ struct by_size *order = calloc(m->occupant_count + 1, sizeof(*order));
	_free_ bool *gone = calloc(m->occupant_count + 1, sizeof(*gone));
	size_t count = 0;

	if (!order || !gone) {
		f->error = ctx_oom(f->ctx);
		return;
	}
	for (size_t i = 0; i < m->occupant_count; i++)
		if (tenant_may_move(m, &m->occupants[i]))
			order[count++] = (struct by_size){i,
				vfctl_cpuset_count(&m->occupants[i].cpus) +
				16 * m->occupants[i].vf_count};
	qsort(order, count, sizeof(*order), smaller_first);
	for (size_t i = 0; i < count && i < MOVES_TRIED_MAX && !f->error; i++)
		if (try_move(f, order[i].occupant, gone))
			return;
}

void tell_remedies(struct refusal *f)
{
	if (f->a->refusal == VFCTL_REFUSAL_VFS)
		try_more_vfs(f);
	try_policies(f);
	try_wishes(f);
	try_freedom(f);
	if (!f->error)
		try_less(f);
	if (!f->error && f->remedies < REMEDIES_MAX)
		try_moves(f);
}
