// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/device.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "host/host.h"

#define PROBE_TRIES 5
#define PROBE_WAIT_MS 200

int pci_read_int(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr,
	int missing)
{
	_free_ char *text = NULL;
	int value;

	if (host_try_read(ctx, &text, PCI_SYSFS "%s/%s", TEXT(bdf), attr) < 0 ||
		parse_int(text, INT32_MIN + 1, INT32_MAX, &value) < 0)
		return missing;
	return value;
}

uint32_t pci_read_hex(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr)
{
	_free_ char *text = NULL;
	uint64_t value;

	if (host_try_read(ctx, &text, PCI_SYSFS "%s/%s", TEXT(bdf), attr) < 0 ||
		parse_hex(text, UINT32_MAX, &value) < 0)
		return 0;
	return (uint32_t)value;
}

bool pci_has(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *attr)
{
	return host_exists(ctx, PCI_SYSFS "%s/%s", TEXT(bdf), attr);
}

bool pci_is_gone(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	_free_ char *path = NULL;

	return host_try_link(ctx, &path, PCI_SYSFS "%s", TEXT(bdf)) == -ENOENT;
}

bool pci_op_is_gone(struct vfctl_ctx *ctx, const struct op *op)
{
	char text[VFCTL_BDF_TEXT];
	size_t len = strcspn(op->target, "/");
	struct vfctl_bdf bdf;

	if (len >= sizeof(text))
		return false;
	memcpy(text, op->target, len);
	text[len] = '\0';
	return vfctl_bdf_parse(text, &bdf) == 0 && pci_is_gone(ctx, &bdf);
}

int pci_driver(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	char ret_name[PCI_DRIVER_NAME])
{
	_free_ char *name = NULL;
	int r = host_try_link_name(ctx, &name, PCI_SYSFS "%s/driver", TEXT(bdf));

	ret_name[0] = '\0';
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return ctx_fail(ctx, r, "the driver of %s cannot be read: %s", TEXT(bdf),
			strerror(-r));
	str_copy(ret_name, PCI_DRIVER_NAME, name);
	return 0;
}

int pci_fail_unbound(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, int error)
{
	return ctx_fail(ctx, error, "%s has no driver now, so it has no VFs; bind it: echo %s > "
		"/sys/bus/pci/drivers_probe", TEXT(pf), TEXT(pf));
}

int pci_iommu_group(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	_free_ char *name = NULL;
	int group, r = host_try_link_name(ctx, &name, PCI_SYSFS "%s/iommu_group", TEXT(bdf));

	if (r == 0)
		r = parse_int(name, 0, INT32_MAX, &group);
	if (r < 0)
		return ctx_fail(ctx, r, "the IOMMU group of %s: %s", TEXT(bdf), strerror(-r));
	return group;
}

int pci_iommu_sharers(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, int group,
	char **ret_names)
{
	_strv_ char **names = NULL;
	_buf_ struct buf text = {0};
	int r = host_try_list(ctx, &names, "/sys/kernel/iommu_groups/%d/devices", group);

	if (r < 0)
		return ctx_fail(ctx, r, "the devices of IOMMU group %d cannot be read: %s", group,
			strerror(-r));
	for (size_t i = 0; names[i]; i++) {
		struct vfctl_bdf other;

		if (vfctl_bdf_parse(names[i], &other) < 0 ||
			vfctl_bdf_compare(bdf, &other) == 0 ||
			pci_read_hex(ctx, &other, "class") >> 16 == 0x06)
			continue;
		buf_printf(&text, "%s%s", text.len ? ", " : "", names[i]);
	}
	*ret_names = buf_steal(&text);
	return *ret_names ? 0 : ctx_oom(ctx);
}

int pci_can_reset(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const struct vfctl_bdf *pf)
{
	_free_ char *methods = NULL;
	char *save = NULL;

	if (host_try_read(ctx, &methods, PCI_SYSFS "%s/reset_method", TEXT(bdf)) < 0)
		return pci_has(ctx, bdf, "reset") ? 1
			: pci_has(ctx, pf, "reset_method") ? 0 : -ENODATA;
	for (char *name = strtok_r(methods, " \n", &save); name;
		name = strtok_r(NULL, " \n", &save))
		if (!str_eq(name, "bus") && !str_eq(name, "cxl_bus"))
			return 1;
	return 0;
}

int pci_reset(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	_free_ char *methods = NULL;
	int r;

	if (!pci_has(ctx, bdf, "reset"))
		return 0;
	/* All methods were disabled: the write would fail like an attempt that failed (ENOTTY). */
	if (host_try_read(ctx, &methods, PCI_SYSFS "%s/reset_method", TEXT(bdf)) == 0 && !methods[0])
		return 0;
	r = host_write_slow(ctx, "1", PCI_SYSFS "%s/reset", TEXT(bdf));
	return r == -ENOTTY ? ctx_append(ctx, r, "; it did not respond after the reset") : r;
}

