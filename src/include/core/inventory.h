/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_INVENTORY_H
#define VFCTL_CORE_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/context.h"
#include "core/types.h"
#include "core/vfattr.h"
#include "vfctl/host.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vfctl_holder {
	enum vfctl_holder_kind kind;
	char name[128]; /**< domain name, or "comm (pid N)"; may be "" */
	char uuid[37];	/**< of the domain; "" of any other */
	int pid;	/**< process that has it open; 0 unknown or none */
};

/** Whom a VF is promised to, whoever has it now. */
struct vfctl_vf_lease {
	char name[128]; /**< of the domain; "": it is leased to nobody */
	char uuid[37];
	bool running; /**< the hook prepared it for that domain's run, which goes on */
};

/** One virtual function as it was when the inventory was read. */
struct vfctl_vf {
	uint32_t index; /**< the N of virtfnN */
	struct vfctl_bdf bdf;
	char driver[32]; /**< "" when none is bound */
	char netdev[16]; /**< "" when it has none in this network namespace */
	char rdma[64];
	int numa_node;	 /**< VFCTL_NODE_NONE when unknown */
	int iommu_group; /**< -1 when in none */
	struct vfctl_vf_attrs attrs; /**< its mask says what the driver reports */
	struct vfctl_holder holder;
	struct vfctl_vf_lease lease;
	/** Domains that have it in their definitions without being the leaseholder or the
	 * holder, separated by commas (as many as fit); "": none is known. */
	char defined_in[128];
	/** Nobody has it, and what its last guest left was not taken back: that of its lease, by the
	 * hook (vfctl_recover() does it); or of one that is not leased: vfctl_snapshot_mark_left(). */
	bool to_clean;
	/** The network device of this host that stands for it in switchdev mode; "" none. */
	char representor[16];
	char bridge[16]; /**< of the kernel, that the representor is a port of; "" none */
};

/** Whether the ports above a PF keep what its VFs send from other devices (ACS). */
enum vfctl_acs {
	VFCTL_ACS_UNKNOWN = 0, /**< not read: not root, a captured host, or there is no port above */
	VFCTL_ACS_ON,	       /**< each root port and downstream port sends it through the IOMMU */
	VFCTL_ACS_OFF,	       /**< one could, and does not: set so after the kernel made its groups */
	/** One has no ACS. The kernel knows of some that keep devices apart all the same, and makes
	 * its groups by that. */
	VFCTL_ACS_ABSENT,
	/** ABSENT or UNKNOWN, and the kernel was told to take ports without ACS for ports with it
	 * (pcie_acs_override): its groups say nothing. */
	VFCTL_ACS_OVERRIDDEN,
};

/** How the switch inside a card brings packets to its VFs. */
enum vfctl_eswitch {
	VFCTL_ESWITCH_UNKNOWN = 0, /**< not read: not root, or a capture without it */
	VFCTL_ESWITCH_NONE,	   /**< the driver has no modes */
	VFCTL_ESWITCH_LEGACY,	   /**< by MAC and VLAN, as each VF's policy says */
	VFCTL_ESWITCH_SWITCHDEV,   /**< as the rules say that its representors have on the host */
	VFCTL_ESWITCH_INACTIVE,	   /**< switchdev, and packets wait until it is made active */
};

/** What a driver makes of a bond of its PFs: one port for their VFs, or nothing. */
enum vfctl_lag {
	VFCTL_LAG_UNKNOWN = 0, /**< not read: not root, or the driver does not tell */
	VFCTL_LAG_OFF,	       /**< a bond of the host alone */
	VFCTL_LAG_ACTIVE,
};

