/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_BENCH_H
#define VFCTL_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where result directories are looked for when none is named. */
#define VFCTL_BENCH_DIR "/var/lib/vfctl/bench"

/** What is said of a configuration beside the baseline. */
enum vfctl_bench_verdict {
	VFCTL_BENCH_NOT_COMPARED,  /**< it is the baseline, or one of the two has no trial */
	VFCTL_BENCH_NO_DIFFERENCE, /**< none shown: not significant, or below the noise threshold */
	VFCTL_BENCH_BETTER,
	VFCTL_BENCH_WORSE,
};
/** "better", "worse", "no difference shown", "not compared"; never NULL. */
const char *vfctl_bench_verdict_name(enum vfctl_bench_verdict verdict);

/** One metric over the trials of a column. The unit of statistics is the trial. */
struct vfctl_bench_summary {
	const char *metric;	   /**< "p50", "throughput", ... */
	const char *unit;	   /**< "us", "bit/s", "1/s", "%" or "" */
	bool from_samples;	   /**< computed from single samples; false: the tool's own figure */
	size_t trials;		   /**< that have it; 0: nothing below is set */
	double min, max, mean, median;
	double p90, p95, p99, p99_9; /**< over trials, type 7 */
	double stdev;		   /**< n - 1; NAN of one trial */
	double low, high;	   /**< bootstrap interval of the median, of the goal only; else NAN */
};

/** A column held against the baseline of its cell: column minus baseline. */
struct vfctl_bench_difference {
	enum vfctl_bench_verdict verdict;
	double shift;		   /**< Hodges and Lehmann, in the goal's unit */
	double shift_low, shift_high; /**< its interval; NAN of one pair */
	double relative;	   /**< shift divided by the baseline's median */
	double p;		   /**< Wilcoxon's (paired), else Mann and Whitney's */
	double p_adjusted;	   /**< after Holm over all comparisons of the report */
	double p_t;		   /**< of the t-test, paired or Welch's; NAN: not defined */
	double effect;		   /**< rank-biserial correlation, -1 to 1 */
	double d_z;		   /**< Cohen's, of pairs; NAN: not paired, or not defined */
	bool paired;		   /**< trials of equal number, made in turns */
	bool exact;		   /**< p is exact: few trials, no ties */
	size_t pairs;		   /**< trials, or pairs, that were compared */
	unsigned trials_needed;	   /**< 0: enough; else so many could show a difference at all */
};

/** A configuration in a cell. */
struct vfctl_bench_column {
	size_t configuration;	   /**< index into the report's */
	struct vfctl_bench_summary goal;
	struct vfctl_bench_summary *metrics; /**< all of them, the goal too */
	size_t metric_count;
	const double *values;	   /**< of the goal, by number of the trial */
	size_t failed;		   /**< trials that did not work */
	const char *error;	   /**< why the first of them did not; NULL: all worked */
	bool best;		   /**< its median is the best of the cell */
	struct vfctl_bench_difference difference;
	/** All samples of all trials: bucket i holds low[i] <= sample < low[i + 1], us. */
	const uint64_t *bucket_counts;
	const double *bucket_lows; /**< @bucket_count + 1 of them */
	size_t bucket_count;	   /**< 0: the tool gave no samples */
};

/** A test with one set of parameters. */
struct vfctl_bench_cell {
	const char *test, *tool;
	const char *parameters;	   /**< "size=64 threads=2", "" when there are none */
	const char *varies;	   /**< of them what differs within the test: "64", "64 2" */
	uint64_t size, threads;	   /**< 0: not among them */
	const char *goal, *unit;
	bool higher_is_better;
	struct vfctl_bench_column *columns; /**< one for each configuration, in their order */
};

struct bench_setting {
	char *name, *value;
};

struct vfctl_bench_configuration {
	const char *name;
	const struct bench_setting *settings;
	size_t setting_count;
};

struct bench_tool_version {
	char *name, *version, *endpoint; /**< NULL: not known */
};

enum bench_check_state { BENCH_CHECK_OK, BENCH_CHECK_WARN, BENCH_CHECK_FAIL };

struct bench_check {
	char *name, *text;
	enum bench_check_state state;
};

/** "ok", "warn" or "fail". */
const char *bench_check_word(enum bench_check_state state);

/** What a result directory says. A snapshot, freed as a whole. */
struct vfctl_bench_report {
	const char *directory, *name, *created, *vfctl;
	uint64_t seed;
	double alpha, noise;
	bool emulated;		   /**< figures of emulated hardware */
	bool comparison;	   /**< of two results: the columns are before and after */
	unsigned planned, made, failed, warm_ups; /**< runs */
	size_t baseline;	   /**< a configuration */
	struct vfctl_bench_configuration *configurations;
	size_t configuration_count;
	struct vfctl_bench_cell *cells;
	size_t cell_count;
	size_t comparisons;	   /**< that Holm's correction is over */
	const struct bench_setting *host;
	size_t host_count;
	const struct bench_tool_version *tools;
	size_t tool_count;
	const struct bench_check *checks;
	size_t check_count;
	const char **commands;	   /**< one of each, as run */
	size_t command_count;
	const char **advice;	   /**< sentences: which setting to use, and how sure that is */
	size_t advice_count;
	const char **notes;	   /**< what a reader must know besides: failed trials, missing runs */
	size_t note_count;
	size_t better, worse;	   /**< comparisons with that verdict */
};

