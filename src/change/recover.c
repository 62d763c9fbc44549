// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recover interrupted changes, whose processes died. An open change of the journal is closed if the
 * host is as wanted; otherwise its operations are rolled back in reverse order. If the lock of an
 * open change is free, its process is dead: a living process holds it.
 */
#include "change/recover.h"

#include <errno.h>
#include <stdio.h>

#include "eswitch/eswitch.h"
#include "facts/snapshot/snapshot.h"
#include "host/host.h"
#include "pci/device.h"
#include "sriov/inventory.h"
#include "sriov/ops.h"

/*
 * The VFs of a PF disappear with it; if it returns, it has none. Operations without a function,
 * such as on a bond, belong to the PF whose lock the change has.
 */
static bool is_unplugged(struct vfctl_ctx *ctx, const struct open_change *c, const struct op *op)
{
	const struct op of_lock = {op->type, c->lock, NULL, NULL};

	return op->type->is_gone ? op->type->is_gone(ctx, op) : pci_op_is_gone(ctx, &of_lock);
}

/*
 * Values that the kernel has lost since need no roll-back: all of them, or (@unplugged) those of
 * functions that no longer exist. Returns the number of remaining operations.
 */
static size_t drop_forgotten(struct vfctl_ctx *ctx, struct open_change *c, bool unplugged)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->op_count; i++) {
		if (c->ops[i].type->lost_on_reboot &&
			(!unplugged || is_unplugged(ctx, c, &c->ops[i]))) {
			op_clear(&c->ops[i]);
			free(c->message[i]);
			continue;
		}
		c->message[kept] = c->message[i];
		c->ops[kept++] = c->ops[i];
	}
	c->op_count = kept;
	return kept;
}

/* ---- VFs that are in use since then keep their state: a guest may run with them ---- */

/* Definitions of domains that are off did not prevent the change either. */
static void forget_definitions(struct vfctl_snapshot *s)
{
	for (size_t i = 0; i < s->inventory->pf_count; i++)
		for (uint32_t k = 0; k < s->inventory->pfs[i].num_vfs; k++) {
			s->inventory->pfs[i].vfs[k].defined_in[0] = '\0';
			s->inventory->pfs[i].vfs[k].promise.network[0] = '\0';
		}
}

/*
 * Leases that are older than the change did not prevent it: their VFs were lost before, while their
 * domains were off, and the change has created the VFs again.
 */
static void forget_older_leases(struct vfctl_snapshot *s, int64_t begun)
{
	for (size_t i = 0; i < s->inventory->pf_count; i++)
		for (uint32_t k = 0; k < s->inventory->pfs[i].num_vfs; k++) {
			struct vfctl_vf *vf = &s->inventory->pfs[i].vfs[k];
			const struct vfctl_lease *lease = vfctl_leases_find_vf(s->leases, &vf->bdf);

			if (lease && !lease->running && lease->created <= begun)
				vf->lease.name[0] = '\0';
		}
}

static int check_ops(struct vfctl_ctx *ctx, const struct open_change *c, const char *address,
	const struct vfctl_inventory *inv, const struct vfctl_pf *pf)
{
	int r = 0;

	for (size_t i = 0; i < c->op_count && r == 0; i++) {
		const struct op *op = &c->ops[i];

		if (op->before && op->type->check_unused &&
			(op->type->of_all_vfs || str_starts(op->target, address)))
			r = op->type->check_unused(ctx, op, inv, pf);
	}
	return r;
}

static bool is_of_pf(const struct open_change *c)
{
	for (size_t i = 0; i < c->op_count; i++)
		if (str_starts(c->ops[i].target, c->lock))
			return true;
	return false;
}

/* Whether VFs of a second PF are affected. */
static bool has_mode(const struct open_change *c)
{
	for (size_t i = 0; i < c->op_count; i++)
		if (c->ops[i].type == &op_eswitch)
			return true;
	return false;
}

/* A function without SR-IOV is not in the inventory; it may have an entry in host.yaml. */
static int find_function(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const char *address,
	struct vfctl_inventory **ret_own, const struct vfctl_pf **ret_pf)
{
	struct vfctl_bdf bdf;
	int r = vfctl_inventory_find_pf(ctx, inv, address, ret_pf);

