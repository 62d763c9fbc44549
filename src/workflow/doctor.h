/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_DOCTOR_H
#define VFCTL_WORKFLOW_DOCTOR_H

#include "checks/check.h"

/* What a host needs before any guest can have a VF. */
extern const struct check host_checks[];
/* Fill @d->prerequisites from what the checks found. */
int doctor_list_prerequisites(struct vfctl_ctx *ctx, struct vfctl_diagnosis *d);

/* PFs whose MTU is below what guests on them were defined for. */
void doctor_check_mtu(struct exam *e);

#endif
