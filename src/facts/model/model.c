// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The host as the planner needs it: topology, PFs and free VFs; the other files here add the rest.
 */
#include "facts/model/model.h"

#include <stdio.h>

#include "base/parse.h"
#include "capture/copy.h"
#include "facts/snapshot/snapshot.h"
#include "host/host.h"
#include "pci/device.h"
#include "pci/info.h"
#include "placement/model/host_model.h"
#include "sriov/holder.h"
#include "topology/topology.h"
#include "types/find.h"

/* ---- topology ---- */

/* hwloc reports the number of huge pages, but not how many are free. */
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
			host_try_read(ctx, &total,
				"/sys/devices/system/node/node%u/hugepages/%s/"
				"nr_hugepages",
				node, names[i]) < 0 ||
			host_try_read(ctx, &avail,
				"/sys/devices/system/node/node%u/hugepages/%s/"
				"free_hugepages",
				node, names[i]) < 0 ||
			parse_u64(total, 0, UINT64_MAX - 1, &pages) < 0 ||
			parse_u64(avail, 0, pages, &unused) < 0)
			continue;
		vfctl_topology_set_pages(t, node, (uint64_t)kb << 10, pages, unused);
	}
}

/* hwloc would follow links and open any file: it gets a copy. */
static int load_captured(struct vfctl_ctx *ctx, struct vfctl_topology **ret)
{
	_cleanup_(host_copy_remove) struct host_copy copy = {0};
	struct vfctl_topology_source source = {.kind = VFCTL_TOPOLOGY_TREE};
	int r = host_copy_make(ctx, &copy);

	if (r < 0)
		return r;
	source.text = copy.dir;
	r = vfctl_topology_load(ctx, &source, ret);
	/* The message must not name a directory that no longer exists. */
	if (r < 0 && strstr(vfctl_ctx_error(ctx), copy.dir))
		return ctx_fail(ctx, r, "topology: hwloc cannot read the CPUs and nodes of the captured "
			"host %s; capture it again", host_of(ctx)->root);
	return r;
}

static int read_topology(struct vfctl_ctx *ctx, struct vfctl_host_model *m)
{
	const struct host *h = host_of(ctx);
	struct vfctl_topology_source source = {
		.kind = *h->root ? VFCTL_TOPOLOGY_TREE : VFCTL_TOPOLOGY_HOST, .text = h->root};
	int r = h->ops->read_only ? load_captured(ctx, &m->topology)
				  : vfctl_topology_load(ctx, &source, &m->topology);

	if (r < 0)
		return r;
	for (size_t i = 0; i < m->topology->node_count; i++)
		read_pages(ctx, m->topology, m->topology->nodes[i].id);
	return 0;
}

/* ---- PFs ---- */

static int fabric_of(const struct vfctl_pf *pf)
{
	if (pf->class_code >> 16 != 0x02)
		return VFCTL_FABRIC_OTHER;
	return pf->infiniband ? VFCTL_FABRIC_INFINIBAND : VFCTL_FABRIC_ETHERNET;
}

/* The usual name first, then the others. */
static char **names_of(const struct vfctl_pf *pf)
{
	const char *usual = pf->netdev[0] ? pf->netdev : pf->rdma;
	char **names = calloc(strv_len(pf->names) + 2, sizeof(*names));
	size_t n = 0;

	if (names && usual[0] && !(names[n++] = strdup(usual)))
		goto fail;
	for (size_t i = 0; names && pf->names && pf->names[i]; i++)
		if (!str_eq(pf->names[i], usual) && !(names[n++] = strdup(pf->names[i])))
			goto fail;
	return names;
fail:
	strv_free(names);
	return NULL;
}

