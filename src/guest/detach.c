// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * detach: remove the VF from the definition and the running domain, then restore it and end its
 * lease.
 */
#include <errno.h>

#include "base/buf.h"
#include "base/change.h"
#include "base/parse.h"
#include "change/recover.h"
#include "domain/definition.h"
#include "guest/attach.h"
#include "guest/suggest.h"
#include "ids/owner.h"
#include "lease/ops.h"
#include "sriov/inventory.h"
#include "types/find.h"

#define DETACH_TIMEOUT_MS 30000

/* The device in the form in which libvirt finds it in the running domain; NULL: it is not there. */
static int device_to_unplug(struct vfctl_ctx *ctx, struct attach *a, char **ret_device)
{
	_cleanup_(vfctl_parsed_domain_freep) struct vfctl_parsed_domain *parsed = NULL;
	const struct vfctl_domain_device *device;
	int r = vfctl_domain_read(ctx, a->live.xml, &parsed);

	if (r < 0)
		return r;
	device = find_domain_device(parsed, &a->lease_vf.bdf);
	return device ? vfctl_domain_unplug_xml(ctx, device, ret_device) : 0;
}

/* ---- the VF ---- */

/*
 * The VFs that the domain has or had. A VF that was removed with its PF is still in its lease and
 * metadata.
 */
struct known_vfs {
	struct vfctl_lease_vf *v;
	size_t count;
};

static void known_vfs_clear(struct known_vfs *known)
{
	free(known->v);
}

static int add_known(struct vfctl_ctx *ctx, struct known_vfs *known, const struct vfctl_bdf *bdf,
	const struct vfctl_bdf *pf, uint32_t index)
{
	for (size_t i = 0; i < known->count; i++)
		if (vfctl_bdf_compare(&known->v[i].bdf, bdf) == 0)
			return 0;
	if (!array_grow(known->v, known->count))
		return ctx_oom(ctx);
	known->v[known->count++] = (struct vfctl_lease_vf){.bdf = *bdf, .pf = *pf, .index = index};
	return 0;
}

static int add_leased(struct vfctl_ctx *ctx, const struct attach *a, struct known_vfs *known)
{
	const struct vfctl_lease *l = vfctl_leases_find_uuid(a->snapshot->leases, attach_uuid(a));
	int r = 0;

	for (size_t i = 0; r == 0 && l && i < l->vf_count; i++)
		r = add_known(ctx, known, &l->vfs[i].bdf, &l->vfs[i].pf, l->vfs[i].index);
	return r;
}

static int add_noted(struct vfctl_ctx *ctx, const char *xml, struct known_vfs *known)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	int r = intent ? 0 : ctx_oom(ctx);

	if (r == 0 && xml)
		r = vfctl_domain_metadata_read(ctx, xml, strlen(xml), intent);
	if (r < 0)
		return ctx_ignore_error(ctx, r, -ENOENT);
	for (size_t i = 0; r == 0 && i < intent->vf_count; i++)
		r = add_known(ctx, known, &intent->vfs[i].bdf, &intent->vfs[i].pf,
			intent->vfs[i].index);
	return r;
}

/* Add those devices that are VFs of this host. */
static int add_devices(struct vfctl_ctx *ctx, const struct attach *a,
	const struct vfctl_parsed_domain *parsed, struct known_vfs *known)
{
	int r = 0;

	for (size_t i = 0; r == 0 && parsed && i < parsed->device_count; i++) {
		const struct vfctl_pf *pf;
		const struct vfctl_vf *vf = vfctl_inventory_vf_at(a->snapshot->inventory,
			&parsed->devices[i].source, &pf);

		if (vf)
			r = add_known(ctx, known, &vf->bdf, &pf->bdf, vf->index);
	}
	return r;
}

/*
 * Whether the VF is named by "PF/INDEX" or an address. If the PF is absent, only its address can
 * name it.
 */
static bool is_called(struct vfctl_ctx *ctx, const struct attach *a,
	const struct vfctl_lease_vf *vf, const char *name)
{
	const char *slash = strchr(name, '/');
	_free_ char *pf_name = slash ? strndup(name, (size_t)(slash - name)) : NULL;
	const struct vfctl_pf *pf;
	struct vfctl_bdf bdf;
	uint32_t index;

	if (!slash)
		return vfctl_bdf_parse(name, &bdf) == 0 && vfctl_bdf_compare(&bdf, &vf->bdf) == 0;
	if (!pf_name || parse_u32(slash + 1, 0, UINT16_MAX, &index) < 0 || index != vf->index)
		return false;
	if (vfctl_bdf_parse(pf_name, &bdf) == 0)
		return vfctl_bdf_compare(&bdf, &vf->pf) == 0;
	return vfctl_inventory_find_pf(ctx, a->snapshot->inventory, pf_name, &pf) == 0 &&
		vfctl_bdf_compare(&pf->bdf, &vf->pf) == 0;
}

