// SPDX-License-Identifier: GPL-2.0-or-later
/* Run all checks, including those that need plans and the journal. */
#include "monitor/doctor.h"

#include <errno.h>
#include <fnmatch.h>

#include "base/change.h"
#include "base/planning.h"
#include "change/target.h"
#include "checks/check.h"
#include "checks/findings.h"
#include "checks/host_checks.h"
#include "facts/snapshot/domains.h"
#include "fleet/fleet.h"
#include "hook/hook.h"
#include "host/host.h"
#include "ids/pools.h"
#include "lease/clean.h"
#include "lease/recover.h"
#include "sriov/inventory.h"
#include "sriov/ops.h"
#include "tuning/fdb.h"
#include "tuning/irq.h"
#include "tuning/uplink.h"
#include "vfs/apply.h"
#include "vfs/plans.h"

/* ---- checks that need more than the snapshot ---- */

static bool has_leases(const struct check_ctx *e)
{
	return e->snapshot->leases && e->snapshot->leases->count;
}

static void check_hook(struct check_ctx *e)
{
	struct vfctl_hook_status status;
	struct vfctl_issue *a = NULL;

	if (!str_eq(host_of(e->ctx)->ops->name, "kernel")) {
		unknown(e, "the check is about the machine that vfctl runs on, not about a capture");
		return;
	}
	if (vfctl_hook_status_read(e->ctx, &status) < 0) {
		unknown(e, "%s", vfctl_ctx_error(e->ctx));
		return;
	}
	if (!status.installed)
		a = found(e, "", "%s does not exist", VFCTL_HOOK_PATH);
	else if (!status.executable)
		a = found(e, "", "%s is not executable, so libvirt ignores it", VFCTL_HOOK_PATH);
	else if (!status.current)
		a = found(e, "", "%s is not the program of this vfctl", VFCTL_HOOK_PATH);
	else if (status.daemon_pid && !status.seen_by_daemon)
		a = found(e, "", "%s is newer than the libvirt daemon (process %d), which reads its "
			"hooks only when it starts", VFCTL_HOOK_PATH, status.daemon_pid);
	if (a)
		a->fix = VFCTL_FIX_HOOK;
	if (a && (!has_leases(e) || (status.installed && status.executable)))
		a->severity = VFCTL_WARNING;
}

static void check_journal(struct check_ctx *e)
{
	const struct vfctl_recover_options how = {.dry_run = true};
	struct vfctl_recovery *open = NULL;
	int r;

	if (host_of(e->ctx)->ops->read_only) /* a capture has no journal */
		return;
	r = vfctl_recover(e->ctx, &how, &open);
	if (r < 0 && !open)
		unknown(e, "%s", vfctl_ctx_error(e->ctx));
	for (size_t i = 0; open && i < open->count; i++)
		if (open->changes[i].outcome != VFCTL_RECOVERED_GOES_ON)
			found(e, "", "'%s', of process %lld", open->changes[i].story,
				(long long)open->changes[i].pid);
	vfctl_recovery_free(open);
}

/* A typo in host.yaml is reported here, before the next boot fails to create the VFs. */
static void tell_unread(struct check_ctx *e)
{
	struct vfctl_issue *a;

	if (e->spec_error == -EACCES || e->spec_error == -EPERM) {
		unknown(e, "%s", e->spec_text);
		return;
	}
	a = found(e, "", "%s", e->spec_text);
	if (!a)
		return;
	a->severity = VFCTL_PROBLEM;
	a->what = "host.yaml cannot be read";
	set_remedy(e, a, "correct it (check it with: vfctl check /etc/vfctl/host.yaml); until then "
		"vfctl apply does nothing, also at boot");
}

