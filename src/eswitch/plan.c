// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Change the mode of a PF's switch: what must be undone before and done after, in the order that
 * its driver requires. Settings that the change loses (rates) are set again.
 */
#include <errno.h>

#include "base/parse.h"
#include "drivers/driver.h"
#include "eswitch/eswitch.h"
#include "sriov/eswitch.h"
#include "sriov/holder.h"
#include "sriov/ops.h"

bool eswitch_needs_no_vfs(const struct vfctl_pf *pf)
{
	return driver_has(pf->driver, DRIVER_ESWITCH_WITHOUT_VFS);
}

bool eswitch_renews_vfs(const struct vfctl_pf *pf, enum vfctl_eswitch want)
{
	return want != VFCTL_ESWITCH_UNKNOWN && pf->eswitch > VFCTL_ESWITCH_NONE && pf->eswitch != want &&
		eswitch_needs_no_vfs(pf);
}

int eswitch_changes(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, enum vfctl_eswitch want)
{
	if (want == VFCTL_ESWITCH_UNKNOWN || pf->eswitch == want ||
		(want == VFCTL_ESWITCH_LEGACY && pf->eswitch == VFCTL_ESWITCH_NONE))
		return 0;
	if (pf->eswitch == VFCTL_ESWITCH_UNKNOWN)
		return ctx_fail(ctx, -EPERM, "its eswitch mode cannot be read, so vfctl cannot tell "
			"whether it is %s; it needs root", vfctl_eswitch_name(want));
	if (pf->eswitch == VFCTL_ESWITCH_NONE)
		return ctx_fail(ctx, -EOPNOTSUPP, "driver %s does not support the %s mode%s; remove "
			"eswitch: from its entry in host.yaml", pf->driver[0] ? pf->driver : "(none)",
			vfctl_eswitch_name(want),
			pf->infiniband ? " on an InfiniBand port" : "");
	return 1;
}

static void begin_mode(const struct vfctl_pf *pf, enum vfctl_eswitch want, struct steps *steps)
{
	char name[VFCTL_BDF_TEXT];

	step_begin(steps, "%s: set the eswitch to %s mode", vfctl_pf_name(pf, name),
		vfctl_eswitch_name(want));
}

static void add_op(const struct vfctl_pf *pf, enum vfctl_eswitch want, struct steps *steps)
{
	step_op(steps, &op_eswitch, vfctl_eswitch_name(want), vfctl_eswitch_name(pf->eswitch), "%s",
		TEXT(&pf->bdf));
}

void eswitch_add_step(const struct vfctl_pf *pf, enum vfctl_eswitch want, struct steps *steps)
{
	begin_mode(pf, want, steps);
	add_op(pf, want, steps);
}

/* ---- VFs that are kept ---- */

static bool has_rate(const struct vfctl_vf *vf)
{
	return vf->attrs.mask & VFCTL_ATTR_RATE && (vf->attrs.min_rate_mbps || vf->attrs.max_rate_mbps);
}

/* @after: set them after the mode; otherwise after a roll-back of the mode. */
static void add_rates(const struct vfctl_pf *pf, bool after, struct steps *steps)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		struct vfctl_vf_attrs rates = pf->vfs[i].attrs;

		if (!has_rate(&pf->vfs[i]))
			continue;
		rates.mask &= VFCTL_ATTR_RATE;
		step_attrs_op(steps, &op_vf_attrs, after ? &rates : NULL, after ? NULL : &rates, "%s/%u",
			TEXT(&pf->bdf), pf->vfs[i].index);
	}
}

/*
 * Representors disappear with the mode: after a roll-back they become ports of their bridges again.
 */
static int add_ports(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct steps *steps)
{
	int r = 0;

	for (uint32_t i = 0; i < pf->num_vfs && r == 0; i++) {
		_free_ char *bridge = NULL;

		if (!pf->vfs[i].representor[0])
			continue;
		r = representor_text(ctx, pf->vfs[i].representor, &bridge);
		if (r == 0)
			step_op(steps, &op_representor, NULL, bridge, "%s/%u", TEXT(&pf->bdf),
				pf->vfs[i].index);
	}
	return r;
}

static int add_drivers(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, bool back,
	struct steps *steps)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		const struct vfctl_vf *vf = &pf->vfs[i];
		_free_ char *had = NULL;
		int r;

		if (!vf->driver[0])
			continue;
		r = vf_driver_text(ctx, vf, &had);
		if (r < 0)
			return r;
		step_op(steps, &op_vf_driver, back ? had : VF_NO_DRIVER, back
			? "- " VF_NO_DRIVER : had, "%s/%u",
			TEXT(&pf->bdf), vf->index);
	}
	return 0;
}

int eswitch_add_steps(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, enum vfctl_eswitch want,
	struct steps *steps)
{
	char name[VFCTL_BDF_TEXT];
	uint32_t bound = 0, rated = 0;
	int r = eswitch_check_unused(ctx, pf, ESWITCH_MEANWHILE);

	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		bound += pf->vfs[i].driver[0] != '\0';
		rated += has_rate(&pf->vfs[i]);
	}
	if (r == 0 && bound) {
		step_begin(steps, "%s: unbind %u VF%s for the change of the eswitch mode",
			vfctl_pf_name(pf, name), bound, plural(bound));
		r = add_drivers(ctx, pf, false, steps);
	}
	begin_mode(pf, want, steps);
	if (r == 0)
		r = add_ports(ctx, pf, steps);
	if (r == 0)
		add_rates(pf, false, steps);
	add_op(pf, want, steps);
	if (r == 0 && rated) {
		step_begin(steps, "%s: restore the rates of %u VF%s", vfctl_pf_name(pf, name), rated,
			plural(rated));
		add_rates(pf, true, steps);
	}
	if (r == 0 && bound) {
		step_begin(steps, "%s: bind the VFs to their drivers again", vfctl_pf_name(pf, name));
		r = add_drivers(ctx, pf, true, steps);
	}
	return r;
}
