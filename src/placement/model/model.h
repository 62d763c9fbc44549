/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_MODEL_MODEL_H
#define VFCTL_PLACEMENT_MODEL_MODEL_H

#include "base/ctx.h"
#include "base/record.h"
#include "types/placement.h"

/* A larger number in a model is a mistake. */
#define MODEL_BYTES_MAX (UINT64_C(1) << 56)
#define MODEL_DISTANCE_MAX 255 /* a byte in the ACPI SLIT */
#define MODEL_RATIO_MAX 64
#define MODEL_FABRIC_MAX 1000000
#define MODEL_PORT_MAX 1024
#define MODEL_VFS_MAX 65535 /* NumVFs has 16 bits (PCIe 9.3.3.7) */

/* Number of words of a set up to its last CPU: sets are long, and nearly empty. */
static inline size_t cpuset_text(const struct vfctl_cpuset *set)
{
	size_t message = ARRAY_SIZE(set->word);

	while (message && !set->word[message - 1])
		message--;
	return message;
}

/* A PCI address as a number of 48 bits, in the order of vfctl_bdf_compare(). */
static inline uint64_t model_bdf_key(const struct vfctl_bdf *bdf)
{
	return (uint64_t)bdf->domain << 16 | (uint64_t)bdf->bus << 8 | (bdf->slot & 31u) << 3 |
		(bdf->function & 7u);
}

extern const struct record model_occupant_record;
/* The fabric in JSON, "ethernet"; NULL for a number that another caller chose. */
const char *model_fabric_word(int fabric);
/* Check a model; errors begin with the member: "nodes[1].cpus: ...". */
int model_check(struct vfctl_ctx *ctx, const struct vfctl_host_model *model);

#endif
