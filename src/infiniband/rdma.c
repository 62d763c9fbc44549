// SPDX-License-Identifier: GPL-2.0-or-later
/* RDMA devices as sysfs shows them (Documentation/ABI/stable/sysfs-class-infiniband). */
#include "infiniband/rdma.h"

#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "host/host.h"
#include "infiniband/gid.h"
#include "pci/device.h"

#define IB "/sys/class/infiniband/%s/"
#define PORT IB "ports/%u/"

/* ---- one attribute ---- */

static void read_text(struct vfctl_ctx *ctx, const char *name, const char *attr, char *ret,
	size_t size)
{
	_free_ char *text = NULL;

	if (host_try_read(ctx, &text, IB "%s", name, attr) == 0)
		str_copy(ret, size, text);
}

static uint64_t read_guid(struct vfctl_ctx *ctx, const char *name, const char *attr)
{
	_free_ char *text = NULL;
	uint64_t guid = 0;

	if (host_try_read(ctx, &text, IB "%s", name, attr) == 0)
		vfctl_guid_parse(text, &guid);
	return guid;
}

/* Read hex with 0x or decimal, depending on the attribute: "0x5", "0", "4: ACTIVE". */
static uint32_t read_number(struct vfctl_ctx *ctx, const char *name, unsigned port,
	const char *attr)
{
	_free_ char *text = NULL;
	uint64_t value = 0;

	if (host_try_read(ctx, &text, PORT "%s", name, port, attr) < 0)
		return 0;
	text[strcspn(text, ":")] = '\0';
	if (str_starts(text, "0x"))
		parse_hex(text, UINT32_MAX, &value);
	else
		parse_u64(text, 0, UINT32_MAX, &value);
	return (uint32_t)value;
}

bool rdma_parse_rate(const char *text, struct vfctl_rdma_port *io)
{
	const char *open = strstr(text, " Gb/sec (");
	uint32_t whole, tenth = 0, width;
	char number[16], speed[8] = "";
	char *dot;

	if (!open || (size_t)(open - text) >= sizeof(number))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)(open - text), text);
	dot = strchr(number, '.');
	if (dot)
		*dot++ = '\0';
	if (parse_u32(number, 0, 1000000, &whole) < 0 || (dot && parse_u32(dot, 0, 9, &tenth) < 0))
		return false;
	if (sscanf(open, " Gb/sec (%3uX%*1[ ]%7[A-Z0-9])", &width, speed) < 1 || width > 12)
		return false;
	io->rate_mbps = whole * 1000 + tenth * 100;
	io->width = (uint8_t)width;
	str_copy(io->speed, sizeof(io->speed), speed);
	return true;
}

/* ---- tables ---- */

static int read_gid(struct vfctl_ctx *ctx, const char *name, struct vfctl_rdma_port *port,
	uint32_t index)
{
	_free_ char *text = NULL, *type = NULL, *netdev = NULL;
	struct vfctl_gid gid = {.index = index};

	if (host_try_read(ctx, &text, PORT "gids/%u", name, port->number, index) < 0 ||
		gid_parse(text, &gid.prefix, &gid.guid) < 0)
		return 0;
	if (index == 0) {
		port->guid = gid.guid;
		port->subnet_prefix = gid.prefix;
	}
	/* Unused entries are all zero, or contain only the prefix of an InfiniBand port. */
	if (!gid.guid)
		return 0;
	if (host_try_read(ctx, &type, PORT "gid_attrs/types/%u", name, port->number, index) == 0)
		str_copy(gid.type, sizeof(gid.type), type);
	if (host_try_read(ctx, &netdev, PORT "gid_attrs/ndevs/%u", name, port->number, index) == 0)
		str_copy(gid.netdev, sizeof(gid.netdev), netdev);
	if (!array_grow(port->gids, port->gid_count))
		return -ENOMEM;
	port->gids[port->gid_count++] = gid;
	return 0;
}

static int read_pkey(struct vfctl_ctx *ctx, const char *name, struct vfctl_rdma_port *port,
	uint32_t index)
{
	_free_ char *text = NULL;
	uint64_t value;

	if (host_try_read(ctx, &text, PORT "pkeys/%u", name, port->number, index) < 0 ||
		parse_hex(text, UINT16_MAX, &value) < 0 || !value)
		return 0;
	if (!array_grow(port->pkeys, port->pkey_count))
		return -ENOMEM;
	port->pkeys[port->pkey_count++] =
		(struct vfctl_pkey_entry){index, (uint16_t)value};
	return 0;
}

static int read_table(struct vfctl_ctx *ctx, const char *name, struct vfctl_rdma_port *port,
	const char *table, int (*read)(struct vfctl_ctx *ctx, const char *name,
		struct vfctl_rdma_port *port, uint32_t index))
{
	_strv_ char **entries = NULL;
	uint32_t index;
	int r = 0;

