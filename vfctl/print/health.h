/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_HEALTH_H
#define VFCTL_PRINT_HEALTH_H

#include "command.h"
#include "vfctl/doctor.h"

/* @only: NULL for all PFs. */
void print_health(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *only);
/* "health", into the object that is open. */
void print_health_json(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf);

#endif
