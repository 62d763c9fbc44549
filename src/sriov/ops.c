// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations on PFs and VFs: each can be observed, applied and rolled back from its data alone. */
#include "sriov/ops.h"

#include <errno.h>
#include <stdio.h>

#include "base/json.h"
#include "base/parse.h"
#include "base/vfattr.h"
#include "host/host.h"
#include "pci/device.h"
#include "pci/vectors.h"
#include "sriov/attrs.h"
#include "sriov/inventory.h"
#include "sriov/links.h"
#include "sriov/unused.h"
#include "sriov/vf_op.h"

static int read_number(struct vfctl_ctx *ctx, const struct op *op, const char *text,
	uint32_t *ret)
{
	if (parse_u32(text, 0, UINT16_MAX, ret) < 0)
		return op_fail_value(ctx, op, text);
	return 0;
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

OP_WRITTEN(autoprobe, observe_autoprobe, write_autoprobe)
const struct op_type op_autoprobe = {.name = "autoprobe", OP_CALLS(autoprobe),
	.lost_on_reboot = true,
	.is_gone = pci_op_is_gone};

/* ---- the number of VFs ---- */

static const struct {
	int error;
	const char *message;
} numvfs_hints[] = {
	{-ERANGE, "more than the driver's limit; see sriov_totalvfs"},
	{-EBUSY, "the PF is not ready, or another number of VFs is already active"},
	{-ENOENT, "its driver cannot create VFs through sysfs"},
	{-EPERM, "the driver's own limit or mode forbids it (igb: MSI-X is needed; ixgbe: "
		 "traffic classes or macvlans take the VFs)"},
	{-EAGAIN, "the driver is busy with its VFs; try again"},
	{-EOPNOTSUPP, "the device or its firmware mode has no SR-IOV"},
	{-ENOMEM, "no space for the memory windows or bus numbers of the VFs: enable SR-IOV and 'above "
		  "4G decoding' in the BIOS, or boot with pci=realloc"},
	{-ENOSPC, "no interrupt vectors left for so many VFs"},
	{-EIO, "the device's SR-IOV capability is broken, or its firmware does not answer"},
};

static const char *numvfs_hint(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(numvfs_hints); i++)
		if (numvfs_hints[i].error == error)
			return numvfs_hints[i].message;
	return "dmesg may tell why";
}

struct counting {
	struct vfctl_ctx *ctx;
	const struct vfctl_bdf *pf;
	uint32_t want;
};

/* Counts the links, because a read of sriov_numvfs blocks while another process writes to it. */
static void tell_count(void *data)
{
	const struct counting *c = data;
	uint32_t now = c->ctx->progress ? links_count(c->ctx, c->pf) : 0;

	if (c->want)
		ctx_progress(c->ctx, "%u of %u VFs exist", now, c->want);
	else
		ctx_progress(c->ctx, "%u VFs still exist", now);
}

