// SPDX-License-Identifier: GPL-2.0-or-later
/* detach: out of the definition and the running domain; then the VF is returned. */
#include <errno.h>

#include "base/owner.h"
#include "change/recover.h"
#include "guest/attach.h"
#include "lease/ops.h"

#define DETACH_TIMEOUT_MS 30000

static const struct vfctl_domain_device *find_device(const struct vfctl_domain_view *view,
	const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; view && i < view->device_count; i++)
		if (vfctl_bdf_compare(&view->devices[i].source, bdf) == 0)
			return &view->devices[i];
	return NULL;
}

/* As libvirt finds it in the running domain; NULL: it is not there. */
static int device_to_unplug(struct vfctl_ctx *ctx, struct attach *a, char **ret_device)
{
	_view_ struct vfctl_domain_view *view = NULL;
	const struct vfctl_domain_device *device;
	struct vfctl_domain_vf vf = {.bdf = a->lease_vf.bdf, .pf = a->lease_vf.pf};
	int r = vfctl_domain_read(ctx, a->live.xml, &view);

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
		return found ? ctx_mistake(ctx, -EINVAL, "domain %s has more than one VF; name one: "
			"--vf PF/INDEX", attach_name(a))
			     : ctx_fail(ctx, -EALREADY, "domain %s has no VF", attach_name(a));
	a->lease_vf = (struct vfctl_lease_vf){.bdf = vf->bdf, .pf = pf->bdf, .index = vf->index};
	return 0;
}

static bool holds_lease(const struct attach *a)
{
	const struct vfctl_lease *lease = vfctl_leases_find_vf(a->snapshot->leases,
		&a->lease_vf.bdf);

	return lease && str_eq(lease->domain_uuid, attach_uuid(a));
}

/*
 * The definition without the device, and without the intent, so that the hook does not miss it at
 * the next start. Either may be gone already; @ret_device: it was there.
 */
static int make_definition(struct vfctl_ctx *ctx, struct attach *a, bool *ret_device)
{
	_free_ char *without = NULL;
	int r = vfctl_domain_remove_device(ctx, a->config.xml, &a->lease_vf.bdf, &without);
	const char *xml = r == 0 ? without : a->config.xml;

	*ret_device = r == 0;
	if (r < 0 && r != -ENOENT)
		return r;
	ctx_clear(ctx);
	r = vfctl_domain_metadata_remove_vf(ctx, xml, &a->lease_vf.bdf, &a->config_xml);
	if (r != -ENOENT)
		return r;
	ctx_clear(ctx);
	a->config_xml = steal(without);
	return 0;
}

