// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/bars.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/util.h"
#include "host/host.h"
#include "pci/device.h"

/*
 * Only a function's own BARs: the VF BARs of a PF and the ROM come after them
 * (include/linux/pci.h).
 */
#define BARS 6
/* include/linux/ioport.h */
#define IORESOURCE_MEM 0x200
#define IORESOURCE_MEM_64 0x100000
/* A BAR of this size or more is not plausible. */
#define LARGEST (UINT64_C(1) << 52)

uint64_t pci_bar_bytes(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	char name[VFCTL_BDF_TEXT];
	uint64_t sum = 0;
	_free_ char *text = NULL;
	const char *line;

	if (host_try_read(ctx, &text, PCI_SYSFS "%s/resource", vfctl_bdf_format(bdf, name)) < 0)
		return 0;
	line = text;
	for (int i = 0; i < BARS && line && *line; i++) {
		uint64_t start, end, flags;

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64, &start, &end, &flags) != 3)
			break;
		if (flags & IORESOURCE_MEM && flags & IORESOURCE_MEM_64 && end > start &&
			end - start < LARGEST)
			sum += end - start + 1;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return sum;
}
