/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_APPLY_OTHER_H
#define VFCTL_VFS_APPLY_OTHER_H

#include "change/target.h"
#include "vfs/apply.h"

/*
 * Find the entry of host.yaml that means no PF of @pfs among the network functions without SR-IOV,
 * which may have an entry without VFs: an IPoIB interface, a management port.
 * @return 0; -ENOENT; -EEXIST several match; -EOPNOTSUPP it is to have VFs.
 */
int other_find(struct vfctl_ctx *ctx, struct vfctl_declared *all, const struct vfctl_inventory *pfs,
	const struct vfctl_pf_spec *spec, const struct vfctl_pf **ret_pf);
/*
 * Lock such a function and read it for a change; @ret_own has t->pf.
 * @return as target_open(); -EAGAIN another function has the entry's name now.
 */
int other_open(struct vfctl_ctx *ctx, const struct vfctl_pf_spec *spec, const char *address,
	struct target *t, struct vfctl_inventory **ret_own);

#endif
