// SPDX-License-Identifier: GPL-2.0-or-later
/* The switch inside the card: modes that do not fit, bonds that it does not know, firmware in trouble. */
#include <inttypes.h>

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

/* Ports of one card that are in one bond. */
static bool are_bonded(const struct vfctl_pf *a, const struct vfctl_pf *b)
{
	return a->bdf.domain == b->bdf.domain && a->bdf.bus == b->bdf.bus && a->bdf.slot == b->bdf.slot &&
		a->bond[0] && str_eq(a->bond, b->bond);
}

/* mlx5 makes no VF-LAG then, without a word (lag/lag.c, mlx5_lag_check_prereq()). */
static void check_mixed(struct exam *e)
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

static void check_lag(struct exam *e)
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

/* devlink stays where it was, and the driver then refuses each mode (EINVAL). */
static void check_netns(struct exam *e)
{
	EACH_PF(e, pf)
		if (has_modes(pf) && !pf->netdev[0])
			found(e, TEXT(&pf->bdf), "its driver %s is bound, its devlink is here, and no "
				"network device of it is", pf->driver);
}

static void check_health(struct exam *e)
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
					all.v[i].errors == 1 ? "" : "s", all.v[i].recoveries);
		nl_reporters_free(&all);
	}
}

const struct check eswitch_checks[] = {
	{"eswitch-mixed", VFCTL_WARNING, "two ports in one bond have eswitches in different modes: the "
		"card makes no VF-LAG of them, in silence", NULL,
		"the same eswitch: for both in host.yaml, lag: with the bond, and vfctl "
		"apply", check_mixed},
	{"lag-off", VFCTL_WARNING, "the card does not know that its ports are a bond: VFs lose their "
		"link with one "
		"port", "VFs had drivers when the bond was made, it came before switchdev mode, "
			"another device is in it, or RoCE is on for one port "
			"alone", "lag: in host.yaml and vfctl apply, which "
			"does it in the order that the driver needs; guests must let go of the VFs for "
			"it", check_lag},
	{"eswitch-netns", VFCTL_WARNING, "a PF's network device is in another network namespace than "
		"its devlink: its eswitch mode cannot change, and the attributes of its VFs cannot be "
		"set", NULL,
		"ip -n NAMESPACE link set DEVICE netns 1", check_netns},
	{"devlink-health", VFCTL_PROBLEM, "the driver reports an error of the card that it has not "
		"recovered from",
		NULL, "devlink health diagnose and dump show it; devlink health recover tries again; a "
			"firmware that does not answer wants a reset of the card", check_health},
	{.name = NULL},
};
