/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_CAPS_H
#define VFCTL_SRIOV_CAPS_H

#include "vfctl/inventory.h"

/*
 * What a PF's driver takes of VF attributes, by the table. What is in neither mask is not known: it
 * depends on the card, its firmware or the kernel.
 */
struct vf_caps {
	const char *driver;
	uint32_t has, lacks; /* VFCTL_ATTR_ bits; of VLAN_PROTO: 802.1ad */
};

/* NULL: not in the table. Of an InfiniBand PF the rows say nothing. */
const struct vf_caps *vf_caps_find(const struct vfctl_pf *pf);

#endif
