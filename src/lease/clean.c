// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Settings that a guest or another earlier user left on a VF: found on the VF itself, and reset
 * before the next guest gets it. The end of a run rolls back the settings of that run. This code
 * handles settings that do not belong to any run.
 */
#include "lease/clean.h"

#include <errno.h>
#include <stdio.h>

#include "base/change.h"
#include "base/json.h"
#include "base/vfattr.h"
#include "change/pf_locks.h"
#include "change/recover.h"
#include "facts/snapshot/snapshot.h"
#include "host/host.h"
#include "ids/values.h"
#include "lease/declared.h"
#include "lease/lease.h"
#include "pci/device.h"
#include "sriov/attrs.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "sriov/ops.h"
#include "state/leases.h"

#define NAME(pf) vfctl_pf_name((pf), (char[VFCTL_BDF_TEXT]){0})

/* ---- leftover settings ---- */

/*
 * The safe values of a VF that host.yaml does not declare. Spoof check and link state are not
 * compared: some drivers have other defaults (mlx5: no spoof check), and each start of a guest
 * writes them.
 */
static struct vfctl_vf_attrs safe_values(const struct vfctl_vf_attrs *declared)
{
	struct vfctl_vf_attrs safe = attrs_safe(attrs_with(VFCTL_ATTR_CLEANED));

	if (declared)
		attrs_copy(&safe, declared, safe.mask);
	return safe;
}

/* Whether the lease of another VF gives that value to its guest. */
static bool is_of_lease(const struct vfctl_leases *leases, enum vfctl_id_kind kind, uint64_t value)
{
	for (size_t i = 0; i < leases->count; i++)
		for (size_t k = 0; k < leases->v[i].vf_count; k++)
			if (attrs_carry(&leases->v[i].vfs[k].intent, kind, value))
				return true;
	return false;
}

/* Which of its MAC and GUIDs belong to a guest that has them leased on another VF. */
static uint32_t borrowed(const struct vfctl_leases *leases, const struct vfctl_pf *pf,
	const struct vfctl_vf_attrs *a)
{
	if (!pf->infiniband)
		return a->mask & VFCTL_ATTR_MAC && !vfctl_mac_is_zero(&pf->mac) &&
			is_of_lease(leases, VFCTL_ID_MAC, mac_number(&a->mac)) ? VFCTL_ATTR_MAC : 0;
	if (!pf->guid || !((a->mask & VFCTL_ATTR_PORT_GUID &&
		is_of_lease(leases, VFCTL_ID_GUID, a->port_guid)) ||
		(a->mask & VFCTL_ATTR_NODE_GUID && is_of_lease(leases, VFCTL_ID_GUID, a->node_guid))))
		return 0;
	return a->mask & VFCTL_ATTR_GUIDS;
}

/* The values to set instead, except those of @ret_renew, which still have to be chosen. */
static struct vfctl_vf_attrs what_is_left(const struct vfctl_snapshot *s, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const struct vfctl_vf_attrs *declared, uint32_t *ret_renew)
{
	struct vfctl_vf_attrs want = safe_values(declared);

	want.mask &= vf->attrs.mask;
	attrs_drop_equal(&want, &vf->attrs);
	*ret_renew = borrowed(s->leases, pf, &vf->attrs);
	if (declared && declared->mask & *ret_renew)
		*ret_renew = 0;
	attrs_complete(&want, &vf->attrs);
	return want;
}

/* A VF that the host uses is skipped: its settings belong to that use. */
static bool may_be_left(const struct vfctl_vf *vf)
{
	return !vf_is_busy(vf) && (!vf->driver[0] || pci_driver_is_vfio(vf->driver));
}

/* The entry of host.yaml that matches the PF; NULL: there is none, or it cannot be determined. */
static const struct vfctl_pf_spec *entry_of(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_host_spec *spec, const struct vfctl_pf *pf)
{
	const struct vfctl_pf_spec *entry = NULL;
	const struct vfctl_pf *meant;

	for (size_t i = 0; spec && !entry && i < spec->pf_count; i++)
		if (declared_find(ctx, s->inventory, &spec->pfs[i], &meant) == 0 && meant == pf)
			entry = &spec->pfs[i];
	ctx_clear(ctx);
	return entry;
}

static const struct vfctl_vf_attrs *declared_of(const struct vfctl_pf_spec *entry, uint32_t vf)
{
	for (size_t i = 0; entry && i < entry->range_count; i++)
		if (vf >= entry->ranges[i].first && vf <= entry->ranges[i].last)
			return &entry->ranges[i].attrs;
	return NULL;
}

/*
 * The values that a VF to be cleaned gets, except those of @renew, which still have to be chosen.
 */
struct left {
	struct vfctl_vf_attrs want;
	uint32_t renew;
};

static bool is_left(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_host_spec *spec, const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	struct left *ret)
{
	const struct vfctl_pf_spec *entry;

	if (pf->unread || !may_be_left(vf))
		return false;
	ret->want = what_is_left(s, pf, vf, NULL, &ret->renew);
	if (!ret->want.mask && !ret->renew)
		return false;
	/* This is rare: only now look up what is declared. */
	entry = entry_of(ctx, s, spec, pf);
	ret->want = what_is_left(s, pf, vf, declared_of(entry, vf->index), &ret->renew);
	return (ret->want.mask || ret->renew) && !(entry && entry->unmanaged);
}

