// SPDX-License-Identifier: GPL-2.0-or-later
#include "lease/guest_run.h"

#include <errno.h>
#include <stdio.h>

#include "base/json.h"
#include "base/parse.h"
#include "change/recover.h"
#include "facts/snapshot/snapshot.h"
#include "ids/give.h"
#include "lease/guest_tuning.h"
#include "lease/lease.h"
#include "lease/ops.h"
#include "sriov/bound.h"
#include "sriov/ops.h"
#include "state/journal.h"
#include "state/leases.h"
#include "state/store.h"
#include "types/find.h"

/* ---- the domain ---- */

static const char *name_in(const char *want)
{
	const char *space = strchr(want, ' ');

	return space ? space + 1 : "";
}

static int observe_run(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	int r = lease_read(ctx, op->target, &leases);
	const struct vfctl_lease *lease = lease_of(leases);

	return r < 0 ? r : op_give(ctx, lease ? str_format("%s %s", lease->id, lease->domain_name)
		: strdup(""), ret);
}

/* A foreign domain that may have what it requests. */
static int take_transient(struct store *store, const struct op *op)
{
	struct vfctl_lease lease = {.domain_name = (char *)name_in(op->want), .transient = true,
		.node = VFCTL_NODE_NONE};

	/* Use the UUID, not the id in the XML: a copied XML must not share the original's lease. */
	str_copy(lease.id, sizeof(lease.id), op->target);
	str_copy(lease.domain_uuid, sizeof(lease.domain_uuid), op->target);
	return store_take(store, &lease);
}

static int apply_run(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	const char *name = name_in(op->want);
	int r = lease_open(ctx, op->target, &store, &leases);

	if (r < 0)
		return r;
	if (!leases->count)
		return take_transient(store, op);
	return str_eq(leases->v[0].domain_name, name) ? 0
		: store_rename(store, leases->v[0].id, name);
}

/*
 * VFs that were plugged only into the running domain are not in its definition: their leases end
 * now.
 */
static int drop_transient(struct store *store, const struct vfctl_lease *lease)
{
	int r = 0;

	for (size_t i = 0; i < lease->vf_count && r == 0; i++)
		if (lease->vfs[i].transient)
			r = store_remove_vf(store, lease->id, &lease->vfs[i].bdf);
	return r;
}

/* Roll back everything except the values that VFs had before. */
static int revert_run(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	const struct vfctl_lease *lease;
	int r = lease_open(ctx, op->target, &store, &leases);

	if (r < 0 || !leases->count)
		return r;
	lease = &leases->v[0];
	for (size_t i = 0; r == 0 && i < lease->vf_count; i++)
		if (lease->vfs[i].returns_identity)
			r = identities_return(ctx, lease->domain_uuid, &lease->vfs[i].intent);
	if (r < 0)
		return r;
	if (!lease->transient)
		return drop_transient(store, lease);
	r = identities_forget(ctx, lease->domain_uuid, true);
	return r < 0 ? r : store_drop(store, lease->id);
}

OP_ONE_BY_ONE(run, observe_run, apply_run, revert_run)
const struct op_type op_run = {.name = "run", OP_CALLS(run), .nature = OP_HOLDS};

/* ---- one of its VFs ---- */

/* "UUID/VF" and "PF/INDEX {..}". */
static int parse_vf(struct vfctl_ctx *ctx, const struct op *op, char ret_uuid[VFCTL_UUID_TEXT],
	struct vfctl_lease_vf *ret)
{
	const char *slash = strchr(op->target, '/'), *json = strchr(op->want, '{');
	char pf[VFCTL_BDF_TEXT], index[12];

	*ret = (struct vfctl_lease_vf){.transient = true};
	if (!slash || !json || sscanf(op->want, "%15[^/]/%11[0-9]", pf, index) != 2 ||
		vfctl_bdf_parse(slash + 1, &ret->bdf) < 0 || vfctl_bdf_parse(pf, &ret->pf) < 0 ||
		parse_u32(index, 0, UINT16_MAX, &ret->index) < 0 ||
		json_to_attrs(json, &ret->intent) < 0)
		return op_fail_value(ctx, op, op->want);
	snprintf(ret_uuid, VFCTL_UUID_TEXT, "%.*s", (int)(slash - op->target), op->target);
	return 0;
}

static int observe_run_vf(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	char uuid[VFCTL_UUID_TEXT];
	struct vfctl_lease_vf vf;
	int r = parse_vf(ctx, op, uuid, &vf);

	if (r == 0)
		r = lease_read(ctx, uuid, &leases);
	return r < 0 ? r : op_say(ctx, find_vf_in_leases(leases, &vf.bdf) ? op->want : "", ret);
}

