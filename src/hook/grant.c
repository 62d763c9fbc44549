// SPDX-License-Identifier: GPL-2.0-or-later
#include "hook/grant.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/vfattr.h"
#include "domain/definition.h"
#include "facts/snapshot/domains.h"
#include "facts/snapshot/snapshot.h"
#include "ids/give.h"
#include "pci/device.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "types/find.h"

static const struct vfctl_foreign_spec *foreign_of(const struct grant_facts *f)
{
	static const struct vfctl_foreign_spec nothing = {0};

	return f->spec ? &f->spec->foreign : &nothing;
}

/* ---- leases ---- */

const struct vfctl_lease *grant_lease(const struct grant_facts *facts)
{
	const struct vfctl_lease *lease = vfctl_leases_find_uuid(facts->leases, facts->intent->uuid);

	return lease && !lease->transient ? lease : NULL;
}

/* The present name of the lease's domain; NULL: libvirt's files do not contain it any more. */
static char *find_name(struct vfctl_ctx *ctx, const char *uuid)
{
	_cleanup_(known_domains_freep) struct known_domains *domains = NULL;

	if (known_domains_read(ctx, &domains) < 0)
		return NULL;
	for (size_t i = 0; i < domains->count; i++)
		if (str_eq(domains->v[i].uuid, uuid))
			return strdup(domains->v[i].name);
	return NULL;
}

/* By its name, the remedy would affect the domain that is starting. */
static int fail_namesake(struct vfctl_ctx *ctx, const struct vfctl_bdf *vf,
	const struct vfctl_lease *lease)
{
	const char *uuid = lease->domain_uuid;
	_free_ char *name = find_name(ctx, uuid);

	ctx_clear(ctx);
	if (name && !str_eq(name, lease->domain_name))
		return ctx_fail(ctx, -EBUSY, "VF %s is leased to another domain, formerly %s, with UUID "
			"%s, now called %s; end that lease: vfctl detach %s --vf %s", TEXT(vf),
			lease->domain_name, uuid, name, name, TEXT(vf));
	return ctx_fail(ctx, -EBUSY, "VF %s is leased to domain %s with UUID %s, but this domain has "
		"another UUID; if libvirt no longer has that one, give its lease to this one: vfctl "
		"recover --rebuild --trust-metadata (or end it: vfctl undefine "
		"%s)", TEXT(vf), lease->domain_name,
		uuid, uuid);
}

static int fail_leased(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_bdf *vf, const struct vfctl_lease *lease)
{
	const char *name = f->intent->name;

	if (f->spec && f->spec->leased_vfs_warn) {
		log_warn(ctx, "it starts with VF %s, which is leased to domain %s (host.yaml: "
			"leased-vfs: warn)", TEXT(vf), lease->domain_name);
		ctx_audit(ctx, "started with VF %s, which is leased to domain %s", TEXT(vf),
			lease->domain_name);
		return 0;
	}
	ctx_audit(ctx, "refused: VF %s is leased to domain %s", TEXT(vf), lease->domain_name);
	if (str_eq(name, lease->domain_name))
		return fail_namesake(ctx, vf, lease);
	return ctx_fail(ctx, -EBUSY, "VF %s is leased to domain %s; remove it: virsh edit %s, "
		"or end that lease: vfctl detach %s --vf %s", TEXT(vf), lease->domain_name, name,
		lease->domain_name, TEXT(vf));
}

/* Nothing but the definition of that domain has it; libvirt itself rejects such a domain. */
static bool is_only_in(const struct vfctl_vf *vf, const char *domain)
{
	return !vf_is_open(vf) && !vf->lease.name[0] && !vf->promise.network[0] &&
		str_eq(vf->defined_in, domain);
}

/* The first VF of @pf that is in use, promised or in another definition; NULL if all are free. */
static const struct vfctl_vf *first_busy(const struct vfctl_pf *pf, const char *domain)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (vf_is_busy(&pf->vfs[i]) && !is_only_in(&pf->vfs[i], domain))
			return &pf->vfs[i];
	return NULL;
}

