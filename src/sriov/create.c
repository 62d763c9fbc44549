// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Create VFs: snapshot -> checks -> autoprobe off, count, identities, drivers, autoprobe
 * back. No driver of the host ever probes a VF that has no identity yet, and each VF is
 * bound once: the probes inside the kernel's write are what makes the shell way slow.
 */
#include <errno.h>
#include <stdio.h>

#include "host/host.h"
#include "netlink/link.h"
#include "sriov/bound.h"
#include "sriov/create.h"
#include "sriov/holder.h"
#include "sriov/lifecycle.h"
#include "sriov/links.h"
#include "sriov/modparam.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define CLASS_NETWORK 0x02
#define NO_DRIVER "none"

static void free_create(void *data)
{
	struct create *c = data;

	free(c->wishes);
	free(c->vfs);
	free(c->overrides);
	free(c);
}

/* ---- the count ---- */

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

static int write_count(struct vfctl_ctx *ctx, struct create *c, uint32_t count)
{
	char text[12], what[32] = "to remove the VFs";
	int r;

	/* A second write would wait for the first one's lock. */
	if (c->stuck)
		return ctx_fail(ctx, -ETIMEDOUT, "the kernel still works on the first write");
	snprintf(text, sizeof(text), "%u", count);
	r = host_write_slow(ctx, text, PCI_SYSFS "%s/sriov_numvfs", TEXT(&c->pf->bdf));
	/* i40e answers EAGAIN while a VF operation is pending. */
	for (int tries = 0; r == -EAGAIN && tries < 20; tries++) {
		host_sleep_ms(ctx, 100);
		r = host_write_slow(ctx, text, PCI_SYSFS "%s/sriov_numvfs", TEXT(&c->pf->bdf));
	}
	c->stuck = r == -ETIMEDOUT;
	if (r == 0 || r == -ETIMEDOUT || r == -EACCES)
		return r;
	if (count)
		snprintf(what, sizeof(what), "%u VFs", count);
	return ctx_fail(ctx, r, "the kernel refused %s (%s: %s)", what, errno_name(r),
		numvfs_hint(r));
}

static int apply_remove(struct vfctl_ctx *ctx, void *data)
{
	struct create *c = data;

	c->removed = true;
	return write_count(ctx, c, 0);
}

static int restore_attrs(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	_free_ struct vf_wish *wishes = calloc(pf->num_vfs, sizeof(*wishes));

	if (!wishes)
		return ctx_oom(ctx);
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		wishes[i] = (struct vf_wish){.vf = pf->vfs[i].index, .bdf = pf->vfs[i].bdf,
			.attrs = pf->vfs[i].attrs};
	return attrs_restore(ctx, pf, wishes, pf->num_vfs);
}

/* How many VFs of those there were are there now, at the same addresses? */
static int count_old(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t *ret_old,
	uint32_t *ret_all)
{
	_free_ struct vfctl_vf *now = NULL;
	int r = links_read(ctx, &pf->bdf, &now, ret_all);

	*ret_old = 0;
	for (uint32_t i = 0; r == 0 && i < *ret_all && i < pf->num_vfs; i++)
		*ret_old += vfctl_bdf_compare(&now[i].bdf, &pf->vfs[i].bdf) == 0;
	return r;
}

/* As they were: the count, then each VF's attributes, then its driver. */
static int undo_remove(struct vfctl_ctx *ctx, void *data)
{
	struct create *c = data;
	const struct vfctl_pf *pf = c->pf;
	uint32_t old, all;
	int r;

	if (!c->removed)
		return 0;
	r = count_old(ctx, pf, &old, &all);
	if (r < 0 || old == pf->num_vfs)
		return r;
	r = write_count(ctx, c, pf->num_vfs);
	if (r == 0)
		r = count_old(ctx, pf, &old, &all);
	if (r == 0 && old != pf->num_vfs)
		return ctx_fail(ctx, -EIO, "of %u VFs %u came back", pf->num_vfs, old);
	if (r == 0 && (pf->vf_info || pf->infiniband))
		r = restore_attrs(ctx, pf);
	for (uint32_t i = 0; r == 0 && i < pf->num_vfs; i++)
		r = pci_restore_driver(ctx, &pf->vfs[i].bdf, pf->vfs[i].driver,
			c->overrides[i]);
	return r;
}

static int apply_count(struct vfctl_ctx *ctx, void *data)
{
	struct create *c = data;

	c->created = true;
	return write_count(ctx, c, c->count);
}

