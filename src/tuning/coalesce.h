/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_COALESCE_H
#define VFCTL_TUNING_COALESCE_H

#include "base/steps.h"
#include "types/inventory.h"
#include "types/tuning.h"

/*
 * Interrupt moderation of a PF's own network device. Target: the PF; want and before: only the
 * requested settings, "adaptive-rx=off rx-usecs=0".
 */
extern const struct op_type op_coalesce;

/*
 * Read the present settings of the PF's driver. @return 0; -ENODEV it has no network device here;
 * -EOPNOTSUPP its driver has no interrupt moderation, or the kernel has no such request.
 */
int coalesce_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_coalesce *ret);

/*
 * Set all of @values or nothing, and read them back. @return 0; -EIO the driver accepted a value
 * but kept another; -ENODEV; or the driver's errno.
 */
int coalesce_write(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_coalesce *values);

/* Add the step that sets @fit, if some settings differ. */
int coalesce_add_step(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_tuning_fit *fit, struct steps *steps);

#endif
