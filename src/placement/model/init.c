// SPDX-License-Identifier: GPL-2.0-or-later
/* The defaults of a request. */
#include "placement/model/host_model.h"

void vfctl_vf_want_init(struct vfctl_vf_want *want)
{
	*want = (struct vfctl_vf_want){.any_pf = true, .fabric = VFCTL_FABRIC_ANY, .count = 1,
		.cell = VFCTL_CELL_ANY};
}

void vfctl_request_init(struct vfctl_request *request)
{
	*request = (struct vfctl_request){.emulator_cores = VFCTL_EMULATOR_AUTO,
		.page_bytes = VFCTL_PAGES_AUTO, .node = VFCTL_NODE_NONE};
}
