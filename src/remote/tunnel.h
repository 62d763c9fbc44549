/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_REMOTE_TUNNEL_H
#define VFCTL_REMOTE_TUNNEL_H

#include "base/op.h"
#include "remote/place.h"

/*
 * Create a WireGuard tunnel between the two ends of a configuration, with its own keys and
 * addresses; it is number @number (0..63) of the plan.
 */
int tunnel_make(struct place *client, struct place *server, unsigned number, uint32_t mtu);
/* The server's address in the tunnel. */
char *tunnel_address(unsigned number);
/*
 * The target of one end: settings_target() of the endpoint with the tunnel in place of its device.
 */
char *tunnel_target(const struct endpoint *end, unsigned number, bool server);

/*
 * The interface of one end. Target as above; want: SETTINGS_MEASURED, as it goes when the measuring
 * ends; before: "none".
 */
#define TUNNEL_NONE "none"
extern const struct op_type op_bench_tunnel;

#endif
