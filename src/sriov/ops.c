// SPDX-License-Identifier: GPL-2.0-or-later
/* The effects on VFs that vfctl has: each observed, made, and taken back, from data alone. */
#include "sriov/ops.h"

#include <errno.h>
#include <stdio.h>

#include "base/find.h"
#include "base/json.h"
#include "base/parse.h"
#include "base/vfattr.h"
#include "host/host.h"
#include "infiniband/vf.h"
#include "pci/device.h"
#include "pci/vectors.h"
#include "sriov/attrs.h"
#include "sriov/bound.h"
#include "sriov/inventory.h"
#include "sriov/links.h"
#include "sriov/nvme.h"

#define VFIO "vfio-pci"
#define HOST "host"

/* ---- targets ---- */

static int read_pf(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_bdf *ret)
{
	char text[VFCTL_BDF_TEXT];
	size_t len = strcspn(op->target, "/");

	if (len >= sizeof(text))
		return op_fail_target(ctx, op);
	snprintf(text, sizeof(text), "%.*s", (int)len, op->target);
	return vfctl_bdf_parse(text, ret) < 0 ? op_fail_target(ctx, op) : 0;
}

static int read_index(struct vfctl_ctx *ctx, const struct op *op, uint32_t *ret)
{
	const char *slash = strchr(op->target, '/');

	if (!slash || parse_u32(slash + 1, 0, UINT16_MAX, ret) < 0)
		return op_fail_target(ctx, op);
	return 0;
}

static int read_number(struct vfctl_ctx *ctx, const struct op *op, const char *text,
	uint32_t *ret)
{
	if (parse_u32(text, 0, UINT16_MAX, ret) < 0)
		return op_fail_value(ctx, op, text);
	return 0;
}

static int fail_gone(struct vfctl_ctx *ctx, const struct op *op)
{
	return ctx_fail(ctx, -ENOENT, "VF %s is not there any more: it, its PF or the PF's driver was "
		"removed meanwhile", op->target);
}

/* ---- autoprobe ---- */

static int observe_autoprobe(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	return host_read(ctx, ret, PCI_SYSFS "%s/sriov_drivers_autoprobe", op->target);
}

static int write_autoprobe(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	return host_write(ctx, text, PCI_SYSFS "%s/sriov_drivers_autoprobe", op->target);
}

const struct op_type op_autoprobe = {.name = "autoprobe", .volatile_ = true, .is_gone = pci_op_is_gone,
	.observe_one = observe_autoprobe, .write_one = write_autoprobe};

/* ---- the number of VFs ---- */

static const struct {
	int error;
	const char *words;
} numvfs_hints[] = {
	{-ERANGE, "more than the driver's limit; see sriov_totalvfs"},
	{-EBUSY, "the PF is not ready, or another count is active already"},
	{-ENOENT, "its driver cannot create VFs through sysfs"},
	{-EPERM, "the driver's own limit or mode forbids it (igb: MSI-X is needed; ixgbe: "
		 "traffic classes or macvlans take the VFs)"},
	{-EAGAIN, "the driver is busy with its VFs; try again"},
	{-EOPNOTSUPP, "the device or its firmware mode has no SR-IOV"},
	{-ENOMEM, "no room for the VFs' memory windows or bus numbers: enable SR-IOV and "
		  "'above 4G decoding' in the BIOS, or boot with pci=realloc"},
	{-ENOSPC, "no interrupt vectors left for so many VFs"},
	{-EIO, "the device's SR-IOV capability is broken, or its firmware does not answer"},
};

static const char *numvfs_hint(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(numvfs_hints); i++)
		if (numvfs_hints[i].error == error)
			return numvfs_hints[i].words;
	return "dmesg may say why";
}

struct counting {
	struct vfctl_ctx *ctx;
	const struct vfctl_bdf *pf;
	uint32_t want;
};

