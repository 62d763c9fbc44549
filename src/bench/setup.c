// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Both ends before a run: the present state, the planned changes, and the settings and tunnels of a
 * configuration.
 */
#include "bench/outer.h"
#include "bench/run.h"

#include <errno.h>
#include <stdio.h>

#include "host/host.h"
#include "remote/settings.h"
#include "remote/tunnel.h"

struct bench_end *bench_end_of(const struct bench *b, const char *name)
{
	for (size_t i = 0; i < b->plan->endpoint_count; i++)
		if (str_eq(b->plan->endpoints[i].name, name))
			return &b->ends[i];
	return NULL; /* the plan was checked */
}

unsigned bench_number_of(const struct bench *b, const struct bench_plan_configuration *c)
{
	return (unsigned)(c - b->plan->configurations);
}

/* ---- before measuring ---- */

static bool plan_uses_rdma(const struct bench *b)
{
	for (size_t i = 0; i < b->point_count; i++)
		if (b->points[i].tool->can & TOOL_RDMA)
			return true;
	return false;
}

static const char *server_program(const struct tool *tool)
{
	return str_eq(tool->name, "netperf") ? "netserver" : tool->name;
}

static int look_at_tool(struct bench *b, const struct bench_plan_test *t,
	const struct bench_plan_configuration *c)
{
	static const char *const none[2] = {NULL};
	struct place *client = &bench_end_of(b, c->client)->place;
	struct place *server = &bench_end_of(b, c->server)->place;
	const struct tool *tool = tool_find(t->tool);
	const char *program = t->command ? t->command[0] : tool->name;
	const char *other = t->server_command ? t->server_command[0] : t->command ? NULL
		: server_program(tool);
	char *const *launcher = c->launcher ? c->launcher : t->launcher;
	bool osu = tool->parser == BENCH_OSU;
	int r = osu ? survey_osu(&b->survey, client, program, true)
		: survey_tool(&b->survey, client, program, tool->package, tool->version, true);

	/* mpirun starts it there, too. */
	if (r == 0 && osu && server->end->where == ENDPOINT_SSH)
		r = survey_osu(&b->survey, server, program, false);
	if (r == 0 && osu)
		r = survey_tool(&b->survey, client, launcher ? launcher[0] : "mpirun", "openmpi-bin",
			none, true);
	if (r == 0 && tool->server && other)
		r = survey_tool(&b->survey, server, other, tool->package, tool->version, true);
	return r;
}

/* RDMA uses the card directly; a program of the user may use any path. */
static int look_at_paths(struct bench *b)
{
	bool by_kernel = false;
	int r = 0;

	for (size_t i = 0; i < b->point_count; i++)
		by_kernel |= b->points[i].tool->server && !(b->points[i].tool->can & TOOL_RDMA);
	for (size_t i = 0; i < b->plan->configuration_count && by_kernel && r == 0; i++)
		r = survey_path(&b->survey, &bench_end_of(b, b->plan->configurations[i].client)->place,
			&bench_end_of(b, b->plan->configurations[i].server)->place);
	return r;
}

static int look_at_tools(struct bench *b)
{
	bool threads = false;
	int r = 0;

	for (size_t i = 0; i < b->plan->test_count && r == 0; i++) {
		const struct bench_plan_test *t = &b->plan->tests[i];

		threads |= t->threads.count > 1;
		for (size_t k = 0; k < b->plan->configuration_count && r == 0; k++)
			r = look_at_tool(b, t, &b->plan->configurations[k]);
	}
	if (r == 0)
		r = look_at_paths(b);
	if (r == 0)
		r = survey_pairs(&b->survey, b->ctx, threads);
	/* A search decides itself how many trials it makes. */
	return r < 0 || b->searches ? r : survey_trials(&b->survey, b->ctx, b->plan, b->quick);
}

static int look_at_end(struct bench *b, struct bench_end *e)
{
	int r = place_open(b->ctx, e->place.end, e->place.hypervisor, &e->place);

	if (r < 0)
		return r;
	e->open = true;
	ctx_progress(b->ctx, "reading endpoint %s", e->place.end->name);
	r = survey_place(&b->survey, &e->place, plan_uses_rdma(b));
	if (r == 0 && e->names && !survey_failed(&b->survey))
		r = settings_read(&e->place, e->place.end->device, e->names, &e->original);
	return ctx_mark_usage_error(b->ctx, r < 0 ? ctx_prefix(b->ctx, r, "endpoint %s",
		e->place.end->name) : 0);
}

