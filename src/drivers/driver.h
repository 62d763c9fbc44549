/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_DRIVERS_DRIVER_H
#define VFCTL_DRIVERS_DRIVER_H

#include "core/inventory.h"
#include "core/tuning.h"

/* Legal values of a setting: @low to @high in steps; the list ends with a step of 0. */
struct tuning_range {
	uint32_t low, high, step;
};

struct tuning_limit {
	enum vfctl_coalesce_key key;
	const struct tuning_range *ranges; /* values that are times or counts */
	const uint32_t *modes; /* values that mean something else; ends with 0, or NULL */
};

/* A line of the kernel's log that has all of @words means the check of that name. */
struct driver_message {
	const char *check;
	const char *words[2];
	bool of_device; /* only where it names a PF or VF of this host */
};

/* Which ports of a card its VF-LAG is made of. */
enum driver_lag {
	DRIVER_LAG_NONE,
	DRIVER_LAG_ALL_PORTS,     /* all ports of the card, any mode */
	DRIVER_LAG_ACTIVE_BACKUP, /* two ports, mode active-backup only */
};

enum {
	DRIVER_NO_ESWITCH = 1,	/* it has no eswitch_mode_get: vfctl does not ask */
	DRIVER_ESWITCH_WITHOUT_VFS = 2, /* it changes the mode only while the PF has no VFs */
	DRIVER_VFS_NEED_PF_UP = 4,	/* VFs have a link only while the PF's interface is up */
	DRIVER_ALWAYS_SRIOV = 8,	/* each of its cards has SR-IOV, unless firmware or BIOS hide it */
	DRIVER_SRIOV_IN_FIRMWARE = 16,	/* and its firmware tools switch it on */
	DRIVER_VFS_AT_LOAD = 32,	/* the VF count is a parameter of the module */
	DRIVER_LARGE_READS = 64,	/* larger PCIe reads may help large messages */
	DRIVER_VF_GUIDS_IN_SYSFS = 128, /* GUIDs and P_Keys of VFs are files of the PF's RDMA device */
};

/*
 * All that vfctl knows about one driver: of PFs, of VFs in guests, or of both. Zero and NULL mean that
 * the driver has no such thing, or that the table does not say.
 */
struct driver {
	const char *name; /* as the driver link in sysfs */
	unsigned flags;
	/*
	 * VF attributes that it takes and refuses (ndo_set_vf_*); what is in neither depends on the card,
	 * its firmware or the kernel. Of VLAN_PROTO: 802.1ad. Ethernet PFs only.
	 */
	uint32_t vf_has, vf_lacks;
	/* Interrupt moderation: supported_coalesce_params and set_coalesce() of its ethtool_ops. */
	uint32_t keys;			    /* VFCTL_COALESCE_BIT() of each */
	const struct tuning_limit *limits; /* ends with no ranges; what is not in it has none */
	uint32_t dynamic;    /* rx-usecs of this value follows the load; 0: it has no such value */
	bool paired;	     /* when a queue pair shares a vector rx-usecs is for both: tx is refused */
	const char *warning; /* side effect of a change */
	const char *rx_usecs_0; /* what rx-usecs 0 does, where it does not switch moderation off */
	const char *guest;     /* driver of its VFs in a guest, as ETHTOOL_GDRVINFO has it; NULL: the same */
	const char *guest_row; /* its name in this table; NULL: @guest */
	enum driver_lag lag;
	const struct driver_message *messages; /* of PF and VFs; ends with no check */
	const char *log_word; /* its lines in the kernel's log have it; NULL: the name */
};

/* The row of the driver; NULL: the table does not have it. */
const struct driver *driver_find(const char *name);
/* The rows one by one; NULL past the last. */
const struct driver *driver_at(size_t index);
bool driver_has(const char *name, unsigned flag);
/* The row that says what VF attributes the PF takes; NULL: an InfiniBand PF, or not known. */
const struct driver *driver_vf_attrs(const struct vfctl_pf *pf);

/* The row that says what moderation it takes, or NULL. @infiniband: that of its IPoIB device. */
const struct driver *driver_moderation(const char *name, bool infiniband);
/* Is the value one that the driver takes? */
bool driver_takes(const struct driver *d, enum vfctl_coalesce_key key, uint32_t value);
/* The time or count nearest to @value; of two the lower. */
uint32_t driver_nearest(const struct driver *d, enum vfctl_coalesce_key key,
	uint32_t value);

#endif
