/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PCI_DEVICE_H
#define VFCTL_PCI_DEVICE_H

#include "base/ctx.h"
#include "base/op.h"
#include "core/types.h"

#define PCI_SYSFS "/sys/bus/pci/devices/"
#define PCI_DRIVER_NAME 32

/* Read an integer attribute; @missing when it is absent, unreadable or no number. */
int pci_read_int(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr,
	int missing);
/* A hex attribute such as class or vendor; 0 when absent. */
uint32_t pci_read_hex(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr);
/* Does this function have that attribute file? */
bool pci_has(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr);

/* It is not there any more: unplugged, or removed through sysfs. False too when that cannot be told. */
bool pci_is_gone(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);
/* The same of the function with whose address the target begins. */
bool pci_op_is_gone(struct vfctl_ctx *ctx, const struct op *op);

/* Name of the bound driver, "" when none. Negative (and "") when it cannot be read. */
int pci_driver(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	char ret_name[PCI_DRIVER_NAME]);
/* Somebody took the PF from its driver, and its VFs with that: words that say so. @return @error. */
int pci_fail_unbound(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, int error);
/* IOMMU group number; -ENOENT when the function is in none, else the errno. */
int pci_iommu_group(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);
/*
 * Who else is in the IOMMU group, bridges left out (VFIO lets them stay). "" when the
 * function is alone. @ret_names is owned by the caller.
 */
int pci_iommu_sharers(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, int group,
	char **ret_names);

/*
 * Can it be reset by itself, as it must be before another guest has it? What reset_method lists
 * besides resets of the whole bus (Documentation/ABI/testing/sysfs-bus-pci). The kernel makes the
 * file only where there is a method (drivers/pci/pci.c, since 5.15), so of a VF without it nothing
 * is known only where its PF @pf has none either. @return 1, 0, or -ENODATA: not known.
 */
int pci_can_reset(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const struct vfctl_bdf *pf);

/*
 * Reset the function, by the first of its methods that works; nobody may have it open. One that the
 * kernel has no way to reset is left as it is. @return 0; the errno of a reset that failed.
 */
int pci_reset(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);

/* The PCI function behind a link such as physfn or virtfn3. -ENOENT when there is none. */
int pci_link_function(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *link,
	struct vfctl_bdf *ret_bdf);

#define PCI_PATH_MAX 16
/*
 * The functions that lead to it, from the root port down, itself the last; @ret has PCI_PATH_MAX.
 * 0 when its place cannot be read.
 */
size_t pci_path(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct vfctl_bdf *ret);

#define PCI_ROOT_UNKNOWN UINT32_MAX /* as VFCTL_ROOT_UNKNOWN */
/*
 * The root complex the function hangs below, domain << 8 | bus, or PCI_ROOT_UNKNOWN. A
 * device behind Intel VMD has two: the one of the hardware counts.
 */
uint32_t pci_root(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);
/*
 * The physical port of its card that a PF drives, from 1; 0 unknown. Cards that have a
 * function per port number them alike (mlx5, ice, i40e, ixgbe, igb). A ConnectX-3 has one
 * function for all its ports; with more than one, each VF has them all.
 */
uint32_t pci_port(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf);

/* First (or only) name in a directory such as net or infiniband; all of them, sorted. */
int pci_children(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *dir,
	char ***ret_names);

/*
 * Its network devices, sorted: in its directory net, or in that of a child device (virtio-net has
 * virtio0/net). 0 and an empty list: it has such a directory, and they are in another network
 * namespace; -ENOENT: it has none. @ret_dir (may be NULL): that directory, freed by the caller.
 */
int pci_netdevs(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, char ***ret_names,
	char **ret_dir);

/*
 * Put the function on @driver through driver_override, so that no other device of that
 * id is ever touched; whatever drives it now is unbound first. The driver's module is
 * loaded when it is not there. Looks at the driver link at the end: the kernel reports
 * success when nothing was bound.
 * @return 0; -ENOENT no such driver; -EBUSY; -ENODEV the driver did not take it.
 */
int pci_bind(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *driver);
/* Drop the override and let the kernel find the function's own driver. */
int pci_bind_default(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);
/* Have the driver's module loaded, if the driver is not there. -ENOENT when it cannot. */
int pci_need_driver(struct vfctl_ctx *ctx, const char *driver);
bool pci_driver_is_here(struct vfctl_ctx *ctx, const char *driver);
/* What driver_override holds, "" when nothing (or there is no such file). */
int pci_override(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	char ret_name[PCI_DRIVER_NAME]);
int pci_set_override(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *driver);
/* Unbind from whatever drives it; nothing to do is success. */
int pci_unbind(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);
/*
 * The driver ("" none) and override it had: bound through the override, so that autoprobe
 * need not be on; the override itself then becomes what it was.
 */
int pci_restore_driver(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *driver,
	const char *override);
/* True for vfio-pci and its variants (mlx5_vfio_pci, ...). */
bool pci_driver_is_vfio(const char *driver);

#endif
