/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SPEC_GUEST_YAML_H
#define VFCTL_SPEC_GUEST_YAML_H

#include <stdint.h>

#include "base/cleanup.h"
#include "types/guest.h"
#include "vfctl/guest.h"

struct vfctl_ctx;

DEFINE_FREEP(struct vfctl_guest, vfctl_guest_free)

/**
 * A guest with only these values: everything else has the defaults of guest.yaml. For programs that
 * fill in the rest themselves; a zeroed struct is not a valid guest (it would request node 0, and
 * no huge pages).
 *
 * @param vcpus         1 .. VFCTL_VCPU_MAX
 * @param memory_bytes  a multiple of 1 MiB
 * @param ret  free it with vfctl_guest_free(): strings that are put into it must come from
 *             malloc().
 * @return 0; -EINVAL for a name, number or size that guest.yaml would refuse; -ENOMEM.
 */
int vfctl_guest_new(struct vfctl_ctx *ctx, const char *name, uint32_t vcpus,
	uint64_t memory_bytes, struct vfctl_guest **ret);

/**
 * Add a VF, like an entry "- pf: PF" of guest.yaml.
 * @param pf      a PF's name, copied; NULL: any PF.
 * @param ret_vf  the entry, owned by the guest and valid until the next call; may be NULL.
 * @return 0; -E2BIG past VFCTL_GUEST_VFS_MAX; -ENOMEM.
 */
int vfctl_guest_add_vf(struct vfctl_ctx *ctx, struct vfctl_guest *guest, const char *pf,
	struct vfctl_guest_vf **ret_vf);

/** The number of VFs that the guest requests. */
uint32_t vfctl_guest_vf_total(const struct vfctl_guest *guest);

#endif
