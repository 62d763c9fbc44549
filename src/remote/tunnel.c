// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * WireGuard tunnels, created with wg(8) and ip-link(8). Private keys are generated where they are
 * used, and passed on standard input: they are in no argument list and in no file.
 */
#include "remote/tunnel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "remote/argv.h"
#include "remote/settings.h"

#define RUN_MS 60000
#define PORT 51899
#define KEY_MAX 64

struct tunnel_end {
	struct place *p;
	char name[16];
	char private[KEY_MAX], public[KEY_MAX];
	uint16_t port;
	unsigned host; /* the last byte of its address */
};

static int run_text(struct place *p, const char *input, struct place_output *o,
	const struct argv *argv)
{
	char message[300], where[300];
	int r = argv->failed ? ctx_oom(p->ctx) : place_run(p, argv->v, input, RUN_MS, o);

	if (r == -ENOENT && str_eq(argv->v[0], "wg"))
		return ctx_append(p->ctx, r, " (apt-get install wireguard-tools)");
	if (r < 0 || o->status == 0)
		return r;
	place_output_text(o, message, sizeof(message));
	return ctx_fail(p->ctx, -EIO, "%s: %s %s: %s", place_describe(p, where), argv->v[0],
		argv->v[1] ? argv->v[1] : "", *message ? message : "failed");
}

/* Run one line of words, separated by spaces. */
static int run_wg(struct place *p, const char *input, char *answer, size_t size, const char *fmt,
	...)
	_printf_(5, 6);
static int run_wg(struct place *p, const char *input, char *answer, size_t size, const char *fmt,
	...)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	_cleanup_(argv_clear) struct argv argv = {0};
	char line[512], *rest = line, *word;
	va_list args;
	int r;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	while ((word = strsep(&rest, " ")))
		argv_add(&argv, "%s", word);
	r = run_text(p, input, &o, &argv);
	if (r == 0 && answer)
		place_output_text(&(struct place_output){.out = o.out}, answer, size);
	return r;
}

static int make_keys(struct tunnel_end *e)
{
	int r = run_wg(e->p, NULL, e->private, sizeof(e->private), "wg genkey");

	return r < 0 ? r : run_wg(e->p, e->private, e->public, sizeof(e->public), "wg pubkey");
}

/* An address may be IPv6: [::1]:51899. */
static int set_peer(const struct tunnel_end *e, const struct tunnel_end *peer, unsigned number)
{
	const char *address = peer->p->end->address;
	bool six = address && strchr(address, ':');
	_free_ char *endpoint = !address ? strdup("")
					 : str_format(" endpoint %s%s%s:%u", six ? "[" : "", address,
						   six ? "]" : "", peer->port);

	if (!endpoint)
		return ctx_oom(e->p->ctx);
	return run_wg(e->p, e->private, NULL, 0, "wg set %s listen-port %u private-key /dev/stdin peer %s "
		"allowed-ips 10.213.%u.%u/32%s", e->name, e->port, peer->public, number, peer->host,
		endpoint);
}

static int set_up(const struct tunnel_end *e, unsigned number, uint32_t mtu)
{
	int r = run_wg(e->p, NULL, NULL, 0, "ip address add 10.213.%u.%u/30 dev %s", number, e->host,
		e->name);

	return r < 0 ? r : run_wg(e->p, NULL, NULL, 0, "ip link set dev %s mtu %u up", e->name, mtu);
}

static void name_of(unsigned number, bool server, char name[16])
{
	snprintf(name, 16, "vfctlwg%u%c", number, server ? 's' : 'c');
}

int tunnel_make(struct place *client, struct place *server, unsigned number, uint32_t mtu)
{
	struct tunnel_end ends[] = {
		{.p = client, .port = (uint16_t)(PORT + 2 * number), .host = 1},
		{.p = server, .port = (uint16_t)(PORT + 2 * number + 1), .host = 2},
	};
	int r = 0;

	if (!server->end->address)
		return ctx_usage_error(client->ctx, -EINVAL, "endpoint %s has no address for a tunnel to it; "
			"write address: 10.0.0.2 there", server->end->name);
	for (unsigned i = 0; i < 2 && r == 0; i++) {
		name_of(number, i == 1, ends[i].name);
		r = run_wg(ends[i].p, NULL, NULL, 0, "ip link add %s type wireguard", ends[i].name);
		if (r == 0)
			r = make_keys(&ends[i]);
	}
	for (unsigned i = 0; i < 2 && r == 0; i++) {
		r = set_peer(&ends[i], &ends[1 - i], number);
		if (r == 0)
			r = set_up(&ends[i], number, mtu);
	}
	explicit_bzero(ends[0].private, KEY_MAX);
	explicit_bzero(ends[1].private, KEY_MAX);
	return r;
}

char *tunnel_address(unsigned number)
{
	return str_format("10.213.%u.2", number);
}

char *tunnel_target(const struct endpoint *end, unsigned number, bool server)
{
	struct endpoint of_tunnel = *end;
	char name[16];

	name_of(number, server, name);
	of_tunnel.device = name;
	return settings_target(&of_tunnel);
}

/* ---- as an operation ---- */

static int with_end(struct vfctl_ctx *ctx, const struct op *op,
	int (*call)(struct place *p, void *data), void *data)
{
	_free_ char *text = NULL;
	struct endpoint end;
	struct place p;
	int r = settings_target_parse(ctx, op->target, &end, &text);

	if (r == 0)
		r = place_open(ctx, &end, ctx->hypervisor, &p);
	if (r < 0)
		return r;
	r = call(&p, data);
	place_close(&p);
	return r;
}

/* A namespace that no longer exists took its interfaces with it: ip then fails. */
static int is_there(struct place *p, void *data)
{
	char *argv[] = {"ip", "link", "show", "dev", p->end->device, NULL};
	_cleanup_(place_output_clear) struct place_output o = {0};
	int r = place_run(p, argv, NULL, RUN_MS, &o);

	if (r < 0 && r != -ENODEV)
		return r;
	*(bool *)data = r == 0 && o.status == 0;
	return 0;
}

static int observe_tunnel(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	bool there = false;
	int r = with_end(ctx, op, is_there, &there);

	return r < 0 ? r : op_say(ctx, there ? "there" : TUNNEL_NONE, ret);
}

/* tunnel_make() creates both ends together. */
static int apply_tunnel(struct vfctl_ctx *ctx, const struct op *op)
{
	return 0;
}

static int take_down(struct place *p, void *data)
{
	bool there = false;
	int r = is_there(p, &there);

	return r == 0 && there ? run_wg(p, NULL, NULL, 0, "ip link delete dev %s", p->end->device) : r;
}

static int revert_tunnel(struct vfctl_ctx *ctx, const struct op *op)
{
	return with_end(ctx, op, take_down, NULL);
}

OP_ONE_BY_ONE(bench_tunnel, observe_tunnel, apply_tunnel, revert_tunnel)
const struct op_type op_bench_tunnel = {.name = "bench-tunnel", OP_CALLS(bench_tunnel),
	.nature = OP_UNDOABLE, .lost_on_reboot = true, .asks_libvirt_of = SETTINGS_OF_GUEST};
