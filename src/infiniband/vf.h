/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_INFINIBAND_VF_H
#define VFCTL_INFINIBAND_VF_H

#include "base/ctx.h"
#include "types/inventory.h"

/*
 * How a driver takes the identities of its InfiniBand VFs, one row per way:
 *	mlx5		rtnetlink on the PF's IPoIB device, as the other attributes
 *	mlx5 (OFED)	MLNX_OFED's files below the PF, sriov/N/{node,port,policy}
 *	mlx4		alias GUIDs and P_Key indexes below the PF's RDMA device, iov/
 * The functions have words; @vf is the VF's index.
 */
struct ib_guid_ops {
	const char *name;
	uint32_t takes; /* VFCTL_ATTR_ bits that it writes itself; the others are written over rtnetlink */
	uint32_t lacks; /* attributes that this driver does not support */
	bool live;	/* a new GUID reaches a VF whose driver is already bound */
	bool (*present)(struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
	/*
	 * Add the attributes that it reports to @io. What cannot be read is left out, and recorded
	 * as unread.
	 */
	void (*read)(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
		struct vfctl_vf_attrs *io);
	/* Write the attributes of the mask; after a failure the rest is not written. */
	int (*write)(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
		const struct vfctl_vf_attrs *attrs);
};

extern const struct ib_guid_ops ib_vf_ofed, ib_vf_mlx4;

/* The operations for this PF; for a PF that is not InfiniBand the first row (plain rtnetlink). */
const struct ib_guid_ops *ib_guid_ops_of(struct vfctl_ctx *ctx, const struct vfctl_pf *pf);

/* The identity that the function's own RDMA device reports after its driver was bound. */
struct ib_identity {
	char device[64];
	uint64_t node_guid;
	uint64_t port_guid; /* of GID 0, port 1 */
};

/*
 * Read it, waiting up to 30 s for the device to appear (mlx5_ib binds through the
 * auxiliary bus after mlx5_core).
 * @return 0; -ENOENT it has none; -EIO its files are not valid.
 */
int ib_identity_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct ib_identity *ret);

#endif