static int write_count(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, uint32_t count)
{
	struct counting c = {ctx, pf, count};
	char text[12], what[32] = "to remove the VFs", driver[PCI_DRIVER_NAME];
	unsigned waited = 0;
	int r;

	/* A second write would wait for the first one's lock. */
	if (vfctl_ctx_unfinished(ctx))
		return ctx_fail(ctx, -ETIMEDOUT, "the kernel has not finished the first write");
	snprintf(text, sizeof(text), "%u", count);
	r = host_write_watched(ctx, tell_count, &c, text, PCI_SYSFS "%s/sriov_numvfs", TEXT(pf));
	/* i40e answers EAGAIN while a VF operation is pending. */
	while (r == -EAGAIN && host_wait_ms(ctx, 100, &waited))
		r = host_write_watched(ctx, tell_count, &c, text, PCI_SYSFS "%s/sriov_numvfs",
			TEXT(pf));
	if (r == 0 || r == -ETIMEDOUT || r == -EACCES)
		return r;
	if (r == -ENOENT && pci_driver(ctx, pf, driver) == 0 && !driver[0])
		return pci_fail_unbound(ctx, pf, r);
	if (count)
		snprintf(what, sizeof(what), "%u VF%s", count, plural(count));
	return ctx_fail(ctx, r, "the kernel rejected %s (%s: %s)", what, errno_name(r),
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
	int r = vf_op_pf(ctx, ops, &pf);

	if (r == 0)
		r = count_vfs(ctx, &pf, &now);
	if (r < 0)
		return r;
	*ret_texts = str_format("%u", now);
	return *ret_texts ? 0 : ctx_oom(ctx);
}

/* A driver may create fewer and report success (bnxt if the PF is down). */
static int check_count(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, uint32_t want)
{
	char driver[PCI_DRIVER_NAME] = "";
	uint32_t now;
	int r = count_vfs(ctx, pf, &now);

	if (r < 0 || now == want)
		return r;
	if (!want)
		return ctx_fail(ctx, -EIO, "%u VFs still exist after the kernel reported their removal", now);
	r = pci_driver(ctx, pf, driver);
	if (r < 0 || !driver[0])
		return r < 0 ? r : pci_fail_unbound(ctx, pf, -EIO);
	return ctx_fail(ctx, -EIO, "driver %s created %u of %u VFs without an error (dmesg may tell "
		"why; some drivers need the PF up)", driver, now, want);
}

static int apply_numvfs(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	struct vfctl_bdf pf;
	uint32_t want;
	int r = vf_op_pf(ctx, ops, &pf);

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
	int r = vf_op_pf(ctx, ops, &pf);

	/* The present count would only seem to be the previous one. */
	if (r == 0 && host_write_goes_on(ctx, PCI_SYSFS "%s/sriov_numvfs", TEXT(&pf)))
		return ctx_fail(ctx, -ETIMEDOUT, "the kernel has not finished the first write");
	if (r == 0)
		r = read_number(ctx, ops, ops->before, &before);
	if (r == 0)
		r = count_vfs(ctx, &pf, &now);
	if (r < 0 || now == before)
		return r;
	/* The kernel requires 0 between two different numbers. */
	if (now)
		r = write_count(ctx, &pf, 0);
	if (r == 0 && before)
		r = write_count(ctx, &pf, before);
	if (r == 0)
		r = count_vfs(ctx, &pf, &now);
	if (r == 0 && now != before)
		return ctx_fail(ctx, -EIO, "of %u VFs, %u were restored", before, now);
	return r;
}

static int check_numvfs(struct vfctl_ctx *ctx, const struct op *op,
	const struct vfctl_inventory *inv, const struct vfctl_pf *pf)
{
	char now[12];

	snprintf(now, sizeof(now), "%u", pf->num_vfs);
	return str_eq(now, op->before) ? 0 : pf_check_idle(ctx, pf,
		"its number of VFs cannot be restored");
}

const struct op_type op_numvfs = {.name = "numvfs", .lost_on_reboot = true,
	.is_gone = pci_op_is_gone,
	.observe = observe_numvfs, .apply = apply_numvfs, .revert = revert_numvfs,
	.check_unused = check_numvfs};

/* ---- attributes ---- */

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

/* Include the number of vectors if the op concerns that, and it can be read. */
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
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	int r = vf_op_read_values(ctx, ops, &inv, &pf);

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct vfctl_vf *vf;

		r = vf_op_find(ctx, &ops[i], pf, &vf);
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
	/*
	 * The default number of vectors is not reported, and some drivers do not report the number
	 * at all.
	 */
	if (!a.msix || !(b.mask & VFCTL_ATTR_MSIX))
		a.mask &= ~(uint32_t)VFCTL_ATTR_MSIX;
	return !(a.mask & ~attrs_equal(&a, &b));
}

/*
 * The values that the ops want, or had before; for the latter, VFs that no longer exist are left
 * out.
 */
static int make_changes(struct vfctl_ctx *ctx, const struct op *ops, size_t count, bool before,
	const struct vfctl_pf *pf, struct vf_attr_change *changes, size_t *ret_count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const char *text = before ? ops[i].before : ops[i].want;
		const struct vfctl_vf *vf;
		int r = vf_op_find(ctx, &ops[i], pf, &vf);

		if (r == 0 && !vf && !before)
			r = vf_op_fail_gone(ctx, &ops[i]);
		if (r == 0 && vf && text)
			r = parse_attrs(ctx, &ops[i], text, &changes[n].attrs);
		if (r < 0)
			return r;
		if (!vf || !text)
			continue;
		changes[n].vf = vf->index;
		changes[n].bdf = vf->bdf;
		changes[n].rebind = before || ops->type != &op_guest_attrs;
		if (!before && ops->type == &op_guest_attrs)
			changes[n].optional = vfctl_vf_attrs_default(&changes[n].attrs) &
				attrs_of_type(VFCTL_ATTR_TYPE_SWITCH);
		n++;
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
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	int r = vf_op_read_values(ctx, ops, &inv, &pf);

	return r < 0 ? r : write_pf(ctx, ops, count, before, pf);
}

