// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as the answer to requests for moderation, forwarding tables, RDMA and families. */
#include "any_host.h"
#include "netlink/ethtool.h"
#include "netlink/fdb.h"
#include "netlink/genl.h"
#include "netlink/rdma.h"

static void read_coalesce(struct vfctl_ctx *ctx)
{
	struct nl_coalesce rows[2] = {{.ifindex = 2}, {.ifindex = 3}};

	if (nl_coalesce_read(ctx, rows, 2) < 0)
		FUZZ_CHECK(*vfctl_ctx_error(ctx));
	for (size_t i = 0; i < 2; i++)
		FUZZ_CHECK(rows[i].error <= 0 && strlen(rows[i].text) < sizeof(rows[i].text));
	nl_coalesce_write(ctx, rows, 2);
}

static void read_fdb(struct vfctl_ctx *ctx, size_t size)
{
	static const struct vfctl_mac mac = {.byte = {2, 0, 0, 0, 0, 1}};
	struct nl_fdb fdb = {0};

	if (nl_fdb_read(ctx, &fdb) < 0)
		FUZZ_CHECK(!fdb.v && *vfctl_ctx_error(ctx));
	FUZZ_CHECK(fdb.count <= size);
	nl_fdb_free(&fdb);
	nl_fdb_set(ctx, 2, &mac, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct any_host any;
	struct vfctl_ctx *ctx;
	uint16_t family = 0;
	bool on;

	if (vfctl_ctx_new(&ctx) < 0)
		return 0;
	any_host_set(ctx, &any, data, size);
	read_coalesce(ctx);
	read_fdb(ctx, size);
	genl_find_family(ctx, "ethtool", &family);
	nl_rdma_adaptive_read(ctx, "mlx5_0", &on);
	nl_rdma_adaptive_write(ctx, "mlx5_0", true);
	vfctl_ctx_free(ctx);
	return 0;
}