static int apply_run_vf(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	const struct vfctl_lease_vf *now;
	char uuid[VFCTL_UUID_TEXT];
	struct vfctl_lease_vf vf;
	int r = parse_vf(ctx, op, uuid, &vf);

	if (r == 0)
		r = lease_open(ctx, uuid, &store, &leases);
	if (r == 0 && !leases->count)
		r = ctx_fail(ctx, -ENOENT, "domain %s has no lease", uuid);
	if (r < 0)
		return r;
	now = find_vf_in_leases(leases, &vf.bdf);
	if (!now) /* it makes a new request at the next start */
		r = store_add_vf(store, leases->v[0].id, &vf);
	return r < 0 ? r : identities_note_start(ctx, uuid, leases->v[0].domain_name, &vf);
}

/* It ends with the run. */
OP_ONE_BY_ONE(run_vf, observe_run_vf, apply_run_vf, NULL)
const struct op_type op_run_vf = {.name = "run-vf", OP_CALLS(run_vf)};

/* ---- open runs ---- */

static void end_entry(struct journal_entry *entry)
{
	free(entry->story);
}

static bool is_of_this_boot(struct vfctl_ctx *ctx, const struct open_change *run)
{
	char boot[VFCTL_UUID_TEXT];

	boot_id_read(ctx, boot);
	return !run->boot[0] || !boot[0] || str_eq(run->boot, boot);
}

/*
 * The definition changed during the run, and the lease held the resources of both. Reduce it to
 * those of the definition, as the last change recorded them.
 */
static int settle_shape(struct vfctl_ctx *ctx, const struct open_change *run)
{
	for (size_t i = run->op_count; i > 0; i--)
		if (run->ops[i - 1].type == &op_lease_shape)
			return op_revert(ctx, &run->ops[i - 1]);
	return 0;
}

int run_close_old(struct vfctl_ctx *ctx, const char *uuid)
{
	_cleanup_(open_changes_freep) struct open_changes *runs = NULL;
	int r = journal_read_runs(ctx, uuid, &runs);

	if (r < 0 || !runs->count || is_of_this_boot(ctx, &runs->v[0]))
		return r;
	r = settle_shape(ctx, &runs->v[0]);
	return r < 0 ? r : journal_end(ctx, runs->v[0].id);
}

static int begin_entry(struct vfctl_ctx *ctx, const char *uuid, const char *name,
	struct journal_entry *ret)
{
	*ret = (struct journal_entry){.journal = &state_journal, .run = uuid,
		.story = str_format("run of domain %s", name), .lock = NULL};
	boot_id_read(ctx, ret->boot);
	return ret->story ? run_close_old(ctx, uuid) : ctx_oom(ctx);
}

int run_look(struct vfctl_ctx *ctx, const char *uuid, enum run_state *ret)
{
	_cleanup_(open_changes_freep) struct open_changes *runs = NULL;
	int r = journal_read_runs(ctx, uuid, &runs);

	if (r == 0)
		*ret = !runs->count ? RUN_NONE : is_of_this_boot(ctx, &runs->v[0])
			? RUN_GOES_ON : RUN_OF_EARLIER_BOOT;
	return r;
}

int run_add(struct vfctl_ctx *ctx, const char *uuid, const char *name, struct steps *steps)
{
	_cleanup_(end_entry) struct journal_entry entry = {0};
	enum run_state state;
	int r = begin_entry(ctx, uuid, name, &entry);

	if (r == 0)
		r = run_look(ctx, uuid, &state);
	if (r < 0)
		return r;
	entry.joins = state != RUN_NONE;
	return steps_run(ctx, steps, &entry);
}

int run_note(struct vfctl_ctx *ctx, const char *uuid, const char *name, const struct op *ops,
	size_t count)
{
	_cleanup_(end_entry) struct journal_entry entry = {0};
	int r = begin_entry(ctx, uuid, name, &entry);

	return r < 0 ? r : journal_note(ctx, &entry, ops, count, false);
}

int run_mark(struct vfctl_ctx *ctx, const char *uuid, const char *lease, const char *name)
{
	_cleanup_(end_entry) struct journal_entry entry = {0};
	_free_ char *want = str_format("%s %s", lease, name);
	const struct op op = {&op_run, (char *)uuid, want, (char *)""};
	int r = want ? begin_entry(ctx, uuid, name, &entry) : ctx_oom(ctx);

	return r < 0 ? r : journal_note(ctx, &entry, &op, 1, true);
}

int run_take(struct vfctl_ctx *ctx, struct store *store, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf)
{
	_cleanup_(end_entry) struct journal_entry entry = {0};
	_free_ char *want = str_format("%s %s", lease->id, lease->domain_name);
	const struct op op = {&op_run, (char *)lease->domain_uuid, want, (char *)""};
	int r = want ? begin_entry(ctx, lease->domain_uuid, lease->domain_name, &entry) : ctx_oom(ctx);

	if (r < 0)
		return r;
	return vf ? store_add_vf_running(store, lease->id, vf, &entry, &op)
		  : store_take_running(store, lease, &entry, &op);
}