/* A driver may grant fewer and call it success (bnxt with the PF down). */
static int verify_count(struct vfctl_ctx *ctx, void *data)
{
	struct create *c = data;
	int r = links_read(ctx, &c->pf->bdf, &c->vfs, &c->vf_count);

	if (r < 0)
		return r;
	if (c->vf_count != c->count)
		return ctx_fail(ctx, -EIO, "the driver %s made %u VFs of %u without an error "
			"(dmesg may say why; some drivers need the PF up)", c->pf->driver,
			c->vf_count, c->count);
	for (uint32_t i = 0; i < c->wish_count; i++) {
		c->wishes[i].vf = c->vfs[i].index;
		c->wishes[i].bdf = c->vfs[i].bdf;
	}
	return 0;
}

static int undo_count(struct vfctl_ctx *ctx, void *data)
{
	struct create *c = data;
	_free_ struct vfctl_vf *now = NULL;
	uint32_t count;
	int r;

	if (!c->created)
		return 0;
	r = links_read(ctx, &c->pf->bdf, &now, &count);
	return r < 0 || !count ? r : write_count(ctx, c, 0);
}

/* ---- autoprobe ---- */

static int set_autoprobe(struct vfctl_ctx *ctx, const struct create *c, bool on)
{
	return host_write(ctx, on ? "1" : "0", PCI_SYSFS "%s/sriov_drivers_autoprobe",
		TEXT(&c->pf->bdf));
}

static int apply_autoprobe_off(struct vfctl_ctx *ctx, void *data)
{
	return set_autoprobe(ctx, data, false);
}

static int apply_autoprobe_on(struct vfctl_ctx *ctx, void *data)
{
	return set_autoprobe(ctx, data, true);
}

static int apply_autoprobe_back(struct vfctl_ctx *ctx, void *data)
{
	const struct create *c = data;

	return set_autoprobe(ctx, c, c->pf->autoprobe);
}

/* ---- drivers ---- */

static int apply_load(struct vfctl_ctx *ctx, void *data)
{
	return pci_need_driver(ctx, "vfio-pci");
}

/*
 * A module that udev loads later binds every function it knows that has no driver; an
 * override that names no driver keeps it off (Documentation/ABI/testing/sysfs-bus-pci).
 */
static int unbind_for_good(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	int r = pci_set_override(ctx, bdf, NO_DRIVER);

	return r < 0 ? r : pci_unbind(ctx, bdf);
}

static int bind_one(struct vfctl_ctx *ctx, const struct create *c, const struct vfctl_vf *vf)
{
	_free_ char *sharers = NULL;
	int r;

	if (c->driver == VFCTL_VF_DRIVER_HOST)
		return pci_bind_default(ctx, &vf->bdf);
	if (c->driver == VFCTL_VF_DRIVER_NONE)
		return unbind_for_good(ctx, &vf->bdf);
	r = pci_bind(ctx, &vf->bdf, "vfio-pci");
	if (r == 0)
		r = pci_iommu_group(ctx, &vf->bdf);
	if (r >= 0)
		r = pci_iommu_sharers(ctx, &vf->bdf, r, &sharers);
	if (r == 0 && sharers[0])
		return ctx_fail(ctx, -EPERM, "VF %u shares its IOMMU group with %s, so a guest "
			"could reach those; use a slot with ACS", vf->index, sharers);
	return r;
}

static int apply_bind(struct vfctl_ctx *ctx, void *data)
{
	struct create *c = data;

	for (uint32_t i = 0; i < c->vf_count; i++) {
		int r;

		if (ctx->cancelled)
			return ctx_fail(ctx, -EINTR, "interrupted; rolled back");
		r = bind_one(ctx, c, &c->vfs[i]);
		if (r < 0)
			return ctx_prefix(ctx, r, "bind VF %u", c->vfs[i].index);
	}
	return 0;
}

/* VFs that were there before, and moved to the host driver with the MACs that they had. */
static int check_moved_macs(struct vfctl_ctx *ctx, const struct create *c)
{
	int r = 0;

	for (uint32_t i = 0; i < c->vf_count && r == 0; i++) {
		const struct vf_wish has = {c->vfs[i].index, c->vfs[i].bdf, c->vfs[i].attrs, false};

		if (has.attrs.mask & VFCTL_ATTR_MAC && !vfctl_mac_is_zero(&has.attrs.mac))
			r = bound_check_mac(ctx, &has);
	}
	return r;
}

