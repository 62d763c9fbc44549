// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/vectors.h"

#include <errno.h>
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

int pci_own_vectors(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, unsigned *ret)
{
	char text[VFCTL_BDF_TEXT];
	_free_ char *link = NULL;
	int r = host_try_link(ctx, &link, PCI_SYSFS "%s/sriov_vf_msix_count", vfctl_bdf_format(bdf, text));

	*ret = 0;
	if (r == -ENOENT)
		return 0;
	if (r == 0 || r == -EINVAL) /* it exists, but is not a link */
		*ret = pci_vectors(ctx, bdf);
	return *ret ? 0 : ctx_fail(ctx, -EIO, "the number of MSI-X vectors of %s cannot be read", text);
}
