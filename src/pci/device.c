// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/device.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "host/host.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

int pci_read_int(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr,
	int missing)
{
	_free_ char *text = NULL;
	int value;

	if (host_try_read(ctx, &text, PCI_SYSFS "%s/%s", TEXT(bdf), attr) < 0 ||
		parse_int(text, INT32_MIN + 1, INT32_MAX, &value) < 0)
		return missing;
	return value;
}

uint32_t pci_read_hex(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr)
{
	_free_ char *text = NULL;
	uint64_t value;

	if (host_try_read(ctx, &text, PCI_SYSFS "%s/%s", TEXT(bdf), attr) < 0 ||
		parse_hex(text, UINT32_MAX, &value) < 0)
		return 0;
	return (uint32_t)value;
}

bool pci_exists(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	return host_exists(ctx, PCI_SYSFS "%s", TEXT(bdf));
}

bool pci_has(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr)
{
	return host_exists(ctx, PCI_SYSFS "%s/%s", TEXT(bdf), attr);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void pci_driver(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	char ret_name[PCI_DRIVER_NAME])
{
	_free_ char *target = NULL;

	ret_name[0] = '\0';
	if (host_try_link(ctx, &target, PCI_SYSFS "%s/driver", TEXT(bdf)) == 0)
		str_copy(ret_name, PCI_DRIVER_NAME, last_part(target));
}

int pci_iommu_group(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	_free_ char *target = NULL;
	int group;

	if (host_try_link(ctx, &target, PCI_SYSFS "%s/iommu_group", TEXT(bdf)) < 0 ||
		parse_int(last_part(target), 0, INT32_MAX, &group) < 0)
		return -1;
	return group;
}

int pci_iommu_sharers(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, int group,
	char **ret_names)
{
	_strv_ char **names = NULL;
	_buf_ struct buf text = {0};

	if (group >= 0 && host_try_list(ctx, &names, "/sys/kernel/iommu_groups/%d/devices",
				  group) == 0)
		for (size_t i = 0; names[i]; i++) {
			struct vfctl_bdf other;

			if (vfctl_bdf_parse(names[i], &other) < 0 ||
				vfctl_bdf_compare(bdf, &other) == 0 ||
				pci_read_hex(ctx, &other, "class") >> 16 == 0x06)
				continue;
			buf_printf(&text, "%s%s", text.len ? ", " : "", names[i]);
		}
	*ret_names = buf_steal(&text);
	return *ret_names ? 0 : ctx_oom(ctx);
}

int pci_link_function(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *link,
	struct vfctl_bdf *ret_bdf)
{
	_free_ char *target = NULL;
	int r = host_try_link(ctx, &target, PCI_SYSFS "%s/%s", TEXT(bdf), link);

	return r < 0 ? r : vfctl_bdf_parse(last_part(target), ret_bdf);
}

int pci_children(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *dir,
	char ***ret_names)
{
	return host_try_list(ctx, ret_names, PCI_SYSFS "%s/%s", TEXT(bdf), dir);
}

bool pci_driver_is_vfio(const char *driver)
{
	return strstr(driver, "vfio") != NULL;
}

int pci_unbind(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	char driver[PCI_DRIVER_NAME];

	pci_driver(ctx, bdf, driver);
	if (!driver[0])
		return 0;
	/* Taking an open device from vfio-pci waits until it is closed: with a deadline. */
	if (pci_driver_is_vfio(driver))
		return host_write_slow(ctx, TEXT(bdf), PCI_SYSFS "%s/driver/unbind", TEXT(bdf));
	return host_write(ctx, TEXT(bdf), PCI_SYSFS "%s/driver/unbind", TEXT(bdf));
}

static int need_driver(struct vfctl_ctx *ctx, const char *driver)
{
	if (host_exists(ctx, "/sys/bus/pci/drivers/%s", driver))
		return 0;
	if (host_load_module(ctx, driver) < 0 ||
		!host_exists(ctx, "/sys/bus/pci/drivers/%s", driver))
		return ctx_append(ctx, -ENOENT, "; there is no PCI driver %s on this host",
			driver);
	return 0;
}

static int probe(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *wanted)
{
	char driver[PCI_DRIVER_NAME];
	int r = host_write(ctx, TEXT(bdf), "/sys/bus/pci/drivers_probe");

	if (r < 0)
		return r;
	pci_driver(ctx, bdf, driver);
	if (wanted ? !str_eq(driver, wanted) : !driver[0])
		return ctx_fail(ctx, -ENODEV, "%s: %s did not take the function (it is on %s; "
			"dmesg says why)", TEXT(bdf), wanted ? wanted : "no driver",
			driver[0] ? driver : "no driver");
	return 0;
}

int pci_bind(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *driver)
{
	char current[PCI_DRIVER_NAME];
	int r;

	pci_driver(ctx, bdf, current);
	if (str_eq(current, driver))
		return 0;
	r = need_driver(ctx, driver);
	if (r == 0)
		r = host_write(ctx, driver, PCI_SYSFS "%s/driver_override", TEXT(bdf));
	if (r == 0)
		r = pci_unbind(ctx, bdf);
	return r < 0 ? r : probe(ctx, bdf, driver);
}

int pci_bind_default(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	char current[PCI_DRIVER_NAME];
	int r = 0;

	/* Kernels before 3.16 and some buses have no override: nothing to drop then. */
	if (pci_has(ctx, bdf, "driver_override"))
		r = host_write(ctx, "\n", PCI_SYSFS "%s/driver_override", TEXT(bdf));
	pci_driver(ctx, bdf, current);
	if (r < 0 || (current[0] && !pci_driver_is_vfio(current)))
		return r;
	r = pci_unbind(ctx, bdf);
	return r < 0 ? r : probe(ctx, bdf, NULL);
}
