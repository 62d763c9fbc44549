// SPDX-License-Identifier: GPL-2.0-or-later
/* A plan of measurements (vfctl bench run): endpoints, configurations, and tools. */
#include "bench/plan.h"

#include <errno.h>
#include <math.h>

#include "base/cpuset.h"
#include "bench/measure.h"
#include "bench/stats.h"
#include "bench/tool.h"
#include "spec/schema.h"

#define ENDPOINTS_MAX 32
#define CONFIGURATIONS_MAX 64
#define BASELINES_MAX 8
#define TRIALS_MAX 1000
#define HOUR_S 3600
#define TUNNEL_MTU_MIN 576
#define TUNNEL_MTU_MAX 65520

void bench_plan_free(struct bench_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->endpoint_count; i++) {
		struct endpoint *e = &plan->endpoints[i];

		free(e->name);
		free(e->at);
		free(e->device);
		free(e->rdma);
		free(e->address);
		free(e->cpus);
		free(e->ssh_config);
	}
	for (size_t i = 0; i < plan->configuration_count; i++) {
		struct bench_plan_configuration *c = &plan->configurations[i];
		struct bench_plan_settings *all[] = {&c->of_client, &c->of_server, &c->of_both};

		for (size_t k = 0; k < ARRAY_SIZE(all); k++) {
			for (size_t n = 0; n < all[k]->count; n++) {
				free(all[k]->v[n].name);
				free(all[k]->v[n].value);
			}
			free(all[k]->v);
		}
		free(c->name);
		free(c->client);
		free(c->server);
		strv_free(c->launcher);
	}
	for (size_t i = 0; i < plan->test_count; i++)
		bench_test_clear(&plan->tests[i]);
	free(plan->endpoints);
	free(plan->configurations);
	free(plan->tests);
	free(plan->name);
	strv_free(plan->baselines);
	strv_free(plan->requires);
	free(plan->source);
	free(plan);
}

const struct endpoint *bench_plan_find_endpoint(const struct bench_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->endpoint_count; i++)
		if (str_eq(plan->endpoints[i].name, name))
			return &plan->endpoints[i];
	return NULL;
}

/* Read a mapping whose keys are names that the user chose: @one is called for each. */
static int each_named(struct reader *r, const struct key *key, const struct doc_node *map,
	size_t max, void *object,
	int (*one)(struct reader *r, const char *name, const struct doc_node *node, void *object))
{
	if (map->kind != DOC_MAP || !map->count)
		return reader_fail(r, map, key->name, -EINVAL,
			"must be at least one name with its value");
	if (map->count > max)
		return reader_fail(r, map, key->name, -EINVAL, "it has %zu entries; at most %zu are "
			"allowed", map->count, max);
	for (size_t i = 0; i < map->count; i++) {
		const char *name = map->keys[i]->text;
		_free_ char *path = str_format("%s%s.%s.", r->path, key->name, name);
		struct reader inner = {.ctx = r->ctx, .path = path};
		size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789._-");
		int error;

		if (!path)
			return ctx_oom(r->ctx);
		if (!len || name[len] || len > BENCH_NAME_MAX)
			return reader_fail(r, map->keys[i], key->name, -EINVAL, "'%.64s' cannot be a "
				"name; it is made of up to %d letters, digits, '.', '_' and '-'",
				name, BENCH_NAME_MAX);
		error = one(&inner, name, map->items[i], object);
		if (error < 0)
			return error;
	}
	return 0;
}

/* ---- endpoints ---- */

#define E(member) offsetof(struct endpoint, member)

/* The key is the kind of place; its value is the name of the place. */
static int read_where(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct endpoint *e = object;

	if (e->where != ENDPOINT_HERE)
		return reader_fail(r, value, key->name, -EINVAL,
			"an endpoint is in one place: netns, ssh or guest");
	e->where = (enum endpoint_kind)key->min;
	return read_line(r, &(struct key){key->name, NULL, E(at), 1, 255, NULL}, value, object);
}

static int read_cpus(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_cpuset set = {0};
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error == 0 && (vfctl_cpuset_parse(text, &set) < 0 || vfctl_cpuset_empty(&set)))
		error = reader_fail(r, value, key->name, -EINVAL, "'%.64s' is not allowed; it must "
			"be a list of CPUs such as '0-3,8'", text);
	return error < 0 ? error : read_line(r, key, value, object);
}