/** One physical function with SR-IOV, and its VFs. */
struct vfctl_pf {
	struct vfctl_bdf bdf;
	char driver[32];
	char netdev[16]; /**< its first network device that is no representor; "" none */
	int ifindex;	 /**< of netdev; 0 none */
	char rdma[64];	 /**< its first RDMA device; "" none */
	char **names;	 /**< every name it answers to besides its address; NULL-terminated */
	uint16_t vendor, device;
	uint32_t class_code; /**< 24 bits, e.g. 0x020000 Ethernet, 0x020700 InfiniBand */
	int numa_node;
	int iommu_group;
	bool infiniband;     /**< its port's link layer is InfiniBand */
	bool up, carrier;    /**< of netdev */
	uint32_t speed_mbps; /**< 0 unknown */
	uint32_t mtu;	     /**< of netdev; 0 unknown */
	struct vfctl_mac mac;
	uint64_t guid; /**< of its InfiniBand port; 0 unknown or none */
	uint32_t total_vfs; /**< the driver's limit, which may be below the device's */
	uint32_t num_vfs;   /**< links found, not the number the kernel was asked for */
	int offset, stride; /**< -1 unknown */
	bool autoprobe;
	bool vf_info; /**< the kernel reported VF attributes */
	enum vfctl_acs acs; /**< of the ports above it; UNKNOWN while it has no VFs */
	struct vfctl_bdf acs_port; /**< of OFF, ABSENT, OVERRIDDEN: the port that decides */
	struct vfctl_vf *vfs; /**< num_vfs of them, ascending by index */
	/**
	 * The first thing about it or its VFs that is there but could not be read, in words;
	 * NULL: nothing. What depends on it is unknown, so no change is planned on this PF.
	 */
	char *unread;
	enum vfctl_eswitch eswitch;
	char bond[16];	    /**< that its network device is a port of; "" none */
	char bond_mode[16]; /**< "802.3ad", ...; "" not read */
	enum vfctl_lag lag; /**< of that bond */
	/** What it is known by in whichever slot it is: the permanent MAC of its port, or that port's
	 * GUID; "": not known (no network device, or Linux before 5.6). */
	char port_id[VFCTL_PORT_ID_TEXT];
};

/** What a host's SR-IOV devices look like: an immutable snapshot. */
struct vfctl_inventory {
	struct vfctl_pf *pfs; /**< ascending by address */
	size_t pf_count;
	char *unread; /**< the same of what belongs to no one PF */
};

/**
 * Read all PFs, and the VFs of those that match.
 * @param only  NULL for all; otherwise a PF's or VF's name: VFs are read for that PF
 *              alone (the other PFs are listed without theirs, num_vfs kept).
 * @param ret_inventory  freed with vfctl_inventory_free().
 * @return 0; -ENOMEM; a negative errno of the first thing that could not be read at all.
 * Attributes that cannot be read are left unknown.
 */
int vfctl_inventory_read(struct vfctl_ctx *ctx, const char *only,
	struct vfctl_inventory **ret_inventory);
void vfctl_inventory_free(struct vfctl_inventory *inventory);
DEFINE_FREEP(struct vfctl_inventory, vfctl_inventory_free)

/**
 * Find a PF by PCI address, network device, alternative name or RDMA device.
 * @return 0; -ENOENT, the words naming the PFs there are.
 */
int vfctl_inventory_find_pf(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const char *name, const struct vfctl_pf **ret_pf);
/**
 * Find a VF by PF/INDEX or by its PCI address.
 * @return 0; -EINVAL when the text is neither; -ENOENT no such PF or VF.
 */
int vfctl_inventory_find_vf(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const char *name, const struct vfctl_pf **ret_pf, const struct vfctl_vf **ret_vf);
/**
 * The VF at a PCI address, whose text need not be read for it.
 * @param ret_pf  its PF; NULL: not asked for.
 * @return NULL when the inventory has none there.
 */
const struct vfctl_vf *vfctl_inventory_vf_at(const struct vfctl_inventory *inventory,
	const struct vfctl_bdf *bdf, const struct vfctl_pf **ret_pf);

/** "none", "domain", "vfio", "netns", "host". */
const char *vfctl_holder_kind_name(enum vfctl_holder_kind kind);

/** "unknown", "off", "active"; never NULL. */
const char *vfctl_lag_name(enum vfctl_lag lag);
/** "unknown", "none", "legacy", "switchdev", "switchdev_inactive"; never NULL. */
const char *vfctl_eswitch_name(enum vfctl_eswitch mode);

/** "unknown", "on", "off", "absent", "overridden". */
const char *vfctl_acs_name(enum vfctl_acs acs);

#ifdef __cplusplus
}
#endif
#endif