	if (r != -ENOENT || vfctl_bdf_parse(address, &bdf) < 0)
		return r;
	r = inventory_read_pf(ctx, &bdf, ret_own);
	if (r == 0)
		*ret_pf = &(*ret_own)->pfs[0];
	return r;
}

static int check_pf(struct vfctl_ctx *ctx, const struct open_change *c, const char *address)
{
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *own = NULL;
	const struct vfctl_pf *pf;
	int r = vfctl_snapshot_read(ctx, has_mode(c) ? NULL : address, &snapshot);

	if (r < 0)
		return r;
	forget_definitions(snapshot);
	r = snapshot_need_leases(ctx, snapshot);
	if (r == 0)
		forget_older_leases(snapshot, c->begun);
	if (r == 0)
		r = find_function(ctx, snapshot->inventory, address, &own, &pf);
	return r < 0 ? r : check_ops(ctx, c, address, snapshot->inventory, pf);
}

/*
 * The entry of a change of two PFs has the lock of the first: find the second in a link, or in the
 * drivers of VFs.
 */
static bool find_other(const struct open_change *c, char ret[VFCTL_BDF_TEXT])
{
	for (size_t i = 0; i < c->op_count; i++) {
		size_t len = strcspn(c->ops[i].target, "/");
		struct vfctl_bdf bdf;

		if ((c->ops[i].type != &op_vf_driver && c->ops[i].type != &op_pf_link) ||
			len >= VFCTL_BDF_TEXT || str_starts(c->ops[i].target, c->lock))
			continue;
		snprintf(ret, VFCTL_BDF_TEXT, "%.*s", (int)len, c->ops[i].target);
		if (vfctl_bdf_parse(ret, &bdf) == 0)
			return true;
	}
	return false;
}

static int check_untaken(struct vfctl_ctx *ctx, const struct open_change *c)
{
	char other[VFCTL_BDF_TEXT];
	struct vfctl_bdf bdf;
	int r = is_of_pf(c) ? check_pf(ctx, c, c->lock) : 0;

	return r == 0 && vfctl_bdf_parse(c->lock, &bdf) == 0 && find_other(c, other)
		? check_pf(ctx, c, other) : r;
}

/* ---- one change ---- */

static int take_back(struct vfctl_ctx *ctx, const struct open_change *c)
{
	log_warn(ctx, "'%s' of process %lld was interrupted: vfctl rolls it back", c->story,
		(long long)c->pid);
	ctx_audit(ctx, "recover: '%s' of process %lld is rolled back", c->story,
		(long long)c->pid);
	return ops_revert(ctx, c->ops, c->op_count);
}

static int carry_on(struct vfctl_ctx *ctx, const struct open_change *c)
{
	log_warn(ctx, "'%s' of process %lld was interrupted: vfctl finishes it", c->story,
		(long long)c->pid);
	ctx_audit(ctx, "recover: '%s' of process %lld is finished", c->story,
		(long long)c->pid);
	return ops_finish(ctx, c->ops, c->op_count);
}

bool recover_asks_libvirt(const struct open_change *c)
{
	for (size_t i = 0; i < c->op_count; i++)
		if (c->ops[i].type->asks_libvirt ||
			(c->ops[i].type->asks_libvirt_of &&
				str_starts(c->ops[i].target, c->ops[i].type->asks_libvirt_of)))
			return true;
	return false;
}

/*
 * libvirt completes a call even if its caller has died, and does not report whether a call is still
 * in progress. If recovery checked too early, a domain could appear after its lease was rolled
 * back.
 */
#define LIBVIRT_CALL_MS 10000
#define LIBVIRT_LOOK_MS 2000

static int are_done(struct vfctl_ctx *ctx, const struct open_change *c, bool dry_run)
{
	int r = ops_are_done(ctx, c->ops, c->op_count);
	unsigned waited = 0;

	if (r != 0 || dry_run || !recover_asks_libvirt(c))
		return r;
	ctx_progress(ctx, "waiting for libvirt to end the call of a vfctl process that died");
	while (r == 0 && waited < LIBVIRT_CALL_MS && host_wait_ms(ctx, LIBVIRT_LOOK_MS, &waited))
		r = ops_are_done(ctx, c->ops, c->op_count);
	return r;
}

