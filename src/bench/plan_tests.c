// SPDX-License-Identifier: GPL-2.0-or-later
/* The tests of a plan of measurements: a tool for each, and the values to sweep over. */
#include <errno.h>

#include "base/parse.h"
#include "bench/plan.h"

#define TESTS_MAX 64
#define NUMBERS_MAX 64
#define SIZE_MAX_BYTES (1ull << 30)
#define THREADS_MAX 1024
#define WORDS_MAX 64

void bench_test_clear(struct bench_plan_test *test)
{
	free(test->name);
	free(test->tool);
	free(test->mode);
	free(test->sizes.v);
	free(test->threads.v);
	free(test->per_node.v);
	free(test->iterations.v);
	strv_free(test->directions);
	strv_free(test->options);
	strv_free(test->launcher);
	strv_free(test->command);
	strv_free(test->server_command);
	free(test->regex);
	free(test->json_path);
	free(test->unit);
	free(test->goal);
}

#define T(member) offsetof(struct bench_plan_test, member)

static int add_number(struct reader *r, const struct key *key, const struct doc_node *value,
	struct bench_numbers *to)
{
	uint64_t number = 0;
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (parse_size(text, &number) < 0 || number < key->min || number > key->max)
		return reader_fail(r, value, key->name, -EINVAL, "'%.32s' is not allowed; it must be "
			"%llu to %llu%s", text, (unsigned long long)key->min, (unsigned long long)key->max,
			key->max == SIZE_MAX_BYTES ? ", such as 64 or 4KiB" : "");
	for (size_t i = 0; i < to->count; i++)
		if (to->v[i] == number)
			return reader_fail(r, value, key->name, -EINVAL, "%s occurs twice", text);
	if (!array_grow(to->v, to->count))
		return ctx_oom(r->ctx);
	to->v[to->count++] = number;
	return 0;
}

/* One number or a list of them: "64", "4KiB". */
static int read_numbers(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct bench_numbers *to = (void *)((char *)object + key->offset);
	int error = 0;

	if (value->kind != DOC_LIST)
		return add_number(r, key, value, to);
	if (!value->count || value->count > NUMBERS_MAX)
		return reader_fail(r, value, key->name, -EINVAL, "it must be a list of 1 to %d",
			NUMBERS_MAX);
	for (size_t i = 0; i < value->count && error == 0; i++)
		error = add_number(r, key, value->items[i], to);
	return error;
}

static const char *const direction_text[] = {"forward", "reverse", "both", NULL};

static int add_direction(struct reader *r, const struct key *key, const struct doc_node *value,
	char **to, size_t at)
{
	unsigned word;
	int error = read_word(r, &(struct key){key->name, NULL, 0, 0, 0, direction_text}, value,
		&word);

	if (error < 0)
		return error;
	to[at] = strdup(direction_text[word]);
	return to[at] ? 0 : ctx_oom(r->ctx);
}

static int read_directions(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct bench_plan_test *test = object;
	size_t count = value->kind == DOC_LIST ? value->count : 1;
	int error = 0;

	if (!count || count > 3)
		return reader_fail(r, value, key->name, -EINVAL, "it must be forward, reverse or both, "
			"or a list of these");
	test->directions = calloc(count + 1, sizeof(char *));
	if (!test->directions)
		return ctx_oom(r->ctx);
	for (size_t i = 0; i < count && error == 0; i++)
		error = add_direction(r, key, value->kind == DOC_LIST ? value->items[i] : value,
			test->directions, i);
	return error;
}

static const char *const tool_text[] = {"ib_write_lat", "ib_read_lat", "ib_send_lat",
	"ib_atomic_lat", "ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_atomic_bw", "iperf3", "iperf",
	"sockperf", "qperf", "netperf", "osu_latency", "osu_bw", "osu_bibw", "osu_barrier",
	"osu_ibarrier", "osu_bcast", "osu_allreduce", "osu_allgather", "osu_alltoall", "command", NULL};
static const char *const transport_text[] = {"tcp", "udp", NULL};
static const char *const better_text[] = {"lower", "higher", NULL};

static int read_transport(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	unsigned word;
	int error = read_word(r, &(struct key){key->name, NULL, 0, 0, 0, key->choices}, value, &word);

	if (error == 0)
		*(bool *)((char *)object + key->offset) = word == 1;
	return error;
}

