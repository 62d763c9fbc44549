/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_PLANS_H
#define VFCTL_VFS_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types/hypervisor.h"
#include "types/inventory.h"
#include "vfctl/change.h"

struct vfctl_ctx;
struct vfctl_ids;

struct vfctl_create_options {
	uint32_t count; /**< number of VFs, 1 .. sriov_totalvfs */
	enum vfctl_vf_driver driver;
	/** Keep the MACs and GUIDs that the driver chose instead of giving each VF a stable one. */
	bool keep_identities;
	/**
	 * Pools of host.yaml; NULL if there are none. VFs of an InfiniBand PF get GUIDs from the
	 * named pool, or from one that derives from this PF; without such a pool their GUIDs are
	 * derived and not recorded.
	 */
	struct vfctl_ids *ids;
	const char *guid_pool; /**< NULL: the default */
	/**
	 * Partition of an InfiniBand PF's VFs, 0 for none. It is stored with their GUIDs for the
	 * subnet manager and, on mlx4, written to the device.
	 */
	uint16_t pkey;
	/**
	 * Names of domains, separated by commas, whose definitions may lose a VF; they are off and
	 * have no lease of it. NULL: none.
	 */
	const char *despite;
	/**
	 * Further values of new VFs; ascending, without overlaps. Present VFs are not changed: if
	 * they stay and differ, vfctl_create_plan() fails with -EEXIST. NULL: none.
	 */
	const struct vfctl_vf_range *ranges;
	size_t range_count;
	enum vfctl_eswitch eswitch; /**< LEGACY or SWITCHDEV; UNKNOWN (zero): not changed */
	bool link_up; /**< an earlier step sets the link of the PF up */
};

/**
 * Plan to give a PF a number of VFs, each with its identity and driver. If the PF already has that
 * many, its count is not written (the kernel would not protect VFs in use), and only VFs with
 * another driver are bound again. Otherwise the present VFs are removed first, so the plan is
 * rejected if one of them is in use, leased, or in another network namespace.
 * @param pf       name of the PF, see vfctl_inventory_find_pf().
 * @param dry_run  take no lock: the change can be printed, but not run.
 * @param ret_change  freed with vfctl_change_free().
 * @return 0; -ENOENT no such PF; -ERANGE count 0 or above the limit; -EBUSY a VF is in use
 * (the message names the user); -EOPNOTSUPP the driver cannot create VFs through sysfs (mlx4), or
 * vfio-pci was requested without an IOMMU; -EROFS a captured host.
 */
int vfctl_create_plan(struct vfctl_ctx *ctx, const char *pf,
	const struct vfctl_create_options *options, bool dry_run,
	struct vfctl_change **ret_change);

/**
 * Plan to remove all VFs of a PF. Rejected with -EBUSY if one of them is in use.
 * @param ids  pools to which the GUIDs of its VFs are released; NULL if there are none.
 * @param despite  as in vfctl_create_options.
 */
int vfctl_destroy_plan(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *pf,
	const char *despite, bool dry_run, struct vfctl_change **ret_change);

/**
 * How to treat VFs that are leased to a domain; zero-initialised: accept only domains that are off.
 */
struct vfctl_set_options {
	bool live;   /**< also change VFs of a running domain, until it stops */
	bool config; /**< change the lease and the definition, for the domain's next starts;
			  without live the VF itself is not written now */
	struct vfctl_hypervisor *hypervisor; /**< needed for config, to change the definition */
};

/**
 * Plan to set attributes of VFs of one PF, all or none: if the kernel refuses one, those written
 * before are rolled back.
 * @param options  NULL: same as zeroed.
 * @return 0; -ENOENT; -EINVAL for attributes that contradict each other, VFs of different PFs, or
 * options that do not apply to a VF; -EEXIST a MAC or GUID has another owner; -EBUSY mac or msix of
 * a VF in use would change, or, without live or config, the policy of a running domain's VF.
 */
int vfctl_set_plan(struct vfctl_ctx *ctx, const struct vfctl_set_item *items, size_t count,
	const struct vfctl_set_options *options, bool dry_run, struct vfctl_change **ret_change);

#endif
