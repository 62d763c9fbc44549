/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LIBVIRT_CONNECT_H
#define VFCTL_LIBVIRT_CONNECT_H

#include "types/hypervisor.h"

struct vfctl_ctx;

/**
 * Connect to libvirt.
 * @param uri  NULL: qemu:///system.
 * @return 0; as vfctl_libvirt_check_uri(); -ENOPKG when libvirt is not installed; -ECONNREFUSED.
 */
int vfctl_libvirt_open(struct vfctl_ctx *ctx, const char *uri,
	struct vfctl_hypervisor **ret_hypervisor);

#endif
