// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of the runs: each trial of everything once, shuffled, then the next trial. */
#include "bench/outer.h"
#include "bench/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/parse.h"
#include "bench/search.h"
#include "bench/stats.h"

#define TURNS_MAX 1000000

/* splitmix64: the same seed gives the same order with every library and machine. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t below(uint64_t *state, uint64_t limit)
{
	uint64_t fair = UINT64_MAX - UINT64_MAX % limit, r;

	do
		r = next_random(state);
	while (r >= fair);
	return r % limit;
}

static void shuffle(struct bench_turn *turns, size_t count, uint64_t *state)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)below(state, i);
		struct bench_turn t = turns[i - 1];

		turns[i - 1] = turns[k];
		turns[k] = t;
	}
}

/* The values to sweep over, or the one that stands for none. */
struct sweep {
	const uint64_t *v;
	size_t count;
};

static struct sweep sweep_of(const struct bench_numbers *numbers, const uint64_t *otherwise)
{
	return numbers->count ? (struct sweep){numbers->v, numbers->count} : (struct sweep){otherwise, 1};
}

static int add_points(struct bench *b, const struct bench_plan_test *t, const struct tool *tool)
{
	static const char *const forward[] = {"forward", NULL};
	static const uint64_t none = 0, one = 1;
	const char *const *directions = t->directions ? (const char *const *)t->directions : forward;
	struct sweep sizes = sweep_of(&t->sizes, &none), threads = sweep_of(&t->threads, &one);
	struct sweep iterations = sweep_of(&t->iterations, &none), nodes = sweep_of(&t->per_node, &none);
	size_t inner = iterations.count * nodes.count, each = threads.count * inner;

	for (size_t i = 0; i < sizes.count * each; i++)
		for (size_t d = 0; directions[d]; d++) {
			if (!array_grow(b->points, b->point_count))
				return ctx_oom(b->ctx);
			b->points[b->point_count++] = (struct bench_point){.test = t, .tool = tool,
				.direction = directions[d], .size = sizes.v[i / each],
				.threads = threads.v[i % each / inner],
				.iterations = iterations.v[i % inner / nodes.count],
				.per_node = nodes.v[i % nodes.count]};
		}
	return 0;
}

static int check_test(struct bench *b, const struct bench_plan_test *t, const struct tool *tool)
{
	int r = 0;

	for (size_t i = 0; i < b->plan->configuration_count && r == 0; i++) {
		const struct bench_plan_configuration *c = &b->plan->configurations[i];

		r = tool_check(b->ctx, tool, t, bench_plan_find_endpoint(b->plan, c->client),
			bench_plan_find_endpoint(b->plan, c->server));
	}
	return r;
}

static int make_turns(struct bench *b)
{
	size_t rounds = b->plan->warmup + b->plan->trials, at = 0;
	size_t each = b->point_count * b->plan->configuration_count;
	uint64_t state = b->seed;

	if (each * rounds > TURNS_MAX)
		return ctx_usage_error(b->ctx, -E2BIG, "%zu runs are planned, more than %d; use fewer "
			"sizes, threads or trials", each * rounds, TURNS_MAX);
	b->turns = calloc(each * rounds, sizeof(*b->turns));
	if (!b->turns)
		return ctx_oom(b->ctx);
	b->turn_count = each * rounds;
	for (size_t round = 0; round < rounds; round++) {
		size_t start = at;

		for (size_t p = 0; p < b->point_count; p++)
			for (size_t c = 0; c < b->plan->configuration_count; c++)
				b->turns[at++] = (struct bench_turn){.configuration = c, .point = p,
					.trial = round < b->plan->warmup
						? 0
						: (unsigned)(round - b->plan->warmup + 1)};
		shuffle(b->turns + start, each, &state);
	}
	return 0;
}

int bench_add_turns(struct bench *b, const size_t *members, size_t count, size_t point,
	unsigned trial)
{
	uint64_t state = b->seed + (uint64_t)b->turn_count * 0xd1342543de82ef95;
	size_t start = b->turn_count;

	for (size_t i = 0; i < count; i++) {
		if (!array_grow(b->turns, b->turn_count))
			return ctx_oom(b->ctx);
		b->turns[b->turn_count++] = (struct bench_turn){.configuration = members[i],
			.point = point, .trial = trial};
	}
	shuffle(b->turns + start, count, &state);
	return 0;
}

size_t bench_planned_runs(const struct bench *b)
{
	const struct race_rules rules = {.count = b->plan->configuration_count,
		.trials = b->plan->trials, .warmup = b->plan->warmup > 0};

	return b->searches ? race_most_runs(&rules) : b->turn_count;
}

/* A search decides by one number: a single cell, measured repeatedly. */
static int make_search(struct bench *b)
{
	if (b->point_count != 1 || b->points[0].test->all_sizes)
		return ctx_usage_error(b->ctx, -EINVAL, "a search decides by one figure, but this plan "
			"measures %zu: name one test, one size, one number of threads and one "
			"direction", b->points[0].test->all_sizes ? (size_t)2 : b->point_count);
	if (b->plan->configuration_count < 2)
		return ctx_usage_error(b->ctx, -EINVAL, "a search needs settings besides the present "
			"ones, but this plan has one configuration");
	if (b->plan->trials < trials_needed(true, b->plan->alpha) ||
		b->plan->trials > SEARCH_TRIALS_MAX)
		return ctx_usage_error(b->ctx, -EINVAL, "a search makes %u to %d trials of each "
			"setting, not %u: fewer cannot show a difference, and more add nothing",
			trials_needed(true, b->plan->alpha), SEARCH_TRIALS_MAX, b->plan->trials);
	if (!array_grow(b->points, b->point_count))
		return ctx_oom(b->ctx);
	b->points[1] = b->points[0];
	b->points[0].phase = SEARCH_RACE;
	b->points[1].phase = SEARCH_CONFIRMATION;
	b->point_count = 2;
	return 0;
}

