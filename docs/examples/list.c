// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * list [CAPTURE]: print the VFs of this host, or of a captured host, with their users. Nothing is
 * changed.
 *
 *	cc -o list list.c $(pkg-config --cflags --libs vfctl)
 */
#include <stdio.h>
#include <stdlib.h>

#include <vfctl/vfctl.h>

/* A member of a VF by its key; "-" if it has no value. */
static const char *vf_text(const struct vfctl_vf *vf, const char *key, char *buf, size_t size)
{
	return vfctl_vf_get(vf, key, buf, size) > 0 ? buf : "-";
}

static void print_pf(const struct vfctl_pf *pf)
{
	char name[VFCTL_BDF_TEXT], address[VFCTL_BDF_TEXT], mac[64], driver[64], holder[160];
	const struct vfctl_vf *vf;

	printf("%s: %u of %u VFs, node %d\n", vfctl_pf_name(pf, name), vfctl_pf_vf_count(pf),
		vfctl_pf_total_vfs(pf), vfctl_pf_node(pf));
	for (size_t i = 0; (vf = vfctl_pf_vf(pf, i)); i++)
		printf("  %u %s %s %s %s\n", vfctl_vf_index(vf), vfctl_vf_address(vf, address),
			vf_text(vf, "mac", mac, sizeof(mac)), vf_text(vf, "driver", driver, sizeof(driver)),
			vfctl_vf_is_free(vf) ? "free" : vf_text(vf, "holder-name", holder, sizeof(holder)));
}

static int list(struct vfctl_ctx *ctx)
{
	struct vfctl_snapshot *snapshot;
	const struct vfctl_pf *pf;
	const char *gap;
	int r = vfctl_snapshot_read(ctx, NULL, &snapshot);

	if (r < 0)
		return r;
	for (size_t i = 0; (pf = vfctl_snapshot_pf(snapshot, i)); i++)
		print_pf(pf);
	for (size_t i = 0; (gap = vfctl_snapshot_gap(snapshot, i)); i++)
		fprintf(stderr, "list: not known: %s\n", gap);
	vfctl_snapshot_free(snapshot);
	return 0;
}

int main(int argc, char **argv)
{
	const char *state = getenv("VFCTL_STATE");
	struct vfctl_ctx *ctx;
	int r;

	if (vfctl_ctx_new(&ctx) < 0)
		return 1;
	r = state ? vfctl_ctx_set(ctx, "state", state) : 0;
	if (r == 0 && argc > 1)
		r = vfctl_ctx_open_host(ctx, argv[1]);
	if (r == 0)
		r = list(ctx);
	if (r < 0)
		fprintf(stderr, "list: %s\n", vfctl_ctx_error(ctx));
	vfctl_ctx_free(ctx);
	return r < 0;
}
