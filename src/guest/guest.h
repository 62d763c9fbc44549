/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_GUEST_H
#define VFCTL_GUEST_GUEST_H

#include "base/buf.h"
#include "base/ctx.h"
#include "facts/model/model.h"
#include "ids/give.h"
#include "core/workflow.h"

struct vfctl_placement {
	struct vfctl_guest *guest; /* borrowed */
	struct vfctl_snapshot *snapshot;
	struct vfctl_host_model *model;
	struct vfctl_requests *requests;
	struct vfctl_plan *plan;
	struct vfctl_domain_vf *vfs;
	size_t vf_count;
	struct identities identities;
	char lease_id[VFCTL_LEASE_ID_MAX + 1];
	/* A lease of this guest whose domain libvirt does not know any more; NULL: none. It is
	 * planned as if that lease had ended, and keeps its UUID. */
	const struct vfctl_lease *left;
};

int guest_make_uuid(struct vfctl_ctx *ctx, char ret[37]);
/* Of a guest that was placed with others: the host is read again. */
int placed_of_batch(struct vfctl_ctx *ctx, struct vfctl_guest *guest,
	const struct vfctl_place_options *options, const struct vfctl_assignment *assignment,
	struct vfctl_placement **ret_placed);
/* 0, or -ENOSPC with the planner's reasons in one line. */
int placed_check(struct vfctl_ctx *ctx, const struct vfctl_placement *placed);
/* The same of an assignment. */
int assignment_fits(struct vfctl_ctx *ctx, const char *name, const struct vfctl_assignment *a);
/*
 * The identities of its VFs, taken from the pools instead of only proposed. They are given
 * back when @placed is freed, unless the step for them was carried out.
 */
int placed_take_identities(struct vfctl_ctx *ctx, struct vfctl_placement *placed,
	struct vfctl_ids *ids);
/* What a VF will carry but for its identity: nothing that its kind of device has not. */
void guest_complete_vf(const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	const struct vfctl_vf_attrs *attrs, enum vfctl_vf_form form,
	struct vfctl_domain_vf *ret);

/*
 * *ret: vfctl defined the domain of that XML, under that name, as its metadata has it. A clone has another
 * name.
 */
int guest_is_defined(struct vfctl_ctx *ctx, const char *xml, const char *name, bool *ret);
/* Of a domain without a lease: 0, or, when vfctl defined it, -EPERM with the way to its lease. */
int guest_check_lost(struct vfctl_ctx *ctx, const char *xml, const char *name);

/* A VF carries no larger packets than its PF does. -EINVAL with what helps. */
int guest_check_mtu(struct vfctl_ctx *ctx, const struct vfctl_guest_vf *want, const struct vfctl_pf *pf);
/* libvirt starts no domain with an <interface> of a PF that is down: said before somebody waits for it. */
void guest_warn_down(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const char *domain,
	const struct vfctl_domain_vf *vfs, size_t count);

#endif