/*
 * A PF that leaves its driver loses its VFs: a guest that has one open, the host that uses one, or
 * the definition that has one.
 */
static int check_vfs_of_pf(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_bdf *device)
{
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *s = NULL;
	const struct vfctl_vf *vf;
	const struct vfctl_pf *pf;
	char user[256];
	int r;

	if (!pci_has(ctx, device, "virtfn0"))
		return 0;
	r = vfctl_snapshot_read(ctx, TEXT(device), &s);
	if (r == 0 && !(f->spec && f->spec->leased_vfs_warn))
		r = snapshot_need_leases(ctx, s);
	if (r < 0)
		return ctx_prefix(ctx, r, "domain %s has the PF %s, and its start would remove VFs",
			f->intent->name, TEXT(device));
	pf = find_pf_at(s->inventory, device);
	vf = pf ? first_busy(pf, f->intent->name) : NULL;
	if (!vf)
		return 0;
	vf_describe_user(vf, user, sizeof(user));
	if (f->spec && f->spec->leased_vfs_warn) {
		log_warn(ctx, "it starts with the PF %s, whose VF %s is %s (host.yaml: leased-vfs: warn)",
			TEXT(device), TEXT(&vf->bdf), user);
		return 0;
	}
	ctx_audit(ctx, "refused: %s is the PF of VF %s, which is %s", TEXT(device), TEXT(&vf->bdf), user);
	return ctx_fail(ctx, -EBUSY, "domain %s has the PF %s, and its start would remove VF %s, which is "
		"%s; remove the PF: virsh edit %s, or end that use", f->intent->name,
		TEXT(device), TEXT(&vf->bdf), user, f->intent->name);
}

/* A PF that is passed through takes all its VFs with it, including those of other users. */
static int check_pf(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_bdf *device)
{
	for (size_t i = 0; i < f->leases->count; i++)
		for (size_t k = 0; k < f->leases->v[i].vf_count; k++) {
			const struct vfctl_lease_vf *vf = &f->leases->v[i].vfs[k];

			if (vfctl_bdf_compare(&vf->pf, device))
				continue;
			ctx_audit(ctx, "refused: %s is the PF of VF %s, leased to domain %s", TEXT(device),
				TEXT(&vf->bdf), f->leases->v[i].domain_name);
			return ctx_fail(ctx, -EBUSY, "device %s is the PF of VF %s, which is leased to "
				"domain %s and would be lost; remove the PF: virsh edit %s",
				TEXT(device), TEXT(&vf->bdf), f->leases->v[i].domain_name,
				f->intent->name);
		}
	return check_vfs_of_pf(ctx, f, device);
}

/* @whole: QEMU gets the function itself, and with a PF all its VFs. */
static int check_function(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_bdf *vf, bool whole)
{
	const struct vfctl_lease *l = vfctl_leases_find_vf(f->leases, vf);
	const char *name = f->intent->name;

	if (l)
		return str_eq(l->domain_uuid, f->intent->uuid) ? 0 : fail_leased(ctx, f, vf, l);
	if (foreign_of(f)->mode == VFCTL_FOREIGN_REFUSE && pci_has(ctx, vf, "physfn"))
		return ctx_fail(ctx, -EPERM, "VF %s is not leased to domain %s, and this host requires a "
			"lease (foreign-domains: refuse); lease it with: vfctl attach %s --vf %s",
			TEXT(vf), name, name, TEXT(vf));
	return whole ? check_pf(ctx, f, vf) : 0;
}

static int check_reference(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_reference *ref)
{
	struct vfctl_bdf bdf;
	int r = reference_function(ctx, ref, &bdf);

	if (r < 0)
		return r == -ENOMEM ? ctx_oom(ctx) : 0;
	return check_function(ctx, f, &bdf, reference_passes_through(ref->form));
}

