// SPDX-License-Identifier: GPL-2.0-or-later
/* The hook on the simulated kernel: $SIM_ROOT and $SIM_STATE, faults as in sim_main.c. */
#include <errno.h>

#include "../../../hooks/open_host.h"
#include "../../../vfctl/main.h"
#include "base/ctx.h"

int hook_open_host(struct vfctl_ctx *ctx)
{
	const char *state = getenv("SIM_STATE");
	int r = main_open_host(ctx);

	if (r < 0)
		return r;
	return state ? vfctl_ctx_set_state_path(ctx, state)
		     : ctx_fail(ctx, -EINVAL, "SIM_STATE is not set");
}
