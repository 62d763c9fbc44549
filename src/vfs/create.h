/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_CREATE_H
#define VFCTL_VFS_CREATE_H

#include "ids/derive.h"
#include "ids/owner.h"
#include "pci/device.h"
#include "sriov/attrs.h"
#include "sriov/vf_changes.h"

/*
 * Plans from a snapshot (holders filled in) to steps. The snapshot must stay until the
 * steps are done. Nothing is written by planning. @guids (may be NULL: derived from the
 * PF's own) has one for each VF of an InfiniBand PF and is used while planning alone. What
 * @leases promise to domains, and @rows have, derived identities keep clear of.
 */
int vf_changes_plan_create(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_leases *leases, const struct value_rows *rows, const struct vfctl_pf *pf,
	const struct vfctl_create_options *options, const uint64_t *guids,
	struct vfctl_change **ret_change);
int vf_changes_plan_destroy(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, struct vfctl_change **ret_change);

/* A creation that is planned. */
struct create {
	const struct vfctl_pf *pf;
	char name[VFCTL_BDF_TEXT];
	uint32_t count;
	enum vfctl_vf_driver driver;
	struct vf_attr_change *changes; /* MACs or GUIDs to give; NULL: identities are left alone */
	struct value_facts facts; /* who has which MACs and GUIDs .. */
	const struct value_rows *rows; /* .. by the store of identities */
	const uint64_t *guids;  /* chosen by the caller, one for each VF; NULL: derived */
	uint32_t change_count;
	uint16_t pkey; /* 0: none */
	const struct vfctl_create_options *options; /* what else was asked */
	uint32_t keys; /* VFCTL_ATTR_PKEY where the host writes it (mlx4) */
	bool anew; /* all VFs are made, whatever there is now */
	bool mode_first, mode_between; /* the eswitch mode: before the VFs, or before they are bound */
	uint32_t lacks; /* attributes this driver has no notion of */
};

/*
 * identities.c: what each VF that has none shall get, as changes. New VFs all get one. Checks
 * that the driver can take GUIDs before anything is written.
 */
int create_plan_identities(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	struct create *c);
/* A present VF that no process uses and whose MAC or GUID was never set: create gives it one. */
bool create_lacks_identity(const struct vfctl_vf *vf);
/* What was asked for that VF by name; NULL: nothing. */
const struct vfctl_vf_attrs *create_asked(const struct create *c, uint32_t vf);
/* The step that gives them; none without changes. */
void create_add_identity_step(const struct create *c, struct steps *steps);

#endif
