/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_LIST_H
#define VFCTL_PRINT_LIST_H

#include "answer.h"
#include "columns.h"
#include "core/snapshot.h"

struct list_view {
	struct vfctl_ctx *ctx;
	const struct vfctl_pf *only; /* NULL: all PFs */
	bool pfs;		     /* no VFs */
	bool free;		     /* VFs that a guest may be given, no others */
	bool all;		     /* a row for each VF, however alike they are */
	unsigned allowed;	     /* exposed so a guest may have them all the same: host.yaml */
	bool health;		     /* how the PFs' links are */
	bool no_headings;
	struct columns columns; /* one table of these, for scripts; none: tables for a person */
};

void print_list(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct list_view *view);
/* JSON. */
struct listing {
	const struct vfctl_snapshot *snapshot;
	const struct list_view *view;
};
extern const struct member answer_list[];
/* Is VF @at of the PF among those that are listed? */
bool list_has_vf(const struct list_view *view, const struct vfctl_pf *pf, uint32_t at);
/* Each VF of that PF. */
void print_vfs(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf);

#endif
