// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as the answer to each netlink request that vfctl makes. */
#include <string.h>

#include "fuzz.h"
#include "host/host.h"
#include "netlink/devlink.h"
#include "netlink/link.h"

struct answer {
	struct host host;
	const uint8_t *data;
	size_t size;
};

/* A copy of exactly its size: a sanitizer sees each byte that is read behind it. */
static int give_answer(struct host *h, int protocol, const void *request, size_t len,
	unsigned timeout_ms, struct buf *ret_reply)
{
	const struct answer *a = (const struct answer *)h;

	buf_free(ret_reply);
	ret_reply->data = malloc(a->size ? a->size : 1);
	if (!ret_reply->data)
		return -1;
	ret_reply->len = ret_reply->room = a->size;
	if (a->size)
		memcpy(ret_reply->data, a->data, a->size);
	return 0;
}

static void free_nothing(struct host *h)
{
}

static const struct host_ops ops = {.name = "fuzz", .exchange = give_answer,
	.free = free_nothing};

static void read_links(struct vfctl_ctx *ctx)
{
	struct nl_links links = {0};

	if (nl_links_read(ctx, &links) < 0) {
		FUZZ_CHECK(!links.v && *vfctl_ctx_error(ctx));
		return;
	}
	for (size_t i = 0; i < links.count; i++) {
		const struct nl_link *l = &links.v[i];

		FUZZ_CHECK(l->address_len <= NL_ADDRESS && strlen(l->name) < NL_NAME);
		FUZZ_CHECK(!l->altnames || strv_len(l->altnames) > 0);
	}
	nl_links_free(&links);
}

static void read_vfs(struct vfctl_ctx *ctx, size_t size)
{
	struct nl_vfs vfs = {0};

	if (nl_vfs_read(ctx, 2, &vfs) < 0) {
		FUZZ_CHECK(!vfs.v && *vfctl_ctx_error(ctx));
		return;
	}
	FUZZ_CHECK(vfs.count <= size / 4);
	nl_vfs_find(&vfs, vfs.num_vf);
	nl_vfs_find(&vfs, 0);
	nl_vfs_free(&vfs);
}

static void write_vfs(struct vfctl_ctx *ctx)
{
	struct nl_vf_set rows[2] = {{.vf = 0, .bits = VFCTL_ATTR_MAC},
		{.vf = 1, .bits = VFCTL_ATTR_VLAN}};

	if (nl_vfs_write(ctx, 2, rows, 2) < 0)
		return;
	for (size_t i = 0; i < 2; i++)
		FUZZ_CHECK(rows[i].error <= 0 && rows[i].error >= -4095 &&
			strlen(rows[i].text) < sizeof(rows[i].text));
}

static void read_devlink(struct vfctl_ctx *ctx, size_t size)
{
	static const struct nl_devlink device = {"pci", "0000:10:00.0"};
	struct nl_reporters reporters = {0};
	struct nl_ports ports = {0};
	struct nl_rates rates = {0};
	uint16_t mode;

	if (nl_eswitch_read(ctx, &device, &mode) < 0)
		FUZZ_CHECK(*vfctl_ctx_error(ctx));
	if (nl_ports_read(ctx, &device, &ports) == 0)
		for (size_t i = 0; i < ports.count; i++)
			FUZZ_CHECK(ports.v[i].address_len <= NL_ADDRESS && strlen(ports.v[i].netdev) < NL_NAME);
	FUZZ_CHECK(ports.count <= size);
	nl_ports_find_vf(&ports, 0);
	nl_ports_free(&ports);
	if (nl_rates_read(ctx, &device, &rates) == 0)
		for (size_t i = 0; i < rates.count; i++)
			FUZZ_CHECK(strlen(rates.v[i].node) < NL_RATE_NAME);
	nl_rates_free(&rates);
	if (nl_reporters_read(ctx, &device, &reporters) == 0)
		for (size_t i = 0; i < reporters.count; i++)
			FUZZ_CHECK(strlen(reporters.v[i].name) < sizeof(reporters.v[i].name));
	nl_reporters_free(&reporters);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char nowhere[] = "";
	struct answer answer = {{.ops = &ops, .root_fd = -1, .root = nowhere}, data, size};
	struct vfctl_ctx *ctx;

	if (vfctl_ctx_new(&ctx) < 0)
		return 0;
	host_set(ctx, &answer.host);
	read_links(ctx);
	read_vfs(ctx, size);
	write_vfs(ctx);
	read_devlink(ctx, size);
	vfctl_ctx_free(ctx);
	return 0;
}
