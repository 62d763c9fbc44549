// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vfs [-n COUNT PF] [CAPTURE]: list the VFs of this host, or of a captured one; with -n, what it
 * would take for PF to have COUNT of them. Nothing is changed.
 *
 *	cc -o vfs vfs.c $(pkg-config --cflags --libs vfctl)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vfctl/context.h>
#include <vfctl/host.h>
#include <vfctl/inventory.h>
#include <vfctl/snapshot.h>
#include <vfctl/sriov.h>

static int list(struct vfctl_ctx *ctx)
{
	struct vfctl_snapshot *snapshot;
	int r = vfctl_snapshot_read(ctx, NULL, &snapshot);

	if (r < 0)
		return r;
	for (size_t i = 0; i < snapshot->inventory->pf_count; i++) {
		const struct vfctl_pf *pf = &snapshot->inventory->pfs[i];
		char name[VFCTL_BDF_TEXT], address[VFCTL_BDF_TEXT];

		printf("%s: %u of %u VFs, node %d\n", vfctl_pf_name(pf, name),
			(unsigned)pf->num_vfs, (unsigned)pf->total_vfs, pf->numa_node);
		for (uint32_t k = 0; k < pf->num_vfs; k++) {
			const struct vfctl_vf *vf = &pf->vfs[k];

			printf("  %u %s %s\n", (unsigned)vf->index,
				vfctl_bdf_format(&vf->bdf, address),
				vf->driver[0] ? vf->driver : "-");
		}
	}
	vfctl_snapshot_free(snapshot);
	return 0;
}

static int show_create(struct vfctl_ctx *ctx, const char *pf, unsigned count)
{
	const struct vfctl_create_options options = {.count = count};
	struct vfctl_change *change;
	int r = vfctl_create_plan(ctx, pf, &options, true, &change);

	if (r < 0)
		return r;
	for (size_t i = 0; i < vfctl_change_count(change); i++) {
		struct vfctl_operation op;

		puts(vfctl_change_describe(change, i));
		for (size_t k = 0; vfctl_change_operation(change, i, k, &op); k++)
			printf("  %s %s: %s\n", op.type, op.target, op.want ? op.want : "-");
	}
	/* vfctl_change_run(ctx, change) would do it; planned without dry_run, that is. */
	vfctl_change_free(change);
	return 0;
}

int main(int argc, char **argv)
{
	const char *pf = NULL;
	struct vfctl_ctx *ctx;
	unsigned count = 0;
	int r, next = 1;

	if (argc > 3 && strcmp(argv[1], "-n") == 0) {
		count = (unsigned)strtoul(argv[2], NULL, 10);
		pf = argv[3];
		next = 4;
	}
	if (vfctl_ctx_new(&ctx) < 0)
		return 1;
	r = next < argc ? vfctl_ctx_open_host(ctx, argv[next]) : 0;
	if (r == 0)
		r = pf ? show_create(ctx, pf, count) : list(ctx);
	if (r < 0)
		fprintf(stderr, "vfs: %s\n", vfctl_ctx_error(ctx));
	vfctl_ctx_free(ctx);
	return r < 0;
}
