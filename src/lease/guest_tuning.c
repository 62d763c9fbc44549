// SPDX-License-Identifier: GPL-2.0-or-later
#include "lease/guest_tuning.h"

#include <errno.h>
#include <stdio.h>

#include "change/recover.h"
#include "facts/snapshot/snapshot.h"
#include "host/host.h"
#include "lease/guest_run.h"
#include "pci/device.h"
#include "spec/host_yaml.h"
#include "tuning/ops.h"

int tuning_resolve(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_guest_tuning *asked, struct tuning_wanted *ret)
{
	struct tuning_wanted w = {.cpu_latency_us = VFCTL_CPU_LATENCY_UNSAID};
	const struct vfctl_profile *profile = NULL;
	int r = asked->profile[0] ? vfctl_profile_need(ctx, spec, asked->profile, &profile) : 0;

	if (r < 0)
		return r;
	if (profile) {
		w.cpu_latency_us = profile->cpu_latency_us;
		w.interrupts = profile->interrupts;
		str_copy(w.governor, sizeof(w.governor), profile->governor ? profile->governor : "");
	}
	if (asked->has_cpu_latency)
		w.cpu_latency_us = asked->cpu_latency_us;
	if (asked->has_interrupts)
		w.interrupts = asked->interrupts;
	if (asked->governor[0])
		str_copy(w.governor, sizeof(w.governor), asked->governor);
	*ret = w;
	return 0;
}

/* ---- CPUs ---- */

static bool read_cpus(struct vfctl_ctx *ctx, struct vfctl_cpuset *ret, const char *path)
{
	_free_ char *text = NULL;

	return host_try_read(ctx, &text, "%s", path) == 0 && vfctl_cpuset_parse(text, ret) == 0;
}

/* Remove the CPUs on which guests run their vCPUs. */
static void leave_out_guests(const struct vfctl_host_spec *spec, const struct vfctl_leases *leases,
	const struct vfctl_lease *own, struct vfctl_cpuset *io)
{
	if (spec)
		vfctl_cpuset_andnot(io, &spec->shared_cpus);
	for (size_t i = 0; leases && i < leases->count; i++)
		if (&leases->v[i] != own)
			vfctl_cpuset_andnot(io, &leases->v[i].cpus);
}

void tuning_housekeeping(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_leases *leases, int node, struct vfctl_cpuset *ret)
{
	struct vfctl_cpuset there = {0}, reserved = {0}, isolated;
	char path[64] = "/sys/devices/system/cpu/online";

	if (node >= 0)
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	read_cpus(ctx, &there, path);
	if (spec)
		reserved = spec->reserved_cpus;
	vfctl_cpuset_and(&reserved, &there);
	if (!vfctl_cpuset_empty(&reserved))
		there = reserved;
	else if (read_cpus(ctx, &isolated, "/sys/devices/system/cpu/isolated"))
		vfctl_cpuset_andnot(&there, &isolated);
	leave_out_guests(spec, leases, NULL, &there);
	*ret = there;
}

void tuning_vector_cpus(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_leases *leases, const struct vfctl_domain_intent *intent,
	const struct vfctl_bdf *vf, struct vfctl_cpuset *ret)
{
	struct vfctl_cpuset cpus = intent->emulator_cpus, online;

	if (read_cpus(ctx, &online, "/sys/devices/system/cpu/online"))
		vfctl_cpuset_and(&cpus, &online);
	leave_out_guests(spec, leases, vfctl_leases_find_uuid(leases, intent->uuid), &cpus);
	if (vfctl_cpuset_empty(&cpus))
		tuning_housekeeping(ctx, spec, leases, pci_read_int(ctx, vf, "numa_node", -1), &cpus);
	*ret = cpus;
}

struct vfctl_cpuset tuning_own_cpus(const struct vfctl_lease *lease)
{
	return lease && !lease->transient ? lease->cpus : (struct vfctl_cpuset){0};
}

/* ---- governors that several CPUs share ---- */

#define NOTE(start, ...)                                                                 \
	do {                                                                             \
		buf_puts(&(start)->left_out, (start)->left_out.len ? "; " : "");        \
		buf_printf(&(start)->left_out, __VA_ARGS__);                             \
	} while (0)

#define LOCK_GOVERNORS "cpu-governor"
#define STRICTEST "performance"

/* The governor that this op of a run requests for a CPU of @policy, or NULL. */
static const char *wants_of(const struct op *op, const struct vfctl_cpuset *policy)
{
	unsigned cpu;

	return op->type == &op_cpu_governor && op->want && op_cpu(op, &cpu) &&
		vfctl_cpuset_has(policy, cpu) ? op->want : NULL;
}

static bool is_other(const struct open_change *run, const char *uuid, const char *boot)
{
	return !str_eq(run->run, uuid) && (!run->boot[0] || !*boot || str_eq(run->boot, boot));
}

