/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_LIVE_GUIDS_H
#define VFCTL_SRIOV_LIVE_GUIDS_H

#include "ids/live.h"

/*
 * Read the node and port GUIDs of InfiniBand PFs and their VFs, for the hook, like
 * live_macs_read(). A PF that cannot be read is skipped: another PF must not prevent the start of a
 * guest.
 */
int live_guids_add(struct vfctl_ctx *ctx, struct live_values *io);

#endif
