// SPDX-License-Identifier: GPL-2.0-or-later
#include "change/pf_locks.h"

#include <errno.h>
#include <string.h>

#include "change/recover.h"
#include "host/host.h"
#include "state/leases.h"

int pf_locks_add(struct vfctl_ctx *ctx, struct pf_locks *locks, const struct vfctl_bdf *pf)
{
	size_t at = 0;

	while (at < locks->count && vfctl_bdf_compare(&locks->pfs[at], pf) < 0)
		at++;
	if (at < locks->count && vfctl_bdf_compare(&locks->pfs[at], pf) == 0)
		return 0;
	if (locks->count == PF_LOCKS_MAX)
		return ctx_fail(ctx, -E2BIG, "one change cannot have VFs of more than %d "
			"PFs", PF_LOCKS_MAX);
	memmove(&locks->pfs[at + 1], &locks->pfs[at],
		(locks->count - at) * sizeof(locks->pfs[0]));
	locks->pfs[at] = *pf;
	locks->fds[locks->count++] = -1;
	return 0;
}

int pf_locks_add_of(struct vfctl_ctx *ctx, struct pf_locks *locks, const char *domain_uuid)
{
	struct vfctl_leases *leases = NULL;
	int r = vfctl_leases_read(ctx, &leases);
	const struct vfctl_lease *own = r == 0 ? vfctl_leases_find_uuid(leases, domain_uuid) : NULL;

	for (size_t i = 0; own && i < own->vf_count && r == 0; i++)
		r = pf_locks_add(ctx, locks, &own->vfs[i].pf);
	vfctl_leases_free(leases);
	return r;
}

/* The guest's own VFs are checked anyway. */
static void warn(struct vfctl_ctx *ctx)
{
	log_warn(ctx, "%s", vfctl_ctx_error(ctx));
	ctx_clear(ctx);
}

int pf_locks_take(struct vfctl_ctx *ctx, struct pf_locks *locks)
{
	char text[VFCTL_BDF_TEXT];
	int r = 0;

	for (size_t i = 0; i < locks->count; i++)
		if (recover_both(ctx, vfctl_bdf_format(&locks->pfs[i], text)) < 0)
			warn(ctx);
	for (size_t i = 0; i < locks->count && r == 0; i++) {
		r = host_lock(ctx, vfctl_bdf_format(&locks->pfs[i], text), false,
			&locks->fds[i]);
		if (r == 0 && recover_locked(ctx, text) < 0)
			warn(ctx);
	}
	return r;
}

void pf_locks_clear(struct pf_locks *locks)
{
	for (size_t i = 0; i < locks->count; i++)
		close_fd(&locks->fds[i]);
	locks->count = 0;
}
