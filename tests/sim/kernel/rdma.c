// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RDMA devices in sysfs (drivers/infiniband/core/sysfs.c), MLNX_OFED's sriov/N files and
 * mlx4's iov tree.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "sim.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define DEV "/sys/bus/pci/devices/%s"
#define IB "/sys/class/infiniband/%s"

static void put_guid(struct host *h, uint64_t guid, const char *path)
{
	char text[24];

	snprintf(text, sizeof(text), "%04x:%04x:%04x:%04x\n", (unsigned)(guid >> 48) & 0xffff,
		(unsigned)(guid >> 32) & 0xffff, (unsigned)(guid >> 16) & 0xffff,
		(unsigned)guid & 0xffff);
	sim_put(h, text, "%s", path);
}

static void put_gid(struct host *h, uint64_t guid, const char *path)
{
	char text[48];

	snprintf(text, sizeof(text), "fe80:0000:0000:0000:%04x:%04x:%04x:%04x\n",
		(unsigned)(guid >> 48) & 0xffff, (unsigned)(guid >> 32) & 0xffff,
		(unsigned)(guid >> 16) & 0xffff, (unsigned)guid & 0xffff);
	sim_put(h, text, "%s", path);
}

/* The device below a function, and its link below /sys/class. */
static void put_device(struct host *h, const char *bdf, const char *name, uint64_t node,
	uint64_t port, bool infiniband)
{
	_free_ char *target = str_format("../../devices/sim/%s/infiniband/%s", bdf, name);
	_free_ char *function = str_format("../../../%s", bdf);
	char path[160];

	snprintf(path, sizeof(path), DEV "/infiniband/%s/node_guid", bdf, name);
	put_guid(h, node, path);
	snprintf(path, sizeof(path), DEV "/infiniband/%s/ports/1/gids/0", bdf, name);
	put_gid(h, port, path);
	sim_put(h, infiniband ? "InfiniBand\n" : "Ethernet\n",
		DEV "/infiniband/%s/ports/1/link_layer", bdf, name);
	sim_put_link(h, target, IB, name);
	sim_put_link(h, function, IB "/device", name);
}

/*
 * The name of a function in mlx4's directories: its number as slot and function, in units of eight.
 */
static void put_mlx4_function(struct host *h, const struct sim_pf *pf, const char *bdf,
	unsigned number)
{
	char path[160];

	snprintf(path, sizeof(path), IB "/iov/%.8s%02u.%u/ports/1", pf->rdma, bdf, number / 8,
		number % 8);
	{
		char index[8];

		snprintf(index, sizeof(index), "%u\n", number);
		sim_put(h, index, "%s/gid_idx/0", path);
	}
	sim_put(h, "0\n", "%s/pkey_idx/0", path);
}