static int add_pf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_host_model *m)
{
	struct vfctl_model_pf *p;

	if (!array_grow(m->pfs, m->pf_count))
		return ctx_oom(ctx);
	p = &m->pfs[m->pf_count++];
	*p = (struct vfctl_model_pf){.bdf = pf->bdf, .names = names_of(pf),
		.node = model_node(m->topology, pf->numa_node), .fabric = fabric_of(pf),
		.port = pci_port(ctx, &pf->bdf), .root = pci_root(ctx, &pf->bdf),
		.num_vfs = pf->num_vfs,
		.max_vfs = pf->total_vfs > pf->num_vfs ? pf->total_vfs : pf->num_vfs};
	p->eswitch = pf->eswitch;
	p->lag = pf->bond[0] ? pf->lag : VFCTL_LAG_UNKNOWN;
	p->bond = pf->bond[0] ? strdup(pf->bond) : NULL;
	p->driver = pf->driver[0] ? strdup(pf->driver) : NULL;
	p->speed_mbps = pf->speed_mbps;
	return p->names && (p->bond || !pf->bond[0]) && (p->driver || !pf->driver[0]) ? 0 : ctx_oom(ctx);
}

/* libpci reads its whole list of names each time, so once for each kind of card. */
static int read_cards(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	struct vfctl_host_model *m)
{
	for (size_t i = 0; i < m->pf_count; i++) {
		struct vfctl_pci_info info = {0};
		const char *name = NULL;

		for (size_t k = 0; k < i && !name; k++)
			if (inv->pfs[k].vendor == inv->pfs[i].vendor &&
				inv->pfs[k].device == inv->pfs[i].device)
				name = m->pfs[k].card;
		if (!name && vfctl_pci_info_read(ctx, &m->pfs[i].bdf, &info) == 0 && info.name[0])
			name = info.name;
		m->pfs[i].card = name ? strdup(name) : NULL;
		if (name && !m->pfs[i].card)
			return ctx_oom(ctx);
		ctx_clear(ctx);
	}
	return 0;
}

/* ---- free VFs ---- */

/* Note why no guest gets the VF, which nothing uses. */
static int note_exposure(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf,
	unsigned allowed, struct vfctl_model_pf *own)
{
	_free_ char *message = NULL;

	if (own->exposed || pf->unread || vf_is_busy(vf) || vf->iommu_group < 0 ||
		!(vfctl_vf_exposure(ctx, pf, vf, &message) & ~allowed))
		return 0;
	own->exposed = message ? steal(message) : strdup("is not isolated");
	return own->exposed ? 0 : ctx_oom(ctx);
}

static int read_free_vfs(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct bdf_list *taken, unsigned allowed, struct vfctl_host_model *m)
{
	struct vfctl_model_pf *own = &m->pfs[model_pf(m, &pf->bdf) - m->pfs];
	int r = 0;

	for (uint32_t k = 0; k < pf->num_vfs && r == 0; k++) {
		const struct vfctl_vf *vf = &pf->vfs[k];

		if (bdf_list_has(taken->v, taken->count, &vf->bdf))
			continue;
		if (!vfctl_vf_can_be_given(ctx, pf, vf, allowed)) {
			r = note_exposure(ctx, pf, vf, allowed, own);
			continue;
		}
		if (!array_grow(m->vfs, m->vf_count))
			return ctx_oom(ctx);
		m->vfs[m->vf_count++] = model_vf(m, own, vf);
	}
	return r;
}

int vfctl_model_read(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const struct vfctl_place_options *options, struct vfctl_host_model **ret_model)
{
	const struct vfctl_inventory *inv = snapshot->inventory;
	_cleanup_(vfctl_model_freep) struct vfctl_host_model *m = calloc(1, sizeof(*m));
	unsigned allowed = options->spec ? options->spec->vfs_allowed : 0;
	struct bdf_list taken = {0};
	int r = m ? read_topology(ctx, m) : ctx_oom(ctx);

	if (r == 0)
		r = model_read_reserved(ctx, options, m);
	if (r == 0)
		r = model_read_typical(ctx, options->spec, m);
	for (size_t i = 0; i < inv->pf_count && r == 0; i++)
		r = add_pf(ctx, &inv->pfs[i], m);
	if (r == 0 && options->with_cards)
		r = read_cards(ctx, inv, m);
	if (r == 0 && options->with_gpus)
		r = model_read_gpus(ctx, m);
	if (r == 0)
		r = model_read_occupants(ctx, snapshot, options->hypervisor, m, &taken);
	for (size_t i = 0; i < inv->pf_count && r == 0; i++)
		r = read_free_vfs(ctx, &inv->pfs[i], &taken, allowed, m);
	free(taken.v);
	if (r == 0)
		*ret_model = steal(m);
	return r;
}
