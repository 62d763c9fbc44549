// SPDX-License-Identifier: GPL-2.0-or-later
/* Reactions to writes below /sys/bus/pci (drivers/pci/iov.c, drivers/base/bus.c). */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define DEV "/sys/bus/pci/devices/%s"

static unsigned get_number(struct host *h, const char *bdf, const char *attr)
{
	_free_ char *text = sim_get(h, DEV "/%s", bdf, attr);

	return text ? (unsigned)strtoul(text, NULL, 0) : 0;
}

static char *get_driver(struct host *h, const char *bdf)
{
	char path[64];
	_free_ char *target = NULL;
	const char *slash;

	snprintf(path, sizeof(path), DEV "/driver", bdf);
	if (files_readlink(h, path, &target) < 0)
		return NULL;
	slash = strrchr(target, '/');
	return strdup(slash ? slash + 1 : target);
}

static char *get_pf_of(struct host *h, const char *bdf)
{
	char path[64];
	char *target = NULL;

	snprintf(path, sizeof(path), DEV "/physfn", bdf);
	if (files_readlink(h, path, &target) < 0)
		return NULL;
	memmove(target, strrchr(target, '/') + 1, strlen(strrchr(target, '/')));
	return target;
}

static unsigned rid_of(const struct vfctl_bdf *bdf)
{
	return (unsigned)bdf->bus << 8 | (unsigned)bdf->slot << 3 | bdf->function;
}

static unsigned vf_index_of(const struct sim_pf *pf, const char *text)
{
	struct vfctl_bdf bdf;

	if (vfctl_bdf_parse(text, &bdf) < 0 || !pf->stride)
		return 0;
	return (rid_of(&bdf) - rid_of(&pf->bdf) - pf->offset) / pf->stride;
}

/* ---- drivers ---- */

/*
 * The PF's answer to the driver, or one that it makes up: when there is none, and as often as
 * .sim/deaf/BDF says because the PF "is still in reset".
 */
static void put_address(struct host *h, const char *bdf, const char *name,
	const struct sim_pf *pf)
{
	_free_ char *deaf = sim_get(h, "/.sim/deaf/%s", bdf);
	int left = deaf ? atoi(deaf) : 0;
	struct sim_vf vf = {0};
	struct vfctl_mac mac = {{0xf2, 0xde, 0xaf, 0, 0, (uint8_t)left}};
	char text[VFCTL_MAC_TEXT];

	if (left > 0) {
		_free_ char *less = str_format("%d", left - 1);

		sim_put(h, less, "/.sim/deaf/%s", bdf);
	} else if (sim_vf_read(h, &pf->bdf, vf_index_of(pf, bdf), &vf) == 0 &&
		memcmp(vf.mac, "\0\0\0\0\0", 6) != 0) {
		memcpy(mac.byte, vf.mac, 6);
	}
	sim_put(h, vfctl_mac_format(&mac, text), DEV "/net/%.15s/address", bdf, name);
}

/* A network driver makes a network device. */
static void put_netdev(struct host *h, const char *bdf, const struct sim_pf *pf)
{
	_free_ char *device = str_format("../../../%s", bdf), *target = NULL;
	char name[40];

	snprintf(name, sizeof(name), "%.9sv%s", pf->netdev, bdf + strlen(bdf) - 4);
	name[strcspn(name, ".")] = '_';
	sim_put(h, "1500\n", DEV "/net/%.15s/mtu", bdf, name);
	sim_put_link(h, device, DEV "/net/%.15s/device", bdf, name);
	put_address(h, bdf, name, pf);
	target = str_format("../../devices/sim/%s/net/%.15s", bdf, name);
	sim_put_link(h, target, "/sys/class/net/%.15s", name);
}

static void remove_netdevs(struct host *h, const char *bdf)
{
	_free_ char *dir = str_format("%s" DEV "/net", h->root, bdf);
	struct host plain = {.root_fd = -1};
	_strv_ char **names = NULL;

	if (dir && files_list(&plain, dir, &names) == 0)
		for (size_t i = 0; names[i]; i++)
			sim_remove(h, "/sys/class/net/%s", names[i]);
	sim_remove(h, DEV "/net", bdf);
}

