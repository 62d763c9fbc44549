/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_BRIDGE_H
#define VFCTL_PRINT_BRIDGE_H

#include "answer.h"
#include "out.h"
#include "types/uplink.h"

/* list --bridge: the functions through which bridges reach the wire, and their tables. */
void print_bridge(struct out *out, const struct vfctl_uplinks *uplinks);
/* JSON, of struct vfctl_uplinks. */
extern const struct member answer_bridge[];

#endif
