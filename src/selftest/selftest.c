// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vfctl selftest works on a PF that is not in use. It records the operations that restore the PF's
 * state in the journal, runs the trials, each an ordinary change without its own journal entry, and
 * restores the state. The lock of the PF is held from the first read to the end, so after a crash
 * the next process that gets the lock restores the PF first.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/parse.h"
#include "eswitch/eswitch.h"
#include "host/host.h"
#include "pci/device.h"
#include "pci/vectors.h"
#include "selftest/trials.h"
#include "sriov/holder.h"
#include "sriov/modparam.h"
#include "sriov/ops.h"
#include "tuning/coalesce.h"

#define BIT VFCTL_COALESCE_BIT
/*
 * A wanted value that never equals an observed number of VFs: the change is complete only after it
 * was rolled back.
 */
#define ANY "any"

const char *vfctl_selftest_outcome_name(enum vfctl_selftest_outcome outcome)
{
	static const char *const names[] = {[VFCTL_SELFTEST_UNTRIED] = "not tried",
		[VFCTL_SELFTEST_PASS] = "pass", [VFCTL_SELFTEST_UNSUPPORTED] = "not supported",
		[VFCTL_SELFTEST_FAIL] = "fail"};

	return names[outcome];
}

void vfctl_selftest_close(struct vfctl_selftest *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		free(t->trials[i].message);
	free(t->trials);
	vfctl_change_free(t->change);
	target_clear(&t->target);
	free(t);
}

/* ---- whether it may be tested ---- */

static int check_pf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, unsigned flags)
{
	int r;

	if (!pf->driver[0])
		return ctx_fail(ctx, -ENODEV, "no driver is bound to the PF, and only a driver can "
			"create VFs");
	if (pci_driver_is_vfio(pf->driver))
		return ctx_fail(ctx, -EOPNOTSUPP, "the PF itself is bound to %s; bind it to its own "
			"driver first", pf->driver);
	if (modparam_is_needed(pf))
		return ctx_fail(ctx, -EOPNOTSUPP, "driver %s creates VFs only when its module is "
			"loaded, so a self-test cannot try anything", pf->driver);
	if (!pf->total_vfs)
		return ctx_fail(ctx, -EOPNOTSUPP, "this PF supports no VFs (sriov_totalvfs is 0); the "
			"firmware sets the number");
	r = selftest_check_pf_idle(ctx, pf);
	if (r == 0)
		r = selftest_check_ports(ctx, pf);
	return r < 0 || flags & VFCTL_SELFTEST_FORCE ? r : selftest_check_traffic(ctx, pf);
}

/* ---- how to restore the PF ---- */

/* Its attributes, and its number of vectors if the driver supports a separate one for each VF. */
static int add_attrs_back(struct vfctl_selftest *t, const struct vfctl_vf *vf, struct steps *steps)
{
	struct vfctl_vf_attrs attrs = vf->attrs;
	unsigned vectors;
	int r = pci_own_vectors(t->ctx, &vf->bdf, &vectors);

	if (r < 0)
		return r;
	attrs.msix = vectors;
	if (vectors)
		attrs.mask |= VFCTL_ATTR_MSIX;
	if (attrs.mask)
		step_attrs_op(steps, &op_vf_attrs, NULL, &attrs, "%s/%u", t->bdf, vf->index);
	return 0;
}

/* Switch off probing, restore the VFs, then restore the probing. */
static int add_vfs_back(struct vfctl_selftest *t, struct steps *steps)
{
	const struct vfctl_pf *pf = t->pf;
	char count[12];
	int r = 0;

	snprintf(count, sizeof(count), "%u", pf->num_vfs);
	step_add_op(steps, &op_autoprobe, "0", pf->autoprobe ? "1" : "0", t->bdf,
		"%s: drivers %sprobe new VFs", t->name, pf->autoprobe ? "" : "do not ");
	step_begin(steps, "%s: %u VF%s", t->name, pf->num_vfs, plural(pf->num_vfs));
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		_free_ char *driver = NULL;

		r = vf_driver_text(t->ctx, &pf->vfs[i], &driver);

		if (r < 0)
			return r;
		step_op(steps, &op_vf_driver, NULL, driver, "%s/%u", t->bdf, pf->vfs[i].index);
	}
	for (uint32_t i = 0; i < pf->num_vfs && r == 0; i++)
		r = add_attrs_back(t, &pf->vfs[i], steps);
	step_op(steps, &op_numvfs, ANY, count, "%s", t->bdf);
	step_op(steps, &op_autoprobe, "0", "0", "%s", t->bdf);
	return r;
}

/*
 * While a driver adapts to the load it accepts no values: restore the values first, then the modes.
 */
