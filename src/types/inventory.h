/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_INVENTORY_H
#define VFCTL_TYPES_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/vfattr.h"
#include "vfctl/host.h"

struct vfctl_holder {
	enum vfctl_holder_kind kind;
	char name[128]; /**< domain name, or "comm (pid N)"; may be "" */
	char uuid[37];	/**< of the domain; "" for other users */
	int pid;	/**< process that has it open; 0: unknown or none */
};

/** The domain that a VF is leased to, regardless of its present user. */
struct vfctl_vf_lease {
	char name[128]; /**< name of the domain; "" if it is not leased */
	char uuid[37];
	bool running; /**< the hook prepared it for the domain's current run */
};

/**
 * Size of a list of domains, separated by commas. The first fits, however long its name is; the
 * list ends with ",..." if others do not fit.
 */
#define VFCTL_DOMAINS_TEXT 264

/**
 * A libvirt network from which domains take VFs at their starts; which VF is not known before. It
 * is active, libvirt starts it at boot, or a defined domain uses it.
 */
struct vfctl_vf_promise {
	char network[64];  /**< "": no network gives the VF */
	char domains[VFCTL_DOMAINS_TEXT]; /**< its domains; "": none is defined */
	bool active;	   /**< libvirt runs it now */
};

/** One virtual function as it was when the inventory was read. */
struct vfctl_vf {
	uint32_t index; /**< the N of virtfnN */
	struct vfctl_bdf bdf;
	char driver[32]; /**< "" if no driver is bound */
	char netdev[16]; /**< "" if it has none in this network namespace */
	char rdma[64];
	int numa_node;	 /**< VFCTL_NODE_NONE if unknown */
	int iommu_group; /**< -1 if it is in none */
	struct vfctl_vf_attrs attrs; /**< the mask tells which attributes the driver reports */
	struct vfctl_holder holder;
	struct vfctl_vf_lease lease;
	/**
	 * Domains that have the VF in their definitions but neither lease nor use it; "" if none is
	 * known.
	 */
	char defined_in[VFCTL_DOMAINS_TEXT];
	/** How the first of them names it: "" as <hostdev>, else "macvtap interface" or similar. */
	char defined_as[24];
	/**
	 * The VF is not leased, and a libvirt network may give it to a domain.
	 */
	struct vfctl_vf_promise promise;
	/**
	 * The VF is not in use, and the settings of its last guest were not removed. For a leased
	 * VF the hook does that (or vfctl_recover()); for others see vfctl_snapshot_mark_left().
	 */
	bool to_clean;
	/**
	 * Its representor in switchdev mode, a network device of this host; "": none.
	 */
	char representor[16];
	char bridge[16]; /**< kernel bridge of the representor; "": none */
};

/** Whether the ports above a PF isolate its VFs from other devices (ACS). */
enum vfctl_acs {
	VFCTL_ACS_UNKNOWN = 0, /**< not read: not root, a captured host, or no port above */
	VFCTL_ACS_ON,	       /**< each root port and downstream port redirects requests to the IOMMU */
	VFCTL_ACS_OFF,	       /**< a port supports it, but it was switched off after the kernel
				    formed its groups */
	/**
	 * A port has no ACS. The kernel has a list of such ports that isolate devices nevertheless,
	 * and uses it to form its groups.
	 */
	VFCTL_ACS_ABSENT,
	/**
	 * ABSENT or UNKNOWN, and the kernel treats ports without ACS like ports with ACS
	 * (pcie_acs_override): its groups prove nothing.
	 */
	VFCTL_ACS_OVERRIDDEN,
};

/** How the switch inside a card forwards packets to its VFs. */
enum vfctl_eswitch {
	VFCTL_ESWITCH_UNKNOWN = 0, /**< not read: not root, or a capture without it */
	VFCTL_ESWITCH_NONE,	   /**< the driver has no modes */
	VFCTL_ESWITCH_LEGACY,	   /**< by MAC and VLAN, according to each VF's policy */
	VFCTL_ESWITCH_SWITCHDEV,   /**< by rules on the representors on the host */
	VFCTL_ESWITCH_INACTIVE,	   /**< switchdev, but packets are not forwarded before it is activated */
};

