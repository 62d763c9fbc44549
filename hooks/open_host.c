// SPDX-License-Identifier: GPL-2.0-or-later
#include "open_host.h"

int hook_open_host(struct vfctl_ctx *ctx)
{
	return 0; /* a new context works on the running kernel */
}
