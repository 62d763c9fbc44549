/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_ATTACH_H
#define VFCTL_GUEST_ATTACH_H

#include "base/planning.h"
#include "base/util.h"
#include "facts/snapshot/domains.h"
#include "guest/guest.h"
#include "guest/plans.h"

/* The input of attach and detach: a domain, one VF, and their present state. */
struct attach {
	struct vfctl_hypervisor *hv;
	struct vfctl_snapshot *snapshot;
	struct vfctl_domain_info live;	 /* the running domain, if it runs */
	struct vfctl_domain_info config; /* the definition, if it is persistent */
	const struct vfctl_lease *left; /* detach: the lease of a domain that libvirt does not have */
	struct vfctl_domain_vf vf;
	struct identities identities;
	struct vfctl_lease_vf lease_vf;
	int node; /* of the VF, on the host */
	struct known_domains *domains; /* the users of devices, according to libvirt */
	const struct vfctl_lease_vf *left_over; /* already leased to the domain */
	char lease_id[65];
	bool new_lease;
	bool first_vf; /* of the present lease */
	bool adopt; /* it is already among the domain's devices, without a lease */
	bool still_used; /* detach: the domain keeps it in the part that was not requested */
	size_t missing; /* attach: number of VFs that it gets */
	struct vfctl_bdf chosen[VFCTL_GUEST_VFS_MAX]; /* VFs that it gets, so far */
	size_t chosen_count;
	unsigned affect;
	unsigned timeout_ms;
	char *live_device; /* XML */
	char *config_xml;		   /* the new definition */
};

static inline const char *attach_name(const struct attach *a)
{
	const char *name = a->config.name ? a->config.name : a->live.name;

	return a->left ? a->left->domain_name : name;
}

static inline const char *attach_uuid(const struct attach *a)
{
	const char *uuid = a->config.name ? a->config.uuid : a->live.uuid;

	return a->left ? a->left->domain_uuid : uuid;
}

void attach_clear(struct attach *a);

/*
 * attach_open.c: lock, and read the host and the domain into @a, which must be empty. @only: as for
 * inventory_read_with_values(); NULL: read the whole host. The caller clears both, also after a
 * failure.
 */
int attach_open(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv, const char *domain,
	const char *only,
	unsigned affect, bool dry_run, struct attach *a, struct vfctl_change **ret_change);
/* The id of the domain's lease, present or future. */
int attach_name_lease(struct vfctl_ctx *ctx, struct attach *a);
/* -EPERM: the domain's lease was lost, and its CPUs and memory would remain without one. */
int attach_check_lost(struct vfctl_ctx *ctx, const struct attach *a);
/* Add the devices and the intent of @a->config_xml to the present definition. */
int attach_add_definition_op(struct vfctl_ctx *ctx, const struct attach *a,
	struct steps *steps);

/* attach_vf.c: number of VFs that it gets. -EALREADY: with --ensure, it already has them. */
int attach_count_missing(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o);
/* The VF in the domain's lease, or NULL. */
const struct vfctl_lease_vf *attach_leased(const struct attach *a, const struct vfctl_bdf *vf);
/* Choose the next VF and its identity. */
int attach_choose_vf(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o, bool dry_run);

#endif
