// SPDX-License-Identifier: GPL-2.0-or-later
#include "tuning/ops.h"

#include <errno.h>

#include "base/parse.h"
#include "host/host.h"
#include "pci/device.h"
#include "tuning/irq.h"
#include "types/tuning.h"

#define LIST_TEXT 1024

/* Log the present message as a warning. */
static int only_warn(struct vfctl_ctx *ctx)
{
	log_warn(ctx, "%s; vfctl continues without it", vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return 0;
}

/* Another program changed it meanwhile. */
static int leave_value(struct vfctl_ctx *ctx, const struct op *op, const char *what,
	const char *now)
{
	log_warn(ctx, "%s of %s is %s, which vfctl did not set, so it stays (before: %s)", what,
		op->target, now, op->before[0] ? op->before : "none");
	ctx_audit(ctx, "%s %s is %s, which another program set, so it "
		"stays", op->type->name, op->target, now);
	return 0;
}

/* ---- governors ---- */

bool op_cpu(const struct op *op, unsigned *ret_cpu)
{
	return str_starts(op->target, "cpu/") &&
		parse_u32(op->target + 4, 0, VFCTL_CPU_MAX - 1, ret_cpu) == 0;
}

#define AFFECTED_CPUS "/sys/devices/system/cpu/cpu%u/cpufreq/affected_cpus"

/* "4 5 6" */
int governor_cpus(struct vfctl_ctx *ctx, unsigned cpu, struct vfctl_cpuset *ret)
{
	struct vfctl_cpuset policy = {0};
	_free_ char *text = NULL;
	int r = host_try_read(ctx, &text, AFFECTED_CPUS, cpu);

	if (r < 0 && r != -ENOENT)
		return ctx_fail(ctx, r, "read which CPUs have their governor with CPU %u: %s", cpu,
			strerror(-r));
	vfctl_cpuset_add(&policy, cpu);
	for (char *at = text, *end; at && *at; at = end) {
		unsigned long other = strtoul(at, &end, 10);

		if (end == at)
			break;
		if (other < VFCTL_CPU_MAX)
			vfctl_cpuset_add(&policy, (unsigned)other);
	}
	*ret = policy;
	return 0;
}

static int check_governor(struct vfctl_ctx *ctx, const struct op *op, const char *text,
	unsigned *ret_cpu)
{
	return op_cpu(op, ret_cpu) && (!*text || vfctl_tuning_name_valid(text, VFCTL_GOVERNOR_MAX))
		? 0 : op_fail_value(ctx, op, text);
}

static int observe_governor(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	unsigned cpu;
	int r = check_governor(ctx, op, "", &cpu);

	if (r < 0)
		return r;
	r = host_try_read(ctx, ret, CPU_GOVERNOR, cpu);
	if (r == -ENOENT)
		return op_say(ctx, "", ret);
	return r < 0 ? ctx_fail(ctx, r, "read the governor of CPU %u: %s", cpu, strerror(-r)) : 0;
}

static int apply_governor(struct vfctl_ctx *ctx, const struct op *op)
{
	unsigned cpu;
	int r = check_governor(ctx, op, op->want, &cpu);

	if (r < 0)
		return r;
	r = host_write(ctx, op->want, CPU_GOVERNOR, cpu);
	if (r == -ENOENT) { /* the CPU was removed, or is offline */
		ctx_clear(ctx);
		return 0;
	}
	if (r == -EINVAL)
		ctx_append(ctx, r, "; the file scaling_available_governors beside it lists the "
			"governors of this host");
	return r < 0 ? only_warn(ctx) : 0;
}

static int revert_governor(struct vfctl_ctx *ctx, const struct op *op)
{
	_free_ char *now = NULL;
	unsigned cpu;
	int r = check_governor(ctx, op, op->before, &cpu);

	if (r == 0)
		r = observe_governor(ctx, op, &now);
	/* A CPU that was removed, or is offline, has none. */
	if (r < 0 || !*now || !*op->before || str_eq(now, op->before))
		return r;
	if (op->want && !str_eq(now, op->want))
		return leave_value(ctx, op, "the governor", now);
	return host_write(ctx, op->before, CPU_GOVERNOR, cpu);
}

OP_ONE_BY_ONE(cpu_governor, observe_governor, apply_governor, revert_governor)
const struct op_type op_cpu_governor = {.name = "cpu-governor", OP_CALLS(cpu_governor),
	.lost_on_reboot = true};

/* ---- the CPUs of an interrupt ---- */

static int parse_vector(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_bdf *ret_bdf,
	unsigned *ret_irq)
{
	char bdf[VFCTL_BDF_TEXT];
	const char *slash = strchr(op->target, '/');

	if (!slash || (size_t)(slash - op->target) >= sizeof(bdf) || !str_starts(slash, "/irq/"))
		return op_fail_value(ctx, op, "");
	memcpy(bdf, op->target, (size_t)(slash - op->target));
	bdf[slash - op->target] = '\0';
	return vfctl_bdf_parse(bdf, ret_bdf) == 0 &&
		parse_u32(slash + 5, 0, UINT32_MAX, ret_irq) == 0 ? 0 : op_fail_value(ctx, op, "");
}

static int observe_vector(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_free_ struct irq_vector *all = NULL;
	char list[LIST_TEXT] = "";
	struct vfctl_bdf bdf;
	size_t count = 0;
	unsigned irq;
	int r = parse_vector(ctx, op, &bdf, &irq);

	if (r == 0)
		r = irq_vectors_read(ctx, &bdf, &all, &count);
	for (size_t i = 0; i < count; i++)
		if (all[i].irq == irq)
			vfctl_cpuset_format(&all[i].cpus, list, sizeof(list));
	return r < 0 ? r : op_say(ctx, list, ret);
}

static int write_vector(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	struct vfctl_cpuset cpus;
	struct vfctl_bdf bdf;
	unsigned irq;
	int r = parse_vector(ctx, op, &bdf, &irq);

	if (r == 0 && (vfctl_cpuset_parse(text, &cpus) < 0 || vfctl_cpuset_empty(&cpus)))
		r = op_fail_value(ctx, op, text);
	return r < 0 ? r : irq_vector_set(ctx, &bdf, irq, &cpus);
}

static int apply_vector(struct vfctl_ctx *ctx, const struct op *op)
{
	int r = write_vector(ctx, op, op->want);

	return r < 0 && r != -EBADMSG ? only_warn(ctx) : r;
}

static int revert_vector(struct vfctl_ctx *ctx, const struct op *op)
{
	_free_ char *now = NULL;
	int r = observe_vector(ctx, op, &now);

	if (r < 0 || !*now || str_eq(now, op->before))
		return r;
	if (op->want && !str_eq(now, op->want))
		return leave_value(ctx, op, "the affinity", now);
	return write_vector(ctx, op, op->before);
}

OP_ONE_BY_ONE(irq_affinity, observe_vector, apply_vector, revert_vector)
const struct op_type op_irq_affinity = {.name = "irq-affinity", OP_CALLS(irq_affinity),
	.lost_on_reboot = true, .is_gone = pci_op_is_gone};

/* ---- vectors that irqbalance must not move ---- */

int irq_kept_by(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, char **ret)
{
	return host_try_read(ctx, ret, IRQ_KEEP, TEXT(bdf));
}

static int observe_keep(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	struct vfctl_bdf bdf;
	int r = vfctl_bdf_parse(op->target, &bdf) < 0 ? op_fail_value(ctx, op, "") : 0;

	if (r < 0)
		return r;
	r = irq_kept_by(ctx, &bdf, ret);
	if (r == -ENOENT)
		return op_say(ctx, "", ret);
	return r < 0 ? ctx_fail(ctx, r, "read " IRQ_KEEP ": %s", op->target, strerror(-r)) : 0;
}

static int write_keep(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	_free_ char *line = *text ? str_format("%s\n", text) : NULL;

	if (*text && !uuid_valid(text) && !str_eq(text, IRQ_KEEP_HOST))
		return op_fail_value(ctx, op, text);
	if (*text && !line)
		return ctx_oom(ctx);
	return host_replace(ctx, line, IRQ_KEEP, op->target);
}

static int apply_keep(struct vfctl_ctx *ctx, const struct op *op)
{
	_free_ char *now = NULL;
	int r = observe_keep(ctx, op, &now);

	if (r == 0 && !str_eq(now, op->want))
		r = write_keep(ctx, op, op->want);
	return r < 0 && r != -EBADMSG ? only_warn(ctx) : r;
}

static int revert_keep(struct vfctl_ctx *ctx, const struct op *op)
{
	_free_ char *now = NULL;
	int r = observe_keep(ctx, op, &now);

	/* The interrupt now belongs to another device, or already has the previous value. */
	if (r < 0 || str_eq(now, op->before) || (op->want && !str_eq(now, op->want)))
		return r;
	return write_keep(ctx, op, op->before);
}

OP_ONE_BY_ONE(irq_keep, observe_keep, apply_keep, revert_keep)
const struct op_type op_irq_keep = {.name = "irq-keep", OP_CALLS(irq_keep), .lost_on_reboot = true};
