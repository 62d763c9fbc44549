// SPDX-License-Identifier: GPL-2.0-or-later
/* Common parts of attach and detach: the domain, its lease, its definition. */
#include "guest/attach.h"

#include <errno.h>

#include "change/recover.h"
#include "facts/snapshot/snapshot.h"
#include "guest/suggest.h"
#include "lease/ops.h"
#include "lease/saved_image.h"

void attach_clear(struct attach *a)
{
	identities_clear(&a->identities);
	known_domains_free(a->domains);
	vfctl_snapshot_free(a->snapshot);
	vfctl_domain_info_clear(&a->live);
	vfctl_domain_info_clear(&a->config);
	free(a->live_device);
	free(a->config_xml);
}

/* ---- the present state ---- */

static int read_domain(struct vfctl_ctx *ctx, const char *name, struct attach *a)
{
	struct vfctl_domain_info info;
	int r = a->hv->get(ctx, a->hv, name, false, &info);

	if (r == -ENOENT)
		suggest_domain(ctx, a->hv, NULL, name, r);
	if (r < 0)
		return ctx_mark_usage_error(ctx, r);
	if (info.active)
		a->live = info;
	else
		a->config = info;
	if (info.active && info.persistent)
		r = a->hv->get(ctx, a->hv, name, true, &a->config);
	return r;
}

/* The requested parts, or those that exist: the running domain and its definition. */
static int decide_affect(struct vfctl_ctx *ctx, unsigned asked, struct attach *a)
{
	if (asked & VFCTL_AFFECT_LIVE && !a->live.name)
		return ctx_usage_error(ctx, -EINVAL, "domain %s is not running, so --live cannot be "
			"used", attach_name(a));
	if (asked & VFCTL_AFFECT_CONFIG && !a->config.name)
		return ctx_usage_error(ctx, -EINVAL, "domain %s is transient: it has no configuration for "
			"--config", attach_name(a));
	a->affect = asked;
	if (!asked)
		a->affect = (a->live.name ? VFCTL_AFFECT_LIVE : 0u) |
			(a->config.name ? VFCTL_AFFECT_CONFIG : 0u);
	return 0;
}

int attach_open(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv, const char *domain,
	const char *only,
	unsigned affect, bool dry_run, struct attach *a, struct vfctl_change **ret_change)
{
	int r = guest_change_new(ctx, hv, dry_run, ret_change);

	a->hv = hv;
	if (r == 0)
		r = (only ? snapshot_read_with_values : vfctl_snapshot_read)(ctx, only, &a->snapshot);
	if (r == 0)
		r = snapshot_need_leases(ctx, a->snapshot);
	if (r == 0)
		r = read_domain(ctx, domain, a);
	return r < 0 ? r : decide_affect(ctx, affect, a);
}

int attach_name_lease(struct vfctl_ctx *ctx, struct attach *a)
{
	const struct vfctl_lease *lease = vfctl_leases_find_uuid(a->snapshot->leases, attach_uuid(a));

	if (lease && lease->transient && a->affect & VFCTL_AFFECT_CONFIG)
		return ctx_fail(ctx, -EBUSY, "the lease of domain %s ends with its run; stop the domain "
			"first, or attach with --live only", attach_name(a));
	a->new_lease = !lease;
	a->first_vf = lease && !lease->vf_count;
	if (!str_copy(a->lease_id, sizeof(a->lease_id), lease ? lease->id : attach_uuid(a)))
		return ctx_oom(ctx);
	return 0;
}

int attach_check_lost(struct vfctl_ctx *ctx, const struct attach *a)
{
	const char *xml = a->config.xml ? a->config.xml : a->live.xml;

	return a->new_lease ? guest_check_lost(ctx, xml, attach_name(a)) : 0;
}

int attach_add_definition_op(struct vfctl_ctx *ctx, const struct attach *a, struct steps *steps)
{
	_free_ char *devices = NULL, *want = NULL;
	int r = domain_devices(ctx, a->config_xml, &devices);

	if (r < 0)
		return r;
	want = str_format("%s\n%s", devices, a->config_xml);
	if (!want)
		return ctx_oom(ctx);
	saved_image_warn(ctx, attach_name(a));
	step_op(steps, &op_definition, want, a->config.xml, "%s", attach_uuid(a));
	return 0;
}