int pci_link_function(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *link,
	struct vfctl_bdf *ret_bdf)
{
	_free_ char *name = NULL;
	int r = host_try_link_name(ctx, &name, PCI_SYSFS "%s/%s", TEXT(bdf), link);

	return r < 0 ? r : vfctl_bdf_parse(name, ret_bdf);
}

int pci_of_link(struct vfctl_ctx *ctx, struct vfctl_bdf *ret, const char *fmt, ...)
{
	_free_ char *path = NULL, *target = NULL;
	char *save = NULL;
	va_list args;
	int r, found = -ENOENT;

	va_start(args, fmt);
	path = str_vformat(fmt, args);
	va_end(args);
	r = path ? host_try_link(ctx, &target, "%s", path) : -ENOMEM;
	if (r < 0)
		return r;
	for (char *at = strtok_r(target, "/", &save); at; at = strtok_r(NULL, "/", &save))
		if (vfctl_bdf_parse(at, ret) == 0)
			found = 0;
	return found;
}

int pci_children(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *dir,
	char ***ret_names)
{
	return host_try_list(ctx, ret_names, PCI_SYSFS "%s/%s", TEXT(bdf), dir);
}

/*
 * Whether the entry is a device below the function: a directory, not a link such as physfn or
 * virtfn0.
 */
static bool is_child_device(struct vfctl_ctx *ctx, const char *bdf, const char *name)
{
	_free_ char *target = NULL;

	return host_exists(ctx, PCI_SYSFS "%s/%s/subsystem", bdf, name) &&
		host_try_link(ctx, &target, PCI_SYSFS "%s/%s", bdf, name) == -EINVAL;
}

static int list_netdevs(struct vfctl_ctx *ctx, char *dir, char ***ret_names, char **ret_dir)
{
	int r = dir ? host_try_list(ctx, ret_names, "%s", dir) : -ENOMEM;

	if (r == 0 && ret_dir)
		*ret_dir = dir;
	else
		free(dir);
	return r;
}

int pci_netdevs(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, char ***ret_names,
	char **ret_dir)
{
	_strv_ char **children = NULL;
	const char *at = TEXT(bdf);
	int r = list_netdevs(ctx, str_format(PCI_SYSFS "%s/net", at), ret_names, ret_dir);

	if (r != -ENOENT || host_try_list(ctx, &children, PCI_SYSFS "%s", at) < 0)
		return r;
	for (size_t i = 0; children[i] && r == -ENOENT; i++)
		if (is_child_device(ctx, at, children[i]))
			r = list_netdevs(ctx, str_format(PCI_SYSFS "%s/%s/net", at, children[i]),
				ret_names, ret_dir);
	return r;
}

bool pci_driver_is_vfio(const char *driver)
{
	return strstr(driver, "vfio") != NULL;
}

/* -ENOENT or -ENODEV if @driver does not have the function, whatever its link says. */
static int unbind_from(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *driver)
{
	/* Unbinding an open device from vfio-pci waits until it is closed: use a time limit. */
	return pci_driver_is_vfio(driver)
		? host_write_slow(ctx, TEXT(bdf), PCI_SYSFS "%s/driver/unbind", TEXT(bdf))
		: host_write(ctx, TEXT(bdf), PCI_SYSFS "%s/driver/unbind", TEXT(bdf));
}

/*
 * The link "driver" also exists during a probe that will fail (really_probe() in
 * drivers/base/dd.c). A driver that udev loads for new VFs is tried on each VF, also on those that
 * it must not bind; then unbinding fails, and the link may appear again a moment later.
 */
int pci_unbind(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	unsigned waited = 0;

	for (int tries = 1;; tries++) {
		char driver[PCI_DRIVER_NAME];
		int r = pci_driver(ctx, bdf, driver);

		if (r < 0 || !driver[0])
			return r;
		r = unbind_from(ctx, bdf, driver);
		if (r != -ENOENT && r != -ENODEV)
			return r;
		if (tries > 1 && !host_wait_ms(ctx, PROBE_WAIT_MS, &waited))
			return r;
		ctx_clear(ctx);
	}
}

bool pci_driver_is_here(struct vfctl_ctx *ctx, const char *driver)
{
	return host_exists(ctx, "/sys/bus/pci/drivers/%s", driver);
}

int pci_need_driver(struct vfctl_ctx *ctx, const char *driver)
{
	if (pci_driver_is_here(ctx, driver))
		return 0;
	if (host_load_module(ctx, driver) < 0 || !pci_driver_is_here(ctx, driver))
		return ctx_append(ctx, -ENOENT, "; this host has no PCI driver %s",
			driver);
	return 0;
}

