// SPDX-License-Identifier: GPL-2.0-or-later
/* define: first the lease, then libvirt. undefine: first libvirt, then the lease. */
#include <errno.h>
#include <stdio.h>

#include "base/change.h"
#include "base/parse.h"
#include "base/planning.h"
#include "change/pf_locks.h"
#include "change/recover.h"
#include "domain/domain.h"
#include "facts/guest_spec.h"
#include "facts/snapshot/memlock.h"
#include "facts/snapshot/snapshot.h"
#include "guest/define.h"
#include "guest/guest.h"
#include "guest/redefine/redefine.h"
#include "guest/suggest.h"
#include "ids/owner.h"
#include "ids/values.h"
#include "lease/clean.h"
#include "lease/lease.h"
#include "lease/lease_text.h"
#include "lease/ops.h"
#include "lease/port.h"
#include "spec/host_yaml.h"
#include "state/leases.h"
#include "state/store.h"

struct define {
	struct vfctl_placement *placed;
	struct vfctl_hypervisor *hv;
	char *xml;
	struct vfctl_lease lease; /* owns cells and vfs */
	struct identities lost; /* values of the replaced lease that no VF has any more */
};

static void define_clear(struct define *d)
{
	vfctl_placement_free(d->placed);
	free(d->xml);
	lease_clear(&d->lease);
	identities_clear(&d->lost);
}

static int fill_lease(struct vfctl_ctx *ctx, struct define *d)
{
	const struct vfctl_assignment *a = vfctl_placement_assignment(d->placed);
	struct vfctl_lease *l = &d->lease;
	int r;

	str_copy(l->id, sizeof(l->id), d->placed->lease_id);
	str_copy(l->domain_uuid, sizeof(l->domain_uuid), d->placed->guest->uuid);
	l->domain_name = d->placed->guest->name;
	if (a->emulator_shared)
		l->qemu_cpus = a->emulator_cpus;
	r = lease_fill(ctx, a, d->placed->vfs, d->placed->vf_count, l);
	ports_fill(d->placed->snapshot->inventory, l->vfs, l->vf_count);
	return r;
}

/* 1: the lease's domain exists under another name; 0: libvirt does not have it. */
static int find_renamed(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv,
	const struct vfctl_lease *lease, char ret_name[128])
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	int r = hv->get(ctx, hv, lease->domain_uuid, true, &info);

	if (r < 0)
		return ctx_ignore_error(ctx, r, -ENOENT);
	snprintf(ret_name, 128, "%.127s", info.name);
	return 1;
}

int find_existing(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv,
	const struct vfctl_guest *guest, struct vfctl_domain_info *ret)
{
	const char *const names[] = {guest->name, guest->uuid};

	for (size_t i = 0; i < ARRAY_SIZE(names) && names[i]; i++) {
		int r = hv->get(ctx, hv, names[i], true, ret);

		if (r != -ENOENT)
			return r < 0 ? r : 1;
	}
	ctx_clear(ctx);
	return 0;
}

/*
 * Check that no lease of another domain of that name is left, and that the lease's domain does not
 * run.
 */
static int check_new(struct vfctl_ctx *ctx, const struct define *d)
{
	const struct vfctl_leases *leases = d->placed->snapshot->leases;
	const struct vfctl_guest *guest = d->placed->guest;
	struct vfctl_hypervisor *hv = d->hv;
	const struct vfctl_lease *old = vfctl_leases_find_uuid(leases, guest->uuid);
	char now_called[128];
	int r;

	if (!old)
		old = vfctl_leases_find(leases, guest->name);
	if (old == d->placed->left)
		return 0;
	r = old ? find_renamed(ctx, hv, old, now_called) : 0;
	if (r == 1)
		return ctx_fail(ctx, -EEXIST, "domain %s in libvirt holds its lease under its former "
			"name %s until its next start; choose another name until then",
			now_called, old->domain_name);
	if (r == 0 && old)
		return ctx_fail(ctx, -EEXIST, "libvirt has no domain %s, but a lease with that name is "
			"%s; end it first: vfctl %s %s", guest->name, old->running ? "marked as "
			"running" : "for another UUID", old->running ? "release" : "undefine",
			old->domain_name);
	return r;
}

static bool lease_carries(const struct vfctl_lease *l, const struct vfctl_id *id)
{
	for (size_t i = 0; i < l->vf_count; i++)
		if (attrs_carry(&l->vfs[i].intent, id->kind, id->value))
			return true;
	return false;
}