static void add_names(struct argv *names, const struct bench_plan_settings *of)
{
	for (size_t i = 0; i < of->count; i++) {
		bool known = false;

		for (size_t k = 0; k < names->count; k++)
			known |= str_eq(names->v[k], of->v[i].name);
		if (!known)
			argv_add(names, "%s", of->v[i].name);
	}
}

/*
 * The settings of an end that any configuration changes: the other configurations use the original
 * values.
 */
static int take_names(struct bench *b, size_t end)
{
	const char *name = b->plan->endpoints[end].name;
	_cleanup_(argv_clear) struct argv names = {0};

	for (size_t i = 0; i < b->plan->configuration_count; i++) {
		const struct bench_plan_configuration *c = &b->plan->configurations[i];
		bool client = str_eq(c->client, name), server = str_eq(c->server, name);

		b->ends[end].used |= client || server;
		if (client)
			add_names(&names, &c->of_client);
		if (server)
			add_names(&names, &c->of_server);
		if (client || server)
			add_names(&names, &c->of_both);
	}
	b->ends[end].names = steal(names.v);
	return names.failed ? ctx_oom(b->ctx) : 0;
}

void bench_free(struct bench *b)
{
	if (!b)
		return;
	for (size_t i = 0; b->ends && i < b->plan->endpoint_count; i++) {
		if (b->ends[i].open)
			place_close(&b->ends[i].place);
		strv_free(b->ends[i].names);
		free(b->ends[i].original);
		free(b->ends[i].now);
	}
	free(b->ends);
	bench_outers_free(b->outers, b->outer_count);
	survey_clear(&b->survey);
	bench_plan_free(b->plan);
	free(b->points);
	free(b->turns);
	free(b->text);
	free(b);
}

static uint64_t seed_of(const struct bench_plan *plan, uint64_t seed)
{
	struct timespec now;

	if (seed || plan->seed)
		return seed ? seed : plan->seed;
	clock_gettime(CLOCK_REALTIME, &now);
	/* Short enough to be typed. */
	return (uint64_t)(now.tv_sec ^ now.tv_nsec) % 999983 + 1;
}

static int fill_order(struct bench *b, const char *text, const struct bench_how *how)
{
	int r = 0;

	b->seed = seed_of(b->plan, how->seed);
	b->text = strdup(text);
	b->ends = calloc(b->plan->endpoint_count, sizeof(*b->ends));
	if (!b->text || !b->ends)
		return ctx_oom(b->ctx);
	for (size_t i = 0; i < b->plan->endpoint_count && r == 0; i++) {
		b->ends[i].place = (struct place){.ctx = b->ctx, .end = &b->plan->endpoints[i],
			.hypervisor = how->hypervisor};
		r = take_names(b, i);
	}
	for (size_t i = 0; i < b->plan->test_count && r == 0; i++) {
		const struct bench_plan_test *t = &b->plan->tests[i];
		const struct tool *tool = tool_find(t->tool);

		r = tool ? check_test(b, t, tool)
			 : ctx_fail(b->ctx, -EINVAL, "not a known tool: %s", t->tool);
		if (r == 0)
			r = add_points(b, t, tool);
	}
	return r < 0 ? r : b->searches ? make_search(b) : make_turns(b);
}

int bench_new(struct vfctl_ctx *ctx, struct bench_plan *plan, const char *text,
	const struct bench_how *how, struct bench **ret)
{
	_cleanup_(bench_freep) struct bench *b = calloc(1, sizeof(*b));
	int r;

	if (!b) {
		bench_plan_free(plan);
		return ctx_oom(ctx);
	}
	*b = (struct bench){.ctx = ctx, .plan = plan, .searches = how->searches, .quick = how->quick,
		.max_seconds = how->max_seconds};
	r = fill_order(b, text, how);
	if (r == 0)
		*ret = steal(b);
	return r;
}

const char *bench_point_text(const struct bench_point *p, char buf[128])
{
	int at = snprintf(buf, 128, "%s", p->test->name);

	if (p->size)
		at += snprintf(buf + at, 128 - (size_t)at, ", %" PRIu64 " bytes", p->size);
	if (p->test->threads.count)
		at += snprintf(buf + at, 128 - (size_t)at, ", %" PRIu64 " thread%s", p->threads,
			plural(p->threads));
	if (p->per_node)
		at += snprintf(buf + at, 128 - (size_t)at, ", %" PRIu64 " per node", p->per_node);
	if (p->test->iterations.count > 1)
		at += snprintf(buf + at, 128 - (size_t)at, ", %" PRIu64 " iterations", p->iterations);
	if (p->test->directions)
		at += snprintf(buf + at, 128 - (size_t)at, ", %s", p->direction);
	if (p->phase)
		snprintf(buf + at, 128 - (size_t)at, ", %s", p->phase);
	return buf;
}