/* Some drivers have no VF attributes (ena, nvme): then there is nothing to set. */
static int write_identity(struct vfctl_ctx *ctx, const struct op *ops, size_t count, bool back)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	char name[VFCTL_BDF_TEXT];
	int r = write_attrs(ctx, ops, count, back);

	if (back || r != -EOPNOTSUPP || strstr(ops->want, "guid"))
		return r;
	ctx_clear(ctx);
	r = vf_op_read_values(ctx, ops, &inv, &pf);
	if (r == 0)
		log_warn(ctx, "%s: driver %s cannot set MACs; the VFs keep those of the driver",
			vfctl_pf_name(pf, name), pf->driver);
	return r;
}

static int check_attrs(struct vfctl_ctx *ctx, const struct op *op,
	const struct vfctl_inventory *inv, const struct vfctl_pf *pf)
{
	const struct vfctl_vf *vf = vf_op_in_use(op, pf);
	struct vfctl_vf_attrs back;

	if (!vf || json_to_attrs(op->before, &back) < 0)
		return 0; /* the roll-back reports a text that cannot be read */
	attrs_drop_equal(&back, &vf->attrs);
	return vf_check_unused(ctx, vf, &back);
}

OP_APPLY_OR_REVERT_ALL(vf_attrs, write_attrs)
const struct op_type op_vf_attrs = {.name = "vf-attrs", .lost_on_reboot = true,
	.is_gone = pci_op_is_gone, .observe = observe_attrs, .apply = vf_attrs_apply,
	.revert = vf_attrs_revert, .same = same_attrs,
	.check_unused = check_attrs};
OP_APPLY_OR_REVERT_ALL(vf_identity, write_identity)
const struct op_type op_vf_identity = {.name = "vf-identity", .lost_on_reboot = true,
	.is_gone = pci_op_is_gone, .observe = observe_attrs, .apply = vf_identity_apply,
	.revert = vf_identity_revert, .same = same_attrs,
	.check_unused = check_attrs};

OP_APPLY_OR_REVERT_ALL(guest_attrs, write_attrs)
const struct op_type op_guest_attrs = {.name = "guest-attrs", .lost_on_reboot = true,
	.is_gone = pci_op_is_gone, .observe = observe_attrs, .apply = guest_attrs_apply,
	.revert = guest_attrs_revert, .same = same_attrs,
	.check_unused = check_attrs};

/* ---- modules ---- */

#define RELEASE "/proc/sys/kernel/osrelease"
#define BUILTIN "/lib/modules/%s/modules.builtin"

/* @len: of @b. The kernel knows modules with "_", whose files may have "-". */
static bool same_module(const char *a, const char *b, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!a[i] || (a[i] != b[i] && !(strchr("-_", a[i]) && strchr("-_", b[i]))))
			return false;
	return !a[len];
}

/* A line of modules.builtin: "kernel/drivers/pci/pcie/aer.ko" */
static bool is_builtin(struct vfctl_ctx *ctx, const char *name)
{
	_free_ char *release = NULL, *list = NULL;

	if (host_try_read(ctx, &release, RELEASE) < 0 ||
		host_try_read(ctx, &list, BUILTIN, str_rstrip(release)) < 0)
		return false;
	for (const char *at = list; (at = strstr(at, ".ko")); at += strlen(".ko")) {
		const char *begin = at;

		while (begin > list && !strchr("/\n", begin[-1]))
			begin--;
		if (same_module(name, begin, (size_t)(at - begin)))
			return true;
	}
	return false;
}

bool module_is_here(struct vfctl_ctx *ctx, const char *name)
{
	char known[64];
	size_t i = 0;

	for (; name[i] && i < sizeof(known) - 1; i++)
		known[i] = name[i] == '-' ? '_' : name[i];
	known[i] = '\0';
	return pci_driver_is_here(ctx, name) || host_exists(ctx, "/sys/module/%s", known) ||
		is_builtin(ctx, name);
}

static int observe_module(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	return op_say(ctx, module_is_here(ctx, op->target) ? "loaded" : "absent", ret);
}

static int apply_module(struct vfctl_ctx *ctx, const struct op *op)
{
	int r;

	if (!str_eq(op->want, "tried"))
		return pci_need_driver(ctx, op->target);
	r = module_is_here(ctx, op->target) ? 0 : host_load_module(ctx, op->target);
	if (r == 0 || r == -EROFS || r == -EINTR)
		return r;
	log_warn(ctx, "%s; vfctl continues without it", vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return 0;
}

OP_ONE_BY_ONE(module, observe_module, apply_module, NULL)
const struct op_type op_module = {.name = "module", OP_CALLS(module), .nature = OP_KEPT,
	.lost_on_reboot = true};