/*
 * Values of pools that belonged to VFs of the former lease. Values that were only reserved stay
 * with the domain.
 */
static int find_lost(struct vfctl_ctx *ctx, struct define *d, struct vfctl_ids *ids)
{
	const struct vfctl_lease *left = d->placed->left;
	size_t kept = 0;
	int r = left ? identities_of_domain(ctx, ids, d->lease.domain_uuid, NULL, &d->lost) : 0;

	for (size_t i = 0; r == 0 && i < d->lost.count; i++)
		if (lease_carries(left, &d->lost.given[i]) && !lease_carries(&d->lease, &d->lost.given[i])) {
			d->lost.had[kept] = d->lost.had[i];
			d->lost.given[kept++] = d->lost.given[i];
		}
	d->lost.count = kept;
	return r;
}

static int add_define_steps(struct vfctl_ctx *ctx, struct define *d,
	const struct vfctl_host_spec *spec, struct vfctl_change *change)
{
	const struct vfctl_lease *left = d->placed->left;
	_free_ char *text = lease_to_text(&d->lease);
	_free_ char *before = left ? lease_to_text(left) : strdup("");
	_buf_ struct buf memory = {0}, vfs = {0}, qemu = {0};
	struct steps *steps = &change->steps;
	const char *uuid = d->lease.domain_uuid;
	char cpus[512];
	int r = text && before ? identities_add_step(ctx, &d->placed->identities, change) : ctx_oom(ctx);

	if (r == 0)
		r = clean_add_steps(ctx, d->placed->snapshot, spec, d->placed->vfs,
			d->placed->vf_count, steps);
	for (size_t i = 0; i < d->lease.vf_count; i++)
		buf_printf(&vfs, "%s%s", i ? ", " : d->lease.vf_count > 1 ? " and VFs " : " and VF ",
			TEXT(&d->lease.vfs[i].bdf));
	lease_put_memory(&d->lease, &memory);
	lease_put_qemu(&d->lease, &qemu);
	vfctl_cpuset_format(&d->lease.cpus, cpus, sizeof(cpus));
	step_begin(steps, "lease to domain %s: CPUs %s%s and %s%s", d->lease.domain_name, cpus,
		qemu.data ? qemu.data : "", memory.data ? memory.data : "no memory",
		vfs.data ? vfs.data : "");
	step_op(steps, &op_lease, text, before, "%s", uuid);
	step_add_op(steps, &op_domain, d->xml, "", uuid, "define domain %s in libvirt",
		d->lease.domain_name);
	return r < 0 ? r : identities_add_return_step(ctx, &d->lost, change);
}

static int make_xml(struct vfctl_ctx *ctx, struct define *d, const char *template_text,
	const char *template_name)
{
	_free_ char *xml = NULL;
	int r = placed_xml(ctx, d->placed, template_text, template_name, d->hv->version, &xml);

	if (r < 0)
		return r;
	memlock_warn(ctx, d->placed->guest->name, xml, d->hv->version);
	if (d->placed->guest->doc)
		return guest_spec_write(ctx, xml, d->placed->guest, &d->xml);
	d->xml = steal(xml);
	return 0;
}

/* Define a new guest: @change gets the steps. */
static int define_placed(struct vfctl_ctx *ctx, struct define *d, const struct define_request *q,
	struct vfctl_change *change)
{
	int r = vfctl_guest_check_host(ctx, q->guest, d->hv);

	if (r == 0)
		r = check_new(ctx, d);
	if (r == 0)
		r = placed_check(ctx, d->placed);
	if (r == 0)
		r = guest_check_template(ctx, d->placed->snapshot, q->template_text, q->template_name);
	if (r == 0 && !q->dry_run)
		r = placed_take_identities(ctx, d->placed, q->options->ids);
	if (r == 0)
		r = values_check_guest(ctx, ROAD_GUEST, d->placed->snapshot, q->guest->uuid, d->placed->vfs,
			d->placed->vf_count);
	if (r == 0)
		r = make_xml(ctx, d, q->template_text, q->template_name);
	if (r == 0)
		r = fill_lease(ctx, d);
	if (r == 0)
		r = find_lost(ctx, d, q->options->ids);
	if (r == 0)
		r = add_define_steps(ctx, d, q->options->spec, change);
	if (r < 0)
		return r;
	/* placed_of_batch() has no reasons: the whole batch was planned before. */
	assignment_warn(ctx, q->guest->name, q->assignment ? q->assignment :
		vfctl_placement_assignment(d->placed));
	guest_warn_down(ctx, d->placed->snapshot->inventory, q->guest->name, d->placed->vfs,
		d->placed->vf_count);
	guest_warn_whole(ctx, d->placed->snapshot->inventory, d->placed->vfs, d->placed->vf_count);
	change->result = str_format("domain %s is defined; start it with: virsh start %s",
		q->guest->name, q->guest->name);
	return change->result ? 0 : ctx_oom(ctx);
}

