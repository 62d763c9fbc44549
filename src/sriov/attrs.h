/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_ATTRS_H
#define VFCTL_SRIOV_ATTRS_H

#include "types/inventory.h"

/* The requested attributes of one VF; only those in the mask are written. */
struct vf_attr_change {
	uint32_t vf;
	struct vfctl_bdf bdf; /* for msix, which is in the VF's own sysfs directory */
	struct vfctl_vf_attrs attrs;
	/*
	 * If a GUID changes and the VF has a driver of this host, bind it again: mlx5 reads its
	 * GUIDs when it probes. Not for a VF with VFIO, or one that a guest gets next: the guest's
	 * driver probes later.
	 */
	bool rebind;
	/*
	 * Attributes at their safe default that the driver may refuse (-EOPNOTSUPP; BlueField: the spoof
	 * check): that is logged, and the VF keeps its value.
	 */
	uint32_t optional;
};

/* The values of @now for everything that @change names and @now reports, for a roll-back. */
struct vfctl_vf_attrs attrs_before(const struct vfctl_vf_attrs *now,
	const struct vfctl_vf_attrs *change);

/*
 * Complete a change so that attributes that the kernel sets together are complete: a vlan without
 * qos keeps the present qos, a max rate without a min rate keeps the present min rate.
 */
void attrs_complete(struct vfctl_vf_attrs *change, const struct vfctl_vf_attrs *now);

/* Remove from @change the values that @now already has. */
void attrs_drop_equal(struct vfctl_vf_attrs *change, const struct vfctl_vf_attrs *now);

/*
 * Write what the changes name, all VFs in as few datagrams as possible, then read the PF's
 * VFs back once and compare. If a driver is busy resetting a VF (i40e, ice), the request is
 * repeated for up to 2 s.
 * @return 0; -EOPNOTSUPP the driver does not support the attribute; -EIO a different value is read
 * back; otherwise the kernel's errno. The message names the VF, the attribute and the reason.
 */
int attrs_write(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count);

/*
 * Check before anything is written whether this PF's driver supports these attributes, so that a
 * dry run reports it too. -EOPNOTSUPP with a remedy.
 */
int attrs_check(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count);

/*
 * Restore the previous values of VFs. Only differences are written, because not every driver
 * accepts a value that was never set (a MAC of zero, no rate without a link). A zero MAC that the
 * driver does not accept is not restored: the next guest brings its own.
 */
int attrs_restore(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vf_attr_change *changes,
	size_t count);

#endif