/* ---- the end ---- */

static bool is_target(const struct op *op, const struct vfctl_lease_vf *vf)
{
	char target[VFCTL_BDF_TEXT + 16];

	snprintf(target, sizeof(target), "%s/%u", TEXT(&vf->pf), vf->index);
	return str_eq(op->target, target);
}

static bool is_on(const struct op *op, const struct vfctl_lease *lease,
	const struct vfctl_bdf *only)
{
	for (size_t k = 0; lease && op->type == &op_guest_attrs && k < lease->vf_count; k++)
		if (is_target(op, &lease->vfs[k]) &&
			(!only || vfctl_bdf_compare(&lease->vfs[k].bdf, only) == 0))
			return true;
	return false;
}

/*
 * Collect the effects on VFs that the domain still holds, or on @only, in their order. @ret is
 * large enough. A run that was killed before it had its lease had no effect on VFs, and they may
 * belong to another domain now. Tuning of the host is rolled back together with all VFs.
 */
static size_t effects_on(const struct open_change *run, const struct vfctl_lease *lease,
	const struct vfctl_bdf *only, struct op *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < run->op_count; i++)
		if (is_on(&run->ops[i], lease, only) || (!only && tuning_is_effect(&run->ops[i])))
			ret[n++] = run->ops[i];
	return n;
}

/* The VFs have their former values again; so have their network devices on this host. */
static int refresh_macs(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	const struct vfctl_lease *lease)
{
	int r = 0;

	for (size_t i = 0; lease && i < count && r == 0; i++)
		for (size_t k = 0; ops[i].type == &op_guest_attrs && k < lease->vf_count && r == 0; k++) {
			struct vf_attr_change change = {.vf = lease->vfs[k].index, .bdf = lease->vfs[k].bdf};

			if (is_target(&ops[i], &lease->vfs[k]) && ops[i].before &&
				json_to_attrs(ops[i].before, &change.attrs) == 0 &&
				change.attrs.mask & VFCTL_ATTR_MAC && !vfctl_mac_is_zero(&change.attrs.mac))
				r = bound_refresh_mac(ctx, &change);
		}
	return r;
}

/* @lock: see tuning_hand_over(). */
static int restore_run(struct vfctl_ctx *ctx, const struct open_change *run,
	const struct vfctl_lease *lease, const struct vfctl_bdf *only, int *lock)
{
	_free_ struct op *ops = calloc(run->op_count + 1, sizeof(*ops));
	size_t count;
	int r;

	if (!ops)
		return ctx_oom(ctx);
	if (run->unknown)
		return ctx_fail(ctx, -EBADMSG, "a newer vfctl began the %s: this vfctl does not know "
			"the operation '%s'", run->story, run->unknown);
	/* A reboot of the host removed these settings. */
	if (!is_of_this_boot(ctx, run))
		return 0;
	count = effects_on(run, lease, only, ops);
	r = tuning_hand_over(ctx, run, ops, &count, lock);
	if (r == 0)
		r = ops_revert(ctx, ops, count);
	if (r == 0)
		r = refresh_macs(ctx, ops, count, lease);
	return r < 0 || !lease ? r : tuning_forget_kept(ctx, lease, only);
}

int run_restore_vf(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_bdf *vf)
{
	_cleanup_(open_changes_freep) struct open_changes *runs = NULL;
	_close_ int lock = -1;
	int r = journal_read_runs(ctx, lease->domain_uuid, &runs);

	return r < 0 || !runs->count ? r : restore_run(ctx, &runs->v[0], lease, vf, &lock);
}

int run_restore(struct vfctl_ctx *ctx, const struct vfctl_lease *lease)
{
	return run_restore_vf(ctx, lease, NULL);
}

int run_end(struct vfctl_ctx *ctx, const char *uuid)
{
	const struct op run = {&op_run, (char *)uuid, NULL, NULL};
	_cleanup_(open_changes_freep) struct open_changes *runs = NULL;
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	_close_ int lock = -1;
	bool held;
	int r = lease_open(ctx, uuid, &store, &leases);

	held = r == 0 && leases->count;
	if (r == 0)
		r = journal_read_runs(ctx, uuid, &runs);
	if (r == 0 && runs->count)
		r = restore_run(ctx, &runs->v[0], held ? &leases->v[0] : NULL, NULL, &lock);
	if (r == 0)
		r = op_revert(ctx, &run);
	if (r == 0 && runs->count)
		r = settle_shape(ctx, &runs->v[0]);
	if (r == 0 && runs->count)
		r = journal_end(ctx, runs->v[0].id);
	return r < 0 && held ? ctx_append(ctx, r, "; its VFs stay leased to %s; once that is "
		"solved, return them with: vfctl release %s", leases->v[0].domain_name,
		leases->v[0].domain_name) : r;
}
