// SPDX-License-Identifier: GPL-2.0-or-later
/* nladaptive DEVICE [on|off]: adaptive moderation of an RDMA device by the code that apply uses. */
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "netlink/rdma.h"

int main(int argc, char **argv)
{
	struct vfctl_ctx *ctx;
	bool on;
	int r;

	if (argc < 2 || vfctl_ctx_new(&ctx) < 0)
		return 2;
	r = argc > 2 ? nl_rdma_adaptive_write(ctx, argv[1], !strcmp(argv[2], "on")) : 0;
	if (r == 0)
		r = nl_rdma_adaptive_read(ctx, argv[1], &on);
	if (r < 0)
		fprintf(stderr, "nladaptive: %s\n", vfctl_ctx_error(ctx));
	else
		puts(on ? "on" : "off");
	vfctl_ctx_free(ctx);
	return r < 0;
}
