// SPDX-License-Identifier: GPL-2.0-or-later
/* The holders of resources: leases, and domains that vfctl did not place. */
#include "facts/model/model.h"

#include <errno.h>
#include <inttypes.h>

#include "domain/definition.h"
#include "domain/domain.h"
#include "placement/model/model.h"
#include "topology/topology.h"
#include "types/hypervisor.h"

static struct vfctl_occupant *add_occupant(struct vfctl_ctx *ctx, struct vfctl_host_model *m,
	const char *name, const char *uuid)
{
	struct vfctl_occupant *o;

	if (!array_grow(m->occupants, m->occupant_count))
		return NULL;
	o = &m->occupants[m->occupant_count];
	*o = (struct vfctl_occupant){.name = strdup(name)};
	if (!o->name)
		return NULL;
	str_copy(o->uuid, sizeof(o->uuid), uuid);
	m->occupant_count++;
	return o;
}

/* If the node no longer exists, nothing is left to hold. */
static int add_memory(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	struct vfctl_occupant *o, const struct vfctl_promise *promise)
{
	if ((!promise->bytes && !promise->shared_vcpus) ||
		!vfctl_topology_node(m->topology, promise->node))
		return 0;
	if (!array_grow(o->memory, o->memory_count))
		return ctx_oom(ctx);
	o->memory[o->memory_count++] = *promise;
	return 0;
}

/* ---- VFs ---- */

static bool holds(const struct vfctl_occupant *o, const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; i < o->vf_count; i++)
		if (vfctl_bdf_compare(&o->vfs[i].bdf, bdf) == 0)
			return true;
	return false;
}

static int add_vf(struct vfctl_ctx *ctx, struct vfctl_occupant *o,
	const struct vfctl_free_vf *vf)
{
	if (holds(o, &vf->bdf))
		return 0;
	if (!array_grow(o->vfs, o->vf_count))
		return ctx_oom(ctx);
	o->vfs[o->vf_count++] = *vf;
	return 0;
}

/* A VF that is leased but absent: only the data of the lease are known. */
static struct vfctl_free_vf gone_vf(const struct vfctl_host_model *m,
	const struct vfctl_lease_vf *vf)
{
	const struct vfctl_model_pf *pf = model_pf(m, &vf->pf);

	struct vfctl_free_vf gone = {.bdf = vf->bdf, .pf = vf->pf, .index = vf->index,
		.node = VFCTL_NODE_NONE, .fabric = VFCTL_FABRIC_OTHER, .root = VFCTL_ROOT_UNKNOWN};

	if (pf) {
		gone.node = pf->node;
		gone.fabric = pf->fabric;
		gone.port = pf->port;
		gone.root = pf->root;
	}
	return gone;
}

/* ---- leases ---- */

static int add_lease_vfs(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_lease *l, const struct vfctl_host_model *m, struct vfctl_occupant *o)
{
	int r = 0;

	for (size_t i = 0; i < l->vf_count && r == 0; i++) {
		struct vfctl_free_vf out = gone_vf(m, &l->vfs[i]);
		const struct vfctl_pf *pf;
		const struct vfctl_vf *vf = vfctl_inventory_vf_at(s->inventory, &l->vfs[i].bdf, &pf);

		if (vf)
			out = model_vf(m, model_pf(m, &pf->bdf), vf);
		r = add_vf(ctx, o, &out);
	}
	return r;
}

static int add_lease(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_lease *l, struct vfctl_host_model *m)
{
	struct vfctl_occupant *o = add_occupant(ctx, m, l->domain_name, l->domain_uuid);
	int r = 0;

	if (!o)
		return ctx_oom(ctx);
	o->running = l->running || l->active;
	/* Without cells it was only given VFs: vfctl does not decide where it runs. */
	o->foreign = !l->cell_count;
	o->cpus = l->cpus;
	vfctl_cpuset_and(&o->cpus, &m->topology->online);
	o->qemu_cpus = l->qemu_cpus;
	vfctl_cpuset_and(&o->qemu_cpus, &m->topology->online);
	for (size_t i = 0; i < l->cell_count && r == 0; i++) {
		const struct vfctl_lease_cell *c = &l->cells[i];
		struct vfctl_promise p = {.node = c->memory_node, .page_bytes = c->page_bytes,
			.bytes = c->memory_bytes, .taken = l->running};
		bool remote = c->memory_node != c->node;

		p.shared_vcpus = remote ? 0 : c->shared_vcpus;
		r = add_memory(ctx, m, o, &p);
		p.node = c->node;
		p.bytes = 0;
		p.shared_vcpus = c->shared_vcpus;
		if (r == 0 && remote)
			r = add_memory(ctx, m, o, &p);
	}
	return r < 0 ? r : add_lease_vfs(ctx, s, l, m, o);
}