	if (host_try_list(ctx, &entries, PORT "%s", name, port->number, table) < 0)
		return 0;
	for (size_t i = 0; r == 0 && entries[i]; i++)
		if (parse_u32(entries[i], 0, UINT16_MAX, &index) == 0)
			r = read(ctx, name, port, index);
	return r;
}

/* ---- ports and devices ---- */

static int read_port(struct vfctl_ctx *ctx, const char *name, struct vfctl_rdma_port *port)
{
	_free_ char *rate = NULL, *layer = NULL;
	unsigned n = port->number;
	uint32_t state = read_number(ctx, name, n, "state");
	uint32_t phys = read_number(ctx, name, n, "phys_state");
	int r;

	port->state = state <= VFCTL_PORT_ACTIVE_DEFER ? (enum vfctl_port_state)state
						       : VFCTL_PORT_UNKNOWN;
	port->phys_state = phys <= VFCTL_PHYS_TEST ? (enum vfctl_port_phys)phys
						   : VFCTL_PHYS_UNKNOWN;
	port->lid = read_number(ctx, name, n, "lid");
	port->sm_lid = read_number(ctx, name, n, "sm_lid");
	port->lmc = (uint8_t)read_number(ctx, name, n, "lid_mask_count");
	port->sm_sl = (uint8_t)read_number(ctx, name, n, "sm_sl");
	port->cap_mask = read_number(ctx, name, n, "cap_mask");
	if (host_try_read(ctx, &rate, PORT "rate", name, n) == 0)
		rdma_parse_rate(rate, port);
	/* Kernels before 2.6.37 supported only InfiniBand as link layer. */
	port->infiniband = host_try_read(ctx, &layer, PORT "link_layer", name, n) < 0 ||
		str_eq(layer, "InfiniBand");
	r = read_table(ctx, name, port, "gids", read_gid);
	return r < 0 ? r : read_table(ctx, name, port, "pkeys", read_pkey);
}

static int read_ports(struct vfctl_ctx *ctx, struct vfctl_rdma_device *d)
{
	_strv_ char **names = NULL;
	uint32_t number;
	int r = 0;

	if (host_try_list(ctx, &names, IB "ports", d->name) < 0)
		return 0;
	for (size_t i = 0; r == 0 && names[i]; i++) {
		if (parse_u32(names[i], 1, UINT8_MAX, &number) < 0)
			continue;
		if (!array_grow(d->ports, d->port_count))
			return -ENOMEM;
		d->ports[d->port_count].number = (uint8_t)number;
		r = read_port(ctx, d->name, &d->ports[d->port_count++]);
	}
	return r;
}

static void read_device(struct vfctl_ctx *ctx, struct vfctl_rdma_device *d)
{
	_free_ char *address = NULL;
	char revision[16] = "";
	uint64_t value;

	read_text(ctx, d->name, "hca_type", d->ca_type, sizeof(d->ca_type));
	read_text(ctx, d->name, "fw_ver", d->firmware, sizeof(d->firmware));
	read_text(ctx, d->name, "board_id", d->board, sizeof(d->board));
	read_text(ctx, d->name, "hw_rev", revision, sizeof(revision));
	if (parse_hex(revision, UINT32_MAX, &value) == 0)
		d->hw_rev = (uint32_t)value;
	d->node_guid = read_guid(ctx, d->name, "node_guid");
	d->system_image_guid = read_guid(ctx, d->name, "sys_image_guid");
	if (host_try_link_name(ctx, &address, IB "device", d->name) < 0)
		return;
	d->has_bdf = vfctl_bdf_parse(address, &d->bdf) == 0;
	d->is_vf = d->has_bdf && host_exists(ctx, IB "device/physfn", d->name);
	if (d->has_bdf)
		pci_driver(ctx, &d->bdf, d->driver);
}

int vfctl_rdma_read(struct vfctl_ctx *ctx, const char *name,
	struct vfctl_rdma_device **ret_device)
{
	_cleanup_(vfctl_rdma_freep) struct vfctl_rdma_device *d = calloc(1, sizeof(*d));
	struct host *h = host_of(ctx);

	if (!d || !h)
		return ctx_oom(ctx);
	/* The name becomes part of paths. */
	if (strchr(name, '/') || name[0] == '.' || !str_copy(d->name, sizeof(d->name), name) ||
		!host_exists(ctx, IB "node_guid", name))
		return ctx_usage_error(ctx, -ENOENT, "RDMA device '%s' not found (ls "
			"/sys/class/infiniband shows the devices)", name);
	read_device(ctx, d);
	if (read_ports(ctx, d) < 0)
		return ctx_oom(ctx);
	/* libibverbs always reads the running kernel, not a captured tree. */
	if (h->root_fd < 0 && !h->ops->read_only)
		rdma_read_verbs(ctx, d);
	*ret_device = steal(d);
	return 0;
}

void vfctl_rdma_free(struct vfctl_rdma_device *device)
{
	if (!device)
		return;
	for (size_t i = 0; i < device->port_count; i++) {
		free(device->ports[i].gids);
		free(device->ports[i].pkeys);
	}
	free(device->ports);
	free(device);
}