static const struct key endpoint_keys[] = {
	{"netns", read_where, 0, ENDPOINT_NETNS, 0, NULL},
	{"ssh", read_where, 0, ENDPOINT_SSH, 0, NULL},
	{"guest", read_where, 0, ENDPOINT_GUEST, 0, NULL},
	{"device", read_line, E(device), 1, 15, NULL},
	{"rdma", read_line, E(rdma), 1, 63, NULL},
	{"gid-index", read_u32, E(gid_index), 0, 255, NULL},
	{"ib-port", read_u32, E(ib_port), 1, 254, NULL},
	{"address", read_line, E(address), 1, 255, NULL},
	{"cpus", read_cpus, E(cpus), 1, 255, NULL},
	{"ssh-config", read_path, E(ssh_config), 0, 0, NULL},
};
static const struct shape endpoint_shapes[] = {
	{.read = read_where, .kinds = SHAPE_TEXT, .min = 1, .max = 255},
	{.read = read_cpus, .kinds = SHAPE_TEXT, .pattern = "^[0-9,-]+$"},
};
static const struct table endpoint_table = {endpoint_keys, ARRAY_SIZE(endpoint_keys),
	endpoint_shapes, ARRAY_SIZE(endpoint_shapes), .required = NULL};

/* A program's argument must not look like one of its options. */
static int check_text(struct reader *r, const struct doc_node *node,
	const struct endpoint *e)
{
	bool uri = e->where == ENDPOINT_SSH && str_starts(e->at, "ssh://");
	const char *const choices[] = {uri ? e->at + strlen("ssh://") : e->at, e->device, e->rdma,
		e->address};

	for (size_t i = 0; i < ARRAY_SIZE(choices); i++)
		if (choices[i] && (*choices[i] == '-' || !*choices[i] ||
					strpbrk(choices[i], " \t/\\'\"$`;|&<>")))
			return doc_fail(r->ctx, node, -EINVAL, "%s'%.64s' is not the name of an "
				"endpoint, device or address", r->path, choices[i]);
	return 0;
}

static int read_endpoint(struct reader *r, const char *name, const struct doc_node *node,
	void *object)
{
	struct bench_plan *plan = object;
	struct endpoint *e;
	int error;

	if (!array_grow(plan->endpoints, plan->endpoint_count))
		return ctx_oom(r->ctx);
	e = &plan->endpoints[plan->endpoint_count++];
	e->gid_index = UINT32_MAX;
	e->name = strdup(name);
	if (!e->name)
		return ctx_oom(r->ctx);
	error = reader_map(r, node, endpoint_keys, ARRAY_SIZE(endpoint_keys), e, NULL);
	return error < 0 ? error : check_text(r, node, e);
}

static int read_endpoints(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return each_named(r, key, value, ENDPOINTS_MAX, object, read_endpoint);
}

/* ---- configurations ---- */

#define C(member) offsetof(struct bench_plan_configuration, member)

struct wireguard_keys {
	uint32_t mtu;
};
static const struct key wireguard_rows[] = {
	{"mtu", read_u32, offsetof(struct wireguard_keys, mtu), TUNNEL_MTU_MIN,
		TUNNEL_MTU_MAX, NULL},
};
static const struct table wireguard_table = {wireguard_rows, ARRAY_SIZE(wireguard_rows), NULL, 0,
	.required = NULL};

static int read_wireguard(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct wireguard_keys keys = {1420}; /* the default of wg-quick with an MTU of 1500 */
	int error = reader_inner(r, key, value, &wireguard_table, &keys);

	((struct bench_plan_configuration *)object)->wireguard_mtu = keys.mtu;
	return error;
}

