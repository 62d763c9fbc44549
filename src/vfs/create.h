/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_CREATE_H
#define VFCTL_VFS_CREATE_H

#include "ids/derive.h"
#include "ids/owner.h"
#include "pci/device.h"
#include "sriov/attrs.h"
#include "sriov/vf_changes.h"
#include "vfs/plans.h"

/*
 * Plan the steps of a creation from a snapshot (with holders filled in). The snapshot must exist
 * until the steps are done. Planning writes nothing. @guids (may be NULL: derived from the PF's
 * own) has one for each VF of an InfiniBand PF and is used only during planning. Derived identities
 * avoid the values in @leases and @rows.
 */
int vf_changes_plan_create(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_leases *leases, const struct value_rows *rows, const struct vfctl_pf *pf,
	const struct vfctl_create_options *options, const uint64_t *guids,
	struct vfctl_change **ret_change);
int vf_changes_plan_destroy(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, struct vfctl_change **ret_change);

/* The plan of a creation. */
struct create {
	const struct vfctl_pf *pf;
	char name[VFCTL_BDF_TEXT];
	uint32_t count;
	enum vfctl_vf_driver driver;
	struct vf_attr_change *changes; /* MACs or GUIDs to set; NULL: identities are not changed */
	struct value_facts facts; /* the owners of MACs and GUIDs .. */
	const struct value_rows *rows; /* .. in the store of identities */
	const uint64_t *guids;  /* chosen by the caller, one for each VF; NULL: derived */
	uint32_t change_count;
	uint16_t pkey; /* 0 if there is none */
	const struct vfctl_create_options *options; /* the other requests */
	uint32_t keys; /* VFCTL_ATTR_PKEY if the host writes it (mlx4) */
	bool anew; /* all VFs are created, whatever exists now */
	bool mode_first, mode_between; /* when the eswitch mode is set: before the VFs, or before
					  they are bound */
	uint32_t lacks; /* attributes that this driver does not support */
};

/*
 * identities.c: plan identities for the VFs that have none; all new VFs get one. Checks first that
 * the driver accepts GUIDs.
 */
int create_plan_identities(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	struct create *c);
/* A present VF that no process uses and whose MAC or GUID was never set: create gives it one. */
bool create_lacks_identity(const struct vfctl_vf *vf);
/* The attributes that the caller stated for that VF; NULL if there are none. */
const struct vfctl_vf_attrs *create_asked(const struct create *c, uint32_t vf);
/* Add the step that sets them; no step without changes. */
void create_add_identity_step(struct vfctl_ctx *ctx, const struct create *c, struct steps *steps);

#endif
