// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose a VF for a domain, and its identity. */
#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "base/vfattr.h"
#include "domain/definition.h"
#include "facts/snapshot/snapshot.h"
#include "guest/attach.h"
#include "ids/values.h"
#include "lease/noted.h"
#include "lease/port.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "types/find.h"

static const struct known_domain *find_holder(const struct attach *a,
	const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < a->domains->count; i++)
		if (known_domain_has(&a->domains->v[i], vf))
			return &a->domains->v[i];
	return NULL;
}

static int check_anti_affinity(struct vfctl_ctx *ctx, const struct vfctl_attach_options *o,
	const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	unsigned allowed = o->spec ? o->spec->vfs_allowed : 0;
	_free_ char *message = NULL;
	char text[VFCTL_BDF_TEXT];

	if (!(vfctl_vf_exposure(ctx, pf, vf, &message) & ~allowed))
		return 0;
	return ctx_fail(ctx, -EPERM, "%s/%u cannot be given to a guest: it %s", vfctl_pf_name(pf, text),
		vf->index, message ? message : "is not isolated");
}

/* -EBUSY: it is in use or leased; -EPERM: it may not be given to a guest. */
static int check_free(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o, const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	const struct known_domain *holder = find_holder(a, &vf->bdf);
	const struct known_reference *ref = holder ? known_domain_reference(holder, &vf->bdf) : NULL;
	char message[256], text[VFCTL_BDF_TEXT];

	if (pf->unread)
		return ctx_fail(ctx, -EIO, "nothing is changed: %s", pf->unread);
	if (vf_is_open(vf) || vf->lease.name[0] || vf->promise.network[0] ||
		(vf->defined_in[0] && !str_eq(vf->defined_in, attach_name(a))))
		return ctx_fail(ctx, -EBUSY, "%s/%u is %s; vfctl list %s --free shows the free VFs",
			vfctl_pf_name(pf, text), vf->index,
			vf_describe_user(vf, message, sizeof(message)), vfctl_pf_name(pf, text));
	if (ref)
		return ctx_fail(ctx, -EBUSY, "%s/%u is a device of domain %s already (%s); remove it "
			"there first (virsh edit %s)", vfctl_pf_name(pf, text), vf->index, holder->name,
			reference_form_text(ref->form), holder->name);
	if (holder && str_eq(holder->uuid, attach_uuid(a)) && !a->live.name) {
		a->adopt = true;
		return 0;
	}
	if (holder)
		return ctx_fail(ctx, -EBUSY, "%s/%u is a device of domain %s",
			vfctl_pf_name(pf, text), vf->index, holder->name);
	return check_anti_affinity(ctx, o, pf, vf);
}

const struct vfctl_lease_vf *attach_leased(const struct attach *a, const struct vfctl_bdf *vf)
{
	const struct vfctl_lease *lease = vfctl_leases_find_uuid(a->snapshot->leases, attach_uuid(a));

	return find_leased_vf(lease, vf);
}

/*
 * A VF that is leased to this domain but is not one of its devices: an attach was interrupted, or
 * an administrator removed the device with libvirt. That VF is used instead of a second one.
 */
static const struct vfctl_lease_vf *left_over(const struct attach *a, const struct vfctl_vf *vf)
{
	const struct vfctl_lease_vf *leased = attach_leased(a, &vf->bdf);

	return leased && !vf_is_open(vf) && !find_holder(a, &vf->bdf) && !vf->defined_in[0] ? leased
											    : NULL;
}

static bool is_chosen(const struct attach *a, const struct vfctl_vf *vf)
{
	return bdf_list_has(a->chosen, a->chosen_count, &vf->bdf);
}

