/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PCI_CONFIG_H
#define VFCTL_PCI_CONFIG_H

#include <stddef.h>
#include <stdint.h>

/* A function's configuration space, as sysfs gives it: 64 bytes at least, little endian. */
static inline unsigned config_u16(const uint8_t *config, size_t at)
{
	return (unsigned)config[at] | (unsigned)config[at + 1] << 8;
}

/* Where the capability @id (PCI_CAP_ID_) is; 0: it has none. */
size_t config_capability(const uint8_t *config, size_t len, uint8_t id);
/* The same of the extended ones (PCI_EXT_CAP_ID_), of which 12 bytes are there. */
size_t config_extended(const uint8_t *config, size_t len, unsigned id);

#endif