static const struct key configuration_keys[] = {
	{"client", read_line, C(client), 1, BENCH_NAME_MAX, NULL},
	{"server", read_line, C(server), 1, BENCH_NAME_MAX, NULL},
	{"settings", read_bench_settings, C(of_both), 0, 0, NULL},
	{"client-settings", read_bench_settings, C(of_client), 0, 0, NULL},
	{"server-settings", read_bench_settings, C(of_server), 0, 0, NULL},
	{"wireguard", read_wireguard, 0, 0, 0, NULL},
	{"launcher", read_lines, C(launcher), 1, 64, NULL},
};
static const struct shape configuration_shapes[] = {
	{.read = read_bench_settings, .map = &bench_setting_table},
	{.read = read_wireguard, .map = &wireguard_table},
};
static const struct table configuration_table = {configuration_keys,
	ARRAY_SIZE(configuration_keys), configuration_shapes, ARRAY_SIZE(configuration_shapes),
	.required = NULL};

/* With two endpoints, the first one is the client. */
static int choose_ends(struct reader *r, const struct doc_node *node,
	const struct bench_plan *plan, struct bench_plan_configuration *c)
{
	char **ends[] = {&c->client, &c->server};

	for (size_t i = 0; i < 2; i++) {
		if (!*ends[i] && plan->endpoint_count == 2)
			*ends[i] = strdup(plan->endpoints[i].name);
		if (!*ends[i])
			return doc_fail(r->ctx, node, plan->endpoint_count == 2 ? -ENOMEM : -EINVAL,
				"%s%s: the key is missing; name one of the endpoints", r->path,
				i ? "server" : "client");
		if (!bench_plan_find_endpoint(plan, *ends[i]))
			return doc_fail(r->ctx, node, -EINVAL, "%s%s: endpoint '%s' is not in this "
				"plan", r->path, i ? "server" : "client", *ends[i]);
	}
	return 0;
}

static const struct bench_plan_setting *find_setting(const struct bench_plan_settings *in,
	const char *name)
{
	for (size_t i = 0; i < in->count; i++)
		if (str_eq(in->v[i].name, name))
			return &in->v[i];
	return NULL;
}

static int check_settings(struct reader *r, const struct doc_node *node,
	const struct bench_plan *plan, const struct bench_plan_configuration *c)
{
	const struct bench_plan_settings *ends[] = {&c->of_client, &c->of_server};
	const char *names[] = {c->client, c->server};

	for (size_t i = 0; i < 2; i++) {
		const struct endpoint *e = bench_plan_find_endpoint(plan, names[i]);

		if ((ends[i]->count || c->of_both.count) && !e->device)
			return doc_fail(r->ctx, node, -EINVAL, "%ssettings: endpoint %s has no device; "
				"write device: NETDEV there", r->path, names[i]);
		for (size_t k = 0; k < ends[i]->count; k++)
			if (find_setting(&c->of_both, ends[i]->v[k].name))
				return doc_fail(r->ctx, node, -EINVAL, "%ssettings: %s is given for both "
					"ends and for one of them", r->path, ends[i]->v[k].name);
	}
	return 0;
}

static int read_configuration(struct reader *r, const char *name, const struct doc_node *node,
	void *object)
{
	struct bench_plan *plan = object;
	struct bench_plan_configuration *c;

	if (!array_grow(plan->configurations, plan->configuration_count))
		return ctx_oom(r->ctx);
	c = &plan->configurations[plan->configuration_count++];
	c->name = strdup(name);
	if (!c->name)
		return ctx_oom(r->ctx);
	return reader_map(r, node, configuration_keys, ARRAY_SIZE(configuration_keys), c, NULL);
}

static int read_configurations(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	return each_named(r, key, value, CONFIGURATIONS_MAX, object, read_configuration);
}

/* ---- the plan ---- */

#define P(member) offsetof(struct bench_plan, member)

/* "1%" or "0.01". */
static int read_fraction(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const char *text;
	char *end;
	double number;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	number = strtod(text, &end);
	if (end != text && str_eq(end, "%")) {
		number /= 100;
		end++;
	}
	if (end == text || *end || !isfinite(number) || number < 0 || number > 0.5)
		return reader_fail(r, value, key->name, -EINVAL, "'%.32s' is not allowed; it must be a "
			"share of 0 to 50%%, such as '2%%' or 0.02", text);
	*(double *)((char *)object + key->offset) = number;
	return 0;
}