/* Finish the change if it can no longer be rolled back, else roll it back. */
static int back_or_forth(struct vfctl_ctx *ctx, const struct open_change *c, bool dry_run,
	enum vfctl_recovered *ret)
{
	int r = are_done(ctx, c, dry_run);

	*ret = VFCTL_RECOVERED_DONE;
	if (r != 0)
		return r;
	r = ops_are_committed(ctx, c->ops, c->op_count);
	*ret = r == 1 ? VFCTL_RECOVERED_FINISHED : VFCTL_RECOVERED_UNDONE;
	if (r == 1)
		return dry_run ? 0 : carry_on(ctx, c);
	if (r == 0)
		r = check_untaken(ctx, c);
	if (r < 0)
		return r;
	return dry_run ? ops_check_revert(ctx, c->ops, c->op_count) : take_back(ctx, c);
}

/* Its lock is held, so no other process works on it. */
int recover_one(struct vfctl_ctx *ctx, struct open_change *c,
	const struct vfctl_recover_options *options, enum vfctl_recovered *ret)
{
	char boot[VFCTL_UUID_TEXT];
	int r = 0;

	*ret = VFCTL_RECOVERED_FAILED;
	boot_id_read(ctx, boot);
	if (options->accept) {
		*ret = VFCTL_RECOVERED_ACCEPTED;
	} else if (c->unknown) {
		return ctx_fail(ctx, -EBADMSG, "a newer vfctl began it: this vfctl does not know the "
			"operation '%s'", c->unknown);
	} else if (c->boot[0] && boot[0] && !str_eq(c->boot, boot) &&
		!drop_forgotten(ctx, c, false)) {
		*ret = VFCTL_RECOVERED_REBOOTED;
	} else if (is_of_pf(c) && !drop_forgotten(ctx, c, true)) {
		*ret = VFCTL_RECOVERED_UNPLUGGED;
	} else if (recover_asks_libvirt(c) && !ctx->hypervisor) {
		*ret = VFCTL_RECOVERED_WAITS;
		return 0;
	} else {
		r = back_or_forth(ctx, c, options->dry_run, ret);
	}
	if (r < 0) {
		*ret = VFCTL_RECOVERED_FAILED;
		return r;
	}
	return options->dry_run ? 0 : journal_end(ctx, c->id);
}

/* ---- before a change ---- */

/* @ret_finished: whether @story was finished. */
static int recover_under(struct vfctl_ctx *ctx, const char *lock, const char *story,
	bool *ret_finished)
{
	static const struct vfctl_recover_options all = {0};
	_cleanup_(open_changes_freep) struct open_changes *open = NULL;
	enum vfctl_recovered outcome;
	int r = journal_read(ctx, lock, &open);

	if (r < 0)
		return ctx_prefix(ctx, r, "nothing is changed, because the journal cannot be read");
	for (size_t i = 0; r == 0 && i < open->count; i++) {
		r = recover_one(ctx, &open->v[i], &all, &outcome);
		if (r < 0)
			return ctx_prefix(ctx, r, "'%s' was interrupted and cannot be rolled back (for "
				"the reason: vfctl recover; to accept the host as it is: vfctl recover "
				"--accept)",
				open->v[i].story);
		/* Only changes that are planned for guests need a connection to libvirt. */
		if (outcome == VFCTL_RECOVERED_WAITS && !str_eq(lock, HOST_LOCK_PLACEMENT))
			return ctx_fail(ctx, -EBUSY, "'%s' was interrupted and waits for libvirt; run "
				"first: vfctl recover", open->v[i].story);
		*ret_finished |= outcome == VFCTL_RECOVERED_FINISHED &&
			str_eq(open->v[i].story, story);
	}
	return r;
}

int recover_locked(struct vfctl_ctx *ctx, const char *lock)
{
	bool finished = false;

	return recover_under(ctx, lock, "", &finished);
}

