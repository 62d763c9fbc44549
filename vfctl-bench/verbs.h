/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_VERBS_H
#define VFCTL_BENCH_VERBS_H

#include "bench/measure.h"
#include "command.h"

/* The functions for the rows of commands.c. */
/* run.c */
int bench_run_plan(struct invocation *in);
int bench_run_latency(struct invocation *in);
int bench_run_throughput(struct invocation *in);
int bench_run_rdma(struct invocation *in);
struct plan_draft;
/* A plan to carry out: a file, one made from options, or that of a result to continue. */
struct bench_work {
	const char *resume;
	const struct plan_draft *draft; /* both NULL: args[0] is a file */
	bool search;
	uint32_t max_seconds;
	/* Prints a dry run; NULL: like bench run. */
	int (*dry)(struct invocation *in, const struct vfctl_bench *bench);
	int (*result)(struct invocation *in, const char *directory);
};
int bench_work(struct invocation *in, const struct bench_work *work);
/* The JSON answer of a dry run. */
struct bench_dry {
	const struct vfctl_bench *bench;
};
extern const struct member answer_dry_name[], answer_dry_checks[]; /* of it */
extern const struct answer bench_run_answer[];
void bench_print_checks(struct invocation *in, const struct vfctl_bench *bench);
void bench_print_effects(struct invocation *in, const struct vfctl_bench *bench);
int bench_run_check(struct invocation *in);
/* plans.c */
int bench_run_plans(struct invocation *in);
extern const struct answer bench_plans_answer[];
/* report.c */
int bench_run_report(struct invocation *in); /* also of two results: compare */
extern const struct answer bench_report_answer[];
/* data.c */
int bench_run_history(struct invocation *in);
int bench_run_import(struct invocation *in);
int bench_run_parse(struct invocation *in);
extern const struct answer bench_history_answer[], bench_import_answer[], bench_parse_answer[];

/* search.c */
int tune_run_search(struct invocation *in);
extern const struct answer tune_search_answer[];

/* print.c */
void bench_print(struct out *out, const struct vfctl_bench_report *report, const char *shape);
extern const struct member answer_report[];
extern const struct member answer_setting[]; /* of a struct bench_setting */
extern const struct member answer_check[];	 /* for a struct bench_check */
/* Print a report as one JSON object; @page: with samples and conditions, for a page. */
void bench_put_report(struct out *out, const struct vfctl_bench_report *report, bool page);

/* page.c: as vfctl_bench_markdown() */
int bench_make_page(struct vfctl_ctx *ctx, const struct vfctl_bench_report *report,
	char **ret_text);

#endif