struct governing {
	struct tuning_start *start;
	const char *governor;
	struct vfctl_cpuset own;
	struct open_changes *runs; /* read only when needed */
	char boot[VFCTL_UUID_TEXT];
	size_t missing; /* number of CPUs without cpufreq */
	char list[512]; /* of @own */
	bool begun; /* a step was begun */
};

static int read_runs(struct vfctl_ctx *ctx, struct governing *g)
{
	int r = 0;

	if (g->runs)
		return 0;
	boot_id_read(ctx, g->boot);
	if (g->start->lock < 0)
		r = host_lock(ctx, LOCK_GOVERNORS, false, &g->start->lock);
	return r < 0 ? r : journal_read_runs(ctx, NULL, &g->runs);
}

/*
 * The CPU shares its governor with other CPUs. While guests run on several of them, the strictest
 * governor applies. A CPU is slowed down only if all of these guests request it. NULL: the governor
 * is not changed.
 */
static int shared_governor(struct vfctl_ctx *ctx, struct governing *g,
	const struct vfctl_cpuset *policy, const char **ret)
{
	struct vfctl_cpuset rest = *policy;
	const char *governor = g->governor;
	int r = read_runs(ctx, g);

	vfctl_cpuset_andnot(&rest, &g->own);
	for (size_t i = 0; r == 0 && i < g->runs->count; i++)
		for (size_t k = 0; k < g->runs->v[i].op_count; k++) {
			const struct op *op = &g->runs->v[i].ops[k];
			unsigned cpu;

			if (!is_other(&g->runs->v[i], g->start->intent->uuid, g->boot) ||
				!wants_of(op, policy))
				continue;
			if (str_eq(op->want, STRICTEST))
				governor = STRICTEST;
			if (op_cpu(op, &cpu))
				vfctl_cpuset_remove(&rest, cpu);
		}
	if (r < 0)
		return r;
	*ret = str_eq(governor, STRICTEST) || vfctl_cpuset_empty(&rest) ? governor : NULL;
	return 0;
}

static void add_governor(struct governing *g, unsigned cpu, const char *governor, const char *now,
	struct steps *steps)
{
	if (!g->begun)
		step_begin(steps, "governor %s on CPUs %s", g->governor, g->list);
	g->begun = true;
	step_op(steps, &op_cpu_governor, governor, now, "cpu/%u", cpu);
}

static int plan_cpu(struct vfctl_ctx *ctx, struct governing *g, unsigned cpu, struct steps *steps)
{
	struct vfctl_cpuset policy;
	const char *governor = g->governor;
	_free_ char *now = NULL;
	bool shared;
	int r = host_try_read(ctx, &now, CPU_GOVERNOR, cpu);

	if (r == -ENOMEM)
		return ctx_oom(ctx);
	if (r == -ENOENT)
		g->missing++;
	else if (r < 0)
		NOTE(g->start, "the governor of CPU %u cannot be read: %s", cpu, strerror(-r));
	if (r < 0)
		return 0;
	r = governor_cpus(ctx, cpu, &policy);
	if (r < 0)
		return r;
	shared = !vfctl_cpuset_within(&policy, &g->own);
	r = shared ? shared_governor(ctx, g, &policy, &governor) : 0;
	if (r == 0 && !governor)
		NOTE(g->start, "CPU %u shares its governor with CPUs of other guests or the host: it "
			"stays %s", cpu, now);
	/*
	 * A shared governor is recorded even if it is right: another run may leave it to this one.
	 */
	if (r == 0 && governor && (shared || !str_eq(now, governor)))
		add_governor(g, cpu, governor, now, steps);
	return r;
}

static int plan_governors(struct vfctl_ctx *ctx, struct tuning_start *start, const char *governor,
	struct steps *steps)
{
	struct governing g = {.start = start, .governor = governor,
		.own = tuning_own_cpus(start->lease)};
	int r = 0;

	vfctl_cpuset_format(&g.own, g.list, sizeof(g.list));
	for (int c = vfctl_cpuset_next(&g.own, 0); c >= 0 && r == 0;
		c = vfctl_cpuset_next(&g.own, (unsigned)c + 1))
		r = plan_cpu(ctx, &g, (unsigned)c, steps);
	open_changes_free(g.runs);
	if (r == 0 && g.missing)
		NOTE(start, "governor %s is not set on %zu of CPUs %s: they have no cpufreq driver",
			governor, g.missing, g.list);
	return r;
}

/* ---- the start ---- */

static int plan_keeping(struct vfctl_ctx *ctx, const struct tuning_start *start,
	struct steps *steps)
{
	if (start->vf_count)
		step_begin(steps, "irqbalance does not move the interrupts of its VFs");
	for (size_t i = 0; i < start->vf_count; i++) {
		_free_ char *before = NULL;
		int r = irq_kept_by(ctx, &start->vfs[i].bdf, &before);

		if (r == -ENOMEM)
			return ctx_oom(ctx);
		/* An entry that a former guest left behind has no owner now. */
		step_op(steps, &op_irq_keep, start->intent->uuid,
			before && str_eq(before, IRQ_KEEP_HOST) ? before : "", "%s",
			TEXT(&start->vfs[i].bdf));
	}
	return 0;
}

