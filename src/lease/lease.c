// SPDX-License-Identifier: GPL-2.0-or-later
#include "lease/lease.h"

#include <errno.h>

static int fill_cells(struct vfctl_ctx *ctx, const struct vfctl_assignment *a,
	struct vfctl_lease *l)
{
	l->cells = calloc(a->cell_count + 1, sizeof(*l->cells));
	if (!l->cells)
		return ctx_oom(ctx);
	for (size_t i = 0; i < a->cell_count; i++) {
		const struct vfctl_cell *c = &a->cells[i];

		l->cells[l->cell_count++] = (struct vfctl_lease_cell){.node = c->node,
			.memory_node = c->memory_node, .memory_bytes = c->memory_bytes,
			.page_bytes = c->page_bytes, .shared_vcpus = c->shared_vcpus};
	}
	return 0;
}

struct vfctl_lease_vf lease_vf_row(const struct vfctl_domain_vf *vf)
{
	return (struct vfctl_lease_vf){.bdf = vf->bdf, .pf = vf->pf, .index = vf->index,
		.intent = vf->attrs};
}

int lease_fill(struct vfctl_ctx *ctx, const struct vfctl_assignment *a,
	const struct vfctl_domain_vf *vfs, size_t vf_count, struct vfctl_lease *io)
{
	io->node = a->node;
	io->memory_bytes = a->memory_bytes;
	io->page_bytes = a->page_bytes;
	io->cpus = a->held_cpus;
	io->vfs = calloc(vf_count + 1, sizeof(*io->vfs));
	if (!io->vfs)
		return ctx_oom(ctx);
	for (size_t i = 0; i < vf_count; i++)
		io->vfs[io->vf_count++] = lease_vf_row(&vfs[i]);
	return fill_cells(ctx, a, io);
}

void lease_clear(struct vfctl_lease *lease)
{
	free(lease->cells);
	free(lease->vfs);
	lease->cells = NULL;
	lease->vfs = NULL;
	lease->cell_count = lease->vf_count = 0;
}

int lease_read(struct vfctl_ctx *ctx, const char *uuid, struct vfctl_leases **ret)
{
	_cleanup_(store_closep) struct store *store = NULL;
	int r = store_open(ctx, STORE_READ, &store);

	*ret = NULL;
	return r == 0 ? store_read(store, uuid, ret) : ctx_ignore_error(ctx, r, -ENOENT);
}

int lease_open(struct vfctl_ctx *ctx, const char *uuid, struct store **ret_store,
	struct vfctl_leases **ret)
{
	int r = store_open(ctx, STORE_WRITE, ret_store);

	return r < 0 ? r : store_read(*ret_store, uuid, ret);
}

int fail_no_lease(struct vfctl_ctx *ctx, const char *uuid)
{
	return ctx_fail(ctx, -ENOENT, "domain %s no longer has a lease", uuid);
}