static int define_new(struct vfctl_ctx *ctx, struct define *d, const struct define_request *q,
	struct vfctl_change *change)
{
	int r = q->assignment ? placed_of_batch(ctx, q->guest, q->options, q->assignment, &d->placed)
			      : vfctl_place(ctx, q->guest, q->options, &d->placed);

	return r < 0 ? r : define_placed(ctx, d, q, change);
}

static int define_or_change(struct vfctl_ctx *ctx, struct define *d,
	const struct define_request *q, struct vfctl_change *change)
{
	struct vfctl_domain_info info = {0};
	int r = find_existing(ctx, d->hv, q->guest, &info);

	if (r == 1) {
		const struct redefine_request again = {.guest = q->guest, .options = q->options,
			.info = &info, .dry_run = q->dry_run};

		r = guest_redefine(ctx, &again, change);
		vfctl_domain_info_clear(&info);
		return r;
	}
	return r < 0 ? r : define_new(ctx, d, q, change);
}

int define_locked(struct vfctl_ctx *ctx, const struct define_request *q,
	struct vfctl_change *change)
{
	_cleanup_(define_clear) struct define d = {.hv = q->options->hypervisor};
	int r;

	q->guest->template_hash = q->template_text ? guest_template_hash(q->template_text) : 0;
	r = vfctl_guest_check_tuning(ctx, q->options->spec, q->guest);
	if (r == 0)
		r = define_or_change(ctx, &d, q, change);

	if (r == 0)
		r = guest_journal(ctx, change, d.hv, "define %s", q->guest->name);
	return change_planned(ctx, change, r);
}

