/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_HOSTSPEC_H
#define VFCTL_CORE_HOSTSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/placement.h"
#include "core/cpuset.h"
#include "core/identity.h"
#include "core/sriov.h"
#include "core/tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VFCTL_HOST_SPEC_PATH "/etc/vfctl/host.yaml"
#define VFCTL_HOST_FILE_MAX (1024 * 1024) /**< bytes; a longer host.yaml is refused */

/** A P_Key with a name, as an opensm partition. */
struct vfctl_partition {
	char name[VFCTL_ID_NAME_MAX + 1];
	uint16_t pkey;	/**< 1..0x7fff, without the membership bit */
	bool full;	/**< membership of VFs that do not say: full, or limited */
	bool ipoib;	/**< opensm's flag: make the multicast group for IPoIB */
};

/** The fleet's store: etcd version 3 through its JSON gateway. */
struct vfctl_etcd_spec {
	char **endpoints; /**< "https://host:2379"; NULL-terminated, tried in this order */
	char *prefix;	  /**< of all keys; "/vfctl/" */
	char *ca, *cert, *key;	     /**< PEM files, or NULL */
	char *user, *password_file;  /**< or NULL; the file holds the password alone */
	uint32_t timeout_ms; /**< the longest that one call of ours may take; 5000 */
	uint32_t ttl_s;	     /**< a host not heard of for so long counts as gone; 86400 */
	uint32_t block;	     /**< values set aside here for when etcd is away, 0..120; 16 */
};

/** What a domain may ask of the host by its metadata for VFs that it holds no lease of. */
enum vfctl_foreign_mode {
	VFCTL_FOREIGN_LEASES_ONLY, /**< nothing: such a VF stops its start (default) */
	VFCTL_FOREIGN_REFUSE,	   /**< nothing, nor any VF that is not leased to it, with
				      metadata or without */
	VFCTL_FOREIGN_FREE_VFS,	   /**< a free VF of the PFs below, within the limits below */
};

/**
 * Whom this host trusts with what. Zero-initialised it is the default, which grants nothing
 * that vfctl did not lease. docs/security.md has the reasons.
 */
struct vfctl_foreign_spec {
	enum vfctl_foreign_mode mode;
	char **pfs; /**< names of PFs whose free VFs may be taken; NULL-terminated, or NULL */
	struct vfctl_cpuset vlans; /**< tags that may be asked for, besides none */
	uint32_t max_rate_mbps; /**< highest rate, and then one must be stated; 0: any */
	bool trust;	   /**< trust may be switched on */
	bool spoofchk_off; /**< the spoof check may be switched off */
};

/** What the PF's own network device shall be. */
enum vfctl_pf_link { VFCTL_PF_LINK_UNSAID, VFCTL_PF_LINK_UP, VFCTL_PF_LINK_DOWN };

/** What the interrupt moderation of a PF shall be. Zeroed: it is left alone. */
struct vfctl_pf_tuning {
	char *profile; /**< see vfctl_profile_find(); or NULL */
	struct vfctl_coalesce coalesce; /**< settings that go before those of the profile */
};

/** One PF as this host declares it. */
struct vfctl_pf_spec {
	char *file;    /**< in which it stands, as it was called when it was read */
	unsigned line; /**< of that file */
	/** What it is known by; all that is stated holds of exactly one PF of the host.
	 * Names are its address, network device, alternative name or RDMA device. */
	char *names[5]; /**< NULL: not stated */
	char *driver;	/**< of the PF itself; or NULL */
	char *serial;	/**< device serial number or the product's; or NULL */
	uint16_t vendor, device; /**< both 0: not stated */
	bool unmanaged;	/**< it is left alone, whatever else matches it */
	bool counted;	/**< @p count is stated; else VFs are left alone */
	uint32_t count;
	enum vfctl_vf_driver vf_driver;
	bool keep_identities;
	char *guid_pool, *pkey; /**< as in vfctl_create_options, the P_Key as text; or NULL */
	uint32_t mtu;		/**< 0: not stated */
	enum vfctl_pf_link link;
	char *ipoib_mode; /**< "datagram" or "connected"; NULL: not stated */
	/** Adaptive moderation of its RDMA device (rdma dev set): of the completion queues that the
	 * kernel's own users make. */
	bool rdma_adaptive_stated, rdma_adaptive;
	struct vfctl_pf_tuning tuning;
	enum vfctl_eswitch eswitch; /**< LEGACY or SWITCHDEV; UNKNOWN: not stated */
	char *bridge; /**< that the VFs' representors are ports of; NULL: not stated */
	struct vfctl_vf_range *ranges; /**< ascending, without overlaps, below @p count */
	size_t range_count;
};

