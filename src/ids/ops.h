/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_OPS_H
#define VFCTL_IDS_OPS_H

#include "base/op.h"

/*
 * A domain's target is its UUID. What is observed are the values that it has.
 *
 * op_claim         domain  MACs and GUIDs of pools; before: those of them that it had already
 * op_unclaim       domain  the same, given back: the end of the domain or of the VF's stay
 */
extern const struct op_type op_claim, op_unclaim;

/* Target of op_claim for the VFs that are the host's own. */
#define IDENTITY_HOST "host"

#endif
