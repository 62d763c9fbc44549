/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_HOSTSPEC_H
#define VFCTL_TYPES_HOSTSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "types/identity.h"
#include "types/inventory.h"
#include "types/placement.h"
#include "types/tuning.h"

#define VFCTL_HOST_SPEC_PATH "/etc/vfctl/host.yaml"
#define VFCTL_HOST_FILE_MAX (1024 * 1024) /**< bytes; a longer host.yaml is rejected */

/** A P_Key with a name, like a partition of opensm. */
struct vfctl_partition {
	char name[VFCTL_ID_NAME_MAX + 1];
	uint16_t pkey;	/**< 1..0x7fff, without the membership bit */
	bool full;	/**< membership of VFs that do not state one: full, or limited */
	bool ipoib;	/**< opensm's flag: create the multicast group for IPoIB */
};

/** The fleet's store: etcd version 3 through its JSON gateway. */
struct vfctl_etcd_spec {
	char **endpoints; /**< "https://host:2379"; NULL-terminated, tried in this order */
	char *prefix;	  /**< prefix of all keys; "/vfctl/" */
	char *ca, *cert, *key;	     /**< PEM files, or NULL */
	char *user, *password_file;  /**< or NULL; the file contains only the password */
	uint32_t timeout_ms; /**< longest time of one call of vfctl to etcd; 5000 */
	uint32_t ttl_s;	     /**< after this time without a report a host counts as lost; 86400 */
	uint32_t block;	     /**< values in the reserve of this host, 0..120; 16 */
};

/** What the metadata of a domain may request for VFs that are not leased to it. */
enum vfctl_foreign_mode {
	VFCTL_FOREIGN_LEASES_ONLY, /**< nothing: such a VF prevents its start (default) */
	VFCTL_FOREIGN_REFUSE,	   /**< nothing, and no VF that is not leased to it, with
					metadata or without */
	VFCTL_FOREIGN_FREE_VFS,	   /**< a free VF of the PFs below, within the limits below */
};

/**
 * What this host permits to foreign domains. Zero-initialised it is the default, which grants only
 * what vfctl leased. docs/explanation/security.md has the reasons.
 */
struct vfctl_foreign_spec {
	enum vfctl_foreign_mode mode;
	char **pfs; /**< names of PFs whose free VFs may be taken; NULL-terminated, or NULL */
	char *pfs_at; /**< "FILE:LINE:COLUMN" of that list, for messages */
	struct vfctl_cpuset vlans; /**< VLAN tags that may be requested, besides none */
	uint32_t max_rate_mbps; /**< highest rate, and then one must be stated; 0: any */
	bool trust;	   /**< trust may be switched on */
	bool spoofchk_off; /**< the spoof check may be switched off */
};

/** The requested state of the PF's own network device. */
enum vfctl_pf_link { VFCTL_PF_LINK_UNSAID, VFCTL_PF_LINK_UP, VFCTL_PF_LINK_DOWN };

/** The requested interrupt moderation of a PF. Zeroed: it is not changed. */
struct vfctl_pf_tuning {
	char *profile; /**< see vfctl_profile_find(); or NULL */
	struct vfctl_coalesce coalesce; /**< settings that override those of the profile */
};

/** Which MACs behind a bridge vfctl monitor --bridge keeps in the tables of the PF and its VFs. */
enum vfctl_bridge_mode {
	VFCTL_BRIDGE_OFF,
	VFCTL_BRIDGE_GUESTS, /**< the host's own, and those on tap devices */
	VFCTL_BRIDGE_LEARNT, /**< on all ports */
};

/** One PF as this host declares it. */
struct vfctl_pf_spec {
	char *file;    /**< its file, under the name with which it was read */
	unsigned line, column; /**< its place in that file */
	/**
	 * What identifies it: exactly one PF of the host must match everything that is stated.
	 * Names are its address, network device, alternative name or RDMA device.
	 */
	char *names[5]; /**< NULL: not stated */
	char *driver;	/**< driver of the PF itself; or NULL */
	char *serial;	/**< device serial number, or that of the product; or NULL */
	uint16_t vendor, device; /**< both 0: not stated */
	bool unmanaged;	/**< vfctl does not change it, whatever else matches it */
	bool counted;	/**< @p count is stated; else its VFs are not changed */
	uint32_t count;
	enum vfctl_vf_driver vf_driver;
	bool keep_identities;
	char *guid_pool, *pkey; /**< as in vfctl_create_options, the P_Key as text; or NULL */
	uint32_t mtu;		/**< 0: not stated */
	enum vfctl_pf_link link;
	char *ipoib_mode; /**< "datagram" or "connected"; NULL: not stated */
	/**
	 * Adaptive moderation of its RDMA device (rdma dev set), for the completion queues that
	 * kernel users create.
	 */
	bool rdma_adaptive_stated, rdma_adaptive;
	struct vfctl_pf_tuning tuning;
	enum vfctl_eswitch eswitch; /**< LEGACY or SWITCHDEV; UNKNOWN: not stated */
	char *bridge; /**< bridge of the VFs' representors; NULL: not stated */
	enum vfctl_bridge_mode bridge_mode;
	char **bridge_macs; /**< MACs that are always in the table; NULL-terminated, or NULL */
	struct vfctl_vf_range *ranges; /**< ascending, without overlaps, below @p count */
	size_t range_count;
};

