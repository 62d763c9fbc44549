// SPDX-License-Identifier: GPL-2.0-or-later
/* Ports of InfiniBand PFs: link, subnet manager, what vfctl show says of them. */
#include "checks/check.h"
#include "vfctl/rdma.h"

static void check_port(struct exam *e, const char *name, const struct vfctl_rdma_device *device,
	const struct vfctl_rdma_port *port)
{
	char text[VFCTL_FINDING_TEXT];

	for (unsigned i = 0; vfctl_rdma_finding(device, port, &i, text);)
		found(e, name, "%s port %u: %s", device->name, port->number, text);
}

static void check_ports(struct exam *e)
{
	const struct vfctl_inventory *inv = e->snapshot->inventory;

	for (size_t i = 0; i < inv->pf_count; i++) {
		struct vfctl_rdma_device *device = NULL;
		char name[VFCTL_BDF_TEXT];

		/* A port that has no cable and no VFs is nobody's ailment. */
		if (!inv->pfs[i].infiniband || !inv->pfs[i].rdma[0] || !inv->pfs[i].num_vfs)
			continue;
		if (vfctl_rdma_read(e->ctx, inv->pfs[i].rdma, &device) < 0) {
			unknown(e, "%s: %s", inv->pfs[i].rdma, vfctl_ctx_error(e->ctx));
			continue;
		}
		for (size_t k = 0; k < device->port_count; k++)
			check_port(e, pf_title(&inv->pfs[i], name), device, &device->ports[k]);
		vfctl_rdma_free(device);
	}
}

const struct check rdma_checks[] = {
	{"infiniband-port", VFCTL_WARNING, "an InfiniBand port that VFs hang on is not as it should be",
		NULL, "what stands there says what helps; vfctl show PF has all of the port", check_ports},
	{.name = NULL},
};
