// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/express.h"

#include <errno.h>
#include <linux/pci_regs.h>

#include "host/host.h"
#include "pci/config.h"
#include "pci/device.h"

#define PLAIN_BYTES 64 /* bytes of the configuration space that all users can read */

int pci_express_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_pci_express *ret)
{
	_buf_ struct buf bytes = {0};
	char name[VFCTL_BDF_TEXT];
	const uint8_t *config;
	unsigned control;
	size_t at;
	int r = host_try_bytes(ctx, &bytes, PCI_SYSFS "%s/config", vfctl_bdf_format(bdf, name));

	if (r < 0)
		return r;
	if (bytes.len <= PLAIN_BYTES)
		return -EACCES;
	config = (const void *)bytes.data;
	at = config_capability(config, bytes.len, PCI_CAP_ID_EXP);
	if (!at || at + PCI_EXP_DEVCTL + 2 > bytes.len)
		return -ENODATA;
	control = config_u16(config, at + PCI_EXP_DEVCTL);
	*ret = (struct vfctl_pci_express){
		.max_read_request_bytes = 128u << ((control & PCI_EXP_DEVCTL_READRQ) >> 12),
		.max_payload_bytes = 128u << ((control & PCI_EXP_DEVCTL_PAYLOAD) >> 5),
		.relaxed_ordering = control & PCI_EXP_DEVCTL_RELAX_EN,
	};
	return 0;
}