/* By the links: reading sriov_numvfs waits for whoever writes it. */
static void tell_count(void *data)
{
	const struct counting *c = data;
	uint32_t now = c->ctx->doing ? links_count(c->ctx, c->pf) : 0;

	if (c->want)
		ctx_doing(c->ctx, "%u of %u VFs are there", now, c->want);
	else
		ctx_doing(c->ctx, "%u VFs are still there", now);
}

static int write_count(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, uint32_t count)
{
	struct counting c = {ctx, pf, count};
	char text[12], what[32] = "to remove the VFs", driver[PCI_DRIVER_NAME];
	int r;

	/* A second write would wait for the first one's lock. */
	if (vfctl_ctx_unfinished(ctx))
		return ctx_fail(ctx, -ETIMEDOUT, "the kernel still works on the first write");
	snprintf(text, sizeof(text), "%u", count);
	r = host_write_watched(ctx, tell_count, &c, text, PCI_SYSFS "%s/sriov_numvfs", TEXT(pf));
	/* i40e answers EAGAIN while a VF operation is pending. */
	for (int tries = 0; r == -EAGAIN && tries < 20; tries++) {
		host_sleep_ms(ctx, 100);
		r = host_write_watched(ctx, tell_count, &c, text, PCI_SYSFS "%s/sriov_numvfs",
			TEXT(pf));
	}
	if (r == 0 || r == -ETIMEDOUT || r == -EACCES)
		return r;
	if (r == -ENOENT && pci_driver(ctx, pf, driver) == 0 && !driver[0])
		return pci_fail_unbound(ctx, pf, r);
	if (count)
		snprintf(what, sizeof(what), "%u VF%s", count, count == 1 ? "" : "s");
	return ctx_fail(ctx, r, "the kernel refused %s (%s: %s)", what, errno_name(r),
		numvfs_hint(r));
}

static int count_vfs(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, uint32_t *ret_count)
{
	_free_ struct vfctl_vf *vfs = NULL;

	return links_read(ctx, pf, &vfs, ret_count);
}

static int observe_numvfs(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	char **ret_texts)
{
	struct vfctl_bdf pf;
	uint32_t now;
	int r = read_pf(ctx, ops, &pf);

	if (r == 0)
		r = count_vfs(ctx, &pf, &now);
	if (r < 0)
		return r;
	*ret_texts = str_format("%u", now);
	return *ret_texts ? 0 : ctx_oom(ctx);
}

/* A driver may grant fewer and call it success (bnxt with the PF down). */
static int check_count(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, uint32_t want)
{
	char driver[PCI_DRIVER_NAME] = "";
	uint32_t now;
	int r = count_vfs(ctx, pf, &now);

	if (r < 0 || now == want)
		return r;
	if (!want)
		return ctx_fail(ctx, -EIO, "%u VFs are still there after the kernel said they "
			"were removed", now);
	r = pci_driver(ctx, pf, driver);
	if (r < 0 || !driver[0])
		return r < 0 ? r : pci_fail_unbound(ctx, pf, -EIO);
	return ctx_fail(ctx, -EIO, "the driver %s made %u VFs of %u without an error (dmesg may "
		"say why; some drivers need the PF up)", driver, now, want);
}

static int apply_numvfs(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	struct vfctl_bdf pf;
	uint32_t want;
	int r = read_pf(ctx, ops, &pf);

	if (r == 0)
		r = read_number(ctx, ops, ops->want, &want);
	if (r == 0)
		r = write_count(ctx, &pf, want);
	return r < 0 ? r : check_count(ctx, &pf, want);
}

