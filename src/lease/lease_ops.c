// SPDX-License-Identifier: GPL-2.0-or-later
/* Leases of domains and of single VFs, and the policy of a VF that is plugged in. */
#include <errno.h>

#include "base/json.h"
#include "change/pf_locks.h"
#include "facts/snapshot/domains.h"
#include "host/host.h"
#include "lease/guest_run.h"
#include "lease/lease.h"
#include "lease/lease_text.h"
#include "lease/ops.h"
#include "lease/policy.h"
#include "state/leases.h"
#include "state/store.h"
#include "types/find.h"

#define SET "set"
#define LEFT "left"

static int lease_id(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	char uuid[VFCTL_UUID_TEXT];
	struct vfctl_bdf vf;
	bool held;
	int r;

	op_uuid(op, uuid);
	r = lease_read(ctx, uuid, &leases);
	held = leases && leases->count;
	if (r == 0 && strchr(op->target, '/')) {
		r = op_vf(ctx, op, uuid, &vf);
		held = r == 0 && find_vf_in_leases(leases, &vf);
	}
	return r < 0 ? r : op_say(ctx, held ? leases->v[0].id : "", ret);
}

/* The running domain that has this VF; NULL if there is none. */
static const struct known_domain *plugged_in(const struct known_domains *all, const char *uuid,
	const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->v[i].pid && str_eq(all->v[i].uuid, uuid) &&
			known_domain_has(&all->v[i], vf))
			return &all->v[i];
	return NULL;
}

/* Reads libvirt's files, because a holder of a PF's lock must not call libvirt. */
static int check_unplugged(struct vfctl_ctx *ctx, const struct vfctl_lease *lease)
{
	_cleanup_(known_domains_freep) struct known_domains *all = NULL;
	int r = known_domains_read(ctx, &all);

	for (size_t i = 0; r == 0 && i < lease->vf_count; i++)
		if (plugged_in(all, lease->domain_uuid, &lease->vfs[i].bdf))
			return ctx_fail(ctx, -EBUSY, "domain %s is running with VF %s and keeps its "
				"lease",
				lease->domain_name, TEXT(&lease->vfs[i].bdf));
	return r;
}

/* Check the same for a single VF. */
static int check_vf_unplugged(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf)
{
	struct vfctl_lease alone = *lease;

	alone.vfs = (struct vfctl_lease_vf *)vf;
	alone.vf_count = 1;
	return check_unplugged(ctx, &alone);
}

/* Replace the lease of a domain that libvirt no longer has; the domain is defined again. */
static int replace_lease(struct vfctl_ctx *ctx, const struct op *op, const struct lease_text *t)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	int r = lease_open(ctx, op->target, &store, &leases);

	if (r < 0)
		return r;
	if (!leases->count || !lease_text_is(op->before, leases->v[0].id))
		return ctx_fail(ctx, -EAGAIN, "the lease of domain %s has changed meanwhile",
			t->lease.domain_name);
	if (leases->v[0].running)
		return ctx_fail(ctx, -EBUSY, "domain %s was started meanwhile and keeps its "
			"lease", leases->v[0].domain_name);
	return store_replace(store, leases->v[0].id, &t->lease);
}

static int take_lease(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(lease_text_clear) struct lease_text t = {0};
	_cleanup_(store_closep) struct store *store = NULL;
	int r = lease_from_text(ctx, op->want, &t);

	if (r < 0)
		return r;
	str_copy(t.lease.domain_uuid, sizeof(t.lease.domain_uuid), op->target);
	if (*op->before)
		return replace_lease(ctx, op, &t);
	r = store_open(ctx, STORE_WRITE, &store);
	if (r < 0)
		return r;
	if (t.lease.running)
		return run_take(ctx, store, &t.lease, NULL);
	return store_take(store, &t.lease);
}

/*
 * 1: the change took the lease, and it is to be restored; 0: the lease no longer exists or has
 * another owner.
 */
static int find_taken(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_leases **ret_leases,
	struct lease_text *ret_text)
{
	const struct vfctl_lease *now;
	int r = lease_read(ctx, op->target, ret_leases);

