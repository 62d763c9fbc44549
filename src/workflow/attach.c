// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach: lease, identity and policy set and read back, then libvirt; hot plug runs no
 * hook, so all of it happens here first. detach: the reverse, after the guest let go.
 */
#include <errno.h>
#include <stdio.h>

#include "base/change.h"
#include "host/host.h"
#include "base/vfattr.h"
#include "sriov/holder.h"
#include "state/store.h"
#include "workflow/domains.h"
#include "workflow/guest.h"
#include "workflow/policy.h"
#include "workflow/snapshot.h"
#include "workflow/values.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define DETACH_TIMEOUT_MS 30000

struct attach {
	struct vfctl_hypervisor *hv;
	struct vfctl_snapshot *snapshot;
	struct vfctl_domain_info live;	 /* the running one, when it runs */
	struct vfctl_domain_info config; /* the defined one, when it is persistent */
	struct vfctl_domain_vf vf;
	struct identities identities;
	struct vfctl_lease_vf lease_vf;
	int node; /* of the VF, on the host */
	struct known_domains *domains; /* who has what, as libvirt says */
	const struct vfctl_lease_vf *left_over; /* leased to the domain already */
	char lease_id[65];
	bool new_lease, taken, applied;
	bool adopt; /* it is among the domain's devices already, without a lease */
	bool still_used; /* detach: the domain keeps it where it was not asked to let go */
	unsigned affect;
	unsigned timeout_ms;
	char *live_device, *config_device; /* XML */
	char *config_xml;		   /* the defined one as it shall be */
};

static void free_attach(void *data)
{
	struct attach *a = data;

	identities_clear(&a->identities);
	known_domains_free(a->domains);
	vfctl_snapshot_free(a->snapshot);
	vfctl_domain_info_clear(&a->live);
	vfctl_domain_info_clear(&a->config);
	free(a->live_device);
	free(a->config_device);
	free(a->config_xml);
	free(a);
}

static const char *name_of(const struct attach *a)
{
	return a->config.name ? a->config.name : a->live.name;
}

static const char *uuid_of(const struct attach *a)
{
	return a->config.name ? a->config.uuid : a->live.uuid;
}

static void view_freep(struct vfctl_domain_view **view)
{
	vfctl_domain_view_free(*view);
}
#define _view_ _cleanup_(view_freep)

/* ---- what is there ---- */

static int read_domain(struct vfctl_ctx *ctx, const char *name, struct attach *a)
{
	struct vfctl_domain_info info;
	int r = a->hv->get(ctx, a->hv, name, false, &info);

	if (r < 0)
		return r;
	if (info.active)
		a->live = info;
	else
		a->config = info;
	if (info.active && info.persistent)
		r = a->hv->get(ctx, a->hv, name, true, &a->config);
	return r;
}

/* What was asked, or what applies: the running domain, and its definition. */
static int decide_affect(struct vfctl_ctx *ctx, unsigned asked, struct attach *a)
{
	if (asked & VFCTL_AFFECT_LIVE && !a->live.name)
		return ctx_fail(ctx, -EINVAL, "domain %s is not running, so --live has nothing to "
			"work on", name_of(a));
	if (asked & VFCTL_AFFECT_CONFIG && !a->config.name)
		return ctx_fail(ctx, -EINVAL, "domain %s is transient: it has no configuration for "
			"--config", name_of(a));
	a->affect = asked;
	if (!asked)
		a->affect = (a->live.name ? VFCTL_AFFECT_LIVE : 0u) |
			(a->config.name ? VFCTL_AFFECT_CONFIG : 0u);
	return 0;
}

