/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_MODEL_PLACE_H
#define VFCTL_FACTS_MODEL_PLACE_H

#include <stdbool.h>

#include "base/cpuset.h"
#include "types/hostspec.h"
#include "types/hypervisor.h"
#include "types/placement.h"
#include "types/snapshot.h"
#include "vfctl/guest.h"

struct vfctl_ctx;
struct vfctl_ids;

struct vfctl_place_options {
	/** Its domains are included; NULL: only vfctl's own leases are known. */
	struct vfctl_hypervisor *hypervisor;
	/** CPUs reserved for the host, besides those of @ref spec (or of isolcpus): --reserve. */
	struct vfctl_cpuset reserved_cpus;
	/**
	 * CPUs and memory that host.yaml reserves for the host and lets guests share; NULL:
	 * nothing.
	 */
	const struct vfctl_host_spec *spec;
	struct vfctl_ids *ids; /**< pools of GUIDs and MACs; NULL: none */
	/**
	 * If the fleet's pools are unreachable, return the placement without the identities, and
	 * log it; otherwise this is an error.
	 */
	bool without_identities;
	/**
	 * For vfctl_rebuild_plan(): an administrator has checked the metadata of all domains, and
	 * what it requests is granted. Otherwise only the safe defaults are.
	 */
	bool trust_metadata;
	/** The model has the GPUs of the host too, for display. */
	bool with_gpus;
	/** The model has the names of the PFs' cards too, for display. */
	bool with_cards;
};

/**
 * Read the host as the planner needs it: its topology, the resources reserved for the host, PFs,
 * free VFs, and the holders of resources (leases and, with a hypervisor, foreign domains).
 *
 * The reserved CPUs are those that host.yaml states. If it states none and the kernel isolates some
 * (isolcpus=), they are all others that are not shared. options->reserved_cpus adds to them.
 *
 * @param snapshot  must contain the leases.
 * @param ret_model  freed with vfctl_model_free().
 * @return 0; -EINVAL a stated CPU does not exist, or is both reserved and shared; or as
 * vfctl_topology_load().
 */
int vfctl_model_read(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const struct vfctl_place_options *options, struct vfctl_host_model **ret_model);

#endif
