/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_REDEFINE_REDEFINE_H
#define VFCTL_GUEST_REDEFINE_REDEFINE_H

#include "base/change.h"
#include "core/workflow.h"

/* A guest's file, and the domain that libvirt has of that name or UUID. */
struct redefine_request {
	struct vfctl_guest *guest; /* given the domain's UUID if it has none */
	const struct vfctl_place_options *options;
	const struct vfctl_domain_info *info; /* its definition */
	/* It moves there: it is as its file asked, and its VFs keep what they
	 * are leased with. NULL: it does not. */
	const struct vfctl_assignment *to;
	bool dry_run;
};

/*
 * The steps that make the domain what its file asks: its file is compared with what that said when
 * the domain was defined, and the domain with the file, for it may have changed since. It keeps its
 * UUID, its VFs with their MACs and GUIDs, its CPUs and nodes wherever the file lets it, and what
 * others wrote into its definition. -EALREADY: it is as asked; -EEXIST: it is not ours, or what
 * differs is not changed in a domain that is there, and the words say what.
 */
int guest_redefine(struct vfctl_ctx *ctx, const struct redefine_request *request,
	struct vfctl_change *change);

#endif
