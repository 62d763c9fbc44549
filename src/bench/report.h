/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_REPORT_H
#define VFCTL_BENCH_REPORT_H

#include "base/buf.h"
#include "bench/bench.h"
#include "bench/result.h"

/* A report, and the results to which its texts belong. */
struct report {
	struct vfctl_bench_report shown;
	struct bench_result *results[2];
	char **texts; /* allocated for it */
	size_t text_count;
};

/* A trial of a cell's column, before the column is summarized. */
struct entry {
	const struct bench_trial *trial;
	size_t cell, column;
};

/* Keep a text as long as the report; NULL (given, or because memory is exhausted) stays NULL. */
const char *report_keep(struct report *r, char *text);
int report_note(struct vfctl_ctx *ctx, struct report *r, char *text);   /* takes it over */
int report_advice(struct vfctl_ctx *ctx, struct report *r, char *text); /* takes it over */
/* Add the sentences that follow from the verdicts. */
int report_advise(struct vfctl_ctx *ctx, struct report *r);

#endif
