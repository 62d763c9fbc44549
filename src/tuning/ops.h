/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_OPS_H
#define VFCTL_TUNING_OPS_H

#include "base/cpuset.h"
#include "base/op.h"

/*
 * cpu-governor  "cpu/12"     its scaling governor; "": it has none
 * irq-affinity  "BDF/irq/N"  the CPUs that this vector of the function may go to; "": no such
 * vector
 * irq-keep      BDF          whose run-time file has irqbalance leave its vectors alone: a domain's
 *                            UUID, IRQ_KEEP_HOST, or "": it has no owner
 *
 * A failure of tuning does not stop a change: what the kernel refuses is a warning, and the other
 * operations continue. A roll-back keeps values that another program changed meanwhile, and reports
 * them.
 */
extern const struct op_type op_cpu_governor, op_irq_affinity, op_irq_keep;

#define CPU_GOVERNOR "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor"
#define IRQ_KEEP "/run/vfctl/irq-%s"
#define IRQ_KEEP_HOST "host"

/*
 * The CPUs that have one governor with @cpu: those of its policy, or it alone if the kernel states
 * none.
 */
int governor_cpus(struct vfctl_ctx *ctx, unsigned cpu, struct vfctl_cpuset *ret);
/* The CPU of an op_cpu_governor; false: its target is not valid. */
bool op_cpu(const struct op *op, unsigned *ret_cpu);
/* -ENOENT: it has no owner. */
int irq_kept_by(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, char **ret);

#endif