static int open_attach(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv, const char *domain,
	unsigned affect, bool dry_run, struct vfctl_change **ret_change, struct attach **ret)
{
	_change_ struct vfctl_change *change = NULL;
	struct attach *a = calloc(1, sizeof(*a));
	int r = change_new(ctx, a, free_attach, &change);

	if (r == 0 && !dry_run)
		r = host_lock(ctx, HOST_LOCK_PLACEMENT, false, &change->placement_fd);
	if (r < 0)
		return r;
	a->hv = hv;
	r = vfctl_snapshot_read(ctx, NULL, &a->snapshot);
	if (r == 0)
		r = snapshot_need_leases(ctx, a->snapshot);
	if (r == 0)
		r = read_domain(ctx, domain, a);
	if (r == 0)
		r = decide_affect(ctx, affect, a);
	if (r < 0)
		return r;
	*ret = a;
	*ret_change = steal(change);
	return 0;
}

/* ---- which VF ---- */

static const struct known_domain *find_holder(const struct attach *a,
	const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < a->domains->count; i++)
		if (known_domain_has(&a->domains->v[i], vf))
			return &a->domains->v[i];
	return NULL;
}

static int check_free(struct vfctl_ctx *ctx, struct attach *a, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf)
{
	const struct known_domain *holder = find_holder(a, &vf->bdf);
	char words[256], text[VFCTL_BDF_TEXT];

	if (pf->unread)
		return ctx_fail(ctx, -EIO, "nothing is changed: %s", pf->unread);
	if (vf_is_open(vf) || vf->lease.name[0] ||
		(vf->defined_in[0] && !str_eq(vf->defined_in, name_of(a))))
		return ctx_fail(ctx, -EBUSY, "%s/%u is %s", vfctl_pf_name(pf, text), vf->index,
			vf_describe_user(vf, words, sizeof(words)));
	if (holder && str_eq(holder->uuid, uuid_of(a)) && !a->live.name) {
		a->adopt = true;
		return 0;
	}
	if (holder)
		return ctx_fail(ctx, -EBUSY, "%s/%u is a device of domain %s",
			vfctl_pf_name(pf, text), vf->index, holder->name);
	return 0;
}

/*
 * Leased to this very domain, but in none of its devices: an attach was cut short there, or
 * somebody took the device out with libvirt. That VF is given, and no second one.
 */
static const struct vfctl_lease_vf *left_over(const struct attach *a, const struct vfctl_vf *vf)
{
	const struct vfctl_lease *lease = vfctl_leases_find(a->snapshot->leases, uuid_of(a));

	for (size_t i = 0; lease && i < lease->vf_count; i++)
		if (vfctl_bdf_compare(&lease->vfs[i].bdf, &vf->bdf) == 0 && !vf_is_open(vf) &&
			!find_holder(a, &vf->bdf) && !vf->defined_in[0])
			return &lease->vfs[i];
	return NULL;
}

/* The first VF of @pf that nobody holds. */
static int first_free(struct vfctl_ctx *ctx, struct attach *a, const struct vfctl_pf *pf,
	const struct vfctl_vf **ret)
{
	char text[VFCTL_BDF_TEXT];
	const char *name = vfctl_pf_name(pf, text);

	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (left_over(a, &pf->vfs[i])) {
			*ret = &pf->vfs[i];
			return 0;
		}
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		int r = check_free(ctx, a, pf, &pf->vfs[i]);

		if (a->adopt) { /* a VF more was asked for, not one that it has */
			a->adopt = false;
			continue;
		}
		if (r == 0) {
			*ret = &pf->vfs[i];
			return 0;
		}
		if (r != -EBUSY)
			return r;
	}
	if (!pf->num_vfs)
		return ctx_fail(ctx, -EBUSY, "%s has no VFs; make some with: vfctl create %s N",
			name, name);
	return ctx_fail(ctx, -EBUSY, "%s has no free VF: all %u are held (vfctl list %s says by "
		"whom)", name, pf->num_vfs, name);
}

static void warn_remote(struct vfctl_ctx *ctx, const struct attach *a, const char *xml,
	const struct vfctl_vf *vf)
{
	_view_ struct vfctl_domain_view *view = NULL;
	char nodes[64];

	if (vf->numa_node < 0 || vfctl_domain_read(ctx, xml, &view) < 0 ||
		vfctl_cpuset_empty(&view->memory_nodes) ||
		vfctl_cpuset_has(&view->memory_nodes, (unsigned)vf->numa_node))
		return;
	vfctl_cpuset_format(&view->memory_nodes, nodes, sizeof(nodes));
	log_warn(ctx, "the VF is on NUMA node %d, domain %s on %s: it will be slower than a "
		"local one", vf->numa_node, name_of(a), nodes);
}

