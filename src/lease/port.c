// SPDX-License-Identifier: GPL-2.0-or-later
#include "lease/port.h"

#include <errno.h>

#include "lease/lease.h"
#include "lease/ops.h"
#include "sriov/inventory.h"
#include "state/leases.h"
#include "state/store.h"
#include "types/find.h"

#define WORDS(port_id) port_text((port_id), (char[PORT_WORDS]){0})

void ports_fill(const struct vfctl_inventory *inventory, struct vfctl_lease_vf *io, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_pf *pf = find_pf_at(inventory, &io[i].pf);

		if (pf)
			memcpy(io[i].port_id, pf->port_id, sizeof(io[i].port_id));
	}
}

/* ---- at a start ---- */

/* This happens rarely: there is time to read the whole host. */
static char *say_where(struct vfctl_ctx *ctx, const struct vfctl_lease_vf *vf)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *now = vf->port_id[0] && vfctl_inventory_read(ctx, NULL, &inv) == 0
		? inventory_find_port(inv, vf->port_id) : NULL;

	ctx_clear(ctx);
	return now ? str_format("is %s (%s) now", vfctl_pf_name(now, (char[VFCTL_BDF_TEXT]){0}),
		TEXT(&now->bdf)) : strdup("was not found on this host");
}

int port_fail_gone(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf)
{
	_free_ char *where = say_where(ctx, vf);

	if (!where)
		return ctx_oom(ctx);
	return ctx_fail(ctx, -ENODEV, "domain %s was given VF %s of the PF %s%s%s, which %s; choose a "
		"PF for the domain: vfctl define with its file, or vfctl detach %s --vf %s and vfctl "
		"attach", lease->domain_name, TEXT(&vf->bdf), TEXT(&vf->pf),
		vf->port_id[0] ? " with " : "", vf->port_id[0] ? WORDS(vf->port_id) : "", where,
		lease->domain_name, TEXT(&vf->bdf));
}

static int fail_another(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf, const struct vfctl_pf *pf)
{
	_free_ char *where = say_where(ctx, vf);

	if (!where)
		return ctx_oom(ctx);
	return ctx_fail(ctx, -ENODEV, "domain %s was given VF %s of the PF with %s, which %s; %s is now "
		"another PF, %s with %s, perhaps on another network. Choose a PF for the domain: vfctl "
		"define with its file, or vfctl detach %s --vf %s and vfctl attach",
		lease->domain_name, TEXT(&vf->bdf), WORDS(vf->port_id), where, TEXT(&vf->pf),
		vfctl_pf_name(pf, (char[VFCTL_BDF_TEXT]){0}), WORDS(pf->port_id), lease->domain_name,
		TEXT(&vf->bdf));
}

int port_add_step(struct vfctl_ctx *ctx, const char *domain_uuid, const struct vfctl_lease_vf *vf,
	const struct vfctl_pf *pf, struct steps *steps)
{
	if (!pf->port_id[0] || str_eq(pf->port_id, vf->port_id))
		return 0;
	step_begin(steps, "record that VF %s belongs to the PF with %s%s%s", TEXT(&vf->bdf),
		WORDS(pf->port_id), vf->port_id[0] ? ", no longer to the one with " : "",
		vf->port_id[0] ? WORDS(vf->port_id) : "");
	step_op(steps, &op_vf_port, pf->port_id, vf->port_id, "%s/%s", domain_uuid, TEXT(&vf->bdf));
	return steps->failed ? ctx_oom(ctx) : 0;
}

int port_check(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf, const struct vfctl_pf *pf)
{
	return pf_is_another(pf, vf->port_id) ? fail_another(ctx, lease, vf, pf) : 0;
}

/* ---- the operation ---- */

static int observe_port(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease_vf *vf;
	int r = op_leased_vf(ctx, op, &leases, &vf);

	/* A VF that is no longer leased needs none. */
	return r < 0 ? r : op_say(ctx, vf ? vf->port_id : op->want, ret);
}

static int set_port(struct vfctl_ctx *ctx, const struct op *op, const char *port_id)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	const struct vfctl_lease_vf *vf;
	int r = op_leased_vf(ctx, op, &leases, &vf);

	if (r < 0 || !vf)
		return r;
	r = store_open(ctx, STORE_WRITE, &store);
	return r < 0 ? r : store_set_port(store, &vf->bdf, port_id);
}

OP_WRITTEN(vf_port, observe_port, set_port)
const struct op_type op_vf_port = {.name = "vf-port", OP_CALLS(vf_port)};