	if (r < 0 || !*ret_leases || !(*ret_leases)->count ||
		!lease_text_is(op->want, (*ret_leases)->v[0].id))
		return r;
	now = &(*ret_leases)->v[0];
	r = lease_from_text(ctx, op->want, ret_text);
	if (r < 0 || (now->transient && !ret_text->lease.transient))
		return r; /* the hook was faster: the VF belongs to the run */
	if (now->running && !ret_text->lease.running)
		return ctx_fail(ctx, -EBUSY, "domain %s was started meanwhile and keeps its "
			"lease", now->domain_name);
	r = check_unplugged(ctx, now);
	return r < 0 ? r : 1;
}

/* The lease that this one replaced. */
static int restore_lease(struct vfctl_ctx *ctx, const struct op *op, struct store *store,
	const struct lease_text *taken)
{
	_cleanup_(lease_text_clear) struct lease_text before = {0};
	int r = lease_from_text(ctx, op->before, &before);

	if (r < 0)
		return r;
	str_copy(before.lease.domain_uuid, sizeof(before.lease.domain_uuid), op->target);
	return store_replace(store, taken->lease.id, &before.lease);
}

static int drop_lease(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(lease_text_clear) struct lease_text t = {0};
	_cleanup_(store_closep) struct store *store = NULL;
	int r = find_taken(ctx, op, &leases, &t);

	if (r == 1)
		r = store_open(ctx, STORE_WRITE, &store);
	if (!store)
		return r;
	if (*op->before)
		return restore_lease(ctx, op, store, &t);
	return store_drop(store, leases->v[0].id);
}

static int check_lease(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(lease_text_clear) struct lease_text t = {0};
	int r = find_taken(ctx, op, &leases, &t);

	return r < 0 ? r : 0;
}

static int set_intent(struct vfctl_ctx *ctx, const struct vfctl_bdf *vf, const char *json)
{
	struct vfctl_vf_attrs intent;
	_cleanup_(store_closep) struct store *store = NULL;
	int r = json_to_attrs(json, &intent);

	if (r < 0)
		return ctx_fail(ctx, r, "the leased values of a VF cannot be read");
	r = store_open(ctx, STORE_WRITE, &store);
	return r < 0 ? r : store_set_intent(store, vf, &intent);
}

/*
 * The domain already has the VF if an attach was interrupted, or if another program removed its
 * device.
 */
static int lease_vf(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	const struct vfctl_lease_vf *has;
	const struct vfctl_lease *lease;
	char uuid[VFCTL_UUID_TEXT];
	struct vfctl_lease_vf row;
	bool running;
	int r = op_leased_vf(ctx, op, &leases, &has);

	op_uuid(op, uuid);
	lease = lease_of(leases);
	if (r == 0)
		r = lease_vf_from_text(ctx, op->want, &row, &running);
	if (r == 0)
		r = lease ? store_open(ctx, STORE_WRITE, &store) : fail_no_lease(ctx, uuid);
	if (r < 0)
		return r;
	if (!has)
		return running ? run_take(ctx, store, lease, &row) : store_add_vf(store, lease->id, &row);
	r = store_set_intent(store, &has->bdf, &row.intent);
	/* Its identification was recorded, and another PF has the address now. */
	if (r == 0 && row.port_id[0] && !str_eq(row.port_id, has->port_id))
		r = store_set_port(store, &has->bdf, row.port_id);
	return r == 0 && running ? run_mark(ctx, uuid, lease->id, lease->domain_name) : r;
}

/*
 * @ret_row is NULL if it is no longer leased. A VF that was leased before the change keeps its
 * lease.
 */
static int find_taken_vf(struct vfctl_ctx *ctx, const struct op *op,
	struct vfctl_leases **ret_leases,
	const struct vfctl_lease_vf **ret_row)
{
	int r = op_leased_vf(ctx, op, ret_leases, ret_row);

	return r < 0 || !*ret_row || strchr(op->before, '{') ? r
		: check_vf_unplugged(ctx, &(*ret_leases)->v[0], *ret_row);
}

static int drop_vf(struct vfctl_ctx *ctx, const struct op *op)
{
	const char *json = strchr(op->before, '{');
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	const struct vfctl_lease_vf *row = NULL;
	int r = find_taken_vf(ctx, op, &leases, &row);

	if (r < 0 || !row || json)
		return r == 0 && row ? set_intent(ctx, &row->bdf, json) : r;
	r = store_open(ctx, STORE_WRITE, &store);
	return r < 0 ? r : store_remove_vf(store, leases->v[0].id, &row->bdf);
}

