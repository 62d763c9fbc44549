/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_TOPOLOGY_PARTS_H
#define VFCTL_PRINT_TOPOLOGY_PARTS_H

#include "out.h"
#include "types/placement.h"

/* Functions that the files that print the machine share. */

/* Print "  label     text", broken after commas and spaces where it is too wide. */
void topology_line(struct out *out, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The character of a guest in the map of cores, by its position in the list. */
char topology_sign(size_t occupant);
/* Its first name, or "". */
const char *topology_pf_name(const struct vfctl_model_pf *p);
/* Print the PFs of NUMA node @node, and the users of their VFs. */
void topology_pfs(struct out *out, const struct vfctl_host_model *m, int node);

#endif
