/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SUBNET_SUBNET_H
#define VFCTL_SUBNET_SUBNET_H

#include "base/address.h"
#include "base/cleanup.h"
#include "base/cpuset.h"
#include "topology/draw.h"

struct buf;
struct vfctl_ctx;

/** What a node of an InfiniBand subnet is. */
enum vfctl_subnet_kind {
	VFCTL_SUBNET_SWITCH,
	VFCTL_SUBNET_HCA, /**< the adapter of a host */
	VFCTL_SUBNET_ROUTER,
	VFCTL_SUBNET_AGGREGATION, /**< reduces data in a switch (SHARP); it answers as an HCA */
	VFCTL_SUBNET_KINDS,
};

#define VFCTL_SUBNET_UNKNOWN SIZE_MAX

/** A port of a node that has a link. */
struct vfctl_subnet_port {
	uint8_t number, peer_port;
	size_t peer;	    /**< position of the node at the other end, or VFCTL_SUBNET_UNKNOWN */
	uint64_t peer_guid; /**< node GUID of the other end */
	uint64_t guid;	    /**< port GUID; 0: a port of a switch */
	uint16_t lid;	    /**< 0: none */
	uint8_t lanes;	    /**< 0: unknown */
	char speed[8];	    /**< of each lane: "SDR" to "XDR"; "" if unknown */
	/** Fewer lanes or slower lanes than most links of the same kind on one of its two nodes. */
	bool slow;
	bool local;    /**< this port, or the one at the other end, belongs to this host */
	char *device;  /**< "mlx5_0 port 1": the RDMA device of this host; NULL: another host's port */
};

struct vfctl_subnet_node {
	enum vfctl_subnet_kind kind;
	uint64_t guid, system_guid; /**< system_guid 0: unknown */
	char *name;	    /**< the node description; "" if it has none */
	uint8_t port_total; /**< ports with and without a link */
	uint16_t lid;	    /**< of a switch; 0: none */
	/** Level of a switch: 1 with HCAs, 2 linked to such switches, and so on; 0: no links. */
	unsigned level;
	struct vfctl_subnet_port *ports; /**< ascending by number */
	size_t port_count;
};

/** An InfiniBand subnet as ibnetdiscover(8) reports it. */
struct vfctl_subnet {
	char *generated; /**< when it was read, in ibnetdiscover's form; NULL: not stated */
	struct vfctl_subnet_node *nodes;
	size_t node_count;
	/** Positions of all nodes: by kind, switches by level from the highest, then by name. */
	size_t *order;
	size_t counts[VFCTL_SUBNET_KINDS];
	size_t link_count, slow_count;
	size_t unknown_count; /**< links whose other end is not in the text */
	unsigned levels; /**< the highest level */
};

#define VFCTL_SUBNET_TEXT_MAX ((size_t)256 << 20)

/**
 * Read the output of ibnetdiscover in its default format.
 * @param name  of the file, for messages.
 * @return 0; -EINVAL with FILE:LINE; -ENOMEM.
 */
int vfctl_subnet_parse(struct vfctl_ctx *ctx, const char *name, const char *text, size_t len,
	struct vfctl_subnet **ret_subnet);
/**
 * Run ibnetdiscover on this host, at most for five minutes.
 * @param device  the RDMA device to start from; NULL: the first one with an active port.
 * @return 0; -ENOENT it is not installed; -EIO it failed; -ETIMEDOUT; -EOPNOTSUPP the host is a
 * capture; all with a remedy; or as vfctl_subnet_parse().
 */
int vfctl_subnet_discover(struct vfctl_ctx *ctx, const char *device,
	struct vfctl_subnet **ret_subnet);
/**
 * Mark the ports of this host's RDMA devices. 0 or -ENOMEM; devices that cannot be read are not
 * marked.
 */
int vfctl_subnet_mark_host(struct vfctl_ctx *ctx, struct vfctl_subnet *subnet);
/** Draw it; see vfctl_model_draw(). */
int vfctl_subnet_draw(struct vfctl_ctx *ctx, const struct vfctl_subnet *subnet, const char *title,
	enum vfctl_picture format, const char *path);
void vfctl_subnet_free(struct vfctl_subnet *subnet);
DEFINE_FREEP(struct vfctl_subnet, vfctl_subnet_free)

/** "switch", "hca", "router", "aggregation". */
const char *vfctl_subnet_kind_name(enum vfctl_subnet_kind kind);
/** The name of a node or, if it has none, its GUID in @p buf. */
const char *vfctl_subnet_node_name(const struct vfctl_subnet_node *node, char buf[VFCTL_GUID_TEXT]);
/** Mbit/s of all lanes; 0: unknown. */
uint32_t vfctl_subnet_rate(const struct vfctl_subnet_port *port);
#define VFCTL_SUBNET_LINK_TEXT 16
/** "4x HDR", or "" if it is unknown. Returns @p buf. */
const char *vfctl_subnet_link_text(const struct vfctl_subnet_port *port,
	char buf[VFCTL_SUBNET_LINK_TEXT]);

/** Links of one node to one other node with the same lanes and speed. */
struct vfctl_subnet_bundle {
	const struct vfctl_subnet_port *first;
	const struct vfctl_subnet_node *peer; /**< NULL: not in the text */
	struct vfctl_cpuset ports, peer_ports; /**< numbers of the ports */
	size_t count;
	bool slow, local;
};
/**
 * The links of a node as bundles: HCAs, routers and aggregation nodes by port, then switches by
 * name.
 * @param ret_bundles  an array, to be freed.
 */
int vfctl_subnet_bundles(struct vfctl_ctx *ctx, const struct vfctl_subnet *subnet,
	const struct vfctl_subnet_node *node, struct vfctl_subnet_bundle **ret_bundles, size_t *ret_count);

/*
 * Find the levels of the switches, the links that are slower than others, the order of the nodes
 * and their numbers. The peers of all ports must be known.
 */
int subnet_judge(struct vfctl_ctx *ctx, struct vfctl_subnet *subnet);
/* The port at the other end of @port; NULL if the text does not have it. */
struct vfctl_subnet_port *subnet_peer_port(const struct vfctl_subnet *subnet,
	const struct vfctl_subnet_port *port);

#endif
