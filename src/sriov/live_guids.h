/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_LIVE_GUIDS_H
#define VFCTL_SRIOV_LIVE_GUIDS_H

#include "ids/live.h"

/*
 * For the hook, as live_macs_read() is: the GUIDs of nodes and ports that InfiniBand PFs and their
 * VFs have.
 * A PF that cannot be read is passed over: the others of the fabric stop no guest.
 */
int live_guids_add(struct vfctl_ctx *ctx, struct live_values *io);

#endif
