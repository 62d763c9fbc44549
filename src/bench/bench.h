/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_BENCH_H
#define VFCTL_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "vfctl/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The default directory of result directories. */
#define VFCTL_BENCH_DIR "/var/lib/vfctl/bench"

/** The verdict about a configuration compared with the baseline. */
enum vfctl_bench_verdict {
	VFCTL_BENCH_NOT_COMPARED,  /**< it is the baseline, or one of the two has no trial */
	VFCTL_BENCH_TOO_FEW,	   /**< so many trials cannot show a difference */
	VFCTL_BENCH_NO_DIFFERENCE, /**< not significant, or below the noise threshold */
	VFCTL_BENCH_DIFFERS,	   /**< two sessions differ; the reason is unknown */
	VFCTL_BENCH_BETTER,
	VFCTL_BENCH_WORSE,
};
/** "better", "worse", "differs", "no difference shown", "too few trials", "not compared". */
const char *vfctl_bench_verdict_name(enum vfctl_bench_verdict verdict);

/** One metric over the trials of a column. Statistics are based on trials. */
struct vfctl_bench_summary {
	const char *metric;	   /**< "p50", "throughput", ... */
	const char *unit;	   /**< "us", "bit/s", "1/s", "%" or "" */
	bool from_samples;	   /**< computed from single samples; false: the tool's own figure */
	size_t trials;		   /**< number of trials with this metric; 0: no member below is set */
	double min, max, mean, median;
	double p90, p95, p99, p99_9; /**< over trials, type 7 */
	double stdev;		   /**< with n - 1; NAN for one trial */
	double low, high;	   /**< bootstrap interval of the median, only for the goal; else NAN */
};

/** A column compared with the baseline of its cell: column minus baseline. */
struct vfctl_bench_difference {
	enum vfctl_bench_verdict verdict;
	double shift;		   /**< Hodges and Lehmann, in the goal's unit */
	double shift_low, shift_high; /**< its interval; NAN for one pair */
	double relative;	   /**< shift divided by the baseline's median */
	double p;		   /**< Wilcoxon's test if paired, else Mann and Whitney's */
	double p_adjusted;	   /**< adjusted for all comparisons of the report (maxT), at least p */
	double p_t;		   /**< t-test, paired or Welch's; NAN: not defined */
	double effect;		   /**< rank-biserial correlation, -1 to 1 */
	double d_z;		   /**< Cohen's, of pairs; NAN: not paired, or not defined */
	/** The smallest share that these trials show in four of five cases; NAN: not known. */
	double detectable;
	double detectable_d;	   /**< the same in standard deviations (d_z of pairs, else d) */
	double p_sessions;	   /**< chance that sessions alone differ so much; NAN: not known */
	bool paired;		   /**< trials of equal number, made in turns */
	bool exact;		   /**< p is exact: fewer than 50 trials */
	size_t pairs;		   /**< number of trials, or pairs, that were compared */
	unsigned trials_needed;	   /**< 0: enough; else what could show a difference */
};

/** A configuration in a cell. */
struct vfctl_bench_column {
	size_t configuration;	   /**< index in the report's configurations */
	struct vfctl_bench_summary goal;
	struct vfctl_bench_summary *metrics; /**< all metrics, including the goal */
	size_t metric_count;
	const double *values;	   /**< values of the goal, by number of the trial */
	size_t failed;		   /**< trials that failed */
	const char *error;	   /**< error of the first one that failed; NULL: none failed */
	bool best;		   /**< its median is the best one of the cell */
	struct vfctl_bench_difference *differences; /**< one for each baseline, in their order */
	/** All samples of all trials: bucket i holds low[i] <= sample < low[i + 1], us. */
	const uint64_t *bucket_counts;
	const double *bucket_lows; /**< @bucket_count + 1 bounds */
	size_t bucket_count;	   /**< 0: the tool reported no samples */
};

/** A test with one set of parameters. */
struct vfctl_bench_cell {
	const char *test, *tool;
	const char *parameters;	   /**< "size=64 threads=2", "" if there are none */
	const char *varies;	   /**< the parameters that differ within the test: "64", "64 2" */
	const char *varied;	   /**< their names: "size", "threads direction"; "cell": of two results */
	const char *axis;	   /**< parameter over which curves are drawn: "size", "threads" or NULL */
	const char *group;	   /**< the others that differ, "direction reverse": one curve; "": none do */
	uint64_t size, threads;	   /**< 0: not a parameter */
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
	unsigned osu; /**< of an OSU program: its options (bench/tool.h); 0: not known */
};

