// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare leases, libvirt's domains and VFs, which change independently of each other. */
#include "checks/findings.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "base/vfattr.h"
#include "domain/definition.h"
#include "facts/snapshot/domains.h"
#include "facts/snapshot/policy.h"
#include "facts/snapshot/snapshot.h"
#include "host/host.h"
#include "sriov/inventory.h"
#include "sriov/vf_changes.h"

#define DEFINITIONS "/etc/libvirt/qemu"

const char *vfctl_finding_name(enum vfctl_finding_kind kind)
{
	static const char *const names[] = {
		[VFCTL_FINDING_GONE] = "gone",
		[VFCTL_FINDING_RENAMED] = "renamed",
		[VFCTL_FINDING_ABSENT] = "absent",
		[VFCTL_FINDING_TAKEN] = "taken",
		[VFCTL_FINDING_DROPPED] = "dropped",
		[VFCTL_FINDING_CLAIMED] = "claimed",
		[VFCTL_FINDING_EXPOSED] = "exposed",
		[VFCTL_FINDING_OTHER_PF] = "other-pf",
		[VFCTL_FINDING_RESERVED] = "reserved",
		[VFCTL_FINDING_UNGUARDED] = "unguarded",
		[VFCTL_FINDING_NO_MONITOR] = "no-monitor",
		[VFCTL_FINDING_UNLEASED] = "unleased",
		[VFCTL_FINDING_ACCEPTED] = "accepted",
		[VFCTL_FINDING_LEFT] = "left",
		[VFCTL_FINDING_TRUSTED] = "trusted",
		[VFCTL_FINDING_UNREAD] = "unread",
	};

	return names[kind];
}

void vfctl_findings_free(struct vfctl_findings *findings)
{
	for (size_t i = 0; findings && i < findings->count; i++) {
		free(findings->v[i].message);
		free(findings->v[i].remedy);
	}
	if (findings) {
		free(findings->v);
		free(findings->unread);
	}
	free(findings);
}

/* The inputs of the comparison. */
struct look {
	struct vfctl_ctx *ctx;
	const struct vfctl_snapshot *snapshot;
	const struct vfctl_host_spec *spec; /* or NULL */
	struct known_domains *domains;
	struct vfctl_findings *found;
};

/* The finding takes over @message and @remedy. */
static int add_named(struct look *l, enum vfctl_finding_kind kind, const char *domain,
	const struct vfctl_bdf *vf, char *message, char *remedy)
{
	struct vfctl_finding *f = NULL;

	if (message && remedy && array_grow(l->found->v, l->found->count))
		f = &l->found->v[l->found->count++];
	if (!f) {
		free(message);
		free(remedy);
		return ctx_oom(l->ctx);
	}
	*f = (struct vfctl_finding){.kind = kind, .note = kind >= VFCTL_FINDING_UNLEASED,
		.message = message, .remedy = remedy};
	snprintf(f->domain, sizeof(f->domain), "%s", domain);
	if (vf)
		vfctl_bdf_format(vf, f->vf);
	return 0;
}

static int add_finding(struct look *l, enum vfctl_finding_kind kind,
	const struct vfctl_lease *lease,
	const struct vfctl_bdf *vf, char *message, char *remedy)
{
	return add_named(l, kind, lease->domain_name, vf, message, remedy);
}

/* ---- its domain ---- */

static const struct known_domain *find_domain(const struct look *l, const char *uuid, bool running)
{
	for (size_t i = 0; i < l->domains->count; i++)
		if (str_eq(l->domains->v[i].uuid, uuid) && !l->domains->v[i].pid == !running)
			return &l->domains->v[i];
	return NULL;
}

static bool read_uuid(const struct look *l, const char *xml, char ret[VFCTL_UUID_TEXT])
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	int r = intent ? vfctl_domain_intent_read(l->ctx, xml, strlen(xml), true, intent) : -ENOMEM;

	if (r < 0)
		ctx_clear(l->ctx);
	return r == 0 && str_copy(ret, VFCTL_UUID_TEXT, intent->uuid);
}

