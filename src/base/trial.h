/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_TRIAL_H
#define VFCTL_BASE_TRIAL_H

#include "base/op.h"

extern const struct op_type op_trial;

#endif
