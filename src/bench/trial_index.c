// SPDX-License-Identifier: GPL-2.0-or-later
/* Trials by what makes them the same, in a balanced tree (tsearch(3)). */
#include "bench/trial_index.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "bench/text.h"

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* The position of a word among the words that have a fixed order; 0: it has none. */
static size_t place_of(const char *word)
{
	static const char *const ordered[] = {"forward", "reverse", "both", "race", "confirmation"};

	for (size_t i = 0; i < ARRAY_SIZE(ordered); i++)
		if (str_eq(word, ordered[i]))
			return i + 1;
	return 0;
}

/* Numbers, then the ordered words, then all other texts. */
enum value_class { NUMBER, ORDERED, OTHER };

static enum value_class class_of(const char *text, double *ret)
{
	*ret = (double)place_of(text);
	if (*ret > 0)
		return ORDERED;
	return number_read(span_of(text), ret) == 0 ? NUMBER : OTHER;
}

static int compare_values(const char *a, const char *b)
{
	double x = 0, y = 0;
	enum value_class class_a = class_of(a, &x), class_b = class_of(b, &y);

	if (class_a != class_b)
		return class_a < class_b ? -1 : 1;
	return class_a != OTHER && x != y ? (x < y ? -1 : 1) : strcmp(a, b);
}

int parameters_compare(const struct bench_parameter *a, size_t count_a,
	const struct bench_parameter *b,
	size_t count_b)
{
	int order = 0;

	for (size_t i = 0; i < count_a && i < count_b && order == 0; i++) {
		order = strcmp(a[i].name, b[i].name);
		if (order == 0)
			order = compare_values(a[i].value, b[i].value);
	}
	return order ? order : count_a < count_b ? -1 : count_a > count_b;
}

static int by_key(const void *a, const void *b)
{
	const struct trial_key *x = a, *y = b;
	int order;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->trial != y->trial)
		return x->trial < y->trial ? -1 : 1;
	order = compare_texts(x->configuration, y->configuration);
	if (order == 0)
		order = compare_texts(x->test, y->test);
	if (order == 0)
		order = compare_texts(x->goal, y->goal);
	return order ? order : parameters_compare(x->parameters, x->parameter_count, y->parameters,
		y->parameter_count);
}

struct trial_key *trial_index_find(void *const *root, const struct trial_key *like)
{
	struct trial_key *const *node = tfind(like, root, by_key);

	return node ? *node : NULL;
}

struct trial_key *trial_index_add(void **root, const struct trial_key *key)
{
	struct trial_key *copy = trial_index_find(root, key), **node;

	if (copy)
		return copy;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return NULL;
	*copy = *key;
	node = tsearch(copy, root, by_key);
	if (!node)
		free(copy);
	return node ? *node : NULL;
}

void trial_index_free(void **root)
{
	tdestroy(*root, free);
	*root = NULL;
}