/*
 * Neither the domain nor the host has it, as the message reports. An absent VF is named by its
 * address.
 */
static int fail_unknown(struct vfctl_ctx *ctx, const struct attach *a,
	const struct known_vfs *known, const char *name)
{
	_buf_ struct buf gone = {0};
	struct vfctl_bdf bdf;

	if (vfctl_bdf_parse(name, &bdf) == 0) {
		ctx_clear(ctx);
		return ctx_fail(ctx, -EALREADY, "domain %s does not have %s", attach_name(a), name);
	}
	for (size_t i = 0; i < known->count; i++)
		if (!vfctl_inventory_vf_at(a->snapshot->inventory, &known->v[i].bdf, NULL))
			buf_printf(&gone, "%s%s", gone.len ? ", " : "", TEXT(&known->v[i].bdf));
	return !gone.len ? -ENOENT : ctx_append(ctx, -ENOENT, "; these VFs of domain %s no longer "
		"exist: %s", attach_name(a), gone.data);
}

/* Search the domain first: its VF may have another address now, or none. */
static int find_named(struct vfctl_ctx *ctx, struct attach *a, const struct known_vfs *known,
	const char *name)
{
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	int r;

	for (size_t i = 0; i < known->count; i++)
		if (is_called(ctx, a, &known->v[i], name)) {
			ctx_clear(ctx);
			a->lease_vf = known->v[i];
			return 0;
		}
	r = vfctl_inventory_find_vf(ctx, a->snapshot->inventory, name, &pf, &vf);
	if (r < 0)
		return r == -ENOENT ? fail_unknown(ctx, a, known, name) : r;
	a->lease_vf = (struct vfctl_lease_vf){.bdf = vf->bdf, .pf = pf->bdf, .index = vf->index};
	return 0;
}

/*
 * Whether it may be the one: it is a device in a part from which it is to be removed, or in no part
 * any more.
 */
static bool may_be_meant(const struct attach *a, const struct vfctl_parsed_domain *live,
	const struct vfctl_parsed_domain *config, const struct vfctl_bdf *vf)
{
	bool is_live = find_domain_device(live, vf), is_defined = find_domain_device(config, vf);

	return (is_live && a->affect & VFCTL_AFFECT_LIVE) ||
		(is_defined && a->affect & VFCTL_AFFECT_CONFIG) || (!is_live && !is_defined);
}

static int find_only(struct vfctl_ctx *ctx, struct attach *a, const struct known_vfs *known,
	const struct vfctl_parsed_domain *live, const struct vfctl_parsed_domain *config)
{
	_buf_ struct buf names = {0};
	size_t found = 0;

	for (size_t i = 0; i < known->count; i++)
		if (may_be_meant(a, live, config, &known->v[i].bdf)) {
			buf_printf(&names, "%s%s", found++ ? ", " : "", TEXT(&known->v[i].bdf));
			a->lease_vf = known->v[i];
		}
	if (names.failed)
		return ctx_oom(ctx);
	if (!found)
		return ctx_fail(ctx, -EALREADY, "domain %s has no VF", attach_name(a));
	return found == 1 ? 0 : ctx_usage_error(ctx, -EINVAL, "domain %s has more than one VF (%s); name "
		"one: --vf PF/INDEX or its address", attach_name(a), names.data);
}

/* Find the named VF, or the only one of the domain. */
static int find_vf(struct vfctl_ctx *ctx, struct attach *a, const char *name)
{
	_cleanup_(vfctl_parsed_domain_freep) struct vfctl_parsed_domain *live = NULL, *config = NULL;
	_cleanup_(known_vfs_clear) struct known_vfs known = {0};
	int r = add_leased(ctx, a, &known);

	if (r == 0)
		r = add_noted(ctx, a->config.xml, &known);
	if (r == 0)
		r = add_noted(ctx, a->live.xml, &known);
	if (r == 0 && name)
		return find_named(ctx, a, &known, name);
	if (r == 0 && a->live.xml)
		r = vfctl_domain_read(ctx, a->live.xml, &live);
	if (r == 0 && a->config.xml)
		r = vfctl_domain_read(ctx, a->config.xml, &config);
	if (r == 0)
		r = add_devices(ctx, a, live, &known);
	if (r == 0)
		r = add_devices(ctx, a, config, &known);
	return r < 0 ? r : find_only(ctx, a, &known, live, config);
}

/* ---- what is removed ---- */