/** Whether a driver combines a bond of its PFs into one port for their VFs. */
enum vfctl_lag {
	VFCTL_LAG_UNKNOWN = 0, /**< not read: not root, or the driver does not report it */
	VFCTL_LAG_OFF,	       /**< the bond exists only on the host */
	VFCTL_LAG_ACTIVE,
};

/** One physical function with SR-IOV, and its VFs. */
struct vfctl_pf {
	struct vfctl_bdf bdf;
	char driver[32];
	char netdev[16]; /**< its first network device that is not a representor; "" if none */
	int ifindex;	 /**< of netdev; 0 if none */
	char rdma[64];	 /**< its first RDMA device; "" if none */
	char **names;	 /**< all its names besides its address; NULL-terminated */
	uint16_t vendor, device;
	uint32_t class_code; /**< 24 bits, e.g. 0x020000 for Ethernet, 0x020700 for InfiniBand */
	int numa_node;
	int iommu_group;
	bool infiniband;     /**< the link layer of its port is InfiniBand */
	bool up, carrier;    /**< of netdev */
	uint32_t speed_mbps; /**< 0 unknown */
	uint32_t mtu;	     /**< of netdev; 0 unknown */
	struct vfctl_mac mac;
	uint64_t guid; /**< of its InfiniBand port; 0: unknown or none */
	uint32_t total_vfs; /**< the driver's limit, which may be below the device's */
	uint32_t num_vfs;   /**< links found, not the number that was requested from the kernel */
	int offset, stride; /**< -1: unknown */
	bool autoprobe;
	bool vf_info; /**< the kernel reported VF attributes */
	enum vfctl_acs acs; /**< of the ports above it; UNKNOWN while it has no VFs */
	struct vfctl_bdf acs_port; /**< for OFF, ABSENT, OVERRIDDEN: the port that causes it */
	struct vfctl_vf *vfs; /**< num_vfs of them, ascending by index */
	/**
	 * The first part of the PF or its VFs that exists but could not be read, as text; NULL if
	 * all was read. Whatever depends on it is unknown, so no change is planned on this PF.
	 */
	char *unread;
	/**
	 * Domains that have the whole PF in their definitions: when one of them starts, the kernel
	 * removes all its VFs. "" if none is known.
	 */
	char defined_in[VFCTL_DOMAINS_TEXT];
	enum vfctl_eswitch eswitch;
	char bond[16];	    /**< the bond of its network device; "" if none */
	char bond_mode[16]; /**< "802.3ad", ...; "" if not read */
	enum vfctl_lag lag; /**< of that bond */
	/**
	 * An identification that does not depend on the slot: the permanent MAC of its port, or
	 * that port's GUID; "": not known (no network device, or Linux before 5.6).
	 */
	char port_id[VFCTL_PORT_ID_TEXT];
};

/** The SR-IOV devices of a host: an immutable snapshot. */
struct vfctl_inventory {
	struct vfctl_pf *pfs; /**< ascending by address */
	size_t pf_count;
	char *unread; /**< like vfctl_pf.unread, for what belongs to no single PF */
};
/**
 * The VF at a PCI address.
 * @param ret_pf  receives its PF; may be NULL.
 * @return NULL if the inventory has no such VF.
 */
const struct vfctl_vf *vfctl_inventory_vf_at(const struct vfctl_inventory *inventory,
	const struct vfctl_bdf *bdf, const struct vfctl_pf **ret_pf);

/** "unknown", "off", "active"; never NULL. */
const char *vfctl_lag_name(enum vfctl_lag lag);
/** "unknown", "none", "legacy", "switchdev", "switchdev_inactive"; never NULL. */
const char *vfctl_eswitch_name(enum vfctl_eswitch mode);

/** The driver to which new VFs are bound. */
enum vfctl_vf_driver {
	VFCTL_VF_DRIVER_VFIO, /**< vfio-pci, ready to be passed to a guest */
	VFCTL_VF_DRIVER_HOST, /**< the VF's own driver on this host */
	VFCTL_VF_DRIVER_NONE, /**< no driver */
};

/** A range of VFs of a PF, and the values that each has while no guest uses it. */
struct vfctl_vf_range {
	uint32_t first, last; /**< indexes, both included */
	struct vfctl_vf_attrs attrs; /**< never msix; a MAC or GUID only for a single VF */
};

/** The values for one VF. */
struct vfctl_set_item {
	const char *vf; /**< PF/INDEX or PCI address */
	struct vfctl_vf_attrs attrs;
};

#endif
