// SPDX-License-Identifier: GPL-2.0-or-later
/* The only file that uses libpci. */
#include "pci/info.h"

#include <errno.h>
#include <pci/pci.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/dl.h"
#include "base/sonames.h"
#include "host/host.h"
#include "pci/device.h"

#define SYMBOLS(each) \
	each(pci_alloc) each(pci_init) each(pci_cleanup) each(pci_get_dev) each(pci_free_dev) \
	each(pci_fill_info) each(pci_find_cap) each(pci_read_word) each(pci_lookup_name) \
	each(pci_set_param)
DL_SYMBOLS(symbols, SYMBOLS);

/* For an error, libpci calls exit(1) by default: the handler that replaces it must not return. */
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

/*
 * This is a separate function, because a longjmp may lose values that the caller has in registers.
 */
static int read_guarded(struct pci_access *access, const struct vfctl_bdf *bdf,
	struct vfctl_pci_info *info)
{
	jmp_buf back;

	on_error = &back;
	if (setjmp(back))
		return -EIO;
	read_all(access, bdf, info);
	on_error = NULL;
	return 0;
}

/* ---- a captured host ---- */

/*
 * libpci would follow a captured tree's links and open any file. But it also reads dumps in the
 * format of lspci -x: of the function's config space or, because most captures lack that, of a
 * header with its two ids.
 */
#define CONFIG_MAX 4096
#define HEADER_BYTES 64

static void read_config(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct buf *config)
{
	_free_ char *path = str_format("/sys/bus/pci/devices/%s/config",
		vfctl_bdf_format(bdf, (char[VFCTL_BDF_TEXT]){0}));
	struct host *h = host_of(ctx);
	uint16_t ids[2];

	if (path && h->ops->read(h, path, config) == 0 && config->len >= HEADER_BYTES)
		return;
	buf_reset(config);
	ids[0] = (uint16_t)pci_read_hex(ctx, bdf, "vendor");
	ids[1] = (uint16_t)pci_read_hex(ctx, bdf, "device");
	buf_add(config, ids, sizeof(ids)); /* little-endian, like this machine */
	buf_add(config, (const char[HEADER_BYTES]){0}, HEADER_BYTES - sizeof(ids));
}

static int make_dump(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, int *ret_fd)
{
	_buf_ struct buf config = {0}, dump = {0};
	_close_ int fd = -1;

	read_config(ctx, bdf, &config);
	buf_puts(&dump, "0000:00:00.0 captured");
	for (size_t i = 0; i < config.len && i < CONFIG_MAX; i++) {
		if (i % 16 == 0)
			buf_printf(&dump, "\n%02zx:", i);
		buf_printf(&dump, " %02x", (unsigned char)config.data[i]);
	}
	buf_puts(&dump, "\n\n");
	if (config.failed || dump.failed)
		return ctx_oom(ctx);
	fd = memfd_create("vfctl-config", MFD_CLOEXEC);
	if (fd < 0 || write(fd, dump.data, dump.len) != (ssize_t)dump.len)
		return ctx_fail(ctx, -errno, "keep a function's config space in memory: %s",
			strerror(errno));
	*ret_fd = fd;
	fd = -1;
	return 0;
}

/* ---- running and captured hosts ---- */

/* Set the source from which libpci reads; for a captured host @dump. */
static char *set_source(struct vfctl_ctx *ctx, struct pci_access *access, int dump)
{
	char *path = dump < 0 ? str_format("%s/sys/bus/pci", host_of(ctx)->root)
			      : str_format("/proc/self/fd/%d", dump);

	access->method = dump < 0 ? PCI_ACCESS_SYS_BUS_PCI : PCI_ACCESS_DUMP;
	if (path)
		sym_pci_set_param(access, (char *)(dump < 0 ? "sysfs.path" : "dump.name"), path);
	return path;
}

int vfctl_pci_info_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_pci_info *ret_info)
{
	static const struct vfctl_bdf of_dump = {0};
	struct vfctl_pci_info info = {0};
	_close_ int dump = -1;
	struct pci_access *access;
	_free_ char *path = NULL;
	int r = dl_bind(ctx, SONAME_PCI, symbols, ARRAY_SIZE(symbols));

	if (r == 0 && host_of(ctx)->ops->read_only)
		r = make_dump(ctx, bdf, &dump);
	if (r < 0)
		return r;
	access = sym_pci_alloc();
	access->error = jump;
	access->warning = access->debug = be_silent;
	path = set_source(ctx, access, dump);
	r = path ? read_guarded(access, dump < 0 ? bdf : &of_dump, &info) : -ENOMEM;
	sym_pci_cleanup(access);
	if (r < 0)
		return ctx_fail(ctx, r, "libpci cannot read this host's PCI devices");
	*ret_info = info;
	return 0;
}
