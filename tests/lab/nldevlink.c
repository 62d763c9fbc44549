// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nldevlink DEVICE mode [legacy|switchdev]  of netdevsim's DEVICE
 * nldevlink DEVICE ports                    "INDEX FLAVOUR PF VF NETDEV" of each
 * nldevlink DEVICE rate VF MAX SHARE        in bytes a second
 * nldevlink DEVICE rates                    "PORT MAX SHARE", or "NODE MAX SHARE"
 * nldevlink DEVICE health                   "NAME ok|error ERRORS" of each reporter
 * nldevlink NETDEV master BRIDGE|-
 *
 * The command vfctl takes PCI functions alone; netdevsim's devices are none. What is below it is the same.
 */
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "netlink/devlink.h"

static int mode(struct vfctl_ctx *ctx, const struct nl_devlink *d, char **message)
{
	uint16_t now = 0;
	int r = message[0] ? nl_eswitch_write(ctx, d, str_eq(message[0], "switchdev")) : 0;

	if (r == 0)
		r = nl_eswitch_read(ctx, d, &now);
	if (r == 0)
		puts(now == NL_ESWITCH_LEGACY ? "legacy" : now == NL_ESWITCH_SWITCHDEV ? "switchdev" : "other");
	return r;
}

static int ports(struct vfctl_ctx *ctx, const struct nl_devlink *d, char **message)
{
	struct nl_ports all = {0};
	int r = nl_ports_read(ctx, d, &all);

	for (size_t i = 0; i < all.count; i++)
		printf("%u %u %u %u %s\n", all.v[i].index, all.v[i].flavour, all.v[i].pf, all.v[i].vf,
			all.v[i].netdev);
	nl_ports_free(&all);
	return r;
}

static int rate(struct vfctl_ctx *ctx, const struct nl_devlink *d, char **message)
{
	struct nl_rate row = {.bits = NL_RATE_MAX | NL_RATE_SHARE};
	struct nl_ports all = {0};
	const struct nl_port *port;
	int r = nl_ports_read(ctx, d, &all);

	if (r < 0)
		return r;
	port = nl_ports_find_vf(&all, (uint32_t)atoi(message[0]));
	if (port) {
		row.port = port->index;
		row.tx_max = strtoull(message[1], NULL, 10);
		row.tx_share = strtoull(message[2], NULL, 10);
		r = nl_rates_write(ctx, d, &row, 1);
		if (r == 0 && row.error < 0)
			r = ctx_fail(ctx, row.error, "%s: %s", errno_name(row.error), row.text);
	} else {
		r = ctx_fail(ctx, -1, "no port of VF %s", message[0]);
	}
	nl_ports_free(&all);
	return r;
}

static int rates(struct vfctl_ctx *ctx, const struct nl_devlink *d, char **message)
{
	struct nl_rates all = {0};
	int r = nl_rates_read(ctx, d, &all);

	for (size_t i = 0; i < all.count; i++)
		if (all.v[i].node[0])
			printf("%s %" PRIu64 " %" PRIu64 "\n", all.v[i].node, all.v[i].tx_max, all.v[i].tx_share);
		else
			printf("%u %" PRIu64 " %" PRIu64 "\n", all.v[i].port, all.v[i].tx_max, all.v[i].tx_share);
	nl_rates_free(&all);
	return r;
}

static int health(struct vfctl_ctx *ctx, const struct nl_devlink *d, char **message)
{
	struct nl_reporters all = {0};
	int r = nl_reporters_read(ctx, d, &all);

	for (size_t i = 0; i < all.count; i++)
		printf("%s %s %" PRIu64 "\n", all.v[i].name, all.v[i].error ? "error" : "ok", all.v[i].errors);
	nl_reporters_free(&all);
	return r;
}

static int master(struct vfctl_ctx *ctx, const struct nl_devlink *d, char **message)
{
	return nl_link_set_master(ctx, (int)if_nametoindex(d->device),
		str_eq(message[0], "-") ? 0 : (int)if_nametoindex(message[0]));
}

static const struct {
	const char *name;
	int least;
	int (*run)(struct vfctl_ctx *ctx, const struct nl_devlink *d, char **message);
} commands[] = {{"mode", 0, mode}, {"ports", 0, ports}, {"rate", 3, rate}, {"rates", 0, rates},
	{"health", 0, health}, {"master", 1, master}};

int main(int argc, char **argv)
{
	struct vfctl_ctx *ctx;
	int r = -1;

	if (argc < 3 || vfctl_ctx_new(&ctx) < 0)
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (str_eq(commands[i].name, argv[2]) && argc - 3 >= commands[i].least)
			r = commands[i].run(ctx, &(struct nl_devlink){"netdevsim", argv[1]}, argv + 3);
	if (r < 0)
		fprintf(stderr, "nldevlink: %s\n", vfctl_ctx_error(ctx));
	vfctl_ctx_free(ctx);
	return r < 0;
}
