/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_TOPOLOGY_H
#define VFCTL_PRINT_TOPOLOGY_H

#include "out.h"
#include "core/placement.h"

/* The machine, node by node, and who sits where: for a person who never saw it. */
void print_topology(struct out *out, const struct vfctl_host_model *model);

/* "0-3,8" with steps as taskset writes them, "0-126:2", for a list that is else a wall. */
char *cpus_words(const struct vfctl_cpuset *set, char *buf, size_t size);

#endif
