/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_COALESCE_H
#define VFCTL_TUNING_COALESCE_H

#include "base/steps.h"
#include "core/inventory.h"
#include "core/tuning.h"

/*
 * Interrupt moderation of a PF's own network device. Target: the PF; want and before:
 * "adaptive-rx=off rx-usecs=0", what is wanted alone.
 */
extern const struct op_type op_coalesce;

/*
 * What the PF's driver has, in the words of the kernel. @return 0; -ENODEV it has no network device
 * here; -EOPNOTSUPP its driver has no interrupt moderation to set, or the kernel no such question.
 */
int coalesce_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_coalesce *ret);

/*
 * Set what @values states, all of it or nothing, and read it back. @return 0; -EIO the driver took it
 * and kept something else; -ENODEV; what the driver refuses it with.
 */
int coalesce_write(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_coalesce *values);

/* The step that makes @fit so, if something of it is not. */
int coalesce_add_step(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_tuning_fit *fit, struct steps *steps);

#endif
