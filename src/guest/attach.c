// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach: lease the VF, set and verify its identity and policy, then plug it in. libvirt runs no
 * hook for hot plug, so all of this is done here first.
 */
#include <errno.h>

#include "base/buf.h"
#include "base/change.h"
#include "base/json.h"
#include "change/recover.h"
#include "domain/definition.h"
#include "guest/attach.h"
#include "lease/clean.h"
#include "lease/lease_text.h"
#include "lease/ops.h"

/* ---- the device, on a free root port ---- */

/*
 * If the guest sees the node of other devices, it should see the node of this one too. A guest with
 * one node, or without nodes for its devices, loses nothing.
 */
static void warn_port(struct vfctl_ctx *ctx, const struct attach *a,
	const struct vfctl_parsed_domain *parsed, const struct vfctl_domain_port *port)
{
	bool tells = parsed->cell_count > 1;

	for (size_t i = 0; i < parsed->controller_count; i++)
		tells |= parsed->controllers[i].cell >= 0;
	if (!tells || port->locality == VFCTL_LOCALITY_LOCAL)
		return;
	if (port->locality == VFCTL_LOCALITY_WRONG)
		log_warn(ctx, "domain %s will see the VF on the wrong NUMA node %d: no other root port "
			"is free (xml.expander_ports in its guest.yaml)",
			attach_name(a), port->cell);
	else
		log_warn(ctx, "domain %s will not see the NUMA node of the VF: no root port of that "
			"node is free (xml.expander_ports in its guest.yaml)", attach_name(a));
}

/* Find a free root port of the domain. */
static int find_port(struct vfctl_ctx *ctx, const struct attach *a, const char *xml,
	uint8_t *ret_bus)
{
	_cleanup_(vfctl_parsed_domain_freep) struct vfctl_parsed_domain *parsed = NULL;
	int r = vfctl_domain_read(ctx, xml, &parsed);
	struct vfctl_domain_port port;

	if (r < 0)
		return r;
	if (vfctl_domain_find_port(parsed, a->node, &port) < 0)
		return ctx_fail(ctx, -ENOSPC, "domain %s has no free PCIe root port; add some "
			"(spare_ports in its guest.yaml, or <controller type='pci' "
			"model='pcie-root-port'/>) and restart it", attach_name(a));
	warn_port(ctx, a, parsed, &port);
	*ret_bus = port.bus;
	return 0;
}

/* The definition with the VF. A VF that is adopted is already among its devices. */
static int make_definition(struct vfctl_ctx *ctx, struct attach *a)
{
	_free_ char *known = NULL, *base = a->config_xml ? a->config_xml : strdup(a->config.xml);
	uint8_t bus = 0;
	int r = base ? vfctl_domain_metadata_add_vf(ctx, base, a->lease_id, &a->vf, &known)
		     : ctx_oom(ctx);

	a->config_xml = NULL;
	if (r < 0 || a->adopt) {
		a->config_xml = steal(known);
		return r;
	}
	r = find_port(ctx, a, base, &bus);
	return r < 0 ? r : vfctl_domain_add_device(ctx, known, &a->vf, bus, &a->config_xml);
}

static int make_devices(struct vfctl_ctx *ctx, struct attach *a)
{
	uint8_t bus;
	int r = 0;

	if (a->affect & VFCTL_AFFECT_LIVE) {
		_free_ char *base = NULL;

		r = find_port(ctx, a, a->live.xml, &bus);
		if (r == 0)
			r = vfctl_domain_device_xml(ctx, &a->vf, bus, a->hv->version,
				&a->live_device);
		/* The next VF finds another port. */
		base = steal(a->live.xml);
		if (r == 0)
			r = vfctl_domain_add_device(ctx, base, &a->vf, bus, &a->live.xml);
		if (r < 0)
			a->live.xml = steal(base);
	}
	return r == 0 && a->affect & VFCTL_AFFECT_CONFIG ? make_definition(ctx, a) : r;
}

/* ---- steps of attach ---- */

/*
 * Another program may have written this <interface>: the message shows the values that are leased.
 */
static void put_text(const struct vfctl_vf_attrs *attrs, struct buf *message)
{
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	while (vfctl_vf_attrs_next(attrs, &i, &key, value))
		buf_printf(message, "%s%s=%s", message->len ? " " : "", key, value);
}

/*
 * The first VF of the domain, plugged in live, gets its policy here. That is as good as a start
 * with the hook: all resources of the domain are covered.
 */
static bool is_run(const struct attach *a)
{
	return (a->new_lease || a->first_vf) && a->affect & VFCTL_AFFECT_LIVE;
}

