/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_GUEST_HALF_H
#define VFCTL_TUNING_GUEST_HALF_H

#include "core/guest_half.h"

/* Adapt the profile to the driver that such a VF has in a guest. */
void guest_half_fit(const struct vfctl_profile *profile, const struct vfctl_guest_half_vf *vf,
	struct vfctl_tuning_fit *ret);
/* The key of systemd.link(5) for a setting; NULL if there is none. @ret_unit: "us", "s" or "". */
const char *guest_half_link_key(enum vfctl_coalesce_key key, const char **ret_unit);


/* guest_ipoib.c: "" if udev sets neither mode nor MTU. NULL: out of memory. */
char *guest_ipoib_rule(const struct vfctl_guest_half_vf *vf);
/*
 * A file of that program for all IPoIB interfaces of the guest; it must be freed. Without a path:
 * the program needs none. False: out of memory.
 */
bool guest_ipoib_file(enum vfctl_guest_network network, const struct vfctl_guest_half_vf *vf,
	struct vfctl_guest_file *ret);

#endif
