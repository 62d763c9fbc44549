// SPDX-License-Identifier: GPL-2.0-or-later
/* The driver of a VF, as an operation. */
#include <errno.h>

#include "types/find.h"
#include "infiniband/vf.h"
#include "pci/device.h"
#include "sriov/bound.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "sriov/links.h"
#include "sriov/nvme.h"
#include "sriov/ops.h"
#include "sriov/vf_op.h"

#define VFIO "vfio-pci"
#define HOST "host"

const char *vf_driver_word(enum vfctl_vf_driver driver)
{
	static const char *const message[] = {
		[VFCTL_VF_DRIVER_VFIO] = VFIO,
		[VFCTL_VF_DRIVER_HOST] = HOST,
		[VFCTL_VF_DRIVER_NONE] = VF_NO_DRIVER,
	};

	return message[driver];
}

static char *driver_text(const char *driver, const char *override)
{
	return str_format("%s %s", driver[0] ? driver : "-", override[0] ? override : "-");
}

int vf_driver_text(struct vfctl_ctx *ctx, const struct vfctl_vf *vf, char **ret_text)
{
	char override[PCI_DRIVER_NAME];
	int r = pci_override(ctx, &vf->bdf, override);

	if (r < 0)
		return r;
	*ret_text = driver_text(vf->driver, override);
	return *ret_text ? 0 : ctx_oom(ctx);
}

/* Split "DRIVER OVERRIDE"; false: the text has another form. */
static bool split_driver(const char *text, char driver[PCI_DRIVER_NAME],
	char override[PCI_DRIVER_NAME])
{
	const char *space = strchr(text, ' ');
	size_t len = space ? (size_t)(space - text) : PCI_DRIVER_NAME;

	if (len >= PCI_DRIVER_NAME || !str_copy(override, PCI_DRIVER_NAME, space + 1))
		return false;
	memcpy(driver, text, len);
	driver[len] = '\0';
	if (str_eq(driver, "-"))
		driver[0] = '\0';
	if (str_eq(override, "-"))
		override[0] = '\0';
	return true;
}

static bool same_driver(const char *text, const char *observed)
{
	char driver[PCI_DRIVER_NAME], override[PCI_DRIVER_NAME];

	if (strchr(text, ' '))
		return str_eq(text, observed);
	if (!split_driver(observed, driver, override))
		return false;
	if (str_eq(text, VFIO))
		return pci_driver_is_vfio(driver);
	if (str_eq(text, HOST))
		return driver[0] && !pci_driver_is_vfio(driver);
	/*
	 * It stays without a driver only with an override: otherwise a module that is loaded later
	 * binds it.
	 */
	return !driver[0] && str_eq(override, VF_NO_DRIVER);
}

/* The present VFs, only by their links. */
struct links {
	struct vfctl_vf *vfs;
	uint32_t count;
};

static void links_clear(struct links *l)
{
	free(l->vfs);
}

static int open_links(struct vfctl_ctx *ctx, const struct op *ops, struct links *ret)
{
	struct vfctl_bdf pf;
	int r = vf_op_pf(ctx, ops, &pf);

	return r < 0 ? r : links_read(ctx, &pf, &ret->vfs, &ret->count);
}

static int find_link(struct vfctl_ctx *ctx, const struct op *op, const struct links *l,
	const struct vfctl_vf **ret)
{
	uint32_t index;
	int r = vf_op_index(ctx, op, &index);

	if (r == 0)
		*ret = find_vf_number(l->vfs, l->count, index);
	return r;
}

static int observe_driver(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	char **ret_texts)
{
	_cleanup_(links_clear) struct links links = {0};
	int r = open_links(ctx, ops, &links);

	for (size_t i = 0; i < count && r == 0; i++) {
		char driver[PCI_DRIVER_NAME], override[PCI_DRIVER_NAME];
		const struct vfctl_vf *vf = NULL;

		r = find_link(ctx, &ops[i], &links, &vf);
		if (r < 0 || !vf)
			return r;
		r = pci_driver(ctx, &vf->bdf, driver);
		if (r == 0)
			r = pci_override(ctx, &vf->bdf, override);
		if (r < 0)
			return r;
		ret_texts[i] = driver_text(driver, override);
		if (!ret_texts[i])
			return ctx_oom(ctx);
	}
	return r;
}

/*
 * A module that udev loads later binds every function of its ids that has no driver; an override
 * with a nonexistent driver prevents that (Documentation/ABI/testing/sysfs-bus-pci).
 */
static int unbind_for_good(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	int r = pci_set_override(ctx, bdf, VF_NO_DRIVER);

	return r < 0 ? r : pci_unbind(ctx, bdf);
}

static int bind_vfio(struct vfctl_ctx *ctx, const struct vfctl_vf *vf)
{
	_free_ char *sharers = NULL;
	int r = pci_bind(ctx, &vf->bdf, VFIO);

	if (r == 0)
		r = pci_iommu_group(ctx, &vf->bdf);
	if (r >= 0)
		r = pci_iommu_sharers(ctx, &vf->bdf, r, &sharers);
	if (r == 0 && sharers[0])
		return ctx_fail(ctx, -EPERM, "VF %u shares its IOMMU group with %s, which a guest could "
			"reach; use a slot with ACS", vf->index, sharers);
	return r;
}