/* A driver of this host has read the identities by now: does it show the same? */
static int verify_bind(struct vfctl_ctx *ctx, void *data)
{
	struct create *c = data;
	int r = 0;

	if (c->driver != VFCTL_VF_DRIVER_HOST)
		return 0;
	for (uint32_t i = 0; i < c->wish_count && r == 0; i++)
		if (c->wishes[i].attrs.mask & VFCTL_ATTR_MAC)
			r = bound_check_mac(ctx, &c->wishes[i]);
	for (uint32_t i = 0; i < c->wish_count && r == 0 && !c->live && c->pf->rdma[0]; i++)
		r = c->pf->infiniband ? bound_check_guids(ctx, &c->wishes[i])
				      : bound_check_roce(ctx, &c->wishes[i]);
	return r < 0 ? r : check_moved_macs(ctx, c);
}

/* Only for VFs that were there before: new ones go with the count. */
static int undo_rebind(struct vfctl_ctx *ctx, void *data)
{
	struct create *c = data;
	int r = 0;

	for (uint32_t i = 0; i < c->vf_count && r == 0; i++)
		r = pci_restore_driver(ctx, &c->vfs[i].bdf, c->vfs[i].driver, c->overrides[i]);
	return r;
}

static const char *const driver_words[] = {
	[VFCTL_VF_DRIVER_VFIO] = "vfio-pci",
	[VFCTL_VF_DRIVER_HOST] = "the host driver",
	[VFCTL_VF_DRIVER_NONE] = "no driver",
};

static void add_bind_step(struct steps *steps, const struct create *c, const struct step *row,
	uint32_t count)
{
	const char *plural = count == 1 ? "" : "s";

	if (c->driver == VFCTL_VF_DRIVER_NONE)
		steps_add(steps, row, "%s: keep all drivers off %u VF%s", c->name, count, plural);
	else
		steps_add(steps, row, "%s: bind %u VF%s to %s", c->name, count, plural,
			driver_words[c->driver]);
}

/* First of all: a host without the module must not lose its VFs over it. */
static void add_load_step(struct vfctl_ctx *ctx, struct steps *steps, struct create *c)
{
	struct step load = {.apply = apply_load, .data = c};

	if (c->driver == VFCTL_VF_DRIVER_VFIO && !pci_driver_is_here(ctx, "vfio-pci"))
		steps_add(steps, &load, "load the kernel module vfio-pci");
}

/* What a roll-back puts back besides what the snapshot holds. */
static int read_overrides(struct vfctl_ctx *ctx, struct create *c, const struct vfctl_vf *vfs,
	uint32_t count)
{
	int r = 0;

	c->overrides = calloc(count + 1, sizeof(*c->overrides));
	if (!c->overrides)
		return ctx_oom(ctx);
	for (uint32_t i = 0; i < count && r == 0; i++)
		r = pci_override(ctx, &vfs[i].bdf, c->overrides[i]);
	return r;
}

/* ---- checks before anything is written ---- */

static int check_idle(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, const char *why)
{
	char name[VFCTL_BDF_TEXT], words[256];

	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (vf_is_busy(&pf->vfs[i]) && !vf_is_open(&pf->vfs[i]) && !pf->vfs[i].lease.name[0])
			return ctx_fail(ctx, -EBUSY, "%s/%u (%s) is %s; --despite %s takes it all the "
				"same", vfctl_pf_name(pf, name), pf->vfs[i].index,
				TEXT(&pf->vfs[i].bdf),
				vf_describe_user(&pf->vfs[i], words, sizeof(words)),
				pf->vfs[i].defined_in);
		else if (vf_is_busy(&pf->vfs[i]))
			return ctx_fail(ctx, -EBUSY, "%s/%u (%s) is %s; %s", vfctl_pf_name(pf, name),
				pf->vfs[i].index, TEXT(&pf->vfs[i].bdf),
				vf_describe_user(&pf->vfs[i], words, sizeof(words)), why);
	return 0;
}

static int check_driver(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	if (!pf->driver[0])
		return ctx_fail(ctx, -ENODEV, "no driver is bound to the PF, and only a driver "
			"can make VFs; bind it: echo %s > /sys/bus/pci/drivers_probe",
			TEXT(&pf->bdf));
	if (pci_driver_is_vfio(pf->driver))
		return ctx_fail(ctx, -EOPNOTSUPP, "the PF itself is on %s; give it back to its "
			"own driver first", pf->driver);
	return 0;
}

