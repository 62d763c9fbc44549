// SPDX-License-Identifier: GPL-2.0-or-later
/* bench.json: what to measure, on what, and in which order. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/json.h"
#include "bench/run.h"

static void put_text(struct buf *b, const char *key, const char *value)
{
	json_put(b, key);
	buf_puts(b, ": ");
	if (value)
		json_put(b, value);
	else
		buf_puts(b, "null");
}

static void put_settings(struct buf *b, const char *end, const struct bench_plan_settings *s,
	bool *some)
{
	for (size_t i = 0; i < s->count; i++) {
		_free_ char *key = str_format("%s%s%s", end, *end ? "." : "", s->v[i].name);

		b->failed |= !key;
		buf_puts(b, *some ? ", " : "");
		put_text(b, key ? key : "", s->v[i].value);
		*some = true;
	}
}

static void put_configuration(struct buf *b, const struct bench_plan_configuration *c)
{
	bool some = true;

	buf_puts(b, "    {");
	put_text(b, "name", c->name);
	buf_puts(b, ", \"settings\": {");
	put_text(b, "client", c->client);
	buf_puts(b, ", ");
	put_text(b, "server", c->server);
	put_settings(b, "", &c->of_both, &some);
	put_settings(b, "client", &c->of_client, &some);
	put_settings(b, "server", &c->of_server, &some);
	if (c->wireguard_mtu)
		buf_printf(b, ", \"wireguard.mtu\": \"%u\"", c->wireguard_mtu);
	buf_puts(b, "}}");
}

static void put_test(struct buf *b, const struct bench_plan_test *t)
{
	const struct tool *tool = tool_find(t->tool);

	buf_puts(b, "    {");
	put_text(b, "name", t->name);
	buf_puts(b, ", ");
	put_text(b, "tool", t->tool);
	buf_puts(b, ", ");
	put_text(b, "goal", tool_goal(tool, t));
	buf_puts(b, ", ");
	put_text(b, "better", tool_higher_is_better(tool, t) ? "higher" : "lower");
	buf_puts(b, "}");
}

static void put_list(struct buf *b, const char *key, const struct bench *bench, size_t count,
	void (*put)(struct buf *b, const struct bench *bench, size_t i))
{
	buf_printf(b, "  \"%s\": [", key);
	for (size_t i = 0; i < count; i++) {
		buf_puts(b, i ? ",\n" : "\n");
		put(b, bench, i);
	}
	buf_puts(b, count ? "\n  ],\n" : "],\n");
}

static void put_configuration_at(struct buf *b, const struct bench *bench, size_t i)
{
	put_configuration(b, &bench->plan->configurations[i]);
}

static void put_test_at(struct buf *b, const struct bench *bench, size_t i)
{
	put_test(b, &bench->plan->tests[i]);
}

static void put_tool_at(struct buf *b, const struct bench *bench, size_t i)
{
	const struct bench_tool_version *t = &bench->survey.tools[i];

	buf_puts(b, "    {");
	put_text(b, "name", t->name);
	buf_puts(b, ", ");
	put_text(b, "version", t->version);
	buf_puts(b, ", ");
	put_text(b, "endpoint", t->endpoint);
	buf_puts(b, "}");
}

static void put_check_at(struct buf *b, const struct bench *bench, size_t i)
{
	static const char *const states[] = {[BENCH_CHECK_OK] = "ok", [BENCH_CHECK_WARN] = "warn",
		[BENCH_CHECK_FAIL] = "fail"};
	const struct bench_check *c = &bench->survey.checks[i];

	buf_puts(b, "    {");
	put_text(b, "name", c->name);
	buf_puts(b, ", ");
	put_text(b, "state", states[c->state]);
	buf_puts(b, ", ");
	put_text(b, "text", c->text);
	buf_puts(b, "}");
}

static void put_host(struct buf *b, const struct survey *s)
{
	buf_puts(b, "  \"host\": {");
	for (size_t i = 0; i < s->fact_count; i++) {
		buf_puts(b, i ? ",\n    " : "\n    ");
		put_text(b, s->facts[i].name, s->facts[i].value);
	}
	buf_puts(b, s->fact_count ? "\n  },\n" : "},\n");
}

/* "baseline" is the first one, "baselines" all of several (take_baselines()). */
static void put_baselines(struct buf *b, const struct bench_plan *plan)
{
	put_text(b, "baseline", plan->baselines ? plan->baselines[0] : NULL);
	if (!plan->baselines || !plan->baselines[1])
		return;
	buf_puts(b, ",\n  \"baselines\": [");
	for (size_t i = 0; plan->baselines[i]; i++) {
		buf_puts(b, i ? ", " : "");
		json_put(b, plan->baselines[i]);
	}
	buf_puts(b, "]");
}

int bench_description(const struct bench *bench, char **ret)
{
	const struct bench_plan *plan = bench->plan;
	_buf_ struct buf b = {0};
	char when[32];
	time_t now = time(NULL);
	struct tm tm;

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	buf_printf(&b, "{\n  \"schema\": %d,\n  ", BENCH_SCHEMA);
	put_text(&b, "name", plan->name);
	buf_puts(&b, ",\n  ");
	put_text(&b, "created", when);
	buf_puts(&b, ",\n  ");
	put_text(&b, "vfctl", VFCTL_VERSION);
	buf_printf(&b, ",\n  \"seed\": %" PRIu64 ",\n  \"runs\": %zu,\n  \"alpha\": %.10g,\n"
		       "  \"noise\": %.10g,\n  ",
		bench->seed, bench_planned_runs(bench), plan->alpha, plan->noise);
	put_baselines(&b, plan);
	buf_printf(&b, ",\n  \"emulated\": %s,\n", bench->survey.emulated ? "true" : "false");
	put_list(&b, "configurations", bench, plan->configuration_count, put_configuration_at);
	put_list(&b, "tests", bench, plan->test_count, put_test_at);
	put_list(&b, "tools", bench, bench->survey.tool_count, put_tool_at);
	put_list(&b, "checks", bench, bench->survey.check_count, put_check_at);
	put_host(&b, &bench->survey);
	if (bench->quick)
		buf_puts(&b, "  \"quick\": true,\n");
	if (bench->searches)
		buf_printf(&b, "  \"search\": {\"max_seconds\": %.10g},\n", bench->max_seconds);
	buf_printf(&b, "  \"trials\": %u,\n  \"warmup\": %u\n}\n", plan->trials, plan->warmup);
	*ret = b.failed ? NULL : buf_steal(&b);
	return *ret ? 0 : ctx_oom(bench->ctx);
}
