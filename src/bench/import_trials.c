// SPDX-License-Identifier: GPL-2.0-or-later
/* The trials, configurations and tests of an import. */
#include <errno.h>

#include "bench/import.h"
#include "bench/trial_index.h"

static int note_configuration(struct import *i, const char *name)
{
	for (size_t k = 0; k < i->configuration_count; k++)
		if (str_eq(i->configurations[k], name))
			return 0;
	if (!array_grow(i->configurations, i->configuration_count))
		return ctx_oom(i->ctx);
	i->configurations[i->configuration_count] = strdup(name);
	return i->configurations[i->configuration_count++] ? 0 : ctx_oom(i->ctx);
}

static bool higher_is_usual(const char *metric)
{
	return str_starts(metric, "throughput") || str_eq(metric, "operations") ||
		str_eq(metric, "message_rate");
}

/* The first metric of a test is its goal, if none was requested. */
static int note_test(struct import *i, const char *name, const char *metric)
{
	const char *goal = i->how->goal ? i->how->goal : metric;
	struct imported_test *t;

	for (size_t k = 0; k < i->test_count; k++)
		if (str_eq(i->tests[k].name, name))
			return 0;
	if (!array_grow(i->tests, i->test_count))
		return ctx_oom(i->ctx);
	t = &i->tests[i->test_count++];
	t->name = strdup(name);
	t->goal = strdup(goal);
	t->higher = i->how->higher_is_better || higher_is_usual(goal);
	return t->name && t->goal ? 0 : ctx_oom(i->ctx);
}

/* Moves @t there, or adds what it has to the one that is there. */
static int place_imported(struct import *i, struct bench_trial *t, bool may_add)
{
	const struct trial_key key = {.trial = t->trial, .configuration = t->configuration,
		.test = t->test,
		.parameters = t->parameters, .parameter_count = t->parameter_count, .at = i->trial_count};
	const struct trial_key *known = trial_index_add(&i->index, &key);
	struct bench_trial *there;

	if (!known || (known->at == key.at && !array_grow(i->trials, i->trial_count)))
		return ctx_oom(i->ctx);
	if (known->at == key.at) {
		i->trials[i->trial_count++] = *t;
		*t = (struct bench_trial){0};
		return 0;
	}
	there = &i->trials[known->at];
	if (!may_add || !t->metric_count ||
		bench_metric_find(there->metrics, there->metric_count, t->metrics[0].name))
		return -EEXIST;
	if (!array_grow(there->metrics, there->metric_count))
		return ctx_oom(i->ctx);
	there->metrics[there->metric_count++] = t->metrics[0];
	return 0;
}

int import_add(struct import *i, struct bench_trial *t, const char *goal, bool may_add)
{
	int r = note_configuration(i, t->configuration);

	if (r == 0)
		r = note_test(i, t->test, goal);
	return r < 0 ? r : place_imported(i, t, may_add);
}
