/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_SRIOV_H
#define VFCTL_CORE_SRIOV_H

#include <stdbool.h>
#include <stdint.h>

#include "core/change.h"
#include "core/context.h"
#include "core/inventory.h"
#include "core/vfattr.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vfctl_hypervisor;
struct vfctl_ids;

/** Where new VFs are bound. */
enum vfctl_vf_driver {
	VFCTL_VF_DRIVER_VFIO, /**< vfio-pci, ready to be passed to a guest */
	VFCTL_VF_DRIVER_HOST, /**< the VF's own driver on this host */
	VFCTL_VF_DRIVER_NONE, /**< no driver */
};

/** VFs of a PF, and what each of them has while no guest has it. */
struct vfctl_vf_range {
	uint32_t first, last; /**< indexes, both included */
	struct vfctl_vf_attrs attrs; /**< never msix; a MAC or GUID of a single VF only */
};

struct vfctl_create_options {
	uint32_t count; /**< VFs the PF shall have, 1 .. sriov_totalvfs */
	enum vfctl_vf_driver driver;
	/** Leave the MACs and GUIDs the driver chose instead of giving each VF a stable one. */
	bool keep_identities;
	/** Pools of host.yaml; NULL none. An InfiniBand PF's VFs get their GUIDs from the one
	 * named, or from one that derives from this PF; otherwise they are derived unnoted. */
	struct vfctl_ids *ids;
	const char *guid_pool; /**< NULL: none in particular */
	/** Partition of an InfiniBand PF's VFs, 0 none: noted with their GUIDs for the subnet
	 * manager, and on mlx4 written. */
	uint16_t pkey;
	/** Domains, by name and separated by commas, whose definitions may lose a VF; they are
	 * off and hold no lease of it. NULL: none. */
	const char *despite;
	/** What new VFs get besides; ascending, without overlaps. VFs that are there already are
	 * not changed for it. NULL: nothing. */
	const struct vfctl_vf_range *ranges;
	size_t range_count;
	enum vfctl_eswitch eswitch; /**< LEGACY or SWITCHDEV; UNKNOWN (zero): the mode stays */
};

/**
 * Plan: a PF has so many VFs, each with its identity and driver.
 * A PF that has that many already is not written to (the kernel would not guard VFs in
 * use); only VFs on another driver are rebound. Any other number means that the present
 * VFs go first, so it is refused when one of them is in use, leased, or in another network
 * namespace.
 * @param pf       name of the PF, see vfctl_inventory_find_pf().
 * @param dry_run  take no lock: the change may be printed, but not run.
 * @param ret_change  freed with vfctl_change_free().
 * @return 0; -ENOENT no such PF; -ERANGE count 0 or above the limit; -EBUSY a VF is in use
 * (the words say by whom); -EOPNOTSUPP the driver cannot create VFs through sysfs (mlx4),
 * or vfio-pci was asked for without an IOMMU; -EROFS a captured host.
 */
int vfctl_create_plan(struct vfctl_ctx *ctx, const char *pf,
	const struct vfctl_create_options *options, bool dry_run,
	struct vfctl_change **ret_change);

/**
 * Plan: a PF has no VFs. Refused (-EBUSY) when one of them is in use.
 * @param ids  pools that its VFs may have GUIDs from, which then go back; NULL none.
 * @param despite  as in vfctl_create_options.
 */
int vfctl_destroy_plan(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *pf,
	const char *despite, bool dry_run, struct vfctl_change **ret_change);

/** What one VF shall get. */
struct vfctl_set_item {
	const char *vf; /**< PF/INDEX or PCI address */
	struct vfctl_vf_attrs attrs;
};

/** How VFs that are leased to a domain are meant; zero-initialised: only such as are off. */
struct vfctl_set_options {
	bool live;   /**< also of a running domain, until it stops */
	bool config; /**< what the domain gets at its next starts: lease and definition; without
		       live the VF itself is not written now */
	struct vfctl_hypervisor *hypervisor; /**< for config; the definition is changed there */
};

/**
 * Plan: VFs of one PF get these attributes, all of them or none: when one is refused,
 * those written before are put back.
 * @param options  NULL: as zero-initialised.
 * @return 0; -ENOENT; -EINVAL for attributes that contradict each other, VFs of different
 * PFs, or options without meaning for a VF; -EEXIST a MAC or GUID is another's; -EBUSY when
 * mac or msix of a VF in use would change, or the policy of a running domain's VF without
 * live or config.
 */
int vfctl_set_plan(struct vfctl_ctx *ctx, const struct vfctl_set_item *items, size_t count,
	const struct vfctl_set_options *options, bool dry_run, struct vfctl_change **ret_change);

#ifdef __cplusplus
}
#endif
#endif