static int give_identity(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, bool dry_run)
{
	char device[16];
	int r = 0;

	identities_open(ctx, &a->identities, o->ids, uuid_of(a), name_of(a), !dry_run);
	if (o->ids && !dry_run)
		r = identities_note_live(ctx, o->ids, a->snapshot->inventory,
			a->snapshot->leases);
	if (r == 0)
		r = identities_new_device(ctx, o->ids, uuid_of(a), device);
	if (r == 0)
		r = identities_give(ctx, &a->identities, &o->identity, pf, vf, device, &a->vf);
	return r;
}

static int check_values(struct vfctl_ctx *ctx, const struct attach *a)
{
	struct value_facts facts = {.leases = a->snapshot->leases};
	int r = live_from_inventory(ctx, a->snapshot->inventory, &facts.live);

	if (r == 0)
		r = values_check(ctx, &facts, uuid_of(a), &a->vf);
	live_values_clear(&facts.live);
	return r;
}

/* libvirt sets MAC and VLAN of an <interface>: what was not asked for is as that says. */
static int adopt_device(struct vfctl_ctx *ctx, const struct attach *a,
	const struct vfctl_vf *vf, struct vfctl_vf_attrs *io)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	const struct vfctl_intent_device *device;
	struct vfctl_vf_attrs own = {0};
	int r = intent ? vfctl_domain_intent_read(ctx, a->config.xml, strlen(a->config.xml), true,
		intent) : ctx_oom(ctx);

	device = r == 0 ? vfctl_domain_intent_device(intent, &vf->bdf) : NULL;
	if (!device || !device->interface)
		return r;
	own.mask = (device->has_mac ? VFCTL_ATTR_MAC : 0u) |
		(device->vlan && device->vlan <= VFCTL_VLAN_MAX ? VFCTL_ATTR_VLAN_ID : 0u);
	own.mac = device->mac;
	own.vlan = device->vlan;
	attrs_copy(io, &own, ~io->mask);
	return 0;
}

static int choose_vf(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o, bool dry_run)
{
	const struct vfctl_inventory *inv = a->snapshot->inventory;
	struct vfctl_vf_attrs attrs = o->attrs;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	int r;

	if (o->vf) {
		r = vfctl_inventory_find_vf(ctx, inv, o->vf, &pf, &vf);
		if (r == 0 && !left_over(a, vf))
			r = check_free(ctx, a, pf, vf);
	} else {
		r = vfctl_inventory_find_pf(ctx, inv, o->pf, &pf);
		if (r == 0)
			r = first_free(ctx, a, pf, &vf);
	}
	if (r == 0 && a->adopt)
		r = adopt_device(ctx, a, vf, &attrs);
	if (r < 0)
		return r;
	guest_complete_vf(pf, vf, &attrs, o->form, &a->vf);
	a->node = vf->numa_node;
	warn_remote(ctx, a, a->live.xml ? a->live.xml : a->config.xml, vf);
	a->left_over = left_over(a, vf);
	if (a->left_over) /* it has its identity already, unless it is given another */
		attrs_copy(&a->vf.attrs, &a->left_over->intent, ~a->vf.attrs.mask &
			(VFCTL_ATTR_MAC | VFCTL_ATTR_INFINIBAND));
	if (!a->left_over || !(a->vf.attrs.mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS)))
		r = give_identity(ctx, a, o, pf, vf, dry_run);
	if (r == 0)
		r = check_values(ctx, a);
	a->lease_vf = (struct vfctl_lease_vf){.bdf = vf->bdf, .pf = pf->bdf, .index = vf->index,
		.transient = !(a->affect & VFCTL_AFFECT_CONFIG), .has_intent = true,
		.intent = a->vf.attrs};
	return r;
}

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
			name_of(a), port->cell);
	else
		log_warn(ctx, "domain %s will not see on which NUMA node the VF is: no root port "
			"of that node is free (xml.expander_ports in its guest.yaml)", name_of(a));
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
			"model='pcie-root-port'/>) and restart it", name_of(a));
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
	struct vfctl_lease lease = {.domain_name = (char *)name_of(a), .node = VFCTL_NODE_NONE,
		.vfs = &a->lease_vf, .vf_count = 1, .running = a->affect & VFCTL_AFFECT_LIVE};

	/* Plugged in live it has its policy from here: that is as good as the hook's. */
	if (lease.running)
		boot_id_read(ctx, lease.boot_id);
	str_copy(lease.id, sizeof(lease.id), a->lease_id);
	str_copy(lease.domain_uuid, sizeof(lease.domain_uuid), uuid_of(a));
	return store_take(store, &lease);
}