static bool holds_lease(const struct attach *a)
{
	const struct vfctl_lease *lease = vfctl_leases_find_vf(a->snapshot->leases,
		&a->lease_vf.bdf);

	return lease && str_eq(lease->domain_uuid, attach_uuid(a));
}

/*
 * The definition without the device and its intent, so that the hook does not miss it at the next
 * start. Either may already be absent; @ret_device: the device was present.
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

/* A VF that stays in the part that was not requested is still used. */
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
	/* An earlier detach may have stopped waiting before the guest released the device. */
	if (a->live_device || a->config_xml || (!a->still_used && holds_lease(a)))
		return 0;
	return ctx_fail(ctx, -EALREADY, "%sdomain %s does not have VF %s", !a->still_used ? ""
		: a->affect & VFCTL_AFFECT_LIVE ? "the running " : "the definition of ",
		attach_name(a), TEXT(&a->lease_vf.bdf));
}

/* The values of the VF according to the domain's metadata. */
static int read_carried(struct vfctl_ctx *ctx, const char *xml, const struct vfctl_bdf *bdf,
	struct vfctl_vf_attrs *ret)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	const struct vfctl_domain_vf *vf;
	int r = -ENOENT;

	if (!intent)
		return ctx_oom(ctx);
	if (xml)
		r = vfctl_domain_metadata_read(ctx, xml, strlen(xml), intent);
	vf = r == 0 ? find_intent_vf(intent, bdf) : NULL;
	if (vf)
		*ret = vf->attrs;
	return ctx_ignore_error(ctx, r, -ENOENT);
}

/*
 * Values that are leased with another of its VFs stay with the domain, regardless of who wrote the
 * metadata.
 */
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

/*
 * A VF that was only plugged in live is not in the metadata, but its lease has the values that it
 * got.
 */
static int find_identities(struct vfctl_ctx *ctx, struct attach *a, struct vfctl_ids *ids)
{
	const struct vfctl_vf *vf = vfctl_inventory_vf_at(a->snapshot->inventory, &a->lease_vf.bdf, NULL);
	const struct vfctl_lease_vf *row = find_vf_in_leases(a->snapshot->leases, &a->lease_vf.bdf);
	struct vfctl_vf_attrs carried = {0};
	int r = read_carried(ctx, a->config.xml ? a->config.xml : a->live.xml, &a->lease_vf.bdf,
		&carried);

	if (r == 0 && !carried.mask && row)
		carried = row->intent;
	else if (r == 0 && !carried.mask && vf)
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
	step_begin(steps, "unplug VF %s from the running domain %s and wait until the guest releases it",
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
	step_begin(steps, "reset VF %s and end its lease", vf);
	step_op(steps, &op_unlease_vf, "", before, "%s/%s", attach_uuid(a), vf);
	return 0;
}

static int add_detach_steps(struct vfctl_ctx *ctx, struct attach *a, struct vfctl_change *change)
{
	struct steps *steps = &change->steps;
	int r = 0;

	if (a->config_xml) {
		step_begin(steps, "remove VF %s from the definition of domain %s",
			TEXT(&a->lease_vf.bdf), attach_name(a));
		r = attach_add_definition_op(ctx, a, steps);
	}
	if (r == 0 && a->live_device)
		r = add_unplug_step(ctx, a, steps);
	if (r == 0 && holds_lease(a) && !a->still_used)
		r = add_return_step(ctx, a, steps);
	return r < 0 ? r : identities_add_return_step(ctx, &a->identities, change);
}

/* libvirt has no domain of that name: if it left a lease, the VF is detached from that lease. */
static int open_left(struct vfctl_ctx *ctx, const char *domain, struct attach *a)
{
	const struct vfctl_lease *lease = vfctl_leases_find(a->snapshot->leases, domain);

	ctx_clear(ctx);
	if (!lease)
		return suggest_domain(ctx, a->hv, a->snapshot->leases, domain,
			ctx_fail(ctx, -EALREADY, "domain %s not found: libvirt does not have it, and it "
				"has no lease on this host", domain));
	if (lease->running)
		return ctx_fail(ctx, -EBUSY, "libvirt has no domain %s, but its lease is marked as "
			"running; end that first: vfctl release %s", domain, domain);
	a->left = lease;
	return 0;
}

int vfctl_detach_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_detach_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(attach_clear) struct attach a = {.hv = hypervisor,
		.timeout_ms = options->timeout_ms ? options->timeout_ms : DETACH_TIMEOUT_MS};
	int r = attach_open(ctx, hypervisor, domain, "", options->affect, dry_run, &a, &change);

	if (r == -ENOENT && a.snapshot)
		r = open_left(ctx, domain, &a);
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
	return guest_change_planned(ctx, &change, r, ret_change, hypervisor, "detach %s", domain);
}