/*
 * The UUID of the domain that has the lease's domain name now; if it cannot be read, assume the
 * same domain.
 */
static bool find_namesake(const struct look *l, const struct vfctl_lease *lease,
	char ret[VFCTL_UUID_TEXT])
{
	_free_ char *xml = NULL;

	/* Definitions without devices are not in the list of domains. */
	return host_try_read(l->ctx, &xml, DEFINITIONS "/%s.xml", lease->domain_name) == 0 &&
		read_uuid(l, xml, ret) && !str_eq(ret, lease->domain_uuid);
}

static bool is_defined(const struct look *l, const struct vfctl_lease *lease)
{
	char uuid[VFCTL_UUID_TEXT];

	return find_domain(l, lease->domain_uuid, false) ||
		(host_exists(l->ctx, DEFINITIONS "/%s.xml", lease->domain_name) &&
			!find_namesake(l, lease, uuid));
}

/*
 * The lease's domain no longer exists, and another domain has its name: the name does not identify
 * the lease.
 */
static bool is_replaced(const struct look *l, const struct vfctl_lease *lease)
{
	char uuid[VFCTL_UUID_TEXT];

	return !find_domain(l, lease->domain_uuid, true) && !find_domain(l, lease->domain_uuid, false) &&
		find_namesake(l, lease, uuid);
}

static int add_gone(struct look *l, const struct vfctl_lease *lease)
{
	const char *name = lease->domain_name, *uuid = lease->domain_uuid;
	char other[VFCTL_UUID_TEXT];

	if (find_namesake(l, lease, other))
		return add_finding(l, VFCTL_FINDING_GONE, lease, NULL,
			str_format("domain %s with UUID %s no longer exists in libvirt but holds a "
				"lease; the domain %s in libvirt has UUID %s", name, uuid, name, other),
			str_format("to give it that lease, if its metadata names it: vfctl recover "
				"--rebuild --trust-metadata; to end the lease: vfctl undefine %s", uuid));
	return add_finding(l, VFCTL_FINDING_GONE, lease, NULL,
		str_format("domain %s no longer exists in libvirt but holds a lease", name),
		str_format("to define it again: vfctl define with its file; to end the lease: vfctl "
			"undefine %s", name));
}

static int look_at_domain(struct look *l, const struct vfctl_lease *lease)
{
	const struct known_domain *d = find_domain(l, lease->domain_uuid, true);

	if (!d)
		d = find_domain(l, lease->domain_uuid, false);
	if (!d && !lease->running && !is_defined(l, lease))
		return add_gone(l, lease);
	if (d && !str_eq(d->name, lease->domain_name))
		return add_finding(l, VFCTL_FINDING_RENAMED, lease, NULL,
			str_format("domain %s was renamed to %s in libvirt", lease->domain_name, d->name),
			strdup("its lease takes the new name at the next start"));
	return 0;
}

/* ---- its VFs ---- */

static const char *what_exposes(unsigned exposure)
{
	if (exposure & VFCTL_EXPOSED_GROUP)
		return "shares its IOMMU group with other devices";
	if (exposure & VFCTL_EXPOSED_ACS)
		return exposure & VFCTL_EXPOSED_RESET
			? "is not isolated from other devices by ACS and cannot be reset on its own"
			: "is not isolated from other devices by ACS";
	return "cannot be reset on its own";
}

