// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ConnectX-3: the PF's driver manages the ports of its VFs. Below the PF's RDMA device
 * (drivers/infiniband/hw/mlx4/sysfs.c):
 *	iov/ports/P/admin_guids/G	the requested alias GUID: 0 lets the SM choose
 *	iov/ports/P/gids/G		prefix and GUID as the SM accepted them
 *	iov/FUNCTION/ports/P/gid_idx/0	the G of a function
 *	iov/FUNCTION/ports/P/pkey_idx/0	which entry of ports/P/pkeys is its first P_Key
 * FUNCTION looks like a PCI address, but is not one: the first 8 characters of the PF's, then the
 * function's number (0 is the PF, VF n is n + 1) as slot and function by eights. A VF has no node
 * GUID of its own to set.
 */
#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "drivers/driver.h"
#include "host/host.h"
#include "infiniband/vf.h"

#define IB "/sys/class/infiniband/%s/"
#define PKEYS_MAX 128

static bool present_mlx4(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	return driver_has(pf->driver, DRIVER_VF_GUIDS_IN_SYSFS) && pf->rdma[0];
}

static char *function_name(const struct vfctl_pf *pf, uint32_t vf, char buf[24])
{
	char text[VFCTL_BDF_TEXT];

	snprintf(buf, 24, "%.8s%02u.%u", vfctl_bdf_format(&pf->bdf, text), (vf + 1) / 8,
		(vf + 1) % 8);
	return buf;
}

/* The port of the VFs: the first one with an InfiniBand link. */
static unsigned port_of(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	for (unsigned port = 1; port <= 2; port++) {
		_free_ char *layer = NULL;

		if (host_try_read(ctx, &layer, IB "ports/%u/link_layer", pf->rdma, port) == 0 &&
			str_eq(layer, "InfiniBand"))
			return port;
	}
	return 1;
}

/* The VF's index in the port's table of GUIDs. */
static int gid_index(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
	unsigned port, uint32_t *ret)
{
	char name[24];
	_free_ char *text = NULL;
	int r = host_read(ctx, &text, IB "iov/%s/ports/%u/gid_idx/0", pf->rdma,
		function_name(pf, vf, name), port);

	if (r == 0 && parse_u32(text, 0, 127, ret) < 0)
		r = ctx_fail(ctx, -EIO, "%s: the GID index of %s is '%s'", pf->rdma, name, text);
	return r;
}

/* ---- P_Keys ---- */

static int pkey_at(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, unsigned port,
	uint32_t index, uint16_t *ret)
{
	_free_ char *text = NULL;
	uint64_t value;
	int r = host_try_read(ctx, &text, IB "ports/%u/pkeys/%u", pf->rdma, port, index);

	if (r == 0)
		r = parse_hex(text, UINT16_MAX, &value);
	if (r == 0)
		*ret = (uint16_t)value;
	return r;
}

static int find_pkey(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, unsigned port,
	uint16_t pkey, uint32_t *ret_index)
{
	char text[VFCTL_PKEY_TEXT];
	uint16_t at;

	for (uint32_t i = 0; i < PKEYS_MAX && pkey_at(ctx, pf, port, i, &at) == 0; i++)
		if (at == pkey) {
			*ret_index = i;
			return 0;
		}
	return ctx_fail(ctx, -ENOENT, "port %u of %s is not a member of P_Key %s, so its VFs cannot be: "
		"add the PF's port GUID to that partition in the subnet manager",
		port, pf->rdma, vfctl_pkey_format(pkey, text));
}

static int write_pkey(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
	unsigned port, uint16_t pkey)
{
	char name[24], text[12];
	uint32_t index = 0;
	int r = find_pkey(ctx, pf, port, pkey, &index);

	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "%u", index);
	return host_write(ctx, text, IB "iov/%s/ports/%u/pkey_idx/0", pf->rdma,
		function_name(pf, vf, name), port);
}

static void read_pkey(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
	unsigned port, struct vfctl_vf_attrs *io)
{
	_free_ char *text = NULL;
	char name[24];
	uint32_t index = 0;

	if (host_try_read(ctx, &text, IB "iov/%s/ports/%u/pkey_idx/0", pf->rdma,
			function_name(pf, vf, name), port) == 0 &&
		parse_u32(text, 0, PKEYS_MAX - 1, &index) == 0 && /* "none" is not a number */
		pkey_at(ctx, pf, port, index, &io->pkey) == 0)
		io->mask |= VFCTL_ATTR_PKEY;
}

/* ---- the row ---- */

static void read_vf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
	struct vfctl_vf_attrs *io)
{
	unsigned port = port_of(ctx, pf);
	_free_ char *text = NULL;
	uint32_t index = 0;

	io->mask &= ~(uint32_t)VFCTL_ATTR_GUIDS;
	if (gid_index(ctx, pf, vf, port, &index) < 0) {
		ctx_clear(ctx);
		return;
	}
	/* Printed with %llx: leading zeros are missing. */
	if (host_try_read(ctx, &text, IB "iov/ports/%u/admin_guids/%u", pf->rdma, port, index) ==
			0 &&
		parse_hex(text, UINT64_MAX, &io->port_guid) == 0)
		io->mask |= VFCTL_ATTR_PORT_GUID;
	read_pkey(ctx, pf, vf, port, io);
}

/*
 * Entry 0 belongs to the PF: the kernel accepts and ignores a write to it, so a VF that claims it
 * is a bug of vfctl or of the driver.
 */
static int write_guid(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
	unsigned port, uint64_t guid)
{
	char text[20], name[24];
	uint32_t index = 0;
	int r = gid_index(ctx, pf, vf, port, &index);

	if (r < 0)
		return r;
	if (index == 0)
		return ctx_fail(ctx, -EINVAL, "%s: %s has GID index 0, which is the PF's own",
			pf->rdma, function_name(pf, vf, name));
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)guid);
	return host_write(ctx, text, IB "iov/ports/%u/admin_guids/%u", pf->rdma, port, index);
}

static int write_vf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
	const struct vfctl_vf_attrs *a)
{
	unsigned port = port_of(ctx, pf);
	int r = 0;

	if (a->mask & VFCTL_ATTR_PKEY)
		r = write_pkey(ctx, pf, vf, port, a->pkey);
	if (r == 0 && a->mask & VFCTL_ATTR_PORT_GUID)
		r = write_guid(ctx, pf, vf, port, a->port_guid);
	return r;
}

const struct ib_guid_ops ib_vf_mlx4 = {
	.name = "mlx4 alias GUIDs",
	.takes = VFCTL_ATTR_PORT_GUID | VFCTL_ATTR_PKEY,
	.lacks = VFCTL_ATTR_NODE_GUID | VFCTL_ATTR_LINK_STATE,
	.live = true, /* the PF's driver notifies the VF with an event */
	.present = present_mlx4,
	.read = read_vf,
	.write = write_vf,
};
