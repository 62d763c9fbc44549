/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_SNAPSHOT_H
#define VFCTL_CORE_SNAPSHOT_H

#include "core/cleanup.h"
#include "core/inventory.h"
#include "core/lease.h"
#include "vfctl/host.h"

#ifdef __cplusplus
extern "C" {
#endif

DEFINE_FREEP(struct vfctl_snapshot, vfctl_snapshot_free)

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

/**
 * Check whether it is safe to give a VF to a guest. Its group and its reset method are read now.
 * What the kernel does not report (on a captured host) counts as safe; a missing IOMMU is not
 * considered here.
 * @param ret_text  NULL, or receives the reason and the remedy ("" if it is safe); freed by
 * the caller.
 * @return enum vfctl_exposure bits.
 */
unsigned vfctl_vf_exposure(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, char **ret_text);
/** "group", "acs", "reset" for a single bit. */
const char *vfctl_exposure_name(enum vfctl_exposure bit);

/**
 * Check whether a VF may be given to a guest: it is not in use, no lease and no definition names
 * it, an IOMMU isolates it, and vfctl_vf_exposure() finds nothing. A lease or domain that the
 * snapshot could not read (leases_error, domains_error) may nevertheless hold it.
 * @param allowed  enum vfctl_exposure bits that are accepted (vfs_allowed of struct
 * vfctl_host_spec).
 */
bool vfctl_vf_can_be_given(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, unsigned allowed);

/**
 * The values that a VF has during a guest's run: those of its lease, and safe defaults for the
 * other attributes of its driver (no VLAN, no rate limits, spoof check on, trust off).
 * @param now       the VF as it is.
 * @param ret_want  receives them.
 * @return VFCTL_ATTR_ bits of the attributes that differ now; attributes that the driver does not
 * report count as equal.
 */
uint32_t vfctl_lease_vf_policy(const struct vfctl_lease_vf *leased, const struct vfctl_vf *now,
	struct vfctl_vf_attrs *ret_want);
/**
 * How to set the differing values of a VF that a running domain has: at once, or at its next start.
 * @param pf       name of its PF.
 * @param want     as returned by vfctl_lease_vf_policy().
 * @param differs  the same; not 0.
 * @return the text, to be freed by the caller; NULL: no memory.
 */
char *vfctl_lease_vf_remedy(const struct vfctl_vf *vf, const char *pf, const char *domain,
	const struct vfctl_vf_attrs *want, uint32_t differs);

#ifdef __cplusplus
}
#endif
#endif