/** Two ports of one card that are one for their VFs (VF-LAG). */
struct vfctl_lag_spec {
	char *file; /**< in which it stands */
	unsigned line;
	char *bond;  /**< network device */
	char *mode;  /**< "active-backup", "balance-xor" or "802.3ad" */
	char **pfs; /**< two names of PFs; NULL-terminated */
};

/** Pages of one size on one node. */
struct vfctl_hugepages {
	uint32_t node;
	uint64_t size_bytes; /**< 2 MiB or 1 GiB, or another that the CPU has */
	uint32_t count;
};
#define VFCTL_HUGEPAGES_MAX 64

#define VFCTL_MEMLOCK_UNLIMITED UINT64_MAX

/** What the host as a whole is set to. Zeroed: all is left as it is. */
struct vfctl_kernel_spec {
	bool numa_balancing_stated, numa_balancing;
	char *transparent_hugepages; /**< always, madvise or never; NULL: not stated */
	bool busy_poll_stated;
	uint32_t busy_poll_us; /**< net.core.busy_poll and busy_read */
	char **modules;	       /**< loaded at boot; NULL-terminated, or NULL */
	uint64_t memlock_bytes; /**< that the libvirt daemon may lock; 0: not stated */
	char *memlock_group; /**< whose members may lock as much; or NULL */
};

#define VFCTL_HOOK_TIMEOUT_MS 15000 /**< what a start may wait for vfctl's hook */

/** A host.yaml. Zero-initialised: nothing is declared. */
struct vfctl_host_spec {
	char host[65]; /**< this host's name in the fleet; default: its hostname */
	/** What vfctl_host_spec_read() read, NULL-terminated: a file, or a directory and its files. */
	char **sources;
	struct vfctl_id_pool *pools;
	char **pool_pfs; /**< of a pool from a PF's GUID: the PF's name; NULL entries */
	size_t pool_count;
	struct vfctl_partition *partitions;
	size_t partition_count;
	struct vfctl_pf_spec *pfs; /**< in the order of the file */
	size_t pf_count;
	struct vfctl_lag_spec *lags; /**< in the order of the file */
	size_t lag_count;
	struct vfctl_profile *profiles; /**< of tuning, besides those of vfctl_profile_at() */
	size_t profile_count;
	struct vfctl_hugepages hugepages[VFCTL_HUGEPAGES_MAX];
	size_t hugepages_count;
	struct vfctl_kernel_spec kernel;
	struct vfctl_etcd_spec *etcd; /**< NULL: the host's own store */
	char **after_change; /**< program and arguments to run after a change of GUIDs or
			       P_Keys, without a shell; NULL none */
	uint32_t after_change_timeout_ms; /**< 30000 */
	bool reserved_stated; /**< reserved-cpus is there, be it "none" */
	struct vfctl_cpuset reserved_cpus;  /**< the host's own */
	uint64_t reserved_memory_bytes;	    /**< kept for the host on each node */
	struct vfctl_cpuset shared_cpus;    /**< that shared vCPUs run on */
	uint32_t shared_ratio; /**< shared vCPUs that one of them carries; 0: not stated */
	struct vfctl_typical typical[VFCTL_TYPICAL_MAX]; /**< guests that are expected next */
	size_t typical_count;
	struct vfctl_foreign_spec foreign;
	bool leased_vfs_warn; /**< a domain that starts with a VF leased to another is warned
				 of, not refused */
	unsigned vfs_allowed; /**< guests get VFs with these enum vfctl_exposure bits: ACS, RESET */
	uint32_t hook_timeout_ms; /**< VFCTL_HOOK_TIMEOUT_MS */
	bool absent; /**< of vfctl_host_spec_read(): VFCTL_HOST_SPEC_PATH does not exist */
};

