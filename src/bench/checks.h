/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_CHECKS_H
#define VFCTL_BENCH_CHECKS_H

#include "remote/place.h"
#include "bench/result.h"

/*
 * What must be so before anything is measured, and what explains the figures afterwards: it all goes
 * into the result. What makes a measurement impossible fails; what spoils it is a warning.
 */
struct survey {
	struct bench_check *checks;
	size_t check_count;
	struct bench_setting *facts; /* "client.kernel" -> "6.1.0-44-amd64" */
	size_t fact_count;
	struct bench_tool_version *tools;
	size_t tool_count;
	bool emulated; /* a CPU that is itself a program: figures say nothing of hardware */
};

void survey_clear(struct survey *s);

/* One end of the plan. @uses_rdma: a test needs its RDMA device. */
int survey_place(struct survey *s, struct place *p, bool uses_rdma);
/* Do packets of programs that go through the kernel leave it between these two? */
int survey_path(struct survey *s, struct place *client, struct place *server);
/* A program there: is it installed, and which version? */
int survey_tool(struct survey *s, struct place *p, const char *program, const char *package,
	const char *const version[2], bool required);
/* Versions on both sides that do not measure alike. */
int survey_pairs(struct survey *s, struct vfctl_ctx *ctx, bool threads);
/* The first that fails, or NULL. */
const struct bench_check *survey_failed(const struct survey *s);

#endif
