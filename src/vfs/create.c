// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Create VFs: read a snapshot, check it, then plan the operations: autoprobe off, count,
 * identities, drivers, autoprobe restored. No driver of the host probes a VF that has no identity
 * yet, and each VF is bound only once: with autoprobe, the probes during the kernel's write make
 * the creation slow.
 */
#include <errno.h>
#include <stdio.h>

#include "base/change.h"
#include "base/json.h"
#include "base/parse.h"
#include "drivers/driver.h"
#include "eswitch/eswitch.h"
#include "sriov/eswitch.h"
#include "sriov/holder.h"
#include "sriov/modparam.h"
#include "sriov/ops.h"
#include "sriov/unused.h"
#include "sriov/vf_changes.h"
#include "vfs/create.h"

#define CLASS_NETWORK 0x02

static void create_clear(struct create *c)
{
	free(c->changes);
}

/* ---- operations ---- */

/* The values of VFs that are removed: a roll-back restores them with the VFs. */
static int add_old_vfs(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct steps *steps)
{
	bool attrs = pf->vf_info || pf->infiniband;

	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		_free_ char *driver = NULL;
		int r = vf_driver_text(ctx, &pf->vfs[i], &driver);

		if (r < 0)
			return r;
		step_op(steps, &op_vf_driver, NULL, driver, "%s/%u", TEXT(&pf->bdf),
			pf->vfs[i].index);
	}
	for (uint32_t i = 0; i < pf->num_vfs && attrs; i++)
		step_attrs_op(steps, &op_vf_attrs, NULL, &pf->vfs[i].attrs, "%s/%u", TEXT(&pf->bdf),
			pf->vfs[i].index);
	return 0;
}

static void add_count(const struct vfctl_pf *pf, uint32_t want, uint32_t before,
	struct steps *steps)
{
	char to[12], from[12];

	snprintf(to, sizeof(to), "%u", want);
	snprintf(from, sizeof(from), "%u", before);
	step_op(steps, &op_numvfs, to, from, "%s", TEXT(&pf->bdf));
}

static int add_remove(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct steps *steps)
{
	int r = add_old_vfs(ctx, pf, steps);

	add_count(pf, 0, pf->num_vfs, steps);
	return r;
}

static void add_autoprobe(const struct create *c, bool on, struct steps *steps)
{
	step_op(steps, &op_autoprobe, on ? "1" : "0", on ? "0" : "1", "%s", TEXT(&c->pf->bdf));
}

static const char *const driver_text[] = {
	[VFCTL_VF_DRIVER_VFIO] = "vfio-pci",
	[VFCTL_VF_DRIVER_HOST] = "the host driver",
	[VFCTL_VF_DRIVER_NONE] = "no driver",
};

static void begin_bind(struct steps *steps, const struct create *c, uint32_t count)
{
	const char *many = plural(count);

	if (c->driver == VFCTL_VF_DRIVER_NONE)
		step_begin(steps, "%s: unbind %u VF%s from all drivers", c->name, count, many);
	else
		step_begin(steps, "%s: bind %u VF%s to %s", c->name, count, many,
			driver_text[c->driver]);
}

/* Done first: a host without the module must not lose its VFs because of that. */
static void add_load_step(struct vfctl_ctx *ctx, struct steps *steps, const struct create *c)
{
	if (c->driver == VFCTL_VF_DRIVER_VFIO && !pci_driver_is_here(ctx, "vfio-pci"))
		step_add_op(steps, &op_module, "loaded", NULL, "vfio-pci",
			"load the kernel module vfio-pci");
}

/* The further values of new VFs, as one step for all of them. */
static int add_settings(struct vfctl_ctx *ctx, const struct create *c, struct steps *steps)
{
	const uint32_t identity = VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS;
	bool begun = false;

	for (uint32_t i = 0; i < c->count; i++) {
		const struct vfctl_vf_attrs *asked = create_asked(c, i);
		struct vf_attr_change change = {.vf = i};
		int r;

		if (asked)
			change.attrs = *asked;
		change.attrs.mask &= c->changes ? ~identity : UINT32_MAX;
		if (!change.attrs.mask)
			continue;
		attrs_complete(&change.attrs, NULL);
		r = attrs_check(ctx, c->pf, &change, 1);
		if (r < 0)
			return r;
		if (!begun)
			step_begin(steps, "%s: set the attributes of the VFs", c->name);
		begun = true;
		step_attrs_op(steps, &op_vf_attrs, &change.attrs, NULL, "%s/%u", TEXT(&c->pf->bdf), i);
	}
	return 0;
}

/* ---- checks before anything is written ---- */

static int check_driver(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	if (!pf->driver[0])
		return ctx_fail(ctx, -ENODEV, "no driver is bound to the PF, and only a driver can "
			"create VFs; bind it: echo %s > /sys/bus/pci/drivers_probe",
			TEXT(&pf->bdf));
	if (pci_driver_is_vfio(pf->driver))
		return ctx_fail(ctx, -EOPNOTSUPP, "the PF itself is bound to %s; bind it to its own "
			"driver first", pf->driver);
	return 0;
}

