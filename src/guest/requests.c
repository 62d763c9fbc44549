// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert guests to requests for the planner: names of PFs become addresses of the model. */
#include <errno.h>

#include "base/buf.h"
#include "base/parse.h"
#include "guest/guest.h"

void vfctl_requests_free(struct vfctl_requests *requests)
{
	if (!requests)
		return;
	for (size_t i = 0; i < requests->count; i++)
		free((void *)requests->v[i].wants);
	free(requests->v);
	free(requests);
}

/* "Any PF" means a network device: Ethernet while one is free, else InfiniBand. */
static int any_fabric(const struct vfctl_host_model *m)
{
	bool infiniband = false, ethernet = false;

	for (size_t i = 0; i < m->vf_count; i++) {
		if (m->vfs[i].fabric == VFCTL_FABRIC_ETHERNET)
			return VFCTL_FABRIC_ETHERNET;
		infiniband |= m->vfs[i].fabric == VFCTL_FABRIC_INFINIBAND;
	}
	/* If no VF is free, the shortage is reported for the kind of PF that exists. */
	for (size_t i = 0; i < m->pf_count && !infiniband; i++)
		ethernet |= m->pfs[i].fabric == VFCTL_FABRIC_ETHERNET;
	for (size_t i = 0; i < m->pf_count && !ethernet; i++)
		infiniband |= m->pfs[i].fabric == VFCTL_FABRIC_INFINIBAND;
	return infiniband ? VFCTL_FABRIC_INFINIBAND : VFCTL_FABRIC_ETHERNET;
}

static bool answers_to(const struct vfctl_model_pf *pf, const char *name)
{
	struct vfctl_bdf bdf;

	if (vfctl_bdf_parse(name, &bdf) == 0)
		return vfctl_bdf_compare(&bdf, &pf->bdf) == 0;
	for (char **n = pf->names; n && *n; n++)
		if (str_eq(*n, name) || libvirt_net_is(name, *n))
			return true;
	return false;
}

static int find_pf(struct vfctl_ctx *ctx, const struct vfctl_host_model *m, const char *name,
	const struct vfctl_model_pf **ret)
{
	_buf_ struct buf known = {0};

	for (size_t i = 0; i < m->pf_count; i++) {
		const struct vfctl_model_pf *pf = &m->pfs[i];

		if (answers_to(pf, name)) {
			*ret = pf;
			return 0;
		}
		buf_printf(&known, "%s%s", i ? ", " : "", pf->names && pf->names[0] ?
			pf->names[0] : vfctl_bdf_format(&pf->bdf, (char[VFCTL_BDF_TEXT]){0}));
	}
	if (!m->pf_count)
		return ctx_usage_error(ctx, -ENOENT, "PF '%.64s' not found: this host has no PF with "
			"SR-IOV", name);
	return ctx_usage_error(ctx, -ENOENT, "PF '%.64s' not found; this host has %s", name,
		known.failed ? "others" : known.data);
}

static const char *fabric_name(int fabric)
{
	return fabric == VFCTL_FABRIC_INFINIBAND ? "InfiniBand" : "Ethernet";
}

static int make_want(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const struct vfctl_guest_vf *vf, struct vfctl_vf_want *ret)
{
	int asked = vf->fabric == VFCTL_VF_FABRIC_INFINIBAND ? VFCTL_FABRIC_INFINIBAND
		: vf->fabric == VFCTL_VF_FABRIC_ETHERNET     ? VFCTL_FABRIC_ETHERNET
							     : VFCTL_FABRIC_ANY;
	const struct vfctl_model_pf *pf = NULL;
	int r;

	*ret = (struct vfctl_vf_want){.count = vf->count, .fabric = VFCTL_FABRIC_ANY,
		.port = vf->port, .cell = vf->cell, .affinity = vf->affinity,
		.anti_affinity = vf->anti_affinity};
	if (!vf->pf) {
		ret->any_pf = true;
		ret->fabric = asked != VFCTL_FABRIC_ANY ? asked : any_fabric(m);
		ret->fabric_name = fabric_name(ret->fabric);
		return 0;
	}
	r = find_pf(ctx, m, vf->pf, &pf);
	if (r == 0 && asked != VFCTL_FABRIC_ANY && pf->fabric != asked)
		r = ctx_usage_error(ctx, -EINVAL, "%s is %s, not %s", vf->pf, fabric_name(pf->fabric),
			asked == VFCTL_FABRIC_INFINIBAND ? "infiniband" : "ethernet");
	if (r < 0)
		return ctx_prefix(ctx, r, "%s: vfs", vf->at);
	ret->pf = pf->bdf;
	return 0;
}

static int make_request(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_guest *g, struct vfctl_request *ret)
{
	struct vfctl_vf_want *wants = calloc(g->vf_count + 1, sizeof(*wants));
	int r = wants ? 0 : ctx_oom(ctx);

	*ret = (struct vfctl_request){
		.name = g->name, .vcpus = g->vcpus, .shared_vcpus = g->shared_vcpus,
		.threads = g->threads, .emulator_cores = g->emulator_cores,
		.iothreads = g->iothreads, .iothread_cores = g->iothread_cores,
		.memory_bytes = g->memory_bytes, .page_bytes = g->page_bytes,
		.memory_affinity = g->memory_affinity, .node = g->node, .cells = g->cells,
		.cell_count = g->cell_count, .cells_max = g->cells_max,
		.whole_node = g->whole_node, .whole_l3 = g->whole_l3,
		.max_distance = g->max_distance, .wants = wants, .want_count = g->vf_count,
	};
	for (size_t i = 0; i < g->vf_count && r == 0; i++)
		r = make_want(ctx, model, &g->vfs[i], &wants[i]);
	return r;
}

int vfctl_requests_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	struct vfctl_guest *const *guests, size_t count, struct vfctl_requests **ret)
{
	_cleanup_(vfctl_requests_freep) struct vfctl_requests *made = calloc(1, sizeof(*made));
	int r = 0;

	if (made)
		made->v = calloc(count + 1, sizeof(*made->v));
	if (!made || !made->v)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count && r == 0; i++) {
		made->count = i + 1;
		r = make_request(ctx, model, guests[i], &made->v[i]);
		if (r < 0 && count > 1)
			r = ctx_prefix(ctx, r, "%s", guests[i]->name);
	}
	if (r == 0)
		*ret = steal(made);
	return r;
}
