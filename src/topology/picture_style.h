/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TOPOLOGY_PICTURE_STYLE_H
#define VFCTL_TOPOLOGY_PICTURE_STYLE_H

#include "base/buf.h"
#include "types/placement.h"

/* Colours, 0xrrggbb. Greys are not used for guests. */
#define STYLE_FREE 0xffffffu
#define STYLE_HOST 0x707070u
#define STYLE_SHARED 0xc4c4c4u
#define STYLE_OTHERS 0x404040u
#define STYLE_SEVERAL 0x000000u

/* The colour of guest number @at; all are different. */
uint32_t style_guest(size_t at);
/* The colour of a CPU, by its holder. */
uint32_t style_cpu(const struct vfctl_host_model *m, unsigned cpu);
/* Black or white, whichever is readable on @background. */
uint32_t style_text(uint32_t background);

/* Append text as the value of an attribute; invalid characters become '?'. */
void style_put_xml(struct buf *b, const char *text);

/* ---- texts, appended to @text ---- */

/* "0-3,8"; a long list is truncated. */
void style_put_cpus(struct buf *text, const struct vfctl_cpuset *set);
/* ": guest-1": the holders of the CPUs. */
void style_put_holders(struct buf *text, const struct vfctl_host_model *m,
	const struct vfctl_cpuset *cpus);
#define STYLE_NODE_LINES 3
/* Line @at about a node: CPUs and memory, huge pages, or distances; empty if there are none. */
void style_node_line(const struct vfctl_host_model *m, const struct vfctl_node *n, unsigned at,
	struct buf *text);
/* "PF ens1 0000:11:00.0", "Ethernet, 25 Gbit/s, i40e", and "4 of 64 VFs (2 free), switchdev". */
void style_name_pf(const struct vfctl_model_pf *pf, struct buf *text);
void style_pf_card(const struct vfctl_model_pf *pf, struct buf *text);
void style_pf_port(const struct vfctl_model_pf *pf, struct buf *text);
void style_pf_vfs(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf,
	struct buf *text);
/* "GPUs: PIX 0000:18:00.0, PXB 0000:19:00.0": the GPUs at PIX or PXB; empty without such a GPU. */
void style_pf_gpus(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf,
	struct buf *text);
/* The colour of VF @index of @pf, by its holder; @text becomes "VF 3: guest-1". */
uint32_t style_vf(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf, uint32_t index,
	struct buf *text);
/* The resources of guest @o on node @n; false if it has none there. */
bool style_share(const struct vfctl_node *n, const struct vfctl_occupant *o, struct buf *text);
/*
 * "not local: VF ens2/3 on node 1": resources that are on none of the nodes of the guest's CPUs;
 * else empty.
 */
void style_remote(const struct vfctl_host_model *m, const struct vfctl_occupant *o,
	struct buf *text);
/* Entry @at of the legend and its colour; false after the last. */
bool style_legend(const struct vfctl_host_model *m, size_t at, uint32_t *ret_colour,
	struct buf *text);

#endif
