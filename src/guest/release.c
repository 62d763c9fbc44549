// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vfctl release: roll back the effects of a run at whose end libvirt did not call the hook. The run
 * is in the journal; the roll-back does what the hook would have done.
 */
#include <errno.h>

#include "base/buf.h"
#include "base/change.h"
#include "base/planning.h"
#include "base/vfattr.h"
#include "change/recover.h"
#include "facts/snapshot/domains.h"
#include "guest/plans.h"
#include "guest/suggest.h"
#include "lease/lease.h"
#include "lease/ops.h"
#include "sriov/inventory.h"
#include "state/leases.h"

/* libvirt reports "active" from the moment in which it calls the hook. */
static int check_off(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv,
	const struct vfctl_lease *lease)
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	int r = hv ? hv->get(ctx, hv, lease->domain_uuid, false, &info) : 0;

	if (r < 0)
		return ctx_ignore_error(ctx, r, -ENOENT);
	return info.active ? ctx_fail(ctx, -EBUSY, "domain %s is running or starting; its VFs are "
		"returned when it stops", lease->domain_name) : 0;
}

static int find_lease(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv, const char *domain,
	struct vfctl_leases **ret_leases, const struct vfctl_lease **ret)
{
	_cleanup_(known_domains_freep) struct known_domains *domains = NULL;
	int r = vfctl_leases_read(ctx, ret_leases);

	if (r == 0)
		r = known_domains_read(ctx, &domains);
	if (r < 0)
		return r;
	*ret = vfctl_leases_find(*ret_leases, domain);
	if (!*ret)
		return suggest_domain(ctx, NULL, *ret_leases, domain,
			ctx_fail(ctx, -EALREADY, "no domain %s holds a lease here (vfctl list shows "
				"those that do)", domain));
	if (known_domains_runs(domains, (*ret)->domain_uuid))
		return ctx_fail(ctx, -EBUSY, "domain %s is running; its VFs are returned when it "
			"stops", (*ret)->domain_name);
	r = check_off(ctx, hv, *ret);
	if (r < 0)
		return r;
	if (domains->unread && !hv)
		return ctx_fail(ctx, -EACCES, "nothing is changed, because it is unknown whether the "
			"domain runs: %s", domains->unread);
	return 0;
}

/*
 * Without a record of the run, what the VFs had before it is unknown: name values that remain of
 * it.
 */
static int tell_remains(struct vfctl_ctx *ctx, const struct vfctl_lease *lease)
{
	const uint32_t policy = attrs_with(VFCTL_ATTR_HAS_DEFAULT);
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	struct vfctl_vf_attrs safe = attrs_safe(policy);
	_buf_ struct buf is = {0}, set = {0};
	char buf[VFCTL_BDF_TEXT];
	int r = vfctl_inventory_read(ctx, NULL, &inv);

	for (size_t i = 0; r == 0 && i < lease->vf_count; i++) {
		const struct vfctl_pf *pf = NULL;
		const struct vfctl_vf *vf = vfctl_inventory_vf_at(inv, &lease->vfs[i].bdf, &pf);
		uint32_t differs = vf ? vf->attrs.mask & policy & ~attrs_equal(&vf->attrs, &safe) : 0;
		const char *name;

		if (!differs)
			continue;
		name = vfctl_pf_name(pf, buf);
		buf_printf(&is, "%s%s/%u has", is.len ? ", " : "", name, vf->index);
		attrs_put(&is, &vf->attrs, differs);
		buf_printf(&set, "%svfctl set %s/%u", set.len ? "; " : "", name, vf->index);
		attrs_put(&set, &safe, differs);
	}
	if (r < 0 || !is.len)
		return r;
	if (is.failed || set.failed)
		return ctx_oom(ctx);
	return ctx_fail(ctx, -EALREADY, "no run of domain %s is recorded, so it is unknown what its VFs "
		"had before; %s; if those values are left from a guest: %s", lease->domain_name, is.data,
		set.data);
}

int vfctl_release_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, bool dry_run, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_free_ char *left = NULL;
	const struct vfctl_lease *lease = NULL;
	int r = guest_change_recovered(ctx, dry_run, &change);

	if (r == 0)
		r = find_lease(ctx, hypervisor, domain, &leases, &lease);
	if (r == 0)
		r = op_observe(ctx, &(struct op){&op_end_run, (char *)lease->domain_uuid, NULL, NULL},
			&left);
	if (r == 0 && left[0]) {
		step_begin(&change->steps, "reset the VFs of domain %s after its last "
			"run%s", lease->domain_name,
			lease->transient ? ", and end its lease" : "");
		step_op(&change->steps, &op_end_run, "", lease->running ? "left" OP_RUNNING : "left",
			"%s", lease->domain_uuid);
	} else if (r == 0) {
		r = tell_remains(ctx, lease);
	}
	return guest_change_planned(ctx, &change, r, ret_change, NULL, "release %s", domain);
}
