/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_DRIVERS_DRIVER_H
#define VFCTL_DRIVERS_DRIVER_H

#include "types/tuning.h"
#include "types/uplink.h"

/* Legal values of a setting: @low to @high in steps; the list ends with a step of 0. */
struct tuning_range {
	uint32_t low, high, step;
};

struct tuning_limit {
	enum vfctl_coalesce_key key;
	const struct tuning_range *ranges; /* values that are times or counts */
	const uint32_t *modes; /* values that mean something else; ends with 0, or NULL */
};

/* A line of the kernel log that contains all of @message is reported by the check of that name. */
struct driver_message {
	const char *check;
	const char *message[2];
	bool of_device; /* only if it names a PF or VF of this host */
};

/* The ports of a card that its driver combines into a VF-LAG. */
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
	DRIVER_SRIOV_IN_FIRMWARE = 16,	/* and its firmware tools enable it */
	DRIVER_VFS_AT_LOAD = 32,	/* the VF count is a parameter of the module */
	DRIVER_LARGE_READS = 64,	/* larger PCIe reads may help large messages */
	DRIVER_VF_GUIDS_IN_SYSFS = 128, /* GUIDs and P_Keys of VFs are files of the PF's RDMA device */
	DRIVER_NO_MODERATION = 256,	/* its ethtool_ops have no set_coalesce() */
	DRIVER_CREATES_WHILE_UP = 2048, /* a write of the VF count has no effect while the PF is down */
	DRIVER_ROUNDS = 512,		/* it accepts times and counts beyond its limits, and keeps others */
	DRIVER_VIRTUAL_PORTS = 1024,	/* its VFs have ports that the open-source OpenSM does not know */
};

/* The value of the transmit queues, if the driver has no separate setting for them. */
enum driver_pairing {
	DRIVER_TX_SEPARATE,
	DRIVER_TX_REPORTS_0,  /* rx-usecs is for both; tx-usecs reads 0 and is rejected (igb, ixgbe) */
	DRIVER_TX_REPORTS_RX, /* rx-usecs is for both; tx-usecs reads the same and is rejected (ionic) */
	DRIVER_TX_SHARED,     /* one value for both, which either name sets (rvu) */
};

#define DRIVER_FDB_NONE (-1)

struct driver_fdb_card {
	uint16_t device; /* PCI */
	int max;
};

/*
 * How many unicast MACs the function's own table holds besides the MAC of its interface (Linux
 * 6.12: what ndo_set_rx_mode() and ndo_fdb_add() of the driver do). A bridge through the function
 * needs one for each station behind it.
 */
struct driver_fdb {
	int max;    /* without VFs; 0: not known; DRIVER_FDB_NONE: it takes none */
	int per_vf; /* fewer for each VF of the PF */
	enum vfctl_fdb_past past;
	const struct driver_fdb_card *cards; /* with another number; ends with 0. NULL: none */
};

/*
 * All that vfctl knows about one driver: of PFs, of VFs in guests, or of both. Zero and NULL mean
 * that the driver does not support it, or that it is not known.
 */
struct driver {
	const char *name; /* by the driver link in sysfs */
	unsigned flags;
	/*
	 * VF attributes that it supports and does not support (ndo_set_vf_*); those in neither
	 * depend on the card, its firmware or the kernel. VLAN_PROTO means 802.1ad. Ethernet PFs
	 * only.
	 */
	uint32_t vf_has, vf_lacks;
	/* Interrupt moderation: supported_coalesce_params and set_coalesce() of its ethtool_ops. */
	uint32_t keys;			    /* VFCTL_COALESCE_BIT() of each */
	const struct tuning_limit *limits; /* ends with no ranges; what is not in it has none */
	uint32_t dynamic;    /* rx-usecs of this value follows the load; 0: it has no such value */
	enum driver_pairing pairing;
	uint32_t fixed;		   /* BIT() of keys that it reports but does not change */
	uint32_t fixed_if_adaptive; /* BIT() of keys that it rejects while it adapts to the load */
	uint32_t frames_at_0; /* with a time of 0 it takes only this number of packets; 0: any */
	uint32_t late_ms;     /* its answer shows a new value after up to this time */
	/*
	 * A change of rx-usecs across one of these values resets the PF, and its VFs lose their link. The
	 * list ends with 0. @dynamic is above each of them.
	 */
	const uint32_t *reset_below;
	const char *warning; /* side effect of a change, or of one that resets the PF */
	const char *rx_usecs_0; /* what rx-usecs 0 does, where it does not switch moderation off */
	const char *guest;     /* of its VFs in a guest, as ETHTOOL_GDRVINFO has it; NULL: the same */
	const char *guest_row; /* its name in this table; NULL: @guest */
	enum driver_lag lag;
	struct driver_fdb fdb;
	const struct driver_message *messages; /* of PF and VFs; ends with no check */
	const char *log_word; /* the word in its lines of the kernel log; NULL: the name */
};

/* The row of the driver; NULL if the table has none. */
const struct driver *driver_find(const char *name);
/* The rows one by one; NULL past the last one. */
const struct driver *driver_at(size_t index);
bool driver_has(const char *name, unsigned flag);
/* The row for the VF attributes of the PF; NULL: an InfiniBand PF, or not known. */
const struct driver *driver_vf_attrs(const struct vfctl_pf *pf);

/* Does the change of rx-usecs from @from to @to reset the PF and its VFs? */
bool driver_resets(const struct driver *d, uint32_t from, uint32_t to);
/* The row that says what moderation it takes, or NULL. @infiniband: that of its IPoIB device. */
const struct driver *driver_moderation(const char *name, bool infiniband);
/* Whether the driver accepts the value. */
bool driver_takes(const struct driver *d, enum vfctl_coalesce_key key, uint32_t value);
/* The time or count nearest to @value; of two the lower one. */
uint32_t driver_nearest(const struct driver *d, enum vfctl_coalesce_key key,
	uint32_t value);

#endif