int grant_check_devices(struct vfctl_ctx *ctx, const struct grant_facts *facts)
{
	const struct vfctl_domain_intent *intent = facts->intent;
	int r = 0;

	for (size_t i = 0; i < intent->device_count && r == 0; i++)
		r = check_function(ctx, facts, &intent->devices[i].bdf, true);
	for (size_t i = 0; i < intent->reference_count && r == 0; i++)
		r = check_reference(ctx, facts, &intent->references[i]);
	return r;
}

/* ---- requests beyond the lease ---- */

/* A rate of 0 means no limit. */
static bool is_more_rate(uint32_t asked, uint32_t leased)
{
	return leased && (!asked || asked > leased);
}

/*
 * What the metadata requests beyond the lease: another identity or network, or more trust. It may
 * request less trust and a lower rate.
 */
static uint32_t exceeding(const struct vfctl_vf_attrs *asked,
	const struct vfctl_vf_attrs *leased)
{
	uint32_t more = asked->mask & ~attrs_equal(asked, leased);

	/*
	 * Attributes that are not given have the safe default; for a switch that never exceeds the
	 * lease.
	 */
	more &= ~(vfctl_vf_attrs_default(asked) & (~leased->mask | attrs_of_type(VFCTL_ATTR_TYPE_SWITCH)));
	if (!(leased->mask & VFCTL_ATTR_MAX_RATE) ||
		!is_more_rate(asked->max_rate_mbps, leased->max_rate_mbps))
		more &= ~(uint32_t)VFCTL_ATTR_MAX_RATE;
	return more;
}

static int fail_more(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_domain_vf *asked, const struct vfctl_vf_attrs *leased, uint32_t more)
{
	uint32_t bit = more & -more;
	char want[VFCTL_ATTR_TEXT] = "", has[VFCTL_ATTR_TEXT] = "nothing";
	const char *key = attr_key(bit);

	vfctl_vf_attr_text(&asked->attrs, bit, want);
	vfctl_vf_attr_text(leased, bit, has);
	ctx_audit(ctx, "refused: VF %s: the metadata asks for %s=%s, the lease has %s", TEXT(&asked->bdf),
		key, want, has);
	return ctx_fail(ctx, -EPERM, "the metadata of domain %s asks for %s=%s on VF %s, but it is "
		"leased with %s; an administrator changes that with: vfctl set %s %s=%s --config",
		f->intent->name, key, want, TEXT(&asked->bdf), has, TEXT(&asked->bdf), key, want);
}

/* ---- values that libvirt sets after the hook ---- */

static int check_device(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_domain_vf *vf)
{
	const struct vfctl_intent_device *d = vfctl_domain_intent_device(f->intent, &vf->bdf);
	uint16_t vlan = vf->attrs.mask & VFCTL_ATTR_VLAN_ID ? vf->attrs.vlan : 0;
	char is[VFCTL_MAC_TEXT], shall[VFCTL_MAC_TEXT];

	if (!d || !d->interface)
		return 0;
	if (d->vlan == VFCTL_INTENT_VLAN_ODD)
		return ctx_fail(ctx, -EINVAL, "the <interface> of VF %s in domain %s names several "
			"VLANs, which libvirt rejects for a VF; it is leased with VLAN %u",
			TEXT(&vf->bdf), f->intent->name, vlan);
	if (d->vlan != vlan)
		return ctx_fail(ctx, -EINVAL, "the <interface> of VF %s in domain %s states VLAN %u, "
			"which libvirt would set, but it is leased with VLAN %u; correct that (virsh "
			"edit), or change both: vfctl set %s vlan=%u --config", TEXT(&vf->bdf),
			f->intent->name, d->vlan, vlan, TEXT(&vf->bdf), d->vlan);
	if (d->has_mac && vf->attrs.mask & VFCTL_ATTR_MAC &&
		memcmp(&d->mac, &vf->attrs.mac, sizeof(d->mac)))
		return ctx_fail(ctx, -EINVAL, "the <interface> of VF %s in domain %s states MAC %s, "
			"which libvirt would set, but it is leased with %s; correct that (virsh edit), "
			"or change both: vfctl set %s mac=%s --config", TEXT(&vf->bdf),
			f->intent->name, vfctl_mac_format(&d->mac, is),
			vfctl_mac_format(&vf->attrs.mac, shall), TEXT(&vf->bdf), is);
	return 0;
}

