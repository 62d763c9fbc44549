// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nlguid DEVICE N: give N VFs of a network device node GUID, port GUID and link policy with
 * the code that create and set use, and read all of them back. Prints the milliseconds.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/ctx.h"
#include "sriov/attrs.h"

static double exact_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	struct vfctl_pf pf = {.infiniband = true, .driver = "vfctl_ib"};
	uint32_t count = argc == 3 ? (uint32_t)atoi(argv[2]) : 0;
	struct vf_attr_change *changes = calloc(count + 1, sizeof(*changes));
	struct vfctl_ctx *ctx;
	double start;
	int r;

	if (!count || !changes || vfctl_ctx_new(&ctx) < 0)
		return 2;
	snprintf(pf.netdev, sizeof(pf.netdev), "%s", argv[1]);
	pf.ifindex = (int)if_nametoindex(argv[1]);
	for (uint32_t i = 0; i < count; i++) {
		changes[i].vf = i;
		changes[i].attrs = (struct vfctl_vf_attrs){
			.mask = VFCTL_ATTR_GUIDS | VFCTL_ATTR_LINK_STATE,
			.node_guid = UINT64_C(0x0200c90000010000) + i,
			.port_guid = UINT64_C(0x0200c90000020000) + i,
			.link_state = VFCTL_LINK_STATE_ENABLE};
	}
	start = exact_ms();
	r = attrs_write(ctx, &pf, changes, count);
	if (r < 0)
		fprintf(stderr, "nlguid: %s\n", vfctl_ctx_error(ctx));
	else
		printf("%u VFs: %.2f ms\n", count, exact_ms() - start);
	vfctl_ctx_free(ctx);
	free(changes);
	return r < 0;
}
