/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_TRIAL_INDEX_H
#define VFCTL_BENCH_TRIAL_INDEX_H

#include "bench/trial.h"

/*
 * What makes two trials the same, as far as the caller fills it in: an index in the order of these
 * members. Texts and parameters belong to the trials, which must live as long as the index.
 */
struct trial_key {
	unsigned run, trial;
	const char *configuration, *test;
	const char *goal; /* of a cell, where a trial counts in two */
	const struct bench_parameter *parameters;
	size_t parameter_count;
	size_t at; /* not compared: where the trial is */
};

/* Numbers as numbers, "forward" before "reverse" before "both", everything else by its bytes. */
int parameters_compare(const struct bench_parameter *a, size_t count_a,
	const struct bench_parameter *b,
	size_t count_b);

/* NULL: there is no such key. */
struct trial_key *trial_index_find(void *const *root, const struct trial_key *like);
/* The key that is there, else a copy of @key; NULL when out of memory. *@root is NULL at first. */
struct trial_key *trial_index_add(void **root, const struct trial_key *key);
void trial_index_free(void **root);

#endif
