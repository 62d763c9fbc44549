/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_LIST_H
#define VFCTL_PRINT_LIST_H

#include "columns.h"
#include "command.h"
#include "types/snapshot.h"

struct list_view {
	struct vfctl_ctx *ctx;
	const struct vfctl_pf *only[ARGS_MAX];
	size_t only_count; /* 0: all PFs */
	bool pfs;		     /* no VFs */
	bool free;		     /* only VFs that may be given to a guest */
	bool all;		     /* one row for each VF, even if they are equal */
	unsigned allowed;	     /* exposures of VFs that host.yaml accepts for guests */
	bool health;		     /* show the state of the PFs' links */
	bool no_headings;
	bool pairs; /* COLUMN="value", for shells */
	struct columns columns; /* one table with these columns, for scripts; none: tables for people */
};

void print_list(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct list_view *view);
/* JSON. */
struct listing {
	const struct vfctl_snapshot *snapshot;
	const struct list_view *view;
};
extern const struct member answer_list[];
bool list_has_pf(const struct list_view *view, const struct vfctl_pf *pf);
/* Whether VF @at of the PF is in the list. */
bool list_has_vf(const struct list_view *view, const struct vfctl_pf *pf, uint32_t at);
/* Print each VF of that PF. */
void print_vfs(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf);

#endif
