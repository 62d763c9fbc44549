/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_IRQ_H
#define VFCTL_TUNING_IRQ_H

#include "base/cpuset.h"
#include "base/steps.h"

/*
 * Interrupt vectors (MSI, MSI-X) of a PCI function, and the CPUs that are allowed for them. They
 * come from the function's msi_irqs, not from /proc/interrupts, whose names the driver chooses.
 */
struct irq_vector {
	unsigned irq;
	/*
	 * The kernel manages it and accepts no other CPUs. The file then has no write bit
	 * (kernel/irq/proc.c); on older kernels a write fails with EIO.
	 */
	bool managed;
	struct vfctl_cpuset cpus;      /* CPUs that are allowed */
	struct vfctl_cpuset effective; /* CPUs to which it is delivered; empty: unknown */
};

/*
 * Read the vectors, ascending by number. 0 with an empty result for a function that has none now,
 * or that was removed.
 */
int irq_vectors_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct irq_vector **ret,
	size_t *ret_count);
/* Count them without reading them, for frequent checks. */
size_t irq_vectors_count(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);

/*
 * Direct a vector of the function to @cpus, and verify that the file shows this. It takes effect at
 * the next interrupt.
 * @return 0; -ENOENT it is not a vector of that function (any more); -EIO managed; -EINVAL no CPU
 * of these is online.
 */
int irq_vector_set(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, unsigned irq,
	const struct vfctl_cpuset *cpus);

/*
 * Whether this machine can post interrupts directly into guests. For interrupts that KVM posts,
 * their CPUs on the host have no effect. Intel: drivers/iommu/intel/irq_remapping.c, bit 59 of
 * every unit's capabilities; AMD: AVIC.
 */
bool irq_may_be_posted(struct vfctl_ctx *ctx);

/*
 * Why the running irqbalance may move interrupts that vfctl set, with a remedy; NULL: it does not
 * run, or uses vfctl's policy script. The caller frees it.
 */
char *irq_balance_text(struct vfctl_ctx *ctx);
#define IRQ_POLICY VFCTL_LIBEXECDIR "/irqbalance-policy"

/*
 * Steps that direct the function's vectors to @cpus and make irqbalance leave them there. Managed
 * vectors are left to the kernel, which is reported once. There are no steps for a function without
 * vectors or without CPUs.
 */
int irq_add_pf_steps(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf,
	const struct vfctl_cpuset *cpus, struct steps *steps);

#endif
