/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_READING_H
#define VFCTL_BENCH_READING_H

#include "base/ctx.h"
#include "base/util.h"

/* The output of one run of a tool, parsed, in the units of vfctl. */

enum bench_tool { BENCH_PERFTEST, BENCH_IPERF3, BENCH_IPERF2, BENCH_SOCKPERF, BENCH_QPERF,
	BENCH_NETPERF, BENCH_OSU, BENCH_COMMAND };
#define BENCH_TOOLS (BENCH_COMMAND + 1)

/* "perftest", "iperf3", "iperf", ...; never NULL. */
const char *bench_tool_name(enum bench_tool tool);
/*
 * Find a tool by that name, or by one of its programs ("ib_write_lat", "osu_bcast"); -EINVAL: none.
 */
int bench_tool_parse(const char *name, enum bench_tool *ret);

/*
 * One value. Names: min mean p50 p90 p95 p99 p99_9 max (us), stdev (us, only of samples), samples
 * (count), throughput (bit/s, what the receiver got), throughput_sent, throughput_reverse,
 * retransmits, message_rate (1/s), operations (1/s), jitter (us), loss (% of packets), out_of_order
 * (packets), cpu_local, cpu_remote (%), value (a command's).
 */
struct bench_metric {
	char name[24], unit[12];
	double value;	   /* finite */
	bool from_samples; /* computed from single samples; false: the tool's own value */
};

struct bench_row {
	uint64_t size; /* message size, bytes; 0: the tool reports none */
	struct bench_metric *metrics;
	size_t metric_count;
	double *samples; /* us, in chronological order if the tool reports that */
	size_t sample_count;
};

struct bench_reading {
	struct bench_row *rows;
	size_t row_count;
	char version[32]; /* version of the tool, if its output contains it */
};

/* For BENCH_COMMAND: the position of its number, one of @regex and @json_path. */
struct bench_extract {
	const char *regex;     /* POSIX extended; the first group, or the whole match */
	const char *json_path; /* "a.b[0].c" */
	const char *unit;      /* "us", "bit/s", ...; NULL: none */
	bool higher_is_better;
	bool ended_well; /* of any tool: its exit status was 0, so that its output was not cut */
};

/*
 * @extract: may be NULL for other tools than BENCH_COMMAND.
 * @return 0; -EIO the tool reports a failure, or measured nothing (its message is in the context);
 * -EBADMSG this is not the whole output of one run of the tool. A figure that is -nan, inf, below
 * 0, or 0 and cannot be, is a failure.
 */
int bench_parse(struct vfctl_ctx *ctx, enum bench_tool tool, const struct bench_extract *extract,
	const char *text, size_t len, struct bench_reading **ret);
/*
 * The output in a file, of a tool by its name; messages are about a mistake in the command.
 * *@io_tool NULL: the tool is found by its text, and its program's name is returned there.
 */
int bench_read_output(struct vfctl_ctx *ctx, const char **io_tool, const char *file,
	const char *regex, const char *json_path, struct bench_reading **ret);
/*
 * The name of the tool, or of its program, whose output this is; NULL if it has marks of no tool or
 * of several.
 */
const char *bench_guess(const char *text, size_t len);
/* Keep only the row of that size; false: no row has it, and all are kept. */
bool bench_reading_keep(struct bench_reading *reading, uint64_t size);
void bench_reading_free(struct bench_reading *reading);
DEFINE_FREEP(struct bench_reading, bench_reading_free)

/* NULL if there is none of that name. */
const struct bench_metric *bench_metric_find(const struct bench_metric *metrics, size_t count,
	const char *name);

#endif