static int revert_numvfs(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	struct vfctl_bdf pf;
	uint32_t before, now;
	int r = read_pf(ctx, ops, &pf);

	/* It would only seem to be as before. */
	if (r == 0 && host_write_goes_on(ctx, PCI_SYSFS "%s/sriov_numvfs", TEXT(&pf)))
		return ctx_fail(ctx, -ETIMEDOUT, "the kernel still works on the first write");
	if (r == 0)
		r = read_number(ctx, ops, ops->before, &before);
	if (r == 0)
		r = count_vfs(ctx, &pf, &now);
	if (r < 0 || now == before)
		return r;
	/* The kernel goes from one number to another by way of none. */
	if (now)
		r = write_count(ctx, &pf, 0);
	if (r == 0 && before)
		r = write_count(ctx, &pf, before);
	if (r == 0)
		r = count_vfs(ctx, &pf, &now);
	if (r == 0 && now != before)
		return ctx_fail(ctx, -EIO, "of %u VFs %u came back", before, now);
	return r;
}

const struct op_type op_numvfs = {.name = "numvfs", .volatile_ = true, .is_gone = pci_op_is_gone,
	.observe = observe_numvfs, .apply = apply_numvfs, .revert = revert_numvfs};

/* ---- attributes ---- */

/* The PF of these ops as it is now, with its link and its VFs. */
static int open_pf(struct vfctl_ctx *ctx, const struct op *ops,
	struct vfctl_inventory **ret_inventory, const struct vfctl_pf **ret_pf)
{
	_inventory_ struct vfctl_inventory *inv = NULL;
	struct vfctl_bdf pf;
	int r = read_pf(ctx, ops, &pf);

	if (r == 0)
		r = vfctl_inventory_read(ctx, TEXT(&pf), &inv);
	if (r == 0)
		r = vfctl_inventory_find_pf(ctx, inv, TEXT(&pf), ret_pf);
	if (r == 0 && (*ret_pf)->unread)
		r = ctx_fail(ctx, -EIO, "%s", (*ret_pf)->unread);
	if (r == 0)
		*ret_inventory = steal(inv);
	return r;
}

static int find_op_vf(struct vfctl_ctx *ctx, const struct op *op, const struct vfctl_pf *pf,
	const struct vfctl_vf **ret)
{
	uint32_t index;
	int r = read_index(ctx, op, &index);

	if (r < 0)
		return r;
	*ret = find_vf_number(pf->vfs, pf->num_vfs, index);
	return 0;
}

static int parse_attrs(struct vfctl_ctx *ctx, const struct op *op, const char *text,
	struct vfctl_vf_attrs *ret)
{
	if (json_to_attrs(text, ret) < 0)
		return op_fail_value(ctx, op, text);
	return 0;
}

static bool has_vectors(const char *text)
{
	return text && strstr(text, "\"msix\"");
}

/* With the number of its vectors where the op is about that, and it can be read. */
static char *observed_attrs(struct vfctl_ctx *ctx, const struct op *op, const struct vfctl_vf *vf)
{
	struct vfctl_vf_attrs now = vf->attrs;

	if (has_vectors(op->want) || has_vectors(op->before))
		now.msix = pci_vectors(ctx, &vf->bdf);
	if (now.msix)
		now.mask |= VFCTL_ATTR_MSIX;
	return json_of_attrs(&now);
}

static int observe_attrs(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	char **ret_texts)
{
	_inventory_ struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	int r = open_pf(ctx, ops, &inv, &pf);

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct vfctl_vf *vf;

		r = find_op_vf(ctx, &ops[i], pf, &vf);
		if (r < 0 || !vf)
			return r;
		ret_texts[i] = observed_attrs(ctx, &ops[i], vf);
		if (!ret_texts[i])
			return ctx_oom(ctx);
	}
	return r;
}

static bool same_attrs(const char *text, const char *observed)
{
	struct vfctl_vf_attrs a, b;

	if (json_to_attrs(text, &a) < 0 || json_to_attrs(observed, &b) < 0)
		return false;
	/* How many vectors are the default nobody says, nor everywhere how many there are. */
	if (!a.msix || !(b.mask & VFCTL_ATTR_MSIX))
		a.mask &= ~(uint32_t)VFCTL_ATTR_MSIX;
	return !(a.mask & ~attrs_equal(&a, &b));
}

