// SPDX-License-Identifier: GPL-2.0-or-later
/* Add one remedy to the report of a refusal. */
#include "placement/explain/remedies.h"

#define REMEDIES_MAX 8

void remedy_add(struct refusal *f, const struct vfctl_remedy *remedy, struct buf *line)
{
	struct vfctl_assignment *a = f->a;
	struct vfctl_remedy *r;

	if (line->failed || !array_grow(a->remedies, a->remedy_count) ||
		!reason_add(a, VFCTL_REASON_REMEDY, "%s", line->data)) {
		f->error = ctx_oom(f->ctx);
		return;
	}
	r = &a->remedies[a->remedy_count++];
	*r = *remedy;
	r->reason = a->reason_count - 1;
	f->remedies++;
}

bool remedies_may_go_on(const struct refusal *f)
{
	return !f->error && f->remedies < REMEDIES_MAX && f->steps;
}

void tell_remedy_of_host(struct refusal *f, const struct change *change, struct buf *line)
{
	remedy_add(f, &(struct vfctl_remedy){.changes = {*change}, .count = 1}, line);
}