/* Write only differences: most VFs were not changed. */
static int restore_driver(struct vfctl_ctx *ctx, const struct vfctl_bdf *vf, const char *before)
{
	char driver[PCI_DRIVER_NAME], override[PCI_DRIVER_NAME];
	char was[PCI_DRIVER_NAME], was_override[PCI_DRIVER_NAME];
	int r = pci_driver(ctx, vf, driver);

	if (r == 0)
		r = pci_override(ctx, vf, override);
	if (r < 0)
		return r;
	if (!split_driver(before, was, was_override))
		return ctx_fail(ctx, -EBADMSG, "'%.60s' is not a driver and an override", before);
	if (str_eq(driver, was) && str_eq(override, was_override))
		return 0;
	return pci_restore_driver(ctx, vf, was, was_override);
}

static int bind_one(struct vfctl_ctx *ctx, const struct vfctl_vf *vf, const char *want)
{
	if (strchr(want, ' '))
		return restore_driver(ctx, &vf->bdf, want);
	if (str_eq(want, HOST))
		return pci_bind_default(ctx, &vf->bdf);
	return str_eq(want, VF_NO_DRIVER) ? unbind_for_good(ctx, &vf->bdf) : bind_vfio(ctx, vf);
}

/* A driver of this host has now read the identities: verify that it shows the same. */
static int check_bound(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	int r = vf_op_read_values(ctx, ops, &inv, &pf);

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct vfctl_vf *vf;
		struct vf_attr_change has;

		r = vf_op_find(ctx, &ops[i], pf, &vf);
		if (r < 0 || !vf)
			return r < 0 ? r : vf_op_fail_gone(ctx, &ops[i]);
		has = (struct vf_attr_change){.vf = vf->index, .bdf = vf->bdf, .attrs = vf->attrs};
		if (has.attrs.mask & VFCTL_ATTR_MAC && !vfctl_mac_is_zero(&has.attrs.mac))
			r = bound_check_mac(ctx, &has);
		if (r < 0 || !pf->rdma[0])
			continue;
		if (!pf->infiniband)
			r = bound_check_roce(ctx, &has);
		else if (!ib_guid_ops_of(ctx, pf)->live && !vfctl_guid_fault(has.attrs.port_guid))
			r = bound_check_guids(ctx, &has);
	}
	return r;
}

static int warn_bare_nvme(struct vfctl_ctx *ctx, const struct op *ops)
{
	struct vfctl_bdf pf;
	int r = vf_op_pf(ctx, ops, &pf);

	if (r == 0)
		nvme_warn_bare(ctx, &pf);
	return r;
}

static int apply_driver(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	_cleanup_(links_clear) struct links links = {0};
	bool host = false;
	int r = open_links(ctx, ops, &links);

	if (r == 0 && !str_eq(ops->want, VF_NO_DRIVER))
		r = warn_bare_nvme(ctx, ops);
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct vfctl_vf *vf = NULL;

		if (ctx->cancelled)
			return ctx_fail(ctx, -EINTR, "interrupted; rolled back");
		r = find_link(ctx, &ops[i], &links, &vf);
		if (r == 0 && !vf)
			r = vf_op_fail_gone(ctx, &ops[i]);
		if (r < 0)
			return r;
		ctx_progress_vf(ctx, i + 1, count);
		r = bind_one(ctx, vf, ops[i].want);
		ctx_progress_vf(ctx, 0, 0);
		if (r < 0)
			return pci_is_gone(ctx, &vf->bdf) ? vf_op_fail_gone(ctx, &ops[i])
				: ctx_prefix(ctx, r, "bind VF %u", vf->index);
		host |= str_eq(ops[i].want, HOST);
	}
	return r < 0 || !host ? r : check_bound(ctx, ops, count);
}

static int revert_driver(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	_cleanup_(links_clear) struct links links = {0};
	int r = open_links(ctx, ops, &links);

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct vfctl_vf *vf = NULL;

		if (!ops[i].before)
			continue;
		r = find_link(ctx, &ops[i], &links, &vf);
		if (r == 0 && vf)
			r = restore_driver(ctx, &vf->bdf, ops[i].before);
	}
	return r;
}

static int check_driver(struct vfctl_ctx *ctx, const struct op *op,
	const struct vfctl_inventory *inv, const struct vfctl_pf *pf)
{
	const struct vfctl_vf *vf = vf_op_in_use(op, pf);
	_free_ char *now = NULL;
	char message[256];
	int r = vf ? vf_driver_text(ctx, vf, &now) : 0;

	if (!vf || r < 0 || op_is(op->type, op->before, now))
		return r;
	return ctx_fail(ctx, -EBUSY, "VF %s is %s, so its driver cannot be restored",
		op->target, vf_describe_user(vf, message, sizeof(message)));
}

const struct op_type op_vf_driver = {.name = "vf-driver", .lost_on_reboot = true,
	.is_gone = pci_op_is_gone,
	.observe = observe_driver, .apply = apply_driver, .revert = revert_driver,
	.same = same_driver, .check_unused = check_driver};
