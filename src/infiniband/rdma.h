/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_INFINIBAND_RDMA_H
#define VFCTL_INFINIBAND_RDMA_H

#include "base/address.h"
#include "base/cleanup.h"

struct vfctl_ctx;

/** State of a port (IBTA 14.2.5.6; the values are the kernel's and libibverbs'). */
enum vfctl_port_state {
	VFCTL_PORT_UNKNOWN = 0,
	VFCTL_PORT_DOWN = 1,
	VFCTL_PORT_INIT = 2,  /**< link up, but no subnet manager has configured it */
	VFCTL_PORT_ARMED = 3, /**< the subnet manager is configuring it */
	VFCTL_PORT_ACTIVE = 4,
	VFCTL_PORT_ACTIVE_DEFER = 5,
};

enum vfctl_port_phys {
	VFCTL_PHYS_UNKNOWN = 0,
	VFCTL_PHYS_SLEEP = 1,
	VFCTL_PHYS_POLLING = 2,
	VFCTL_PHYS_DISABLED = 3,
	VFCTL_PHYS_TRAINING = 4,
	VFCTL_PHYS_LINK_UP = 5,
	VFCTL_PHYS_ERROR_RECOVERY = 6,
	VFCTL_PHYS_TEST = 7,
};

/** An entry in use of a port's GID table. */
struct vfctl_gid {
	uint32_t index;
	uint64_t prefix, guid;
	char type[16];	 /**< "IB/RoCE v1", "RoCE v2"; "" if unknown */
	char netdev[16]; /**< of a RoCE GID; else "" */
};

/** An entry in use of a port's P_Key table; bit 15 set: full member. */
struct vfctl_pkey_entry {
	uint32_t index;
	uint16_t pkey;
};

struct vfctl_rdma_port {
	uint8_t number; /**< number of the port, from 1 */
	enum vfctl_port_state state;
	enum vfctl_port_phys phys_state;
	bool infiniband;     /**< link layer: InfiniBand, otherwise Ethernet (RoCE, iWARP) */
	uint32_t rate_mbps;  /**< of all lanes; 0: unknown */
	uint8_t width;	     /**< number of lanes; 0: unknown */
	char speed[8];	     /**< of each lane: "SDR" to "XDR"; "" if unknown */
	uint32_t lid, sm_lid; /**< 0: none; 0xffff: no LID assigned */
	uint8_t lmc, sm_sl;
	uint32_t cap_mask;
	uint32_t max_mtu, active_mtu; /**< bytes; 0: only libibverbs reports them */
	uint64_t guid, subnet_prefix; /**< of GID 0 */
	struct vfctl_gid *gids;
	size_t gid_count;
	struct vfctl_pkey_entry *pkeys;
	size_t pkey_count;
};

/** An RDMA device: the output of ibstat and ibv_devinfo as a snapshot. */
struct vfctl_rdma_device {
	char name[64];
	bool has_bdf; /**< false for software devices such as rxe0 */
	struct vfctl_bdf bdf;
	bool is_vf;
	char driver[32]; /**< "" if unknown */
	char ca_type[32], firmware[32], board[64]; /**< "" if unknown */
	uint32_t hw_rev;
	uint64_t node_guid, system_image_guid;
	bool verbs; /**< libibverbs opened it; otherwise the members below are 0 */
	uint32_t vendor_id, part_id;
	int max_qp, max_cq, max_mr;
	struct vfctl_rdma_port *ports;
	size_t port_count;
};

/**
 * Read one RDMA device: sysfs, and on the running host also what libibverbs reports. Without
 * libibverbs, or without the privilege to open the device, the values of sysfs are still returned.
 * @return 0; -ENOENT no such device.
 */
int vfctl_rdma_read(struct vfctl_ctx *ctx, const char *name,
	struct vfctl_rdma_device **ret_device);
void vfctl_rdma_free(struct vfctl_rdma_device *device);
DEFINE_FREEP(struct vfctl_rdma_device, vfctl_rdma_free)

/** "Down", "Initializing", "Armed", "Active", ... in the spelling of ibstat. */
const char *vfctl_port_state_name(enum vfctl_port_state state);
const char *vfctl_port_phys_name(enum vfctl_port_phys phys);

#define VFCTL_FINDING_TEXT 256
/**
 * The problems of a port as text, with remedies: no subnet manager, no link, a zero GUID, a VF that
 * the subnet manager does not serve.
 * for (unsigned i = 0; vfctl_rdma_finding(device, port, &i, text);)
 * @param index  the position; start at 0, the call advances it.
 * @return false past the last one.
 */
bool vfctl_rdma_finding(const struct vfctl_rdma_device *device,
	const struct vfctl_rdma_port *port, unsigned *index, char text[VFCTL_FINDING_TEXT]);

/*
 * Add what only libibverbs reports. If the library or its provider is missing, or the device cannot
 * be opened, nothing is added, and this is not a failure.
 */
void rdma_read_verbs(struct vfctl_ctx *ctx, struct vfctl_rdma_device *io);

/* Read "200 Gb/sec (4X HDR)" or "10 Gb/sec (4X)"; false if the text is something else. */
bool rdma_parse_rate(const char *text, struct vfctl_rdma_port *io);

#endif