static int add_absent(struct look *l, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf)
{
	const struct vfctl_inventory *inv = l->snapshot->inventory;
	const struct vfctl_pf *now;
	_free_ char *where = NULL;

	for (size_t i = 0; i < inv->pf_count; i++) {
		const struct vfctl_pf *pf = &inv->pfs[i];
		char name[VFCTL_BDF_TEXT], bind[96] = "";

		if (vfctl_bdf_compare(&pf->bdf, &vf->pf))
			continue;
		if (!pf->driver[0])
			snprintf(bind, sizeof(bind), "echo %s > /sys/bus/pci/drivers_probe, then ",
				TEXT(&pf->bdf));
		return add_finding(l, VFCTL_FINDING_ABSENT, lease, &vf->bdf,
			str_format("VF %s, leased to domain %s, does not exist: %s has %s%u VFs",
				TEXT(&vf->bdf), lease->domain_name, vfctl_pf_name(pf, name),
				pf->driver[0] ? "" : "no driver, and ", pf->num_vfs),
			str_format("%svfctl apply, or vfctl create %s %u (or more)", bind,
				vfctl_pf_name(pf, name), vf->index + 1));
	}
	now = inventory_find_port(inv, vf->port_id);
	where = now ? str_format(", which is %s (%s) now", vfctl_pf_name(now, (char[VFCTL_BDF_TEXT]){0}),
		TEXT(&now->bdf)) : strdup("");
	return !where ? ctx_oom(l->ctx) : add_finding(l, VFCTL_FINDING_ABSENT, lease, &vf->bdf,
		str_format("VF %s, leased to domain %s, is gone with its PF %s%s", TEXT(&vf->bdf),
			lease->domain_name, TEXT(&vf->pf), where),
		str_format("%sto remove it: vfctl detach %s --vf %s; then give the domain another: "
			"vfctl attach",
			now ? "vfctl define with its file, or " : "", lease->domain_name, TEXT(&vf->bdf)));
}

/*
 * Whether its definition, found by UUID or, if that could not be read, by name, was read only in
 * part.
 */
static bool is_known_in_part(const struct look *l, const struct vfctl_lease *lease)
{
	for (size_t i = 0; i < l->domains->count; i++) {
		const struct known_domain *d = &l->domains->v[i];

		if (d->unread && (str_eq(d->uuid, lease->domain_uuid) ||
					 str_eq(d->name, lease->domain_name)))
			return true;
	}
	return false;
}

/* Whether its definition, which seems to have no devices, is complete. */
static bool is_whole(const struct look *l, const struct vfctl_lease *lease)
{
	_free_ char *xml = NULL;
	char uuid[VFCTL_UUID_TEXT];

	return host_try_read(l->ctx, &xml, DEFINITIONS "/%s.xml", lease->domain_name) < 0 || !xml ||
		read_uuid(l, xml, uuid);
}

/* A definition without any device was not read. */
static bool is_dropped(const struct look *l, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf)
{
	const struct known_domain *d = find_domain(l, lease->domain_uuid, false);

	if (vf->transient || is_known_in_part(l, lease) || (!d &&
		find_domain(l, lease->domain_uuid, true)))
		return false;
	return d ? !known_domain_has(d, &vf->bdf) : is_defined(l, lease) && is_whole(l, lease);
}

/* The VF is leased although it is not isolated: it was leased earlier, or host.yaml accepts it. */
static int look_at_exposure(struct look *l, const struct vfctl_lease *lease,
	const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	_free_ char *message = NULL;
	unsigned exposure = l->spec ? vfctl_vf_exposure(l->ctx, pf, vf, &message) : 0;
	char name[VFCTL_BDF_TEXT];
	bool accepted;

	if (!exposure)
		return 0;
	accepted = !(exposure & ~l->spec->vfs_allowed);
	return add_finding(l, accepted ? VFCTL_FINDING_ACCEPTED : VFCTL_FINDING_EXPOSED, lease, &vf->bdf,
		str_format("domain %s has VF %s/%u, which %s", lease->domain_name,
			vfctl_pf_name(pf, name), vf->index, what_exposes(exposure)),
		accepted ? strdup("host.yaml permits this")
			 : str_format("for the reason and a remedy: vfctl show %s/%u",
				   vfctl_pf_name(pf, name), vf->index));
}

