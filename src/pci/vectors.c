// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/vectors.h"

#include <linux/pci_regs.h>

#include "host/host.h"
#include "pci/config.h"
#include "pci/device.h"

unsigned pci_vectors(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	char text[VFCTL_BDF_TEXT];
	_buf_ struct buf bytes = {0};
	const uint8_t *config;
	size_t at;

	if (host_try_bytes(ctx, &bytes, PCI_SYSFS "%s/config", vfctl_bdf_format(bdf, text)) < 0 ||
		bytes.len <= PCI_CAPABILITY_LIST)
		return 0;
	config = (const uint8_t *)bytes.data;
	at = config_capability(config, bytes.len, PCI_CAP_ID_MSIX);
	if (!at || at + PCI_MSIX_FLAGS + 2 > bytes.len)
		return 0;
	return (config_u16(config, at + PCI_MSIX_FLAGS) & PCI_MSIX_FLAGS_QSIZE) + 1;
}