static int add_moderation_back(struct vfctl_selftest *t, struct steps *steps)
{
	struct vfctl_coalesce values = t->moderation, modes = t->moderation;
	_free_ char *first = NULL, *then = NULL, *all = vfctl_coalesce_format(&t->moderation);

	values.values[VFCTL_ADAPTIVE_RX] = values.values[VFCTL_ADAPTIVE_TX] = 0;
	modes.mask &= BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_ADAPTIVE_TX);
	first = vfctl_coalesce_format(&values);
	then = vfctl_coalesce_format(&modes);
	if (!first || !then || !all)
		return ctx_oom(t->ctx);
	step_begin(steps, "%s: %s", t->name, all);
	if (*then)
		step_op(steps, &op_coalesce, then, then, "%s", t->bdf);
	step_op(steps, &op_coalesce, first, first, "%s", t->bdf);
	return 0;
}

static int add_port_back(struct vfctl_selftest *t, struct steps *steps)
{
	const struct op mtu = {&op_pf_mtu, t->bdf, NULL, NULL};
	_free_ char *now = NULL;
	int r = 0;

	if (!t->pf->ifindex)
		return 0;
	r = op_observe(t->ctx, &mtu, &now);
	if (r < 0)
		return r;
	step_add_op(steps, &op_pf_mtu, now, now, t->bdf, "%s: an MTU of %s", t->name, now);
	return t->moderation.mask ? add_moderation_back(t, steps) : 0;
}

/* The mode can change only without VFs, so it is set before them, and rolled back first. */
static void add_eswitch_back(struct vfctl_selftest *t, struct steps *steps)
{
	const char *mode = vfctl_eswitch_name(t->pf->eswitch);

	if (t->pf->eswitch == VFCTL_ESWITCH_LEGACY || t->pf->eswitch == VFCTL_ESWITCH_SWITCHDEV)
		step_add_op(steps, &op_eswitch, mode, mode, t->bdf, "%s: eswitch in %s mode", t->name, mode);
}

static int plan_back(struct vfctl_selftest *t, const char *name)
{
	int r = change_new(t->ctx, &t->change);

	/*
	 * The list is rolled back from its end: the moderation that igb accepts depends on the
	 * number of VFs.
	 */
	if (r == 0)
		r = add_port_back(t, &t->change->steps);
	if (r == 0)
		r = add_vfs_back(t, &t->change->steps);
	if (r == 0)
		add_eswitch_back(t, &t->change->steps);
	if (r == 0 && t->change->steps.failed)
		r = ctx_oom(t->ctx);
	return r < 0 ? r : target_keep(t->ctx, t->change, &t->target, "selftest %s", name);
}

/* ---- opened ---- */

/* Without the suffix that the builder of the kernel appended: it may contain a name. */
static void read_kernel(struct vfctl_selftest *t)
{
	_free_ char *release = NULL;

	if (host_try_read(t->ctx, &release, "/proc/sys/kernel/osrelease") < 0)
		return;
	snprintf(t->kernel, sizeof(t->kernel), "%.*s", (int)strspn(release, "0123456789."), release);
}

static void read_card(struct vfctl_selftest *t)
{
	vfctl_bdf_format(&t->pf->bdf, t->bdf);
	t->name = vfctl_pf_name(t->pf, t->bdf);
	snprintf(t->device_id, sizeof(t->device_id), "%04x:%04x", t->pf->vendor, t->pf->device);
	read_kernel(t);
	t->moderates = driver_moderation(t->pf->driver, t->pf->infiniband);
	t->caps = driver_vf_attrs(t->pf);
	if (t->pf->ifindex)
		t->moderation_error = coalesce_read(t->ctx, t->pf, &t->moderation);
	ctx_clear(t->ctx);
}

int vfctl_selftest_open(struct vfctl_ctx *ctx, const char *pf, unsigned flags,
	struct vfctl_selftest **ret)
{
	const struct target_need need = {.dry_run = flags & VFCTL_SELFTEST_DRY_RUN, .alone = true};
	_cleanup_(vfctl_selftest_closep) struct vfctl_selftest *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return ctx_oom(ctx);
	t->ctx = ctx;
	t->target = NO_TARGET;
	r = host_check_writable(ctx);
	if (r == 0)
		r = target_open(ctx, pf, &need, &t->target);
	if (r == 0)
		r = check_pf(ctx, t->target.pf, flags);
	if (r < 0)
		return r;
	t->pf = t->target.pf;
	read_card(t);
	r = selftest_plan(t);
	if (r == 0)
		r = plan_back(t, pf);
	if (r == 0)
		*ret = steal(t);
	return r;
}

/* ---- getters ---- */

