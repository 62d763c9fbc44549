/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_TOPOLOGY_H
#define VFCTL_PRINT_TOPOLOGY_H

#include "out.h"
#include "types/placement.h"

/* Print the machine, node by node, with its users, for a person who does not know it. */
void print_topology(struct out *out, const struct vfctl_host_model *model);

/* "0-3,8" with steps in the form of taskset, "0-126:2", which shortens long lists. */
char *cpus_text(const struct vfctl_cpuset *set, char *buf, size_t size);

#endif
