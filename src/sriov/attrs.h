/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_ATTRS_H
#define VFCTL_SRIOV_ATTRS_H

#include "core/inventory.h"

/* What one VF shall have; only what the mask names is written. */
struct vf_attr_change {
	uint32_t vf;
	struct vfctl_bdf bdf; /* for msix, which goes through the VF's own sysfs */
	struct vfctl_vf_attrs attrs;
	/*
	 * When a GUID changes and a driver of this host has the VF, bind it again: mlx5 reads
	 * its GUIDs when it probes. Not for a VF that VFIO has, or that goes to a guest next:
	 * the guest's driver probes later.
	 */
	bool rebind;
};

/*
 * The values of @now for everything @change names and @now reports: what a roll-back writes.
 */
struct vfctl_vf_attrs attrs_before(const struct vfctl_vf_attrs *now,
	const struct vfctl_vf_attrs *change);

/*
 * Complete a change so that each class the kernel takes whole is whole: a vlan without qos
 * keeps none, a max rate without a min keeps the present min.
 */
void attrs_complete(struct vfctl_vf_attrs *change, const struct vfctl_vf_attrs *now);

/* Take out of @change what @now has already. */
void attrs_drop_equal(struct vfctl_vf_attrs *change, const struct vfctl_vf_attrs *now);

/*
 * Write what the changes name, all VFs in as few datagrams as possible, then read the PF's
 * VFs back once and compare. Drivers that are busy resetting a VF (i40e, ice) are asked
 * again for up to 2 s.
 * @return 0; -EOPNOTSUPP the driver has no such attribute; -EIO it does not read back;
 * otherwise the kernel's errno. The words name the VF, the attribute and the reason.
 */
int attrs_write(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count);

/*
 * Can this PF's driver take what the changes name at all? Before anything is written, so that
 * a dry run says it too. -EOPNOTSUPP with what to do.
 */
int attrs_check(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count);

/*
 * The same for what VFs had before: only what differs now is written, for a value that was
 * never set (a MAC of zero, no rate without a link) is not taken by every driver. A zero
 * MAC that the driver does not take stays as it is, for the guest brings its own.
 */
int attrs_restore(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vf_attr_change *changes,
	size_t count);

#endif