/* libvirt gives the VF the MAC of its <interface>, so that counts as requested too. */
static struct vfctl_domain_vf with_device(const struct grant_facts *f,
	const struct vfctl_domain_vf *vf)
{
	const struct vfctl_intent_device *d = vfctl_domain_intent_device(f->intent, &vf->bdf);
	struct vfctl_domain_vf all = *vf;

	if (d && d->interface && d->has_mac && !(all.attrs.mask & VFCTL_ATTR_MAC)) {
		all.attrs.mask |= VFCTL_ATTR_MAC;
		all.attrs.mac = d->mac;
	}
	return all;
}

static int give_grant(struct vfctl_ctx *ctx, const struct grant_facts *f, struct grant *g,
	const struct vfctl_domain_vf *vf, enum grant_source source)
{
	if (g->count == VFCTL_GUEST_VFS_MAX)
		return ctx_fail(ctx, -E2BIG, "more than %d VFs", VFCTL_GUEST_VFS_MAX);
	g->sources[g->count] = source;
	g->vfs[g->count] = with_device(f, vf);
	return check_device(ctx, f, &g->vfs[g->count++]);
}

/* A leased VF with which the domain starts, whether or not its metadata still names it. */
static int give_leased(struct vfctl_ctx *ctx, const struct grant_facts *f, struct grant *g,
	const struct vfctl_lease_vf *leased)
{
	const struct vfctl_domain_vf *asked = find_intent_vf(f->intent, &leased->bdf);
	struct vfctl_domain_vf vf = {.bdf = leased->bdf, .pf = leased->pf,
		.index = leased->index, .attrs = leased->intent};
	uint32_t more;

	if (!vfctl_domain_intent_device(f->intent, &leased->bdf))
		return 0;
	more = asked ? exceeding(&asked->attrs, &leased->intent) : 0;
	if (more)
		return fail_more(ctx, f, asked, &leased->intent, more);
	if (asked)
		attrs_copy(&vf.attrs, &asked->attrs, UINT32_MAX);
	return give_grant(ctx, f, g, &vf, GRANT_LEASE);
}

/* ---- VFs without a lease ---- */

static int fail_foreign(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_domain_vf *vf, const char *why)
{
	ctx_audit(ctx, "refused: VF %s, which is not leased to it: %s", TEXT(&vf->bdf), why);
	/* vfctl attach refuses a domain that has the metadata and no lease. */
	return ctx_fail(ctx, -EPERM, "the metadata of domain %s names VF %s, which is not leased "
		"to it: %s; lease it with: vfctl recover --rebuild", f->intent->name, TEXT(&vf->bdf),
		why);
}

static bool is_given_pf(struct vfctl_ctx *ctx, const struct vfctl_foreign_spec *spec,
	const struct vfctl_inventory *inv)
{
	const struct vfctl_pf *pf;
	bool found = false;

	for (char **name = spec->pfs; name && *name && !found; name++)
		found = vfctl_inventory_find_pf(ctx, inv, *name, &pf) == 0;
	ctx_clear(ctx);
	return found;
}

