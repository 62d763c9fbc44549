/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PCI_SERIAL_H
#define VFCTL_PCI_SERIAL_H

#include "base/ctx.h"

/*
 * The serial numbers of a PCI function: that of the device (PCI Express base specification, 7.9.3,
 * "00-11-22-ff-ff-33-44-55" as lspci prints it) and that of the product (the SN field of its vital
 * product data, PCI local bus specification, appendix I). Only root can read them.
 */
#define PCI_SERIAL_TEXT 66 /* bytes of the longest text that is read */

struct pci_serials {
	char device[PCI_SERIAL_TEXT], product[PCI_SERIAL_TEXT]; /* "": it has none */
};

/* @return 0; -EACCES with a message: not root. */
int pci_serials_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct pci_serials *ret);

/* Parse the contents of config and vpd; for pci_serials_read() and for tests. */
void pci_serials_parse(const void *config, size_t config_len, const void *vpd, size_t vpd_len,
	struct pci_serials *ret);

#endif