/** Two ports of one card that its VFs use as one port (VF-LAG). */
struct vfctl_lag_spec {
	char *file; /**< its file */
	unsigned line, column;
	char *bond;  /**< network device */
	char *mode;  /**< "active-backup", "balance-xor" or "802.3ad" */
	char **pfs; /**< two names of PFs; NULL-terminated */
};

/** Huge pages of one size on one node. */
struct vfctl_hugepages {
	uint32_t node;
	uint64_t size_bytes; /**< 2 MiB or 1 GiB, or another size that the CPU supports */
	uint32_t count;
};
#define VFCTL_HUGEPAGES_MAX 64

#define VFCTL_MEMLOCK_UNLIMITED UINT64_MAX

/** The settings of the host as a whole. Zeroed: nothing is changed. */
struct vfctl_kernel_spec {
	bool numa_balancing_stated, numa_balancing;
	char *transparent_hugepages; /**< always, madvise or never; NULL: not stated */
	bool busy_poll_stated;
	uint32_t busy_poll_us; /**< net.core.busy_poll and busy_read */
	char *governor;	       /**< scaling governor of all CPUs; NULL: not stated */
	bool cpu_latency_stated;
	uint32_t cpu_latency_us; /**< no CPU enters a C-state with a longer exit latency; 0: none at all */
	char **modules;	       /**< modules to load now and at boot; NULL-terminated, or NULL */
	uint64_t memlock_bytes; /**< limit of the memory that the libvirt daemon may lock; 0: not stated */
	char *memlock_group; /**< a group whose members get the same limit; or NULL */
	bool memlock_all_users; /**< all users, and root, get the same limit */
};

#define VFCTL_SM_PRIORITY_MAX 15

enum vfctl_subnet_where {
	VFCTL_SUBNET_UNSTATED,
	VFCTL_SUBNET_HERE,      /**< OpenSM on this host, which vfctl configures */
	VFCTL_SUBNET_ELSEWHERE, /**< in a switch or on another host */
};

/** The subnet manager of this host's InfiniBand fabric. Zeroed: nothing is stated. */
struct vfctl_subnet_spec {
	unsigned runs; /**< enum vfctl_subnet_where */
	bool priority_stated;
	uint32_t priority; /**< 0 (lowest) .. VFCTL_SM_PRIORITY_MAX */
	bool virtualization_stated, virtualization; /**< virt_enabled of NVIDIA's OpenSM */
	char *rules; /**< a file with partitions of the administrator, before those of vfctl; or NULL */
	char *directory; /**< of opensm.conf and partitions.conf; NULL: /etc/rdma or /etc/opensm */
};

/* Longest time that the start of a domain waits for vfctl's hook. */
#define VFCTL_HOOK_TIMEOUT_MS 15000

/** A host.yaml. Zero-initialised: nothing is declared. */
struct vfctl_host_spec {
	char host[65]; /**< this host's name in the fleet; default: its hostname */
	/**
	 * The files that vfctl_host_spec_read() read, NULL-terminated: one file, or a directory and
	 * its files.
	 */
	char **sources;
	struct vfctl_id_pool *pools;
	char **pool_pfs; /**< for a pool that derives from a PF's GUID: the PF's name; NULL entries */
	size_t pool_count;
	struct vfctl_partition *partitions;
	size_t partition_count;
	struct vfctl_pf_spec *pfs; /**< in the order of the file */
	size_t pf_count;
	struct vfctl_lag_spec *lags; /**< in the order of the file */
	size_t lag_count;
	struct vfctl_profile *profiles; /**< tuning profiles besides those of vfctl_profile_at() */
	size_t profile_count;
	struct vfctl_hugepages hugepages[VFCTL_HUGEPAGES_MAX];
	size_t hugepages_count;
	struct vfctl_kernel_spec kernel;
	struct vfctl_subnet_spec subnet;
	struct vfctl_etcd_spec *etcd; /**< NULL: the host's own store */
	char **after_change; /**< program and arguments to run after a change of GUIDs or P_Keys,
				  without a shell; NULL: none */
	uint32_t after_change_timeout_ms; /**< 30000 */
	bool reserved_stated; /**< reserved-cpus is stated, even as "none" */
	struct vfctl_cpuset reserved_cpus;  /**< CPUs that are reserved for the host */
	uint64_t reserved_memory_bytes;	    /**< reserved for the host on each node */
	struct vfctl_cpuset shared_cpus;    /**< CPUs for shared vCPUs */
	char *reserved_cpus_at, *shared_cpus_at; /**< "FILE:LINE:COLUMN" of both; NULL: not stated */
	uint32_t shared_ratio; /**< shared vCPUs per shared CPU; 0: not stated */
	struct vfctl_typical typical[VFCTL_TYPICAL_MAX]; /**< guests that are expected next */
	size_t typical_count;
	struct vfctl_foreign_spec foreign;
	bool leased_vfs_warn; /**< a domain that starts with a VF leased to another domain causes
				   a warning, not a refusal */
	bool duplicate_macs_warn; /**< the same for a domain without a lease whose MAC another domain or
				       function of the host has */
	unsigned vfs_allowed; /**< enum vfctl_exposure bits that VFs of guests may have: ACS, RESET */
	uint32_t hook_timeout_ms; /**< VFCTL_HOOK_TIMEOUT_MS */
	bool absent; /**< set by vfctl_host_spec_read(): VFCTL_HOST_SPEC_PATH does not exist */
};

/** One file of a declaration, for vfctl_host_spec_parse_files(). */
struct vfctl_host_file {
	const char *name, *text;
	size_t len;
};

#endif