static void check_drift(struct check_ctx *e)
{
	struct vfctl_declared *declared = NULL;
	struct vfctl_ids *ids = NULL;
	int r;

	if (e->spec_error)
		tell_unread(e);
	if (!e->spec || !e->spec->pf_count)
		return;
	r = e->spec->pool_count || e->spec->partition_count
		? vfctl_ids_open(e->ctx, e->spec, false, &ids) : 0;
	if (r == 0)
		r = vfctl_declared_read(e->ctx, e->snapshot, e->spec, ids, &declared);
	vfctl_ids_close(ids);
	if (r < 0) {
		unknown(e, "%s", vfctl_ctx_error(e->ctx));
		return;
	}
	for (size_t i = 0; i < declared->count; i++) {
		const struct vfctl_declared_pf *pf = &declared->pfs[i];

		if (pf->error)
			found(e, pf->name, "%s", pf->message ? pf->message : "out of memory");
		else if (pf->change && vfctl_change_count(pf->change))
			found(e, pf->name, "%s%s", vfctl_change_describe(pf->change, 0),
				vfctl_change_count(pf->change) > 1 ? ", and more" : "");
	}
	if (declared->host_error)
		found(e, "", "%s", declared->host_text ? declared->host_text : "out of memory");
	else if (declared->host && vfctl_change_count(declared->host))
		found(e, "", "%s", vfctl_change_describe(declared->host, 0));
	vfctl_declared_free(declared);
}

static void check_leases(struct check_ctx *e)
{
	if (!e->snapshot->leases || e->snapshot->leases_error)
		return;
	vfctl_snapshot_mark_left(e->ctx, e->snapshot, e->spec);
	leases_compare(e);
}

static void check_bridge_monitor(struct check_ctx *e)
{
	_free_ char *message = NULL;

	if (vfctl_bridge_missing(e->ctx, e->spec, &message) < 0)
		unknown(e, "%s", vfctl_ctx_error(e->ctx));
	else if (message)
		found(e, "", "%s", message);
}

/* An administrator who pins interrupts needs to know which program moves them. */
static void check_irqbalance(struct check_ctx *e)
{
	_free_ char *message = NULL;
	bool wanted = has_leases(e);

	for (size_t i = 0; e->spec && i < e->spec->pf_count; i++)
		wanted |= e->spec->pfs[i].tuning.profile != NULL;
	message = wanted ? irq_balance_text(e->ctx) : NULL;
	if (message)
		found(e, "", "%s", message);
}

/*
 * VFs do not survive a reboot, and a declaration creates them again only if its service is enabled.
 */
static void check_boot(struct check_ctx *e)
{
	static const char unit[] = "vfctl-apply.service";
	_strv_ char **names = NULL;

	if (!e->spec || !e->spec->pf_count || !host_exists(e->ctx, "/run/systemd/system") ||
		!host_exists(e->ctx, "/etc/vfctl/host.yaml") ||
		host_try_list(e->ctx, &names, "/etc/systemd/system") < 0)
		return;
	for (size_t i = 0; names[i]; i++)
		if ((fnmatch("*.wants", names[i], 0) == 0 || fnmatch("*.requires", names[i], 0) == 0) &&
			host_exists(e->ctx, "/etc/systemd/system/%s/%s", names[i], unit))
			return;
	found(e, "", "/etc/vfctl/host.yaml declares VFs, but %s is not enabled",
		unit);
}