/* What stays where it was not asked to go is still used. */
static int make_removals(struct vfctl_ctx *ctx, struct attach *a)
{
	bool defined = false;
	int r = 0;

	if (a->live.name)
		r = device_to_unplug(ctx, a, &a->live_device);
	if (r == 0 && a->config.name)
		r = make_definition(ctx, a, &defined);
	if (r < 0)
		return r;
	a->still_used = (a->live_device && !(a->affect & VFCTL_AFFECT_LIVE)) ||
		(defined && !(a->affect & VFCTL_AFFECT_CONFIG));
	if (!(a->affect & VFCTL_AFFECT_LIVE))
		free(steal(a->live_device));
	if (!(a->affect & VFCTL_AFFECT_CONFIG))
		free(steal(a->config_xml));
	/* Or the guest let go after an earlier detach gave up waiting. */
	if (a->live_device || a->config_xml || (!a->still_used && holds_lease(a)))
		return 0;
	return ctx_fail(ctx, -EALREADY, "%sdomain %s does not have VF %s", !a->still_used ? ""
		: a->affect & VFCTL_AFFECT_LIVE ? "the running " : "the definition of ",
		attach_name(a), TEXT(&a->lease_vf.bdf));
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

/* What another of its VFs is leased with stays the domain's, whoever wrote it into the metadata. */
static void leave_others(const struct attach *a, struct vfctl_vf_attrs *io)
{
	const struct vfctl_lease *lease = vfctl_leases_find_uuid(a->snapshot->leases, attach_uuid(a));

	for (size_t i = 0; lease && i < lease->vf_count; i++) {
		const struct vfctl_lease_vf *vf = &lease->vfs[i];

		if (vfctl_bdf_compare(&vf->bdf, &a->lease_vf.bdf) == 0)
			continue;
		if (io->mask & VFCTL_ATTR_MAC && attrs_carry(&vf->intent, VFCTL_ID_MAC,
			mac_number(&io->mac)))
			io->mask &= ~(uint32_t)VFCTL_ATTR_MAC;
		if (io->mask & VFCTL_ATTR_PORT_GUID && attrs_carry(&vf->intent, VFCTL_ID_GUID,
			io->port_guid))
			io->mask &= ~(uint32_t)VFCTL_ATTR_GUIDS;
	}
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
	leave_others(a, &carried);
	return r < 0 ? r : identities_of_domain(ctx, ids, attach_uuid(a), &carried, &a->identities);
}

static int add_unplug_step(struct vfctl_ctx *ctx, const struct attach *a, struct steps *steps)
{
	_free_ char *before = str_format("plugged %u\n%s", a->timeout_ms, a->live_device);
	const char *vf = TEXT(&a->lease_vf.bdf);

	if (!before)
		return ctx_oom(ctx);
	step_begin(steps, "unplug VF %s from the running domain %s, and wait until the guest let go",
		vf, attach_name(a));
	step_op(steps, &op_plugged, "", before, "%s/%s", attach_uuid(a), vf);
	return 0;
}

static int add_return_step(struct vfctl_ctx *ctx, const struct attach *a, struct steps *steps)
{
	const struct vfctl_lease *l = vfctl_leases_find_uuid(a->snapshot->leases, attach_uuid(a));
	_free_ char *before = str_format("%s%s", l->id, l->running ? "" : OP_OFF);
	const char *vf = TEXT(&a->lease_vf.bdf);

	if (!before)
		return ctx_oom(ctx);
	step_begin(steps, "return VF %s to what it was and end its lease", vf);
	step_op(steps, &op_unlease_vf, "", before, "%s/%s", attach_uuid(a), vf);
	return 0;
}

static int add_detach_steps(struct vfctl_ctx *ctx, struct attach *a, struct vfctl_change *change)
{
	struct steps *steps = &change->steps;
	int r = 0;

	if (a->config_xml) {
		step_begin(steps, "take VF %s out of the definition of domain %s",
			TEXT(&a->lease_vf.bdf), attach_name(a));
		r = attach_add_definition_op(ctx, a, steps);
	}
	if (r == 0 && a->live_device)
		r = add_unplug_step(ctx, a, steps);
	if (r == 0 && holds_lease(a) && !a->still_used)
		r = add_return_step(ctx, a, steps);
	return r < 0 ? r : identities_add_return_step(ctx, &a->identities, change);
}

int vfctl_detach_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_detach_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	_attach_ struct attach a = {.hv = hypervisor,
		.timeout_ms = options->timeout_ms ? options->timeout_ms : DETACH_TIMEOUT_MS};
	int r = attach_open(ctx, hypervisor, domain, options->affect, dry_run, &a, &change);

	if (r == 0)
		r = attach_name_lease(ctx, &a);
	if (r == 0)
		r = find_vf(ctx, &a, options->vf);
	if (r == 0)
		r = make_removals(ctx, &a);
	if (r == 0 && !a.still_used)
		r = find_identities(ctx, &a, options->ids);
	if (r == 0)
		r = add_detach_steps(ctx, &a, change);
	if (r == 0)
		r = guest_journal(ctx, change, hypervisor, "detach %s", domain);
	r = change_planned(ctx, change, r);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
