// SPDX-License-Identifier: GPL-2.0-or-later
/* Which libvirt the simulated vfctl talks to. */
#include <errno.h>

#include "../../../vfctl/main.h"
#include "hypervisor.h"
#include "libvirt/connect.h"

/* Stories that name a URI talk to libvirt's own test driver. */
int main_open_hypervisor(struct vfctl_ctx *ctx, const char *uri,
	struct vfctl_hypervisor **ret_hypervisor)
{
	const char *fail = getenv("SIM_HV_FAIL");

	if (!uri && fail && str_eq(fail, "open"))
		return ctx_fail(ctx, -ECONNREFUSED, "libvirt does not answer, as the test asked");
	if (!uri && host_exists(ctx, "/etc/libvirt/qemu"))
		return sim_hypervisor_new(ctx, ret_hypervisor);
	return vfctl_libvirt_open(ctx, uri, ret_hypervisor);
}
