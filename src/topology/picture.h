/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TOPOLOGY_PICTURE_H
#define VFCTL_TOPOLOGY_PICTURE_H

#include "base/buf.h"
#include "base/ctx.h"
#include "topology/draw.h"

/*
 * The model as an SVG document: a card per NUMA node with its cores, memory, guests and PFs, and a
 * legend. Each guest has a colour. @title is shown at the top. A failed growth shows in @ret.
 */
void picture_svg(const struct vfctl_host_model *model, const char *title, struct buf *ret);

/*
 * Write a finished SVG document in this format to a local file, completely or not at all. @picture
 * is used up. Returns as vfctl_model_draw().
 */
int picture_write(struct vfctl_ctx *ctx, struct buf *picture, enum vfctl_picture format,
	const char *path);

#endif
