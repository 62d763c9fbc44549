// SPDX-License-Identifier: GPL-2.0-or-later
/* The position of a function: its root complex, and its port of the card. */
#include <stdio.h>

#include "base/parse.h"
#include "host/host.h"
#include "pci/device.h"

#define CLASS_NETWORK 0x02

size_t pci_path(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct vfctl_bdf *ret)
{
	_free_ char *target = NULL;
	char *save = NULL;
	size_t count = 0;

	if (host_try_link(ctx, &target, PCI_SYSFS "%s", TEXT(bdf)) < 0)
		return 0;
	/* ../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0 */
	for (char *part = strtok_r(target, "/", &save); part && count < PCI_PATH_MAX;
		part = strtok_r(NULL, "/", &save))
		count += vfctl_bdf_parse(part, &ret[count]) == 0;
	return count;
}

/*
 * Behind a switch's upstream port each path has one downstream port, then the function: a longer
 * path passes a second switch.
 */
enum vfctl_pci_distance pci_path_distance(const struct vfctl_bdf *a, size_t a_count,
	const struct vfctl_bdf *b, size_t b_count)
{
	size_t common = 0;

	while (common < a_count && common < b_count && vfctl_bdf_compare(&a[common], &b[common]) == 0)
		common++;
	if (!common)
		return VFCTL_PCI_DISTANCE_UNKNOWN;
	return a_count - common <= 2 && b_count - common <= 2 ? VFCTL_PCI_PIX : VFCTL_PCI_PXB;
}

uint32_t pci_root(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	_free_ char *target = NULL;
	char domain[8] = "", bus[4] = "";
	uint64_t d, b;
	const char *at;

	/* ../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0 */
	if (host_try_link(ctx, &target, PCI_SYSFS "%s", TEXT(bdf)) < 0)
		return PCI_ROOT_UNKNOWN;
	at = strstr(target, "/pci");
	if (!at || sscanf(at, "/pci%7[0-9a-f]:%3[0-9a-f]/", domain, bus) != 2 ||
		parse_hex(domain, (UINT32_MAX >> 8) - 1, &d) < 0 ||
		parse_hex(bus, 0xff, &b) < 0)
		return PCI_ROOT_UNKNOWN;
	return (uint32_t)(d << 8 | b);
}

static uint32_t mlx4_port(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf)
{
	_strv_ char **names = NULL;
	_free_ char *text = NULL, *dir = NULL;
	uint32_t port;

	if (pci_netdevs(ctx, pf, &names, &dir) < 0 || strv_len(names) != 1 ||
		host_try_read(ctx, &text, "%s/%s/dev_port", dir, names[0]) < 0 ||
		parse_u32(text, 0, 255, &port) < 0)
		return 0;
	return port + 1; /* dev_port counts from 0 (ABI/testing/sysfs-class-net) */
}

uint32_t pci_port(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf)
{
	char driver[PCI_DRIVER_NAME];

	if (pci_read_hex(ctx, pf, "class") >> 16 != CLASS_NETWORK ||
		pci_driver(ctx, pf, driver) < 0)
		return 0;
	return str_starts(driver, "mlx4") ? mlx4_port(ctx, pf) : pf->function + 1u;
}