int bench_look(struct bench *b)
{
	int r = 0;

	for (size_t i = 0; i < b->plan->endpoint_count && r == 0; i++)
		if (b->ends[i].used)
			r = look_at_end(b, &b->ends[i]);
	for (size_t i = 0; i < b->plan->endpoint_count && r == 0 && !survey_failed(&b->survey); i++)
		if (b->ends[i].open)
			r = bench_find_outers(b, i);
	return r < 0 ? r : look_at_tools(b);
}

/* ---- planned changes ---- */

static int add_tunnel(const struct bench *b, const struct bench_plan_configuration *c,
	struct steps *s)
{
	const struct endpoint *ends[] = {bench_plan_find_endpoint(b->plan, c->client),
		bench_plan_find_endpoint(b->plan, c->server)};

	for (unsigned i = 0; i < 2; i++) {
		_free_ char *target = tunnel_target(ends[i], bench_number_of(b, c), i == 1);

		if (!target)
			return ctx_oom(b->ctx);
		step_add_op(s, &op_bench_tunnel, SETTINGS_MEASURED, TUNNEL_NONE, target,
			"%s: WireGuard with an MTU of %u during the measurement", ends[i]->name,
			c->wireguard_mtu);
	}
	return 0;
}

int bench_steps(const struct bench *b, struct steps *ret)
{
	int r = 0;

	for (size_t i = 0; i < b->plan->endpoint_count && r == 0; i++) {
		const struct bench_end *e = &b->ends[i];
		_free_ char *target = e->original ? settings_target(e->place.end) : NULL;

		if (!e->original)
			continue;
		if (!target)
			return ctx_oom(b->ctx);
		step_add_op(ret, &op_bench_settings, SETTINGS_MEASURED, e->original, target,
			"%s: %s changes during the measurement and is then restored to "
			"%s", e->place.end->name,
			e->place.end->device, e->original);
	}
	for (size_t i = 0; i < b->plan->configuration_count && r == 0; i++)
		if (b->plan->configurations[i].wireguard_mtu)
			r = add_tunnel(b, &b->plan->configurations[i], ret);
	if (r == 0)
		r = bench_outer_steps(b, ret);
	return r < 0 ? r : ret->failed ? ctx_oom(b->ctx) : 0;
}

/* ---- settings of a run ---- */

static const char *value_of(const struct bench_plan_settings *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (str_eq(s->v[i].name, name))
			return s->v[i].value;
	return NULL;
}

/* Find the original "name=value" in @text. */
static char *original_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (; *text; text += strcspn(text, " "), text += strspn(text, " "))
		if (strncmp(text, name, len) == 0 && text[len] == '=')
			return strndup(text + len + 1, strcspn(text + len + 1, " "));
	return NULL;
}

static int wanted(const struct bench *b, const struct bench_end *e,
	const struct bench_plan_configuration *c, char **ret)
{
	const struct bench_plan_settings none = {0};
	const struct bench_plan_settings *own = str_eq(c->client, e->place.end->name) ? &c->of_client
		: str_eq(c->server, e->place.end->name)				      ? &c->of_server
										      : &none;
	bool in = own != &none;
	_buf_ struct buf out = {0};

	for (size_t i = 0; e->names[i]; i++) {
		const char *value = value_of(own, e->names[i]);
		_free_ char *before = original_of(e->original, e->names[i]);

		if (!value && in)
			value = value_of(&c->of_both, e->names[i]);
		buf_printf(&out, "%s%s=%s", i ? " " : "", e->names[i],
			value ? value : before ? before : "");
	}
	*ret = out.failed ? NULL : buf_steal(&out);
	return *ret ? 0 : ctx_oom(b->ctx);
}

/* The settings that differ from the present ones. */
static int differing(const struct bench *b, const struct bench_end *e, const char *want, char **ret)
{
	_buf_ struct buf out = {0};

	for (size_t i = 0; e->names[i]; i++) {
		_free_ char *new = original_of(want, e->names[i]);
		_free_ char *old = e->now ? original_of(e->now, e->names[i]) : NULL;

		if (new && !(old && str_eq(new, old)))
			buf_printf(&out, "%s%s=%s", out.len ? " " : "", e->names[i], new);
	}
	*ret = out.failed ? NULL : out.data ? buf_steal(&out) : strdup("");
	return *ret ? 0 : ctx_oom(b->ctx);
}

