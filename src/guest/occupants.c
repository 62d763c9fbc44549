// SPDX-License-Identifier: GPL-2.0-or-later
/* The requests of the present guests, for the planner. */
#include <errno.h>

#include "facts/guest_spec.h"
#include "guest/plans.h"
#include "lease/lease.h"
#include "lease/ops.h"
#include "state/leases.h"
#include "types/find.h"

static bool asks_for_nodes(const struct vfctl_guest *g)
{
	bool asks = g->node != VFCTL_NODE_NONE;

	for (size_t i = 0; i < g->cell_count; i++)
		asks |= g->cells[i].node != VFCTL_NODE_NONE;
	return asks;
}

/* Whether that VF matches the request of the entry. */
static bool answers(const struct vfctl_guest_vf *asked, const struct vfctl_vf_want *want,
	const struct vfctl_free_vf *vf)
{
	if (!want->any_pf)
		return vfctl_bdf_compare(&want->pf, &vf->pf) == 0;
	return asked->fabric == VFCTL_VF_FABRIC_ANY || want->fabric == vf->fabric;
}

/*
 * For each VF that it holds, find the first entry with unused VFs that it matches; entries that
 * name a PF come first. A VF from attach matches none, and may be of any PF of its fabric.
 */
static int fill_wants(struct vfctl_ctx *ctx, const struct vfctl_guest *g,
	const struct vfctl_request *request, struct vfctl_occupant *o)
{
	size_t cells = g->cell_count ? g->cell_count : 1;
	uint32_t left[VFCTL_GUEST_VFS_MAX];

	o->wants = calloc(o->vf_count + 1, sizeof(*o->wants));
	if (!o->wants)
		return ctx_oom(ctx);
	for (size_t w = 0; w < request->want_count; w++)
		left[w] = request->wants[w].count *
			(request->wants[w].cell == VFCTL_CELL_EACH ? (uint32_t)cells : 1);
	for (size_t i = 0; i < o->vf_count; i++)
		o->wants[i] = (struct vfctl_vf_want){.any_pf = true, .fabric = o->vfs[i].fabric};
	for (int named = 1; named >= 0; named--)
		for (size_t i = 0; i < o->vf_count; i++)
			for (size_t w = 0; w < request->want_count && !o->wants[i].count; w++)
				if (left[w] && request->wants[w].any_pf == !named &&
					answers(&g->vfs[w], &request->wants[w], &o->vfs[i])) {
					left[w]--;
					o->wants[i] = request->wants[w];
					o->wants[i].count = 1;
				}
	for (size_t i = 0; i < o->vf_count; i++) {
		o->wants[i].count = 1;
		o->wants[i].fabric_name = NULL;
		/* A move decides which host node each cell gets. */
		o->wants[i].cell = VFCTL_CELL_ANY;
		if (o->wants[i].any_pf)
			o->wants[i].fabric = o->vfs[i].fabric;
	}
	return 0;
}

static int read_text(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const struct vfctl_domain_info *info, struct vfctl_occupant *o)
{
	const struct op later = {&op_shape_later, o->uuid, NULL, NULL};
	struct vfctl_requests *requests = NULL;
	struct vfctl_guest *guest = NULL;
	_free_ char *then = NULL;
	int r = guest_spec_read(ctx, info->xml, &guest);

	/* Defined again while it runs: until it stops, its lease covers both places. */
	if (r == 0)
		r = op_observe(ctx, &later, &then);
	o->changing = r == 0 && then[0];
	if (r == 0 && guest)
		r = vfctl_requests_make(ctx, m, &guest, 1, &requests);
	if (r == 0 && guest) {
		o->pinned = asks_for_nodes(guest);
		r = fill_wants(ctx, guest, &requests->v[0], o);
	}
	vfctl_requests_free(requests);
	vfctl_guest_free(guest);
	return r;
}

/* Resources that are released with the present run do not count for its next place. */
static void drop_transient(const struct vfctl_leases *leases, struct vfctl_occupant *o)
{
	const struct vfctl_lease *lease = vfctl_leases_find_uuid(leases, o->uuid);
	size_t kept = 0;

	if (o->foreign || !lease || lease->transient)
		return;
	for (size_t i = 0; i < o->vf_count; i++) {
		const struct vfctl_lease_vf *vf = find_leased_vf(lease, &o->vfs[i].bdf);

		if (!vf || !vf->transient)
			o->vfs[kept++] = o->vfs[i];
	}
	o->vf_count = kept;
}

/* A guest that libvirt no longer has is not moved. */
static void keep_unknown(const struct vfctl_domain_info *infos, size_t count,
	struct vfctl_occupant *o)
{
	bool known = o->foreign;

	for (size_t i = 0; i < count && !known; i++)
		known = str_eq(o->uuid, infos[i].uuid);
	o->changing |= !known;
}

int vfctl_model_read_words(struct vfctl_ctx *ctx, struct vfctl_host_model *model,
	struct vfctl_hypervisor *hypervisor)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	struct vfctl_domain_info *infos = NULL;
	size_t count = 0;
	int r = hypervisor ? vfctl_leases_read(ctx, &leases) : 0;

	if (r == 0 && hypervisor)
		r = hypervisor->list(ctx, hypervisor, &infos, &count);
	for (size_t k = 0; k < model->occupant_count && r == 0 && hypervisor; k++) {
		drop_transient(leases, &model->occupants[k]);
		keep_unknown(infos, count, &model->occupants[k]);
	}
	for (size_t i = 0; i < count && r == 0; i++)
		for (size_t k = 0; k < model->occupant_count && r == 0; k++) {
			struct vfctl_occupant *o = &model->occupants[k];

			if (o->foreign || o->wants || !str_eq(o->uuid, infos[i].uuid))
				continue;
			r = read_text(ctx, model, &infos[i], o);
			if (r == -ENOMEM)
				break;
			if (r < 0)
				log_warn(ctx, "the file of domain %s is unknown (%s); its VFs may come "
					"from any PF of their network", o->name,
					vfctl_ctx_error(ctx));
			ctx_clear(ctx);
			r = 0;
		}
	vfctl_domain_infos_free(infos, count);
	return r;
}
