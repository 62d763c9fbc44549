// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/result.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/json.h"
#include "bench/trial_index.h"
#include "host/tree.h"

/* ---- free ---- */

static void free_settings(struct bench_setting *v, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(v[i].name);
		free(v[i].value);
	}
	free(v);
}

static void free_lists(struct bench_result *r)
{
	for (size_t i = 0; i < r->configuration_count; i++) {
		free(r->configurations[i].name);
		free_settings(r->configurations[i].settings, r->configurations[i].setting_count);
	}
	for (size_t i = 0; i < r->test_count; i++) {
		free(r->tests[i].name);
		free(r->tests[i].tool);
		free(r->tests[i].goal);
	}
	for (size_t i = 0; i < r->tool_count; i++) {
		free(r->tools[i].name);
		free(r->tools[i].version);
		free(r->tools[i].endpoint);
	}
	for (size_t i = 0; i < r->check_count; i++) {
		free(r->checks[i].name);
		free(r->checks[i].text);
	}
	for (size_t i = 0; i < r->trial_count; i++)
		bench_trial_clear(&r->trials[i]);
}

void bench_result_free(struct bench_result *r)
{
	if (!r)
		return;
	free_lists(r);
	free_settings(r->host, r->host_count);
	free(r->configurations);
	free(r->tests);
	free(r->tools);
	free(r->checks);
	free(r->trials);
	free(r->dir);
	free(r->name);
	free(r->created);
	free(r->vfctl);
	strv_free(r->baselines);
	free(r);
}

/* ---- bench.json ---- */

struct reader {
	struct vfctl_ctx *ctx;
	const char *what;
	struct bench_result *result;
};

static int bad_result(const struct reader *r, const char *member, const char *why)
{
	return ctx_fail(r->ctx, -EBADMSG, "%s: \"%s\" %s", r->what, member, why);
}

/* Read a text, or a value that can be formatted as text. NULL stays NULL. */
static int take_text(const struct reader *r, const struct json *value, const char *key, bool must,
	char **ret)
{
	double number;

	switch (json_kind(value)) {
	case JSON_KIND_NULL:
		if (must)
			return bad_result(r, key, "is missing");
		return 0;
	case JSON_KIND_TEXT:
		*ret = strdup(json_text(value));
		break;
	case JSON_KIND_INTEGER:
	case JSON_KIND_REAL:
		json_double(value, &number);
		*ret = str_format("%.15g", number);
		break;
	case JSON_KIND_BOOL:
		*ret = strdup(json_flag(value) ? "yes" : "no");
		break;
	default:
		return bad_result(r, key, "is not text");
	}
	return *ret ? 0 : ctx_oom(r->ctx);
}

static int member_text(const struct reader *r, const struct json *object, const char *key,
	bool must,
	char **ret)
{
	return take_text(r, json_member(object, key), key, must, ret);
}

static int take_settings(const struct reader *r, const struct json *object, const char *key,
	struct bench_setting **io, size_t *io_count)
{
	void *iter = NULL;
	const char *name;
	int error = 0;

	if (object && json_kind(object) != JSON_KIND_OBJECT)
		return bad_result(r, key, "is not an object");
	while (object && error == 0 && (name = json_next(object, &iter))) {
		const struct json *value = json_member(object, name);

		/* Lists and mappings are ignored: other programs may read them from the file. */
		if (json_kind(value) == JSON_KIND_LIST || json_kind(value) == JSON_KIND_OBJECT ||
			json_kind(value) == JSON_KIND_NULL)
			continue;
		if (!array_grow(*io, *io_count))
			return ctx_oom(r->ctx);
		(*io_count)++;
		(*io)[*io_count - 1].name = strdup(name);
		if (!(*io)[*io_count - 1].name)
			return ctx_oom(r->ctx);
		error = take_text(r, value, name, true, &(*io)[*io_count - 1].value);
	}
	return error;
}

static int take_configuration(const struct reader *r, const struct json *item)
{
	struct bench_result *result = r->result;
	struct bench_configuration *c;
	int error;

	if (!array_grow(result->configurations, result->configuration_count))
		return ctx_oom(r->ctx);
	c = &result->configurations[result->configuration_count++];
	error = member_text(r, item, "name", true, &c->name);
	if (error == 0)
		error = take_settings(r, json_member(item, "settings"), "settings", &c->settings,
			&c->setting_count);
	return error;
}

