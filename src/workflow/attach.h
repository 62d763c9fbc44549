/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_ATTACH_H
#define VFCTL_WORKFLOW_ATTACH_H

#include "base/change.h"
#include "state/store.h"
#include "workflow/domains.h"
#include "workflow/guest.h"
#include "workflow/run.h"

/* What attach and detach work on: a domain, one VF, and what both are like now. */
struct attach {
	struct vfctl_hypervisor *hv;
	struct vfctl_snapshot *snapshot;
	struct vfctl_domain_info live;	 /* the running one, when it runs */
	struct vfctl_domain_info config; /* the defined one, when it is persistent */
	struct vfctl_domain_vf vf;
	struct identities identities;
	struct vfctl_lease_vf lease_vf;
	int node; /* of the VF, on the host */
	struct known_domains *domains; /* who has what, as libvirt says */
	const struct vfctl_lease_vf *left_over; /* leased to the domain already */
	char lease_id[65];
	bool new_lease, taken, applied;
	bool first_vf; /* of a lease that is there */
	bool adopt; /* it is among the domain's devices already, without a lease */
	bool still_used; /* detach: the domain keeps it where it was not asked to let go */
	unsigned affect;
	unsigned timeout_ms;
	char *live_device, *config_device; /* XML */
	char *config_xml;		   /* the defined one as it shall be */
};

static inline const char *attach_name(const struct attach *a)
{
	return a->config.name ? a->config.name : a->live.name;
}

static inline const char *attach_uuid(const struct attach *a)
{
	return a->config.name ? a->config.uuid : a->live.uuid;
}

static inline void view_freep(struct vfctl_domain_view **view)
{
	vfctl_domain_view_free(*view);
}
#define _view_ _cleanup_(view_freep)

/* attach_open.c: lock, read the host and the domain; @affect as asked, or what applies. */
int attach_open(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv, const char *domain,
	unsigned affect, bool dry_run, struct vfctl_change **ret_change, struct attach **ret);
/* What the domain's lease is called, or will be. */
int attach_name_lease(struct vfctl_ctx *ctx, struct attach *a);
/* Against the hook and `set`, for as long as the VF's policy and lease change hands. */
int attach_lock_pf(struct vfctl_ctx *ctx, const struct attach *a, struct pf_locks *locks);
/* With that lock: the VF has again what it had, and is nobody's. */
int attach_restore_policy(struct vfctl_ctx *ctx, struct attach *a);
int attach_give_up_lease(struct vfctl_ctx *ctx, struct attach *a);
/* A step's undo: the definition as it was. */
int attach_undo_config(struct vfctl_ctx *ctx, void *data);

/* attach_vf.c: which VF it gets, with which identity. */
int attach_choose_vf(struct vfctl_ctx *ctx, struct attach *a,
	const struct vfctl_attach_options *o, bool dry_run);

#endif
