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

/** The host's SR-IOV devices and who holds them, read in one pass. Immutable. */
struct vfctl_snapshot {
	struct vfctl_inventory *inventory; /**< holders say the domain where one is known */
	struct vfctl_leases *leases;
	/** NULL, or why the leases could not be read (the VFs then show none). */
	char *leases_error;
	/** NULL, or what of libvirt's files could not be read: domains may have VFs that is
	 * not shown. */
	char *domains_error;
	/** NULL, or of which domain vfctl understands a part only, and why. That domain has at
	 * least what is shown; the others are not affected. */
	char *domain_unread;
};

/** What would not keep a VF apart from its neighbours, or from its next guest: bits. */
enum vfctl_exposure {
	VFCTL_EXPOSED_NOT = 0,
	VFCTL_EXPOSED_GROUP = 1, /**< others are in its IOMMU group, and a guest could reach them */
	VFCTL_EXPOSED_ACS = 2,	 /**< it is alone in its group, but ACS does not keep it so:
				      enum vfctl_acs OFF, OVERRIDDEN */
	VFCTL_EXPOSED_RESET = 4, /**< it cannot be reset by itself: what a guest left in it stays */
};

/**
 * Is that VF safe in the hands of a guest? Its group and its reset are read now. What the kernel
 * does not tell (a captured host) counts as safe; that there is no IOMMU does not concern this.
 * @param ret_words  NULL, or receives what is wrong and what helps ("" when nothing is); freed by
 * the caller.
 * @return enum vfctl_exposure bits.
 */
unsigned vfctl_vf_exposure(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, char **ret_words);
/** "group", "acs", "reset" of one bit. */
const char *vfctl_exposure_name(enum vfctl_exposure bit);

/**
 * Whether a guest may be given that VF: nobody has it, no lease and no definition names it, an
 * IOMMU keeps it in, and vfctl_vf_exposure() finds nothing. What the snapshot could not read
 * (leases_error, domains_error) may hold it all the same.
 * @param allowed  enum vfctl_exposure bits that it may have all the same (vfs_allowed of
 * struct vfctl_host_spec).
 */
bool vfctl_vf_can_be_given(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, unsigned allowed);

/**
 * What a guest's run gives a VF: what it was leased with, and safe defaults for the rest that
 * its driver knows (no VLAN, no rate limits, spoof check on, trust off).
 * @param now       the VF as it is.
 * @param ret_want  receives it; its mask is 0 for a lease of an older vfctl, which did not keep it.
 * @return VFCTL_ATTR_ bits of what is otherwise now; what the driver does not report counts as
 * right.
 */
uint32_t vfctl_lease_vf_policy(const struct vfctl_lease_vf *leased, const struct vfctl_vf *now,
	struct vfctl_vf_attrs *ret_want);

#ifdef __cplusplus
}
#endif
#endif