/* Choose new values for a VF that has those of a guest. */
static int renew_value(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, struct left *io)
{
	struct value_facts facts = {.leases = s->leases};
	int r;

	if (!io->renew)
		return 0;
	r = live_from_inventory(ctx, s->inventory, &facts.live);
	if (r == 0)
		r = values_renew(ctx, &facts, io->renew, pf, vf->index, &io->want);
	live_values_clear(&facts.live);
	return r;
}

void vfctl_snapshot_mark_left(struct vfctl_ctx *ctx, struct vfctl_snapshot *s,
	const struct vfctl_host_spec *spec)
{
	struct left left;

	/*
	 * The users of a VF and its declaration must be known, which they are not on a captured
	 * host.
	 */
	if (host_of(ctx)->ops->read_only || s->leases_error || s->domains_error)
		return;
	for (size_t i = 0; i < s->inventory->pf_count; i++)
		for (uint32_t k = 0; k < s->inventory->pfs[i].num_vfs; k++) {
			struct vfctl_vf *vf = &s->inventory->pfs[i].vfs[k];

			vf->to_clean |= is_left(ctx, s, spec, &s->inventory->pfs[i], vf, &left);
		}
}

/* ---- the operation ---- */

/* The VF; NULL: it was removed with its PF, and so were its settings. @ret_leased: it is leased. */
static int find_vf(struct vfctl_ctx *ctx, const struct op *op,
	struct vfctl_inventory **ret_inventory, const struct vfctl_vf **ret, bool *ret_leased)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_pf *pf;
	int r = vfctl_inventory_read(ctx, op->target, ret_inventory);

	*ret = NULL;
	*ret_leased = false;
	if (r == 0)
		r = vfctl_inventory_find_vf(ctx, *ret_inventory, op->target, &pf, ret);
	if (r < 0)
		return ctx_ignore_error(ctx, r, -ENOENT);
	if (pf->unread)
		r = ctx_fail(ctx, -EIO, "nothing is changed: %s", pf->unread);
	if (r == 0)
		r = vfctl_leases_read(ctx, &leases);
	*ret_leased = r == 0 && vfctl_leases_find_vf(leases, &(*ret)->bdf);
	return r;
}

static int observe_clean(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_vf *vf;
	bool leased;
	int r = find_vf(ctx, op, &inv, &vf, &leased);

	if (r < 0)
		return r;
	if (!vf || leased)
		return op_say(ctx, op->want, ret);
	return op_give(ctx, json_of_attrs(&vf->attrs), ret);
}

static bool same_values(const char *text, const char *observed)
{
	return op_guest_attrs.same(text, observed);
}

static int lock_pf(struct vfctl_ctx *ctx, const struct op *op, struct pf_locks *locks)
{
	char text[VFCTL_BDF_TEXT];
	struct vfctl_bdf pf;
	int r;

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(op->target, "/"), op->target);
	if (vfctl_bdf_parse(text, &pf) < 0)
		return op_fail_target(ctx, op);
	r = pf_locks_add(ctx, locks, &pf);
	return r < 0 ? r : pf_locks_take(ctx, locks);
}

static int check_unused(struct vfctl_ctx *ctx, const struct op *op, const struct vfctl_vf *vf,
	bool leased)
{
	char message[192];

	if (!vf)
		return ctx_fail(ctx, -ENOENT, "VF %s no longer exists", op->target);
	if (leased)
		return ctx_fail(ctx, -EBUSY, "VF %s is now leased", op->target);
	if (vf_is_open(vf))
		return ctx_fail(ctx, -EBUSY, "VF %s is now %s", op->target,
			vf_describe_user(vf, message, sizeof(message)));
	return 0;
}

static int apply_clean(struct vfctl_ctx *ctx, const struct op *op)
{
	const struct op write = {&op_guest_attrs, op->target, op->want, NULL};
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_vf *vf = NULL;
	bool leased;
	int r = lock_pf(ctx, op, &locks);

	if (r == 0)
		r = find_vf(ctx, op, &inv, &vf, &leased);
	if (r == 0)
		r = check_unused(ctx, op, vf, leased);
	if (r < 0)
		return r;
	r = pci_reset(ctx, &vf->bdf);
	return r < 0 ? ctx_append(ctx, r, "; until then no guest gets VF %s (dmesg may tell why)",
		op->target)
		     : op_apply(ctx, &write);
}

/* No run set the leftover values, but a failed change restores everything. */
static int revert_clean(struct vfctl_ctx *ctx, const struct op *op)
{
	const struct op write = {&op_guest_attrs, op->target, op->want, op->before};
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_vf *vf;
	bool leased;
	int r = lock_pf(ctx, op, &locks);

	if (r == 0)
		r = find_vf(ctx, op, &inv, &vf, &leased);
	return r < 0 || !vf || leased || vf_is_open(vf) ? r : op_revert(ctx, &write);
}