/*
 * @ret_lock: the lock of an open change of two PFs of which this one is the second. 1; 0 if there
 * is none.
 */
static int find_first(struct vfctl_ctx *ctx, const char *lock, char **ret_lock)
{
	_cleanup_(open_changes_freep) struct open_changes *open = NULL;
	char other[VFCTL_BDF_TEXT];
	int r = journal_read(ctx, NULL, &open);

	if (r < 0)
		return ctx_prefix(ctx, r, "nothing is changed, because the journal cannot be read");
	for (size_t i = 0; i < open->count; i++) {
		const struct open_change *c = &open->v[i];

		if (str_eq(c->lock, lock) || !is_of_pf(c) || !find_other(c, other) || !str_eq(other, lock))
			continue;
		*ret_lock = strdup(c->lock);
		return *ret_lock ? 1 : ctx_oom(ctx);
	}
	return 0;
}

int recover_both(struct vfctl_ctx *ctx, const char *lock)
{
	for (;;) {
		_free_ char *first = NULL;
		_close_ int fd = -1;
		int r = find_first(ctx, lock, &first);

		if (r <= 0)
			return r;
		r = host_lock(ctx, first, false, &fd);
		if (r == 0)
			r = recover_locked(ctx, first);
		if (r < 0)
			return r;
	}
}

int recover_lock(struct vfctl_ctx *ctx, const char *lock, int *ret_fd)
{
	for (;;) {
		_free_ char *first = NULL;
		_close_ int fd = -1;
		int r = recover_both(ctx, lock);

		if (r == 0)
			r = host_lock(ctx, lock, false, &fd);
		if (r == 0)
			r = recover_locked(ctx, lock);
		/*
		 * The change may have begun and been interrupted while this process waited for the
		 * lock.
		 */
		if (r == 0)
			r = find_first(ctx, lock, &first);
		if (r < 0)
			return r;
		if (r == 0) {
			*ret_fd = fd;
			fd = -1;
			return 0;
		}
	}
}

int recover_pfs(struct vfctl_ctx *ctx)
{
	_cleanup_(open_changes_freep) struct open_changes *open = NULL;
	int r = journal_read(ctx, NULL, &open);

	for (size_t i = 0; r == 0 && i < open->count; i++) {
		_close_ int lock = -1;

		/* Its process holds no PF: recover_guests() handles changes of guests. */
		if (str_eq(open->v[i].lock, HOST_LOCK_PLACEMENT) ||
			str_starts(open->v[i].lock, HOST_LOCK_BENCH))
			continue;
		r = host_lock(ctx, open->v[i].lock, false, &lock);
		if (r == 0)
			r = recover_locked(ctx, open->v[i].lock);
	}
	return r;
}

/*
 * Only the system's libvirt has changes in the journal. The caller restores the previous
 * connection.
 */
static struct vfctl_hypervisor *take_hypervisor(struct vfctl_ctx *ctx,
	struct vfctl_hypervisor *hypervisor)
{
	struct vfctl_hypervisor *outer = ctx->hypervisor;

	ctx->hypervisor = hypervisor && !hypervisor->uri ? hypervisor : NULL;
	return outer;
}

int recover_lock_with(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, const char *lock,
	int *ret_fd)
{
	struct vfctl_hypervisor *outer = take_hypervisor(ctx, hypervisor);
	int r = recover_lock(ctx, lock, ret_fd);

	ctx->hypervisor = outer;
	return r;
}

int recover_pfs_with(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor)
{
	struct vfctl_hypervisor *outer = take_hypervisor(ctx, hypervisor);
	int r = recover_pfs(ctx);

	ctx->hypervisor = outer;
	return r;
}

bool recover_guests(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *story)
{
	struct vfctl_hypervisor *outer = take_hypervisor(ctx, hypervisor);
	bool finished = false;

	if (recover_under(ctx, HOST_LOCK_PLACEMENT, story ? story : "", &finished) < 0) {
		log_warn(ctx, "%s", vfctl_ctx_error(ctx));
		ctx_clear(ctx);
	}
	ctx->hypervisor = outer;
	return finished;
}
