/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_CREATE_H
#define VFCTL_SRIOV_CREATE_H

#include "pci/device.h"
#include "sriov/attrs.h"
#include "sriov/lifecycle.h"

/* A creation under way: what its steps share. */
struct create {
	const struct vfctl_pf *pf;
	char name[VFCTL_BDF_TEXT];
	uint32_t count;
	enum vfctl_vf_driver driver;
	struct vf_wish *wishes; /* MACs or GUIDs to give; NULL: identities are left alone */
	const struct vfctl_leases *leases;
	const uint64_t *guids;  /* chosen by the caller, one for each VF; NULL: derived */
	uint32_t wish_count;
	uint16_t pkey; /* 0: none */
	uint32_t keys; /* VFCTL_ATTR_PKEY where the host writes it (mlx4) */
	uint32_t lacks; /* attributes this driver has no notion of */
	bool live;	/* see ib_vf_way */
	struct vfctl_vf *vfs;	/* of the new VFs, once they exist */
	uint32_t vf_count;
	char (*overrides)[PCI_DRIVER_NAME]; /* driver_override of the VFs there were */
	bool removed; /* the old VFs are gone */
	bool created; /* the new ones were asked for */
	bool stuck;   /* a write of the count goes on, with the PF's lock held */
};

/*
 * identities.c: what each VF that has none shall get, as wishes. New VFs all get one. Checks
 * that the driver can take GUIDs before anything is written.
 */
int create_plan_identities(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	struct create *c);
/* The step that gives them; none without wishes. */
void create_add_identity_step(struct create *c, struct steps *steps);

#endif