static const struct check own_checks[] = {
	{"hook", VFCTL_PROBLEM, "guests with leased VFs start without vfctl's hook: their MACs, GUIDs "
		"and policy are not set", NULL, "vfctl hook install (or vfctl doctor --fix)", check_hook},
	{"journal", VFCTL_WARNING, "a change was interrupted", "its process died",
		"vfctl recover", check_journal},
	{"boot", VFCTL_NOTE, "after the next boot no VFs exist until they are created by hand", NULL,
		"run: systemctl enable vfctl-apply.service (it creates VFs before libvirtd starts "
		"guests)",
		check_boot},
	{"guest-mtu", VFCTL_WARNING, "large packets of a guest are lost: the MTU of its PF is below "
		"that of the guest",
		"the MTU of a PF limits that of its VFs", "raise the MTU of the PF", doctor_check_mtu},
	{"bridge-monitor", VFCTL_WARNING, "host.yaml declares that MACs behind a bridge are kept in the "
		"card's table, but they are not", "the unit vfctl-bridge is off by default",
		"systemctl enable --now vfctl-bridge", check_bridge_monitor},
	{"irqbalance", VFCTL_NOTE, "interrupts that vfctl places may be moved", NULL,
		"let irqbalance ask vfctl: docs/how-to/tuning.md", check_irqbalance},
	{"drift", VFCTL_WARNING, "the host differs from host.yaml", NULL,
		"see all differences: vfctl status; apply host.yaml: vfctl apply", check_drift},
	{"leases", VFCTL_WARNING, "leases, domains and VFs do not agree", NULL, "vfctl status",
		check_leases},
	{.name = NULL},
};

/* ---- all checks ---- */

static const struct check *const all_checks[] = {host_checks, pci_checks, vf_checks, eswitch_checks,
	rdma_checks, process_checks, log_checks, guest_checks, place_checks, creator_checks,
	system_checks, own_checks};

bool vfctl_check_at(size_t index, struct vfctl_check *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_checks); i++)
		for (const struct check *c = all_checks[i]; c->name; c++)
			if (c->what[0] && index-- == 0) {
				*ret = (struct vfctl_check){c->name, c->what};
				return true;
			}
	return false;
}

/* ---- a single subject ---- */

struct subject {
	const struct vfctl_pf *pf;	/* NULL: it is a domain */
	const struct vfctl_lease *lease; /* of the domain; NULL if it has none */
	const char *domain;
};

static int find_subject(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s, const char *name,
	struct subject *ret)
{
	*ret = (struct subject){0};
	if (vfctl_inventory_find_pf(ctx, s->inventory, name, &ret->pf) == 0)
		return 0;
	ctx_clear(ctx);
	ret->pf = NULL;
	ret->lease = s->leases ? vfctl_leases_find(s->leases, name) : NULL;
	ret->domain = ret->lease ? ret->lease->domain_name : name;
	if (ret->lease || (name[0] && !strchr(name, '/') &&
		host_exists(ctx, LIBVIRT_DEFINITIONS "/%s.xml", name)))
		return 0;
	return ctx_usage_error(ctx, -ENOENT, "'%s' is neither a PF of this host nor a domain in libvirt "
		"(see vfctl list, virsh list --all)", name);
}

/* "ens1", "0000:11:00.0", "ens1/3" */
static bool names_pf(const struct vfctl_pf *pf, const char *subject)
{
	char name[VFCTL_BDF_TEXT], bdf[VFCTL_BDF_TEXT];
	const char *names[] = {vfctl_pf_name(pf, name), vfctl_bdf_format(&pf->bdf, bdf)};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i]);

		if (strncmp(subject, names[i], len) == 0 && (!subject[len] || subject[len] == '/'))
			return true;
	}
	return false;
}

/* By its lease, by its definition, or because it uses it now. */
static bool is_of(const struct vfctl_vf *vf, const char *domain)
{
	return str_eq(vf->lease.name, domain) || str_eq(vf->defined_in, domain) ||
		(vf->holder.kind == VFCTL_HOLDER_DOMAIN && str_eq(vf->holder.name, domain));
}

/* Whether it is a VF of the domain, or the PF of one; other guests' VFs of that PF do not count. */
static bool names_any_of(const struct vfctl_pf *pf, const struct subject *of, const char *subject)
{
	char bdf[VFCTL_BDF_TEXT], title[VF_TITLE];
	bool some = false;

	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		if (!is_of(&pf->vfs[i], of->domain))
			continue;
		some = true;
		if (str_eq(subject, vf_title(pf, &pf->vfs[i], title)) ||
			str_eq(subject, vfctl_bdf_format(&pf->vfs[i].bdf, bdf)))
			return true;
	}
	for (size_t i = 0; of->lease && i < of->lease->vf_count; i++)
		some |= vfctl_bdf_compare(&of->lease->vfs[i].pf, &pf->bdf) == 0;
	return some && !strchr(subject, '/') && names_pf(pf, subject);
}

