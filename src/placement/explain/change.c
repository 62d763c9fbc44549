// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of a request or of the host: how to make and describe each of them. */
#include "base/parse.h"
#include "placement/explain/change.h"

#include <inttypes.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

void changed_request_init(struct changed_request *ret, const struct vfctl_request *request)
{
	ret->r = *request;
	for (size_t i = 0; i < request->want_count; i++)
		ret->wants[i] = request->wants[i];
	for (size_t i = 0; i < request->cell_count; i++)
		ret->cells[i] = request->cells[i];
	ret->r.wants = ret->wants;
	ret->r.cells = request->cell_count ? ret->cells : NULL;
}

/* ---- cells ---- */

/* Split like guest.yaml's "cells: N"; false if the cells would lack a resource. */
static bool split_evenly(const struct vfctl_request *r, uint64_t n, struct vfctl_cell_want *cells)
{
	uint64_t page = r->page_bytes != VFCTL_PAGES_AUTO && r->page_bytes ? r->page_bytes
		: r->memory_bytes % GIB == 0 && r->memory_bytes / GIB >= n ? GIB : 2 * MIB;
	uint64_t pages = r->memory_bytes / page, rest = r->memory_bytes % page;

	if (!n || n > VFCTL_CELLS_MAX || n > r->vcpus || pages < n)
		return false;
	for (uint64_t k = 0; k < n; k++)
		cells[k] = (struct vfctl_cell_want){.node = VFCTL_NODE_NONE,
			.vcpus = (uint32_t)(r->vcpus / n + (k < r->vcpus % n)),
			.memory_bytes = (pages / n + (k < pages % n)) * page + (k ? 0 : rest)};
	return true;
}

/*
 * Whether the cells come from a number, so that they can be split again with other totals; a list
 * cannot.
 */
static bool is_even(const struct vfctl_request *r)
{
	struct vfctl_cell_want even[VFCTL_CELLS_MAX];

	if (!split_evenly(r, r->cell_count, even))
		return false;
	for (size_t k = 0; k < r->cell_count; k++)
		if (r->cells[k].vcpus != even[k].vcpus || r->cells[k].node != even[k].node ||
			r->cells[k].memory_bytes != even[k].memory_bytes)
			return false;
	return true;
}

static bool set_sums(struct changed_request *c, uint64_t vcpus, uint64_t bytes)
{
	bool even = c->r.cell_count > 1 && is_even(&c->r);

	if (c->r.cell_count > 1 && !even)
		return false;
	c->r.vcpus = (uint32_t)vcpus;
	c->r.memory_bytes = bytes;
	if (c->r.shared_vcpus > c->r.vcpus)
		c->r.shared_vcpus = c->r.vcpus;
	if (even)
		return split_evenly(&c->r, c->r.cell_count, c->cells);
	c->cells[0].vcpus = c->r.vcpus;
	c->cells[0].memory_bytes = bytes;
	return true;
}

static bool set_cells(struct changed_request *c, uint64_t count)
{
	if (!c->r.cell_count && !c->r.cells_max && !count)
		return false;
	if (c->r.cell_count && count == c->r.cell_count && is_even(&c->r))
		return false;
	for (size_t i = 0; i < c->r.want_count; i++)
		if ((c->wants[i].cell != VFCTL_CELL_ANY && !count) ||
			c->wants[i].cell >= (int)count)
			return false;
	if (count && !split_evenly(&c->r, count, c->cells))
		return false;
	c->r.cells = count ? c->cells : NULL;
	c->r.cell_count = count;
	c->r.cells_max = 0;
	return true;
}

static bool drop_nodes(struct changed_request *c)
{
	bool any = c->r.node != VFCTL_NODE_NONE;

	c->r.node = VFCTL_NODE_NONE;
	for (size_t k = 0; k < c->r.cell_count; k++) {
		any |= c->cells[k].node != VFCTL_NODE_NONE;
		c->cells[k].node = VFCTL_NODE_NONE;
	}
	return any;
}

/* ---- VFs ---- */

static bool loosen(struct changed_request *c, enum vfctl_affinity affinity)
{
	bool any = false;

	for (size_t i = 0; i < c->r.want_count; i++)
		if (c->wants[i].affinity == VFCTL_AFFINITY_REQUIRED ||
			(c->wants[i].affinity == VFCTL_AFFINITY_SOCKET &&
				affinity == VFCTL_AFFINITY_PREFERRED)) {
			c->wants[i].affinity = affinity;
			any = true;
		}
	return any;
}