static int check_vf(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease_vf *row;

	return find_taken_vf(ctx, op, &leases, &row);
}

/* The domain was started after the check: its VFs stay leased until that run ends. */
static int end_with_run(struct vfctl_ctx *ctx, struct store *store,
	const struct vfctl_lease *lease)
{
	log_warn(ctx, "domain %s was started meanwhile: its lease ends when it stops", lease->domain_name);
	return store_make_transient(store, lease->id);
}

/* Called with the locks of its PFs: the present lease counts, not the former one. */
static int end_locked(struct vfctl_ctx *ctx, const char *uuid, bool was_running)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *now = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	int r = lease_open(ctx, uuid, &store, &now);

	if (r < 0 || !now->count)
		return r;
	if (now->v[0].running && !was_running)
		return end_with_run(ctx, store, &now->v[0]);
	r = check_unplugged(ctx, &now->v[0]);
	if (r == 0)
		r = run_restore(ctx, &now->v[0]);
	return r < 0 ? r : store_drop(store, now->v[0].id);
}

/* Lock the PFs of all VFs that the domain holds; @ret_held is false if it holds nothing. */
static int lock_pfs(struct vfctl_ctx *ctx, const char *uuid, struct pf_locks *locks,
	bool *ret_held)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	int r = lease_read(ctx, uuid, &leases);

	*ret_held = lease_of(leases);
	for (size_t i = 0; r == 0 && *ret_held && i < leases->v[0].vf_count; i++)
		r = pf_locks_add(ctx, locks, &leases->v[0].vfs[i].pf);
	return r == 0 && *ret_held ? pf_locks_take(ctx, locks) : r;
}

static int end_lease(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	bool held;
	int r = lock_pfs(ctx, op->target, &locks, &held);

	return r < 0 || !held ? r : end_locked(ctx, op->target, strstr(op->before, OP_RUNNING));
}

/* Called with the lock of its PF. A lease that contains only this VF ends with it. */
static int end_vf_locked(struct vfctl_ctx *ctx, const char *uuid, const struct vfctl_bdf *vf)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	const struct vfctl_lease *lease;
	int r = lease_open(ctx, uuid, &store, &leases);

	if (r < 0 || !find_vf_in_leases(leases, vf))
		return r;
	lease = &leases->v[0];
	r = run_restore_vf(ctx, lease, vf);
	if (r < 0)
		return r;
	/*
	 * The lease has only this VF, because vfctl did not define the domain, so the lease ends
	 * too.
	 */
	return lease->vf_count == 1 && lease->node < 0 ? store_drop(store, lease->id)
						       : store_remove_vf(store, lease->id, vf);
}

/* Lock the PF of a VF that the domain holds. */
static int lock_pf_of(struct vfctl_ctx *ctx, const struct op *op, struct pf_locks *locks)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease_vf *row;
	int r = op_leased_vf(ctx, op, &leases, &row);

	if (row)
		r = pf_locks_add(ctx, locks, &row->pf);
	return row && r == 0 ? pf_locks_take(ctx, locks) : r;
}

/* With that lock, read what the domain holds now. */
static int lock_leased_vf(struct vfctl_ctx *ctx, const struct op *op, struct pf_locks *locks,
	struct vfctl_leases **ret, const struct vfctl_lease_vf **ret_vf)
{
	int r = lock_pf_of(ctx, op, locks);

	*ret_vf = NULL;
	return r < 0 ? r : op_leased_vf(ctx, op, ret, ret_vf);
}

/* The domain was started after the check, perhaps with the VF still in its definition. */
static int check_not_started(struct vfctl_ctx *ctx, const struct op *op, const char *uuid,
	const struct vfctl_bdf *vf)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	int r = lease_read(ctx, uuid, &leases);
	const struct vfctl_lease *lease = lease_of(leases);

	if (!lease || !lease->running || !strstr(op->before, OP_OFF))
		return r;
	return ctx_fail(ctx, -EBUSY, "domain %s was started meanwhile; it keeps the VF until it stops; "
		"then run: vfctl detach %s --vf %s", lease->domain_name,
		lease->domain_name, TEXT(vf));
}