static int take_test(const struct reader *r, const struct json *item)
{
	struct bench_result *result = r->result;
	const char *better = json_text(json_member(item, "better"));
	struct bench_test *t;
	int error;

	if (!array_grow(result->tests, result->test_count))
		return ctx_oom(r->ctx);
	t = &result->tests[result->test_count++];
	error = member_text(r, item, "name", true, &t->name);
	if (error == 0)
		error = member_text(r, item, "tool", false, &t->tool);
	if (error == 0)
		error = member_text(r, item, "goal", true, &t->goal);
	if (error == 0 && (!better || (!str_eq(better, "lower") && !str_eq(better, "higher"))))
		error = bad_result(r, "better", "is neither \"lower\" nor \"higher\"");
	t->higher_is_better = error == 0 && str_eq(better, "higher");
	return error;
}

static int take_tool(const struct reader *r, const struct json *item)
{
	struct bench_result *result = r->result;
	struct bench_tool_version *t;
	int error;

	if (!array_grow(result->tools, result->tool_count))
		return ctx_oom(r->ctx);
	t = &result->tools[result->tool_count++];
	error = member_text(r, item, "name", true, &t->name);
	if (error == 0)
		error = member_text(r, item, "version", false, &t->version);
	if (error == 0)
		error = member_text(r, item, "endpoint", false, &t->endpoint);
	return error;
}

static int take_check(const struct reader *r, const struct json *item)
{
	static const char *const states[] = {"ok", "warn", "fail"};
	struct bench_result *result = r->result;
	const char *state = json_text(json_member(item, "state"));
	struct bench_check *c;
	int error;

	if (!array_grow(result->checks, result->check_count))
		return ctx_oom(r->ctx);
	c = &result->checks[result->check_count++];
	error = member_text(r, item, "name", true, &c->name);
	if (error == 0)
		error = member_text(r, item, "text", false, &c->text);
	for (unsigned i = 0; error == 0 && state && i < ARRAY_SIZE(states); i++)
		if (str_eq(state, states[i])) {
			c->state = i;
			return 0;
		}
	return error < 0 ? error : bad_result(r, "state", "is neither \"ok\", \"warn\" nor \"fail\"");
}

static int take_list(const struct reader *r, const struct json *root, const char *key, bool must,
	int (*take)(const struct reader *r, const struct json *item))
{
	const struct json *list = json_member(root, key);
	int error = 0;

	if (!list && !must)
		return 0;
	if (json_kind(list) != JSON_KIND_LIST || (must && !json_count(list)))
		return bad_result(r, key, list ? "is not a list, or is empty" : "is missing");
	for (size_t i = 0; i < json_count(list) && error == 0; i++)
		error = take(r, json_item(list, i));
	return error;
}

static int take_share(const struct reader *r, const struct json *root, const char *key,
	double usual,
	double *ret)
{
	const struct json *value = json_member(root, key);

	*ret = usual;
	if (!value)
		return 0;
	if (json_double(value, ret) < 0 || !(*ret >= 0 && *ret < 1))
		return bad_result(r, key, "is not a number from 0 to 1");
	return 0;
}

/* The number of trials of each, and whether it was fixed beforehand. */
static int take_order(const struct reader *r, const struct json *root)
{
	const struct json *search = json_member(root, "search");
	int64_t trials = 0, warmup = 0;

	/* Imported results have none. */
	if (json_member(root, "trials") && (json_number(json_member(root, "trials"), &trials) < 0 ||
						   trials < 0 || trials > 100000000))
		return bad_result(r, "trials", "is not a number of trials");
	if (json_member(root, "warmup") && (json_number(json_member(root, "warmup"), &warmup) < 0 ||
						   warmup < 0 || warmup > 100000000))
		return bad_result(r, "warmup", "is not a number of rounds");
	r->result->trials_each = (unsigned)trials;
	r->result->warmup = (unsigned)warmup;
	if (json_kind(search) == JSON_KIND_NULL)
		return 0;
	r->result->search = json_kind(search) == JSON_KIND_OBJECT;
	if (!r->result->search || json_double(json_member(search, "max_seconds"),
					  &r->result->max_seconds) < 0 ||
		!(r->result->max_seconds >= 0))
		return bad_result(r, "search", "is not an object with max_seconds");
	return 0;
}

