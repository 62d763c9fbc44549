/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_UPLINK_H
#define VFCTL_TYPES_UPLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "types/inventory.h"

/* What a card does with MACs that its table has no space for. */
enum vfctl_fdb_past {
	VFCTL_FDB_UNKNOWN,
	VFCTL_FDB_REFUSED,     /* the kernel reports an error */
	VFCTL_FDB_DROPPED,     /* the kernel reports success, and some MACs stay unreachable */
	VFCTL_FDB_PROMISCUOUS, /* the port receives every unicast packet */
};

/*
 * Why a VF must reach a MAC through the uplink; the order is that in which a full table is filled.
 */
enum vfctl_station_kind {
	VFCTL_STATION_HOST,   /* of a bridge, or of a device above it */
	VFCTL_STATION_GUEST,  /* learnt on the tap device of a guest */
	VFCTL_STATION_LEARNT, /* learnt on another port: a container, another card */
};

struct vfctl_station {
	struct vfctl_mac mac;
	enum vfctl_station_kind kind;
	char port[16]; /* the port on which the bridge learnt it, or the host's device */
	bool there;    /* in the function's own table */
};

/* A MAC that a port of the bridge claims although a VF of the same card has it. */
struct vfctl_pretender {
	struct vfctl_mac mac;
	char port[16];
	uint32_t vf;
};

/*
 * A function through which a bridge reaches the wire and the VFs of its card: the PF or a VF is a
 * port of the bridge, or a bond, VLAN device or other bridge is between. The switch of the card
 * knows only the MACs of functions: what a VF sends to a station behind the bridge leaves through
 * the port, unless the function's own table has the MAC (bridge fdb add MAC dev NETDEV self
 * permanent).
 */
struct vfctl_uplink {
	const struct vfctl_pf *pf; /* of the inventory */
	const struct vfctl_vf *vf; /* the bridged VF; NULL: the PF itself */
	struct vfctl_bdf bdf;
	char netdev[16];
	int ifindex;
	char **above; /* devices above it that lead to the bridges, and the bridges: "bond0", "br0" */
	char **bridges;
	struct vfctl_station *stations; /* sorted by kind */
	size_t station_count;
	struct vfctl_pretender *pretenders;
	size_t pretender_count;
	struct vfctl_mac *wire; /* stations that the bridges see on the side of the wire */
	size_t wire_count;
	size_t missing; /* stations that are not there */
	struct vfctl_mac *own; /* all entries of the table, also those of others */
	size_t own_count;
	int capacity;   /* entries that the table holds; -1: not known */
	enum vfctl_fdb_past past; /* what happens beyond that */
};

struct vfctl_uplinks {
	struct vfctl_uplink *v;
	size_t count;
};

#endif
