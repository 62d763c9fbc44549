// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first line says what the rest is: "routes" and "connections" (/proc/net), "log" (the kernel's),
 * "lease", "lease-vf", "shape" (texts of the journal), or "op" with a line each for type, target, want
 * and before of an operation, which is compared with a host that answers with these bytes.
 */
#include "any_host.h"
#include "base/op.h"
#include "change/recover.h"
#include "checks/check.h"
#include "lease/lease_text.h"
#include "netlink/routes.h"

static void read_routes(struct vfctl_ctx *ctx)
{
	_cleanup_(routes_clear) struct routes routes = {0};
	char *names[] = {"ens1", "eth0", NULL};
	const char *name;
	unsigned port;

	if (routes_read(ctx, &routes) < 0)
		return;
	for (size_t i = 0; i < routes.count; i++)
		FUZZ_CHECK(routes.v[i].bits <= (routes.v[i].ipv6 ? 128 : 32) &&
			strlen(routes.v[i].netdev) < sizeof(routes.v[i].netdev));
	routes_through(&routes, names, false);
	if (routes_connection(ctx, &routes, names, &name, &port) == 1)
		FUZZ_CHECK(port <= UINT16_MAX);
}

static void read_log(struct vfctl_ctx *ctx)
{
	struct vfctl_vf vf = {.bdf = {.bus = 0x10, .slot = 0x10}};
	struct vfctl_pf pf = {.bdf = {.bus = 0x10}, .netdev = "ens1", .num_vfs = 1, .vfs = &vf};
	struct vfctl_inventory inventory = {.pfs = &pf, .pf_count = 1};
	struct vfctl_snapshot snapshot = {.inventory = &inventory};
	struct vfctl_doctor_report *report = calloc(1, sizeof(*report));
	struct check_ctx e = {.ctx = ctx, .snapshot = &snapshot, .report = report};

	if (report)
		check_ctx_run(&e, log_checks);
	vfctl_doctor_report_free(report);
}

static void read_lease(struct vfctl_ctx *ctx, const char *text)
{
	_cleanup_(lease_text_clear) struct lease_text t = {0};

	if (lease_from_text(ctx, text, &t) < 0)
		FUZZ_CHECK(*vfctl_ctx_error(ctx));
	else {
		_free_ char *again = lease_to_text(&t.lease);
		_cleanup_(lease_text_clear) struct lease_text twice = {0};

		FUZZ_CHECK(again && lease_from_text(ctx, again, &twice) == 0);
	}
}

static void read_lease_vf(struct vfctl_ctx *ctx, const char *text)
{
	struct vfctl_lease_vf vf;
	bool running;

	if (lease_vf_from_text(ctx, text, &vf, &running) < 0)
		FUZZ_CHECK(*vfctl_ctx_error(ctx));
}

static void read_shape(struct vfctl_ctx *ctx, const char *text)
{
	struct vfctl_lease shape = {0};

	if (lease_shape_from_text(ctx, text, &shape) < 0)
		FUZZ_CHECK(*vfctl_ctx_error(ctx));
	free(shape.cells);
}

static char *next_line(char **rest)
{
	char *line = strsep(rest, "\n");

	return line ? line : "";
}

/* Only what looks is called: this is the machine of whoever runs the test. */
static void look_at_op(struct vfctl_ctx *ctx, char *text)
{
	const struct op_type *const *types = ctx->tables->op_types;
	const char *name = next_line(&text);
	struct op op = {.target = next_line(&text)};

	op.want = next_line(&text);
	op.before = text ? text : NULL;
	for (size_t i = 0; types[i]; i++) {
		_free_ char *now = NULL;

		if (!str_eq(types[i]->name, name) || types[i]->asks_libvirt ||
			types[i]->asks_libvirt_of)
			continue;
		op.type = types[i];
		if (op_observe(ctx, &op, &now) == 0 && now)
			op_is(op.type, op.want, now);
		if (op.before)
			ops_check_revert(ctx, &op, 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	struct vfctl_ctx *ctx;
	struct any_host any;
	char kind[16] = "";
	char *text;

	if (!end || (size_t)(end - data) >= sizeof(kind) || vfctl_ctx_new(&ctx) < 0)
		return 0;
	memcpy(kind, data, (size_t)(end - data));
	size -= (size_t)(end + 1 - data);
	any_host_set(ctx, &any, end + 1, size);
	vfctl_ctx_set_state_path(ctx, "/nonexistent/vfctl/state.db");
	text = strndup((const char *)end + 1, size);
	if (!text)
		abort();
	if (str_eq(kind, "routes"))
		read_routes(ctx);
	else if (str_eq(kind, "log"))
		read_log(ctx);
	else if (str_eq(kind, "lease"))
		read_lease(ctx, text);
	else if (str_eq(kind, "lease-vf"))
		read_lease_vf(ctx, text);
	else if (str_eq(kind, "shape"))
		read_shape(ctx, text);
	else if (str_eq(kind, "op"))
		look_at_op(ctx, text);
	free(text);
	vfctl_ctx_free(ctx);
	return 0;
}