/* The guest released the device, and libvirt's file may be updated a moment later. */
static int await_unplugged(struct vfctl_ctx *ctx, const char *uuid, const struct vfctl_bdf *vf)
{
	unsigned waited = 0;

	for (;;) {
		_cleanup_(known_domains_freep) struct known_domains *all = NULL;
		int r = known_domains_read(ctx, &all);

		if (r < 0 || !plugged_in(all, uuid, vf))
			return r;
		ctx_progress(ctx, "waiting for libvirt to record that the VF is gone");
		if (!host_wait_ms(ctx, 100, &waited))
			return ctx_fail(ctx, -EBUSY, "the running domain has VF %s again",
				TEXT(vf));
	}
}

/* The PF's lock is held from the check on: otherwise a start could get the VF in between. */
static int end_vf(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	char uuid[VFCTL_UUID_TEXT];
	struct vfctl_bdf vf;
	int r = op_vf(ctx, op, uuid, &vf);

	if (r == 0)
		r = lock_pf_of(ctx, op, &locks);
	if (r == 0)
		r = check_not_started(ctx, op, uuid, &vf);
	if (r == 0)
		r = await_unplugged(ctx, uuid, &vf);
	return r < 0 ? r : end_vf_locked(ctx, uuid, &vf);
}

OP_ONE_BY_ONE(lease, lease_id, take_lease, drop_lease)
const struct op_type op_lease = {.name = "lease", OP_CALLS(lease), .nature = OP_HOLDS,
	.check_revert = check_lease, .same = lease_text_is};
OP_ONE_BY_ONE(unlease, lease_id, end_lease, NULL)
const struct op_type op_unlease = {.name = "unlease", OP_CALLS(unlease), .nature = OP_COMMIT,
	.same = lease_text_is};
OP_ONE_BY_ONE(lease_vf, lease_id, lease_vf, drop_vf)
const struct op_type op_lease_vf = {.name = "lease-vf", OP_CALLS(lease_vf), .nature = OP_HOLDS,
	.check_revert = check_vf, .same = lease_text_is};
OP_ONE_BY_ONE(unlease_vf, lease_id, end_vf, NULL)
const struct op_type op_unlease_vf = {.name = "unlease-vf", OP_CALLS(unlease_vf),
	.nature = OP_COMMIT, .same = lease_text_is};

/* ---- identity and policy of a VF that is plugged in ---- */

/*
 * It cannot be determined whether the policy was written; the previous policy is recorded in the
 * run.
 */
static int policy_text(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	int r = lease_id(ctx, op, ret);

	if (r < 0 || !(*ret)[0])
		return r;
	free(*ret);
	return op_say(ctx, SET, ret);
}

static int set_policy(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	_steps_ struct steps steps = {0};
	const struct vfctl_lease_vf *row;
	struct vfctl_domain_vf vf;
	int r = lock_leased_vf(ctx, op, &locks, &leases, &row);

	if (r == 0 && !row)
		r = ctx_fail(ctx, -ENOENT, "VF %s is no longer leased to that domain", op->target);
	if (r < 0)
		return r;
	vf = (struct vfctl_domain_vf){.bdf = row->bdf, .pf = row->pf, .index = row->index,
		.attrs = row->intent};
	r = policy_plan(ctx, leases, &vf, 1, &steps, NULL, NULL);
	return r < 0 ? r : run_add(ctx, leases->v[0].domain_uuid, leases->v[0].domain_name, &steps);
}

static int restore_one(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	const struct vfctl_lease_vf *row;
	int r = lock_leased_vf(ctx, op, &locks, &leases, &row);

	if (!row)
		return r;
	/* libvirt's answer was lost, and the guest has the VF after all. */
	r = check_vf_unplugged(ctx, &leases->v[0], row);
	return r < 0 ? r : run_restore_vf(ctx, &leases->v[0], &row->bdf);
}

OP_ONE_BY_ONE(policy, policy_text, set_policy, restore_one)
const struct op_type op_policy = {.name = "policy", OP_CALLS(policy), .lost_on_reboot = true};

/* ---- leftovers of a run ---- */

static bool is_left(const struct vfctl_lease *lease)
{
	bool left = lease->running || lease->transient;

	for (size_t i = 0; i < lease->vf_count; i++)
		left |= lease->vfs[i].saved.mask || lease->vfs[i].transient;
	return left;
}

