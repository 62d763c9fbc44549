/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_RDMA_H
#define VFCTL_CORE_RDMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/context.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** State of a port (IBTA 14.2.5.6; the values are the kernel's and libibverbs'). */
enum vfctl_port_state {
	VFCTL_PORT_UNKNOWN = 0,
	VFCTL_PORT_DOWN = 1,
	VFCTL_PORT_INIT = 2,  /**< link up, no subnet manager has been here */
	VFCTL_PORT_ARMED = 3, /**< the subnet manager is at work */
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

/** One entry of a port's GID table that is in use. */
struct vfctl_gid {
	uint32_t index;
	uint64_t prefix, guid;
	char type[16];	 /**< "IB/RoCE v1", "RoCE v2"; "" unknown */
	char netdev[16]; /**< of a RoCE GID; "" none */
};

/** One entry of a port's P_Key table that is in use; bit 15 set: full member. */
struct vfctl_pkey_entry {
	uint32_t index;
	uint16_t pkey;
};

struct vfctl_rdma_port {
	uint8_t number; /**< from 1 */
	enum vfctl_port_state state;
	enum vfctl_port_phys phys_state;
	bool infiniband;     /**< link layer: InfiniBand, otherwise Ethernet (RoCE, iWARP) */
	uint32_t rate_mbps;  /**< of all lanes; 0 unknown */
	uint8_t width;	     /**< lanes; 0 unknown */
	char speed[8];	     /**< of a lane: "SDR" to "XDR"; "" unknown */
	uint32_t lid, sm_lid; /**< 0 none; 0xffff no LID given */
	uint8_t lmc, sm_sl;
	uint32_t cap_mask;
	uint32_t max_mtu, active_mtu; /**< bytes; 0: only libibverbs could say */
	uint64_t guid, subnet_prefix; /**< of GID 0 */
	struct vfctl_gid *gids;
	size_t gid_count;
	struct vfctl_pkey_entry *pkeys;
	size_t pkey_count;
};

/** An RDMA device: what ibstat and ibv_devinfo tell, in one snapshot. */
struct vfctl_rdma_device {
	char name[64];
	bool has_bdf; /**< false for software devices such as rxe0 */
	struct vfctl_bdf bdf;
	bool is_vf;
	char ca_type[32], firmware[32], board[64]; /**< "" unknown */
	uint32_t hw_rev;
	uint64_t node_guid, system_image_guid;
	bool verbs; /**< libibverbs could open it; without, what follows is 0 */
	uint32_t vendor_id, part_id;
	int max_qp, max_cq, max_mr;
	struct vfctl_rdma_port *ports;
	size_t port_count;
};

/**
 * Read one RDMA device: sysfs, and on the running host what libibverbs knows besides.
 * Without libibverbs or the right to open the device the rest is told all the same.
 * @return 0; -ENOENT no such device.
 */
int vfctl_rdma_read(struct vfctl_ctx *ctx, const char *name,
	struct vfctl_rdma_device **ret_device);
void vfctl_rdma_free(struct vfctl_rdma_device *device);
DEFINE_FREEP(struct vfctl_rdma_device, vfctl_rdma_free)

/** "Down", "Initializing", "Armed", "Active", ... as ibstat spells them. */
const char *vfctl_port_state_name(enum vfctl_port_state state);
const char *vfctl_port_phys_name(enum vfctl_port_phys phys);

#define VFCTL_FINDING_TEXT 256
/**
 * What is wrong with a port, in words, with what to do: no subnet manager, no link, a zero
 * GUID, a VF that the subnet manager does not serve.
 * for (unsigned i = 0; vfctl_rdma_finding(device, port, &i, text);)
 * @param index  where to go on; starts at 0, stepped by the call.
 * @return false when there are no more.
 */
bool vfctl_rdma_finding(const struct vfctl_rdma_device *device,
	const struct vfctl_rdma_port *port, unsigned *index, char text[VFCTL_FINDING_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
