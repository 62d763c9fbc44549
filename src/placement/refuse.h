/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_REFUSE_H
#define VFCTL_PLACEMENT_REFUSE_H

#include "placement/placement.h"

/* What is short on one node, without its number: nodes alike are told in one line. */
struct shortage {
	char *text;
	uint64_t nodes;
};

struct refusal {
	struct vfctl_ctx *ctx;
	struct shortage shortages[2 * SITE_NODES_MAX];
	size_t shortage_count;
	struct vfctl_assignment *a;
	const struct site *site;
	const struct vfctl_request *request;
	unsigned remedies;
	int error;
};

/* Did what was said get its memory? */
void refusal_say(struct refusal *f, bool ok);
/* "node 1", "nodes 0-3" */
void refusal_nodes(const struct site *site, uint64_t nodes, char buf[128]);
/* remedies.c: would it fit, were it asked so? @ret_nodes (may be NULL): where. */
bool refusal_would_fit(struct refusal *f, const struct vfctl_request *changed,
	uint64_t *ret_nodes);
/* Changes that would make it fit, each of them tried. */
void tell_remedies(struct refusal *f);

#endif