/* The network is kept: a VF on another one would be of no use. */
static bool take_any_pf(struct changed_request *c, const struct change *change)
{
	struct vfctl_vf_want *w = &c->wants[change->index];

	if (change->index >= c->r.want_count || w->any_pf)
		return false;
	w->any_pf = true;
	w->fabric = (int)change->value;
	return true;
}

static bool set_count(struct changed_request *c, const struct change *change)
{
	if (change->index >= c->r.want_count || !change->value ||
		change->value >= c->wants[change->index].count)
		return false;
	c->wants[change->index].count = (uint32_t)change->value;
	return true;
}

static bool drop_anti_affinity(struct changed_request *c)
{
	bool any = false;

	for (size_t i = 0; i < c->r.want_count; i++) {
		any |= c->wants[i].anti_affinity != 0;
		c->wants[i].anti_affinity = 0;
	}
	return any;
}

/* ---- all changes ---- */

#define DROP(member)                                                                       \
	({                                                                                 \
		bool had_ = (member) != 0;                                                 \
		(member) = 0;                                                              \
		had_;                                                                      \
	})

bool change_request(struct changed_request *c, const struct change *change)
{
	struct vfctl_request *r = &c->r;
	bool differs;

	switch (change->kind) {
	case CHANGE_AFFINITY: return loosen(c, (enum vfctl_affinity)change->value);
	case CHANGE_PF: return take_any_pf(c, change);
	case CHANGE_COUNT: return set_count(c, change);
	case CHANGE_APART: return drop_anti_affinity(c);
	case CHANGE_NODE: return drop_nodes(c);
	case CHANGE_CELLS: return set_cells(c, change->value);
	case CHANGE_DISTANCE: return DROP(r->max_distance);
	case CHANGE_WHOLE_NODE: return DROP(r->whole_node);
	case CHANGE_WHOLE_L3: return DROP(r->whole_l3);
	case CHANGE_IOTHREADS: return DROP(r->iothread_cores);
	case CHANGE_THREADS:
		differs = r->threads == VFCTL_THREADS_ISOLATE ||
			r->threads == VFCTL_THREADS_REQUIRE;
		r->threads = (enum vfctl_threads)change->value;
		return differs;
	case CHANGE_PAGES:
		differs = r->page_bytes != VFCTL_PAGES_AUTO;
		r->page_bytes = VFCTL_PAGES_AUTO;
		return differs;
	case CHANGE_MEMORY:
		differs = r->memory_affinity == VFCTL_AFFINITY_REQUIRED;
		r->memory_affinity = VFCTL_AFFINITY_PREFERRED;
		return differs;
	case CHANGE_EMULATOR:
		differs = r->emulator_cores != change->value;
		r->emulator_cores = (uint32_t)change->value;
		return differs;
	case CHANGE_SHARED:
		differs = r->shared_vcpus != change->value && change->value <= r->vcpus &&
			r->threads != VFCTL_THREADS_REQUIRE;
		r->shared_vcpus = (uint32_t)change->value;
		return differs;
	case CHANGE_VCPUS:
		return change->value && set_sums(c, change->value, r->memory_bytes);
	case CHANGE_BYTES:
		return change->value && set_sums(c, r->vcpus, change->value);
	default: return false;
	}
}

/* ---- the host ---- */

static int add_vfs(struct vfctl_ctx *ctx, const struct vfctl_model_pf *pf, uint64_t more,
	struct changed_host *h)
{
	struct vfctl_host_model *m = &h->model;

	h->vfs = calloc(m->vf_count + more + 1, sizeof(*h->vfs));
	if (!h->vfs)
		return ctx_oom(ctx);
	if (m->vf_count)
		memcpy(h->vfs, m->vfs, m->vf_count * sizeof(*h->vfs));
	m->vfs = h->vfs;
	/* Use addresses of a PCI domain that no host has: the VFs are only counted. */
	for (uint64_t i = 0; i < more; i++)
		m->vfs[m->vf_count++] = (struct vfctl_free_vf){.pf = pf->bdf, .node = pf->node,
			.fabric = pf->fabric, .port = pf->port, .root = pf->root,
			.index = pf->num_vfs + (uint32_t)i, .bdf = {.domain = UINT32_MAX,
				.bus = (uint8_t)(i / 256), .slot = (uint8_t)(i / 8 % 32),
				.function = (uint8_t)(i % 8)}};
	return 0;
}

static int add_pages(struct vfctl_ctx *ctx, uint64_t page_bytes, const struct change *change,
	struct changed_host *h)
{
	const struct vfctl_topology *t = h->model.topology;
	struct vfctl_node *node;

