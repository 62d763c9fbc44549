/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_GUEST_HALF_H
#define VFCTL_TUNING_GUEST_HALF_H

#include "core/guest_half.h"

/* What the profile comes to with the driver that such a VF has in a guest. */
void guest_half_fit(const struct vfctl_profile *profile, const struct vfctl_guest_half_vf *vf,
	struct vfctl_tuning_fit *ret);
/* The key of systemd.link(5) for a setting; NULL: it has none. @ret_unit: "us", "s" or "". */
const char *guest_half_link_key(enum vfctl_coalesce_key key, const char **ret_unit);

#endif
