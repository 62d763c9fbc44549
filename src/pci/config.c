// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/config.h"

#include <linux/pci_regs.h>

#define FIRST_CAPABILITY 0x40
#define EXTENDED_START 0x100
#define CAPABILITIES_MAX 128 /* a defective device may link them in a circle */

size_t config_capability(const uint8_t *config, size_t len, uint8_t id)
{
	size_t at = config[PCI_CAPABILITY_LIST] & ~3u;

	for (int i = 0; i < CAPABILITIES_MAX && at >= FIRST_CAPABILITY && at + 4 <= len; i++) {
		if (config[at] == id)
			return at;
		at = config[at + 1] & ~3u;
	}
	return 0;
}

size_t config_extended(const uint8_t *config, size_t len, unsigned id)
{
	size_t at = EXTENDED_START;

	for (int i = 0; i < CAPABILITIES_MAX && at >= EXTENDED_START && at + 12 <= len; i++) {
		if (config_u16(config, at) == id)
			return at;
		at = config_u16(config, at + 2) >> 4 & ~3u;
	}
	return 0;
}