/* What the ops want, or had before; VFs that are not there any more are left out of the latter. */
static int make_changes(struct vfctl_ctx *ctx, const struct op *ops, size_t count, bool before,
	const struct vfctl_pf *pf, struct vf_attr_change *changes, size_t *ret_count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const char *text = before ? ops[i].before : ops[i].want;
		const struct vfctl_vf *vf;
		int r = find_op_vf(ctx, &ops[i], pf, &vf);

		if (r == 0 && !vf && !before)
			r = fail_gone(ctx, &ops[i]);
		if (r == 0 && vf && text)
			r = parse_attrs(ctx, &ops[i], text, &changes[n].attrs);
		if (r < 0)
			return r;
		if (!vf || !text)
			continue;
		changes[n].vf = vf->index;
		changes[n].bdf = vf->bdf;
		changes[n++].rebind = before || ops->type != &op_guest_attrs;
	}
	*ret_count = n;
	return 0;
}

static int write_pf(struct vfctl_ctx *ctx, const struct op *ops, size_t count, bool before,
	const struct vfctl_pf *pf)
{
	_free_ struct vf_attr_change *changes = calloc(count, sizeof(*changes));
	size_t n = 0;
	int r = changes ? make_changes(ctx, ops, count, before, pf, changes, &n) : ctx_oom(ctx);

	if (r < 0 || !n)
		return r;
	return before ? attrs_restore(ctx, pf, changes, n) : attrs_write(ctx, pf, changes, n);
}

static int write_attrs(struct vfctl_ctx *ctx, const struct op *ops, size_t count, bool before)
{
	_inventory_ struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	int r = open_pf(ctx, ops, &inv, &pf);

	return r < 0 ? r : write_pf(ctx, ops, count, before, pf);
}

/* Not every driver has VF attributes (ena, nvme): then there is nothing to give. */
static int write_identity(struct vfctl_ctx *ctx, const struct op *ops, size_t count, bool back)
{
	_inventory_ struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	char name[VFCTL_BDF_TEXT];
	int r = write_attrs(ctx, ops, count, back);

	if (back || r != -EOPNOTSUPP || strstr(ops->want, "guid"))
		return r;
	ctx_clear(ctx);
	r = open_pf(ctx, ops, &inv, &pf);
	if (r == 0)
		log_warn(ctx, "%s: the driver %s cannot set MACs; the VFs keep its own",
			vfctl_pf_name(pf, name), pf->driver);
	return r;
}

const struct op_type op_vf_attrs = {.name = "vf-attrs", .volatile_ = true, .is_gone = pci_op_is_gone,
	.observe = observe_attrs, .turn = write_attrs,
	.same = same_attrs};
const struct op_type op_vf_identity = {.name = "vf-identity", .volatile_ = true, .is_gone = pci_op_is_gone,
	.observe = observe_attrs, .turn = write_identity,
	.same = same_attrs};

/* For the hook, which has no time to look at the whole host. */
static int write_guest(struct vfctl_ctx *ctx, const struct op *ops, size_t count, bool before)
{
	_inventory_ struct vfctl_inventory *inv = NULL;
	struct vfctl_bdf pf;
	int r = read_pf(ctx, ops, &pf);

	if (r == 0)
		r = inventory_read_values(ctx, &pf, &inv);
	return r < 0 ? r : write_pf(ctx, ops, count, before, &inv->pfs[0]);
}

const struct op_type op_guest_attrs = {.name = "guest-attrs", .volatile_ = true, .is_gone = pci_op_is_gone,
	.observe = observe_attrs, .turn = write_guest,
	.same = same_attrs};

/* ---- drivers ---- */