/* The first VF of @pf that is not in use. */
static int first_free(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o, const struct vfctl_pf *pf, const struct vfctl_vf **ret)
{
	char text[VFCTL_BDF_TEXT];
	const char *name = vfctl_pf_name(pf, text);
	_free_ char *exposed = NULL;

	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (left_over(a, &pf->vfs[i]) && !is_chosen(a, &pf->vfs[i])) {
			*ret = &pf->vfs[i];
			return 0;
		}
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		int r = is_chosen(a, &pf->vfs[i]) ? -EBUSY
						  : check_free(ctx, a, o, pf, &pf->vfs[i]);

		if (a->adopt) { /* an additional VF was requested, not a present one */
			a->adopt = false;
			continue;
		}
		if (r == 0) {
			*ret = &pf->vfs[i];
			return 0;
		}
		if (r == -EPERM && !exposed)
			exposed = strdup(vfctl_ctx_error(ctx));
		if (r != -EBUSY && r != -EPERM)
			return r;
	}
	if (exposed)
		return ctx_fail(ctx, -EPERM, "%s", exposed);
	if (!pf->num_vfs)
		return ctx_fail(ctx, -EBUSY, "%s has no VFs; create some with: vfctl create %s N",
			name, name);
	if (a->chosen_count)
		return ctx_fail(ctx, -EBUSY, "%s has %zu free VF%s, but %zu more are needed (vfctl list "
			"%s shows the users of the others)", name, a->chosen_count,
			plural(a->chosen_count), a->missing, name);
	return ctx_fail(ctx, -EBUSY, "%s has no free VF: all %u are in use or leased (vfctl list %s "
		"shows the users)", name, pf->num_vfs, name);
}

static void warn_remote(struct vfctl_ctx *ctx, const struct attach *a, const char *xml,
	const struct vfctl_vf *vf)
{
	_cleanup_(vfctl_parsed_domain_freep) struct vfctl_parsed_domain *parsed = NULL;
	char nodes[64];

	if (vf->numa_node < 0 || vfctl_domain_read(ctx, xml, &parsed) < 0 ||
		vfctl_cpuset_empty(&parsed->memory_nodes) ||
		vfctl_cpuset_has(&parsed->memory_nodes, (unsigned)vf->numa_node))
		return;
	vfctl_cpuset_format(&parsed->memory_nodes, nodes, sizeof(nodes));
	log_warn(ctx, "the VF is on NUMA node %d but domain %s is on %s: it will be slower than a local "
		"VF", vf->numa_node, attach_name(a), nodes);
}

static int give_identity(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, bool dry_run)
{
	char device[16];
	int r = 0;

	if (!a->identities.ctx) {
		identities_open(ctx, &a->identities, o->ids, attach_uuid(a), attach_name(a), !dry_run);
		r = identities_look(&a->identities, a->snapshot->inventory, a->snapshot->leases);
		if (r == 0 && o->ids && !dry_run)
			r = identities_note_live(ctx, o->ids, a->snapshot->inventory,
				a->snapshot->leases);
	}
	if (r == 0)
		r = identities_new_device(ctx, &a->identities, device);
	if (r == 0)
		r = guest_give_identity(ctx, &a->identities, &o->identity, pf, vf, device, &a->vf);
	return r;
}

/*
 * libvirt sets MAC and VLAN of an <interface>: attributes that were not requested are as the
 * element has them.
 */
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

/* ---- VFs that the domain already has ---- */

static int find_asked(struct vfctl_ctx *ctx, const struct attach *a,
	const struct vfctl_attach_options *o, const struct vfctl_pf **ret_pf,
	const struct vfctl_vf **ret_vf)
{
	*ret_vf = NULL;
	return o->vf ? vfctl_inventory_find_vf(ctx, a->snapshot->inventory, o->vf, ret_pf, ret_vf)
		     : vfctl_inventory_find_pf(ctx, a->snapshot->inventory, o->pf, ret_pf);
}

/* Whether it was leased with the requested attributes. */
static int check_asked(struct vfctl_ctx *ctx, const struct attach *a,
	const struct vfctl_attach_options *o, const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	const struct vfctl_lease_vf *has = attach_leased(a, &vf->bdf);
	char text[VFCTL_BDF_TEXT], is[VFCTL_ATTR_TEXT], asked[VFCTL_ATTR_TEXT];
	const char *name = vfctl_pf_name(pf, text);
	struct vfctl_vf_attrs left = o->attrs, other;
	const char *key, *is_key;
	size_t i = 0, at = 0;

	if (!has)
		return 0;
	left.mask &= o->ensure_mask & ~attrs_equal(&o->attrs, &has->intent);
	if (!vfctl_vf_attrs_next(&left, &i, &key, asked))
		return 0;
	other = has->intent;
	other.mask &= left.mask;
	if (!vfctl_vf_attrs_next(&other, &at, &is_key, is) || at != i)
		snprintf(is, sizeof(is), "none");
	return ctx_fail(ctx, -EEXIST, "domain %s already has %s/%u, with %s %s, not %s; change it with: "
		"vfctl set %s/%u %s=%s --config (or --live)", attach_name(a), name, vf->index, key, is,
		asked, name, vf->index, key, asked);
}