enum bench_check_state { BENCH_CHECK_OK, BENCH_CHECK_WARN, BENCH_CHECK_FAIL };

struct bench_check {
	char *name, *text;
	enum bench_check_state state;
};

/** "ok", "warn" or "fail". */
const char *bench_check_word(enum bench_check_state state);

/** The contents of a result directory. A snapshot, freed as a whole. */
struct vfctl_bench_report {
	const char *directory, *name, *created, *vfctl;
	uint64_t seed;
	double alpha, noise;
	bool emulated;		   /**< the hardware was emulated */
	bool quick;		   /**< a smoke run, which gives no verdict */
	bool comparison;	   /**< made of two results: the columns are before and after */
	unsigned planned, made, failed, warm_ups; /**< numbers of runs */
	size_t baseline;	   /**< index of a configuration: the first baseline */
	size_t *baselines;	   /**< all of them; each other configuration is compared with each */
	size_t baseline_count;	   /**< at least 1 */
	struct vfctl_bench_configuration *configurations;
	size_t configuration_count;
	struct vfctl_bench_cell *cells;
	size_t cell_count;
	size_t comparisons;	   /**< number of comparisons for which p_adjusted is adjusted */
	/**
	 * Median and maximum of the comparisons' @ref vfctl_bench_difference.detectable; NAN: not
	 * known.
	 */
	double detectable_median, detectable_worst;
	size_t detectable_cell, detectable_configuration; /**< where it is the maximum */
	const struct bench_setting *host;
	size_t host_count;
	const struct bench_tool_version *tools;
	size_t tool_count;
	const struct bench_check *checks;
	size_t check_count;
	const char **commands;	   /**< one of each kind, as they were run */
	size_t command_count;
	const char **advice;	   /**< sentences: which setting to use, and how certain that is */
	size_t advice_count;
	const char **notes;	   /**< further information for the reader: failed trials, missing runs */
	size_t note_count;
	size_t better, worse, differing; /**< numbers of comparisons with that verdict */
};

/** How to judge a result; for NAN or NULL the result's own values are used. */
struct vfctl_bench_options {
	double alpha;		   /**< 0 to 1: significant below it */
	double noise;		   /**< 0 to 1: a smaller relative difference is none */
	const char *baseline;	   /**< a configuration, or several with commas between */
	const char *const *sessions; /**< results of earlier sessions without the change */
	size_t session_count;
	bool same_host_state;	   /**< two results differ in nothing but the change */
};

/**
 * Read a result directory and judge it.
 * @param options NULL: as in the result.
 * @return 0; -ENOENT no result directory, or no such baseline; -EBADMSG its content is not a
 * result;
 *	-EPROTONOSUPPORT it is of a newer vfctl; -ENOPKG GSL is not installed; -ENOMEM.
 */
int vfctl_bench_report_read(struct vfctl_ctx *ctx, const char *directory,
	const struct vfctl_bench_options *options, struct vfctl_bench_report **ret_report);
/**
 * Compare two results, cell by cell, and each configuration with that of the same name. Their
 * trials were not measured in turns, so they are not paired. Cells in only one of them become
 * notes.
 * @return as vfctl_bench_report_read(); -ENODATA they have no cell in common.
 */
int vfctl_bench_compare(struct vfctl_ctx *ctx, const char *before, const char *after,
	const struct vfctl_bench_options *options, struct vfctl_bench_report **ret_report);
void vfctl_bench_report_free(struct vfctl_bench_report *report); /**< NULL is fine */
DEFINE_FREEP(struct vfctl_bench_report, vfctl_bench_report_free)

/** A report as Markdown for a README. @return 0; -ENOMEM. */
int vfctl_bench_markdown(struct vfctl_ctx *ctx, const struct vfctl_bench_report *report,
	char **ret_text);
/**
 * One line for each metric of each column.
 * @return 0; -ENOMEM.
 */
int vfctl_bench_csv(struct vfctl_ctx *ctx, const struct vfctl_bench_report *report,
	char **ret_text);