static int take_numbers(const struct reader *r, const struct json *root)
{
	int64_t schema = 0, seed = 0, runs = 0;
	int error;

	if (json_number(json_member(root, "schema"), &schema) < 0 || schema < 1)
		return bad_result(r, "schema", "is missing, or is not a number from 1");
	if (schema > BENCH_SCHEMA)
		return ctx_fail(r->ctx, -EPROTONOSUPPORT, "%s was written by a newer vfctl (schema "
			"%lld; this vfctl reads up to %d)", r->what, (long long)schema, BENCH_SCHEMA);
	if (json_number(json_member(root, "seed"), &seed) < 0)
		return bad_result(r, "seed", "is not a whole number");
	if (json_number(json_member(root, "runs"), &runs) < 0 || runs < 0 || runs > 100000000)
		return bad_result(r, "runs", "is not a number of runs");
	r->result->seed = (uint64_t)seed;
	r->result->runs = (unsigned)runs;
	r->result->emulated = json_flag(json_member(root, "emulated"));
	r->result->quick = json_flag(json_member(root, "quick"));
	error = take_order(r, root);
	if (error == 0)
		error = take_share(r, root, "alpha", 0.05, &r->result->alpha);
	if (error == 0 && r->result->alpha <= 0)
		error = bad_result(r, "alpha", "is not above 0");
	return error < 0 ? error : take_share(r, root, "noise", 0.01, &r->result->noise);
}

static bool has_configuration(const struct bench_result *result, const char *name)
{
	for (size_t i = 0; i < result->configuration_count; i++)
		if (str_eq(result->configurations[i].name, name))
			return true;
	return false;
}

/* "baseline" names one, "baselines" all of several. */
static int take_baselines(const struct reader *r, const struct json *root)
{
	const struct json *list = json_member(root, "baselines"), *one = json_member(root, "baseline");
	size_t count = json_kind(list) == JSON_KIND_LIST ? json_count(list) : 0;
	int error = 0;

	if (json_kind(list) != JSON_KIND_NULL && !count)
		return bad_result(r, "baselines", "is not a list, or is empty");
	if (!count && json_kind(one) == JSON_KIND_NULL)
		return 0;
	r->result->baselines = calloc((count ? count : 1) + 1, sizeof(char *));
	if (!r->result->baselines)
		return ctx_oom(r->ctx);
	if (!count)
		return take_text(r, one, "baseline", true, &r->result->baselines[0]);
	for (size_t i = 0; i < count && error == 0; i++)
		error = take_text(r, json_item(list, i), "baselines", true, &r->result->baselines[i]);
	return error;
}

static int take_root(const struct reader *r, const struct json *root)
{
	struct bench_result *result = r->result;
	int error = take_numbers(r, root);

	if (error == 0)
		error = member_text(r, root, "name", true, &result->name);
	if (error == 0)
		error = member_text(r, root, "created", false, &result->created);
	if (error == 0)
		error = member_text(r, root, "vfctl", false, &result->vfctl);
	if (error == 0)
		error = take_baselines(r, root);
	if (error == 0)
		error = take_list(r, root, "configurations", true, take_configuration);
	if (error == 0)
		error = take_list(r, root, "tests", true, take_test);
	if (error == 0)
		error = take_list(r, root, "tools", false, take_tool);
	if (error == 0)
		error = take_list(r, root, "checks", false, take_check);
	if (error == 0)
		error = take_settings(r, json_member(root, "host"), "host", &result->host,
			&result->host_count);
	for (size_t i = 0; result->baselines && result->baselines[i] && error == 0; i++)
		if (!has_configuration(result, result->baselines[i]))
			error = bad_result(r, i ? "baselines" : "baseline", "does not name a configuration");
	return error;
}

int bench_result_parse(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len,
	struct bench_result **ret)
{
	_cleanup_(bench_result_freep) struct bench_result *result = calloc(1, sizeof(*result));
	_json_doc_ struct json *root = NULL;
	struct reader r = {ctx, what, result};
	int error;

	if (!result)
		return ctx_oom(ctx);
	error = json_read(ctx, what, text, len, &root);
	if (error == 0)
		error = take_root(&r, root);
	if (error < 0)
		return error;
	*ret = steal(result);
	return 0;
}

/* ---- files ---- */

#define FILE_LARGEST ((off_t)1 << 30)

static int read_whole(struct vfctl_ctx *ctx, const char *dir, const char *name, const char *path,
	struct buf *ret)
{
	_close_ int fd = tree_open(dir, name, O_RDONLY);
	struct stat st;
	char block[65536];
	ssize_t n = 0;

