/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_TOPOLOGY_PARTS_H
#define VFCTL_PRINT_TOPOLOGY_PARTS_H

#include "out.h"
#include "core/placement.h"

/* What the files share that print the machine. */

/* "  label     text", broken after commas and blanks where it grows too wide. */
void topology_line(struct out *out, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The sign of a guest in the map of cores, by its place in the list. */
char topology_sign(size_t occupant);
/* Its first name, or "". */
const char *topology_pf_name(const struct vfctl_model_pf *p);
/* The PFs of NUMA node @node, and who has their VFs. */
void topology_pfs(struct out *out, const struct vfctl_host_model *m, int node);

#endif