/* Whether it is one of its VFs that is absent. */
static bool names_absent(const struct vfctl_lease *lease, const char *subject)
{
	char bdf[VFCTL_BDF_TEXT];

	for (size_t i = 0; lease && i < lease->vf_count; i++)
		if (str_eq(subject, vfctl_bdf_format(&lease->vfs[i].bdf, bdf)))
			return true;
	return false;
}

static bool concerns_doctor(const struct vfctl_snapshot *s, const struct subject *of,
	const char *subject)
{
	if (!subject[0]) /* the host */
		return true;
	if (of->pf)
		return names_pf(of->pf, subject);
	if (str_eq(subject, of->domain) || names_absent(of->lease, subject))
		return true;
	for (size_t i = 0; i < s->inventory->pf_count; i++)
		if (names_any_of(&s->inventory->pfs[i], of, subject))
			return true;
	return false;
}

static void keep_only(struct vfctl_doctor_report *d, const struct vfctl_snapshot *s,
	const struct subject *of)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->count; i++) {
		if (concerns_doctor(s, of, d->v[i].subject)) {
			d->v[kept++] = d->v[i];
			continue;
		}
		free(d->v[i].evidence);
		free(d->v[i].remedy);
	}
	d->count = kept;
}

/* The most severe first; within a severity in the order of the checks. */
static void sort(struct vfctl_doctor_report *d)
{
	for (size_t i = 1; i < d->count; i++)
		for (size_t k = i; k && d->v[k].severity > d->v[k - 1].severity; k--) {
			struct vfctl_issue t = d->v[k];

			d->v[k] = d->v[k - 1];
			d->v[k - 1] = t;
		}
	d->worst = d->count ? d->v[0].severity : VFCTL_NOTE;
}

int vfctl_doctor_examine(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct vfctl_doctor_options *options, struct vfctl_doctor_report **ret)
{
	static const struct vfctl_doctor_options none = {0};
	const struct vfctl_doctor_options *o = options ? options : &none;
	_cleanup_(vfctl_doctor_report_freep) struct vfctl_doctor_report *d = calloc(1, sizeof(*d));
	struct check_ctx e = {.ctx = ctx, .snapshot = snapshot, .spec = o->spec,
		.spec_error = o->spec_error,
		.spec_text = o->spec_text ? o->spec_text : "", .report = d};
	struct subject of;
	int r = d ? 0 : ctx_oom(ctx);

	if (r == 0 && o->subject)
		r = find_subject(ctx, snapshot, o->subject, &of);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(all_checks); i++)
		check_ctx_run(&e, all_checks[i]);
	check_ctx_end(&e);
	if (e.failed)
		return ctx_oom(ctx);
	r = doctor_list_prerequisites(ctx, d);
	if (r < 0)
		return r;
	if (o->subject)
		keep_only(d, snapshot, &of);
	sort(d);
	*ret = steal(d);
	return 0;
}

/* ---- fixes ---- */

#define FEW_MACS 16 /* any card holds as many, whatever its driver */

/* Add what is missing and may be added, as far as the table holds it. */
static int fill_uplink(struct vfctl_ctx *ctx, const struct target *t, const struct vfctl_uplink *u,
	struct steps *steps)
{
	_free_ struct vfctl_mac *macs = calloc(u->station_count + 1, sizeof(*macs));
	size_t count = 0, room = vfctl_uplink_room(u), added = 0;
	int r = macs ? 0 : ctx_oom(ctx);

