/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_MODEL_H
#define VFCTL_PLACEMENT_MODEL_H

#include "base/ctx.h"
#include "vfctl/placement.h"

/* Beyond these a number of a model is a slip of the pen, not a host. */
#define MODEL_BYTES_MAX (UINT64_C(1) << 56)
#define MODEL_DISTANCE_MAX 255 /* a byte in the ACPI SLIT */
#define MODEL_RATIO_MAX 64
#define MODEL_FABRIC_MAX 1000000
#define MODEL_PORT_MAX 1024
#define MODEL_VFS_MAX 65535 /* NumVFs has 16 bits (PCIe 9.3.3.7) */

/* The fabric as JSON has it, "ethernet"; NULL for a number of another caller's choice. */
const char *model_fabric_word(int fabric);
/* The checks, the words beginning with the member: "nodes[1].cpus: ...". */
int model_check(struct vfctl_ctx *ctx, const struct vfctl_host_model *model);

#endif
