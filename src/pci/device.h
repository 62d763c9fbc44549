/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PCI_DEVICE_H
#define VFCTL_PCI_DEVICE_H

#include "base/ctx.h"
#include "base/op.h"
#include "types/pci.h"

#define PCI_SYSFS "/sys/bus/pci/devices/"
#define PCI_DRIVER_NAME 32

/* Read an integer attribute; @missing if it is absent, unreadable or not a number. */
int pci_read_int(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr,
	int missing);
/* A hex attribute such as class or vendor; 0 if it is absent. */
uint32_t pci_read_hex(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr);
/* Whether this function has that attribute file. */
bool pci_has(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr);

/*
 * Whether it no longer exists: unplugged, or removed through sysfs. False also if that cannot be
 * determined.
 */
bool pci_is_gone(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);
/* Do this for the function with whose address the target begins. */
bool pci_op_is_gone(struct vfctl_ctx *ctx, const struct op *op);

/* Name of the bound driver, "" if there is none. Negative (and "") if it cannot be read. */
int pci_driver(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	char ret_name[PCI_DRIVER_NAME]);
/* Set the message that the PF was unbound from its driver, which removed its VFs. @return @error.
 * */
int pci_fail_unbound(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, int error);
/* IOMMU group number; -ENOENT if the function is in none, else the errno. */
int pci_iommu_group(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);
/*
 * Other functions in the IOMMU group, without bridges (which VFIO permits). "" if the function is
 * alone. @ret_names is owned by the caller.
 */
int pci_iommu_sharers(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, int group,
	char **ret_names);

/*
 * Whether it can be reset by itself, which is required before another guest gets it: reset_method
 * lists a method other than a reset of the whole bus (Documentation/ABI/testing/sysfs-bus-pci). The
 * kernel creates the file only if there is a method (drivers/pci/pci.c, since 5.15). A VF without
 * the file cannot be reset; only if its PF @pf has none either, this is unknown. @return 1, 0, or
 * -ENODATA: not known.
 */
int pci_can_reset(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const struct vfctl_bdf *pf);

/*
 * Reset the function, by the first of its methods that works; no process may have it open. A
 * function that the kernel cannot reset is not changed. @return 0; the errno of a reset that
 * failed.
 */
int pci_reset(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);

/* The PCI function to which a link such as physfn or virtfn3 points. -ENOENT if there is none. */
int pci_link_function(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *link,
	struct vfctl_bdf *ret_bdf);

/*
 * The PCI function that a device in sysfs is, or is below: the last address in the target of that
 * link, such as /sys/class/uio/uio0 -> ../../devices/pci0000:00/0000:00:02.0/uio/uio0. -ENOENT if
 * the target has no address.
 */
int pci_of_link(struct vfctl_ctx *ctx, struct vfctl_bdf *ret, const char *fmt, ...) _printf_(3, 4);

#define PCI_PATH_MAX 16
/*
 * The functions on the path to it, from the root port down, ending with itself; @ret has space for
 * PCI_PATH_MAX. 0 if the path cannot be read.
 */
size_t pci_path(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct vfctl_bdf *ret);

/*
 * The distance of two functions whose paths are these and who have a port of their path in common.
 * VFCTL_PCI_DISTANCE_UNKNOWN: they have none.
 */
enum vfctl_pci_distance pci_path_distance(const struct vfctl_bdf *a, size_t a_count,
	const struct vfctl_bdf *b, size_t b_count);

#define PCI_ROOT_UNKNOWN UINT32_MAX /* equal to VFCTL_ROOT_UNKNOWN */
/*
 * The root complex of the function, domain << 8 | bus, or PCI_ROOT_UNKNOWN. For a device behind
 * Intel VMD, which has two, it is the hardware's.
 */
uint32_t pci_root(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);
/*
 * The physical port of a PF on its card, from 1; 0: unknown. Cards with one function per port
 * number them alike (mlx5, ice, i40e, ixgbe, igb). A ConnectX-3 has one function for all its ports;
 * each of its VFs uses all of them.
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
 * Bind the function to @driver through driver_override, so that no other device with its ids is
 * affected. Its present driver is unbound first. The driver's module is loaded if necessary. At the
 * end the driver link is checked, because the kernel reports success even if nothing was bound.
 * @return 0; -ENOENT no such driver; -EBUSY; -ENODEV the driver did not bind it.
 */
int pci_bind(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *driver);
/* Remove the override and let the kernel find the function's own driver. */
int pci_bind_default(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);
/* Load the driver's module, if the driver is not loaded. -ENOENT if that is not possible. */
int pci_need_driver(struct vfctl_ctx *ctx, const char *driver);
bool pci_driver_is_here(struct vfctl_ctx *ctx, const char *driver);
/* The content of driver_override; "" if it is empty, or if there is no such file. */
int pci_override(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	char ret_name[PCI_DRIVER_NAME]);
int pci_set_override(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *driver);
/* Unbind it from its driver, if it has one. */
int pci_unbind(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);
/*
 * Restore the previous driver ("" for none) and override: it is bound through the override, so that
 * autoprobe need not be on; then the override is restored.
 */
int pci_restore_driver(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *driver,
	const char *override);
/* True for vfio-pci and its variants (mlx5_vfio_pci, ...). */
bool pci_driver_is_vfio(const char *driver);

#endif
