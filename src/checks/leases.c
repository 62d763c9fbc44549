// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare leases, libvirt's domains and VFs, which change independently of each other. */
#include "checks/findings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "checks/guest.h"
#include "domain/definition.h"
#include "facts/snapshot/policy.h"
#include "facts/snapshot/snapshot.h"
#include "host/host.h"
#include "sriov/inventory.h"
#include "sriov/vf_changes.h"
#include "types/find.h"

#define DEFINITIONS "/etc/libvirt/qemu"

struct look;

/* What status calls a difference, and its severity: a note is not a difference. */
struct rule {
	const char *name;
	enum vfctl_severity severity;
	void (*look)(const struct look *l);
	/*
	 * Also for a lease of one run, and for VFs of a lease whose name another domain has, which the
	 * rule "gone" reports.
	 */
	bool always;
};

/* The subject of a rule. */
struct look {
	struct check_ctx *e;
	const struct known_domains *domains;
	const struct rule *rule;
	const struct known_domain *domain; /* of the rules for domains without a lease */
	const struct vfctl_lease *lease;   /* of the rules for leases and their VFs */
	const struct vfctl_lease_vf *leased;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf; /* NULL: it does not exist */
	unsigned exposure;	   /* of the VF; 0 also without host.yaml */
};

/* The finding takes over @remedy. */
static _printf_(4, 5) void report(const struct look *l, const struct vfctl_bdf *vf, char *remedy,
	const char *fmt, ...)
{
	const char *domain = l->lease ? l->lease->domain_name : l->domain ? l->domain->name : "";
	_free_ char *message = NULL;
	struct vfctl_issue *a = NULL;
	va_list args;

	va_start(args, fmt);
	message = str_vformat(fmt, args);
	va_end(args);
	if (message && remedy)
		a = found(l->e, domain[0] || !vf ? domain : TEXT(vf), "%s", message);
	if (!a) {
		free(remedy);
		l->e->failed = true;
		return;
	}
	a->severity = l->rule->severity;
	a->finding = l->rule->name;
	str_copy(a->domain, sizeof(a->domain), domain);
	if (vf)
		vfctl_bdf_format(vf, a->vf);
	free(a->remedy);
	a->remedy = remedy;
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
	int r = intent ? vfctl_domain_intent_read(l->e->ctx, xml, strlen(xml), true, intent) : -ENOMEM;

	if (r < 0)
		ctx_clear(l->e->ctx);
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
	return host_try_read(l->e->ctx, &xml, DEFINITIONS "/%s.xml", lease->domain_name) == 0 &&
		read_uuid(l, xml, ret) && !str_eq(ret, lease->domain_uuid);
}