const char *vf_driver_word(enum vfctl_vf_driver driver)
{
	static const char *const words[] = {
		[VFCTL_VF_DRIVER_VFIO] = VFIO,
		[VFCTL_VF_DRIVER_HOST] = HOST,
		[VFCTL_VF_DRIVER_NONE] = VF_NO_DRIVER,
	};

	return words[driver];
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

/* Both halves of "DRIVER OVERRIDE"; false: it is no such text. */
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
	/* For good only with an override: a module that is loaded later takes what it knows. */
	return !driver[0] && str_eq(override, VF_NO_DRIVER);
}

/* The VFs that there are, by their links alone. */
struct links {
	struct vfctl_vf *vfs;
	uint32_t count;
};

static void links_clear(struct links *l)
{
	free(l->vfs);
}
#define _links_ _cleanup_(links_clear)

static int open_links(struct vfctl_ctx *ctx, const struct op *ops, struct links *ret)
{
	struct vfctl_bdf pf;
	int r = read_pf(ctx, ops, &pf);

	return r < 0 ? r : links_read(ctx, &pf, &ret->vfs, &ret->count);
}

static int find_link(struct vfctl_ctx *ctx, const struct op *op, const struct links *l,
	const struct vfctl_vf **ret)
{
	uint32_t index;
	int r = read_index(ctx, op, &index);

	if (r == 0)
		*ret = find_vf_number(l->vfs, l->count, index);
	return r;
}

static int observe_driver(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	char **ret_texts)
{
	_links_ struct links links = {0};
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
 * A module that udev loads later binds every function it knows that has no driver; an
 * override that names no driver keeps it off (Documentation/ABI/testing/sysfs-bus-pci).
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
		return ctx_fail(ctx, -EPERM, "VF %u shares its IOMMU group with %s, so a guest "
			"could reach those; use a slot with ACS", vf->index, sharers);
	return r;
}

/* Only what differs: most VFs were not touched. */
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
		return ctx_fail(ctx, -EBADMSG, "'%.60s' is no driver and override", before);
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

/* A driver of this host has read the identities by now: does it show the same? */
static int check_bound(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	_inventory_ struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	int r = open_pf(ctx, ops, &inv, &pf);

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct vfctl_vf *vf;
		struct vf_attr_change has;

		r = find_op_vf(ctx, &ops[i], pf, &vf);
		if (r < 0 || !vf)
			return r < 0 ? r : fail_gone(ctx, &ops[i]);
		has = (struct vf_attr_change){vf->index, vf->bdf, vf->attrs, false};
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
	int r = read_pf(ctx, ops, &pf);

	if (r == 0)
		nvme_warn_bare(ctx, &pf);
	return r;
}

static int apply_driver(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	_links_ struct links links = {0};
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
			r = fail_gone(ctx, &ops[i]);
		if (r < 0)
			return r;
		ctx_doing_vf(ctx, i + 1, count);
		r = bind_one(ctx, vf, ops[i].want);
		ctx_doing_vf(ctx, 0, 0);
		if (r < 0)
			return pci_is_gone(ctx, &vf->bdf) ? fail_gone(ctx, &ops[i])
				: ctx_prefix(ctx, r, "bind VF %u", vf->index);
		host |= str_eq(ops[i].want, HOST);
	}
	return r < 0 || !host ? r : check_bound(ctx, ops, count);
}

static int revert_driver(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	_links_ struct links links = {0};
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

const struct op_type op_vf_driver = {.name = "vf-driver", .volatile_ = true, .is_gone = pci_op_is_gone,
	.observe = observe_driver, .apply = apply_driver, .revert = revert_driver,
	.same = same_driver};

/* ---- modules ---- */

static int observe_module(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	return op_say(ctx, pci_driver_is_here(ctx, op->target) ? "loaded" : "absent", ret);
}

static int apply_module(struct vfctl_ctx *ctx, const struct op *op)
{
	return pci_need_driver(ctx, op->target);
}

const struct op_type op_module = {.name = "module", .nature = OP_KEPT, .volatile_ = true,
	.observe_one = observe_module, .apply_one = apply_module};
