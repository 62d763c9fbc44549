// SPDX-License-Identifier: GPL-2.0-or-later
/* detach: out of the definition and the running domain; then the VF is returned. */
#include <errno.h>

#include "workflow/attach.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define DETACH_TIMEOUT_MS 30000

static const struct vfctl_domain_device *find_device(const struct vfctl_domain_view *view,
	const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; view && i < view->device_count; i++)
		if (vfctl_bdf_compare(&view->devices[i].source, bdf) == 0)
			return &view->devices[i];
	return NULL;
}

static int device_to_remove(struct vfctl_ctx *ctx, struct attach *a, const char *xml,
	char **ret_device)
{
	_view_ struct vfctl_domain_view *view = NULL;
	const struct vfctl_domain_device *device;
	struct vfctl_domain_vf vf = {.bdf = a->lease_vf.bdf, .pf = a->lease_vf.pf};
	int r = vfctl_domain_read(ctx, xml, &view);

	if (r < 0)
		return r;
	device = find_device(view, &vf.bdf);
	if (!device)
		return 0;
	vf.form = device->interface ? VFCTL_FORM_INTERFACE : VFCTL_FORM_HOSTDEV;
	if (device->has_mac) {
		vf.attrs.mask = VFCTL_ATTR_MAC;
		vf.attrs.mac = device->mac;
	}
	return vfctl_domain_device_xml(ctx, &vf,
		device->has_guest ? device->guest.bus : 0, a->hv->version, ret_device);
}

/* The VF that was named, or the only VF among the domain's devices. */
static int find_vf(struct vfctl_ctx *ctx, struct attach *a, const char *name)
{
	_view_ struct vfctl_domain_view *view = NULL;
	const struct vfctl_pf *pf = NULL;
	const struct vfctl_vf *vf = NULL;
	size_t found = 0;
	int r;

	if (name) {
		r = vfctl_inventory_find_vf(ctx, a->snapshot->inventory, name, &pf, &vf);
		if (r < 0)
			return r;
		found = 1;
	} else {
		r = vfctl_domain_read(ctx, a->live.xml ? a->live.xml : a->config.xml, &view);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; view && i < view->device_count; i++)
		found += vfctl_inventory_find_vf(ctx, a->snapshot->inventory,
			TEXT(&view->devices[i].source), &pf, &vf) == 0;
	if (found != 1 || !vf)
		return ctx_fail(ctx, found ? -EINVAL : -ENOENT, "domain %s has %s VF; %s",
			attach_name(a), found ? "more than one" : "no",
			found ? "name one: --vf PF/INDEX" : "there is nothing to detach");
	a->lease_vf = (struct vfctl_lease_vf){.bdf = vf->bdf, .pf = pf->bdf, .index = vf->index};
	return 0;
}

static void keep_unasked(struct attach *a, unsigned affect, char **device)
{
	if (a->affect & affect || !*device)
		return;
	a->still_used = true;
	free(steal(*device));
}

static bool holds_lease(const struct attach *a)
{
	const struct vfctl_lease *lease = vfctl_leases_find_vf(a->snapshot->leases,
		&a->lease_vf.bdf);

	return lease && str_eq(lease->domain_uuid, attach_uuid(a));
}

/* A device that is gone already leaves what our metadata says of it; -ENOENT: nothing. */
static int drop_intent(struct vfctl_ctx *ctx, struct attach *a)
{
	int r = -ENOENT;

	if (a->config.name && a->affect & VFCTL_AFFECT_CONFIG)
		r = vfctl_domain_metadata_remove_vf(ctx, a->config.xml, &a->lease_vf.bdf,
			&a->config_xml);
	if (r == -ENOENT)
		ctx_clear(ctx);
	return r;
}

/* The intent goes with the device, so that the hook does not miss it at the next start. */
static int make_removals(struct vfctl_ctx *ctx, struct attach *a)
{
	int r = 0;

	if (a->live.name)
		r = device_to_remove(ctx, a, a->live.xml, &a->live_device);
	if (r == 0 && a->config.name)
		r = device_to_remove(ctx, a, a->config.xml, &a->config_device);
	if (r < 0)
		return r;
	keep_unasked(a, VFCTL_AFFECT_LIVE, &a->live_device);
	keep_unasked(a, VFCTL_AFFECT_CONFIG, &a->config_device);
	if (!a->live_device && !a->config_device && !a->still_used) {
		r = drop_intent(ctx, a);
		/* Or the guest let go after an earlier detach gave up waiting. */
		if (r != -ENOENT || holds_lease(a))
			return r == -ENOENT ? 0 : r;
	}
	if (!a->live_device && !a->config_device)
		return ctx_fail(ctx, -ENOENT, "domain %s does not have VF %s", attach_name(a),
			TEXT(&a->lease_vf.bdf));
	if (!a->config_device)
		return 0;
	r = vfctl_domain_metadata_remove_vf(ctx, a->config.xml, &a->lease_vf.bdf,
		&a->config_xml);
	if (r != -ENOENT)
		return r;
	ctx_clear(ctx); /* plugged by someone else: it has no intent of ours */
	a->config_xml = strdup(a->config.xml);
	return a->config_xml ? 0 : ctx_oom(ctx);
}