static bool is_defined(const struct look *l, const struct vfctl_lease *lease)
{
	char uuid[VFCTL_UUID_TEXT];

	return find_domain(l, lease->domain_uuid, false) ||
		(host_exists(l->e->ctx, DEFINITIONS "/%s.xml", lease->domain_name) &&
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

static const struct known_domain *domain_of(const struct look *l)
{
	const struct known_domain *running = find_domain(l, l->lease->domain_uuid, true);

	return running ? running : find_domain(l, l->lease->domain_uuid, false);
}

static void look_for_gone(const struct look *l)
{
	const char *name = l->lease->domain_name, *uuid = l->lease->domain_uuid;
	char other[VFCTL_UUID_TEXT];

	if (domain_of(l) || l->lease->running || is_defined(l, l->lease))
		return;
	if (find_namesake(l, l->lease, other))
		report(l, NULL, str_format("to give it that lease, if its metadata names it: vfctl recover "
			"--rebuild --trust-metadata; to end the lease: vfctl undefine %s", uuid),
			"domain %s with UUID %s no longer exists in libvirt but holds a lease; the domain "
			"%s in libvirt has UUID %s", name, uuid, name, other);
	else
		report(l, NULL, str_format("to define it again: vfctl define with its file; to end the "
			"lease: vfctl undefine %s", name),
			"domain %s no longer exists in libvirt but holds a lease", name);
}

static void look_for_renamed(const struct look *l)
{
	const struct known_domain *d = domain_of(l);

	if (d && !str_eq(d->name, l->lease->domain_name))
		report(l, NULL, strdup("its lease takes the new name at the next start"),
			"domain %s was renamed to %s in libvirt", l->lease->domain_name, d->name);
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

/* Its PF is there, but does not have so many VFs. */
static void tell_uncreated(const struct look *l, const struct vfctl_pf *pf)
{
	char name[VFCTL_BDF_TEXT], bind[96] = "";

	if (!pf->driver[0])
		snprintf(bind, sizeof(bind), "echo %s > /sys/bus/pci/drivers_probe, then ",
			TEXT(&pf->bdf));
	report(l, &l->leased->bdf, str_format("%svfctl apply, or vfctl create %s %u (or more)", bind,
		vfctl_pf_name(pf, name), l->leased->index + 1),
		"VF %s, leased to domain %s, does not exist: %s has %s%u VFs", TEXT(&l->leased->bdf),
		l->lease->domain_name, vfctl_pf_name(pf, name), pf->driver[0] ? "" : "no driver, and ",
		pf->num_vfs);
}

static void look_for_absent(const struct look *l)
{
	const struct vfctl_inventory *inv = l->e->snapshot->inventory;
	const struct vfctl_pf *pf = find_pf_at(inv, &l->leased->pf), *now;
	const char *at = TEXT(&l->leased->bdf), *name = l->lease->domain_name;
	char where[96] = "", buf[VFCTL_BDF_TEXT];

	if (pf) {
		tell_uncreated(l, pf);
		return;
	}
	now = inventory_find_port(inv, l->leased->port_id);
	if (now)
		snprintf(where, sizeof(where), ", which is %s (%s) now", vfctl_pf_name(now, buf),
			TEXT(&now->bdf));
	report(l, &l->leased->bdf, str_format("%sto remove it: vfctl detach %s --vf %s; then give "
		"the domain another: vfctl attach", now ? "vfctl define with its file, or " : "", name, at),
		"VF %s, leased to domain %s, is gone with its PF %s%s", at, name, TEXT(&l->leased->pf),
		where);
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

	return host_try_read(l->e->ctx, &xml, DEFINITIONS "/%s.xml", lease->domain_name) < 0 || !xml ||
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
static void tell_exposure(const struct look *l, char *remedy)
{
	char name[VFCTL_BDF_TEXT];

	report(l, &l->vf->bdf, remedy, "domain %s has VF %s/%u, which %s", l->lease->domain_name,
		vfctl_pf_name(l->pf, name), l->vf->index, what_exposes(l->exposure));
}

static void look_for_exposed(const struct look *l)
{
	char name[VFCTL_BDF_TEXT];

	if (l->exposure && l->exposure & ~l->e->spec->vfs_allowed)
		tell_exposure(l, str_format("for the reason and a remedy: vfctl show %s/%u",
			vfctl_pf_name(l->pf, name), l->vf->index));
}

static void look_for_accepted(const struct look *l)
{
	if (l->exposure && !(l->exposure & ~l->e->spec->vfs_allowed))
		tell_exposure(l, strdup("host.yaml permits this"));
}

/* Report what an administrator permitted beyond the safe defaults. */
static void look_for_trusted(const struct look *l)
{
	const struct vfctl_vf_attrs *a = &l->leased->intent;
	bool trust = a->mask & VFCTL_ATTR_TRUST && a->trust;
	bool spoof = a->mask & VFCTL_ATTR_SPOOFCHK && !a->spoofchk;
	char buf[VFCTL_BDF_TEXT];
	const char *name = vfctl_pf_name(l->pf, buf);

	if (!trust && !spoof)
		return;
	report(l, &l->leased->bdf, l->lease->transient
		? strdup("host.yaml permits this (foreign-domains)")
		: str_format("to undo this: vfctl set %s/%u%s%s --config", name, l->leased->index,
			trust ? " trust=off" : "", spoof ? " spoofchk=on" : ""),
		"VF %s/%u is leased to domain %s with %s%s%s", name, l->leased->index,
		l->lease->domain_name, trust ? "trust on" : "", trust && spoof ? " and " : "",
		spoof ? "the spoof check off" : "");
}

/* A VF of another card has the address of the leased one. */
static void look_for_other_pf(const struct look *l)
{
	const char *port = l->leased->port_id, *name = l->lease->domain_name;
	const struct vfctl_pf *now = inventory_find_port(l->e->snapshot->inventory, port);
	const char *at = TEXT(&l->leased->bdf);
	char where[96] = "was not found on this host", buf[VFCTL_BDF_TEXT], words[PORT_WORDS];

	if (!pf_is_another(l->pf, port))
		return;
	if (now)
		snprintf(where, sizeof(where), "is %s (%s) now", vfctl_pf_name(now, buf),
			TEXT(&now->bdf));
	report(l, &l->leased->bdf, str_format("run vfctl define with its file, or vfctl detach %s "
		"--vf %s and vfctl attach; until then the domain cannot start", name, at),
		"domain %s was given VF %s of the PF with %s, which %s; %s is now another PF, %s", name, at,
		port_text(port, words), where, TEXT(&l->pf->bdf), vfctl_pf_name(l->pf, buf));
}

/* It runs, and libvirt did not run the hook at its start. */
static void look_for_unguarded(const struct look *l)
{
	_buf_ struct buf is = {0}, wanted = {0};
	_free_ char *remedy = NULL;
	char buf[VFCTL_BDF_TEXT];
	const char *name = vfctl_pf_name(l->pf, buf), *domain = l->lease->domain_name;
	struct vfctl_vf_attrs want;
	uint32_t differs = policy_unmet(l->lease, l->leased, l->vf, &want);

	if (!differs)
		return;
	attrs_put(&is, &l->vf->attrs, differs);
	attrs_put(&wanted, &want, differs);
	remedy = vfctl_lease_vf_remedy(l->vf, name, domain, &want, differs);
	if (is.failed || wanted.failed || !remedy) {
		l->e->failed = true;
		return;
	}
	report(l, &l->leased->bdf, str_format("check that libvirt runs the hook: vfctl hook status; "
		"%s", remedy), "libvirt did not run vfctl's hook when domain %s started: VF %s/%u "
		"has %s, its lease says %s", domain, name, l->vf->index, is.data, wanted.data);
}

static void look_for_taken(const struct look *l)
{
	const struct vfctl_holder *holder = &l->vf->holder;

	if (holder->uuid[0] && !str_eq(holder->uuid, l->lease->domain_uuid))
		report(l, &l->leased->bdf, str_format("remove it from %s with virsh detach-device and "
			"virsh edit", holder->name), "domain %s has VF %s, which is leased to domain %s",
			holder->name, TEXT(&l->leased->bdf), l->lease->domain_name);
}

static void look_for_claimed(const struct look *l)
{
	const char *at = TEXT(&l->leased->bdf), *name = l->lease->domain_name;

	if (l->vf->defined_in[0])
		report(l, &l->leased->bdf, str_format("remove it: virsh edit %s (until then the domain "
			"cannot start)", l->vf->defined_in),
			"the definition of %s has VF %s, which is leased to domain %s",
			l->vf->defined_in, at, name);
	if (l->pf->defined_in[0])
		report(l, &l->leased->bdf, str_format("remove the PF: virsh edit %s (until then the hook "
			"refuses its start while VFs of the PF are in use)", l->pf->defined_in),
			"the definition of %s has the PF of VF %s, which is leased to domain %s",
			l->pf->defined_in, at, name);
}

static void look_for_dropped(const struct look *l)
{
	const char *at = TEXT(&l->leased->bdf), *name = l->lease->domain_name;

	if (is_dropped(l, l->lease, l->leased))
		report(l, &l->leased->bdf, str_format("end the lease: vfctl detach %s --vf %s", name, at),
			"the definition of domain %s no longer has VF %s, which is leased to the domain",
			name, at);
}

/* ---- its CPUs ---- */

/* host.yaml was changed since: new guests do not get these CPUs, but this one keeps them. */
static void tell_reserved(const struct look *l, const struct vfctl_cpuset *kept, const char *key)
{
	struct vfctl_cpuset both = l->lease->cpus;
	const char *name = l->lease->domain_name;
	char cpus[256];

	vfctl_cpuset_and(&both, kept);
	if (vfctl_cpuset_empty(&both))
		return;
	vfctl_cpuset_format(&both, cpus, sizeof(cpus));
	report(l, NULL, str_format("remove %s there, or give the domain other CPUs: vfctl undefine %s, "
		"then vfctl define", vfctl_cpuset_count(&both) == 1 ? "it" : "them", name),
		"domain %s holds CPU%s %s, which host.yaml has in %s", name,
		plural(vfctl_cpuset_count(&both)), cpus, key);
}

static void look_for_reserved(const struct look *l)
{
	const struct vfctl_host_spec *spec = l->e->spec;

	if (spec) {
		tell_reserved(l, &spec->reserved_cpus, "reserved-cpus");
		tell_reserved(l, &spec->shared_cpus, "shared-cpus");
	}
}

/* ---- domains without a lease ---- */

static const struct vfctl_bdf *first_unleased(const struct look *l, const struct known_domain *d,
	size_t *ret_count)
{
	const struct vfctl_bdf *first = NULL;
	const struct vfctl_pf *pf;

	*ret_count = 0;
	for (size_t i = 0; i < d->device_count; i++)
		if (vfctl_inventory_vf_at(l->e->snapshot->inventory, &d->devices[i], &pf) &&
			!vfctl_leases_find_vf(l->e->snapshot->leases, &d->devices[i])) {
			first = first ? first : &d->devices[i];
			(*ret_count)++;
		}
	return first;
}

static void look_for_unread(const struct look *l)
{
	if (l->domain->unread)
		report(l, NULL, str_format("see virsh dumpxml %s", l->domain->name),
			"vfctl can read the domain only in part: %s", l->domain->unread);
}

static void look_for_unleased(const struct look *l)
{
	const struct known_domain *d = l->domain;
	bool lost = d->noted && !vfctl_leases_find_uuid(l->e->snapshot->leases, d->uuid);
	size_t count;
	const struct vfctl_bdf *vf = first_unleased(l, d, &count);

	if (vf)
		report(l, vf, lost ? strdup("its lease is lost; restore it: vfctl recover --rebuild")
			: str_format("lease its VFs to it: vfctl adopt %s", d->name),
			"domain %s has VF %s%s without a lease", d->name, TEXT(vf),
			count > 1 ? " and others" : "");
}

/* ---- the host ---- */

static void look_for_left(const struct look *l)
{
	const struct vfctl_inventory *inv = l->e->snapshot->inventory;
	char name[VF_TITLE];

	for (size_t i = 0; i < inv->pf_count; i++)
		for (uint32_t k = 0; k < inv->pfs[i].num_vfs; k++) {
			const struct vfctl_vf *vf = &inv->pfs[i].vfs[k];

			if (vf->to_clean && !vf->lease.name[0])
				report(l, &vf->bdf, strdup("vfctl cleans it before a guest gets it; to "
					"clean it now: vfctl recover --clean"),
					"VF %s, which is not in use, is to be cleaned",
					vf_title(&inv->pfs[i], vf, name));
		}
}

static void look_for_monitor(const struct look *l)
{
	_free_ char *message = NULL;

	if (vfctl_bridge_missing(l->e->ctx, l->e->spec, &message) < 0)
		l->e->failed = true;
	else if (message)
		report(l, NULL, strdup("run: " VFCTL_BRIDGE_REMEDY), "%s", message);
}

/* ---- all rules ---- */

static const struct rule monitor_rule = {"no-monitor", VFCTL_WARNING, look_for_monitor, false},
	left_rule = {"left", VFCTL_NOTE, look_for_left, false};

static const struct rule lease_rules[] = {
	{"gone", VFCTL_WARNING, look_for_gone, false},
	{"renamed", VFCTL_WARNING, look_for_renamed, false},
	{"reserved", VFCTL_WARNING, look_for_reserved, true},
	{.name = NULL},
};

static const struct rule absent_rule = {"absent", VFCTL_WARNING, look_for_absent, false};

/* Rules for a leased VF that exists. */
static const struct rule vf_rules[] = {
	{"other-pf", VFCTL_WARNING, look_for_other_pf, true},
	{"taken", VFCTL_WARNING, look_for_taken, false},
	{"claimed", VFCTL_WARNING, look_for_claimed, false},
	{"dropped", VFCTL_WARNING, look_for_dropped, false},
	{"unguarded", VFCTL_PROBLEM, look_for_unguarded, false},
	{"exposed", VFCTL_WARNING, look_for_exposed, true},
	{"accepted", VFCTL_NOTE, look_for_accepted, true},
	{"trusted", VFCTL_NOTE, look_for_trusted, false},
	{.name = NULL},
};

/* Rules for the definition of a domain: what it has besides while it runs ends with its run. */
static const struct rule domain_rules[] = {
	{"unread", VFCTL_NOTE, look_for_unread, false},
	{"unleased", VFCTL_NOTE, look_for_unleased, false},
	{.name = NULL},
};

static void follow_rule(struct look *l, const struct rule *rule)
{
	l->rule = rule;
	rule->look(l);
}

static void follow_rules(struct look *l, const struct rule *rules, bool few)
{
	for (; rules->name && !l->e->failed; rules++)
		if (!few || rules->always)
			follow_rule(l, rules);
}

static void look_at_vf(struct look *l)
{
	l->pf = NULL;
	l->vf = vf_at(l->e, &l->leased->bdf, &l->pf);
	if (!l->vf) {
		follow_rule(l, &absent_rule);
		return;
	}
	l->exposure = l->e->spec ? vfctl_vf_exposure(l->e->ctx, l->pf, l->vf, NULL) : 0;
	follow_rules(l, vf_rules, is_replaced(l, l->lease));
}

static void look_at_lease(struct check_ctx *e, const struct known_domains *domains,
	const struct vfctl_lease *lease)
{
	struct look l = {.e = e, .domains = domains, .lease = lease};

	follow_rules(&l, lease_rules, lease->transient);
	for (size_t i = 0; i < lease->vf_count && !e->failed; i++) {
		l.leased = &lease->vfs[i];
		look_at_vf(&l);
	}
}

void leases_compare(struct check_ctx *e)
{
	const struct vfctl_leases *leases = e->snapshot->leases;
	const struct known_domains *domains;
	struct look l = {.e = e};

	follow_rule(&l, &left_rule);
	/* Without libvirt's files its domains are not known. */
	if (e->failed || !host_exists(e->ctx, DEFINITIONS))
		return;
	domains = check_ctx_domains(e);
	if (!domains)
		return;
	if (domains->unread) {
		unknown(e, "%s", domains->unread);
		return;
	}
	for (size_t i = 0; i < leases->count && !e->failed; i++)
		look_at_lease(e, domains, &leases->v[i]);
	for (size_t i = 0; i < domains->count && !e->failed; i++)
		if (!domains->v[i].pid)
			follow_rules(&(struct look){.e = e, .domains = domains, .domain = &domains->v[i]},
				domain_rules, false);
}

int vfctl_findings_read(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec, struct vfctl_doctor_report **ret)
{
	static const struct check row = {.name = "leases", .remedy = ""};
	_cleanup_(vfctl_doctor_report_freep) struct vfctl_doctor_report *report = NULL;
	struct check_ctx e = {.ctx = ctx, .snapshot = snapshot, .spec = spec, .check = &row};

	if (snapshot->leases_error)
		return ctx_fail(ctx, -EACCES, "%s", snapshot->leases_error);
	e.report = report = calloc(1, sizeof(*report));
	if (!report)
		return ctx_oom(ctx);
	follow_rule(&(struct look){.e = &e}, &monitor_rule);
	leases_compare(&e);
	check_ctx_end(&e);
	if (e.failed)
		return ctx_oom(ctx);
	*ret = steal(report);
	return 0;
}