static const char *beyond_limits(const struct vfctl_foreign_spec *spec,
	const struct vfctl_vf_attrs *a)
{
	if (a->mask & VFCTL_ATTR_TRUST && a->trust && !spec->trust)
		return "host.yaml does not permit trust for it";
	if (a->mask & VFCTL_ATTR_SPOOFCHK && !a->spoofchk && !spec->spoofchk_off)
		return "host.yaml does not permit it to disable the spoof check";
	if (a->mask & VFCTL_ATTR_VLAN_ID && a->vlan && !vfctl_cpuset_has(&spec->vlans, a->vlan))
		return "host.yaml does not permit that VLAN for it";
	if (spec->max_rate_mbps && (!(a->mask & VFCTL_ATTR_MAX_RATE) || !a->max_rate_mbps ||
		a->max_rate_mbps > spec->max_rate_mbps))
		return "host.yaml requires a max-rate, at most its limit";
	for (uint32_t rest = a->mask & ~vfctl_vf_attrs_default(a); rest; rest &= rest - 1)
		if (attr_lease_only(rest & -rest))
			return attr_lease_only(rest & -rest);
	return NULL;
}

/*
 * The value must be the VF's own, or reserved for this domain: a start does not allocate from a
 * pool.
 */
static int check_identity(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_domain_vf *vf, const struct vfctl_vf_attrs *now)
{
	uint32_t other = vf->attrs.mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS) &
		~attrs_equal(&vf->attrs, now);
	struct vfctl_vf_attrs left = vf->attrs;
	int r;

	left.mask &= other;
	r = left.mask ? identities_are_of(ctx, f->intent->uuid, &left) : 1;
	if (r == 0)
		return fail_foreign(ctx, f, vf, "its MAC or GUID is neither the VF's own nor "
			"reserved for the domain (vfctl guid reserve)");
	return r < 0 ? r : 0;
}

static int check_anti_affinity(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	_free_ char *message = NULL;

	if (!(vfctl_vf_exposure(ctx, pf, vf, &message) & ~f->spec->vfs_allowed))
		return 0;
	ctx_audit(ctx, "refused: VF %s: it %s", TEXT(&vf->bdf), message ? message : "is exposed");
	return ctx_fail(ctx, -EPERM, "the metadata of domain %s names VF %s, which cannot be given to a "
		"guest: it %s", f->intent->name, TEXT(&vf->bdf), message ? message : "is exposed");
}

static int give_foreign(struct vfctl_ctx *ctx, const struct grant_facts *f, struct grant *g,
	const struct vfctl_domain_vf *vf)
{
	const struct vfctl_foreign_spec *spec = foreign_of(f);
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	struct vfctl_domain_vf all;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *now;
	const char *why;
	int r;

	if (spec->mode != VFCTL_FOREIGN_FREE_VFS)
		return fail_foreign(ctx, f, vf, "this host requires a lease (foreign-domains in "
			"host.yaml)");
	r = inventory_read_pf(ctx, &vf->pf, &inv);
	if (r == 0)
		r = vfctl_inventory_find_vf(ctx, inv, TEXT(&vf->bdf), &pf, &now);
	if (r < 0)
		return r;
	why = is_given_pf(ctx, spec, inv) ? beyond_limits(spec, &vf->attrs)
					  : "host.yaml does not permit VFs of its PF";
	if (why)
		return fail_foreign(ctx, f, vf, why);
	r = check_anti_affinity(ctx, f, pf, now);
	if (r < 0)
		return r;
	all = with_device(f, vf);
	r = check_identity(ctx, f, &all, &now->attrs);
	return r < 0 ? r : give_grant(ctx, f, g, vf, GRANT_FOREIGN);
}

int grant_decide(struct vfctl_ctx *ctx, const struct grant_facts *facts, struct grant *ret)
{
	const struct vfctl_domain_intent *intent = facts->intent;
	const struct vfctl_lease *lease = grant_lease(facts);
	int r = 0;

	ret->count = 0;
	for (size_t i = 0; lease && i < lease->vf_count && r == 0; i++)
		r = give_leased(ctx, facts, ret, &lease->vfs[i]);
	for (size_t i = 0; i < intent->vf_count && r == 0; i++)
		if (!find_leased_vf(lease, &intent->vfs[i].bdf) &&
			vfctl_domain_intent_device(intent, &intent->vfs[i].bdf))
			r = give_foreign(ctx, facts, ret, &intent->vfs[i]);
	return r;
}

