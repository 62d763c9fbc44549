// SPDX-License-Identifier: GPL-2.0-or-later
/* The only file that uses libpci. */
#include "vfctl/pci.h"

#include <errno.h>
#include <pci/pci.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/dl.h"
#include "host/host.h"

DL_FN(pci_alloc);
DL_FN(pci_init);
DL_FN(pci_cleanup);
DL_FN(pci_get_dev);
DL_FN(pci_free_dev);
DL_FN(pci_fill_info);
DL_FN(pci_find_cap);
DL_FN(pci_read_word);
DL_FN(pci_lookup_name);
DL_FN(pci_set_param);

static const struct dl_symbol symbols[] = {DL_SYM(pci_alloc), DL_SYM(pci_init),
	DL_SYM(pci_cleanup), DL_SYM(pci_get_dev), DL_SYM(pci_free_dev), DL_SYM(pci_fill_info),
	DL_SYM(pci_find_cap), DL_SYM(pci_read_word), DL_SYM(pci_lookup_name),
	DL_SYM(pci_set_param)};

/* libpci's default for an error is exit(1): its handler must not return. */
static _Thread_local jmp_buf *on_error;

static void __attribute__((noreturn)) jump(char *fmt, ...)
{
	longjmp(*on_error, 1);
}

static void be_silent(char *fmt, ...)
{
}

static void read_sriov(struct pci_dev *dev, struct vfctl_pci_info *info)
{
	struct pci_cap *cap = sym_pci_find_cap(dev, PCI_EXT_CAP_ID_SRIOV, PCI_CAP_EXTENDED);

	if (!cap)
		return;
	info->sriov_total_vfs = sym_pci_read_word(dev, (int)cap->addr + PCI_IOV_TOTALVF);
	info->sriov_initial_vfs = sym_pci_read_word(dev, (int)cap->addr + PCI_IOV_INITIALVF);
	info->sriov_known = info->sriov_total_vfs != 0 && info->sriov_total_vfs != UINT16_MAX;
}

static void read_all(struct pci_access *access, const struct vfctl_bdf *bdf,
	struct vfctl_pci_info *info)
{
	struct pci_dev *dev;

	sym_pci_init(access);
	dev = sym_pci_get_dev(access, (int)bdf->domain, bdf->bus, bdf->slot, bdf->function);
	sym_pci_fill_info(dev, PCI_FILL_IDENT | PCI_FILL_EXT_CAPS | PCI_FILL_CAPS);
	read_sriov(dev, info);
	sym_pci_lookup_name(access, info->name, sizeof(info->name),
		PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE, dev->vendor_id, dev->device_id);
	sym_pci_free_dev(dev);
}

int vfctl_pci_info_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_pci_info *ret_info)
{
	_free_ char *path = str_format("%s/sys/bus/pci", host_of(ctx)->root);
	struct vfctl_pci_info info = {0};
	struct pci_access *access;
	jmp_buf back;
	int r = dl_bind(ctx, "libpci.so.3", symbols, ARRAY_SIZE(symbols));

	if (r < 0 || !path)
		return r < 0 ? r : ctx_oom(ctx);
	access = sym_pci_alloc();
	access->error = jump;
	access->warning = be_silent;
	access->method = PCI_ACCESS_SYS_BUS_PCI;
	on_error = &back;
	if (setjmp(back)) {
		sym_pci_cleanup(access);
		return ctx_fail(ctx, -EIO, "libpci cannot read this host's PCI devices");
	}
	sym_pci_set_param(access, (char *)"sysfs.path", path);
	read_all(access, bdf, &info);
	sym_pci_cleanup(access);
	*ret_info = info;
	return 0;
}