static int what_is_left(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	int r = lease_read(ctx, op->target, &leases);
	const struct vfctl_lease *lease = lease_of(leases);

	return r < 0 ? r : op_say(ctx, lease && is_left(lease) ? LEFT : "", ret);
}

static int end_run(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *now = NULL;
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	bool held;
	int r = lock_pfs(ctx, op->target, &locks, &held);

	if (r == 0 && held)
		r = lease_read(ctx, op->target, &now);
	if (r < 0 || !now || !now->count)
		return r;
	if (now->v[0].running && !strstr(op->before, OP_RUNNING))
		return ctx_fail(ctx, -EBUSY, "domain %s has been started meanwhile; its VFs are "
			"returned when it stops", now->v[0].domain_name);
	r = run_end(ctx, op->target);
	/* Some of several VFs were restored. */
	return r < 0 ? ctx_append(ctx, -ESTALE, " (still to do: vfctl release %s)",
		now->v[0].domain_name) : 0;
}

OP_ONE_BY_ONE(unrun, what_is_left, end_run, NULL)
const struct op_type op_end_run = {.name = "unrun", OP_CALLS(unrun), .nature = OP_COMMIT,
	.same = lease_text_is};

/* ---- a lease whose domain no longer exists, and which another domain's definition names ---- */

/* The lease with that id; NULL if there is none. */
static const struct vfctl_lease *find_by_id(const struct vfctl_leases *leases, const char *id)
{
	for (size_t i = 0; leases && i < leases->count; i++)
		if (str_eq(leases->v[i].id, id))
			return &leases->v[i];
	return NULL;
}

static int whose_lease(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease *l;
	int r = lease_read(ctx, NULL, &leases);

	if (r < 0)
		return r;
	l = find_by_id(leases, op->target);
	return op_give(ctx, l ? str_format("%s %s", l->domain_uuid, l->domain_name) : strdup(""), ret);
}

static int check_rests(struct vfctl_ctx *ctx, const struct vfctl_lease *l)
{
	return !l->running ? 0 : ctx_fail(ctx, -EBUSY, "domain %s is running with its lease; repeat "
		"this when it is off", l->domain_name);
}

/* @from, @to: "UUID NAME". A lease that belongs to neither any more is not changed. */
static int hand_over(struct vfctl_ctx *ctx, const struct op *op, const char *from, const char *to)
{
	_free_ char *uuid = strndup(to, strcspn(to, " "));
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	const struct vfctl_lease *l;
	int r = uuid ? lease_open(ctx, NULL, &store, &leases) : ctx_oom(ctx);

	if (r < 0)
		return r;
	if (!strchr(to, ' '))
		return ctx_fail(ctx, -EBADMSG, "'%.80s' is not a domain that can get a lease", to);
	l = find_by_id(leases, op->target);
	if (!l || !lease_text_is(from, l->domain_uuid))
		return 0;
	r = check_rests(ctx, l);
	return r < 0 ? r : store_hand_over(store, l->id, uuid, strchr(to, ' ') + 1);
}

static int give_lease(struct vfctl_ctx *ctx, const struct op *op)
{
	_free_ char *now = NULL;
	int r = hand_over(ctx, op, op->before, op->want);

	if (r == 0)
		r = whose_lease(ctx, op, &now);
	return r == 0 && !str_eq(now, op->want) ? ctx_fail(ctx, -EBUSY, "lease %s now belongs to "
		"another domain; repeat the command", op->target) : r;
}

static int give_lease_back(struct vfctl_ctx *ctx, const struct op *op)
{
	return hand_over(ctx, op, op->want, op->before);
}

static int check_lease_back(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	int r = lease_read(ctx, NULL, &leases);
	const struct vfctl_lease *l = r == 0 ? find_by_id(leases, op->target) : NULL;

	return l && lease_text_is(op->want, l->domain_uuid) ? check_rests(ctx, l) : r;
}

OP_ONE_BY_ONE(lease_domain, whose_lease, give_lease, give_lease_back)
const struct op_type op_lease_domain = {.name = "lease-domain", OP_CALLS(lease_domain),
	.check_revert = check_lease_back};
