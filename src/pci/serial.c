// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/serial.h"

#include <errno.h>
#include <linux/pci_regs.h>
#include <stdio.h>

#include "host/host.h"
#include "pci/config.h"
#include "pci/device.h"

/* Two words, printed with the upper one first. */
static void parse_device(const uint8_t *config, size_t len, char ret[PCI_SERIAL_TEXT])
{
	size_t at = config_extended(config, len, PCI_EXT_CAP_ID_DSN);

	for (int k = 0; at && k < 8; k++)
		snprintf(ret + 3 * k, 4, k < 7 ? "%02x-" : "%02x", config[at + 11 - (size_t)k]);
}

/* Fields consist of a key of two letters, a length and a text. */
static void parse_fields(const uint8_t *v, size_t len, char ret[PCI_SERIAL_TEXT])
{
	for (size_t at = 0; at + 3 <= len; at += 3u + v[at + 2]) {
		size_t size = v[at + 2], end;

		if (at + 3 + size > len)
			return;
		if (v[at] != 'S' || v[at + 1] != 'N' || size >= PCI_SERIAL_TEXT)
			continue;
		memcpy(ret, v + at + 3, size);
		for (end = size; end && (ret[end - 1] == ' ' || !ret[end - 1]); end--)
			;
		ret[end] = '\0';
	}
}

/*
 * Large resources have a tag with bit 7 and 16 bits of length; small ones have the length in the
 * tag.
 */
static void parse_product(const uint8_t *v, size_t len, char ret[PCI_SERIAL_TEXT])
{
	for (size_t at = 0; at < len && v[at] != 0x78;) {
		bool large = v[at] & 0x80;
		size_t head = large ? 3 : 1, size;

		if (at + head > len)
			return;
		size = large ? (size_t)v[at + 1] | (size_t)v[at + 2] << 8 : v[at] & 7u;
		if (at + head + size > len)
			return;
		if (v[at] == 0x90) /* read-only fields */
			parse_fields(v + at + head, size, ret);
		at += head + size;
	}
}

void pci_serials_parse(const void *config, size_t config_len, const void *vpd, size_t vpd_len,
	struct pci_serials *ret)
{
	*ret = (struct pci_serials){{0}, {0}};
	parse_device(config, config_len, ret->device);
	parse_product(vpd, vpd_len, ret->product);
}

int pci_serials_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct pci_serials *ret)
{
	_buf_ struct buf config = {0}, vpd = {0};
	const char *text = vfctl_bdf_format(bdf, (char[VFCTL_BDF_TEXT]){0});
	int r = host_try_bytes(ctx, &config, PCI_SYSFS "%s/config", text);
	int r_vpd = host_try_bytes(ctx, &vpd, PCI_SYSFS "%s/vpd", text);

	*ret = (struct pci_serials){{0}, {0}};
	/*
	 * Without root privileges, the kernel returns only the first 64 bytes of config, and
	 * nothing of vpd.
	 */
	if ((r == 0 && config.len && config.len <= 64) || r == -EACCES || r_vpd == -EACCES)
		return ctx_fail(ctx, -EACCES, "the serial number of %s cannot be read (it needs root)",
			text);
	if (r == 0 || r_vpd == 0)
		pci_serials_parse(config.data, r == 0 ? config.len : 0, vpd.data,
			r_vpd == 0 ? vpd.len : 0, ret);
	return 0;
}