void sim_rdma_add_pf(struct host *h, const struct vfctl_bdf *bdf, const char *state,
	const char *phys)
{
	struct sim_pf pf;
	const char *text = TEXT(bdf);
	bool active = str_eq(state, "ACTIVE"), up = str_eq(phys, "LinkUp");
	uint64_t guid = sim_pf_guid(bdf);

	if (sim_pf_read(h, bdf, &pf) < 0 || !pf.rdma[0])
		return;
	put_device(h, text, pf.rdma, guid, guid, pf.infiniband);
	{
		_free_ char *path = str_format(IB "/sys_image_guid", pf.rdma);

		put_guid(h, guid, path);
	}
	sim_put(h, "20.40.1000\n", IB "/fw_ver", pf.rdma);
	sim_put(h, "MT4123\n", IB "/hca_type", pf.rdma);
	sim_put(h, "0\n", IB "/hw_rev", pf.rdma);
	sim_put(h, "MT_0000000224\n", IB "/board_id", pf.rdma);
	sim_put(h, "1: CA\n", IB "/node_type", pf.rdma);
	sim_put(h, active ? "4: ACTIVE\n" : str_eq(state, "INIT") ? "2: INIT\n" : "1: DOWN\n",
		IB "/ports/1/state", pf.rdma);
	sim_put(h, up ? "5: LinkUp\n" : str_eq(phys, "Polling") ? "2: Polling\n" : "3: Disabled\n",
		IB "/ports/1/phys_state", pf.rdma);
	sim_put(h, up ? "200 Gb/sec (4X HDR)\n" : "10 Gb/sec (4X SDR)\n", IB "/ports/1/rate",
		pf.rdma);
	sim_put(h, active ? "0x5\n" : "0xffff\n", IB "/ports/1/lid", pf.rdma);
	sim_put(h, active ? "0xa\n" : "0x0\n", IB "/ports/1/sm_lid", pf.rdma);
	sim_put(h, "0\n", IB "/ports/1/lid_mask_count", pf.rdma);
	sim_put(h, "0\n", IB "/ports/1/sm_sl", pf.rdma);
	sim_put(h, "0xa651e848\n", IB "/ports/1/cap_mask", pf.rdma);
	sim_put(h, "0xffff\n", IB "/ports/1/pkeys/0", pf.rdma);
	sim_put(h, "0x8010\n", IB "/ports/1/pkeys/1", pf.rdma);
	sim_put(h, "0x0011\n", IB "/ports/1/pkeys/2", pf.rdma);
	sim_put(h, "0x0000\n", IB "/ports/1/pkeys/3", pf.rdma);
	if (pf.ofed)
		sim_put(h, "0\n", DEV "/sriov/num_vfs", text);
}

static const char *const policies[] = {"Follow", "Up", "Down"};

/* A VF comes into being. */
void sim_rdma_add_vf(struct host *h, const struct sim_pf *pf, unsigned index)
{
	const char *pf_text = TEXT(&pf->bdf);
	char path[160];

	if (pf->ofed) {
		sim_put(h, "00:00:00:00:00:00:00:00\n", DEV "/sriov/%u/node", pf_text, index);
		sim_put(h, "00:00:00:00:00:00:00:00\n", DEV "/sriov/%u/port", pf_text, index);
		sim_put(h, "Follow\n", DEV "/sriov/%u/policy", pf_text, index);
	}
	if (pf->mlx4) {
		put_mlx4_function(h, pf, pf_text, index + 1);
		sim_put(h, "200000000000001\n", IB "/iov/ports/1/admin_guids/%u", pf->rdma,
			index + 1);
		snprintf(path, sizeof(path), IB "/iov/ports/1/gids/%u", pf->rdma, index + 1);
		put_gid(h, UINT64_C(0x0200000000000001), path);
	}
}

void sim_rdma_drop_vf(struct host *h, const struct sim_pf *pf, unsigned index)
{
	sim_remove(h, DEV "/sriov/%u", TEXT(&pf->bdf), index);
}

/* A driver of this host probes a VF: it reads the GUIDs that are set at that time. */
void sim_rdma_attach(struct host *h, const struct sim_pf *pf, const char *vf_bdf,
	unsigned index)
{
	struct sim_vf vf;
	char name[64];

	if (!pf->rdma[0] || sim_vf_read(h, &pf->bdf, index, &vf) < 0)
		return;
	/* RoCE: the e-switch makes the node GUID from the admin MAC (node_guid_gen_from_mac). */
	if (!pf->infiniband && (vf.mac[0] | vf.mac[1] | vf.mac[2] | vf.mac[5]))
		vf.node_guid = (uint64_t)vf.mac[0] << 56 | (uint64_t)vf.mac[1] << 48 |
			(uint64_t)vf.mac[2] << 40 | UINT64_C(0xfffe000000) |
			(uint64_t)vf.mac[3] << 16 | (uint64_t)vf.mac[4] << 8 | vf.mac[5];
	if (sim_has(h, "/.sim/stale_guid")) /* firmware that did not take it */
		vf.node_guid = 0;
	snprintf(name, sizeof(name), "%.40sv%u", pf->rdma, index);
	put_device(h, vf_bdf, name, vf.node_guid, vf.port_guid, pf->infiniband);
}

