/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_IRQ_H
#define VFCTL_TUNING_IRQ_H

#include "base/steps.h"
#include "core/cpuset.h"
#include "core/types.h"

/*
 * Interrupt vectors (MSI, MSI-X) of a PCI function, and the CPUs that they may go to. By
 * msi_irqs of the function, and not by names in /proc/interrupts: those are the driver's.
 */
struct irq_vector {
	unsigned irq;
	/*
	 * The kernel spreads it by itself and takes no other CPUs. The file then has no write bit
	 * (kernel/irq/proc.c); kernels before that answer a write with EIO.
	 */
	bool managed;
	struct vfctl_cpuset cpus;      /* that it may go to */
	struct vfctl_cpuset effective; /* that it does go to; empty: not told */
};

/* Ascending by number. 0 with none for a function without vectors now, or that is gone. */
int irq_vectors_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct irq_vector **ret,
	size_t *ret_count);
/* How many there are: for who looks often. */
size_t irq_vectors_count(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);

/*
 * Have a vector of the function go to @cpus, and look that this is what the file then says. What
 * it takes effect at is the next interrupt.
 * @return 0; -ENOENT it is no vector of that function (any more); -EIO managed; -EINVAL no CPU
 * of these is online.
 */
int irq_vector_set(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, unsigned irq,
	const struct vfctl_cpuset *cpus);

/*
 * May this machine post interrupts straight into guests? For those that KVM posts, the CPUs that
 * they may go to on the host mean nothing. Intel: drivers/iommu/intel/irq_remapping.c, bit 59
 * of every unit's capabilities; AMD: AVIC.
 */
bool irq_may_be_posted(struct vfctl_ctx *ctx);

/*
 * Why irqbalance, which runs, may move what vfctl set, with what helps; NULL: it does not run, or
 * asks our policy script. The caller frees it.
 */
char *irq_balance_words(struct vfctl_ctx *ctx);
#define IRQ_POLICY VFCTL_LIBEXECDIR "/irqbalance-policy"

/*
 * Steps that take the function's vectors to @cpus, and have irqbalance leave them there. Those
 * that are managed are left to the kernel, which is said once; nothing for a function without
 * vectors, or without CPUs.
 */
int irq_add_pf_steps(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf,
	const struct vfctl_cpuset *cpus, struct steps *steps);

#endif
