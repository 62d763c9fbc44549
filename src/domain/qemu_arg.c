// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Host devices in arguments that <qemu:commandline> passes to QEMU: vfio-pci with host= or
 * sysfsdev= (hw/vfio/pci.c), vhost-vdpa with vhostdev= (net/vhost-vdpa.c), nvme:// or the driver
 * nvme with device= (block/nvme.c).
 */
#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "domain/domain.h"

/* In text, the key may follow that of the object to which it belongs: file.device=TEXT. */
static const char *after_key(const char *value, const char *key)
{
	bool json = *value == '{';
	_free_ char *mark = json ? str_format("\"%s\"", key) : str_format("%s=", key);
	const char *at = mark ? strstr(value, mark) : NULL;

	while (at && !json && at > value && at[-1] != ',' && at[-1] != '.')
		at = strstr(at + 1, mark);
	return at ? at + strlen(mark) : NULL;
}

/* The text of a property, as KEY=TEXT or "KEY": "TEXT". False: the property is missing. */
static bool find_property(const char *value, const char *key, char *ret, size_t size)
{
	bool json = *value == '{';
	const char *at = after_key(value, key);
	size_t len;

	if (!at)
		return false;
	if (json)
		at += strspn(at, " \t\n:");
	if (json && *at++ != '"')
		return false;
	len = strcspn(at, json ? "\"" : ",");
	if (len >= size)
		len = size - 1;
	memcpy(ret, at, len);
	ret[len] = '\0';
	return true;
}

/* QEMU accepts an address without domain, and numbers without leading zeros. */
static int read_host(const char *text, struct vfctl_bdf *ret)
{
	unsigned domain = 0, bus, slot, function;
	int end = 0;

	if (sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &end) != 4) {
		domain = 0;
		if (sscanf(text, "%x:%x.%x%n", &bus, &slot, &function, &end) != 3)
			return -EINVAL;
	}
	if (text[end] || bus > 255 || slot > 31 || function > 7)
		return -EINVAL;
	*ret = (struct vfctl_bdf){.domain = domain, .bus = (uint8_t)bus, .slot = (uint8_t)slot,
		.function = (uint8_t)function};
	return 0;
}

static int found(int r)
{
	return r < 0 ? r : 1;
}

static int vfio_device(const char *value, struct qemu_device *ret)
{
	char text[256];
	const char *slash;

	if (find_property(value, "host", text, sizeof(text)))
		return found(read_host(text, &ret->bdf));
	if (!find_property(value, "sysfsdev", text, sizeof(text)))
		return 0; /* a file descriptor, or no device of the host */
	for (size_t len = strlen(text); len && text[len - 1] == '/'; len--)
		text[len - 1] = '\0';
	slash = strrchr(text, '/');
	/* A mediated device has a UUID instead of an address. */
	return slash && vfctl_bdf_parse(slash + 1, &ret->bdf) == 0;
}

static int nvme_disk(const char *address, struct qemu_device *ret)
{
	char text[32];
	size_t len = strcspn(address, "/,\"");

	if (len >= sizeof(text))
		return -EINVAL;
	memcpy(text, address, len);
	text[len] = '\0';
	return found(read_host(text, &ret->bdf));
}

/* The emulated controller of this name has no property "device". */
static int nvme_driver(const char *value, struct qemu_device *ret)
{
	char text[32];

	return strstr(value, "nvme") && find_property(value, "device", text, sizeof(text)) &&
		read_host(text, &ret->bdf) == 0;
}

int qemu_arg_device(const char *value, struct qemu_device *ret)
{
	const char *nvme = strstr(value, "nvme://");

	if (str_starts(value, "vfio-pci") || strstr(value, "driver=vfio-pci") ||
		(*value == '{' && strstr(value, "\"vfio-pci")))
		return vfio_device(value, ret);
	if (find_property(value, "vhostdev", ret->path, sizeof(ret->path)))
		return 1;
	return nvme ? nvme_disk(nvme + strlen("nvme://"), ret) : nvme_driver(value, ret);
}
