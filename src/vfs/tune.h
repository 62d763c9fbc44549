/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_TUNE_H
#define VFCTL_VFS_TUNE_H

#include "base/ctx.h"
#include "types/hostspec.h"

/*
 * The settings that an entry of host.yaml requests: its own, and for the rest those of its profile.
 */
int moderation_wanted(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_pf_spec *pf, struct vfctl_coalesce *ret,
	const struct vfctl_profile **ret_profile);

/*
 * -EBUSY: setting @fit resets the PF while guests use its VFs, which lose their link. The message
 * names the first of them, and the command that does it nevertheless.
 */
int moderation_check_reset(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_tuning_fit *fit);

#endif