static int plan_wanted(struct vfctl_ctx *ctx, struct tuning_start *start, struct steps *steps)
{
	const struct vfctl_cpuset own = tuning_own_cpus(start->lease);
	struct tuning_wanted w;
	int r = tuning_resolve(ctx, start->spec, &start->intent->tuning, &w);

	if (r < 0)
		return r;
	if ((w.governor[0] || w.cpu_latency_us != VFCTL_CPU_LATENCY_UNSAID) &&
		vfctl_cpuset_empty(&own))
		NOTE(start, "governor and C-state limit are not set: the guest has no CPUs of its own");
	else if (w.governor[0])
		r = plan_governors(ctx, start, w.governor, steps);
	return r < 0 || !w.interrupts ? r : plan_keeping(ctx, start, steps);
}

int tuning_plan(struct vfctl_ctx *ctx, struct tuning_start *start, struct steps *steps)
{
	int r = 0;

	if (start->intent->tuning_damaged)
		NOTE(start, "the tuning in the metadata cannot be read and is not applied; define the "
			"guest again with vfctl");
	else if (vfctl_guest_tuning_any(&start->intent->tuning))
		r = plan_wanted(ctx, start, steps);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		NOTE(start, "%s; the guest starts without it", vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return start->left_out.failed ? ctx_oom(ctx) : 0;
}

/* ---- the end ---- */

bool tuning_is_effect(const struct op *op)
{
	return op->type == &op_cpu_governor || op->type == &op_irq_affinity ||
		op->type == &op_irq_keep;
}

int tuning_forget_kept(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_bdf *only)
{
	int r = 0;

	for (size_t i = 0; i < lease->vf_count && r == 0; i++) {
		const struct vfctl_bdf *vf = &lease->vfs[i].bdf;

		if ((!only || vfctl_bdf_compare(vf, only) == 0) &&
			tuning_is_kept(ctx, lease->domain_uuid, vf))
			r = host_replace(ctx, NULL, IRQ_KEEP, TEXT(vf));
	}
	return r;
}

bool tuning_is_kept(struct vfctl_ctx *ctx, const char *uuid, const struct vfctl_bdf *vf)
{
	_free_ char *kept = NULL;

	return irq_kept_by(ctx, vf, &kept) == 0 && str_eq(kept, uuid);
}

/*
 * If another run requests a governor for one of these CPUs, that run restores @before at its end.
 */
static int leave_to(struct vfctl_ctx *ctx, const struct open_change *run, const char *before,
	const struct vfctl_cpuset *policy, bool *ret_left)
{
	int r = 0;

	for (size_t i = 0; i < run->op_count && r == 0; i++) {
		const struct op note = {&op_cpu_governor, run->ops[i].target, run->ops[i].want,
			(char *)before};

		/* A run that requests the same value has nothing to restore. */
		if (!wants_of(&run->ops[i], policy) || str_eq(before, run->ops[i].want))
			continue;
		r = run_note(ctx, run->run, "", &note, 1);
		*ret_left = true;
	}
	return r;
}

static int hand_over_one(struct vfctl_ctx *ctx, const struct open_change *run, const struct op *op,
	struct open_changes **io_runs, bool *ret_left)
{
	struct vfctl_cpuset policy;
	unsigned cpu;
	int r;

	*ret_left = false;
	if (!op->before || !op_cpu(op, &cpu))
		return 0;
	r = governor_cpus(ctx, cpu, &policy);
	if (r < 0 || vfctl_cpuset_count(&policy) == 1)
		return r;
	if (!*io_runs)
		r = journal_read_runs(ctx, NULL, io_runs);
	for (size_t i = 0; r == 0 && i < (*io_runs)->count; i++)
		if (is_other(&(*io_runs)->v[i], run->run, run->boot))
			r = leave_to(ctx, &(*io_runs)->v[i], op->before, &policy, ret_left);
	return r;
}

/* A later entry for the same governor overrides this one. */
static bool is_overtaken(const struct op *ops, size_t count, size_t i)
{
	for (size_t k = i + 1; k < count; k++)
		if (ops[k].type == ops[i].type && str_eq(ops[k].target, ops[i].target))
			return true;
	return false;
}

int tuning_hand_over(struct vfctl_ctx *ctx, const struct open_change *run, struct op *ops,
	size_t *io_count, int *ret_lock)
{
	_cleanup_(open_changes_freep) struct open_changes *runs = NULL;
	size_t kept = 0, count = *io_count;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		bool left = false;

		if (ops[i].type == &op_cpu_governor) {
			if (is_overtaken(ops, count, i))
				continue;
			if (*ret_lock < 0)
				r = host_lock(ctx, LOCK_GOVERNORS, false, ret_lock);
			if (r == 0)
				r = hand_over_one(ctx, run, &ops[i], &runs, &left);
		}
		if (!left)
			ops[kept++] = ops[i];
	}
	*io_count = kept;
	return r;
}