/* The number of requested VFs that this XML has as devices. */
static int count_devices(struct vfctl_ctx *ctx, const struct attach *a,
	const struct vfctl_attach_options *o, const char *xml, size_t *ret)
{
	_cleanup_(vfctl_parsed_domain_freep) struct vfctl_parsed_domain *parsed = NULL;
	const struct vfctl_pf *pf = NULL, *asked_pf;
	const struct vfctl_vf *asked_vf;
	int r = find_asked(ctx, a, o, &asked_pf, &asked_vf);

	if (r == 0)
		r = vfctl_domain_read(ctx, xml, &parsed);
	*ret = 0;
	for (size_t i = 0; r == 0 && i < parsed->device_count; i++) {
		const struct vfctl_vf *vf = vfctl_inventory_vf_at(a->snapshot->inventory,
			&parsed->devices[i].source, &pf);

		if (!vf || pf != asked_pf || (asked_vf && (vf != asked_vf || !attach_leased(a, &vf->bdf))))
			continue;
		r = check_asked(ctx, a, o, pf, vf);
		(*ret)++;
	}
	return r;
}

int attach_count_missing(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o)
{
	size_t want = o->count ? o->count : 1, live = SIZE_MAX, config = SIZE_MAX, has;
	int r = 0;

	a->missing = want;
	if (!o->ensure)
		return 0;
	if (a->affect & VFCTL_AFFECT_LIVE)
		r = count_devices(ctx, a, o, a->live.xml, &live);
	if (r == 0 && a->affect & VFCTL_AFFECT_CONFIG)
		r = count_devices(ctx, a, o, a->config.xml, &config);
	if (r < 0)
		return r;
	ctx_clear(ctx);
	has = live < config ? live : config;
	if (has >= want && o->vf)
		return ctx_fail(ctx, -EALREADY, "domain %s has %s", attach_name(a), o->vf);
	if (has >= want)
		return ctx_fail(ctx, -EALREADY, "domain %s has %zu VF%s of %s", attach_name(a), has,
			plural(has), o->pf);
	if (live != SIZE_MAX && config != SIZE_MAX && live != config)
		return ctx_fail(ctx, -EBUSY, "domain %s has %zu VF%s of %s while it runs, and %zu in "
			"its definition; choose --live or --config, or restart the domain",
			attach_name(a), live, plural(live), o->pf ? o->pf : o->vf, config);
	a->missing = want - has;
	return 0;
}

int attach_choose_vf(struct vfctl_ctx *ctx, struct attach *a,
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
			r = check_free(ctx, a, o, pf, vf);
	} else {
		r = vfctl_inventory_find_pf(ctx, inv, o->pf, &pf);
		if (r == 0)
			r = first_free(ctx, a, o, pf, &vf);
	}
	if (r == 0 && a->adopt)
		r = adopt_device(ctx, a, vf, &attrs);
	if (r < 0)
		return r;
	guest_complete_vf(pf, vf, &attrs, o->form, &a->vf);
	a->node = vf->numa_node;
	warn_remote(ctx, a, a->live.xml ? a->live.xml : a->config.xml, vf);
	a->left_over = left_over(a, vf);
	if (a->left_over) /* it already has its identity, unless another one is requested */
		attrs_copy(&a->vf.attrs, &a->left_over->intent, ~a->vf.attrs.mask &
			(VFCTL_ATTR_MAC | VFCTL_ATTR_INFINIBAND));
	if (!a->left_over || !(a->vf.attrs.mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS)))
		r = give_identity(ctx, a, o, pf, vf, dry_run);
	if (r == 0)
		r = values_check_guest(ctx, ROAD_GUEST, a->snapshot, attach_uuid(a), &a->vf, 1);
	if (r == 0)
		guest_warn_down(ctx, inv, attach_name(a), &a->vf, 1);
	if (r == 0)
		guest_warn_whole(ctx, inv, &a->vf, 1);
	a->chosen[a->chosen_count++] = vf->bdf;
	a->lease_vf = (struct vfctl_lease_vf){.bdf = vf->bdf, .pf = pf->bdf, .index = vf->index,
		.transient = !(a->affect & VFCTL_AFFECT_CONFIG),
		.returns_identity = !(a->affect & VFCTL_AFFECT_CONFIG) && a->identities.count,
		.intent = a->vf.attrs};
	ports_fill(inv, &a->lease_vf, 1);
	return r;
}