static int attach(struct host *h, const char *bdf, const char *driver)
{
	_free_ char *target = str_format("../../../bus/pci/drivers/%s", driver);
	_free_ char *pf_text = get_pf_of(h, bdf);
	struct vfctl_bdf pf_bdf;
	struct sim_pf pf;

	if (strstr(driver, "vfio") && !sim_has(h, DEV "/iommu_group", bdf))
		return -EINVAL;
	if (sim_has(h, "/.sim/refuse/%s", driver)) /* a driver whose probe fails */
		return -EIO;
	sim_put_link(h, target, DEV "/driver", bdf);
	sim_put_link(h, str_eq(driver, "vfio-pci") ? "vfio" : "dev",
		"/sys/bus/pci/drivers/%s/%s", driver, bdf);
	if (!pf_text || strstr(driver, "vfio") || vfctl_bdf_parse(pf_text, &pf_bdf) < 0 ||
		sim_pf_read(h, &pf_bdf, &pf) < 0)
		return 0;
	sim_rdma_attach(h, &pf, bdf, vf_index_of(&pf, bdf));
	if (!pf.netdev[0])
		return 0;
	put_netdev(h, bdf, &pf);
	return 0;
}

static void detach(struct host *h, const char *bdf, const char *driver)
{
	sim_remove(h, DEV "/driver", bdf);
	sim_rdma_detach(h, bdf);
	remove_netdevs(h, bdf);
	sim_remove(h, "/sys/bus/pci/drivers/%s/%s", driver, bdf);
}

/* pci_device_can_probe(): a VF with autoprobe off takes a driver by override only. */
static int probe(struct host *h, const char *bdf)
{
	_free_ char *driver = get_driver(h, bdf);
	_free_ char *override = sim_get(h, DEV "/driver_override", bdf);
	_free_ char *pf_text = get_pf_of(h, bdf);
	struct vfctl_bdf pf_bdf;
	struct sim_pf pf;

	if (driver)
		return 0;
	if (override && *override && !str_eq(override, "(null)")) {
		if (!sim_has(h, "/sys/bus/pci/drivers/%s", override))
			return 0; /* success, and nothing bound */
		return attach(h, bdf, override) == 0 ? 0 : -EINVAL;
	}
	if (!pf_text || vfctl_bdf_parse(pf_text, &pf_bdf) < 0 ||
		sim_pf_read(h, &pf_bdf, &pf) < 0)
		return 0;
	if (!get_number(h, pf_text, "sriov_drivers_autoprobe") || !pf.vf_driver[0] ||
		sim_has(h, "/.sim/unloaded/%s", pf.vf_driver))
		return 0;
	attach(h, bdf, pf.vf_driver);
	return 0;
}

static int write_probe(struct host *h, const char *text)
{
	char bdf[32];

	if (sscanf(text, "%31s", bdf) != 1 || !sim_has(h, DEV, bdf))
		return -ENODEV;
	return probe(h, bdf);
}

/*
 * /.sim/probes/BDF holds N: at the next N attempts to unbind, the driver only had the device while it
 * probed it. The link is gone by then and, but for the last, back for the next.
 */
static bool probe_has_failed(struct host *h, const char *bdf, const char *driver)
{
	_free_ char *text = sim_get(h, "/.sim/probes/%s", bdf), *rest = NULL;
	int left = text ? atoi(text) : 0;

	if (left == 1)
		detach(h, bdf, driver);
	rest = str_format("%d", left - 1);
	return left > 0 && sim_put(h, rest, "/.sim/probes/%s", bdf) == 0;
}

static int write_unbind(struct host *h, const char *bdf, const char *text, unsigned ms)
{
	_free_ char *driver = get_driver(h, bdf);

	if (driver && probe_has_failed(h, bdf, driver))
		return -ENOENT;
	if (!driver || !str_starts(text, bdf))
		return -ENODEV;
	if (sim_has(h, "/.sim/open/%s", bdf)) /* waits until it is closed */
		return ms ? -ETIMEDOUT : -EDEADLK;
	detach(h, bdf, driver);
	return 0;
}

/* reset_store(): it resets an open device too, so vfctl must not call it then. */
static int write_reset(struct host *h, const char *bdf, const char *text)
{
	_free_ char *times = sim_get(h, "/.sim/resets/%s", bdf), *more = NULL;

	if (!sim_has(h, DEV "/reset", bdf))
		return -ENOENT;
	if (!str_eq(text, "1"))
		return -EINVAL;
	if (sim_has(h, "/.sim/stuck/%s", bdf)) /* it does not come back from its reset */
		return -ENOTTY;
	more = str_format("%d", times ? atoi(times) + 1 : 1);
	return sim_put(h, more, "/.sim/resets/%s", bdf);
}

static int write_override(struct host *h, const char *bdf, const char *text)
{
	size_t len = strlen(text);

	if (len >= 4095)
		return -EINVAL;
	if (len == 0 || str_eq(text, "\n"))
		return sim_put(h, "(null)\n", DEV "/driver_override", bdf);
	return sim_put(h, text, DEV "/driver_override", bdf);
}

