/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_REPORTERS_H
#define VFCTL_SRIOV_REPORTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types/inventory.h"

struct vfctl_ctx;

/**
 * A devlink health reporter: a part of a PF that its driver monitors, such as its firmware or its
 * queues.
 */
struct vfctl_pf_reporter {
	char name[32]; /**< "fw", "fw_fatal", "tx" */
	bool error;    /**< in an error that it has not recovered from */
	uint64_t errors, recoveries; /**< since the driver was loaded */
};

/**
 * Read the health reporters of a PF from devlink. Reporters of several ports with the same name are
 * combined, and their counts are added.
 * @param ret_reporters  freed with free(); NULL: no reporters.
 * @return 0, also for a driver that has none; -EOPNOTSUPP a kernel without devlink, or a capture
 * without its answers; otherwise the kernel's errno.
 */
int vfctl_pf_reporters_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vfctl_pf_reporter **ret_reporters, size_t *ret_count);

#endif
