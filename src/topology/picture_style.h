/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TOPOLOGY_PICTURE_STYLE_H
#define VFCTL_TOPOLOGY_PICTURE_STYLE_H

#include "base/buf.h"
#include "core/placement.h"

/* Colours, 0xrrggbb. Greys are no guest's. */
#define STYLE_FREE 0xffffffu
#define STYLE_HOST 0x707070u
#define STYLE_SHARED 0xc4c4c4u
#define STYLE_OTHERS 0x404040u
#define STYLE_SEVERAL 0x000000u
#define STYLE_MACHINE 0xffffffu
#define STYLE_PACKAGE 0xdfe6e2u
#define STYLE_NODE 0xf0f5f2u
#define STYLE_CACHE 0xfdf3d0u
#define STYLE_PF 0xd8ecd8u

/* Of guest number @at; each its own. */
uint32_t style_guest(size_t at);
/* Of a CPU, by who has it. */
uint32_t style_cpu(const struct vfctl_host_model *m, unsigned cpu);
/* Black or white, what can be read on @background. */
uint32_t style_text(uint32_t background);

/* Text as the value of an attribute; what is no character becomes '?'. */
void style_put_xml(struct buf *b, const char *text);

/* Words for boxes, appended to @text; false when there is nothing to say. */
void style_name_pf(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf,
	struct buf *text);
bool style_held_vfs(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf,
	const struct vfctl_occupant *o, struct buf *text);
bool style_free_vfs(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf,
	struct buf *text);
/* What a guest has on one node. */
bool style_share(const struct vfctl_node *n, const struct vfctl_occupant *o,
	struct buf *text);
/* Line @at of the legend; false behind the last. */
bool style_legend(const struct vfctl_host_model *m, size_t at, struct buf *line);

#endif