/**
 * How to import raw data that another program measured.
 * @param name	of the result
 */
struct vfctl_bench_import {
	const char *name, *created /**< RFC 3339; NULL: now */, *baseline /**< or NULL: the first one */;
	const char *goal; /**< for tests with samples; NULL: p50 */
	bool higher_is_better;
	bool paired;	  /**< trials with equal numbers were measured in turns */
	bool emulated;
	/**
	 * A file with a heading line: configuration, test, trial, either metric and value or samples
	 * (numbers in us with blanks between), and any parameters. NULL: see @ref tool.
	 */
	const char *csv;
	/** What printed the outputs, as for vfctl_bench_parse(); NULL: found by their text. */
	const char *tool;
	const char *regex, *json_path; /**< of the tool "command" */
	const char *const *outputs;  /**< each "CONFIGURATION=FILE" or "FILE": one trial */
	size_t output_count;
};
/**
 * Make a result directory of data that others measured.
 * @return 0; -EEXIST @p directory holds a result; -EINVAL the data are not of that form; -EBADMSG
 * an output is not of the tool; -ENOENT; -EIO.
 */
int vfctl_bench_import(struct vfctl_ctx *ctx, const char *directory,
	const struct vfctl_bench_import *import);

/** A result in one line. */
struct vfctl_bench_result {
	char directory[4096];
	char name[128], created[32];
	unsigned made, planned, failed; /**< numbers of runs */
	char goal[192];	   /**< "sockperf p50: 36.1 us (native)": the best one of the first cell */
};
/** Read the result in @p directory. @return 0; -ENOENT no result; or as for a report. */
int vfctl_bench_result_read(struct vfctl_ctx *ctx, const char *directory,
	struct vfctl_bench_result *ret_result);
/**
 * Result directories in @p directory, by name. @return 0; -ENOENT; -ENOMEM.
 * @param ret_names  NULL-terminated; the caller frees each and all.
 */
int vfctl_bench_results(struct vfctl_ctx *ctx, const char *directory, char ***ret_names);

/** The output of a tool. */
struct vfctl_bench_figure {
	uint64_t size;	   /**< size of the message, bytes; 0: not stated */
	char metric[24], unit[12];
	double value;
	bool from_samples; /**< computed from single samples; false: the tool's own figure */
};
/**
 * Read the output of @p tool ("sockperf", "ib_write_lat", ...) in @p file.
 * @param regex, json_path  for "command": the position of its number, one of them; else NULL.
 * @return 0; -EINVAL no such tool; -EIO the tool reports a failure; -EBADMSG it is not the tool's
 * output.
 */
int vfctl_bench_parse(struct vfctl_ctx *ctx, const char *tool, const char *file, const char *regex,
	const char *json_path, char ret_version[32], struct vfctl_bench_figure **ret_figures,
	size_t *ret_count);

/** Whether @p configuration is one of the baselines. */
bool bench_is_baseline(const struct vfctl_bench_report *r, size_t configuration);
/**
 * Whether the difference of @p configuration from baseline @p at repeats that of two baselines with
 * the other sign: it is shown, but counts as the same comparison.
 */
bool bench_is_mirror(const struct vfctl_bench_report *r, size_t at, size_t configuration);
/** A column's values of one metric; NULL: it was not measured. */
const struct vfctl_bench_summary *bench_summary_of(const struct vfctl_bench_column *c,
	const char *metric);
/** Whether no earlier cell has the same test. */
bool bench_first_of_test(const struct vfctl_bench_report *r, size_t at);

#define VFCTL_BENCH_TEXT 48
/** Format a value: "36.06 us", "9.41 Gbit/s"; @p like (or itself) determines the unit. */
const char *vfctl_bench_value(double value, const char *unit, double like,
	char buf[VFCTL_BENCH_TEXT]);
/** Format a probability: "< 0.001", "0.840"; "-" for NAN. */
const char *vfctl_bench_p(double p, char buf[VFCTL_BENCH_TEXT]);
/** "0.84 %", "12 %": two significant digits without a sign; "-" for NAN. */
const char *vfctl_bench_about(double share, char buf[VFCTL_BENCH_TEXT]);
/** "-25.3 %", "+0.4 %"; "-" for NAN. */
const char *vfctl_bench_relative(double relative, char buf[VFCTL_BENCH_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
