// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What each driver's VF operations take. Sources: ndo_set_vf_* in each driver of Linux 7.0
 * (drivers/net/ethernet/).
 */
#include "sriov/caps.h"

#include "base/util.h"

#define COMMON (VFCTL_ATTR_MAC | VFCTL_ATTR_VLAN_ID | VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_MAX_RATE | \
	VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST)
#define POLICIES (VFCTL_ATTR_MAX_RATE | VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST | \
	VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_QUERY_RSS)

static const struct vf_caps rows[] = {
	/* igb_main.c: no ndo_set_vf_link_state; igb_ndo_set_vf_bw() refuses a minimum rate. */
	{"igb", COMMON, VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO | VFCTL_ATTR_LINK_STATE |
		VFCTL_ATTR_QUERY_RSS},
	/* ixgbe_sriov.c; its link state came with 6.0, and RSS queries are the 82599's and X540's alone. */
	{"ixgbe", COMMON, VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO},
	/* i40e_virtchnl_pf.c */
	{"i40e", COMMON | VFCTL_ATTR_LINK_STATE, VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO |
		VFCTL_ATTR_QUERY_RSS},
	/* ice_sriov.c; 802.1ad only in double VLAN mode, a minimum rate depends on the firmware. */
	{"ice", COMMON | VFCTL_ATTR_LINK_STATE, VFCTL_ATTR_QUERY_RSS},
	/* en_main.c; a minimum rate and 802.1ad are capabilities of the firmware. */
	{"mlx5_core", COMMON | VFCTL_ATTR_LINK_STATE, VFCTL_ATTR_QUERY_RSS},
	/* netdev.c of netdevsim */
	{"netdevsim", COMMON | VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO | VFCTL_ATTR_LINK_STATE |
		VFCTL_ATTR_QUERY_RSS, 0},
	/* ena, the elastic adapter, has no VF operations at all. */
	{"ena", 0, VFCTL_ATTR_MAC | VFCTL_ATTR_VLAN | POLICIES},
	/* nvme/host/pci.c: a storage controller. */
	{"nvme", 0, VFCTL_ATTR_MAC | VFCTL_ATTR_VLAN | POLICIES},
};

const struct vf_caps *vf_caps_find(const struct vfctl_pf *pf)
{
	for (size_t i = 0; !pf->infiniband && i < ARRAY_SIZE(rows); i++)
		if (str_eq(rows[i].driver, pf->driver))
			return &rows[i];
	return NULL;
}
