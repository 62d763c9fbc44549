/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_DEFINE_H
#define VFCTL_GUEST_DEFINE_H

#include "base/planning.h"
#include "facts/model/place.h"
#include "types/guest.h"

struct define_request {
	struct vfctl_guest *guest;
	const struct vfctl_place_options *options;
	const char *template_text, *template_name;
	const struct vfctl_assignment *assignment; /* of a guest that was placed with others */
	bool dry_run;
};

/* 1: libvirt has a domain of that name or UUID, which it would redefine without an error. */
int find_existing(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv,
	const struct vfctl_guest *guest, struct vfctl_domain_info *ret);
/* Called with that lock: define a guest, or change an existing one. */
int define_locked(struct vfctl_ctx *ctx, const struct define_request *request,
	struct vfctl_change *change);

#endif
