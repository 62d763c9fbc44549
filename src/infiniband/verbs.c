// SPDX-License-Identifier: GPL-2.0-or-later
/* libibverbs: MTUs, vendor ids and limits that sysfs does not provide. */
#include <infiniband/verbs.h>

#include "base/dl.h"
#include "base/sonames.h"
#include "infiniband/rdma.h"

#define SYMBOLS(each) \
	each(ibv_get_device_list) each(ibv_free_device_list) each(ibv_get_device_name) \
	each(ibv_open_device) each(ibv_close_device) each(ibv_query_device)
DL_SYMBOLS(symbols, SYMBOLS);

static uint32_t mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

/*
 * Do the same as the header's inline function: the library's symbol of that name fills only the
 * shorter structure of its first version.
 */
static void read_port(struct ibv_context *context, struct vfctl_rdma_port *port)
{
	struct verbs_context *verbs = verbs_get_ctx_op(context, query_port);
	struct ibv_port_attr attr = {0};

	if (!verbs || verbs->query_port(context, port->number, &attr, sizeof(attr)) != 0)
		return;
	port->max_mtu = mtu_bytes(attr.max_mtu);
	port->active_mtu = mtu_bytes(attr.active_mtu);
}

static void read_open(struct ibv_context *context, struct vfctl_rdma_device *io)
{
	struct ibv_device_attr attr = {0};

	if (sym_ibv_query_device(context, &attr) != 0)
		return;
	io->verbs = true;
	io->vendor_id = attr.vendor_id;
	io->part_id = attr.vendor_part_id;
	io->max_qp = attr.max_qp;
	io->max_cq = attr.max_cq;
	io->max_mr = attr.max_mr;
	for (size_t i = 0; i < io->port_count; i++)
		read_port(context, &io->ports[i]);
}

void rdma_read_verbs(struct vfctl_ctx *ctx, struct vfctl_rdma_device *io)
{
	struct ibv_device **devices;
	int count;

	if (dl_bind(ctx, SONAME_VERBS, symbols, ARRAY_SIZE(symbols)) < 0) {
		ctx_clear(ctx);
		return;
	}
	devices = sym_ibv_get_device_list(&count);
	for (int i = 0; devices && i < count; i++) {
		struct ibv_context *context;

		if (!str_eq(sym_ibv_get_device_name(devices[i]), io->name))
			continue;
		context = sym_ibv_open_device(devices[i]);
		if (!context)
			break;
		read_open(context, io);
		sym_ibv_close_device(context);
		break;
	}
	if (devices)
		sym_ibv_free_device_list(devices);
}
