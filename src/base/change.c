// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/change.h"

#include <errno.h>

int change_new(struct vfctl_ctx *ctx, void *data, void (*free_data)(void *),
	struct vfctl_change **ret_change)
{
	struct vfctl_change *change = data ? calloc(1, sizeof(*change)) : NULL;

	if (!change) {
		if (data)
			free_data(data);
		return ctx_oom(ctx);
	}
	change->data = data;
	change->free_data = free_data;
	change->lock_fd = change->placement_fd = -1;
	*ret_change = change;
	return 0;
}

size_t vfctl_change_count(const struct vfctl_change *change)
{
	return change->steps.count;
}

const char *vfctl_change_describe(const struct vfctl_change *change, size_t index)
{
	return index < change->steps.count ? change->steps.v[index].describe : NULL;
}

const char *vfctl_change_pending(const struct vfctl_change *change)
{
	return change->pending;
}

bool vfctl_change_moves_ids(const struct vfctl_change *change)
{
	return change->ids_changed;
}

int vfctl_change_run(struct vfctl_ctx *ctx, struct vfctl_change *change)
{
	return steps_run(ctx, &change->steps);
}

void vfctl_change_free(struct vfctl_change *change)
{
	if (!change)
		return;
	steps_clear(&change->steps);
	free(change->pending);
	change->free_data(change->data);
	if (change->more)
		change->free_more(change->more);
	if (change->kept)
		change->free_kept(change->kept);
	close_fd(&change->lock_fd);
	close_fd(&change->placement_fd);
	free(change);
}
