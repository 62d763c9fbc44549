/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_HEALTH_H
#define VFCTL_PRINT_HEALTH_H

#include "answer.h"
#include "command.h"
#include "core/doctor.h"

/* @only: NULL for all PFs. */
void print_health(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *only);
/* What list --health tells of a PF. */
struct health {
	struct vfctl_pf_health counters;
	struct reporters {
		struct vfctl_pf_reporter *v;
		size_t count;
		bool known; /* false: there are none in @v */
	} reporters;
};
extern const struct member answer_health[];
void health_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct health *ret);
void health_clear(struct health *health);

#endif
