/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TOPOLOGY_PICTURE_H
#define VFCTL_TOPOLOGY_PICTURE_H

#include "base/buf.h"
#include "core/placement.h"

/*
 * The model as hwloc's XML (version 2), coloured for lstopo: a colour per guest on its
 * CPUs, its VFs and a box per node; PFs and guests are Misc objects. A failed growth shows
 * in @ret.
 */
void picture_xml(const struct vfctl_host_model *model, struct buf *ret);
/* The legend as SVG's title and description: lstopo draws text as shapes. */
void picture_svg_words(const struct vfctl_host_model *model, struct buf *ret);

#endif
