// SPDX-License-Identifier: GPL-2.0-or-later
#include "sriov/lag.h"

#include "host/host.h"

#define NET "/sys/class/net/"

/*
 * For root, mlx5 reports it in debugfs (lag/debugfs.c). Otherwise the name of the RDMA device that
 * both ports share shows it, unless udev renamed that. ice does not report it.
 */
static enum vfctl_lag read_state(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	_free_ char *state = NULL;

	if (host_try_read(ctx, &state, "/sys/kernel/debug/mlx5/%s/lag/state", TEXT(&pf->bdf)) == 0)
		return str_eq(state, "active") ? VFCTL_LAG_ACTIVE : VFCTL_LAG_OFF;
	free(host_take_unread(ctx));
	return str_starts(pf->rdma, "mlx5_bond_") ? VFCTL_LAG_ACTIVE : VFCTL_LAG_UNKNOWN;
}

void lag_read(struct vfctl_ctx *ctx, struct vfctl_pf *pf)
{
	_free_ char *master = NULL, *mode = NULL;
	char *unread = host_take_unread(ctx);

	pf->bond[0] = pf->bond_mode[0] = '\0';
	pf->lag = VFCTL_LAG_UNKNOWN;
	if (pf->netdev[0] && host_try_link_name(ctx, &master, NET "%s/master", pf->netdev) == 0 &&
		host_exists(ctx, NET "%s/bonding", master))
		str_copy(pf->bond, sizeof(pf->bond), master);
	if (pf->bond[0]) {
		pf->lag = read_state(ctx, pf);
		if (host_try_read(ctx, &mode, NET "%s/bonding/mode", pf->bond) == 0) {
			mode[strcspn(mode, " ")] = '\0';
			str_copy(pf->bond_mode, sizeof(pf->bond_mode), mode);
		}
	}
	if (unread) { /* of earlier reads */
		free(host_take_unread(ctx));
		ctx->unread = unread;
	}
}
