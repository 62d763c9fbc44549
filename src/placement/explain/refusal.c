// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/explain/refuse.h"

#include <stdio.h>

void refusal_say(struct refusal *f, bool ok)
{
	if (!ok)
		f->error = ctx_oom(f->ctx);
}

void refusal_nodes(const struct capacity *capacity, uint64_t nodes, char buf[128])
{
	struct vfctl_cpuset set = {0};
	bool many = nodes & (nodes - 1);
	int n;

	for (unsigned i = 0; i < capacity->node_count; i++)
		if (capacity_has(nodes, i))
			vfctl_cpuset_add(&set, (unsigned)capacity->nodes[i].id);
	n = snprintf(buf, 128, many ? "nodes " : "node ");
	vfctl_cpuset_format(&set, buf + n, (size_t)(128 - n));
}