/* Report what an administrator permitted beyond the safe defaults. */
static int look_at_trust(struct look *l, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *leased, const struct vfctl_pf *pf)
{
	const struct vfctl_vf_attrs *a = &leased->intent;
	bool trust = a->mask & VFCTL_ATTR_TRUST && a->trust;
	bool spoof = a->mask & VFCTL_ATTR_SPOOFCHK && !a->spoofchk;
	char name[VFCTL_BDF_TEXT];

	if (!trust && !spoof)
		return 0;
	return add_finding(l, VFCTL_FINDING_TRUSTED, lease, &leased->bdf,
		str_format("VF %s/%u is leased to domain %s with %s%s%s", vfctl_pf_name(pf, name),
			leased->index, lease->domain_name, trust ? "trust on" : "",
			trust && spoof ? " and " : "", spoof ? "the spoof check off" : ""),
		lease->transient ? strdup("host.yaml permits this (foreign-domains)")
				 : str_format("to undo this: vfctl set %s/%u%s%s --config",
					   vfctl_pf_name(pf, name), leased->index,
					   trust ? " trust=off" : "", spoof ? " spoofchk=on" : ""));
}

/* A VF of another card has the address of the leased one. */
static int look_at_port(struct look *l, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *leased, const struct vfctl_pf *pf)
{
	const struct vfctl_pf *now = inventory_find_port(l->snapshot->inventory, leased->port_id);
	const char *name = lease->domain_name, *at = TEXT(&leased->bdf);
	_free_ char *where = now ? str_format("is %s (%s) now", vfctl_pf_name(now,
		(char[VFCTL_BDF_TEXT]){0}), TEXT(&now->bdf)) : strdup("was not found on this host");

	if (!pf_is_another(pf, leased->port_id))
		return 0;
	if (!where)
		return ctx_oom(l->ctx);
	return add_finding(l, VFCTL_FINDING_OTHER_PF, lease, &leased->bdf,
		str_format("domain %s was given VF %s of the PF with %s, which %s; %s is now another "
			"PF, %s", name, at, port_text(leased->port_id, (char[PORT_WORDS]){0}), where,
			TEXT(&pf->bdf), vfctl_pf_name(pf, (char[VFCTL_BDF_TEXT]){0})),
		str_format("run vfctl define with its file, or vfctl detach %s --vf %s and vfctl "
			"attach; until then the domain cannot start", name, at));
}

/* It runs, and libvirt did not run the hook at its start. */
static int look_at_policy(struct look *l, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *leased, const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	_buf_ struct buf is = {0}, wanted = {0};
	_free_ char *remedy = NULL;
	char buf[VFCTL_BDF_TEXT];
	const char *name = vfctl_pf_name(pf, buf);
	struct vfctl_vf_attrs want;
	uint32_t differs = policy_unmet(lease, leased, vf, &want);

	if (!differs)
		return 0;
	attrs_put(&is, &vf->attrs, differs);
	attrs_put(&wanted, &want, differs);
	remedy = vfctl_lease_vf_remedy(vf, name, lease->domain_name, &want, differs);
	if (is.failed || wanted.failed || !remedy)
		return ctx_oom(l->ctx);
	return add_finding(l, VFCTL_FINDING_UNGUARDED, lease, &leased->bdf,
		str_format("libvirt did not run vfctl's hook when domain %s started: VF %s/%u has %s, its "
			"lease says %s", lease->domain_name, name, vf->index, is.data, wanted.data),
		str_format("check that libvirt runs the hook: vfctl hook status; %s", remedy));
}

