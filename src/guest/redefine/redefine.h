/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_REDEFINE_REDEFINE_H
#define VFCTL_GUEST_REDEFINE_REDEFINE_H

#include "base/planning.h"
#include "facts/model/place.h"
#include "types/guest.h"

/* A guest's file, and the domain that libvirt has of that name or UUID. */
struct redefine_request {
	struct vfctl_guest *guest; /* given the domain's UUID if it has none */
	const struct vfctl_place_options *options;
	const struct vfctl_domain_info *info; /* its definition */
	/*
	 * A move: the guest is as its file requests, and its VFs keep their leased values. NULL: no
	 * move.
	 */
	const struct vfctl_assignment *to;
	bool dry_run;
};

/*
 * The steps that change the domain to what its file requests. The file is compared with the file at
 * the last definition, and the domain with the file, because either may have changed since. The
 * domain keeps its UUID, its VFs with their MACs and GUIDs, its CPUs and nodes where the file
 * permits it, and what other programs wrote into its definition. -EALREADY: it is as requested;
 * -EEXIST: vfctl did not define it, or a difference cannot be changed in an existing domain, and
 * the message names it.
 */
int guest_redefine(struct vfctl_ctx *ctx, const struct redefine_request *request,
	struct vfctl_change *change);

/*
 * Find a domain of libvirt by its UUID, by its name, or by the name in its lease, which it had
 * before it was renamed. -ENOENT, with the next command or a similar name.
 */
int redefine_find_domain(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv, const char *domain,
	struct vfctl_domain_info *ret);

#endif
