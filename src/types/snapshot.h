/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_SNAPSHOT_H
#define VFCTL_TYPES_SNAPSHOT_H

#include "types/inventory.h"
#include "types/lease.h"
#include "vfctl/host.h"

/** The host's SR-IOV devices and their users, read in one pass. Immutable. */
struct vfctl_snapshot {
	struct vfctl_inventory *inventory; /**< holders name the domain if it is known */
	struct vfctl_leases *leases;
	/** NULL, or why the leases could not be read (the VFs then have none). */
	char *leases_error;
	/**
	 * NULL, or which files of libvirt could not be read: domains may then have VFs that the
	 * snapshot does not show.
	 */
	char *domains_error;
	/**
	 * NULL, or which domain could be read only in part, and why. That domain has at least what
	 * is shown; the others are not affected.
	 */
	char *domain_unread;
};

/** Why a VF is not isolated from its neighbours, or from its next guest: bits. */
enum vfctl_exposure {
	VFCTL_EXPOSED_NOT = 0,
	VFCTL_EXPOSED_GROUP = 1, /**< other devices are in its IOMMU group, and a guest could reach them */
	VFCTL_EXPOSED_ACS = 2,	 /**< it is alone in its group, but ACS does not enforce that:
				      enum vfctl_acs OFF, OVERRIDDEN */
	VFCTL_EXPOSED_RESET = 4, /**< it cannot be reset by itself: what a guest left in it remains */
};

#endif
