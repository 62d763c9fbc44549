// SPDX-License-Identifier: GPL-2.0-or-later
/* Interrupts of a device, and their CPUs. */
#include "tuning/irq.h"

#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "host/host.h"
#include "pci/device.h"

#define LIST_TEXT 1024
#define VECTORS "%s/msi_irqs"
#define AFFINITY "/proc/irq/%u/smp_affinity_list"

static int list_vectors(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, char ***ret)
{
	return host_try_list(ctx, ret, PCI_SYSFS VECTORS, TEXT(bdf));
}

size_t irq_vectors_count(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	_strv_ char **names = NULL;

	return list_vectors(ctx, bdf, &names) < 0 ? 0 : strv_len(names);
}

static int read_list(struct vfctl_ctx *ctx, unsigned irq, const char *file,
	struct vfctl_cpuset *ret)
{
	_free_ char *text = NULL;
	int r = host_try_read(ctx, &text, "/proc/irq/%u/%s", irq, file);

	return r < 0 ? r : vfctl_cpuset_parse(text, ret);
}

/* False: it no longer exists. */
static bool read_vector(struct vfctl_ctx *ctx, unsigned irq, struct irq_vector *ret)
{
	*ret = (struct irq_vector){.irq = irq};
	if (read_list(ctx, irq, "smp_affinity_list", &ret->cpus) < 0)
		return false;
	if (read_list(ctx, irq, "effective_affinity_list", &ret->effective) < 0)
		ret->effective = (struct vfctl_cpuset){0};
	ret->managed = host_may_write(ctx, AFFINITY, irq) == 0;
	return true;
}

int irq_vectors_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct irq_vector **ret,
	size_t *ret_count)
{
	_free_ struct irq_vector *all = NULL;
	_strv_ char **names = NULL;
	size_t count = 0;
	uint32_t irq;
	int r = list_vectors(ctx, bdf, &names);

	if (r == -ENOMEM)
		return ctx_oom(ctx);
	for (size_t i = 0; r == 0 && names[i]; i++) {
		if (parse_u32(names[i], 0, UINT32_MAX, &irq) < 0)
			continue;
		if (!array_grow(all, count))
			return ctx_oom(ctx);
		count += read_vector(ctx, irq, &all[count]);
	}
	*ret = steal(all);
	*ret_count = count;
	return 0;
}

int irq_vector_set(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, unsigned irq,
	const struct vfctl_cpuset *cpus)
{
	struct vfctl_cpuset now;
	char list[LIST_TEXT];
	int r;

	/* The number may belong to another device now. */
	if (!host_exists(ctx, PCI_SYSFS VECTORS "/%u", TEXT(bdf), irq))
		return ctx_fail(ctx, -ENOENT, "interrupt %u no longer belongs to %s", irq, TEXT(bdf));
	vfctl_cpuset_format(cpus, list, sizeof(list));
	r = host_write(ctx, list, AFFINITY, irq);
	if (r == -EIO)
		return ctx_append(ctx, r, "; the kernel manages this interrupt");
	if (r < 0)
		return r;
	if (read_list(ctx, irq, "smp_affinity_list", &now) < 0 ||
		!vfctl_cpuset_within(&now, cpus) || vfctl_cpuset_empty(&now))
		return ctx_fail(ctx, -EBADE, "interrupt %u of %s does not read back as CPUs %s", irq,
			TEXT(bdf), list);
	return 0;
}
