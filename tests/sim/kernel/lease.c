// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sim-lease STATE < domain.xml: lease to a domain the VFs of its metadata with what that
 * says, as vfctl define does, for stories of the hook.
 */
#include <stdio.h>

#include "base/ctx.h"
#include "domain/definition.h"
#include "state/store.h"

int main(int argc, char **argv)
{
	static struct vfctl_domain_intent intent;
	static char xml[65536];
	struct vfctl_lease_vf vfs[VFCTL_GUEST_VFS_MAX] = {0};
	struct vfctl_lease lease = {.domain_name = intent.name, .node = VFCTL_NODE_NONE,
		.vfs = vfs};
	size_t len = fread(xml, 1, sizeof(xml), stdin);
	_cleanup_(store_closep) struct store *store = NULL;
	struct vfctl_ctx *ctx;
	int r;

	if (argc != 2 || vfctl_ctx_new(&ctx) < 0 || vfctl_ctx_set_state_path(ctx, argv[1]) < 0)
		return 2;
	r = vfctl_domain_metadata_read(ctx, xml, len, &intent);
	str_copy(lease.id, sizeof(lease.id), intent.uuid);
	str_copy(lease.domain_uuid, sizeof(lease.domain_uuid), intent.uuid);
	for (size_t i = 0; i < intent.vf_count; i++)
		vfs[lease.vf_count++] = (struct vfctl_lease_vf){.bdf = intent.vfs[i].bdf,
			.pf = intent.vfs[i].pf, .index = intent.vfs[i].index,
			.intent = intent.vfs[i].attrs};
	if (r == 0)
		r = store_open(ctx, STORE_WRITE, &store);
	if (r == 0)
		r = store_take(store, &lease);
	if (r < 0)
		fprintf(stderr, "sim-lease: %s\n", vfctl_ctx_error(ctx));
	store_close(steal(store));
	vfctl_ctx_free(ctx);
	return r < 0;
}