int vfctl_define_plan(struct vfctl_ctx *ctx, struct vfctl_guest *guest,
	const struct vfctl_place_options *options, const char *template_text,
	const char *template_name, bool dry_run, struct vfctl_change **ret_change)
{
	const struct define_request q = {guest, options, template_text, template_name, NULL, dry_run};
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = guest_change_new(ctx, options->hypervisor, dry_run, &change);

	if (r == 0)
		r = define_locked(ctx, &q, change);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

/* ---- undefine ---- */

struct undefine {
	struct vfctl_hypervisor *hv;
	struct vfctl_domain_info info; /* name NULL: libvirt does not have it */
	struct vfctl_leases *leases;
	const struct vfctl_lease *lease; /* NULL: it has none */
	struct identities identities;
};

static void undefine_clear(struct undefine *u)
{
	identities_clear(&u->identities);
	vfctl_domain_info_clear(&u->info);
	vfctl_leases_free(u->leases);
}

/* A domain of that name was defined again without its UUID: the lease belongs to the former one. */
static int check_namesake(struct vfctl_ctx *ctx, const struct undefine *u)
{
	const struct vfctl_lease *l = vfctl_leases_find(u->leases, u->info.name);
	char now_called[128];
	int r = l && !u->lease ? find_renamed(ctx, u->hv, l, now_called) : 1;

	if (r)
		return r < 0 ? r : 0;
	return ctx_fail(ctx, -EPERM, "the lease of domain %s belongs to the former domain with UUID %s, "
		"which libvirt no longer has; the present domain has UUID %s; to give it that lease: "
		"vfctl recover --rebuild --trust-metadata; to end that lease: vfctl undefine "
		"%s", u->info.name,
		l->domain_uuid,
		u->info.uuid, l->domain_uuid);
}

/* vfctl did not place it, or only gave it a VF: vfctl must not remove its definition. */
static int check_ours(struct vfctl_ctx *ctx, const struct undefine *u, bool force)
{
	const char *name = u->info.name;
	bool lost = false;
	int r = force || !name ? 0 : check_namesake(ctx, u);

	if (r < 0 || force || !name || (u->lease && u->lease->cell_count))
		return r;
	r = u->lease ? 0 : guest_is_defined(ctx, u->info.xml, name, &lost);
	if (r < 0)
		return r;
	if (lost)
		return ctx_fail(ctx, -EPERM, "vfctl defined domain %s, but its lease is lost; restore it: "
			"vfctl recover --rebuild; to remove its definition alone: vfctl undefine %s "
			"--force", name, name);
	if (!u->lease)
		return ctx_fail(ctx, -EPERM, "vfctl did not define domain %s; to undefine it "
			"nevertheless: vfctl undefine %s --force", name, name);
	return ctx_fail(ctx, -EPERM, "vfctl did not define domain %s; to undefine it nevertheless: "
		"vfctl undefine %s --force; to remove only its VFs: vfctl detach %s; to end its lease "
		"and keep it as it is: vfctl adopt %s --undo", name, name, name, name);
}

/*
 * libvirt has no domain of that name, but there may be a lease. If its domain still exists, it has
 * another name.
 */
static int find_left(struct vfctl_ctx *ctx, const char *name, struct undefine *u)
{
	char now_called[128];
	int r;

	ctx_clear(ctx);
	u->lease = vfctl_leases_find(u->leases, name);
	r = u->lease ? find_renamed(ctx, u->hv, u->lease, now_called) : 0;
	return r != 1 ? r : ctx_fail(ctx, -ENOENT, "domain %s was renamed to %s in libvirt and still "
		"has its lease; to remove it: vfctl undefine %s", name, now_called,
		now_called);
}

static int find_domain(struct vfctl_ctx *ctx, const char *name, struct undefine *u)
{
	int r = vfctl_leases_read(ctx, &u->leases);

	if (r == 0)
		r = u->hv->get(ctx, u->hv, name, true, &u->info);
	if (r < 0)
		return r == -ENOENT && u->leases ? find_left(ctx, name, u) : r;
	u->lease = vfctl_leases_find_uuid(u->leases, u->info.uuid);
	if (u->info.active)
		return ctx_fail(ctx, -EBUSY, "domain %s is running; stop it first: virsh shutdown "
			"%s", u->info.name, u->info.name);
	return 0;
}

/* A define that was killed early left nothing but these. */
static int find_identities(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *name,
	struct undefine *u)
{
	char uuid[VFCTL_UUID_TEXT] = "";
	int r = 0;

	if (u->info.name || u->lease)
		str_copy(uuid, sizeof(uuid), u->info.name ? u->info.uuid : u->lease->domain_uuid);
	else if (ids)
		r = identities_find_domain(ctx, ids, name, uuid);
	if (r == 0)
		r = identities_of_domain(ctx, uuid[0] ? ids : NULL, uuid, NULL, &u->identities);
	if (r == 0 && !u->info.name && !u->lease && !u->identities.count)
		return suggest_domain(ctx, u->hv, u->leases, name,
			ctx_fail(ctx, -EALREADY, "domain %s not found: libvirt does not have it, and it "
				"has no lease, GUID or MAC on this host", name));
	return r;
}

static int add_undefine_steps(struct vfctl_ctx *ctx, struct undefine *u, unsigned drop,
	struct vfctl_change *change)
{
	const struct vfctl_lease *l = u->lease;
	struct steps *steps = &change->steps;

	if (u->info.name && u->info.persistent) {
		_free_ char *before = domain_drops(drop);

		if (!before)
			return ctx_oom(ctx);
		step_add_op(steps, &op_undefine, "", before, u->info.uuid,
			"undefine domain %s in libvirt", u->info.name);
	}
	if (l) {
		_free_ char *before = str_format("%s%s", l->id, l->running ? OP_RUNNING : "");

		if (!before)
			return ctx_oom(ctx);
		step_add_op(steps, &op_unlease, "", before, l->domain_uuid,
			"end the lease of domain %s (%zu VF%s)", l->domain_name, l->vf_count,
			plural(l->vf_count));
	}
	return identities_add_return_step(ctx, &u->identities, change);
}

int vfctl_undefine_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_undefine_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(undefine_clear) struct undefine u = {.hv = hypervisor};
	_free_ char *story = str_format("undefine %s", domain);
	bool finished = false;
	int r = guest_change_open(ctx, dry_run, &change);

	if (r < 0)
		return r;
	if (!dry_run)
		finished = recover_guests(ctx, hypervisor, story);
	r = find_domain(ctx, domain, &u);
	if (r == 0)
		r = check_ours(ctx, &u, options->force);
	if (r == 0)
		r = find_identities(ctx, options->ids, domain, &u);
	/* An earlier change that was interrupted has now been finished. */
	if (r == -EALREADY && finished)
		ctx_clear(ctx);
	if (r == 0)
		r = add_undefine_steps(ctx, &u, options->drop, change);
	return guest_change_planned(ctx, &change, r, ret_change, hypervisor, "undefine %s", domain);
}