/* ---- SR-IOV ---- */

static void vf_bdf_of(const struct sim_pf *pf, unsigned index, struct vfctl_bdf *ret)
{
	unsigned rid = rid_of(&pf->bdf);

	rid += pf->offset + pf->stride * index;
	*ret = (struct vfctl_bdf){.domain = pf->bdf.domain, .bus = (uint8_t)(rid >> 8),
		.slot = (uint8_t)(rid >> 3 & 31), .function = (uint8_t)(rid & 7)};
}

static void add_group(struct host *h, const char *bdf)
{
	_free_ char *text = sim_get(h, "/.sim/next_group");
	unsigned group = text ? (unsigned)atoi(text) : 1;
	char number[16];

	if (!sim_has(h, "/.sim/iommu"))
		return;
	/* Without ACS all functions behind a port share one group. */
	if (sim_has(h, "/.sim/shared_group"))
		group = 99;
	snprintf(number, sizeof(number), "%u", group + 1);
	sim_put(h, number, "/.sim/next_group");
	snprintf(number, sizeof(number), "%u", group);
	{
		_free_ char *target = str_format("../../../kernel/iommu_groups/%u", group);

		sim_put_link(h, target, DEV "/iommu_group", bdf);
	}
	sim_put_link(h, "dev", "/sys/kernel/iommu_groups/%u/devices/%s", group, bdf);
}

/* An MSI-X capability alone, of a table of @vectors; 0: as many as VFs of the PF have by default. */
static void put_vectors(struct host *h, const char *pf, const char *vf, unsigned vectors)
{
	_free_ char *text = sim_get(h, "/.sim/msix/%s", pf);
	unsigned count = vectors ? vectors : text ? (unsigned)atoi(text) : 0;
	uint8_t config[256] = {[0x34] = 0x60, [0x60] = 0x11};

	if (!text || !*text)
		return;
	config[0x62] = (uint8_t)(count - 1);
	config[0x63] = (uint8_t)((count - 1) >> 8);
	sim_put_bytes(h, config, sizeof(config), DEV "/config", vf);
}

static void add_vf(struct host *h, const struct sim_pf *pf, unsigned index)
{
	const char *pf_text = TEXT(&pf->bdf);
	_free_ char *vendor = sim_get(h, DEV "/vendor", pf_text);
	_free_ char *device = sim_get(h, DEV "/sriov_vf_device", pf_text);
	_free_ char *node = sim_get(h, DEV "/numa_node", pf_text);
	_free_ char *class = sim_get(h, DEV "/class", pf_text);
	struct sim_vf state = {.proto = 0x0081, .spoofchk = 1};
	struct vfctl_bdf bdf;
	char *vf;
	_free_ char *up = NULL, *down = NULL, *dev = NULL, *reset = NULL;

	vf_bdf_of(pf, index, &bdf);
	vf = TEXT(&bdf);
	sim_put(h, vendor ? vendor : "", "/sys/devices/sim/%s/vendor", vf);
	dev = str_format("../../../devices/sim/%s", vf);
	sim_put_link(h, dev, DEV, vf);
	sim_put(h, device ? device : "", DEV "/device", vf);
	sim_put(h, class ? class : "", DEV "/class", vf);
	sim_put(h, node ? node : "-1", DEV "/numa_node", vf);
	sim_put(h, "(null)\n", DEV "/driver_override", vf);
	sim_put(h, "0\n", DEV "/enable", vf);
	reset = sim_get(h, "/.sim/reset/%s", pf_text);
	if (reset) {
		sim_put(h, reset, DEV "/reset_method", vf);
		sim_put(h, "", DEV "/reset", vf);
	}
	if (pf->infiniband || sim_has(h, "/.sim/msix/%s", pf_text))
		sim_put(h, "", DEV "/sriov_vf_msix_count", vf);
	put_vectors(h, pf_text, vf, 0);
	up = str_format("../%s", pf_text);
	sim_put_link(h, up, DEV "/physfn", vf);
	down = str_format("../%s", vf);
	sim_put_link(h, down, DEV "/virtfn%u", pf_text, index);
	add_group(h, vf);
	sim_vf_write(h, &pf->bdf, index, &state);
	sim_rdma_add_vf(h, pf, index);
	sim_representor_add(h, pf, index);
	if (get_number(h, pf_text, "sriov_drivers_autoprobe"))
		probe(h, vf);
}