	for (size_t i = 0; i < u->station_count && r == 0; i++)
		if (!u->stations[i].there)
			macs[count++] = u->stations[i].mac;
	if (r == 0)
		r = doctor_filter_macs(ctx, t->snapshot->leases, macs, &count);
	for (size_t i = 0; i < u->station_count && r == 0 && added < count && added < room; i++)
		if (memcmp(&u->stations[i].mac, &macs[added], sizeof(*macs)) == 0) {
			fdb_add_step(u, &u->stations[i], steps);
			added++;
		}
	if (r == 0 && count > added)
		log_warn(ctx, "%s: %zu MACs are not added: its table holds %d, and %zu are used; %s",
			u->netdev, count - added, u->capacity, u->own_count + added,
			vfctl_uplink_past_text(u->past));
	else if (r == 0 && added && u->capacity < 0 && u->own_count + added > FEW_MACS)
		log_warn(ctx, "%s: how many MACs the table of its driver %s holds is not known; %s",
			u->netdev, u->vf ? u->vf->driver : u->pf->driver, vfctl_uplink_past_text(u->past));
	return r;
}

static int add_fdb(struct vfctl_ctx *ctx, const struct target *t, struct steps *steps)
{
	_cleanup_(vfctl_uplinks_free) struct vfctl_uplinks uplinks = {0};
	int r = vfctl_uplinks_read(ctx, t->snapshot->inventory, t->pf, &uplinks);

	for (size_t i = 0; i < uplinks.count && r == 0; i++)
		r = fill_uplink(ctx, t, &uplinks.v[i], steps);
	return r;
}

static int plan_pf(struct vfctl_ctx *ctx, const char *pf, enum vfctl_fix fix, bool dry_run,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(target_clear) struct target t = NO_TARGET;
	const struct target_need need = {.dry_run = dry_run, .only = pf};
	int r = target_open(ctx, pf, &need, &t);

	if (r == 0)
		r = change_new(ctx, &change);
	if (r == 0 && fix == VFCTL_FIX_FDB)
		r = add_fdb(ctx, &t, &change->steps);
	else if (r == 0 && !t.pf->up)
		step_add_op(&change->steps, &op_pf_link, "up", "down", pf, "%s: set the link up",
			t.pf->netdev);
	if (r == 0)
		r = target_keep(ctx, change, &t, "doctor %s", pf);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

static int plan_vf_link(struct vfctl_ctx *ctx, const char *vf, bool dry_run,
	struct vfctl_change **ret_change)
{
	const struct vfctl_set_item item = {.vf = vf, .attrs = {.mask = VFCTL_ATTR_LINK_STATE,
		.link_state = VFCTL_LINK_STATE_AUTO}};
	const struct vfctl_set_options live = {.live = true};
	int r = vfctl_set_plan(ctx, &item, 1, NULL, dry_run, ret_change);

	if (r != -EBUSY) /* a guest uses it */
		return r;
	ctx_clear(ctx);
	return vfctl_set_plan(ctx, &item, 1, &live, dry_run, ret_change);
}

int vfctl_doctor_fix_plan(struct vfctl_ctx *ctx, const struct vfctl_issue *issue, bool dry_run,
	struct vfctl_change **ret_change)
{
	switch (issue->fix) {
	case VFCTL_FIX_HOOK:
		return vfctl_hook_install_plan(ctx, NULL, ret_change);
	case VFCTL_FIX_LINK_UP:
	case VFCTL_FIX_FDB:
		return plan_pf(ctx, issue->target, issue->fix, dry_run, ret_change);
	case VFCTL_FIX_VF_LINK:
		return plan_vf_link(ctx, issue->target, dry_run, ret_change);
	case VFCTL_FIX_NONE:
		break;
	}
	return ctx_fail(ctx, -EOPNOTSUPP, "doctor cannot fix this: %s", issue->remedy);
}