/* A lease for only this VF, or the VF in the present lease. */
static int add_lease_op(struct vfctl_ctx *ctx, const struct attach *a, struct steps *steps)
{
	struct vfctl_lease lease = {.domain_name = (char *)attach_name(a), .running = is_run(a),
		.vfs = (struct vfctl_lease_vf *)&a->lease_vf, .vf_count = 1,
		.transient = !(a->affect & VFCTL_AFFECT_CONFIG)};
	_free_ char *json = a->left_over ? json_of_attrs(&a->left_over->intent) : NULL;
	_free_ char *before = json ? str_format("%s %s", a->lease_id, json) : strdup("");
	_free_ char *want = NULL;

	str_copy(lease.id, sizeof(lease.id), a->lease_id);
	want = a->new_lease ? lease_to_text(&lease)
			    : lease_vf_to_text(a->lease_id, &a->lease_vf, is_run(a));
	if (!want || !before || (a->left_over && !json))
		return ctx_oom(ctx);
	if (a->new_lease)
		step_op(steps, &op_lease, want, "", "%s", attach_uuid(a));
	else
		step_op(steps, &op_lease_vf, want, before, "%s/%s", attach_uuid(a),
			TEXT(&a->vf.bdf));
	return 0;
}

/*
 * The definition comes first: it can be restored; the removal of a device from a running guest is
 * only a request.
 */
static int add_plug_step(struct vfctl_ctx *ctx, const struct attach *a,
	const struct vfctl_bdf *bdf, const char *device, struct steps *steps)
{
	_free_ char *want = str_format("plugged\n%s", device);
	const char *vf = TEXT(bdf);

	if (!want)
		return ctx_oom(ctx);
	step_begin(steps, "plug VF %s into the running domain %s", vf, attach_name(a));
	step_op(steps, &op_plugged, want, "", "%s/%s", attach_uuid(a), vf);
	return 0;
}

/* Steps that lease it and set its policy. */
static int add_vf_steps(struct vfctl_ctx *ctx, struct attach *a, struct steps *steps)
{
	const char *vf = TEXT(&a->vf.bdf), *name = attach_name(a);
	_buf_ struct buf message = {0};
	int r;

	put_text(&a->vf.attrs, &message);
	step_begin(steps, "lease VF %s to domain %s%s%s", vf, name,
		a->adopt ? " with " : "", a->adopt && message.data ? message.data : "");
	r = add_lease_op(ctx, a, steps);
	if (r == 0 && a->affect & VFCTL_AFFECT_LIVE) {
		step_begin(steps, "set identity and policy of VF %s and read them back", vf);
		step_op(steps, &op_policy, "set", "", "%s/%s", attach_uuid(a), vf);
	}
	a->new_lease = a->first_vf = false;
	return r;
}

static int add_definition_step(struct vfctl_ctx *ctx, const struct attach *a, struct steps *steps)
{
	_buf_ struct buf vfs = {0};

	for (size_t i = 0; i < a->chosen_count; i++)
		buf_printf(&vfs, "%s%s", i ? ", " : a->chosen_count > 1 ? "s " : " ", TEXT(&a->chosen[i]));
	step_begin(steps, a->adopt
		? "record the leased values of VF%s, which the domain already has, in the definition of "
			"domain %s"
		: "add VF%s to the definition of domain %s", vfs.data ? vfs.data : "", attach_name(a));
	return attach_add_definition_op(ctx, a, steps);
}

/* Plan the VFs one after the other, because each choice depends on those before. */
static int add_attach_steps(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o, bool dry_run, struct vfctl_change *change)
{
	_strv_ char **devices = calloc(a->missing + 1, sizeof(*devices));
	struct steps *steps = &change->steps;
	size_t before;
	int r = devices ? 0 : ctx_oom(ctx);

	for (size_t i = 0; i < a->missing && r == 0; i++) {
		r = attach_choose_vf(ctx, a, o, dry_run);
		if (r == 0 && !a->adopt)
			r = clean_add_steps(ctx, a->snapshot, o->spec, &a->vf, 1, steps);
		if (r == 0)
			r = make_devices(ctx, a);
		if (r == 0)
			r = add_vf_steps(ctx, a, steps);
		devices[i] = steal(a->live_device);
	}
	before = steps->count;
	if (r == 0)
		r = identities_add_step(ctx, &a->identities, change);
	if (r == 0 && steps->count > before)
		steps_put(steps, 0);
	if (r == 0 && a->affect & VFCTL_AFFECT_CONFIG)
		r = add_definition_step(ctx, a, steps);
	for (size_t i = 0; r == 0 && i < a->missing && devices[i]; i++)
		r = add_plug_step(ctx, a, &a->chosen[i], devices[i], steps);
	return r;
}

int vfctl_attach_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_attach_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(attach_clear) struct attach a = {.hv = hypervisor};
	int r = vfctl_vf_attrs_check(ctx, &options->attrs);

	if (r == 0)
		r = attach_open(ctx, hypervisor, domain, options->vf ? options->vf : options->pf,
			options->affect, dry_run, &a, &change);
	if (r == 0)
		r = attach_name_lease(ctx, &a);
	if (r == 0)
		r = attach_check_lost(ctx, &a);
	if (r == 0)
		r = known_domains_ask(ctx, hypervisor, &a.domains);
	if (r == 0)
		r = attach_count_missing(ctx, &a, options);
	if (r == 0)
		r = add_attach_steps(ctx, &a, options, dry_run, change);
	return guest_change_planned(ctx, &change, r, ret_change, hypervisor, "attach %s", domain);
}
