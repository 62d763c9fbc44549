/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_TUNE_H
#define VFCTL_VFS_TUNE_H

#include "base/ctx.h"
#include "core/hostspec.h"

/* What an entry of host.yaml wants: its own settings, and for the rest its profile's. */
int moderation_wanted(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_pf_spec *pf, struct vfctl_coalesce *ret,
	const struct vfctl_profile **ret_profile);

#endif