/* The group goes with its last device. */
static void leave_group(struct host *h, const char *group, const char *bdf)
{
	_free_ char *devices = str_format("/sys/kernel/iommu_groups/%s/devices", group);
	_strv_ char **names = NULL;

	sim_remove(h, "%s/%s", devices, bdf);
	if (files_list(h, devices, &names) == 0 && !names[0])
		sim_remove(h, "/sys/kernel/iommu_groups/%s", group);
}

static void drop_vf(struct host *h, const struct sim_pf *pf, unsigned index)
{
	struct vfctl_bdf bdf;
	char *vf;
	_free_ char *driver = NULL, *group = NULL;
	char path[64];

	vf_bdf_of(pf, index, &bdf);
	vf = TEXT(&bdf);
	driver = get_driver(h, vf);
	if (driver)
		detach(h, vf, driver);
	snprintf(path, sizeof(path), DEV "/iommu_group", vf);
	if (files_readlink(h, path, &group) == 0)
		leave_group(h, strrchr(group, '/') + 1, vf);
	sim_remove(h, DEV "/virtfn%u", TEXT(&pf->bdf), index);
	remove_netdevs(h, vf);
	sim_remove(h, DEV, vf);
	sim_remove(h, "/sys/devices/sim/%s", vf);
	sim_remove(h, "/.sim/vf/%s.%u", TEXT(&pf->bdf), index);
	sim_rdma_drop_vf(h, pf, index);
	sim_representor_drop(h, pf, index);
}

/* Removal goes up by index and waits, with the lock held, at one that VFIO has open. */
static int disable(struct host *h, const struct sim_pf *pf, unsigned ms)
{
	for (unsigned i = 0; i < pf->num_vfs; i++) {
		struct vfctl_bdf bdf;

		vf_bdf_of(pf, i, &bdf);
		if (sim_has(h, "/.sim/open/%s", TEXT(&bdf)))
			return ms ? -ETIMEDOUT : -EDEADLK;
		drop_vf(h, pf, i);
	}
	return sim_put(h, "0\n", DEV "/sriov_numvfs", TEXT(&pf->bdf));
}

static int enable(struct host *h, const struct sim_pf *pf, unsigned count)
{
	_free_ char *planned = sim_get(h, "/.sim/numvfs_error/%s", TEXT(&pf->bdf));
	_free_ char *slow = sim_get(h, "/.sim/slow");
	unsigned made = pf->grant && pf->grant < count ? pf->grant : count;
	char number[16];

	if (planned)
		return -atoi(planned);
	for (unsigned i = 0; i < made; i++) {
		add_vf(h, pf, i);
		if (slow) {
			files_sleep(h, (unsigned)atoi(slow));
			if (h->tick)
				h->tick(h->tick_data);
		}
	}
	snprintf(number, sizeof(number), "%u\n", made);
	return sim_put(h, number, DEV "/sriov_numvfs", TEXT(&pf->bdf));
}

int sim_enable(struct host *h, const struct vfctl_bdf *bdf, unsigned count)
{
	struct sim_pf pf;
	int r = sim_pf_read(h, bdf, &pf);

	return r < 0 ? r : enable(h, &pf, count);
}

/* sriov_numvfs_store(): the checks in the kernel's order. */
static int write_numvfs(struct host *h, const char *bdf_text, const char *text, unsigned ms)
{
	_free_ char *driver = get_driver(h, bdf_text);
	struct vfctl_bdf bdf;
	struct sim_pf pf;
	unsigned long count;
	char *end;

	if (vfctl_bdf_parse(bdf_text, &bdf) < 0 || sim_pf_read(h, &bdf, &pf) < 0)
		return -ENOENT;
	count = strtoul(text, &end, 0);
	if (end == text || (*end && *end != '\n') || text[0] == '-' || count > UINT16_MAX)
		return -EINVAL;
	if (count > get_number(h, bdf_text, "sriov_totalvfs"))
		return -ERANGE;
	if (count == pf.num_vfs)
		return 0;
	if (!driver || str_eq(driver, "mlx4_core") || str_eq(driver, "vfio-pci"))
		return -ENOENT;
	if (count && pf.num_vfs)
		return -EBUSY;
	if (str_eq(driver, "bnxt_en") && !pf.up) /* bnxt_sriov_configure() */
		return 0;
	if (count == 0)
		return disable(h, &pf, ms);
	return enable(h, &pf, (unsigned)count);
}

static int write_autoprobe(struct host *h, const char *bdf, const char *text)
{
	if (!strchr("01yYnN", text[0]) || !text[0])
		return -EINVAL;
	return sim_put(h, strchr("1yY", text[0]) ? "1\n" : "0\n",
		DEV "/sriov_drivers_autoprobe", bdf);
}

