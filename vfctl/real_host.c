// SPDX-License-Identifier: GPL-2.0-or-later
#include "main.h"

int main_open_host(struct vfctl_ctx *ctx)
{
	return 0; /* a new context works on the running kernel */
}
