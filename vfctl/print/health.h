/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_HEALTH_H
#define VFCTL_PRINT_HEALTH_H

#include "answer.h"
#include "checks/doctor.h"
#include "command.h"
#include "sriov/reporters.h"

struct list_view;
/* Print the PFs of @view. */
void print_health(struct out *out, const struct vfctl_inventory *inv, const struct list_view *view);
/* The health of a PF for list --health. */
struct health {
	struct vfctl_pf_health counters;
	struct reporters {
		struct vfctl_pf_reporter *v;
		size_t count;
		bool known; /* false: @v is not set */
	} reporters;
};
extern const struct member answer_health[];
void health_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct health *ret);
void health_clear(struct health *health);

#endif
