// SPDX-License-Identifier: GPL-2.0-or-later
#include "tuning/irq.h"

#include <errno.h>

#include "base/parse.h"
#include "host/host.h"
#include "pci/device.h"
#include "tuning/ops.h"

#define LIST_TEXT 1024

/* ---- posted interrupts ---- */

static bool is_yes(struct vfctl_ctx *ctx, const char *path, bool missing)
{
	_free_ char *text = NULL;

	if (host_try_read(ctx, &text, "%s", path) < 0)
		return missing;
	return str_eq(text, "Y") || str_eq(text, "1");
}

#define POSTED (UINT64_C(1) << 59) /* VT-d specification, capability register, PI */

static bool intel_units_post(struct vfctl_ctx *ctx)
{
	_strv_ char **units = NULL;
	size_t count = 0;

	if (host_try_list(ctx, &units, "/sys/class/iommu") < 0)
		return false;
	for (size_t i = 0; units[i]; i++) {
		_free_ char *text = NULL;
		uint64_t cap;

		if (!str_starts(units[i], "dmar"))
			continue;
		if (host_try_read(ctx, &text, "/sys/class/iommu/%s/intel-iommu/cap", units[i]) < 0 ||
			parse_hex(text, UINT64_MAX, &cap) < 0 || !(cap & POSTED))
			return false;
		count++;
	}
	return count > 0;
}

bool irq_may_be_posted(struct vfctl_ctx *ctx)
{
	if (is_yes(ctx, "/sys/module/kvm_intel/parameters/enable_apicv", false))
		return intel_units_post(ctx) &&
			is_yes(ctx, "/sys/module/kvm_intel/parameters/enable_device_posted_irqs", true);
	return is_yes(ctx, "/sys/module/kvm_amd/parameters/avic", false);
}

/* ---- irqbalance ---- */

#define POLICY_NAME "vfctl/irqbalance-policy"

static bool asks_us(struct vfctl_ctx *ctx, const char *pid)
{
	_buf_ struct buf message = {0};

	return host_try_bytes(ctx, &message, "/proc/%s/cmdline", pid) == 0 && message.data &&
		memmem(message.data, message.len, POLICY_NAME, strlen(POLICY_NAME));
}

char *irq_balance_text(struct vfctl_ctx *ctx)
{
	_strv_ char **pids = NULL;

	if (host_try_list(ctx, &pids, "/proc") < 0)
		return NULL;
	for (size_t i = 0; pids[i]; i++) {
		_free_ char *comm = NULL;

		if (pids[i][0] < '1' || pids[i][0] > '9' ||
			host_try_read(ctx, &comm, "/proc/%s/comm", pids[i]) < 0 ||
			!str_eq(comm, "irqbalance"))
			continue;
		return asks_us(ctx, pids[i]) ? NULL
			: str_format("irqbalance (process %s) may move them; to prevent that, start it "
				"with --policyscript=%s (IRQBALANCE_ARGS in "
				"/etc/default/irqbalance)", pids[i], IRQ_POLICY);
	}
	return NULL;
}

/* ---- of a PF ---- */

static void add_vector(const struct vfctl_bdf *pf, const struct irq_vector *v, const char *list,
	struct steps *steps)
{
	char before[LIST_TEXT];

	vfctl_cpuset_format(&v->cpus, before, sizeof(before));
	step_op(steps, &op_irq_affinity, list, before, "%s/irq/%u", TEXT(pf), v->irq);
}

static bool is_elsewhere(const struct irq_vector *v, const struct vfctl_cpuset *cpus)
{
	return !v->managed && (!vfctl_cpuset_within(&v->cpus, cpus) || vfctl_cpuset_empty(&v->cpus));
}

int irq_add_pf_steps(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf,
	const struct vfctl_cpuset *cpus, struct steps *steps)
{
	_free_ struct irq_vector *all = NULL;
	_free_ char *kept = NULL;
	size_t count = 0, managed = 0, elsewhere = 0;
	char list[LIST_TEXT];
	int r = vfctl_cpuset_empty(cpus) ? 0 : irq_vectors_read(ctx, pf, &all, &count);

	for (size_t i = 0; i < count; i++) {
		managed += all[i].managed;
		elsewhere += is_elsewhere(&all[i], cpus);
	}
	if (managed)
		log_info(ctx, "%zu of the %zu interrupts of PF %s are managed by the "
			"kernel", managed, count, TEXT(pf));
	if (r < 0 || managed == count)
		return r;
	vfctl_cpuset_format(cpus, list, sizeof(list));
	if (elsewhere)
		step_begin(steps, "%zu interrupt%s of PF %s to CPUs %s", elsewhere,
			plural(elsewhere), TEXT(pf), list);
	for (size_t i = 0; i < count; i++)
		if (is_elsewhere(&all[i], cpus))
			add_vector(pf, &all[i], list, steps);
	if (irq_kept_by(ctx, pf, &kept) == 0 && str_eq(kept, IRQ_KEEP_HOST))
		return 0;
	step_begin(steps, "irqbalance does not move the interrupts of PF %s", TEXT(pf));
	step_op(steps, &op_irq_keep, IRQ_KEEP_HOST, kept ? kept : "", "%s", TEXT(pf));
	return 0;
}
