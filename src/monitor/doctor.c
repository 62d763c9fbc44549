// SPDX-License-Identifier: GPL-2.0-or-later
/* All checks, with those that need plans and the journal -> what is wrong with this host. */
#include "core/doctor.h"

#include <errno.h>
#include <fnmatch.h>

#include "base/change.h"
#include "change/target.h"
#include "checks/check.h"
#include "checks/doctor.h"
#include "facts/snapshot/domains.h"
#include "host/host.h"
#include "sriov/ops.h"
#include "tuning/fdb.h"
#include "tuning/irq.h"
#include "core/apply.h"
#include "core/findings.h"
#include "core/hook.h"
#include "core/identity.h"
#include "core/recover.h"
#include "core/workflow.h"

/* ---- what the snapshot alone does not tell ---- */

static bool has_leases(const struct exam *e)
{
	return e->snapshot->leases && e->snapshot->leases->count;
}

static void check_hook(struct exam *e)
{
	struct vfctl_hook_status status;
	struct vfctl_ailment *a = NULL;

	if (!str_eq(host_of(e->ctx)->ops->name, "kernel")) {
		unknown(e, "it is a matter of the machine that this runs on");
		return;
	}
	if (vfctl_hook_status_read(e->ctx, &status) < 0) {
		unknown(e, "%s", vfctl_ctx_error(e->ctx));
		return;
	}
	if (status.leftover)
		a = found(e, "", "a half-written copy is beside %s, and libvirt starts no domain",
			VFCTL_HOOK_PATH);
	else if (!status.installed)
		a = found(e, "", "%s is not there", VFCTL_HOOK_PATH);
	else if (!status.executable)
		a = found(e, "", "%s is not executable, and libvirt skips it in silence", VFCTL_HOOK_PATH);
	else if (!status.current)
		a = found(e, "", "%s is not the program of this vfctl", VFCTL_HOOK_PATH);
	else if (status.daemon_pid && !status.seen_by_daemon)
		a = found(e, "", "%s is newer than the libvirt daemon (process %d), which looks for "
			"hooks when it starts", VFCTL_HOOK_PATH, status.daemon_pid);
	if (a)
		a->fix = VFCTL_FIX_HOOK;
	if (a && !status.leftover && (!has_leases(e) || (status.installed && status.executable)))
		a->severity = VFCTL_WARNING;
}

static void check_journal(struct exam *e)
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

/* A typo in host.yaml is found out here, or at the next boot, when there are no VFs. */
static void tell_unread(struct exam *e)
{
	struct vfctl_ailment *a;

	if (e->spec_error == -EACCES || e->spec_error == -EPERM) {
		unknown(e, "%s", e->spec_words);
		return;
	}
	a = found(e, "", "%s", e->spec_words);
	if (!a)
		return;
	a->severity = VFCTL_PROBLEM;
	a->what = "host.yaml cannot be read";
	set_remedy(e, a, "mend it (vfctl apply --dry-run says whether it can be read): vfctl apply does "
		"nothing until then, at boot neither");
}

static void check_drift(struct exam *e)
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
			found(e, pf->name, "%s", pf->words ? pf->words : "out of memory");
		else if (pf->change && vfctl_change_count(pf->change))
			found(e, pf->name, "%s%s", vfctl_change_describe(pf->change, 0),
				vfctl_change_count(pf->change) > 1 ? ", and more" : "");
	}
	if (declared->host_error)
		found(e, "", "%s", declared->host_words ? declared->host_words : "out of memory");
	else if (declared->host && vfctl_change_count(declared->host))
		found(e, "", "%s", vfctl_change_describe(declared->host, 0));
	vfctl_declared_free(declared);
}

static void check_findings(struct exam *e)
{
	struct vfctl_findings *findings = NULL;

	if (!e->snapshot->leases || e->snapshot->leases_error)
		return;
	vfctl_snapshot_mark_left(e->ctx, e->snapshot, e->spec);
	if (vfctl_findings_read(e->ctx, e->snapshot, e->spec, &findings) < 0) {
		unknown(e, "%s", vfctl_ctx_error(e->ctx));
		return;
	}
	for (size_t i = 0; i < findings->count; i++) {
		const struct vfctl_finding *f = &findings->v[i];
		struct vfctl_ailment *a = found(e, f->domain[0] ? f->domain : f->vf, "%s", f->words);

		if (a && f->note)
			a->severity = VFCTL_NOTE;
		else if (a && f->kind == VFCTL_FINDING_UNGUARDED)
			a->severity = VFCTL_PROBLEM;
		set_remedy(e, a, "%s", f->remedy);
	}
	vfctl_findings_free(findings);
}

/* Whoever asked that interrupts stay somewhere wants to know who moves them. */
static void check_irqbalance(struct exam *e)
{
	_free_ char *words = NULL;
	bool wanted = has_leases(e);

	for (size_t i = 0; e->spec && i < e->spec->pf_count; i++)
		wanted |= e->spec->pfs[i].tuning.profile != NULL;
	words = wanted ? irq_balance_words(e->ctx) : NULL;
	if (words)
		found(e, "", "%s", words);
}

/* VFs are gone after a boot, and what declares them makes them only where it is started. */
static void check_boot(struct exam *e)
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
	found(e, "", "/etc/vfctl/host.yaml declares VFs, and nothing below /etc/systemd/system wants %s",
		unit);
}