	if (fd < 0)
		return ctx_fail(ctx, fd, "%s cannot be read: %s", path,
			fd == -ELOOP ? "it is a symbolic link" : fd == -EMEDIUMTYPE ? "it is not a "
				"regular file"
			: strerror(-fd));
	if (fstat(fd, &st) < 0)
		return ctx_fail(ctx, -errno, "%s cannot be read: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_LARGEST)
		return ctx_fail(ctx, -EFBIG, "%s is not a file of at most 1 GiB", path);
	while ((n = read(fd, block, sizeof(block))) > 0)
		buf_add(ret, block, (size_t)n);
	if (n < 0)
		return ctx_fail(ctx, -errno, "%s cannot be read: %s", path, strerror(errno));
	return ret->failed ? ctx_oom(ctx) : 0;
}

#define RUNS_MAX 1000000

bool bench_same_parameters(const struct bench_trial *a, const struct bench_trial *b)
{
	if (a->parameter_count != b->parameter_count)
		return false;
	for (size_t i = 0; i < a->parameter_count; i++)
		if (!str_eq(a->parameters[i].name, b->parameters[i].name) ||
			!str_eq(a->parameters[i].value, b->parameters[i].value))
			return false;
	return true;
}

/* A line of a run that is there already, with the same parameters, replaces it. */
static int place_trial(struct vfctl_ctx *ctx, const char *what, struct bench_result *result,
	void **index, struct bench_trial *trial)
{
	/* A program that sweeps sizes by itself leaves several lines for one run. */
	const struct trial_key key = {.run = trial->run, .parameters = trial->parameters,
		.parameter_count = trial->parameter_count, .at = result->trial_count};
	struct trial_key *there;

	if (trial->run > RUNS_MAX)
		return ctx_fail(ctx, -EBADMSG, "%s: run %u is above %d", what, trial->run, RUNS_MAX);
	if (!array_grow(result->trials, result->trial_count))
		return ctx_oom(ctx);
	there = trial_index_add(index, &key);
	if (!there)
		return ctx_oom(ctx);
	result->trial_count += there->at == result->trial_count;
	bench_trial_clear(&result->trials[there->at]);
	there->parameters = trial->parameters;
	result->trials[there->at] = *trial;
	return 0;
}

static int take_lines(struct vfctl_ctx *ctx, const char *path, const struct buf *text,
	struct bench_result *result)
{
	_cleanup_(trial_index_free) void *index = NULL;
	const char *line = text->data, *end;
	size_t number = 0;
	int r = 0;

	for (; r == 0 && line && (end = strchr(line, '\n')); line = end + 1) {
		_free_ char *what = str_format("%s:%zu", path, ++number);
		struct bench_trial trial;

		r = what ? bench_trial_read(ctx, what, line, (size_t)(end - line), &trial) : ctx_oom(ctx);
		if (r < 0)
			break;
		r = place_trial(ctx, what, result, &index, &trial);
		if (r < 0)
			bench_trial_clear(&trial);
	}
	if (r == 0 && line && *line)
		result->torn = 1;
	return r;
}

static int read_trials(struct vfctl_ctx *ctx, const char *dir, struct bench_result *result)
{
	_free_ char *path = str_format("%s/" BENCH_TRIALS, dir);
	_buf_ struct buf text = {0};
	int r;

	if (!path)
		return ctx_oom(ctx);
	r = read_whole(ctx, dir, BENCH_TRIALS, path, &text);
	if (r == -ENOENT) {
		ctx_clear(ctx);
		return 0;
	}
	if (r == 0 && text.len && strlen(text.data) != text.len)
		return ctx_fail(ctx, -EBADMSG, "%s: it has a NUL byte", path);
	return r < 0 ? r : take_lines(ctx, path, &text, result);
}

int bench_result_read(struct vfctl_ctx *ctx, const char *dir, struct bench_result **ret)
{
	_free_ char *path = str_format("%s/" BENCH_DESCRIPTION, dir);
	_cleanup_(bench_result_freep) struct bench_result *result = NULL;
	_buf_ struct buf text = {0};
	int r;

	if (!path)
		return ctx_oom(ctx);
	r = read_whole(ctx, dir, BENCH_DESCRIPTION, path, &text);
	if (r == -ENOENT || r == -ENOTDIR)
		return ctx_usage_error(ctx, -ENOENT, "%s is not a result directory: it has no "
			"" BENCH_DESCRIPTION, dir);
	if (r == 0)
		r = bench_result_parse(ctx, path, text.data ? text.data : "", text.len, &result);
	if (r == 0) {
		result->dir = strdup(dir);
		r = result->dir ? read_trials(ctx, dir, result) : ctx_oom(ctx);
	}
	if (r < 0)
		return r;
	*ret = steal(result);
	return 0;
}
