/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_REPORT_H
#define VFCTL_BENCH_REPORT_H

#include "base/buf.h"
#include "bench/bench.h"
#include "bench/result.h"

/* A report and the results that its texts are of. */
struct report {
	struct vfctl_bench_report shown;
	struct bench_result *results[2];
	char **texts; /* made for it */
	size_t text_count;
};

/* A trial of a cell's column, before they are added up. */
struct entry {
	const struct bench_trial *trial;
	size_t cell, column;
};

/* Keep a text as long as the report; NULL (given, or out of memory) stays NULL. */
const char *report_keep(struct report *r, char *text);
int report_note(struct vfctl_ctx *ctx, struct report *r, char *text);   /* takes it */
int report_advice(struct vfctl_ctx *ctx, struct report *r, char *text); /* takes it */
/* Sentences from the verdicts. */
int report_advise(struct vfctl_ctx *ctx, struct report *r);

#endif
