// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/snapshot/address.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"
#include "host/host.h"

#define WIDEST 64

static unsigned cpu_bits(struct vfctl_ctx *ctx)
{
	_free_ char *text = NULL;
	const char *line;
	unsigned bits;

	if (host_try_read(ctx, &text, "/proc/cpuinfo") < 0)
		return 0;
	line = strstr(text, "address sizes");
	line = line ? strchr(line, ':') : NULL;
	return line && sscanf(line, ": %u bits physical", &bits) == 1 && bits <= WIDEST ? bits : 0;
}

/*
 * VT-d specification, capability register: bits 21 to 16 are the width of guest addresses less 1.
 */
static unsigned width_in(uint64_t cap)
{
	return (unsigned)(cap >> 16 & 0x3f) + 1;
}

static unsigned iommu_bits(struct vfctl_ctx *ctx)
{
	_strv_ char **units = NULL;
	unsigned narrowest = 0;

	if (host_try_list(ctx, &units, "/sys/class/iommu") < 0)
		return 0;
	for (size_t i = 0; units[i]; i++) {
		_free_ char *text = NULL;
		uint64_t cap;

		if (!str_starts(units[i], "dmar") ||
			host_try_read(ctx, &text, "/sys/class/iommu/%s/intel-iommu/cap", units[i]) < 0 ||
			parse_hex(text, UINT64_MAX, &cap) < 0 || !cap)
			continue;
		if (!narrowest || width_in(cap) < narrowest)
			narrowest = width_in(cap);
	}
	return narrowest;
}

void address_widths_read(struct vfctl_ctx *ctx, struct vfctl_address_space *io)
{
	io->cpu_bits = cpu_bits(ctx);
	io->iommu_bits = iommu_bits(ctx);
}