/* ---- devices without a lease and without vfctl's metadata ---- */

static uint32_t find_index(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf,
	const struct vfctl_bdf *vf)
{
	struct vfctl_bdf other;
	char link[20];
	uint32_t i = 0;

	do
		snprintf(link, sizeof(link), "virtfn%" PRIu32, i++);
	while (pci_link_function(ctx, pf, link, &other) == 0 && vfctl_bdf_compare(&other, vf));
	ctx_clear(ctx);
	return i - 1;
}

/*
 * The VF of a device that libvirt sets up by itself; false: it is not a VF of this host, or is
 * handled elsewhere.
 */
static bool plain_vf(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_intent_device *d, struct vfctl_domain_vf *ret)
{
	const struct vfctl_lease *lease = vfctl_leases_find_vf(f->leases, &d->bdf);

	*ret = (struct vfctl_domain_vf){.bdf = d->bdf, .attrs.proto = VFCTL_VLAN_8021Q};
	if (find_intent_vf(f->intent, &d->bdf) || (lease && str_eq(lease->domain_uuid, f->intent->uuid)) ||
		pci_link_function(ctx, &d->bdf, "physfn", &ret->pf) < 0) {
		ctx_clear(ctx);
		return false;
	}
	ret->index = find_index(ctx, &ret->pf, &d->bdf);
	if (d->interface && d->has_mac) {
		ret->attrs.mask |= VFCTL_ATTR_MAC;
		ret->attrs.mac = d->mac;
	}
	if (d->interface && d->vlan && d->vlan != VFCTL_INTENT_VLAN_ODD) {
		ret->attrs.mask |= VFCTL_ATTR_VLAN_ID;
		ret->attrs.vlan = d->vlan;
	}
	return true;
}

/*
 * If host.yaml has limits for domains without a lease, domains without vfctl's metadata must keep
 * them too.
 */
static int check_plain_limits(struct vfctl_ctx *ctx, const struct grant_facts *f,
	const struct vfctl_domain_vf *vf)
{
	const struct vfctl_foreign_spec *spec = foreign_of(f);
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const char *why, *name = f->intent->name;
	int r = inventory_read_pf(ctx, &vf->pf, &inv);

	if (r < 0)
		return r;
	why = is_given_pf(ctx, spec, inv) ? beyond_limits(spec, &vf->attrs)
					  : "host.yaml does not permit VFs of its PF";
	if (!why)
		return 0;
	ctx_audit(ctx, "refused: VF %s, which is not leased to it: %s", TEXT(&vf->bdf), why);
	return ctx_fail(ctx, -EPERM, "domain %s has VF %s, which is not leased to it: %s "
		"(foreign-domains: free-vfs); lease it with: vfctl adopt %s", name, TEXT(&vf->bdf), why,
		name);
}

int grant_list_plain(struct vfctl_ctx *ctx, const struct grant_facts *facts,
	struct vfctl_domain_vf **ret, size_t *ret_count)
{
	const struct vfctl_domain_intent *intent = facts->intent;
	_free_ struct vfctl_domain_vf *vfs = calloc(intent->device_count + 1, sizeof(*vfs));
	size_t count = 0;
	int r = vfs ? 0 : ctx_oom(ctx);

	for (size_t i = 0; r == 0 && i < intent->device_count; i++) {
		if (!plain_vf(ctx, facts, &intent->devices[i], &vfs[count]))
			continue;
		if (foreign_of(facts)->mode == VFCTL_FOREIGN_FREE_VFS)
			r = check_plain_limits(ctx, facts, &vfs[count]);
		count += (vfs[count].attrs.mask & VFCTL_ATTR_MAC) != 0;
	}
	if (r < 0)
		return r;
	*ret = steal(vfs);
	*ret_count = count;
	return 0;
}
