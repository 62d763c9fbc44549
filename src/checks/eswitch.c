// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The switch inside the card: inconsistent modes, bonds that the card does not use, firmware
 * errors.
 */
#include <inttypes.h>

#include "base/parse.h"
#include "checks/check.h"
#include "netlink/devlink.h"

#define EACH_PF(e, pf)                                            \
	for (const struct vfctl_pf *pf = (e)->snapshot->inventory->pfs; \
		pf < (e)->snapshot->inventory->pfs + (e)->snapshot->inventory->pf_count; pf++)

static bool has_modes(const struct vfctl_pf *pf)
{
	return pf->eswitch == VFCTL_ESWITCH_LEGACY || pf->eswitch == VFCTL_ESWITCH_SWITCHDEV ||
		pf->eswitch == VFCTL_ESWITCH_INACTIVE;
}

/* Whether these are ports of one card in the same bond. */
static bool are_bonded(const struct vfctl_pf *a, const struct vfctl_pf *b)
{
	return a->bdf.domain == b->bdf.domain && a->bdf.bus == b->bdf.bus && a->bdf.slot == b->bdf.slot &&
		a->bond[0] && str_eq(a->bond, b->bond);
}

/*
 * mlx5 then does not create a VF-LAG, and does not report it (lag/lag.c, mlx5_lag_check_prereq()).
 */
static void check_mixed(struct check_ctx *e)
{
	EACH_PF(e, a)
		EACH_PF(e, b) {
			char name[VFCTL_BDF_TEXT];

			if (a >= b || !are_bonded(a, b) || !has_modes(a) || !has_modes(b) ||
				a->eswitch == b->eswitch)
				continue;
			found(e, pf_title(a, name), "%s is in %s mode and %s in %s mode, both are "
				"ports of %s",
				a->netdev, vfctl_eswitch_name(a->eswitch), b->netdev,
				vfctl_eswitch_name(b->eswitch), a->bond);
		}
}

static void check_lag(struct check_ctx *e)
{
	EACH_PF(e, a)
		EACH_PF(e, b) {
			char name[VFCTL_BDF_TEXT];

			if (a >= b || !are_bonded(a, b) || a->eswitch != VFCTL_ESWITCH_SWITCHDEV ||
				b->eswitch != VFCTL_ESWITCH_SWITCHDEV || a->lag != VFCTL_LAG_OFF ||
				(!a->num_vfs && !b->num_vfs))
				continue;
			found(e, pf_title(a, name), "/sys/kernel/debug/mlx5/%s/lag/state is not "
				"active; %s and %s are ports of %s, both in switchdev mode", TEXT(&a->bdf),
				a->netdev, b->netdev,
				a->bond);
		}
}

/* devlink stays in its namespace, and the driver then rejects each mode (EINVAL). */
static void check_netns(struct check_ctx *e)
{
	EACH_PF(e, pf)
		if (has_modes(pf) && !pf->netdev[0])
			found(e, TEXT(&pf->bdf), "driver %s is bound and its devlink instance is in "
				"this network namespace, but its network device is not", pf->driver);
}

static void check_health(struct check_ctx *e)
{
	EACH_PF(e, pf) {
		char text[VFCTL_BDF_TEXT], name[VFCTL_BDF_TEXT];
		const struct nl_devlink device = {"pci", vfctl_bdf_format(&pf->bdf, text)};
		struct nl_reporters all = {0};

		if (nl_reporters_read(e->ctx, &device, &all) < 0)
			continue;
		for (size_t i = 0; i < all.count; i++)
			if (all.v[i].error)
				found(e, pf_title(pf, name),
					"devlink's reporter %s of %s is in state error: %" PRIu64
					" error%s, %" PRIu64 " of them recovered", all.v[i].name,
						text, all.v[i].errors,
					plural(all.v[i].errors), all.v[i].recoveries);
		nl_reporters_free(&all);
	}
}

const struct check eswitch_checks[] = {
	{"eswitch-mixed", VFCTL_WARNING, "two ports of one bond have different eswitch modes: the card "
		"makes no VF-LAG, and reports no error", NULL,
		"in host.yaml, give both ports the same eswitch: and declare the bond under lag:; then "
		"run: vfctl apply", check_mixed},
	{"lag-off", VFCTL_WARNING, "the card does not know that its ports are bonded: VFs lose their "
		"link when one port fails", "when the bond was made, VFs were bound to drivers or the "
			"ports were not in switchdev mode; or the bond has another member; or RoCE is "
			"enabled on one port only", "declare the bond under lag: in host.yaml, stop the "
			"guests that use the VFs, then run: vfctl apply", check_lag},
	{"eswitch-netns", VFCTL_WARNING, "a PF's network device and its devlink instance are in "
		"different network namespaces: the eswitch mode and the attributes of VFs cannot be "
		"changed", NULL,
		"ip -n NAMESPACE link set DEVICE netns 1", check_netns},
	{"devlink-health", VFCTL_PROBLEM, "the driver reports an error from which the card has not "
		"recovered",
		NULL, "see: devlink health diagnose and devlink health dump; try: devlink health "
			"recover; if the firmware does not answer, reset the card", check_health},
	{.name = NULL},
};