static int look_at_vf(struct look *l, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *leased)
{
	const struct vfctl_pf *pf = NULL;
	const struct vfctl_vf *vf = vfctl_inventory_vf_at(l->snapshot->inventory, &leased->bdf, &pf);
	const char *at = TEXT(&leased->bdf), *name = lease->domain_name;
	int r = 0;

	if (!vf)
		return add_absent(l, lease, leased);
	r = look_at_port(l, lease, leased, pf);
	if (r < 0)
		return r;
	if (is_replaced(l, lease)) /* another finding reports that, with the remedy */
		return look_at_exposure(l, lease, pf, vf);
	if (vf->holder.uuid[0] && !str_eq(vf->holder.uuid, lease->domain_uuid))
		r = add_finding(l, VFCTL_FINDING_TAKEN, lease, &leased->bdf,
			str_format("domain %s has VF %s, which is leased to domain %s", vf->holder.name,
				at, name),
			str_format("remove it from %s with virsh detach-device and virsh edit",
				vf->holder.name));
	if (r == 0 && vf->defined_in[0])
		r = add_finding(l, VFCTL_FINDING_CLAIMED, lease, &leased->bdf,
			str_format("the definition of %s has VF %s, which is leased to domain %s",
				vf->defined_in, at, name),
			str_format("remove it: virsh edit %s (until then the domain cannot start)",
				vf->defined_in));
	if (r == 0 && pf->defined_in[0])
		r = add_finding(l, VFCTL_FINDING_CLAIMED, lease, &leased->bdf,
			str_format("the definition of %s has the PF of VF %s, which is leased to domain %s",
				pf->defined_in, at, name),
			str_format("remove the PF: virsh edit %s (until then the hook refuses its start "
				"while VFs of the PF are in use)", pf->defined_in));
	if (r == 0 && is_dropped(l, lease, leased))
		r = add_finding(l, VFCTL_FINDING_DROPPED, lease, &leased->bdf,
			str_format("the definition of domain %s no longer has VF %s, which is leased to "
				"the domain",
				name, at),
			str_format("end the lease: vfctl detach %s --vf %s", name, at));
	if (r == 0)
		r = look_at_policy(l, lease, leased, pf, vf);
	if (r == 0)
		r = look_at_exposure(l, lease, pf, vf);
	return r < 0 ? r : look_at_trust(l, lease, leased, pf);
}

/* ---- its CPUs ---- */

/* host.yaml was changed since: new guests do not get these CPUs, but this one keeps them. */
static int look_at_reserved(struct look *l, const struct vfctl_lease *lease,
	const struct vfctl_cpuset *kept, const char *key)
{
	struct vfctl_cpuset both = lease->cpus;
	const char *name = lease->domain_name;
	char cpus[256];

	vfctl_cpuset_and(&both, kept);
	if (vfctl_cpuset_empty(&both))
		return 0;
	vfctl_cpuset_format(&both, cpus, sizeof(cpus));
	return add_finding(l, VFCTL_FINDING_RESERVED, lease, NULL,
		str_format("domain %s holds CPU%s %s, which host.yaml has in %s", name,
			plural(vfctl_cpuset_count(&both)), cpus, key),
		str_format("remove %s there, or give the domain other CPUs: vfctl undefine %s, then "
			"vfctl define", vfctl_cpuset_count(&both) == 1 ? "it" : "them", name));
}

static int look_at_cpus(struct look *l, const struct vfctl_lease *lease)
{
	int r = l->spec ? look_at_reserved(l, lease, &l->spec->reserved_cpus, "reserved-cpus") : 0;

	return r < 0 || !l->spec ? r
		: look_at_reserved(l, lease, &l->spec->shared_cpus, "shared-cpus");
}

static int look_at(struct look *l, const struct vfctl_lease *lease)
{
	int r = lease->transient ? 0 : look_at_domain(l, lease);

	if (r == 0)
		r = look_at_cpus(l, lease);

	for (size_t i = 0; i < lease->vf_count && r == 0; i++)
		r = look_at_vf(l, lease, &lease->vfs[i]);
	return r;
}

/* ---- domains without a lease ---- */

static const struct vfctl_bdf *first_unleased(const struct look *l, const struct known_domain *d,
	size_t *ret_count)
{
	const struct vfctl_bdf *first = NULL;
	const struct vfctl_pf *pf;

	*ret_count = 0;
	for (size_t i = 0; i < d->device_count; i++)
		if (vfctl_inventory_vf_at(l->snapshot->inventory, &d->devices[i], &pf) &&
			!vfctl_leases_find_vf(l->snapshot->leases, &d->devices[i])) {
			first = first ? first : &d->devices[i];
			(*ret_count)++;
		}
	return first;
}

