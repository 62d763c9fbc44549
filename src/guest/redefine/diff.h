/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_REDEFINE_DIFF_H
#define VFCTL_GUEST_REDEFINE_DIFF_H

#include "base/buf.h"
#include "types/guest.h"

/* The differences between a guest's file and its version at the last definition. */
struct file_diff {
	bool any;
	bool place; /* keys that need the planner */
	bool vcpus, memory, cells; /* the number of vCPUs, the memory, the cells */
	struct buf refused; /* keys that cannot be changed in an existing domain, and why */
	size_t refused_count;
};
void file_diff_clear(struct file_diff *diff);

/* Both come from files; @ret must be zeroed. */
void file_diff_make(const struct vfctl_guest *now, const struct vfctl_guest *was,
	struct file_diff *ret);

#endif
