/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_DOCTOR_H
#define VFCTL_WORKFLOW_DOCTOR_H

#include "checks/check.h"

/* PFs whose MTU is below what guests on them were defined for. */
void doctor_check_mtu(struct exam *e);

#endif
