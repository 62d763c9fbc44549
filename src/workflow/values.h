/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_VALUES_H
#define VFCTL_WORKFLOW_VALUES_H

#include "sriov/live.h"
#include "vfctl/domain.h"
#include "vfctl/lease.h"

/*
 * The one answer to "may this MAC or GUID be given to this VF?", whatever the road: no
 * value is live, or leased, twice on a host.
 */
struct value_facts {
	struct live_values live;
	const struct vfctl_leases *leases; /* all of the host */
	/* VFs that get other values by the same change: what they have now does not count. */
	const struct vfctl_domain_vf *changing;
	size_t changing_count;
};

/*
 * @domain_uuid: whose it will be; "" the host's own. Of @vf place and attributes count.
 * @return 0; -EEXIST with words that name who has the value, and where.
 */
int values_check(struct vfctl_ctx *ctx, const struct value_facts *facts,
	const char *domain_uuid, const struct vfctl_domain_vf *vf);
/* The same for all VFs of a domain, which must not share one either. */
int values_check_all(struct vfctl_ctx *ctx, const struct value_facts *facts,
	const char *domain_uuid, const struct vfctl_domain_vf *vfs, size_t count);

#endif