static int write_msix(struct host *h, const char *bdf, const char *text)
{
	_free_ char *driver = get_driver(h, bdf), *pf = get_pf_of(h, bdf);

	if (!sim_has(h, DEV "/sriov_vf_msix_count", bdf))
		return -ENOENT;
	if (driver)
		return -EBUSY;
	if (pf && !sim_has(h, "/.sim/ignore/msix"))
		put_vectors(h, pf, bdf, (unsigned)atoi(text));
	return sim_put(h, text, DEV "/sriov_vf_msix_count", bdf);
}

/* A line more in what is kept of the PF: the last one counts. */
static int keep(struct host *h, const char *bdf, const char *key, unsigned value)
{
	_free_ char *had = sim_get(h, "/.sim/pf/%s", bdf);
	_free_ char *now = str_format("%s\n%s %u\n", had ? had : "", key, value);

	return sim_put(h, now, "/.sim/pf/%s", bdf);
}

/* The PF's own, and no representor of a VF. */
static bool is_uplink(struct host *h, const char *bdf, const char *name)
{
	struct vfctl_bdf at;
	struct sim_pf pf;

	return vfctl_bdf_parse(bdf, &at) == 0 && sim_pf_read(h, &at, &pf) == 0 && str_eq(pf.netdev, name);
}

/* /sys/class/net/NAME/mtu and flags of a PF's network device. */
int sim_store_net(struct host *h, const char *path, const char *text)
{
	char name[16], attr[16], at[64];
	_free_ char *target = NULL;
	const char *bdf;
	unsigned long value = strtoul(text, NULL, 0);

	if (sscanf(path, "/sys/class/net/%15[^/]/%15s", name, attr) != 2)
		return -ENOENT;
	snprintf(at, sizeof(at), "/sys/class/net/%s/device", name);
	if (files_readlink(h, at, &target) < 0)
		return -ENODEV;
	bdf = strrchr(target, '/') + 1;
	if (str_eq(attr, "mtu")) {
		_free_ char *mode = sim_get(h, DEV "/net/%s/mode", bdf, name);

		if (value < 68 || value > (mode && str_starts(mode, "connected") ? 65520 : 9216))
			return -EINVAL;
		sim_put(h, text, DEV "/net/%s/mtu", bdf, name);
		return keep(h, bdf, "mtu", (unsigned)value);
	}
	if (str_eq(attr, "mode") && sim_has(h, DEV "/net/%s/mode", bdf, name))
		return str_eq(text, "datagram") || str_eq(text, "connected")
			? sim_put(h, text, DEV "/net/%s/mode", bdf, name) : -EINVAL;
	if (!str_eq(attr, "flags"))
		return -EACCES;
	sim_put(h, text, DEV "/net/%s/flags", bdf, name);
	return is_uplink(h, bdf, name) ? keep(h, bdf, "up", value & 1) : 0;
}

int sim_store(struct host *h, const char *path, const char *text, unsigned ms)
{
	char bdf[32], attr[64];

	if (str_starts(path, "/proc/irq/"))
		return sim_irq_write(h, path, text);
	if (str_eq(path, "/sys/bus/pci/drivers_probe"))
		return write_probe(h, text);
	if (str_starts(path, "/sys/class/infiniband/"))
		return sim_mlx4_write(h, path, text);
	if (str_starts(path, "/sys/class/net/"))
		return sim_is_bond(h, path) ? sim_bond_write(h, path, text) : sim_store_net(h, path, text);
	if (str_starts(path, "/proc/sys/") || str_starts(path, "/sys/kernel/mm/") ||
		str_starts(path, "/sys/devices/system/node/"))
		return sim_store_value(h, path, text);
	if (sscanf(path, "/sys/bus/pci/devices/%31[^/]/%63s", bdf, attr) != 2)
		return -EACCES;
	if (!sim_has(h, DEV, bdf))
		return -ENOENT;
	if (str_eq(attr, "sriov_numvfs"))
		return write_numvfs(h, bdf, text, ms);
	if (str_eq(attr, "sriov_drivers_autoprobe"))
		return write_autoprobe(h, bdf, text);
	if (str_eq(attr, "driver_override"))
		return write_override(h, bdf, text);
	if (str_eq(attr, "driver/unbind"))
		return write_unbind(h, bdf, text, ms);
	if (str_starts(attr, "sriov/"))
		return sim_ofed_write(h, bdf, attr, text);
	if (str_eq(attr, "reset"))
		return write_reset(h, bdf, text);
	if (str_eq(attr, "sriov_vf_msix_count"))
		return write_msix(h, bdf, text);
	return sim_has(h, DEV "/%s", bdf, attr) ? -EACCES : -ENOENT;
}