	h->nodes = calloc(t->node_count, sizeof(*h->nodes));
	if (!h->nodes)
		return ctx_oom(ctx);
	memcpy(h->nodes, t->nodes, t->node_count * sizeof(*h->nodes));
	node = &h->nodes[change->index];
	for (size_t p = 0; p < node->pool_count; p++)
		if (node->pools[p].page_bytes == page_bytes) {
			node->pools[p].total += change->value;
			if (node->pools[p].free != VFCTL_COUNT_UNKNOWN)
				node->pools[p].free += change->value;
		}
	h->topology = *t;
	h->topology.nodes = h->nodes;
	h->model.topology = &h->topology;
	return 0;
}

int change_host(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request, const struct change *change,
	struct changed_host *ret)
{
	*ret = (struct changed_host){.model = *model};
	return change->kind == CHANGE_VFS ?
		add_vfs(ctx, &model->pfs[change->index], change->value, ret) :
		add_pages(ctx, request->page_bytes, change, ret);
}

void changed_host_clear(struct changed_host *host)
{
	free(host->vfs);
	free(host->nodes);
}

/* ---- text ---- */

static void affinity_text(struct buf *line, uint64_t affinity)
{
	buf_puts(line, affinity == VFCTL_AFFINITY_SOCKET ?
		"affinity: socket (some of its VFs would be on another node of the package)" :
		"affinity: preferred (some of its VFs would be remote)");
}

static void want_text(struct buf *line, const struct change *change,
	const struct capacity *capacity,
	const struct vfctl_request *request)
{
	const struct vfctl_vf_want *w = &request->wants[change->index];
	char pf[64];

	if (!w->any_pf)
		pf_text(capacity->model, &w->pf, pf);
	if (change->kind == CHANGE_PF)
		buf_printf(line, "any PF of the same network instead of %s", pf);
	else
		buf_printf(line, "%" PRIu64 " VF%s of %s%s", change->value,
			plural(change->value), w->any_pf ? "any PF" : pf,
			w->cell == VFCTL_CELL_EACH ? " in each cell" : "");
}

static void emulator_text(struct buf *line, uint64_t cores, bool has_host_cpus)
{
	buf_printf(line, "emulator_cores: %" PRIu64 "%s", cores, cores ? "" : has_host_cpus ?
		" (QEMU's threads on the reserved CPUs)" :
		" (QEMU's threads on its vCPUs' CPUs: jitter)");
}

void change_text(struct buf *line, const struct change *change, const struct capacity *capacity,
	const struct vfctl_request *request)
{
	static const char *const message[CHANGE_OF_HOST] = {
		[CHANGE_APART] = "no apart or bond (some of its VFs would share a PF)",
		[CHANGE_NODE] = "no node given",
		[CHANGE_DISTANCE] = "no max_distance",
		[CHANGE_WHOLE_NODE] = "whole_node: false",
		[CHANGE_WHOLE_L3] = "whole_l3: false",
		[CHANGE_PAGES] = "hugepages: auto",
		[CHANGE_MEMORY] = "memory_affinity: preferred (slower)",
		[CHANGE_IOTHREADS] = "iothread_cores: 0",
	};
	char text[32];

	if (change->kind == CHANGE_AFFINITY)
		affinity_text(line, change->value);
	else if (change->kind == CHANGE_CELLS && !change->value)
		buf_puts(line, "cells: auto");
	else if (change->kind == CHANGE_CELLS)
		buf_printf(line, "cells: %" PRIu64, change->value);
	else if (change->kind == CHANGE_THREADS)
		buf_printf(line, "threads: %s",
			vfctl_threads_name((enum vfctl_threads)change->value));
	else if (change->kind == CHANGE_EMULATOR && change->value == VFCTL_EMULATOR_AUTO)
		buf_puts(line, "emulator_cores: auto");
	else if (change->kind == CHANGE_PF || change->kind == CHANGE_COUNT)
		want_text(line, change, capacity, request);
	else if (change->kind == CHANGE_EMULATOR)
		emulator_text(line, change->value, capacity->has_host_cpus);
	else if (change->kind == CHANGE_SHARED)
		buf_printf(line, "shared_vcpus: %" PRIu64 "%s", change->value,
			change->value > request->shared_vcpus ?
			" (slower: these share CPUs with other guests)" : "");
	else if (change->kind == CHANGE_VCPUS)
		buf_printf(line, "%" PRIu64 " vCPU%s", change->value,
			plural(change->value));
	else if (change->kind == CHANGE_BYTES)
		buf_printf(line, "%s of memory", size_text(change->value, text));
	else if (change->kind < CHANGE_OF_HOST)
		buf_puts(line, message[change->kind]);
}
