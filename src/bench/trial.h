/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_TRIAL_H
#define VFCTL_BENCH_TRIAL_H

#include "bench/reading.h"

/*
 * How often each length of time came: buckets of one binary order each cut into
 * BENCH_PER_OCTAVE equal parts (3 % wide at most), so that trials are added up exactly.
 */
#define BENCH_PER_OCTAVE 32
struct bench_histogram {
	int first; /* of @counts; bucket i begins at bench_bucket_low(i) */
	uint64_t *counts;
	size_t count; /* of buckets; 0: there were no samples */
};
double bench_bucket_low(int bucket);

/* size threads mtu direction ... */
struct bench_parameter {
	char name[16], value[32];
};

/* One line of DIR/trials.jsonl. */
struct bench_trial {
	unsigned run;	/* place in the printed order, from 1 */
	unsigned trial; /* within its cell and configuration, from 1; 0: a warm-up, not counted */
	char *configuration, *test, *tool;
	struct bench_parameter *parameters;
	size_t parameter_count;
	char *started;	/* RFC 3339, UTC */
	double seconds; /* that it took */
	char *error;	/* why it failed; NULL: it worked */
	struct bench_metric *metrics;
	size_t metric_count;
	struct bench_histogram histogram;
	char **commands; /* as run, quoted for a shell; NULL-terminated, or NULL */
	char **raw;	 /* what they printed: files below DIR */
};

#define BENCH_TRIALS "trials.jsonl"

/*
 * Append it to DIR/trials.jsonl: one line, one write, on the disk when this returns. What a crash
 * left of a line is cut off first. -EINVAL: a figure in it is not finite.
 */
int bench_trial_append(struct vfctl_ctx *ctx, const char *dir, const struct bench_trial *trial);
/* That line; NULL when out of memory. */
char *bench_trial_format(const struct bench_trial *trial);
/* Figures and histogram of @row; the rest stays. Replaces what was there. */
int bench_trial_from_row(const struct bench_row *row, struct bench_trial *trial);
/* -EBADMSG, saying what is wrong. @what: "FILE:LINE", for words. */
int bench_trial_read(struct vfctl_ctx *ctx, const char *what, const char *line, size_t len,
	struct bench_trial *ret);
/* Frees what it has; the struct itself is the caller's. */
void bench_trial_clear(struct bench_trial *trial);

#endif
