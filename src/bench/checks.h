/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_CHECKS_H
#define VFCTL_BENCH_CHECKS_H

#include "remote/place.h"
#include "bench/plan.h"
#include "bench/result.h"

/*
 * The checks before a measurement, and the facts that explain its results later; all go into the
 * result. A check fails if a measurement is impossible, and warns if the results would be
 * distorted.
 */
struct survey {
	struct bench_check *checks;
	size_t check_count;
	struct bench_setting *facts; /* "client.kernel" -> "6.1.0-44-amd64" */
	size_t fact_count;
	struct bench_tool_version *tools;
	size_t tool_count;
	bool emulated; /* an emulated CPU: the results do not describe hardware */
};

void survey_clear(struct survey *s);

/* Check one end of the plan. @uses_rdma: a test needs its RDMA device. */
int survey_place(struct survey *s, struct place *p, bool uses_rdma);
/* Check whether packets between these two leave the kernel. */
int survey_path(struct survey *s, struct place *client, struct place *server);
/* Check whether a program is installed there, and its version. */
int survey_tool(struct survey *s, struct place *p, const char *program, const char *package,
	const char *const version[2], bool required);
/* The same for an OSU program, and which options its version has. */
int survey_osu(struct survey *s, struct place *p, const char *program, bool required);
/* The options of an OSU program at that endpoint (bench/tool.h); 0: not known. */
unsigned survey_osu_options(const struct survey *s, const char *program, const char *endpoint);
/* Check for versions on both sides that measure differently. */
int survey_pairs(struct survey *s, struct vfctl_ctx *ctx, bool threads);
/* Warn about a plan with too few trials for any verdict. @quick: a smoke run. */
int survey_trials(struct survey *s, struct vfctl_ctx *ctx, const struct bench_plan *plan,
	bool quick);
/* The first check that failed, or NULL. */
const struct bench_check *survey_failed(const struct survey *s);

#endif
