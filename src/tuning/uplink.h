/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_UPLINK_H
#define VFCTL_TUNING_UPLINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/address.h"
#include "types/inventory.h"
#include "types/uplink.h"

struct vfctl_ctx;

/*
 * The uplinks of all bridges on PFs and VFs of @inventory, without PFs in switchdev mode.
 * @only  NULL, or the PF whose uplinks are read.
 * @return 0; -EROFS: a capture without the kernel's tables; -ENOMEM.
 */
int vfctl_uplinks_read(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_pf *only, struct vfctl_uplinks *ret);
void vfctl_uplinks_free(struct vfctl_uplinks *uplinks);

/* Whether the function's own table has the MAC. */
bool vfctl_uplink_has(const struct vfctl_uplink *uplink, const struct vfctl_mac *mac);
/* "promiscuous: every unicast packet reaches the host": what happens beyond the capacity. */
const char *vfctl_uplink_past_text(enum vfctl_fdb_past past);
/* How many more entries fit; SIZE_MAX: not known. */
size_t vfctl_uplink_room(const struct vfctl_uplink *uplink);

#endif
