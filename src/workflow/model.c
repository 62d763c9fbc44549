// SPDX-License-Identifier: GPL-2.0-or-later
#include "workflow/model.h"

#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "host/host.h"
#include "pci/device.h"

/* ---- topology ---- */

/* hwloc knows how many huge pages there are, not how many are free. */
static void read_pages(struct vfctl_ctx *ctx, struct vfctl_topology *t, unsigned node)
{
	static const char dir[] = "/sys/devices/system/node/node%u/hugepages";
	_strv_ char **names = NULL;

	if (host_try_list(ctx, &names, dir, node) < 0)
		return;
	for (size_t i = 0; names[i]; i++) {
		_free_ char *total = NULL, *avail = NULL;
		uint64_t pages, unused;
		unsigned kb;

		if (sscanf(names[i], "hugepages-%ukB", &kb) != 1 ||
			host_try_read(ctx, &total, "/sys/devices/system/node/node%u/hugepages/%s/"
				"nr_hugepages", node, names[i]) < 0 ||
			host_try_read(ctx, &avail, "/sys/devices/system/node/node%u/hugepages/%s/"
				"free_hugepages", node, names[i]) < 0 ||
			parse_u64(total, 0, UINT64_MAX - 1, &pages) < 0 ||
			parse_u64(avail, 0, pages, &unused) < 0)
			continue;
		vfctl_topology_set_pages(t, node, (uint64_t)kb << 10, pages, unused);
	}
}

static int read_topology(struct vfctl_ctx *ctx, struct model *m)
{
	const char *root = host_of(ctx)->root;
	struct vfctl_topology_source source = {
		.kind = *root ? VFCTL_TOPOLOGY_TREE : VFCTL_TOPOLOGY_HOST, .text = root};
	int r = vfctl_topology_load(ctx, &source, &m->topology);

	if (r < 0)
		return r;
	for (size_t i = 0; i < m->topology->node_count; i++)
		read_pages(ctx, m->topology, m->topology->nodes[i].id);
	return 0;
}

/* ---- VFs ---- */

static int fabric_of(const struct vfctl_pf *pf)
{
	if (pf->class_code >> 16 != 0x02)
		return FABRIC_OTHER;
	return pf->infiniband ? FABRIC_INFINIBAND : FABRIC_ETHERNET;
}

static bool is_listed(const struct vfctl_bdf *bdf, const struct vfctl_bdf *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (vfctl_bdf_compare(bdf, &list[i]) == 0)
			return true;
	return false;
}

/* Free, alone in its IOMMU group, and in no other domain's XML. */
static bool can_be_given(struct vfctl_ctx *ctx, const struct vfctl_vf *vf)
{
	_free_ char *sharers = NULL;

	if (vf->holder.kind != VFCTL_HOLDER_NONE || vf->iommu_group < 0)
		return false;
	return pci_iommu_sharers(ctx, &vf->bdf, vf->iommu_group, &sharers) == 0 && !*sharers;
}

static int read_free_vfs(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_bdf *taken, size_t taken_count, struct model *m)
{
	for (size_t i = 0; i < s->inventory->pf_count; i++) {
		const struct vfctl_pf *pf = &s->inventory->pfs[i];

		/* Who holds its VFs is not known for certain. */
		if (pf->unread)
			continue;
		for (uint32_t k = 0; k < pf->num_vfs; k++) {
			const struct vfctl_vf *vf = &pf->vfs[k];

			if (is_listed(&vf->bdf, taken, taken_count) || !can_be_given(ctx, vf))
				continue;
			if (!array_grow(m->vfs, m->vf_count))
				return ctx_oom(ctx);
			m->vfs[m->vf_count++] = (struct vfctl_free_vf){.bdf = vf->bdf,
				.pf = pf->bdf, .index = vf->index, .node = vf->numa_node,
				.fabric = fabric_of(pf)};
		}
	}
	return 0;
}

/* ---- what others hold ---- */