static int apply_lease(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;
	_store_ struct store *store = NULL;
	int r = store_open(ctx, STORE_WRITE, &store);

	if (r == 0 && a->left_over)
		return store_set_intent(store, &a->lease_vf.bdf, &a->lease_vf.intent);
	if (r == 0)
		r = a->new_lease ? take_new(ctx, a, store)
				 : store_add_vf(store, a->lease_id, &a->lease_vf);
	a->taken = r == 0;
	return r;
}

static int give_up_lease(struct vfctl_ctx *ctx, struct attach *a)
{
	_store_ struct store *store = NULL;
	int r = store_open(ctx, STORE_WRITE, &store);

	if (r < 0)
		return r;
	if (a->new_lease)
		return store_drop(store, a->lease_id);
	return store_remove_vf(store, a->lease_id, &a->lease_vf.bdf);
}

static int undo_lease(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;

	return a->taken ? give_up_lease(ctx, a) : 0;
}

static int apply_policy(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;
	_store_ struct store *store = NULL;
	int r = store_open(ctx, STORE_WRITE, &store);

	if (r == 0)
		r = policy_apply(ctx, store, &a->vf, 1);
	a->applied = r == 0 || r == -ESTALE;
	return r;
}

/* What was saved is in the store: the lease row as it is now says it. */
static int restore_policy(struct vfctl_ctx *ctx, struct attach *a)
{
	_store_ struct store *store = NULL;
	struct vfctl_leases *leases;
	int r = store_open(ctx, STORE_WRITE, &store);

	if (r == 0)
		r = store_read(store, uuid_of(a), &leases);
	if (r < 0)
		return r;
	for (size_t i = 0; leases->count && i < leases->v[0].vf_count && r == 0; i++)
		if (vfctl_bdf_compare(&leases->v[0].vfs[i].bdf, &a->lease_vf.bdf) == 0)
			r = policy_restore(ctx, store, &leases->v[0].vfs[i], 1);
	vfctl_leases_free(leases);
	return r;
}

static int undo_policy(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;

	return a->applied ? restore_policy(ctx, a) : 0;
}

/* Definition first: it can be put back, a device in a running guest only asked for. */
static int apply_config(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;
	int r = a->hv->define(ctx, a->hv, a->config_xml);

	if (r == 0 && !a->adopt)
		r = a->hv->attach(ctx, a->hv, uuid_of(a), a->config_device, VFCTL_AFFECT_CONFIG);
	return r;
}

static int undo_config(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;

	return a->hv->define(ctx, a->hv, a->config.xml);
}

static int apply_live(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;

	return a->hv->attach(ctx, a->hv, uuid_of(a), a->live_device, VFCTL_AFFECT_LIVE);
}

