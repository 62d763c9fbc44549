/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_REDEFINE_H
#define VFCTL_WORKFLOW_REDEFINE_H

#include "base/ctx.h"
#include "vfctl/guest.h"
#include "vfctl/hypervisor.h"
#include "vfctl/lease.h"

/*
 * What the file and its template say, a line for each value, as it is kept in the metadata of the
 * domain. NULL: the guest is from no file, or memory ran out.
 */
char *guest_said(const struct vfctl_guest *guest, const char *template_text);

/*
 * Is the domain that libvirt has, and that we leased @lease, what the file asks? Its file is
 * compared with what that said when the domain was defined; then the domain with the file, for it
 * may have changed since. -EALREADY: it is; -EEXIST: it is not, and the words say what differs.
 */
int guest_compare(struct vfctl_ctx *ctx, const struct vfctl_guest *guest, const char *said,
	const struct vfctl_domain_info *info, const struct vfctl_lease *lease);

#endif