static const struct check own_checks[] = {
	{"hook", VFCTL_PROBLEM, "guests with leased VFs start without vfctl's hook: no MAC, GUID or "
		"policy of theirs is set", NULL, "vfctl hook install (or vfctl doctor --fix)", check_hook},
	{"journal", VFCTL_WARNING, "a change was cut short", "its process died",
		"vfctl recover", check_journal},
	{"boot", VFCTL_NOTE, "after the next boot there are no VFs before somebody makes them", NULL,
		"systemctl enable vfctl-apply.service: it makes them before libvirtd starts guests",
		check_boot},
	{"guest-mtu", VFCTL_WARNING, "a guest's large packets are lost: its PF's MTU is below the guest's",
		"a PF caps its VFs", "a larger MTU of the PF", doctor_check_mtu},
	{"irqbalance", VFCTL_NOTE, "interrupts that vfctl places may be moved", NULL,
		"docs/tuning.md has how irqbalance asks vfctl", check_irqbalance},
	{"drift", VFCTL_WARNING, "the host is not as host.yaml declares", NULL,
		"vfctl status prints all of it, vfctl apply puts it right", check_drift},
	{"leases", VFCTL_WARNING, "leases, domains and VFs do not agree", NULL, "vfctl status",
		check_findings},
	{.name = NULL},
};

/* ---- all of them ---- */

static const struct check *const all_checks[] = {host_checks, pci_checks, vf_checks, eswitch_checks,
	rdma_checks, process_checks, log_checks, guest_checks, place_checks, system_checks, own_checks};

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

/* ---- one subject alone ---- */

struct subject {
	const struct vfctl_pf *pf;	/* NULL: it is a domain */
	const struct vfctl_lease *lease; /* of the domain; NULL: it has none */
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
	return ctx_mistake(ctx, -ENOENT, "'%s' is no PF of this host and no domain "
		"that libvirt has defined (vfctl list and virsh list --all show them)", name);
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

/* By its lease, by its definition, or because it runs with it. */
static bool is_of(const struct vfctl_vf *vf, const char *domain)
{
	return str_eq(vf->lease.name, domain) || str_eq(vf->defined_in, domain) ||
		(vf->holder.kind == VFCTL_HOLDER_DOMAIN && str_eq(vf->holder.name, domain));
}

/* A VF of the domain, or the PF of one: not what other guests have of that PF. */
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

/* One of its VFs that is not there. */
static bool names_absent(const struct vfctl_lease *lease, const char *subject)
{
	char bdf[VFCTL_BDF_TEXT];

	for (size_t i = 0; lease && i < lease->vf_count; i++)
		if (str_eq(subject, vfctl_bdf_format(&lease->vfs[i].bdf, bdf)))
			return true;
	return false;
}

static bool concerns_doctor(const struct vfctl_snapshot *s, const struct subject *of, const char *subject)
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

static void keep_only(struct vfctl_diagnosis *d, const struct vfctl_snapshot *s,
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

/* The worst first; of one severity those found first. */
static void sort(struct vfctl_diagnosis *d)
{
	for (size_t i = 1; i < d->count; i++)
		for (size_t k = i; k && d->v[k].severity > d->v[k - 1].severity; k--) {
			struct vfctl_ailment t = d->v[k];

			d->v[k] = d->v[k - 1];
			d->v[k - 1] = t;
		}
	d->worst = d->count ? d->v[0].severity : VFCTL_NOTE;
}

int vfctl_doctor_examine(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct vfctl_doctor_options *options, struct vfctl_diagnosis **ret)
{
	static const struct vfctl_doctor_options none = {0};
	const struct vfctl_doctor_options *o = options ? options : &none;
	_cleanup_(vfctl_diagnosis_freep) struct vfctl_diagnosis *d = calloc(1, sizeof(*d));
	struct exam e = {.ctx = ctx, .snapshot = snapshot, .spec = o->spec, .spec_error = o->spec_error,
		.spec_words = o->spec_words ? o->spec_words : "", .diagnosis = d};
	struct subject of;
	int r = d ? 0 : ctx_oom(ctx);

	if (r == 0 && o->subject)
		r = find_subject(ctx, snapshot, o->subject, &of);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(all_checks); i++)
		exam_run(&e, all_checks[i]);
	exam_end(&e);
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

/* ---- what can be put right ---- */

static int add_fdb(struct vfctl_ctx *ctx, const struct target *t, struct steps *steps)
{
	const struct vfctl_pf *pf = t->pf;
	_free_ struct vfctl_mac *macs = NULL;
	size_t count;
	int r = fdb_missing(ctx, pf, &macs, &count);

	if (r == 0)
		r = doctor_filter_macs(ctx, t->snapshot->leases, macs, &count);
	if (r == 0)
		fdb_add_steps(pf, macs, count, steps);
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

	if (r != -EBUSY) /* a guest runs with it */
		return r;
	ctx_clear(ctx);
	return vfctl_set_plan(ctx, &item, 1, &live, dry_run, ret_change);
}

int vfctl_doctor_fix_plan(struct vfctl_ctx *ctx, const struct vfctl_ailment *ailment, bool dry_run,
	struct vfctl_change **ret_change)
{
	switch (ailment->fix) {
	case VFCTL_FIX_HOOK:
		return vfctl_hook_install_plan(ctx, NULL, ret_change);
	case VFCTL_FIX_LINK_UP:
	case VFCTL_FIX_FDB:
		return plan_pf(ctx, ailment->target, ailment->fix, dry_run, ret_change);
	case VFCTL_FIX_VF_LINK:
		return plan_vf_link(ctx, ailment->target, dry_run, ret_change);
	case VFCTL_FIX_NONE:
		break;
	}
	return ctx_fail(ctx, -EOPNOTSUPP, "nothing can be done about it by itself: %s", ailment->remedy);
}
