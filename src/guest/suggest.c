// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest/suggest.h"

#include <string.h>

#include "base/ctx.h"
#include "base/nearest.h"
#include "types/hypervisor.h"

/* A domain has one name in libvirt and in its lease: two candidates of the same name are one. */
static void offer_domain(struct nearest *search, const char *name)
{
	if (!search->best || strcmp(search->best, name) != 0)
		nearest_offer_name(search, name);
}

int suggest_domain(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const struct vfctl_leases *leases, const char *domain, int error)
{
	_free_ char *message = strdup(vfctl_ctx_error(ctx));
	struct nearest search = nearest_to(domain);
	struct vfctl_domain_info *infos = NULL;
	size_t count = 0;

	if (!message)
		return error;
	if (hypervisor && hypervisor->list(ctx, hypervisor, &infos, &count) < 0)
		ctx_fail(ctx, error, "%s", message);
	for (size_t i = 0; i < count; i++)
		offer_domain(&search, infos[i].name);
	for (size_t i = 0; leases && i < leases->count; i++)
		offer_domain(&search, leases->v[i].domain_name);
	if (nearest_only(&search))
		ctx_append(ctx, error, "; did you mean %s?", search.best);
	vfctl_domain_infos_free(infos, count);
	return error;
}