/* The kernel reports success, and nothing happens. */
static int check_up(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	if (!driver_has(pf->driver, DRIVER_CREATES_WHILE_UP) || !pf->ifindex || pf->up)
		return 0;
	return ctx_fail(ctx, -ENETDOWN, "%s is down, and its driver %s changes the number of VFs only "
		"while it is up: ip link set %s up (in host.yaml: link: up)",
		pf->netdev, pf->driver, pf->netdev);
}

static int check_create(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_create_options *options)
{
	char name[VFCTL_BDF_TEXT];
	int r;

	if (options->count == 0)
		return ctx_usage_error(ctx, -ERANGE, "0 VFs: to remove all VFs, run: vfctl destroy %s",
			vfctl_pf_name(pf, name));
	if (options->count > pf->total_vfs)
		return ctx_usage_error(ctx, -ERANGE, "%u VFs exceed the limit of %s, which is %u "
			"(sriov_totalvfs)", options->count, vfctl_pf_name(pf, name), pf->total_vfs);
	if (options->driver == VFCTL_VF_DRIVER_VFIO && pf->iommu_group < 0)
		return ctx_fail(ctx, -EOPNOTSUPP, "vfio-pci needs an IOMMU, which this host does not "
			"have: enable VT-d or AMD-Vi in the BIOS and boot with intel_iommu=on (or use "
			"--driver host)");
	r = check_driver(ctx, pf);
	return r < 0 || options->count == pf->num_vfs || options->link_up ? r : check_up(ctx, pf);
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

/* 1: it need not be changed. To stay without a driver, it needs an override. */
static int is_as_asked(struct vfctl_ctx *ctx, const struct vfctl_vf *vf,
	enum vfctl_vf_driver driver)
{
	char override[PCI_DRIVER_NAME] = "";
	int r = 0;

	if (!has_driver(vf, driver))
		return 0;
	if (driver == VFCTL_VF_DRIVER_NONE)
		r = pci_override(ctx, &vf->bdf, override);
	return r < 0 ? r : driver != VFCTL_VF_DRIVER_NONE || str_eq(override, VF_NO_DRIVER);
}

static int check_movable(struct vfctl_ctx *ctx, const struct create *c,
	const struct vfctl_vf *vf)
{
	char message[192];

	if (!vf_is_busy(vf))
		return 0;
	return ctx_fail(ctx, -EBUSY, "%s/%u is %s, so it cannot move to %s", c->name, vf->index,
		vf_describe_user(vf, message, sizeof(message)), driver_text[c->driver]);
}

/* VFs with another driver than requested; @ret_moves is freed by the caller. */
static int find_moves(struct vfctl_ctx *ctx, const struct create *c,
	const struct vfctl_vf ***ret_moves, uint32_t *ret_count)
{
	_free_ const struct vfctl_vf **moves = calloc(c->pf->num_vfs + 1, sizeof(*moves));
	uint32_t n = 0;

	if (!moves)
		return ctx_oom(ctx);
	for (uint32_t i = 0; i < c->pf->num_vfs; i++) {
		const struct vfctl_vf *vf = &c->pf->vfs[i];
		int r = is_as_asked(ctx, vf, c->driver);

		if (r == 0)
			r = check_movable(ctx, c, vf);
		else if (r > 0)
			continue;
		if (r < 0)
			return r;
		moves[n++] = vf;
	}
	*ret_moves = steal(moves);
	*ret_count = n;
	return 0;
}

/*
 * The count is already right and is not written: only VFs without a MAC get one, and VFs with
 * another driver are bound again.
 */
static int plan_rebind(struct vfctl_ctx *ctx, struct create *c, struct steps *steps)
{
	bool probe = c->driver == VFCTL_VF_DRIVER_HOST && !c->pf->autoprobe;
	_free_ const struct vfctl_vf **moves = NULL;
	uint32_t count = 0;
	int r = find_moves(ctx, c, &moves, &count);

	if (r == 0)
		create_add_identity_step(ctx, c, steps);
	if (r == 0 && c->mode_between)
		r = eswitch_add_steps(ctx, c->pf, c->options->eswitch, steps);
	if (r < 0 || !count)
		return r;
	add_load_step(ctx, steps, c);
	if (probe) {
		step_begin(steps, "%s: enable the probing of VFs", c->name);
		add_autoprobe(c, true, steps);
	}
	begin_bind(steps, c, count);
	for (uint32_t i = 0; i < count; i++) {
		_free_ char *before = NULL;

		r = vf_driver_text(ctx, moves[i], &before);
		if (r < 0)
			return r;
		step_op(steps, &op_vf_driver, vf_driver_word(c->driver), before, "%s/%u",
			TEXT(&c->pf->bdf), moves[i]->index);
	}
	if (probe) {
		step_begin(steps, "%s: disable the probing of VFs again", c->name);
		add_autoprobe(c, false, steps);
	}
	return 0;
}

static int plan_steps(struct vfctl_ctx *ctx, struct create *c, struct steps *steps)
{
	const struct vfctl_pf *pf = c->pf;
	bool host = c->driver == VFCTL_VF_DRIVER_HOST;
	const char *many = plural(c->count);
	int r = 0;

	add_load_step(ctx, steps, c);
	if (pf->autoprobe) {
		step_begin(steps, "%s: disable the probing of new VFs", c->name);
		add_autoprobe(c, false, steps);
	}
	if (pf->num_vfs) {
		step_begin(steps, "%s: remove the present %u VF%s", c->name, pf->num_vfs,
			plural(pf->num_vfs));
		r = add_remove(ctx, pf, steps);
	}
	if (c->mode_first)
		eswitch_add_step(pf, c->options->eswitch, steps);
	step_begin(steps, "%s: create %u VF%s", c->name, c->count, many);
	add_count(pf, c->count, 0, steps);
	if (r == 0)
		create_add_identity_step(ctx, c, steps);
	/* A change of mode loses settings, and bound VFs prevent it. */
	if (c->mode_between)
		eswitch_add_step(pf, c->options->eswitch, steps);
	if (r == 0)
		r = add_settings(ctx, c, steps);
	if (host) {
		step_begin(steps, "%s: enable the probing of VFs", c->name);
		add_autoprobe(c, true, steps);
	}
	begin_bind(steps, c, c->count);
	for (uint32_t i = 0; i < c->count; i++)
		step_op(steps, &op_vf_driver, vf_driver_word(c->driver), NULL, "%s/%u",
			TEXT(&pf->bdf), i);
	if (host ? !pf->autoprobe : pf->autoprobe) {
		step_begin(steps, "%s: restore the probing of VFs", c->name);
		add_autoprobe(c, pf->autoprobe, steps);
	}
	return r;
}

/* Decide when the mode changes, if it does. */
static int plan_mode(struct vfctl_ctx *ctx, struct create *c)
{
	int r = eswitch_changes(ctx, c->pf, c->options->eswitch);

	c->mode_first = r > 0 && eswitch_needs_no_vfs(c->pf);
	c->mode_between = r > 0 && !c->mode_first;
	c->anew = c->pf->num_vfs != c->count || c->mode_first;
	return r < 0 ? r : 0;
}

static bool wants_identities(const struct vfctl_pf *pf,
	const struct vfctl_create_options *options)
{
	return !options->keep_identities && (pf->ifindex || pf->infiniband) &&
		pf->class_code >> 16 == CLASS_NETWORK;
}

int vf_changes_plan_create(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_leases *leases, const struct value_rows *rows, const struct vfctl_pf *pf,
	const struct vfctl_create_options *options, const uint64_t *guids,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(create_clear) struct create c = {.pf = pf, .count = options->count,
		.driver = options->driver, .guids = guids, .pkey = options->pkey,
		.facts.leases = leases, .rows = rows, .options = options};
	int r = check_create(ctx, pf, options);

	if (r == 0)
		r = plan_mode(ctx, &c);
	if (r < 0)
		return r;
	pf_warn_whole(ctx, pf);
	if (pf->num_vfs != options->count && modparam_is_needed(pf))
		return modparam_plan(ctx, inv, pf, options->count,
			options->driver == VFCTL_VF_DRIVER_HOST, ret_change);
	if (c.mode_first && pf->num_vfs)
		r = pf_check_idle(ctx, pf, "the driver changes the eswitch mode only without "
			"VFs, so they would be removed");
	else if (pf->num_vfs && pf->num_vfs != options->count)
		r = pf_check_idle(ctx, pf, "changing the number of VFs would remove it");
	if (r < 0)
		return r;
	r = change_new(ctx, &change);
	if (r < 0)
		return r;
	snprintf(c.name, sizeof(c.name), "%s", vfctl_pf_name(pf, (char[VFCTL_BDF_TEXT]){0}));
	if (wants_identities(pf, options))
		r = create_plan_identities(ctx, inv, &c);
	if (r == 0 && !c.anew)
		r = plan_rebind(ctx, &c, &change->steps);
	else if (r == 0)
		r = plan_steps(ctx, &c, &change->steps);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

/* ---- destroy ---- */

int vf_changes_plan_destroy(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	char name[VFCTL_BDF_TEXT];
	int r;

	if (modparam_is_needed(pf))
		return modparam_plan(ctx, inv, pf, 0, false, ret_change);
	r = pf_check_idle(ctx, pf, NULL);
	if (r == 0 && pf->num_vfs)
		r = check_driver(ctx, pf);
	if (r == 0 && pf->num_vfs)
		r = check_up(ctx, pf);
	if (r == 0)
		r = change_new(ctx, &change);
	if (r == 0 && pf->num_vfs) {
		step_begin(&change->steps, "%s: remove %u VF%s", vfctl_pf_name(pf, name),
			pf->num_vfs, plural(pf->num_vfs));
		r = add_remove(ctx, pf, &change->steps);
	}
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