static int check_create(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_create_options *options)
{
	char name[VFCTL_BDF_TEXT];

	if (options->count == 0)
		return ctx_fail(ctx, -ERANGE, "0 VFs: to remove them all use vfctl destroy %s",
			vfctl_pf_name(pf, name));
	if (options->count > pf->total_vfs)
		return ctx_fail(ctx, -ERANGE, "%u VFs are more than this PF can have: %u "
			"(sriov_totalvfs)", options->count, pf->total_vfs);
	if (options->driver == VFCTL_VF_DRIVER_VFIO && pf->iommu_group < 0)
		return ctx_fail(ctx, -EOPNOTSUPP, "vfio-pci needs an IOMMU and this host shows "
			"none: enable VT-d or AMD-Vi in the BIOS and boot with intel_iommu=on "
			"(or use --driver host)");
	return check_driver(ctx, pf);
}

/* ---- plans ---- */

static bool has_driver(const struct vfctl_vf *vf, enum vfctl_vf_driver driver)
{
	switch (driver) {
	case VFCTL_VF_DRIVER_VFIO:
		return pci_driver_is_vfio(vf->driver);
	case VFCTL_VF_DRIVER_HOST:
		return vf->driver[0] && !pci_driver_is_vfio(vf->driver);
	case VFCTL_VF_DRIVER_NONE:
		break;
	}
	return !vf->driver[0];
}

/* 1 it need not be touched. Without a driver it is for good only with an override. */
static int is_as_asked(struct vfctl_ctx *ctx, const struct vfctl_vf *vf,
	enum vfctl_vf_driver driver)
{
	char override[PCI_DRIVER_NAME] = "";
	int r = 0;

	if (!has_driver(vf, driver))
		return 0;
	if (driver == VFCTL_VF_DRIVER_NONE)
		r = pci_override(ctx, &vf->bdf, override);
	return r < 0 ? r : driver != VFCTL_VF_DRIVER_NONE || str_eq(override, NO_DRIVER);
}

/*
 * The count is right already: no write of it, only VFs without a MAC get theirs and VFs on
 * another driver move.
 */
static int plan_rebind(struct vfctl_ctx *ctx, struct create *c, struct steps *steps)
{
	const struct vfctl_pf *pf = c->pf;
	struct step bind = {.apply = apply_bind, .verify = verify_bind, .undo = undo_rebind,
		.data = c};
	struct step on = {.apply = apply_autoprobe_on, .undo = apply_autoprobe_back, .data = c};
	struct step back = {.apply = apply_autoprobe_back, .data = c};
	char words[192];
	int r;

	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		r = is_as_asked(ctx, &pf->vfs[i], c->driver);
		if (r < 0)
			return r;
		if (r)
			continue;
		if (vf_is_busy(&pf->vfs[i]))
			return ctx_fail(ctx, -EBUSY, "%s/%u is %s, so it cannot move to %s", c->name,
				pf->vfs[i].index, vf_describe_user(&pf->vfs[i], words,
				sizeof(words)), driver_words[c->driver]);
		if (!array_grow(c->vfs, c->vf_count))
			return ctx_oom(ctx);
		c->vfs[c->vf_count++] = pf->vfs[i];
	}
	create_add_identity_step(c, steps);
	if (!c->vf_count)
		return 0;
	r = read_overrides(ctx, c, c->vfs, c->vf_count);
	if (r < 0)
		return r;
	add_load_step(ctx, steps, c);
	if (c->driver == VFCTL_VF_DRIVER_HOST && !pf->autoprobe)
		steps_add(steps, &on, "%s: let drivers probe VFs", c->name);
	add_bind_step(steps, c, &bind, c->vf_count);
	if (c->driver == VFCTL_VF_DRIVER_HOST && !pf->autoprobe)
		steps_add(steps, &back, "%s: keep drivers from probing VFs, as before", c->name);
	return 0;
}