OP_ONE_BY_ONE(clean, observe_clean, apply_clean, revert_clean)
const struct op_type op_clean = {.name = "clean", OP_CALLS(clean), .lost_on_reboot = true,
	.is_gone = pci_op_is_gone, .same = same_values};

/* ---- a VF that leaves its domain ---- */

static int observe_leaving(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_vf *vf;
	bool leased;
	int r = find_vf(ctx, op, &inv, &vf, &leased);

	if (r < 0 || !vf)
		return r < 0 ? r : op_say(ctx, op->want, ret);
	return op_give(ctx, json_of_attrs(&vf->attrs), ret);
}

/*
 * @back: restore the previous value, unless a guest has the VF now; the end of that guest's run
 * restores it.
 */
static int write_identity(struct vfctl_ctx *ctx, const struct op *op, bool back)
{
	const struct op write = {&op_vf_attrs, op->target, op->want, op->before};
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_vf *vf = NULL;
	bool leased;
	int r = lock_pf(ctx, op, &locks);

	if (r == 0)
		r = find_vf(ctx, op, &inv, &vf, &leased);
	if (r < 0)
		return r;
	if (back)
		return !vf || vf_is_open(vf) ? 0 : op_revert(ctx, &write);
	r = check_unused(ctx, op, vf, false);
	return r < 0 ? r : op_apply(ctx, &write);
}

OP_APPLY_OR_REVERT(new_identity, observe_leaving, write_identity)
const struct op_type op_new_identity = {.name = "new-identity", OP_CALLS(new_identity),
	.lost_on_reboot = true, .is_gone = pci_op_is_gone, .same = same_values};

/* ---- steps ---- */

static void put_text(const struct vfctl_vf_attrs *had, const struct vfctl_vf_attrs *want,
	struct buf *message)
{
	char value[VFCTL_ATTR_TEXT];
	struct vfctl_vf_attrs left = *had;
	const char *key;
	size_t i = 0;

	left.mask &= want->mask & ~attrs_equal(had, want);
	while (vfctl_vf_attrs_next(&left, &i, &key, value))
		buf_printf(message, "%s%s=%s", message->len ? " " : "", key, value);
}

/* Add a step if the VF has leftover settings. */
static int add_step(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_host_spec *spec, const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	struct steps *steps)
{
	_free_ char *want = NULL, *before = NULL;
	struct vfctl_vf_attrs had;
	_buf_ struct buf message = {0};
	struct left left;
	int r;

	if (!is_left(ctx, s, spec, pf, vf, &left))
		return 0;
	r = renew_value(ctx, s, pf, vf, &left);
	if (r < 0)
		return r;
	had = attrs_before(&vf->attrs, &left.want);
	want = json_of_attrs(&left.want);
	before = json_of_attrs(&had);
	put_text(&had, &left.want, &message);
	if (!want || !before || message.failed)
		return ctx_oom(ctx);
	step_begin(steps, "clean VF %s/%u: reset %s", NAME(pf), vf->index,
		message.data ? message.data : "");
	step_op(steps, &op_clean, want, before, "%s/%u", TEXT(&pf->bdf), vf->index);
	return 0;
}

int clean_add_steps(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec, const struct vfctl_domain_vf *vfs, size_t count,
	struct steps *steps)
{
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		r = vfctl_inventory_find_vf(ctx, snapshot->inventory, TEXT(&vfs[i].bdf), &pf, &vf);
		if (r == 0)
			r = add_step(ctx, snapshot, spec, pf, vf, steps);
	}
	return r;
}

/* ---- vfctl recover --clean ---- */

static bool any_of_run(const struct vfctl_snapshot *s)
{
	for (size_t i = 0; i < s->inventory->pf_count; i++)
		for (uint32_t k = 0; k < s->inventory->pfs[i].num_vfs; k++)
			if (s->inventory->pfs[i].vfs[k].to_clean)
				return true;
	return false;
}

static int add_all(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_host_spec *spec, struct vfctl_change *change)
{
	int r = 0;

	for (size_t i = 0; i < s->inventory->pf_count; i++) {
		const struct vfctl_pf *pf = &s->inventory->pfs[i];

		for (uint32_t k = 0; k < pf->num_vfs && r == 0; k++)
			r = add_step(ctx, s, spec, pf, &pf->vfs[k], &change->steps);
	}
	if (r < 0 || change->steps.count)
		return r;
	return ctx_fail(ctx, -EALREADY, any_of_run(s)
		? "no VFs are to be cleaned; to reset leased VFs after the run of a guest: vfctl "
		"recover" : "no VFs are to be cleaned");
}

int vfctl_clean_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool dry_run,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = guest_change_recovered(ctx, dry_run, &change);

	if (r == 0)
		r = vfctl_snapshot_read(ctx, NULL, &snapshot);
	if (r == 0)
		r = snapshot_need_all(ctx, snapshot);
	if (r == 0)
		r = add_all(ctx, snapshot, spec, change);
	return guest_change_planned(ctx, &change, r, ret_change, NULL, "recover --clean");
}
