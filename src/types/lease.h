/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_LEASE_H
#define VFCTL_TYPES_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/cpuset.h"
#include "base/vfattr.h"

#define VFCTL_UUID_TEXT 37

/** One VF that a domain holds. */
struct vfctl_lease_vf {
	struct vfctl_bdf bdf;
	struct vfctl_bdf pf;
	uint32_t index;
	bool transient; /**< plugged only into the running domain: its lease ends when the domain stops */
	bool returns_identity; /**< and its identities from pools are released then */
	/**
	 * The identity and policy with which the VF was leased. The guest gets these, and its
	 * domain's metadata may not request more.
	 */
	struct vfctl_vf_attrs intent;
	/**
	 * Identification of its PF at the time of the lease (vfctl_pf.port_id); "" if it was not
	 * recorded.
	 */
	char port_id[VFCTL_PORT_ID_TEXT];
	/** The values that the hook replaced with the guest's policy; mask 0: nothing was saved. */
	struct vfctl_vf_attrs saved;
};

/** The resources of one NUMA cell of a domain, besides its CPUs. */
struct vfctl_lease_cell {
	int node;	 /**< node of its CPUs */
	int memory_node; /**< node of its memory, usually the same */
	uint64_t memory_bytes;
	uint64_t page_bytes;   /**< 0: base pages */
	uint32_t shared_vcpus; /**< vCPUs that run on shared CPUs of @ref node */
};

/** The resources that one domain holds on this host. Freed as part of struct vfctl_leases. */
struct vfctl_lease {
	char id[65];
	char domain_uuid[VFCTL_UUID_TEXT]; /**< lower case with dashes */
	char *domain_name;
	int64_t created; /**< seconds since 1970-01-01 UTC */
	bool running;	 /**< the hook prepared its start in this boot, and its end was not seen */
	int64_t run_begun; /**< when the run began, in seconds since 1970-01-01 UTC; 0: not known */
	bool active; /**< libvirt reports that it runs; only set by vfctl_snapshot_read() */
	char boot_id[VFCTL_UUID_TEXT]; /**< of the boot in which the run began */
	bool transient;	 /**< taken by the hook for a domain that vfctl did not
			    define: it ends when the domain stops */
	int node;	 /**< of the first cell; VFCTL_NODE_NONE without cells: it holds only VFs */
	uint64_t memory_bytes; /**< of all cells */
	uint64_t page_bytes;   /**< of the first cell; 0: base pages */
	struct vfctl_lease_cell *cells;
	size_t cell_count;
	struct vfctl_cpuset cpus; /**< whole cores that it holds */
	/** A core that QEMU's threads of this and other domains share; empty if there is none. */
	struct vfctl_cpuset qemu_cpus;
	struct vfctl_lease_vf *vfs;
	size_t vf_count;
};

struct vfctl_leases {
	struct vfctl_lease *v; /**< ascending by id */
	size_t count;
};
/** The lease of the domain with this UUID, or NULL. Names are not compared. */
const struct vfctl_lease *vfctl_leases_find_uuid(const struct vfctl_leases *leases,
	const char *uuid);
/**
 * The lease of the domain with this UUID or, if there is none, with this name: for names that a
 * person typed.
 */
const struct vfctl_lease *vfctl_leases_find(const struct vfctl_leases *leases,
	const char *uuid_or_name);
/** The lease that holds a VF, or NULL. */
const struct vfctl_lease *vfctl_leases_find_vf(const struct vfctl_leases *leases,
	const struct vfctl_bdf *vf);

#endif
