/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_ATTACH_H
#define VFCTL_GUEST_ATTACH_H

#include "base/change.h"
#include "base/util.h"
#include "facts/snapshot/domains.h"
#include "guest/guest.h"

/* What attach and detach work on: a domain, one VF, and what both are like now. */
struct attach {
	struct vfctl_hypervisor *hv;
	struct vfctl_snapshot *snapshot;
	struct vfctl_domain_info live;	 /* the running one, when it runs */
	struct vfctl_domain_info config; /* the defined one, when it is persistent */
	const struct vfctl_lease *left; /* detach: the lease of a domain that libvirt does not know */
	struct vfctl_domain_vf vf;
	struct identities identities;
	struct vfctl_lease_vf lease_vf;
	int node; /* of the VF, on the host */
	struct known_domains *domains; /* who has what, as libvirt says */
	const struct vfctl_lease_vf *left_over; /* leased to the domain already */
	char lease_id[65];
	bool new_lease;
	bool first_vf; /* of a lease that is there */
	bool adopt; /* it is among the domain's devices already, without a lease */
	bool still_used; /* detach: the domain keeps it where it was not asked to let go */
	size_t missing; /* attach: how many it gets */
	struct vfctl_bdf chosen[VFCTL_GUEST_VFS_MAX]; /* those that it gets, so far */
	size_t chosen_count;
	unsigned affect;
	unsigned timeout_ms;
	char *live_device; /* XML */
	char *config_xml;		   /* the defined one as it shall be */
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
 * attach_open.c: lock, read the host and the domain into @a, which is empty. Both are cleared by the
 * caller, also after a failure.
 */
int attach_open(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv, const char *domain,
	unsigned affect, bool dry_run, struct attach *a, struct vfctl_change **ret_change);
/* What the domain's lease is called, or will be. */
int attach_name_lease(struct vfctl_ctx *ctx, struct attach *a);
/* -EPERM: its lease is lost, and its CPUs and memory would stay without one. */
int attach_check_lost(struct vfctl_ctx *ctx, const struct attach *a);
/* The definition, as it is, gets the devices and the intent of @a->config_xml. */
int attach_add_definition_op(struct vfctl_ctx *ctx, const struct attach *a,
	struct steps *steps);

/* attach_vf.c: how many VFs it gets. -EALREADY: with --ensure, it has them. */
int attach_count_missing(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o);
/* The VF in the domain's lease, or NULL. */
const struct vfctl_lease_vf *attach_leased(const struct attach *a, const struct vfctl_bdf *vf);
/* Which VF it gets next, with which identity. */
int attach_choose_vf(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o, bool dry_run);

#endif
