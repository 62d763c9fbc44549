/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SUBNET_SUBNET_H
#define VFCTL_SUBNET_SUBNET_H

#include "base/buf.h"
#include "base/ctx.h"
#include "core/subnet.h"

/*
 * Find the levels of the switches, the links that are slower than others, the order of the nodes
 * and their numbers. The peers of all ports must be known.
 */
int subnet_judge(struct vfctl_ctx *ctx, struct vfctl_subnet *subnet);
/* The port at the other end of @port; NULL if the text does not have it. */
struct vfctl_subnet_port *subnet_peer_port(const struct vfctl_subnet *subnet,
	const struct vfctl_subnet_port *port);

#endif
