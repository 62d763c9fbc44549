// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/search/batch.h"

void plan_take(const struct capacity *capacity, const struct vfctl_request *request,
	const struct chosen *chosen, struct capacity *after)
{
	struct demand demand;

	if (!chosen->placed)
		return;
	demand_init(capacity, request, 0, &demand);
	option_take(capacity, &demand, &chosen->option, chosen->cells, after->start);
	for (size_t k = 0; k < demand.vfs; k++)
		after->groups[chosen->vfs[k].group].free--;
}