void vfctl_selftest_card(const struct vfctl_selftest *t, struct vfctl_selftest_card *ret)
{
	*ret = (struct vfctl_selftest_card){.driver = t->pf->driver, .device_id = t->device_id,
		.kernel = t->kernel, .class_code = t->pf->class_code, .infiniband = t->pf->infiniband,
		.speed_mbps = t->pf->speed_mbps, .total_vfs = t->pf->total_vfs,
		.moderation_known = t->moderates, .attributes_known = t->caps};
}

size_t vfctl_selftest_count(const struct vfctl_selftest *t)
{
	return t->count;
}

bool vfctl_selftest_trial(const struct vfctl_selftest *t, size_t index,
	struct vfctl_selftest_trial *ret)
{
	const struct trial *x = index < t->count ? &t->trials[index] : NULL;

	if (x)
		*ret = (struct vfctl_selftest_trial){.area = x->area, .name = x->name,
			.outcome = x->outcome, .differs = x->differs,
			.ms = x->ms < 0 ? NAN : x->ms, .message = x->message};
	return x;
}

size_t vfctl_selftest_differences(const struct vfctl_selftest *t)
{
	size_t count = 0;

	for (size_t i = 0; i < t->count; i++)
		count += t->trials[i].differs || t->trials[i].outcome == VFCTL_SELFTEST_FAIL;
	return count;
}

/* ---- trials and their roll-back ---- */

/* The steps are reported only as one row: each of them is rolled back on purpose. */
static void try_one(struct vfctl_selftest *t, struct trial *x)
{
	vfctl_log_fn log = t->ctx->log;

	t->ctx->log = NULL;
	x->try(t, x);
	t->ctx->log = log;
}

static void try_all(struct vfctl_selftest *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct trial *x = &t->trials[i];

		/*
		 * A write that is still in progress in the kernel holds the PF, so its state cannot
		 * be determined.
		 */
		if (t->ctx->cancelled || vfctl_ctx_unfinished(t->ctx) || t->taken) {
			selftest_say(t, x, VFCTL_SELFTEST_UNTRIED, t->ctx->cancelled ? "interrupted"
				: t->taken ? "another program uses a VF"
				: "an earlier write still goes on in the kernel");
			continue;
		}
		ctx_progress(t->ctx, "%zu of %zu: %s: %s", i + 1, t->count, x->area, x->name);
		log_info(t->ctx, "%s: %s", x->area, x->name);
		try_one(t, x);
	}
}

/* An interruption is a reason to restore the PF, not to leave it changed. */
static int put_back(struct vfctl_selftest *t)
{
	const struct steps *steps = &t->change->steps;
	sig_atomic_t cancelled = t->ctx->cancelled;
	int r;

	/*
	 * If a guest uses the PF now, nothing is restored: the entry stays, and recover tries
	 * again.
	 */
	r = t->taken ? selftest_check_idle(t) : 0;
	if (r < 0)
		return ctx_prefix(t->ctx, -ESTALE, "not everything is restored (when that is over, run: "
			"vfctl recover)");
	t->ctx->cancelled = 0;
	ctx_progress(t->ctx, "restoring everything");
	r = steps_revert(t->ctx, steps, steps->count);
	/*
	 * A temporary failure may be gone at the second attempt, and restored values are not
	 * written again.
	 */
	if (r < 0 && !vfctl_ctx_unfinished(t->ctx)) {
		ctx_clear(t->ctx);
		r = steps_revert(t->ctx, steps, steps->count);
	}
	t->ctx->cancelled = cancelled;
	return r < 0 ? ctx_prefix(t->ctx, -ESTALE, "not everything is restored (vfctl recover tries "
		"again); this could not be rolled back") : 0;
}

int vfctl_selftest_run(struct vfctl_selftest *t)
{
	const struct journal_entry *entry = &t->change->entry;
	int64_t id = 0;
	int r = entry->journal->begin(t->ctx, entry, &t->change->steps, &id);

	if (r < 0)
		return ctx_prefix(t->ctx, r, "nothing is tried");
	ctx_audit(t->ctx, "selftest %s: begins", t->bdf);
	try_all(t);
	ctx_clear(t->ctx);
	r = put_back(t);
	ctx_audit(t->ctx, "selftest %s: %s", t->bdf, r < 0 ? vfctl_ctx_error(t->ctx)
		: "everything is restored");
	if (r < 0) {
		entry->journal->leave(t->ctx);
		return r;
	}
	/*
	 * Everything was rolled back. If the entry stays, the next process that reads the journal
	 * closes it.
	 */
	if (entry->journal->end(t->ctx, id) < 0)
		log_warn(t->ctx, "the test is over, but stays in the journal until the next command: %s",
			vfctl_ctx_error(t->ctx));
	ctx_clear(t->ctx);
	return t->ctx->cancelled ? ctx_fail(t->ctx, -EINTR, "interrupted; everything is restored") : 0;
}