/* ---- domains ---- */

/* A thread that may run on all CPUs is not pinned. This holds for each thread by itself. */
static void add_pin(const struct vfctl_host_model *m, const struct vfctl_cpuset *pin,
	struct vfctl_occupant *o)
{
	struct vfctl_cpuset cpus = *pin;

	vfctl_cpuset_and(&cpus, &m->topology->online);
	if (!vfctl_cpuset_within(&m->topology->online, &cpus))
		vfctl_cpuset_or(&o->cpus, &cpus);
}

static void add_pins(const struct vfctl_host_model *m, const struct vfctl_parsed_domain *parsed,
	struct vfctl_occupant *o)
{
	for (uint32_t i = 0; i < parsed->vcpus; i++)
		add_pin(m, &parsed->vcpu_pins[i], o);
	for (size_t i = 0; i < parsed->iothread_pin_count; i++)
		add_pin(m, &parsed->iothread_pins[i], o);
	add_pin(m, &parsed->emulator_cpus, o);
}

/* libvirt accepts any size; no pool has pages of a size that the processor does not support. */
static uint64_t pages_of(uint64_t size)
{
	/* <page size='4' unit='KiB'/> means base pages. */
	return size >= 64 * 1024 && size <= MODEL_BYTES_MAX && !(size & (size - 1))
		? size : VFCTL_PAGES_BASE;
}

static uint64_t bytes_of_cells(const struct vfctl_parsed_domain *parsed)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < parsed->cell_count; i++)
		if (__builtin_add_overflow(bytes, parsed->cells[i].memory_bytes, &bytes))
			return UINT64_MAX;
	return bytes;
}

/* It can never start, so it holds no memory. */
static bool too_large(struct vfctl_ctx *ctx, uint64_t bytes, const struct vfctl_occupant *o)
{
	if (bytes <= MODEL_BYTES_MAX)
		return false;
	log_warn(ctx, "domain %s: it has more memory than any host (%" PRIu64 " GiB); vfctl does "
		"not count it", o->name, bytes >> 30);
	return true;
}

/*
 * Memory that is bound to nodes. If it is bound to several nodes, the XML does not tell how much
 * each node holds: equal shares are the likeliest, rounded up to whole pages.
 */
static int add_bound(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const struct vfctl_domain_cell *cell, bool active, struct vfctl_occupant *o)
{
	unsigned count = vfctl_cpuset_count(&cell->memory_nodes);
	uint64_t size = pages_of(cell->page_bytes);
	uint64_t page = size ? size : 4096;
	uint64_t share = count ? (cell->memory_bytes / count + page - 1) / page * page : 0;
	int r = 0;

	for (int node = vfctl_cpuset_next(&cell->memory_nodes, 0); node >= 0 && r == 0;
		node = vfctl_cpuset_next(&cell->memory_nodes, (unsigned)node + 1)) {
		struct vfctl_promise p = {.node = node, .page_bytes = size,
			.bytes = count == 1 ? cell->memory_bytes : share, .taken = active};

		r = add_memory(ctx, m, o, &p);
	}
	return r;
}

/* Each cell has its own memory, pages and nodes; memory devices add to the memory of the cells. */
static int add_domain_memory(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const struct vfctl_parsed_domain *parsed, bool active, struct vfctl_occupant *o)
{
	uint64_t total = parsed->memory_bytes, cells = bytes_of_cells(parsed);
	struct vfctl_domain_cell rest = {.memory_bytes = total > cells ? total - cells : 0,
		.page_bytes = parsed->page_bytes, .memory_nodes = parsed->memory_nodes};
	int r = 0;

	if (too_large(ctx, total > cells ? total : cells, o))
		return 0;
	for (size_t i = 0; r == 0 && i < parsed->cell_count; i++)
		r = add_bound(ctx, m, &parsed->cells[i], active, o);
	return r < 0 ? r : add_bound(ctx, m, &rest, active, o);
}

