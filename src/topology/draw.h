/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TOPOLOGY_DRAW_H
#define VFCTL_TOPOLOGY_DRAW_H

#include "types/placement.h"
#include "vfctl/guest.h"

struct vfctl_ctx;

enum vfctl_picture {
	VFCTL_PICTURE_SVG,
	VFCTL_PICTURE_PNG,
};

/**
 * Draw the machine, with a different colour for each guest.
 * @param title  shown at the top: the host and the date.
 * @param path  local path; the file is written completely, or not changed.
 * @return 0; -ENOPKG rsvg-convert, which makes PNG files, is not installed; -EIO it failed,
 * -ETIMEDOUT; or why the file could not be written.
 */
int vfctl_model_draw(struct vfctl_ctx *ctx, const struct vfctl_host_model *model, const char *title,
	enum vfctl_picture format, const char *path);

#endif
