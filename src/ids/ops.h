/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_OPS_H
#define VFCTL_IDS_OPS_H

#include "base/op.h"

/*
 * The target is the UUID of a domain. The observed state is the list of its values.
 *
 * op_claim         domain  MACs and GUIDs of pools; before: those that it already had
 * op_unclaim       domain  the same, released: the end of the domain or of the VF's stay
 */
extern const struct op_type op_claim, op_unclaim;

/* Target of op_claim for the host's own VFs. */
#define IDENTITY_HOST "host"

#endif