static int add_devices(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_parsed_domain *parsed, const struct vfctl_host_model *m,
	struct vfctl_occupant *o, struct bdf_list *taken)
{
	int r = 0;

	for (size_t i = 0; i < parsed->device_count && r == 0; i++) {
		const struct vfctl_bdf *bdf = &parsed->devices[i].source;
		const struct vfctl_pf *pf;
		const struct vfctl_vf *vf = vfctl_inventory_vf_at(s->inventory, bdf, &pf);

		if (!array_grow(taken->v, taken->count))
			return ctx_oom(ctx);
		taken->v[taken->count++] = *bdf;
		/*
		 * A foreign domain may have a VF that is leased to another domain: both are shown.
		 */
		if (vf && (o->foreign || !vfctl_leases_find_vf(s->leases, bdf))) {
			struct vfctl_free_vf out = model_vf(m, model_pf(m, &pf->bdf), vf);

			r = add_vf(ctx, o, &out);
		}
	}
	return r;
}

static struct vfctl_occupant *find_occupant(struct vfctl_host_model *m, const char *uuid)
{
	for (size_t i = 0; i < m->occupant_count; i++)
		if (str_eq(m->occupants[i].uuid, uuid))
			return &m->occupants[i];
	return NULL;
}

/*
 * A domain that vfctl did not place: its pins, memory and devices are not available. For a domain
 * that vfctl placed, the lease is complete, except for devices that other tools added.
 */
static int add_parsed(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_domain_info *info, const struct vfctl_parsed_domain *parsed,
	struct vfctl_host_model *m, struct bdf_list *taken)
{
	struct vfctl_occupant *o = find_occupant(m, info->uuid);
	int r = 0;

	if (!o) {
		o = add_occupant(ctx, m, info->name, info->uuid);
		if (!o)
			return ctx_oom(ctx);
		o->foreign = true;
	}
	o->running |= info->active;
	if (o->foreign) {
		add_pins(m, parsed, o);
		r = add_domain_memory(ctx, m, parsed, info->active, o);
	}
	return r < 0 ? r : add_devices(ctx, s, parsed, m, o, taken);
}

static int add_domain(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_domain_info *info, struct vfctl_host_model *m,
	struct bdf_list *taken)
{
	struct vfctl_parsed_domain *parsed;
	int r = domain_read_known(ctx, info->xml, &parsed);

	if (r == -EINVAL || r == -E2BIG) {
		log_warn(ctx, "domain %s: %s; vfctl does not know its CPUs, memory and devices", info->name,
			vfctl_ctx_error(ctx));
		ctx_clear(ctx);
		return 0;
	}
	if (r < 0)
		return ctx_prefix(ctx, r, "domain %s", info->name);
	if (parsed->unread)
		log_warn(ctx, "domain %s: %s; vfctl ignores that part", info->name, parsed->unread);
	r = add_parsed(ctx, s, info, parsed, m, taken);
	vfctl_parsed_domain_free(parsed);
	return r;
}

/* libvirt lists them in no particular order; the same host must give the same model. */
static int by_name(const void *a, const void *b)
{
	const struct vfctl_domain_info *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->uuid, y->uuid);
}

int model_read_occupants(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	struct vfctl_hypervisor *hv, struct vfctl_host_model *m, struct bdf_list *ret_taken)
{
	struct vfctl_domain_info *infos = NULL;
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; i < s->leases->count && r == 0; i++)
		r = add_lease(ctx, s, &s->leases->v[i], m);
	if (r == 0 && hv)
		r = hv->list(ctx, hv, &infos, &count);
	if (r == 0 && count)
		qsort(infos, count, sizeof(*infos), by_name);
	for (size_t i = 0; i < count && r == 0; i++)
		r = add_domain(ctx, s, &infos[i], m, ret_taken);
	vfctl_domain_infos_free(infos, count);
	return r;
}