/**
 * Read a host.yaml (docs/host.md). All that can be told from the text is checked here.
 * @return as vfctl_guest_parse().
 */
int vfctl_host_spec_parse(struct vfctl_ctx *ctx, const char *file, const char *text,
	size_t len, struct vfctl_host_spec **ret_spec);
void vfctl_host_spec_free(struct vfctl_host_spec *spec);
DEFINE_FREEP(struct vfctl_host_spec, vfctl_host_spec_free)

/** One file of a declaration, as vfctl_host_spec_parse() takes them one by one. */
struct vfctl_host_file {
	const char *name, *text;
	size_t len;
};

/**
 * The same of several files, as one declaration: their lists are joined in the order of the files.
 * Any other key that two of them have is refused with both places, as is a PF that two declare.
 * @return as vfctl_host_spec_parse(); -EINVAL also without a file.
 */
int vfctl_host_spec_parse_files(struct vfctl_ctx *ctx, const struct vfctl_host_file *files,
	size_t count, struct vfctl_host_spec **ret_spec);

/**
 * The JSON schema of host.yaml, as vfctl_guest_schema() is that of guest.yaml.
 * @param ret  receives JSON text; free() it.
 * @return 0; -ENOMEM.
 */
int vfctl_host_spec_schema(struct vfctl_ctx *ctx, char **ret);

/**
 * Read the host.yaml of the context's host.
 * @param path  NULL: VFCTL_HOST_SPEC_PATH, which need not exist; any other is a file of
 *              the machine this runs on, and must, or a directory there: all its files
 *              *.yaml, in the order of their names, are read as one declaration.
 * @return 0; -ENOENT; -EACCES; as vfctl_host_spec_parse().
 */
int vfctl_host_spec_read(struct vfctl_ctx *ctx, const char *path,
	struct vfctl_host_spec **ret_spec);

/**
 * Tell the GUID of the PF that pool number @p pool derives its values from: they are its
 * OUI with the local bit, its last three bytes, and 0001 to fffe.
 * @return 0; -EINVAL the pool is of another source, or @p guid is none; -EEXIST its values
 * are another pool's; -ENOMEM.
 */
int vfctl_host_spec_set_pf_guid(struct vfctl_ctx *ctx, struct vfctl_host_spec *spec,
	size_t pool, uint64_t guid);

/**
 * Look at the PFs of this host that pools derive from, and tell their GUIDs as above. A
 * pool whose PF is not there, or has no GUID, stays without values.
 * @return 0; -EEXIST; -ENOMEM; what the PFs could not be read for.
 */
int vfctl_host_spec_resolve(struct vfctl_ctx *ctx, struct vfctl_host_spec *spec);

/**
 * Run the spec's after-change command, if there is one: GUIDs or P_Keys have changed.
 * @param ret_said  the last line it printed, freed by the caller; "" none.
 * @return 1 it ran well; 0 there is none; -ENOENT, -EACCES it cannot be run; -ETIMEDOUT it
 * was ended; -EIO it failed: the words have its status and last line.
 */
int vfctl_host_spec_after_change(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	char **ret_said);

/**
 * Read a P_Key as an operator writes it: the name of a partition with optional ":full" or
 * ":limited" (without: the partition's own default), or what vfctl_pkey_parse() reads.
 * @param spec  where names are looked up; may be NULL.
 * @return 0; -EINVAL; -ENOENT no partition of that name, with those there are.
 */
int vfctl_host_spec_pkey(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *text, uint16_t *ret_pkey);

/**
 * The profile of that name: of host.yaml, else one that every host has.
 * @param spec  may be NULL.
 * @return NULL: there is none.
 */
const struct vfctl_profile *vfctl_profile_find(const struct vfctl_host_spec *spec,
	const char *name);
/** The same; -ENOENT with words that name those there are. */
int vfctl_profile_need(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, const char *name,
	const struct vfctl_profile **ret);

#ifdef __cplusplus
}
#endif
#endif
