// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach: lease, identity and policy set and read back, then libvirt; hot plug runs no
 * hook, so all of it happens here first.
 */
#include <errno.h>

#include "base/buf.h"
#include "workflow/attach.h"
#include "workflow/policy.h"
#include "workflow/snapshot.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

/* ---- the device element, on a root port that is free ---- */

/*
 * A guest that was told where other devices are should be told of this one too; one that
 * knows of no node, and has one only, loses nothing.
 */
static void warn_port(struct vfctl_ctx *ctx, const struct attach *a,
	const struct vfctl_domain_view *view, const struct vfctl_domain_port *port)
{
	bool tells = view->cell_count > 1;

	for (size_t i = 0; i < view->controller_count; i++)
		tells |= view->controllers[i].cell >= 0;
	if (!tells || port->locality == VFCTL_LOCALITY_LOCAL)
		return;
	if (port->locality == VFCTL_LOCALITY_WRONG)
		log_warn(ctx, "domain %s will see the VF on its NUMA node %d, where it is not: "
			"no other root port is free (xml.expander_ports in its guest.yaml)",
			attach_name(a), port->cell);
	else
		log_warn(ctx, "domain %s will not see on which NUMA node the VF is: no root port "
			"of that node is free (xml.expander_ports in its guest.yaml)", attach_name(a));
}

static int make_device(struct vfctl_ctx *ctx, struct attach *a, const char *xml,
	char **ret_device)
{
	_view_ struct vfctl_domain_view *view = NULL;
	int r = vfctl_domain_read(ctx, xml, &view);
	struct vfctl_domain_port port;

	if (r < 0)
		return r;
	if (vfctl_domain_find_port(view, a->node, &port) < 0)
		return ctx_fail(ctx, -ENOSPC, "domain %s has no free PCIe root port; give it some "
			"(spare_ports in its guest.yaml, or <controller type='pci' "
			"model='pcie-root-port'/>) and restart it", attach_name(a));
	warn_port(ctx, a, view, &port);
	return vfctl_domain_device_xml(ctx, &a->vf, port.bus, a->hv->version, ret_device);
}

static int make_devices(struct vfctl_ctx *ctx, struct attach *a)
{
	int r = 0;

	if (a->affect & VFCTL_AFFECT_LIVE)
		r = make_device(ctx, a, a->live.xml, &a->live_device);
	if (r == 0 && a->affect & VFCTL_AFFECT_CONFIG && !a->adopt)
		r = make_device(ctx, a, a->config.xml, &a->config_device);
	if (r == 0 && a->affect & VFCTL_AFFECT_CONFIG)
		r = vfctl_domain_metadata_add_vf(ctx, a->config.xml, a->lease_id, &a->vf,
			&a->config_xml);
	return r;
}

/* ---- steps of attach ---- */

static int take_new(struct vfctl_ctx *ctx, struct attach *a, struct store *store)
{
	struct vfctl_lease lease = {.domain_name = (char *)attach_name(a), .node = VFCTL_NODE_NONE,
		.vfs = &a->lease_vf, .vf_count = 1, .running = a->affect & VFCTL_AFFECT_LIVE,
		.transient = !(a->affect & VFCTL_AFFECT_CONFIG)};

	/* Plugged in live it has its policy from here: that is as good as the hook's. */
	if (lease.running)
		boot_id_read(ctx, lease.boot_id);
	str_copy(lease.id, sizeof(lease.id), a->lease_id);
	str_copy(lease.domain_uuid, sizeof(lease.domain_uuid), attach_uuid(a));
	return store_take(store, &lease);
}

static int apply_lease(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;
	_store_ struct store *store = NULL;
	char boot[VFCTL_UUID_TEXT];
	int r = store_open(ctx, STORE_WRITE, &store);

	if (r == 0 && a->left_over)
		return store_set_intent(store, &a->lease_vf.bdf, &a->lease_vf.intent);
	if (r == 0)
		r = a->new_lease ? take_new(ctx, a, store)
				 : store_add_vf(store, a->lease_id, &a->lease_vf);
	a->taken = r == 0;
	/* Its first VF, and that has its policy from here: nothing it holds is unguarded. */
	if (r == 0 && a->first_vf && a->affect & VFCTL_AFFECT_LIVE) {
		boot_id_read(ctx, boot);
		r = store_begin_run(store, a->lease_id, attach_name(a), boot);
	}
	return r;
}

