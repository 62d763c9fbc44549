// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/acs.h"

#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>

#include "host/host.h"
#include "pci/config.h"
#include "pci/device.h"

#define EXTENDED_START 0x100 /* start of the extended capabilities in the configuration space */
#define INTEL 0x8086
/*
 * The kernel also requires these of a port before it puts what is below it into a separate group.
 */
#define NEEDED (PCI_ACS_SV | PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_UF)

/*
 * Only these ports route between functions; a device without a PCI Express capability is on an old
 * bus.
 */
static bool is_routing_port(const uint8_t *config, size_t len)
{
	size_t at = config_capability(config, len, PCI_CAP_ID_EXP);
	unsigned type = at ? (config_u16(config, at + PCI_EXP_FLAGS) & PCI_EXP_FLAGS_TYPE) >> 4 : 0;

	return at && (type == PCI_EXP_TYPE_ROOT_PORT || type == PCI_EXP_TYPE_DOWNSTREAM);
}

/*
 * A function that it cannot control counts as always on. Root ports in Intel's chipsets from the
 * 100 series on have 32 bits for each register, so the control word is where other ports have the
 * egress vector (drivers/pci/quirks.c).
 */
static bool is_on(const uint8_t *config, size_t at)
{
	unsigned can = config_u16(config, at + PCI_ACS_CAP) & NEEDED;

	return (config_u16(config, at + PCI_ACS_CTRL) & can) == can ||
		(config_u16(config, PCI_VENDOR_ID) == INTEL && (config_u16(config, at + 8) & can) == can);
}

enum vfctl_acs pci_acs_parse(const void *data, size_t len)
{
	const uint8_t *config = data;
	size_t at;

	/* Without root privileges, the kernel returns only the first 64 bytes. */
	if (len <= EXTENDED_START)
		return VFCTL_ACS_UNKNOWN;
	if (!is_routing_port(config, len))
		return VFCTL_ACS_ON;
	at = config_extended(config, len, PCI_EXT_CAP_ID_ACS);
	return !at ? VFCTL_ACS_ABSENT : is_on(config, at) ? VFCTL_ACS_ON : VFCTL_ACS_OFF;
}

bool pci_acs_override_in(const char *cmdline)
{
	static const char key[] = "pcie_acs_override=";

	for (const char *at = strstr(cmdline, key); at; at = strstr(at + 1, key)) {
		const char *value = at + sizeof(key) - 1;

		/* "multifunction" alone does not concern ports. */
		if ((at == cmdline || strchr(" \t\n", at[-1])) &&
			(!str_starts(value, "multifunction") ||
				value[strcspn(value, ", \t\n")] == ','))
			return true;
	}
	return false;
}

static bool is_overridden(struct vfctl_ctx *ctx)
{
	struct host *h = host_of(ctx);
	_buf_ struct buf text = {0};

	return h->ops->read(h, "/proc/cmdline", &text) == 0 && text.data &&
		pci_acs_override_in(text.data);
}

#define PATH_BYTES (sizeof(PCI_SYSFS) + VFCTL_BDF_TEXT + 8)

static const char *path_of(const struct vfctl_bdf *bdf, const char *file, char ret[PATH_BYTES])
{
	snprintf(ret, PATH_BYTES, PCI_SYSFS "%s%s",
		vfctl_bdf_format(bdf, (char[VFCTL_BDF_TEXT]){0}), file);
	return ret;
}

/* A failure is not recorded as unread, because the result shows that the port cannot be read. */
static enum vfctl_acs read_port(struct vfctl_ctx *ctx, const struct vfctl_bdf *port)
{
	struct host *h = host_of(ctx);
	_buf_ struct buf config = {0};
	char path[PATH_BYTES];

	if (h->ops->read(h, path_of(port, "/config", path), &config) < 0)
		return VFCTL_ACS_UNKNOWN;
	return pci_acs_parse(config.data, config.len);
}

/* The worst result counts: off, then absent, then not known. */
static void weigh(enum vfctl_acs acs, const struct vfctl_bdf *port, enum vfctl_acs *io,
	struct vfctl_bdf *io_port)
{
	static const int weights[] = {[VFCTL_ACS_ON] = 0, [VFCTL_ACS_UNKNOWN] = 1,
		[VFCTL_ACS_ABSENT] = 2, [VFCTL_ACS_OFF] = 3};

	if (weights[acs] <= weights[*io])
		return;
	*io = acs;
	*io_port = *port;
}

enum vfctl_acs pci_acs_of_path(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf,
	struct vfctl_bdf *ret_port)
{
	char path[PATH_BYTES], *save = NULL;
	enum vfctl_acs acs = VFCTL_ACS_ON;
	struct host *h = host_of(ctx);
	_free_ char *target = NULL;
	struct vfctl_bdf port;
	bool any = false;

	if (h->ops->readlink(h, path_of(pf, "", path), &target) < 0)
		return VFCTL_ACS_UNKNOWN;
	/* ../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0 */
	for (char *part = strtok_r(target, "/", &save); part; part = strtok_r(NULL, "/", &save))
		if (vfctl_bdf_parse(part, &port) == 0 && vfctl_bdf_compare(&port, pf) != 0) {
			weigh(read_port(ctx, &port), &port, &acs, ret_port);
			any = true;
		}
	if (!any)
		acs = VFCTL_ACS_UNKNOWN;
	return (acs == VFCTL_ACS_ABSENT || acs == VFCTL_ACS_UNKNOWN) && is_overridden(ctx)
		? VFCTL_ACS_OVERRIDDEN : acs;
}

const char *vfctl_acs_name(enum vfctl_acs acs)
{
	static const char *const names[] = {
		[VFCTL_ACS_UNKNOWN] = "unknown",
		[VFCTL_ACS_ON] = "on",
		[VFCTL_ACS_OFF] = "off",
		[VFCTL_ACS_ABSENT] = "absent",
		[VFCTL_ACS_OVERRIDDEN] = "overridden",
	};

	return (size_t)acs < ARRAY_SIZE(names) ? names[acs] : "unknown";
}
