/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_SAVED_IMAGE_H
#define VFCTL_LEASE_SAVED_IMAGE_H

#include "base/ctx.h"

/*
 * A managed save image (virsh managedsave): libvirt starts the domain from it, with the definition
 * that the image has, not with the present one (qemuDomainObjStart() of libvirt's qemu_driver.c).
 * The same holds for the return to a snapshot with the guest's memory (qemuSnapshotRevertActive()
 * of qemu_snapshot.c); a snapshot without it replaces the definition, which vfctl status compares.
 */
bool saved_image_exists(struct vfctl_ctx *ctx, const char *domain);
/* Warn that a change of the definition does not count at the next start. */
void saved_image_warn(struct vfctl_ctx *ctx, const char *domain);
/*
 * Add to the message of a start that failed that the domain may start from one of them. @return @r.
 */
int saved_image_explain(struct vfctl_ctx *ctx, int r, const char *domain);

#endif