static int plan_steps(struct vfctl_ctx *ctx, struct create *c, struct steps *steps)
{
	const struct vfctl_pf *pf = c->pf;
	struct step off = {.apply = apply_autoprobe_off, .undo = apply_autoprobe_back, .data = c};
	struct step on = {.apply = apply_autoprobe_on, .data = c};
	struct step back = {.apply = apply_autoprobe_back, .data = c};
	struct step remove = {.apply = apply_remove, .undo = undo_remove, .data = c};
	struct step count = {.apply = apply_count, .verify = verify_count, .undo = undo_count,
		.data = c};
	struct step bind = {.apply = apply_bind, .verify = verify_bind, .data = c};
	bool host = c->driver == VFCTL_VF_DRIVER_HOST;
	const char *plural = c->count == 1 ? "" : "s";
	int r = read_overrides(ctx, c, pf->vfs, pf->num_vfs);

	if (r < 0)
		return r;
	add_load_step(ctx, steps, c);
	if (pf->autoprobe)
		steps_add(steps, &off, "%s: keep drivers from probing new VFs", c->name);
	if (pf->num_vfs)
		steps_add(steps, &remove, "%s: remove the present %u VF%s", c->name, pf->num_vfs,
			pf->num_vfs == 1 ? "" : "s");
	steps_add(steps, &count, "%s: create %u VF%s", c->name, c->count, plural);
	create_add_identity_step(c, steps);
	if (host)
		steps_add(steps, &on, "%s: let drivers probe VFs", c->name);
	add_bind_step(steps, c, &bind, c->count);
	if (host ? !pf->autoprobe : pf->autoprobe)
		steps_add(steps, &back, "%s: set probing of VFs back as it was", c->name);
	return 0;
}

static bool wants_identities(const struct vfctl_pf *pf,
	const struct vfctl_create_options *options)
{
	return !options->keep_identities && (pf->ifindex || pf->infiniband) &&
		pf->class_code >> 16 == CLASS_NETWORK;
}

int lifecycle_plan_create(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_leases *leases, const struct vfctl_pf *pf,
	const struct vfctl_create_options *options, const uint64_t *guids,
	struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct create *c;
	int r = check_create(ctx, pf, options);

	if (r < 0)
		return r;
	if (pf->num_vfs != options->count && modparam_is_needed(pf))
		return modparam_plan(ctx, inv, pf, options->count,
			options->driver == VFCTL_VF_DRIVER_HOST, ret_change);
	if (pf->num_vfs && pf->num_vfs != options->count)
		r = check_idle(ctx, pf, "changing the number of VFs would take it away");
	if (r < 0)
		return r;
	c = calloc(1, sizeof(*c));
	r = change_new(ctx, c, free_create, &change);
	if (r < 0)
		return r;
	*c = (struct create){.pf = pf, .count = options->count, .driver = options->driver,
		.guids = guids, .pkey = options->pkey, .leases = leases};
	snprintf(c->name, sizeof(c->name), "%s", vfctl_pf_name(pf, (char[VFCTL_BDF_TEXT]){0}));
	if (wants_identities(pf, options))
		r = create_plan_identities(ctx, inv, c);
	if (r == 0 && pf->num_vfs == options->count)
		r = plan_rebind(ctx, c, &change->steps);
	else if (r == 0)
		r = plan_steps(ctx, c, &change->steps);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

/* ---- destroy ---- */

static int verify_gone(struct vfctl_ctx *ctx, void *data)
{
	struct create *c = data;
	_free_ struct vfctl_vf *now = NULL;
	uint32_t count;
	int r = links_read(ctx, &c->pf->bdf, &now, &count);

	if (r == 0 && count)
		return ctx_fail(ctx, -EIO, "%u VFs are still there after the kernel said they "
			"were removed", count);
	return r;
}

int lifecycle_plan_destroy(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct create *c;
	struct step row = {.apply = apply_remove, .verify = verify_gone, .undo = undo_remove};
	int r;

	if (modparam_is_needed(pf))
		return modparam_plan(ctx, inv, pf, 0, false, ret_change);
	r = check_idle(ctx, pf, "stop or detach that first");
	if (r == 0 && pf->num_vfs)
		r = check_driver(ctx, pf);
	if (r < 0)
		return r;
	c = calloc(1, sizeof(*c));
	r = change_new(ctx, c, free_create, &change);
	if (r < 0)
		return r;
	*c = (struct create){.pf = pf};
	snprintf(c->name, sizeof(c->name), "%s", vfctl_pf_name(pf, (char[VFCTL_BDF_TEXT]){0}));
	row.data = c;
	r = read_overrides(ctx, c, pf->vfs, pf->num_vfs);
	if (r < 0)
		return r;
	if (pf->num_vfs)
		steps_add(&change->steps, &row, "%s: remove %u VF%s", c->name, pf->num_vfs,
			pf->num_vfs == 1 ? "" : "s");
	*ret_change = steal(change);
	return 0;
}
