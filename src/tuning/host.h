/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_HOST_H
#define VFCTL_TUNING_HOST_H

#include "base/steps.h"
#include "core/hostspec.h"

/*
 * One file of the kernel that holds one value. Target: its path; want and before: the value, of a
 * choice ("always [madvise] never") the one that is chosen.
 */
extern const struct op_type op_kernel_value;

/*
 * Are there the CPUs that @spec names in reserved-cpus and shared-cpus? One that is offline now is.
 * -EINVAL: this host has no such CPU, and no guest could be planned.
 */
int host_tuning_check_cpus(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec);

/*
 * What @spec declares for the host as a whole and is not so: pages, kernel settings, files that the
 * next boot and the libvirt daemon read.
 * @param ret_pending  what is left to be done by hand, or NULL.
 * @return 0; -EBUSY pages that would have to go are in use; -ENOENT the kernel has no such setting
 * (a node, a page size).
 */
int host_tuning_add_steps(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct steps *steps, char **ret_pending);

#endif
