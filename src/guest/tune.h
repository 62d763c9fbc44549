/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_TUNE_H
#define VFCTL_GUEST_TUNE_H

#include <stddef.h>

#include "tuning/guest_half.h"
#include "types/hypervisor.h"
#include "types/tuning.h"

struct vfctl_ctx;

/**
 * Write the files into a running guest through its agent, set the interrupt moderation of its
 * interfaces and read it back. The call can be repeated.
 * @param ret_outcomes	one for each file and VF; vfctl_guest_outcomes_free().
 * @return 0, also if some failed; -EOPNOTSUPP no agent answers, and the message has a remedy.
 */
int vfctl_guest_half_apply(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_profile *profile,
	const struct vfctl_guest_half_vf *vfs, size_t vf_count,
	const struct vfctl_guest_half *tuning, struct vfctl_guest_outcome **ret_outcomes,
	size_t *ret_count);
void vfctl_guest_outcomes_free(struct vfctl_guest_outcome *outcomes, size_t count);

#endif
