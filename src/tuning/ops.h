/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_OPS_H
#define VFCTL_TUNING_OPS_H

#include "base/op.h"
#include "core/types.h"

/*
 * cpu-governor  "cpu/12"     its scaling governor; "": it has none
 * irq-affinity  "BDF/irq/N"  the CPUs that this vector of the function may go to; "": no such vector
 * irq-keep      BDF          whose run-time file has irqbalance leave its vectors alone: a domain's
 *                            UUID, IRQ_KEEP_HOST, or "": nobody's
 *
 * Tuning stops nobody: what the kernel refuses is a warning, and the rest goes on. What somebody
 * changed since stays as it is when they are taken back; that is said.
 */
extern const struct op_type op_cpu_governor, op_irq_affinity, op_irq_keep;

#define CPU_GOVERNOR "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor"
#define IRQ_KEEP "/run/vfctl/irq-%s"
#define IRQ_KEEP_HOST "host"

/* Of an op_cpu_governor; false: its target is none. */
bool op_cpu(const struct op *op, unsigned *ret_cpu);
/* -ENOENT: nobody's. */
int irq_kept_by(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, char **ret);

#endif
