/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_CHANGE_H
#define VFCTL_BASE_CHANGE_H

#include "base/steps.h"
#include "vfctl/change.h"

struct vfctl_change {
	struct steps steps;
	void *data;
	void (*free_data)(void *data);
	void *more; /* data of steps that another part of the story added; NULL: none */
	void (*free_more)(void *more);
	void *kept; /* the snapshot the steps point into */
	void (*free_kept)(void *kept);
	char *pending; /* what is still to be done by hand afterwards, or NULL */
	bool ids_changed; /* GUIDs, MACs or P_Keys change hands */
	int lock_fd; /* -1: a dry run holds no lock */
	int placement_fd;
};

/* @data is the change's from now on, also when this fails. */
int change_new(struct vfctl_ctx *ctx, void *data, void (*free_data)(void *),
	struct vfctl_change **ret_change);

static inline void change_freep(struct vfctl_change **change)
{
	vfctl_change_free(*change);
}
#define _change_ _cleanup_(change_freep)

#endif