static int undo_lease(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;
	_store_ struct store *store = NULL;
	int r;

	if (!a->left_over)
		return a->taken ? attach_give_up_lease(ctx, a) : 0;
	r = store_open(ctx, STORE_WRITE, &store);
	return r < 0 ? r : store_set_intent(store, &a->lease_vf.bdf, &a->left_over->intent);
}

static int apply_policy(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;
	_store_ struct store *store = NULL;
	_pf_locks_ struct pf_locks locks = {.count = 0};
	int r = attach_lock_pf(ctx, a, &locks);

	if (r == 0)
		r = store_open(ctx, STORE_WRITE, &store);
	if (r == 0)
		r = policy_apply(ctx, store, &a->vf, 1);
	a->applied = r == 0 || r == -ESTALE;
	return r;
}

static int undo_policy(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;
	_pf_locks_ struct pf_locks locks = {.count = 0};
	int r = a->applied ? attach_lock_pf(ctx, a, &locks) : 0;

	return r == 0 && a->applied ? attach_restore_policy(ctx, a) : r;
}

/* Definition first: it can be put back, a device in a running guest only asked for. */
static int apply_config(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;
	int r = a->hv->define(ctx, a->hv, a->config_xml);

	if (r == 0 && !a->adopt)
		r = a->hv->attach(ctx, a->hv, attach_uuid(a), a->config_device, VFCTL_AFFECT_CONFIG);
	return r;
}

static int apply_live(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;

	return a->hv->attach(ctx, a->hv, attach_uuid(a), a->live_device, VFCTL_AFFECT_LIVE);
}

/* What its <interface> says somebody else wrote: whoever leases it sees what that is. */
static void put_words(const struct vfctl_vf_attrs *attrs, struct buf *words)
{
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	while (vfctl_vf_attrs_next(attrs, &i, &key, value))
		buf_printf(words, "%s%s=%s", words->len ? " " : "", key, value);
}

static void add_attach_steps(struct attach *a, struct steps *steps)
{
	struct step lease = {.apply = apply_lease, .undo = undo_lease, .data = a};
	struct step policy = {.apply = apply_policy, .undo = undo_policy, .data = a};
	struct step config = {.apply = apply_config, .undo = attach_undo_config, .data = a};
	struct step live = {.apply = apply_live, .data = a};
	const char *vf = TEXT(&a->vf.bdf), *name = attach_name(a);
	_buf_ struct buf words = {0};

	identities_add_step(&a->identities, steps);
	put_words(&a->vf.attrs, &words);
	steps_add(steps, &lease, "lease VF %s to domain %s%s%s", vf, name,
		a->adopt ? " with " : "", a->adopt && words.data ? words.data : "");
	if (a->affect & VFCTL_AFFECT_LIVE)
		steps_add(steps, &policy, "set identity and policy of VF %s and read them back", vf);
	if (a->affect & VFCTL_AFFECT_CONFIG)
		steps_add(steps, &config, a->adopt
			? "note what VF %s, which it has, is leased with in the definition of domain %s"
			: "add VF %s to the definition of domain %s", vf, name);
	if (a->affect & VFCTL_AFFECT_LIVE)
		steps_add(steps, &live, "plug VF %s into the running domain %s", vf, name);
}

int vfctl_attach_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_attach_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct attach *a;
	int r = vfctl_vf_attrs_check(ctx, &options->attrs);

	if (r == 0)
		r = attach_open(ctx, hypervisor, domain, options->affect, dry_run, &change, &a);
	if (r == 0)
		r = attach_name_lease(ctx, a);
	if (r == 0)
		r = known_domains_ask(ctx, hypervisor, &a->domains);
	if (r == 0)
		r = attach_choose_vf(ctx, a, options, dry_run);
	if (r == 0)
		r = make_devices(ctx, a);
	if (r < 0)
		return r;
	add_attach_steps(a, &change->steps);
	change->ids_changed = a->identities.count > 0;
	*ret_change = steal(change);
	return 0;
}