static const struct key test_keys[] = {
	{"name", read_line, T(name), 1, BENCH_NAME_MAX, NULL},
	{"tool", read_word_text, T(tool), 0, 0, tool_text},
	{"mode", read_line, T(mode), 1, 32, NULL},
	{"size", read_numbers, T(sizes), 1, SIZE_MAX_BYTES, NULL},
	{"threads", read_numbers, T(threads), 1, THREADS_MAX, NULL},
	{"processes-per-node", read_numbers, T(per_node), 1, THREADS_MAX, NULL},
	{"direction", read_directions, 0, 0, 0, NULL},
	{"iterations", read_numbers, T(iterations), 1, 1000000000, NULL},
	{"duration", read_seconds, T(duration_s), 1, 86400, NULL},
	{"port", read_u32, T(port), 1, 65535, NULL},
	{"transport", read_transport, T(udp), 0, 0, transport_text},
	{"events", read_switch, T(events), 0, 0, NULL},
	{"all-sizes", read_switch, T(all_sizes), 0, 0, NULL},
	{"raw-samples", read_switch, T(raw_samples), 0, 0, NULL},
	{"inline", read_u32, T(inline_bytes), 0, 4096, NULL},
	{"options", read_lines, T(options), 0, WORDS_MAX, NULL},
	{"launcher", read_lines, T(launcher), 0, WORDS_MAX, NULL},
	{"command", read_lines, T(command), 0, WORDS_MAX, NULL},
	{"server-command", read_lines, T(server_command), 0, WORDS_MAX, NULL},
	{"regex", read_line, T(regex), 1, 255, NULL},
	{"json-path", read_line, T(json_path), 1, 255, NULL},
	{"unit", read_line, T(unit), 1, 11, NULL},
	{"goal", read_line, T(goal), 1, 23, NULL},
	{"better", read_transport, T(higher_is_better), 0, 0, better_text},
};
static const struct shape number_shape = {.kinds = SHAPE_TEXT};
static const struct shape direction_shape = {.choices = direction_text};
static const struct shape test_shapes[] = {
	{.read = read_numbers, .kinds = SHAPE_TEXT, .each = &number_shape, .most = NUMBERS_MAX},
	{.read = read_directions, .choices = direction_text, .each = &direction_shape, .most = 3},
	{.read = read_transport, .kinds = SHAPE_WORDS},
};
static const char *const required[] = {"tool", NULL};
const struct table bench_test_table = {test_keys, ARRAY_SIZE(test_keys), test_shapes,
	ARRAY_SIZE(test_shapes), .required = required};

/* A command returns one number, in one of two ways. */
static int check_command(struct reader *r, const struct doc_node *node,
	const struct bench_plan_test *t)
{
	bool is = str_eq(t->tool, "command");

	if (is && !t->command)
		return doc_fail(r->ctx, node, -EINVAL, "%scommand: the key is missing; write the "
			"command as a list of words", r->path);
	if (is && !t->regex == !t->json_path)
		return doc_fail(r->ctx, node, -EINVAL, "%sregex: state the number in the output by "
			"either regex or json-path", r->path);
	if (is && t->server_command && !t->port)
		return doc_fail(r->ctx, node, -EINVAL, "%sport: the key is missing; vfctl starts the "
			"command when server-command listens on this port", r->path);
	if (!is && (t->command || t->server_command || t->regex || t->json_path || t->unit ||
			t->higher_is_better))
		return doc_fail(r->ctx, node, -EINVAL, "%scommand, server-command, regex, json-path, unit "
			"and better are for tool: command; vfctl knows the output of %s", r->path, t->tool);
	if (t->launcher && !str_starts(t->tool, "osu_"))
		return doc_fail(r->ctx, node, -EINVAL, "%slauncher: only mpirun starts programs, and %s is "
			"started without it; remove the key", r->path, t->tool);
	return 0;
}

static int check_test(struct reader *r, const struct doc_node *node, struct bench_plan *plan,
	struct bench_plan_test *t)
{
	int error;

	if (!t->tool)
		return doc_fail(r->ctx, node, -EINVAL, "%stool: the key is missing; name the tool, such "
			"as sockperf", r->path);
	error = check_command(r, node, t);
	if (error < 0)
		return error;
	if (!t->name && !(t->name = strdup(t->tool)))
		return ctx_oom(r->ctx);
	if (t->iterations.count && t->duration_s)
		return doc_fail(r->ctx, node, -EINVAL, "%siterations: state either iterations or "
			"duration, not both", r->path);
	for (size_t i = 0; i + 1 < plan->test_count; i++)
		if (str_eq(plan->tests[i].name, t->name))
			return doc_fail(r->ctx, node, -EINVAL, "%sname: two tests have the name %s; "
				"rename one of them", r->path, t->name);
	return 0;
}

static int read_test(struct reader *r, const struct doc_node *node, void *object)
{
	struct bench_plan *plan = object;
	struct bench_plan_test *t;
	int error;

	if (!array_grow(plan->tests, plan->test_count))
		return ctx_oom(r->ctx);
	t = &plan->tests[plan->test_count++];
	t->inline_bytes = UINT32_MAX;
	error = reader_map(r, node, test_keys, ARRAY_SIZE(test_keys), t, NULL);
	return error < 0 ? error : check_test(r, node, plan, t);
}

int read_bench_tests(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	if (value->kind == DOC_LIST && !value->count)
		return reader_fail(r, value, key->name, -EINVAL, "is empty; add a test");
	return reader_each(r, key, value, TESTS_MAX, object, read_test);
}
