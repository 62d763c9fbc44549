// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/trial.h"

#include <errno.h>
#include <math.h>

#include "base/json.h"

void bench_trial_clear(struct bench_trial *trial)
{
	free(trial->configuration);
	free(trial->test);
	free(trial->tool);
	free(trial->parameters);
	free(trial->started);
	free(trial->error);
	free(trial->metrics);
	free(trial->histogram.counts);
	strv_free(trial->commands);
	strv_free(trial->raw);
	*trial = (struct bench_trial){0};
}

/* ---- histogram ---- */

/*
 * Use a double's exponent and the first bits of its fraction as one number, so that the buckets
 * need no logarithm. Bucket 0 begins at 1 us; smaller values are counted in it, too.
 */
#define FRACTION_BITS 52
#define BUCKET_BITS 5 /* of the fraction: BENCH_PER_OCTAVE is 2^5 */
#define BUCKET_LOWEST (-64 * BENCH_PER_OCTAVE)
#define BUCKET_HIGHEST (200 * BENCH_PER_OCTAVE)
#define BUCKET_OF_1 (1023 * BENCH_PER_OCTAVE)

static int bucket_of(double value)
{
	uint64_t bits;
	int bucket;

	memcpy(&bits, &value, sizeof(bits));
	bucket = (int)(bits >> (FRACTION_BITS - BUCKET_BITS)) - BUCKET_OF_1;
	if (bucket < BUCKET_LOWEST)
		return BUCKET_LOWEST;
	return bucket > BUCKET_HIGHEST ? BUCKET_HIGHEST : bucket;
}

