// SPDX-License-Identifier: GPL-2.0-or-later
#include "workflow/snapshot.h"

#include <errno.h>
#include <stdio.h>

#include "base/ctx.h"
#include "host/host.h"

/* A VF that a domain leases: running when it is open in VFIO, otherwise only promised. */
static void name_holder(struct vfctl_vf *vf, const struct vfctl_lease *lease)
{
	struct vfctl_holder *h = &vf->holder;

	h->kind = h->kind == VFCTL_HOLDER_VFIO ? VFCTL_HOLDER_DOMAIN : VFCTL_HOLDER_LEASE;
	snprintf(h->name, sizeof(h->name), "%s", lease->domain_name);
	snprintf(h->uuid, sizeof(h->uuid), "%s", lease->domain_uuid);
}

static struct vfctl_vf *find_vf(struct vfctl_inventory *inv, const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; i < inv->pf_count; i++)
		for (uint32_t k = 0; k < inv->pfs[i].num_vfs; k++)
			if (vfctl_bdf_compare(&inv->pfs[i].vfs[k].bdf, bdf) == 0)
				return &inv->pfs[i].vfs[k];
	return NULL;
}

static void merge(struct vfctl_snapshot *s)
{
	for (size_t i = 0; i < s->leases->count; i++)
		for (size_t k = 0; k < s->leases->v[i].vf_count; k++) {
			struct vfctl_vf *vf = find_vf(s->inventory, &s->leases->v[i].vfs[k].bdf);

			if (vf)
				name_holder(vf, &s->leases->v[i]);
		}
}

static int read_leases(struct vfctl_ctx *ctx, struct vfctl_snapshot *s)
{
	int r = 0;

	if (!host_of(ctx)->ops->read_only)
		r = vfctl_leases_read(ctx, &s->leases);
	if (r < 0) {
		s->leases_error = strdup(vfctl_ctx_error(ctx));
		ctx_clear(ctx);
	}
	if (!s->leases)
		s->leases = calloc(1, sizeof(*s->leases));
	return s->leases && (r == 0 || s->leases_error) ? 0 : ctx_oom(ctx);
}

int vfctl_snapshot_read(struct vfctl_ctx *ctx, const char *only,
	struct vfctl_snapshot **ret_snapshot)
{
	_snapshot_ struct vfctl_snapshot *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return ctx_oom(ctx);
	r = vfctl_inventory_read(ctx, only, &s->inventory);
	if (r == 0)
		r = read_leases(ctx, s);
	if (r < 0)
		return r;
	merge(s);
	*ret_snapshot = steal(s);
	return 0;
}

void vfctl_snapshot_free(struct vfctl_snapshot *snapshot)
{
	if (!snapshot)
		return;
	vfctl_inventory_free(snapshot->inventory);
	vfctl_leases_free(snapshot->leases);
	free(snapshot->leases_error);
	free(snapshot);
}

int snapshot_need_leases(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot)
{
	if (snapshot->leases_error)
		return ctx_fail(ctx, -EACCES, "nothing is changed while the leases cannot be read: "
			"%s", snapshot->leases_error);
	return 0;
}