/** How to judge; what is NAN or NULL is as the result itself says. */
struct vfctl_bench_options {
	double alpha;		   /**< 0 to 1: significant below it */
	double noise;		   /**< 0 to 1: a smaller relative difference is none */
	const char *baseline;	   /**< a configuration */
};

/**
 * Read a result directory and judge it.
 * @param options  NULL: as the result says.
 * @return 0; -ENOENT no result directory, or no such baseline; -EBADMSG what is in it is no result;
 *	-EPROTONOSUPPORT it is of a newer vfctl; -ENOPKG GSL is not installed; -ENOMEM.
 */
int vfctl_bench_report_read(struct vfctl_ctx *ctx, const char *directory,
	const struct vfctl_bench_options *options, struct vfctl_bench_report **ret_report);
/**
 * Hold two results against each other, cell by cell, each configuration with that of its name. Their
 * trials were not made in turns, so they are not paired. Cells of one of them alone become notes.
 * @return as vfctl_bench_report_read(); -ENODATA they have no cell in common.
 */
int vfctl_bench_compare(struct vfctl_ctx *ctx, const char *before, const char *after,
	const struct vfctl_bench_options *options, struct vfctl_bench_report **ret_report);
void vfctl_bench_report_free(struct vfctl_bench_report *report); /**< NULL is fine */
DEFINE_FREEP(struct vfctl_bench_report, vfctl_bench_report_free)

/** A report as Markdown for a README. @return 0; -ENOMEM. */
int vfctl_bench_markdown(struct vfctl_ctx *ctx, const struct vfctl_bench_report *report,
	char **ret_text);
/** A line for each metric of each column. @return 0; -ENOMEM. */
int vfctl_bench_csv(struct vfctl_ctx *ctx, const struct vfctl_bench_report *report,
	char **ret_text);

/**
 * What raw data of another's are to become.
 * @param name	of the result
 */
struct vfctl_bench_import {
	const char *name, *created /**< RFC 3339; NULL: now */, *baseline /**< or NULL: the first */;
	const char *goal; /**< of tests with samples; NULL: p50 */
	bool higher_is_better;
	bool paired;	  /**< trials of equal number were made in turns */
	bool emulated;
};
/**
 * Make a result directory of a CSV file with a heading line: configuration, test, trial, either
 * metric and value or samples (numbers in us with blanks between), and any parameters.
 * @return 0; -EEXIST @p directory holds a result; -EINVAL a line is not of that form; -ENOENT; -EIO.
 */
int vfctl_bench_import(struct vfctl_ctx *ctx, const char *directory, const char *csv,
	const struct vfctl_bench_import *import);

/** A result in one line. */
struct vfctl_bench_result {
	char directory[4096];
	char name[128], created[32];
	unsigned made, planned, failed; /**< runs */
	char goal[192];	   /**< "sockperf p50: 36.1 us (native)": the first cell's best */
};
/** What @p directory holds. @return 0; -ENOENT no result; else as for a report. */
int vfctl_bench_result_read(struct vfctl_ctx *ctx, const char *directory,
	struct vfctl_bench_result *ret_result);
/**
 * Result directories in @p directory, by name. @return 0; -ENOENT; -ENOMEM.
 * @param ret_names  NULL-terminated; the caller frees each and all.
 */
int vfctl_bench_results(struct vfctl_ctx *ctx, const char *directory, char ***ret_names);

/** What a tool printed. */
struct vfctl_bench_figure {
	uint64_t size;	   /**< of the message, bytes; 0: not said */
	char metric[24], unit[12];
	double value;
	bool from_samples; /**< computed from single samples; false: the tool's own figure */
};
/**
 * Read the output of @p tool ("sockperf", "ib_write_lat", ...) in @p file.
 * @param regex, json_path  of "command": where its number stands, one of them; else NULL.
 * @return 0; -EINVAL no such tool; -EIO the tool says that it failed; -EBADMSG no output of it.
 */
int vfctl_bench_parse(struct vfctl_ctx *ctx, const char *tool, const char *file, const char *regex,
	const char *json_path, char ret_version[32], struct vfctl_bench_figure **ret_figures,
	size_t *ret_count);

/** A column's figures of one metric; NULL: that was not measured. */
const struct vfctl_bench_summary *bench_summary_of(const struct vfctl_bench_column *c, const char *metric);
/** Has no cell before it the same test? */
bool bench_first_of_test(const struct vfctl_bench_report *r, size_t at);

#define VFCTL_BENCH_TEXT 48
/** A figure for people: "36.06 us", "9.41 Gbit/s", with @p like (or itself) deciding the unit. */
const char *vfctl_bench_value(double value, const char *unit, double like,
	char buf[VFCTL_BENCH_TEXT]);
/** A probability for people: "< 0.001", "0.840"; "-" for NAN. */
const char *vfctl_bench_p(double p, char buf[VFCTL_BENCH_TEXT]);
/** "-25.3 %", "+0.4 %"; "-" for NAN. */
const char *vfctl_bench_relative(double relative, char buf[VFCTL_BENCH_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