double bench_bucket_low(int bucket)
{
	uint64_t bits = (uint64_t)(bucket + BUCKET_OF_1) << (FRACTION_BITS - BUCKET_BITS);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static int count_samples(const double *v, size_t count, struct bench_histogram *ret)
{
	int low, high;

	*ret = (struct bench_histogram){0};
	if (!count)
		return 0;
	low = high = bucket_of(v[0]);
	for (size_t i = 0; i < count; i++) {
		int bucket = bucket_of(v[i]);

		low = bucket < low ? bucket : low;
		high = bucket > high ? bucket : high;
	}
	ret->counts = calloc((size_t)(high - low + 1), sizeof(*ret->counts));
	if (!ret->counts)
		return -ENOMEM;
	ret->first = low;
	ret->count = (size_t)(high - low + 1);
	for (size_t i = 0; i < count; i++)
		ret->counts[bucket_of(v[i]) - low]++;
	return 0;
}

int bench_trial_from_row(const struct bench_row *row, struct bench_trial *trial)
{
	struct bench_metric *metrics = NULL;
	struct bench_histogram histogram;

	if (row->metric_count) {
		metrics = reallocarray(NULL, row->metric_count, sizeof(*metrics));
		if (!metrics)
			return -ENOMEM;
		memcpy(metrics, row->metrics, row->metric_count * sizeof(*metrics));
	}
	if (count_samples(row->samples, row->sample_count, &histogram) < 0) {
		free(metrics);
		return -ENOMEM;
	}
	free(trial->metrics);
	free(trial->histogram.counts);
	trial->metrics = metrics;
	trial->metric_count = row->metric_count;
	trial->histogram = histogram;
	return 0;
}

/* ---- read ---- */

struct reader {
	struct vfctl_ctx *ctx;
	const char *what;
};

static int bad_at(const struct reader *r, const char *member, const char *why)
{
	return ctx_fail(r->ctx, -EBADMSG, "%s: \"%s\" %s", r->what, member, why);
}

/* A text that must be present, or may be absent. */
static int read_text(const struct reader *r, const struct json *object, const char *key, bool must,
	char **ret)
{
	const struct json *value = json_member(object, key);

	if (json_kind(value) == JSON_KIND_NULL && !must)
		return 0;
	if (json_kind(value) != JSON_KIND_TEXT || (must && !*json_text(value)))
		return bad_at(r, key, value ? "is not text" : "is missing");
	*ret = strdup(json_text(value));
	return *ret ? 0 : ctx_oom(r->ctx);
}

static int read_count(const struct reader *r, const struct json *object, const char *key,
	unsigned min, unsigned *ret)
{
	const struct json *value = json_member(object, key);
	int64_t number;

	if (!value || json_kind(value) != JSON_KIND_INTEGER || json_number(value, &number) < 0 ||
		number < min || number > 100000000)
		return bad_at(r, key, value ? "is not a number of that kind" : "is missing");
	*ret = (unsigned)number;
	return 0;
}

static int read_texts(const struct reader *r, const struct json *object, const char *key,
	char ***ret)
{
	const struct json *list = json_member(object, key);
	char **texts;

	if (json_kind(list) == JSON_KIND_NULL)
		return 0;
	texts = json_kind(list) == JSON_KIND_LIST ? calloc(json_count(list) + 1, sizeof(*texts)) : NULL;
	if (!texts)
		return json_kind(list) == JSON_KIND_LIST ? ctx_oom(r->ctx) : bad_at(r, key, "is not a "
			"list");
	*ret = texts;
	for (size_t i = 0; i < json_count(list); i++) {
		const char *text = json_text(json_item(list, i));

		texts[i] = text ? strdup(text) : NULL;
		if (!texts[i])
			return text ? ctx_oom(r->ctx) : bad_at(r, key, "has an item that is not text");
	}
	return 0;
}

static int read_parameters(const struct reader *r, const struct json *object, struct bench_trial *t)
{
	void *iter = NULL;
	const char *key;

	if (object && json_kind(object) != JSON_KIND_OBJECT)
		return bad_at(r, "parameters", "is not an object");
	while (object && (key = json_next(object, &iter))) {
		const char *value = json_text(json_member(object, key));
		struct bench_parameter *p;

		if (!array_grow(t->parameters, t->parameter_count))
			return ctx_oom(r->ctx);
		p = &t->parameters[t->parameter_count++];
		if (!value || !*key || !str_copy(p->name, sizeof(p->name), key) ||
			!str_copy(p->value, sizeof(p->value), value))
			return bad_at(r, "parameters", "has one whose name or value is not text, or is "
				"too long");
	}
	return 0;
}

static int read_metric(const struct reader *r, const struct json *object, struct bench_trial *t)
{
	const char *name = json_text(json_member(object, "name"));
	const char *unit = json_text(json_member(object, "unit"));
	struct bench_metric *m;

	if (!array_grow(t->metrics, t->metric_count))
		return ctx_oom(r->ctx);
	m = &t->metrics[t->metric_count];
	if (!name || !*name || !str_copy(m->name, sizeof(m->name), name) ||
		bench_metric_find(t->metrics, t->metric_count, name))
		return bad_at(r, "metrics", "has one without a name, or a name twice");
	if (!unit || !str_copy(m->unit, sizeof(m->unit), unit))
		return bad_at(r, name, "has no unit that is a short text");
	if (json_double(json_member(object, "value"), &m->value) < 0 || !isfinite(m->value))
		return bad_at(r, name, "has no value that is a number");
	m->from_samples = json_flag(json_member(object, "from_samples"));
	t->metric_count++;
	return 0;
}

static int read_metrics(const struct reader *r, const struct json *list, struct bench_trial *t)
{
	int error = 0;

	if (list && json_kind(list) != JSON_KIND_LIST)
		return bad_at(r, "metrics", "is not a list");
	for (size_t i = 0; i < json_count(list) && error == 0; i++)
		error = read_metric(r, json_item(list, i), t);
	return error;
}

static int read_histogram(const struct reader *r, const struct json *object,
	struct bench_histogram *ret)
{
	const struct json *counts = json_member(object, "counts");
	int64_t octave = 0, first = 0, count;

	if (json_kind(object) == JSON_KIND_NULL)
		return 0;
	if (json_number(json_member(object, "per_octave"), &octave) < 0 || octave != BENCH_PER_OCTAVE ||
		json_number(json_member(object, "first"), &first) < 0 || first < BUCKET_LOWEST ||
		!json_count(counts) || first + (int64_t)json_count(counts) - 1 > BUCKET_HIGHEST)
		return bad_at(r, "histogram", "has different buckets than this vfctl");
	ret->counts = calloc(json_count(counts), sizeof(*ret->counts));
	if (!ret->counts)
		return ctx_oom(r->ctx);
	ret->first = (int)first;
	ret->count = json_count(counts);
	for (size_t i = 0; i < ret->count; i++) {
		if (json_number(json_item(counts, i), &count) < 0 || count < 0)
			return bad_at(r, "histogram", "has a count that is not valid");
		ret->counts[i] = (uint64_t)count;
	}
	return 0;
}

static int read_members(const struct reader *r, const struct json *root, struct bench_trial *t)
{
	int error = read_count(r, root, "run", 1, &t->run);

	if (error == 0)
		error = read_count(r, root, "trial", 0, &t->trial);
	if (error == 0)
		error = read_text(r, root, "configuration", true, &t->configuration);
	if (error == 0)
		error = read_text(r, root, "test", true, &t->test);
	if (error == 0)
		error = read_text(r, root, "tool", false, &t->tool);
	if (error == 0)
		error = read_text(r, root, "started", false, &t->started);
	if (error == 0)
		error = read_text(r, root, "error", false, &t->error);
	if (error == 0)
		error = read_parameters(r, json_member(root, "parameters"), t);
	if (error == 0)
		error = read_metrics(r, json_member(root, "metrics"), t);
	if (error == 0)
		error = read_histogram(r, json_member(root, "histogram"), &t->histogram);
	if (error == 0)
		error = read_texts(r, root, "commands", &t->commands);
	if (error == 0)
		error = read_texts(r, root, "raw", &t->raw);
	if (error == 0 && json_member(root, "seconds") &&
		(json_double(json_member(root, "seconds"), &t->seconds) < 0 || !isfinite(t->seconds)))
		error = bad_at(r, "seconds", "is not a number");
	return error;
}

int bench_trial_read(struct vfctl_ctx *ctx, const char *what, const char *line, size_t len,
	struct bench_trial *ret)
{
	struct reader r = {ctx, what};
	struct bench_trial trial = {0};
	_json_doc_ struct json *root = NULL;
	int error = json_read(ctx, what, line, len, &root);

	if (error == 0)
		error = read_members(&r, root, &trial);
	if (error < 0) {
		bench_trial_clear(&trial);
		return error;
	}
	*ret = trial;
	return 0;
}
