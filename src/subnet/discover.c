// SPDX-License-Identifier: GPL-2.0-or-later
/* The subnet of this host, as ibnetdiscover finds it, and this host's ports in a subnet. */
#include <errno.h>

#include "base/parse.h"
#include "host/host.h"
#include "infiniband/gid.h"
#include "remote/place.h"
#include "subnet/subnet.h"

#define DISCOVER_MS 300000
#define IB "/sys/class/infiniband"

/* ---- ibnetdiscover ---- */

static int fail_discover(struct vfctl_ctx *ctx, const struct place_output *o)
{
	const char *err = o->err.data ? o->err.data : "";
	const char *remedy = "check the port with ibstat, or read a saved output: vfctl topology "
		"--fabric FILE";
	char text[300];

	if (strstr(err, "is ib_umad module loaded"))
		remedy = "load the module with: modprobe ib_umad";
	else if (strstr(err, "ermission denied") || (strstr(err, "MAD port") && geteuid() != 0))
		remedy = "ibnetdiscover needs root privileges to send management datagrams: run "
			"vfctl as root";
	else if (strstr(err, "MAD port"))
		remedy = "no port of an RDMA device is active: ibstat shows their states";
	place_output_text(o, text, sizeof(text));
	return ctx_fail(ctx, -EIO, "ibnetdiscover ended with status %d%s%s; %s", o->status,
		text[0] ? ": " : "", text, remedy);
}

/* Users without root privileges may not have /usr/sbin in their PATH. */
static int run_discover(struct vfctl_ctx *ctx, const char *device, struct place_output *o)
{
	const struct endpoint here = {.name = (char *)"this host", .where = ENDPOINT_HERE};
	static const char *const programs[] = {"ibnetdiscover", "/usr/sbin/ibnetdiscover"};
	struct place place;
	int r = place_open(ctx, &here, NULL, &place);

	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(programs) && r == -ENOENT; i++) {
		char *argv[] = {(char *)programs[i], device ? (char *)"-C" : NULL, (char *)device, NULL};

		ctx_progress(ctx, "ibnetdiscover reads the fabric");
		place_output_clear(o);
		r = place_run(&place, argv, NULL, DISCOVER_MS, o);
	}
	place_close(&place);
	if (r == -ENOENT)
		return ctx_fail(ctx, r, "ibnetdiscover is not installed; install the Debian package "
			"infiniband-diags, or read an output saved on another host: vfctl topology "
			"--fabric FILE");
	return r;
}

int vfctl_subnet_discover(struct vfctl_ctx *ctx, const char *device, struct vfctl_subnet **ret)
{
	struct place_output o = {0};
	int r;

	if (host_of(ctx)->ops->read_only)
		return ctx_fail(ctx, -EOPNOTSUPP, "ibnetdiscover cannot run on a captured host; "
			"read a saved output: vfctl topology --fabric FILE");
	r = run_discover(ctx, device, &o);
	if (r == 0 && o.status)
		r = fail_discover(ctx, &o);
	if (r == 0)
		r = vfctl_subnet_parse(ctx, "the output of ibnetdiscover", o.out.data ? o.out.data : "",
			o.out.len, ret);
	place_output_clear(&o);
	return r;
}

/* ---- this host's ports ---- */

struct own_port {
	uint64_t guid;
	char *name; /* "mlx5_0 port 1" */
};

struct own_ports {
	struct own_port *v;
	size_t count;
};

static int add_own(struct vfctl_ctx *ctx, struct own_ports *own, const char *device,
	const char *port)
{
	_free_ char *gid = NULL;
	uint64_t guid;

	if (host_try_read(ctx, &gid, IB "/%s/ports/%s/gids/0", device, port) < 0 ||
		gid_parse_guid(gid, &guid) < 0 || !guid)
		return 0;
	if (!array_grow(own->v, own->count))
		return ctx_oom(ctx);
	own->v[own->count] = (struct own_port){guid, str_format("%s port %s", device, port)};
	return own->v[own->count++].name ? 0 : ctx_oom(ctx);
}

static int read_own(struct vfctl_ctx *ctx, struct own_ports *own)
{
	_strv_ char **devices = NULL;
	int r = 0;

	if (host_try_list(ctx, &devices, IB) < 0)
		return 0;
	for (size_t i = 0; devices[i] && r == 0; i++) {
		_strv_ char **ports = NULL;

		if (host_try_list(ctx, &ports, IB "/%s/ports", devices[i]) < 0)
			continue;
		for (size_t k = 0; ports[k] && r == 0; k++)
			r = add_own(ctx, own, devices[i], ports[k]);
	}
	return r;
}

static int compare_own(const void *a, const void *b)
{
	const struct own_port *x = a, *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

static int mark_port(struct vfctl_ctx *ctx, struct vfctl_subnet *s, struct vfctl_subnet_port *p,
	const struct own_ports *own)
{
	const struct own_port key = {.guid = p->guid};
	const struct own_port *found = bsearch(&key, own->v, own->count, sizeof(key), compare_own);
	struct vfctl_subnet_port *peer;

	if (!p->guid || !found)
		return 0;
	free(p->device);
	p->device = strdup(found->name);
	p->local = true;
	peer = subnet_peer_port(s, p);
	if (peer)
		peer->local = true;
	return p->device ? 0 : ctx_oom(ctx);
}

int vfctl_subnet_mark_host(struct vfctl_ctx *ctx, struct vfctl_subnet *s)
{
	struct own_ports own = {0};
	int r = read_own(ctx, &own);

	if (own.count)
		qsort(own.v, own.count, sizeof(*own.v), compare_own);
	for (size_t i = 0; r == 0 && own.count && i < s->node_count; i++)
		for (size_t k = 0; r == 0 && k < s->nodes[i].port_count; k++)
			r = mark_port(ctx, s, &s->nodes[i].ports[k], &own);
	for (size_t i = 0; i < own.count; i++)
		free(own.v[i].name);
	free(own.v);
	return r;
}