static void add_attach_steps(struct attach *a, struct steps *steps)
{
	struct step lease = {.apply = apply_lease, .undo = undo_lease, .data = a};
	struct step policy = {.apply = apply_policy, .undo = undo_policy, .data = a};
	struct step config = {.apply = apply_config, .undo = undo_config, .data = a};
	struct step live = {.apply = apply_live, .data = a};
	const char *vf = TEXT(&a->vf.bdf), *name = name_of(a);

	identities_add_step(&a->identities, steps);
	steps_add(steps, &lease, "lease VF %s to domain %s", vf, name);
	if (a->affect & VFCTL_AFFECT_LIVE)
		steps_add(steps, &policy, "set identity and policy of VF %s and read them back", vf);
	if (a->affect & VFCTL_AFFECT_CONFIG)
		steps_add(steps, &config, a->adopt
			? "note what VF %s, which it has, is leased with in the definition of domain %s"
			: "add VF %s to the definition of domain %s", vf, name);
	if (a->affect & VFCTL_AFFECT_LIVE)
		steps_add(steps, &live, "plug VF %s into the running domain %s", vf, name);
}

static int name_lease(struct vfctl_ctx *ctx, struct attach *a)
{
	const struct vfctl_lease *lease = vfctl_leases_find(a->snapshot->leases, uuid_of(a));

	a->new_lease = !lease;
	if (!str_copy(a->lease_id, sizeof(a->lease_id), lease ? lease->id : uuid_of(a)))
		return ctx_oom(ctx);
	return 0;
}

int vfctl_attach_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_attach_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct attach *a;
	int r = vfctl_vf_attrs_check(ctx, &options->attrs);

	if (r == 0)
		r = open_attach(ctx, hypervisor, domain, options->affect, dry_run, &change, &a);
	if (r == 0)
		r = name_lease(ctx, a);
	if (r == 0)
		r = known_domains_ask(ctx, hypervisor, &a->domains);
	if (r == 0)
		r = choose_vf(ctx, a, options, dry_run);
	if (r == 0)
		r = make_devices(ctx, a);
	if (r < 0)
		return r;
	add_attach_steps(a, &change->steps);
	change->ids_changed = a->identities.count > 0;
	*ret_change = steal(change);
	return 0;
}

/* ---- detach ---- */

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
			name_of(a), found ? "more than one" : "no",
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

	return lease && str_eq(lease->domain_uuid, uuid_of(a));
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
	if (!a->live_device && !a->config_device && !a->still_used && holds_lease(a))
		return 0; /* the guest let go after an earlier detach gave up waiting */
	if (!a->live_device && !a->config_device)
		return ctx_fail(ctx, -ENOENT, "domain %s does not have VF %s", name_of(a),
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

	if (r == 0)
		r = a->hv->detach(ctx, a->hv, uuid_of(a), a->config_device, VFCTL_AFFECT_CONFIG,
			0);
	return r;
}

static int apply_unplug(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;

	return a->hv->detach(ctx, a->hv, uuid_of(a), a->live_device, VFCTL_AFFECT_LIVE,
		a->timeout_ms);
}

/*
 * The device is out of the guest: its policy is returned, then the lease. A lease that
 * holds nothing else (the domain was not defined with vfctl) ends.
 */
static int apply_return(struct vfctl_ctx *ctx, void *data)
{
	struct attach *a = data;
	const struct vfctl_lease *lease = vfctl_leases_find(a->snapshot->leases, uuid_of(a));
	int r = restore_policy(ctx, a);

	if (r < 0)
		return r;
	a->new_lease = lease->vf_count == 1 && lease->node < 0;
	return give_up_lease(ctx, a);
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
	return r < 0 ? r : identities_of_domain(ctx, ids, uuid_of(a), &carried, &a->identities);
}

static void add_detach_steps(struct attach *a, struct steps *steps)
{
	struct step config = {.apply = apply_unconfig, .undo = undo_config, .data = a};
	struct step live = {.apply = apply_unplug, .data = a, .commit = true};
	struct step back = {.apply = apply_return, .data = a, .commit = true};
	const char *vf = TEXT(&a->lease_vf.bdf), *name = name_of(a);

	if (a->config_device)
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
	int r = open_attach(ctx, hypervisor, domain, options->affect, dry_run, &change, &a);

	if (r == 0)
		r = name_lease(ctx, a);
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
