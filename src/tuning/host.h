/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_HOST_H
#define VFCTL_TUNING_HOST_H

#include "base/steps.h"
#include "types/hostspec.h"

/*
 * One kernel file with a single value. Target: its path; want and before: the value; for a choice
 * ("always [madvise] never") the selected word.
 */
extern const struct op_type op_kernel_value;

/*
 * Check that the CPUs of @spec's reserved-cpus and shared-cpus exist; CPUs that are offline do.
 * -EINVAL: this host has no such CPU, and no guest could be planned.
 */
int host_tuning_check_cpus(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec);

/*
 * Add steps for the host settings that differ from @spec: pages, kernel settings, files that the
 * next boot and the libvirt daemon read.
 * @param governed  CPUs whose governor guests have set; they keep it.
 * @param ret_pending  what remains to be done by hand, or NULL.
 * @return 0; -EBUSY pages that would have to be removed are in use; -ENOENT the kernel has no such
 * setting (a node, a page size, governors); -EINVAL it has no such governor.
 */
int host_tuning_add_steps(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_cpuset *governed, struct steps *steps, char **ret_pending);

#endif
