/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PCI_CONFIG_H
#define VFCTL_PCI_CONFIG_H

#include <stddef.h>
#include <stdint.h>

/* A function's configuration space as sysfs provides it: at least 64 bytes, little endian. */
static inline unsigned config_u16(const uint8_t *config, size_t at)
{
	return (unsigned)config[at] | (unsigned)config[at + 1] << 8;
}

/* The offset of the capability @id (PCI_CAP_ID_); 0: it has none. */
size_t config_capability(const uint8_t *config, size_t len, uint8_t id);
/* The offset of an extended capability (PCI_EXT_CAP_ID_) with at least 12 bytes. */
size_t config_extended(const uint8_t *config, size_t len, unsigned id);

#endif
