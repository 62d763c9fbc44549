/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_GUEST_H
#define VFCTL_GUEST_GUEST_H

#include "base/buf.h"
#include "base/ctx.h"
#include "facts/model/model.h"
#include "guest/plans.h"
#include "ids/give.h"

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
	/*
	 * A lease of this guest whose domain libvirt no longer has; NULL if there is none. The
	 * guest is planned as if that lease had ended, and keeps its UUID.
	 */
	const struct vfctl_lease *left;
};

int guest_make_uuid(struct vfctl_ctx *ctx, char ret[37]);
/* For a guest that was placed with others: read the host again. */
int placed_of_batch(struct vfctl_ctx *ctx, struct vfctl_guest *guest,
	const struct vfctl_place_options *options, const struct vfctl_assignment *assignment,
	struct vfctl_placement **ret_placed);
/* 0, or -ENOSPC with the planner's reasons in one line. */
int placed_check(struct vfctl_ctx *ctx, const struct vfctl_placement *placed);
/*
 * vfctl_placement_xml() without the check of the template's devices: it is the domain's own
 * definition, or was checked before.
 */
int placed_xml(struct vfctl_ctx *ctx, const struct vfctl_placement *placed,
	const char *template_text, const char *template_name, uint64_t libvirt_version,
	char **ret_xml);
/* Check an assignment in the same way. */
int assignment_fits(struct vfctl_ctx *ctx, const char *name, const struct vfctl_assignment *a);
/* Warn of all that works but not as well as it could, in the words of vfctl plan. */
void assignment_warn(struct vfctl_ctx *ctx, const char *domain, const struct vfctl_assignment *a);
/*
 * Take the identities of its VFs from the pools instead of only proposing them. They are released
 * when @placed is freed, unless the step for them was carried out.
 */
int placed_take_identities(struct vfctl_ctx *ctx, struct vfctl_placement *placed,
	struct vfctl_ids *ids);
/*
 * Complete a VF except for its identity, without attributes that its kind of device does not have.
 */
void guest_complete_vf(const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	const struct vfctl_vf_attrs *attrs, enum vfctl_vf_form form,
	struct vfctl_domain_vf *ret);

/*
 * Give it an identity: identities_give(), except for drivers that cannot set one. -EOPNOTSUPP: it
 * asks for an attribute that its driver never has (drivers/), so each start would fail.
 */
int guest_give_identity(struct vfctl_ctx *ctx, struct identities *identities,
	const struct vfctl_identity_want *want, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const char *device, struct vfctl_domain_vf *io);

/*
 * *ret: vfctl defined the domain of that XML under that name, according to its metadata. A clone
 * has another name.
 */
int guest_is_defined(struct vfctl_ctx *ctx, const char *xml, const char *name, bool *ret);
/*
 * For a domain without a lease: 0, or, if vfctl defined it, -EPERM with a message that tells how to
 * get its lease.
 */
int guest_check_lost(struct vfctl_ctx *ctx, const char *xml, const char *name);

/*
 * 1: @io is a port of a bond of which an earlier VF of @p is a port, and has its MAC now; 0: it is
 * the first one, or not a port. -EINVAL for an InfiniBand VF.
 */
int guest_share_mac(struct vfctl_ctx *ctx, const struct vfctl_placement *p,
	const struct vfctl_guest_vf *want, struct vfctl_domain_vf *io);
/* A VF cannot send larger packets than its PF. -EINVAL with a remedy. */
int guest_check_mtu(struct vfctl_ctx *ctx, const struct vfctl_guest_vf *want,
	const struct vfctl_pf *pf);
/*
 * libvirt does not start a domain with an <interface> of a PF that is down: warn before the start.
 */
void guest_warn_down(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const char *domain,
	const struct vfctl_domain_vf *vfs, size_t count);
/* When a domain starts that has the PF of a VF, that VF is removed: warn beforehand. */
void guest_warn_whole(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_domain_vf *vfs, size_t count);

/*
 * template_devices.c: -EEXIST with the line of the template that has a VF of this host, or a PF
 * with VFs. @text NULL: the guest has no template.
 */
int guest_check_template(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const char *text, const char *name);

#endif