/*
 * Read the present settings: another program, or a person, may have changed them since the last
 * run.
 */
static int take_now(struct bench *b, struct bench_end *e)
{
	const char *device = e->place.end->device;
	_free_ char *seen = NULL;
	int r = settings_read(&e->place, device, e->names, &seen);

	if (r == 0 && e->now && !str_eq(seen, e->now))
		log_warn(b->ctx, "endpoint %s: vfctl set %s to %s, but it is now %s: another program "
			"changed it during the measurement, which may have affected the previous run; "
			"vfctl sets it again",
			e->place.end->name, device, e->now, seen);
	if (r == 0) {
		free(e->now);
		e->now = steal(seen);
	}
	return r;
}

static int set_end(struct bench *b, struct bench_end *e, const struct bench_plan_configuration *c)
{
	_free_ char *want = NULL, *difference = NULL, *mtu = NULL;
	int r;

	r = take_now(b, e);
	if (r == 0)
		r = wanted(b, e, c, &want);
	mtu = r == 0 ? original_of(want, "mtu") : NULL;
	if (mtu)
		r = bench_set_outers(b, (size_t)(e - b->ends), mtu);
	if (r == 0)
		r = differing(b, e, want, &difference);
	if (r == 0 && *difference)
		r = settings_write(&e->place, e->place.end->device, difference);
	/* A part of the rejected settings may have been applied. */
	free(steal(e->now));
	if (r < 0)
		return ctx_prefix(b->ctx, r, "configuration %s, endpoint %s", c->name,
			e->place.end->name);
	e->now = steal(want);
	return 0;
}

/*
 * If one interface has two names in the plan, only the name that is being measured is configured.
 */
static bool is_other_name(const struct bench *b, const struct bench_end *e,
	const struct bench_plan_configuration *c)
{
	const char *const measured[] = {c->client, c->server};
	_free_ char *own = settings_target(e->place.end);
	bool same = false;

	for (size_t i = 0; i < ARRAY_SIZE(measured) && own; i++) {
		_free_ char *target = settings_target(bench_end_of(b, measured[i])->place.end);

		if (str_eq(measured[i], e->place.end->name))
			return false;
		same |= target && str_eq(target, own);
	}
	return same;
}

int bench_set_all(struct bench *b, const struct bench_plan_configuration *c)
{
	int r = 0;

	for (size_t i = 0; i < b->plan->endpoint_count && r == 0; i++) {
		struct bench_end *e = &b->ends[i];

		if (!e->used || !e->original)
			continue;
		if (is_other_name(b, e, c))
			free(steal(e->now));
		else
			r = set_end(b, e, c);
	}
	return r;
}

int bench_explain(struct bench *b, const struct bench_plan_configuration *c, const char *dir,
	int error)
{
	const char *const names[] = {c->client, c->server};
	_free_ char *message = strdup(vfctl_ctx_error(b->ctx));
	char where[300];

	if (!message)
		return ctx_oom(b->ctx);
	for (size_t i = 0; i < ARRAY_SIZE(names) && !b->ctx->cancelled; i++) {
		struct place *p = &bench_end_of(b, names[i])->place;
		const char *device = p->end->device;

		if (device && settings_device_gone(p, device))
			return ctx_fail(b->ctx, -ENODEV, "endpoint %s: interface %s has disappeared from %s; "
				"check that its VF is attached and its driver is loaded (ip link), then "
				"continue with: vfctl %s --resume %s", names[i], device,
				place_describe(p, where), b->searches ? "tune search" : "bench run", dir);
	}
	return ctx_fail(b->ctx, error, "%s", message);
}

int bench_make_tunnels(struct bench *b)
{
	int r = 0;

	for (size_t i = 0; i < b->plan->configuration_count && r == 0 && !b->tunnels_up; i++) {
		const struct bench_plan_configuration *c = &b->plan->configurations[i];

		if (!c->wireguard_mtu)
			continue;
		r = tunnel_make(&bench_end_of(b, c->client)->place, &bench_end_of(b, c->server)->place,
			bench_number_of(b, c), c->wireguard_mtu);
		if (r < 0)
			r = ctx_prefix(b->ctx, r, "configuration %s", c->name);
	}
	b->tunnels_up = r == 0;
	return r;
}
