/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_SUBNET_H
#define VFCTL_PRINT_SUBNET_H

#include "answer.h"
#include "subnet/subnet.h"

/* Print each switch with its links, and what is wrong with them. 0 or a negative errno. */
int print_subnet(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_subnet *subnet);

struct subnet_view {
	const struct vfctl_subnet *subnet;
	const char *file; /* that was read; NULL: ibnetdiscover was run */
};
extern const struct member answer_subnet[];

#endif