/* Only its definition counts: what a running domain has besides ends with its run. */
static int look_at_foreign(struct look *l, const struct known_domain *d)
{
	bool lost = d->noted && !vfctl_leases_find_uuid(l->snapshot->leases, d->uuid);
	const struct vfctl_bdf *vf;
	size_t count;

	if (d->pid)
		return 0;
	if (d->unread && add_named(l, VFCTL_FINDING_UNREAD, d->name, NULL,
				 str_format("vfctl can read the domain only in part: %s", d->unread),
				 str_format("see virsh dumpxml %s", d->name)) < 0)
		return -ENOMEM;
	vf = first_unleased(l, d, &count);
	return !vf ? 0 : add_named(l, VFCTL_FINDING_UNLEASED, d->name, vf,
		str_format("domain %s has VF %s%s without a lease", d->name, TEXT(vf),
			count > 1 ? " and others" : ""),
		lost ? strdup("its lease is lost; restore it: vfctl recover --rebuild")
		     : str_format("lease its VFs to it: vfctl adopt %s", d->name));
}

/* ---- VFs that are not in use ---- */

static int look_at_left(struct look *l)
{
	const struct vfctl_inventory *inv = l->snapshot->inventory;
	char name[VFCTL_BDF_TEXT];
	int r = 0;

	for (size_t i = 0; i < inv->pf_count; i++)
		for (uint32_t k = 0; k < inv->pfs[i].num_vfs && r == 0; k++) {
			const struct vfctl_vf *vf = &inv->pfs[i].vfs[k];

			if (vf->to_clean && !vf->lease.name[0])
				r = add_named(l, VFCTL_FINDING_LEFT, "", &vf->bdf,
					str_format("VF %s/%u, which is not in use, is to be cleaned",
						vfctl_pf_name(&inv->pfs[i], name), vf->index),
					strdup("vfctl cleans it before a guest gets it; to clean it "
						"now: vfctl recover --clean"));
		}
	return r;
}

/* ---- what needs a service ---- */

static int look_at_monitor(struct look *l)
{
	_free_ char *message = NULL;
	int r = vfctl_bridge_missing(l->ctx, l->spec, &message);

	if (r < 0 || !message)
		return r;
	return add_named(l, VFCTL_FINDING_NO_MONITOR, "", NULL, steal(message),
		strdup("run: " VFCTL_BRIDGE_REMEDY));
}

static int look_at_all(struct look *l)
{
	const struct vfctl_leases *leases = l->snapshot->leases;
	int r = 0;

	if (l->domains->unread) {
		l->found->unread = strdup(l->domains->unread);
		return l->found->unread ? 0 : ctx_oom(l->ctx);
	}
	for (size_t i = 0; i < leases->count && r == 0; i++)
		r = look_at(l, &leases->v[i]);
	for (size_t i = 0; i < l->domains->count && r == 0; i++)
		r = look_at_foreign(l, &l->domains->v[i]);
	return r;
}

int vfctl_findings_read(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec, struct vfctl_findings **ret)
{
	_cleanup_(vfctl_findings_freep) struct vfctl_findings *found = calloc(1, sizeof(*found));
	_cleanup_(known_domains_freep) struct known_domains *domains = NULL;
	struct look l = {.ctx = ctx, .snapshot = snapshot, .spec = spec, .found = found};
	int r = found ? 0 : ctx_oom(ctx);

	if (r == 0 && snapshot->leases_error)
		r = ctx_fail(ctx, -EACCES, "%s", snapshot->leases_error);
	if (r == 0)
		r = look_at_left(&l);
	if (r == 0)
		r = look_at_monitor(&l);
	/* Without libvirt's files its domains are not known. */
	if (r == 0 && host_exists(ctx, DEFINITIONS)) {
		r = known_domains_read(ctx, &domains);
		l.domains = domains;
		if (r == 0)
			r = look_at_all(&l);
	}
	if (r == 0)
		*ret = steal(found);
	return r;
}