/* A name, or a list of names. */
static int read_baselines(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const struct key list = {key->name, NULL, key->offset, 1, BASELINES_MAX, NULL};
	char ***to = (char ***)((char *)object + key->offset);

	if (value->kind == DOC_LIST)
		return read_lines(r, &list, value, object);
	*to = calloc(2, sizeof(char *));
	if (!*to)
		return ctx_oom(r->ctx);
	return read_line(r, &(struct key){key->name, NULL, 0, key->min, key->max, NULL}, value, *to);
}

static const struct key plan_keys[] = {
	{"name", read_line, P(name), 1, 80, NULL},
	{"trials", read_u32, P(trials), 1, TRIALS_MAX, NULL},
	{"warmup", read_u32, P(warmup), 0, 10, NULL},
	{"seed", read_u32, P(seed), 1, UINT32_MAX, NULL},
	{"timeout", read_seconds, P(timeout_s), 1, 24 * HOUR_S, NULL},
	{"alpha", read_fraction, P(alpha), 0, 0, NULL},
	{"noise", read_fraction, P(noise), 0, 0, NULL},
	{"baseline", read_baselines, P(baselines), 1, BENCH_NAME_MAX, NULL},
	{"endpoints", read_endpoints, 0, 0, 0, NULL},
	{"configurations", read_configurations, 0, 0, 0, NULL},
	{"tests", read_bench_tests, 0, 0, 0, NULL},
	{"source", read_line, P(source), 1, 160, NULL},
	{"requires", read_lines, P(requires), 1, 16, NULL},
};
#define NAMED "^[A-Za-z0-9._-]{1,48}$"
static const struct shape test_shape = {.map = &bench_test_table};
static const struct shape baseline_shape = {.kinds = SHAPE_TEXT, .pattern = NAMED};
static const struct shape plan_shapes[] = {
	{.read = read_baselines, .kinds = SHAPE_TEXT | SHAPE_FILLED, .each = &baseline_shape,
		.most = BASELINES_MAX},
	{.read = read_endpoints, .map = &endpoint_table, .named = NAMED},
	{.read = read_configurations, .map = &configuration_table, .named = NAMED},
	{.read = read_bench_tests, .each = &test_shape, .kinds = SHAPE_FILLED, .most = 64},
	{.read = read_fraction, .kinds = SHAPE_TEXT, .pattern = "^[0-9.]+(e-[0-9]+)?%?$"},
};
static const char *const required[] = {"endpoints", "configurations", "tests", NULL};
static const struct table bench_table = {plan_keys, ARRAY_SIZE(plan_keys), plan_shapes,
	ARRAY_SIZE(plan_shapes), .required = required};

static int check_ends(struct reader *r, const struct doc_node *map, struct bench_plan *plan)
{
	int error = 0;

	for (size_t i = 0; i < plan->configuration_count && error == 0; i++) {
		_free_ char *path = str_format("configurations.%s.", plan->configurations[i].name);
		struct reader inner = {.ctx = r->ctx, .path = path};

		if (!path)
			return ctx_oom(r->ctx);
		error = choose_ends(&inner, map->items[i], plan, &plan->configurations[i]);
		if (error == 0)
			error = check_settings(&inner, map->items[i], plan, &plan->configurations[i]);
	}
	return error;
}

/* Only mpirun starts programs. */
static int check_launchers(struct reader *r, const struct doc_node *map,
	const struct bench_plan *plan)
{
	bool osu = false;

	for (size_t i = 0; i < plan->test_count; i++)
		osu |= str_starts(plan->tests[i].tool, "osu_");
	for (size_t i = 0; i < plan->configuration_count; i++)
		if (plan->configurations[i].launcher && !osu)
			return doc_fail(r->ctx, map->items[i], -EINVAL, "configurations.%s.launcher: no test "
				"of this plan is of OSU; remove the key", plan->configurations[i].name);
	return 0;
}

static bool has_configuration(const struct bench_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->configuration_count; i++)
		if (str_eq(plan->configurations[i].name, name))
			return true;
	return false;
}

