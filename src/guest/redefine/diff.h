/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_REDEFINE_DIFF_H
#define VFCTL_GUEST_REDEFINE_DIFF_H

#include "base/buf.h"
#include "core/guest.h"

/* How a guest's file differs from what it was when the domain was defined. */
struct file_diff {
	bool any;
	bool place; /* keys that the planner asks */
	bool vcpus, memory, cells; /* how many, and how much */
	struct buf refused; /* what is not changed in a domain that is there, and why */
	size_t refused_count;
};
void file_diff_clear(struct file_diff *diff);

/* Both are from files; @ret is zero before. */
void file_diff_make(const struct vfctl_guest *now, const struct vfctl_guest *was, struct file_diff *ret);

#endif