void sim_rdma_detach(struct host *h, const char *vf_bdf)
{
	_strv_ char **names = NULL;
	char path[64];

	snprintf(path, sizeof(path), DEV "/infiniband", vf_bdf);
	if (files_list(h, path, &names) < 0)
		return;
	for (size_t i = 0; names[i]; i++)
		sim_remove(h, IB, names[i]);
	sim_remove(h, DEV "/infiniband", vf_bdf);
}

/* ---- writes ---- */

/* Exactly eight bytes with colons (mlx5/core/sriov_sysfs.c of MLNX_OFED). */
static int parse_ofed_guid(const char *text, uint64_t *ret)
{
	unsigned b[8];
	int n = 0;

	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x:%2x:%2x%n", b, b + 1, b + 2, b + 3, b + 4,
		b + 5, b + 6, b + 7, &n) != 8 || (text[n] && text[n] != '\n'))
		return -EINVAL;
	*ret = 0;
	for (int i = 0; i < 8; i++)
		*ret = *ret << 8 | b[i];
	return 0;
}

int sim_ofed_write(struct host *h, const char *pf_bdf, const char *attr, const char *text)
{
	struct vfctl_bdf bdf;
	struct sim_vf vf;
	unsigned index;
	char file[16];
	int r = 0;

	if (sscanf(attr, "sriov/%u/%15s", &index, file) != 2 ||
		!sim_has(h, DEV "/%s", pf_bdf, attr) || vfctl_bdf_parse(pf_bdf, &bdf) < 0 ||
		sim_vf_read(h, &bdf, index, &vf) < 0)
		return -ENOENT;
	if (sim_has(h, "/.sim/refuse_write/%s", file))
		return -EIO;
	if (str_eq(file, "node"))
		r = parse_ofed_guid(text, &vf.node_guid);
	else if (str_eq(file, "port"))
		r = parse_ofed_guid(text, &vf.port_guid);
	else {
		vf.link_state = UINT32_MAX;
		for (unsigned i = 0; i < ARRAY_SIZE(policies); i++)
			if (str_eq(text, policies[i]))
				vf.link_state = i;
		r = vf.link_state == UINT32_MAX ? -EINVAL : 0;
	}
	if (r < 0)
		return r;
	sim_vf_write(h, &bdf, index, &vf);
	return sim_put(h, text, DEV "/%s", pf_bdf, attr);
}

/* Junk is not rejected (sscanf %llx), and entry 0 is accepted and ignored. */
static int write_admin_guid(struct host *h, const char *device, unsigned index,
	const char *text)
{
	unsigned long long guid = 0;
	char value[24], path[160];

	sscanf(text, "%llx", &guid);
	if (!index)
		return 0;
	snprintf(value, sizeof(value), "%llx\n", guid);
	sim_put(h, value, IB "/iov/ports/1/admin_guids/%u", device, index);
	snprintf(path, sizeof(path), IB "/iov/ports/1/gids/%u", device, index);
	put_gid(h, guid, path);
	/* A VF on the host hears of it by an event. */
	if (sim_has(h, IB "v%u", device, index - 1)) {
		snprintf(path, sizeof(path), IB "v%u/ports/1/gids/0", device, index - 1);
		put_gid(h, guid, path);
	}
	return 0;
}

int sim_mlx4_write(struct host *h, const char *path, const char *text)
{
	char device[64], function[32];
	unsigned index, port;
	uint32_t value;

	if (!sim_has(h, "%s", path))
		return -ENOENT;
	if (sscanf(path, "/sys/class/infiniband/%63[^/]/iov/ports/%u/admin_guids/%u", device,
		&port, &index) == 3)
		return write_admin_guid(h, device, index, text);
	if (sscanf(path, "/sys/class/infiniband/%63[^/]/iov/%31[^/]/ports/%u/pkey_idx/%u", device,
		function, &port, &index) != 4)
		return -EACCES;
	if (str_starts(text, "no"))
		return sim_put(h, "none\n", "%s", path);
	if (parse_u32(text, 0, 127, &value) < 0 || str_eq(function + 8, "00.0"))
		return -EINVAL;
	return sim_put(h, text, "%s", path);
}