static int check_plan(struct reader *r, const struct doc_node *root, struct bench_plan *plan,
	const struct doc_node *const *seen)
{
	enum { BASELINE = 7, ENDPOINTS = 8, CONFIGURATIONS = 9, TESTS = 10 };
	int error;

	for (int i = ENDPOINTS; i <= TESTS; i++)
		if (!seen[i])
			return doc_fail(r->ctx, root, -EINVAL, "%s: the key is missing; a plan needs "
				"endpoints, configurations and tests", plan_keys[i].name);
	for (size_t i = 0; plan->baselines && plan->baselines[i]; i++) {
		if (!has_configuration(plan, plan->baselines[i]))
			return reader_fail(r, seen[BASELINE], "baseline", -EINVAL,
				"configuration '%s' is not in this plan", plan->baselines[i]);
		if (bench_plan_is_baseline(plan, plan->baselines[i], i))
			return reader_fail(r, seen[BASELINE], "baseline", -EINVAL, "%s occurs twice",
				plan->baselines[i]);
	}
	error = check_launchers(r, seen[CONFIGURATIONS], plan);
	return error < 0 ? error : check_ends(r, seen[CONFIGURATIONS], plan);
}

int bench_plan_read(struct vfctl_ctx *ctx, const struct doc_node *root, struct bench_plan **ret)
{
	const struct doc_node *seen[ARRAY_SIZE(plan_keys)] = {0};
	struct reader r = {.ctx = ctx, .path = ""};
	_cleanup_(bench_plan_freep) struct bench_plan *plan = calloc(1, sizeof(*plan));
	int error;

	if (!plan)
		return ctx_oom(ctx);
	/* The number of trials in the paper, and criterion's threshold. */
	*plan = (struct bench_plan){.trials = 15, .warmup = 1, .timeout_s = 60, .alpha = 0.05,
		.noise = 0.01};
	error = reader_map(&r, root, plan_keys, ARRAY_SIZE(plan_keys), plan, seen);
	if (error == 0)
		error = check_plan(&r, root, plan, seen);
	if (error == 0 && !plan->name && !(plan->name = strdup("bench")))
		error = ctx_oom(ctx);
	if (error == 0)
		*ret = steal(plan);
	return error;
}

bool bench_plan_is_baseline(const struct bench_plan *plan, const char *name, size_t below)
{
	if (!plan->baselines)
		return below && str_eq(plan->configurations[0].name, name);
	for (size_t i = 0; i < below && plan->baselines[i]; i++)
		if (str_eq(plan->baselines[i], name))
			return true;
	return false;
}

unsigned bench_plan_trials_needed(const struct bench_plan *plan)
{
	return plan->configuration_count < 2 ? 0 : trials_needed(true, plan->alpha);
}

#define QUICK_ITERATIONS 1000

/* Numbers of iterations above the limit become one number, the limit. */
static void quicken_iterations(struct bench_numbers *io)
{
	size_t kept = 0;
	bool clipped = false, there = false;

	for (size_t i = 0; i < io->count; i++) {
		there |= io->v[i] == QUICK_ITERATIONS;
		if (io->v[i] <= QUICK_ITERATIONS)
			io->v[kept++] = io->v[i];
		else
			clipped = true;
	}
	if (clipped && !there) /* in a place that became free */
		io->v[kept++] = QUICK_ITERATIONS;
	io->count = kept;
}

void bench_plan_quicken(struct bench_plan *plan)
{
	plan->trials = 1;
	plan->warmup = 0;
	for (size_t i = 0; i < plan->test_count; i++) {
		struct bench_plan_test *t = &plan->tests[i];
		const struct tool *tool = tool_find(t->tool);

		quicken_iterations(&t->iterations);
		/* A command decides itself. */
		if (t->duration_s || (tool->can & TOOL_DURATION && !(tool->can & TOOL_ITERATIONS) &&
					     !t->command))
			t->duration_s = 1;
	}
}

int bench_plan_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct bench_plan **ret)
{
	_cleanup_(doc_freep) struct doc_node *root = NULL;
	int error = doc_parse(ctx, file, text, len, BENCH_PLAN_FILE_MAX, &root);

	return error < 0 ? error : bench_plan_read(ctx, root, ret);
}

int vfctl_bench_schema(struct vfctl_ctx *ctx, char **ret)
{
	return schema_write(ctx, "plan of vfctl bench", &bench_table, ret);
}
