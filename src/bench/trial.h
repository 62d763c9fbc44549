/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_TRIAL_H
#define VFCTL_BENCH_TRIAL_H

#include "bench/reading.h"

/*
 * A histogram of times: each binary order of magnitude is divided into BENCH_PER_OCTAVE equal
 * buckets (at most 3 % wide), so that histograms of trials can be added exactly.
 */
#define BENCH_PER_OCTAVE 32
struct bench_histogram {
	int first; /* index of the first bucket in @counts; bucket i begins at bench_bucket_low(i) */
	uint64_t *counts;
	size_t count; /* number of buckets; 0: there were no samples */
};
double bench_bucket_low(int bucket);

/* size threads mtu direction ... */
struct bench_parameter {
	char name[16], value[32];
};

/* One line of DIR/trials.jsonl. */
struct bench_trial {
	unsigned run;	/* position in the printed order, from 1 */
	unsigned trial; /* within its cell and configuration, from 1; 0: a warm-up, not counted */
	char *configuration, *test, *tool;
	struct bench_parameter *parameters;
	size_t parameter_count;
	char *started;	/* RFC 3339, UTC */
	double seconds; /* duration */
	char *error;	/* why it failed; NULL: it succeeded */
	struct bench_metric *metrics;
	size_t metric_count;
	struct bench_histogram histogram;
	char **commands; /* as run, quoted for a shell; NULL-terminated, or NULL */
	char **raw;	 /* their output: files below DIR */
};

#define BENCH_TRIALS "trials.jsonl"

/*
 * Append it to DIR/trials.jsonl: one line, one write, on the disk when this returns. An incomplete
 * line after a crash is removed first. -EINVAL: a figure in it is not finite.
 */
int bench_trial_append(struct vfctl_ctx *ctx, const char *dir, const struct bench_trial *trial);
/* Format the line; NULL if memory is exhausted. */
char *bench_trial_format(const struct bench_trial *trial);
/*
 * Copy values and histogram of @row, replacing the present ones; the other members are not changed.
 */
int bench_trial_from_row(const struct bench_row *row, struct bench_trial *trial);
/* -EBADMSG with the error. @what: "FILE:LINE", for messages. */
int bench_trial_read(struct vfctl_ctx *ctx, const char *what, const char *line, size_t len,
	struct bench_trial *ret);
/* Free its members, but not the struct itself. */
void bench_trial_clear(struct bench_trial *trial);

#endif