static int apply_unconfig(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;
	int r = a->hv->define(ctx, a->hv, a->config_xml);

	if (r == 0 && a->config_device)
		r = a->hv->detach(ctx, a->hv, attach_uuid(a), a->config_device, VFCTL_AFFECT_CONFIG,
			0);
	return r;
}

static int apply_unplug(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;

	return a->hv->detach(ctx, a->hv, attach_uuid(a), a->live_device, VFCTL_AFFECT_LIVE,
		a->timeout_ms);
}

/* Somebody started it since it was looked at, perhaps with the VF in it still. */
static int check_not_started(struct vfctl_ctx *ctx, const struct attach *a,
	const struct vfctl_lease *before)
{
	struct vfctl_leases *leases = NULL;
	const struct vfctl_lease *now;
	int r = vfctl_leases_read(ctx, &leases);

	if (r < 0)
		return r;
	now = vfctl_leases_find_uuid(leases, before->domain_uuid);
	if (now && now->running && !before->running)
		r = ctx_fail(ctx, -EBUSY, "domain %s has been started meanwhile; the VF stays its own "
			"until it stops, then: vfctl detach %s --vf %s", before->domain_name,
			before->domain_name, TEXT(&a->lease_vf.bdf));
	vfctl_leases_free(leases);
	return r;
}

/*
 * The device is out of the guest: its policy is returned, then the lease. A lease that
 * holds nothing else (the domain was not defined with vfctl) ends. The PF's lock is held from
 * the look at the lease on: a start that began before would be given the VF in between.
 */
static int apply_return(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;
	const struct vfctl_lease *lease = vfctl_leases_find_uuid(a->snapshot->leases, attach_uuid(a));
	_pf_locks_ struct pf_locks locks = {.count = 0};
	int r = attach_lock_pf(ctx, a, &locks);

	if (r == 0)
		r = check_not_started(ctx, a, lease);
	if (r == 0)
		r = attach_restore_policy(ctx, a);
	if (r < 0)
		return r;
	a->new_lease = lease->vf_count == 1 && lease->node < 0;
	return attach_give_up_lease(ctx, a);
}

/* What the VF carries by the domain's metadata. */
static int read_carried(struct vfctl_ctx *ctx, const char *xml, const struct vfctl_bdf *bdf,
	struct vfctl_vf_attrs *ret)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	int r = -ENOENT;

	if (!intent)
		return ctx_oom(ctx);
	if (xml)
		r = vfctl_domain_metadata_read(ctx, xml, strlen(xml), intent);
	for (size_t i = 0; r == 0 && i < intent->vf_count; i++)
		if (vfctl_bdf_compare(&intent->vfs[i].bdf, bdf) == 0)
			*ret = intent->vfs[i].attrs;
	if (r == -ENOENT)
		ctx_clear(ctx);
	return r == -ENOENT ? 0 : r;
}

/* A VF that was plugged in live only stands in no metadata: then it is as the kernel has it. */
static int find_identities(struct vfctl_ctx *ctx, struct attach *a, struct vfctl_ids *ids)
{
	const struct vfctl_inventory *inv = a->snapshot->inventory;
	struct vfctl_vf_attrs carried = {0};
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	int r = read_carried(ctx, a->config.xml ? a->config.xml : a->live.xml, &a->lease_vf.bdf,
		&carried);

	if (r == 0 && !carried.mask &&
		vfctl_inventory_find_vf(ctx, inv, TEXT(&a->lease_vf.bdf), &pf, &vf) == 0)
		carried = vf->attrs;
	return r < 0 ? r : identities_of_domain(ctx, ids, attach_uuid(a), &carried, &a->identities);
}

static void add_detach_steps(struct attach *a, struct steps *steps)
{
	struct step config = {.apply = apply_unconfig, .undo = attach_undo_config, .data = a};
	struct step live = {.apply = apply_unplug, .data = a, .commit = true};
	struct step back = {.apply = apply_return, .data = a, .commit = true};
	const char *vf = TEXT(&a->lease_vf.bdf), *name = attach_name(a);

	if (a->config_xml)
		steps_add(steps, &config, "take VF %s out of the definition of domain %s", vf, name);
	if (a->live_device)
		steps_add(steps, &live, "unplug VF %s from the running domain %s, and wait until "
			"the guest let go", vf, name);
	if (holds_lease(a) && !a->still_used)
		steps_add(steps, &back, "return VF %s to what it was and end its lease", vf);
	identities_add_return_step(&a->identities, steps);
}

int vfctl_detach_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_detach_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct attach *a;
	int r = attach_open(ctx, hypervisor, domain, options->affect, dry_run, &change, &a);

	if (r == 0)
		r = attach_name_lease(ctx, a);
	if (r == 0)
		r = find_vf(ctx, a, options->vf);
	if (r == 0)
		r = make_removals(ctx, a);
	if (r < 0)
		return r;
	if (!a->still_used)
		r = find_identities(ctx, a, options->ids);
	if (r < 0)
		return r;
	a->timeout_ms = options->timeout_ms ? options->timeout_ms : DETACH_TIMEOUT_MS;
	add_detach_steps(a, &change->steps);
	change->ids_changed = a->identities.count > 0;
	*ret_change = steal(change);
	return 0;
}