int pci_override(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	char ret_name[PCI_DRIVER_NAME])
{
	_free_ char *text = NULL;
	int r = host_try_read(ctx, &text, PCI_SYSFS "%s/driver_override", TEXT(bdf));

	ret_name[0] = '\0';
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return ctx_fail(ctx, r, "read driver_override of %s: %s", TEXT(bdf),
			strerror(-r));
	if (!str_eq(text, "(null)"))
		str_copy(ret_name, PCI_DRIVER_NAME, text);
	return 0;
}

int pci_set_override(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *driver)
{
	int r = host_write(ctx, driver[0] ? driver : "\n", PCI_SYSFS "%s/driver_override",
		TEXT(bdf));

	/* Kernels before 3.16 and some buses have no override: then there is nothing to remove. */
	if (r == -ENOENT && !driver[0]) {
		ctx_clear(ctx);
		return 0;
	}
	return r;
}

static int probe_once(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *wanted,
	char driver[PCI_DRIVER_NAME])
{
	int r = host_write(ctx, TEXT(bdf), "/sys/bus/pci/drivers_probe");

	if (r == -EINVAL) /* the driver's own probe failed */
		return ctx_append(ctx, r, "; %s rejected it (dmesg may tell why)",
			wanted ? wanted : "its driver");
	return r < 0 ? r : pci_driver(ctx, bdf, driver);
}

/*
 * Load the module of the function's own driver by its modalias, as udev does for a new function.
 * udev may be late on a busy machine; modprobe waits for a load that udev began. A module that is
 * missing or blacklisted shows in the probe that follows.
 */
static void load_own_driver(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	_free_ char *modalias = NULL;

	if (host_try_read(ctx, &modalias, PCI_SYSFS "%s/modalias", TEXT(bdf)) < 0 ||
		!str_starts(modalias, "pci:"))
		return;
	if (host_load_module(ctx, modalias) < 0)
		ctx_clear(ctx);
}

static bool is_bound_as_wanted(const char *driver, const char *wanted)
{
	return wanted ? str_eq(driver, wanted) : driver[0] && !pci_driver_is_vfio(driver);
}

/*
 * Request a driver from the kernel and check the result; @wanted NULL: any except VFIO. The kernel
 * may report success without binding the device: permanently if there is no driver for it, or
 * temporarily while a driver that udev has just loaded probes it (sriov-network-operator also
 * checks five times).
 */
static int probe(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *wanted)
{
	char driver[PCI_DRIVER_NAME] = "";

	for (int tries = 0; tries <= PROBE_TRIES; tries++) {
		int r;

		if (tries > 1) {
			ctx_progress(ctx, "waiting for a driver to bind to %s", TEXT(bdf));
			host_sleep_ms(ctx, PROBE_WAIT_MS);
		}
		r = probe_once(ctx, bdf, wanted, driver);
		if (r < 0)
			return r;
		if (is_bound_as_wanted(driver, wanted))
			return 0;
		if (driver[0])
			break;
		log_debug(ctx, "%s: no driver yet", TEXT(bdf));
		if (!wanted && tries == 0)
			load_own_driver(ctx, bdf);
	}
	if (!wanted)
		return ctx_fail(ctx, -ENODEV, "%s: no driver of this host bound to the function%s%s "
			"(its module may be missing; see dmesg)", TEXT(bdf), driver[0] ? ", which is "
				"bound to " : "",
			driver);
	return ctx_fail(ctx, -ENODEV, "%s: %s did not bind to the function (it is bound to %s; dmesg "
		"may tell why)", TEXT(bdf), wanted, driver[0] ? driver : "no driver");
}

int pci_bind(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *driver)
{
	char current[PCI_DRIVER_NAME];
	int r = pci_driver(ctx, bdf, current);

	if (r < 0 || str_eq(current, driver))
		return r;
	r = pci_need_driver(ctx, driver);
	if (r == 0)
		r = pci_set_override(ctx, bdf, driver);
	if (r == 0)
		r = pci_unbind(ctx, bdf);
	return r < 0 ? r : probe(ctx, bdf, driver);
}

int pci_bind_default(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	char current[PCI_DRIVER_NAME];
	int r = pci_set_override(ctx, bdf, "");

	if (r == 0)
		r = pci_driver(ctx, bdf, current);
	if (r < 0 || (current[0] && !pci_driver_is_vfio(current)))
		return r;
	r = pci_unbind(ctx, bdf);
	return r < 0 ? r : probe(ctx, bdf, NULL);
}

int pci_restore_driver(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *driver,
	const char *override)
{
	int r = driver[0] ? pci_bind(ctx, bdf, driver) : pci_unbind(ctx, bdf);

	return r < 0 ? r : pci_set_override(ctx, bdf, override);
}