static int add_promise(struct vfctl_ctx *ctx, struct model *m, int node, uint64_t page_bytes,
	uint64_t bytes, bool taken)
{
	if (node < 0 || !bytes)
		return 0;
	if (!array_grow(m->promises, m->promise_count))
		return ctx_oom(ctx);
	m->promises[m->promise_count++] = (struct vfctl_promise){.node = node,
		.page_bytes = page_bytes, .bytes = bytes, .taken = taken};
	return 0;
}

static int add_leases(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s, struct model *m)
{
	int r = 0;

	for (size_t i = 0; i < s->leases->count && r == 0; i++) {
		const struct vfctl_lease *l = &s->leases->v[i];

		vfctl_cpuset_or(&m->host.busy_cpus, &l->cpus);
		r = add_promise(ctx, m, l->node, l->page_bytes, l->memory_bytes, l->running);
	}
	return r;
}

struct bdf_list {
	struct vfctl_bdf *v;
	size_t count;
};

/*
 * A domain we did not make: its pins and its devices are not ours to give. A set of all
 * CPUs is no pin.
 */
static int add_domain(struct vfctl_ctx *ctx, const struct vfctl_domain_info *info,
	struct model *m, struct bdf_list *taken)
{
	struct vfctl_domain_view *view;
	struct vfctl_cpuset pins = {0};
	int r = vfctl_domain_read(ctx, info->xml, &view);

	if (r < 0)
		return ctx_prefix(ctx, r, "domain %s", info->name);
	vfctl_cpuset_or(&pins, &view->vcpu_cpus);
	vfctl_cpuset_or(&pins, &view->emulator_cpus);
	vfctl_cpuset_or(&pins, &view->iothread_cpus);
	if (!vfctl_cpuset_within(&m->topology->online, &pins))
		vfctl_cpuset_or(&m->host.busy_cpus, &pins);
	if (vfctl_cpuset_count(&view->memory_nodes) == 1)
		r = add_promise(ctx, m, vfctl_cpuset_next(&view->memory_nodes, 0),
			view->page_bytes, view->memory_bytes, info->active);
	for (size_t i = 0; i < view->device_count && r == 0; i++) {
		if (array_grow(taken->v, taken->count))
			taken->v[taken->count++] = view->devices[i].source;
		else
			r = ctx_oom(ctx);
	}
	vfctl_domain_view_free(view);
	return r;
}

static int add_domains(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	struct vfctl_hypervisor *hv, struct model *m, struct bdf_list *taken)
{
	struct vfctl_domain_info *infos;
	size_t count;
	int r = hv->list(ctx, hv, &infos, &count);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count && r == 0; i++) {
		if (vfctl_leases_find(s->leases, infos[i].uuid))
			continue;
		r = add_domain(ctx, &infos[i], m, taken);
	}
	vfctl_domain_infos_free(infos, count);
	return r;
}

void model_clear(struct model *model)
{
	vfctl_topology_free(model->topology);
	free(model->vfs);
	free(model->promises);
	*model = (struct model){0};
}

int model_read(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const struct vfctl_place_options *options, struct model *ret_model)
{
	_cleanup_(model_clear) struct model m = {0};
	struct bdf_list taken = {0};
	int r = read_topology(ctx, &m);

	if (r == 0)
		r = add_leases(ctx, snapshot, &m);
	if (r == 0 && options->hypervisor)
		r = add_domains(ctx, snapshot, options->hypervisor, &m, &taken);
	if (r == 0)
		r = read_free_vfs(ctx, snapshot, taken.v, taken.count, &m);
	free(taken.v);
	if (r < 0)
		return r;
	m.host.topology = m.topology;
	m.host.reserved_cpus = options->reserved_cpus;
	m.host.vfs = m.vfs;
	m.host.vf_count = m.vf_count;
	m.host.promises = m.promises;
	m.host.promise_count = m.promise_count;
	*ret_model = m;
	m = (struct model){0};
	return 0;
}
