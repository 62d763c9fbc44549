// SPDX-License-Identifier: GPL-2.0-or-later
#include "main.h"

#include "libvirt/connect.h"

const char main_bench_program[] = "vfctl-bench";

int main_open_host(struct vfctl_ctx *ctx)
{
	return 0; /* a new context works on the running kernel */
}

int main_open_hypervisor(struct vfctl_ctx *ctx, const char *uri,
	struct vfctl_hypervisor **ret_hypervisor)
{
	return vfctl_libvirt_open(ctx, uri, ret_hypervisor);
}
