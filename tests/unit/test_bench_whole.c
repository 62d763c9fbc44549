// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is not the whole output of one run: recorded outputs (tests/fuzz/corpus/bench) that are cut, joined, or
 * changed in one figure.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bench/reading.h"

#define CORPUS VFCTL_SOURCE_DIR "/tests/fuzz/corpus/bench/"

static struct vfctl_ctx *ctx;

static int set_up(void **state)
{
	return vfctl_ctx_new(&ctx);
}

static int tear_down(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

/* What the tool printed, without the first line, which names it. */
static char *read_output(const char *name, enum bench_tool *ret)
{
	_free_ char *path = str_format(CORPUS "%s", name), *text = calloc(1, 1 << 20);
	FILE *file = fopen(path, "re");
	char *end;

	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	end = strchr(text, '\n');
	assert_non_null(end);
	*end = '\0';
	assert_int_equal(bench_tool_parse(text, ret), 0);
	return strdup(end + 1);
}

static int parse(enum bench_tool tool, const char *text, struct bench_reading **ret)
{
	*ret = NULL;
	return bench_parse(ctx, tool, NULL, text, strlen(text), ret);
}

static size_t lines_of(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* ---- cut ---- */

/*
 * How many lines at the end hold no figure and no mark: a text without them is whole. After its first lines a
 * text of iperf2 with -i is that of a run of one interval, and its CSV that of fewer streams.
 */
static const struct {
	const char *file;
	size_t spare, first;
} whole[] = {
	{"iperf3-3.12-text.txt", 0, 0},
	{"iperf3-3.12-text-p1.txt", 0, 0},
	{"iperf3-3.12-udp-p2.txt", 0, 0},
	{"iperf3-3.12-udp-bidir.txt", 0, 0},
	{"iperf3-3.12-mbytes.txt", 0, 0},
	{"iperf3-3.12-get-server-output.txt", 0, 0},
	{"iperf3-3.12-server-p2.txt", 4, 0}, /* what it prints before the next test */
	{"iperf-2.1.8-e-p3.txt", 1, 0},	  /* times of connections */
	{"iperf-2.1.8-e-i1.txt", 1, 12},
	{"iperf-2.1.8-i1-p2.txt", 0, 10},
	{"iperf-2.1.8-fm.txt", 0, 0},
	{"iperf-2.1.8-udp.txt", 0, 0},
	{"iperf-2.1.8-reverse-p2.txt", 0, 0},
	{"iperf-2.1.8-full-duplex-p2.txt", 0, 0},
	{"iperf-2.1.8-d-p2.txt", 0, 0},
	{"iperf-2.0.9-interval.txt", 0, 2},
	{"iperf-2.1.8-p4.csv", 0, 2},
	{"perftest-4.5-lat-all.txt", 0, 0},
	{"perftest-4.5-bw-all-frequency.txt", 0, 0},
	{"perftest-4.5-lat-unsorted.txt", 0, 0},
	{"perftest-4.5-lat-duration.txt", 0, 0},
	{"sockperf-3.7-pp.txt", 0, 0},
	{"sockperf-3.7-full-rtt.txt", 0, 0},
	{"sockperf-3.7-full.csv", 0, 0},
	{"sockperf-3.7-tp.txt", 0, 0},
	{"netperf-2.7-rr.txt", 0, 0},
	{"netperf-2.7-stream.txt", 0, 0},
	{"netperf-2.7-udp-stream.txt", 0, 0},
	{"netperf-2.7-tcp-rr.txt", 0, 0},
	{"osu-5.8-latency.txt", 0, 0},
	{"osu-5.8-bw.txt", 0, 0},
	{"osu-5.3-latency.txt", 0, 0},
	{"osu-7.4-alltoall.txt", 0, 0},
	{"osu-7.4-bcast-full.txt", 0, 0},
	{"osu-7.4-validation.txt", 0, 0},
};

/* At some lines of these a cut takes figures away, but none of those that remain is wrong. */
static const char *const lossy[] = {"qperf-0.4.11-sweep.txt", "qperf-0.4.11-v.txt", "qperf-0.4.11-vvuu.txt",
	"netperf-2.7-keyval.txt", "iperf-2.1.8-udp-p2.txt", "iperf-2.1.8-d.txt"};

static bool has_figure(const struct bench_reading *reading, uint64_t size, const struct bench_metric *like)
{
	for (size_t i = 0; i < reading->row_count; i++) {
		const struct bench_row *row = &reading->rows[i];
		const struct bench_metric *m = bench_metric_find(row->metrics, row->metric_count, like->name);

		if (row->size == size && m && m->value == like->value)
			return true;
	}
	return false;
}

/* Each figure of a part is one of the whole. */
static void same_figures(const char *file, const struct bench_reading *part, const struct bench_reading *all)
{
	for (size_t i = 0; i < part->row_count; i++)
		for (size_t k = 0; k < part->rows[i].metric_count; k++)
			if (!has_figure(all, part->rows[i].size, &part->rows[i].metrics[k]))
				fail_msg("%s: another %s", file, part->rows[i].metrics[k].name);
}

/* @spare SIZE_MAX: some cuts are not seen. */
static void cut_at_each_line(const char *file, size_t spare, size_t first)
{
	_cleanup_(bench_reading_freep) struct bench_reading *all = NULL;
	enum bench_tool tool;
	_free_ char *text = read_output(file, &tool);
	size_t lines = lines_of(text);


	print_message("%s\n", file);
	if (parse(tool, text, &all) < 0)
		fail_msg("%s: %s", file, vfctl_ctx_error(ctx));
	for (size_t left = lines - 1; left > first; left--) {
		_cleanup_(bench_reading_freep) struct bench_reading *part = NULL;
		char *last = strrchr(text, '\n');

		*last = '\0';
		last = strrchr(text, '\n');
		assert_non_null(last);
		last[1] = '\0';
		if (parse(tool, text, &part) < 0) {
			assert_true(spare == SIZE_MAX || lines - left > spare);
			continue;
		}
		same_figures(file, part, all);
		if (lines - left > spare)
			fail_msg("%s: its first %zu lines gave figures", file, left);
	}
}

static void a_text_that_is_cut_at_a_line_is_refused(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		cut_at_each_line(whole[i].file, whole[i].spare, whole[i].first);
	for (size_t i = 0; i < ARRAY_SIZE(lossy); i++)
		cut_at_each_line(lossy[i], SIZE_MAX, 0);
}

/* A run that is known to have ended well printed everything. */
static void an_exit_status_proves_the_end(void **state)
{
	static const char text[] = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n1      1.02\n";
	const struct bench_extract ended = {.ended_well = true};
	struct bench_reading *reading = NULL;

	assert_int_equal(bench_parse(ctx, BENCH_OSU, NULL, text, strlen(text), &reading), -EBADMSG);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "add its command to the text, as '# osu_latency -m 1:1'"));
	assert_int_equal(bench_parse(ctx, BENCH_OSU, &ended, text, strlen(text), &reading), 0);
	bench_reading_free(reading);
}

/* ---- several runs ---- */

static const char *const one_run[] = {"iperf3-3.12-text.txt", "iperf3-3.12-text-p1.txt",
	"iperf3-3.12-udp-p2.txt", "iperf3-3.12-udp-bidir.txt", "iperf3-3.12-server-p2.txt",
	"iperf3-3.12-tcp-p2.json", "iperf3-3.18-stream.json", "iperf-2.1.8-e-p3.txt", "iperf-2.1.8-e-i1.txt",
	"iperf-2.1.8-r.txt", "iperf-2.1.8-d.txt", "iperf-2.1.8-udp-p2.txt", "iperf-2.0.9-interval.txt",
	"perftest-4.5-lat.txt", "perftest-4.5-lat-all.txt", "perftest-4.5-bw.txt", "sockperf-3.7-pp.txt",
	"sockperf-3.7-tp.txt", "sockperf-3.7-full.csv", "netperf-2.7-rr.txt", "netperf-2.7-keyval.txt",
	"netperf-2.7-tcp-stream.txt", "netperf-2.7-udp-stream.txt", "osu-5.8-latency.txt", "osu-5.8-barrier.txt",
	"osu-7.4-bcast-full.txt", "osu-5.3-ibarrier-full.txt", "osu-7.4-ibarrier.txt", "qperf-0.4.11-uu.txt", "qperf-0.4.11-sweep.txt"};

/* The line that the message names is one of the second text. */
static void second_run_is_named(const char *file, enum bench_tool tool, const char *text, size_t first)
{
	struct bench_reading *reading;
	const char *line;
	int r = parse(tool, text, &reading);

	print_message("%s: %s\n", file, r < 0 ? vfctl_ctx_error(ctx) : "");
	assert_int_equal(r, -EBADMSG);
	line = strstr(vfctl_ctx_error(ctx), "line ");
	assert_non_null(line);
	assert_non_null(strstr(line, "second"));
	assert_true(strtoul(line + 5, NULL, 10) > first);
}

static void several_runs_in_one_text_are_refused(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(one_run); i++) {
		enum bench_tool tool;
		_free_ char *text = read_output(one_run[i], &tool), *twice = str_format("%s%s", text, text);

		second_run_is_named(one_run[i], tool, twice, lines_of(text));
	}
}

/* Logs of servers, and of runs without the lines that begin them. */
static void logs_of_several_runs_are_refused(void **state)
{
	static const struct {
		const char *file;
		size_t first;
	} logs[] = {{"iperf3-3.12-server-two.txt", 11}, {"iperf-2.1.8-server-runs.txt", 7},
		{"iperf-2.1.8-two-runs.csv", 1}, {"perftest-4.5-both-ends.txt", 30}};

	for (size_t i = 0; i < ARRAY_SIZE(logs); i++) {
		enum bench_tool tool;
		_free_ char *text = read_output(logs[i].file, &tool);

		second_run_is_named(logs[i].file, tool, text, logs[i].first);
	}
}

/* ---- figures and errors ---- */

static const struct {
	const char *file, *from, *to;
	int error;
	const char *message; /* or the metric that is read */
	double value;
} changes[] = {
	/* Bytes are counted in 1024, bits in 1000. */
	{"iperf3-3.12-text.txt", "18.0 Gbits/sec                  rec", "2.10 GBytes/sec                 rec", 0,
		"throughput", 2.1 * 8 * 1073741824.0},
	{"iperf3-3.12-text.txt", "18.0 Gbits/sec                  rec", "2150 MBytes/sec                 rec", 0,
		"throughput", 2150 * 8 * 1048576.0},
	{"iperf3-3.12-text-p1.txt", "20.8 Gbits/sec                  rec", "2.43e6 KBytes/sec               rec",
		0, "throughput", 2.43e6 * 8 * 1024},
	{"sockperf-3.7-giga.txt", "0.002 GBps", "1.002 GBps", 0, "throughput_sent", 1.002 * 8388608 * 1000},
	/* A second figure in a row: of another run, or of another service level. */
	{"perftest-4.5-qos.txt", "0.060430\n", "0.060430\n 65536 1 1000 3000.00 2999.00 0.047984\n", -EBADMSG,
		"line 24 belongs to a second run", 0},
	/* Few digits: of iperf3 the sum counts; small messages have their rate. */
	{"iperf3-3.12-text-p1.txt", "20.8 Gbits/sec                  rec", "0.09 Gbits/sec                  rec",
		-EBADMSG, "use -J", 0},
	{"iperf3-3.12-text-p1.txt", "20.8 Gbits/sec                  rec", "0.11 Gbits/sec                  rec",
		0, "throughput", 0.11e9},
	{"iperf3-3.12-text.txt", "8.99 Gbits/sec                  rec", "0.01 Gbits/sec                  rec", 0,
		"throughput", 18e9},
	{"iperf3-3.12-few-digits.txt", "", "", -EBADMSG, "use -J", 0},
	{"iperf-2.1.8-reverse.txt", "5.68 Gbits", "0.01 Gbits", -EBADMSG, "use -y C", 0},
	{"netperf-2.7-stream.txt", "18342.71,10^6", "0.05,10^9", -EBADMSG, "-f k", 0},
	{"perftest-4.5-bw-gbits.txt", "31.68", "0.04", 0, "throughput", 60430.0 * 65536 * 8},
	{"osu-5.8-bw.txt", "   3.11", "   0.04", 0, "throughput", 12114.52 * 8e6},
	/* Below zero, and zero where it cannot be. */
	{"perftest-4.5-lat-duration.txt", "5.62", "-5.62", -EIO, "line 23: its mean is -5.62, which is not possible", 0},
	{"perftest-4.5-bw.txt", "3776.85", "-3776.85", -EIO, "throughput is -3", 0},
	{"perftest-4.5-lat.txt", "1.06", "0.00", -EIO, "its min is 0", 0},
	{"perftest-4.5-lat-unsorted.txt", "1, 1.5", "1, -1.5", -EIO, "sample 1", 0},
	{"iperf3-3.12-text-p1.txt", "20.8 Gbits/sec                  rec", "0.00 bits/sec                   rec",
		-EIO, "its throughput is 0", 0},
	{"iperf3-3.12-udp-p2.txt", "0.056 ms  0/39", "0.056 ms  -3/39", -EIO, "its loss is -", 0},
	{"iperf-2.1.8-p1.csv", "19913094763", "0", -EIO, "its throughput is 0", 0},
	{"iperf-2.1.8-p1.csv", "19913094763", "-5", -EIO, "its throughput is -5", 0},
	{"sockperf-3.7-pp.txt", "1377.472", "-1377.472", -EIO, "its max is -1", 0},
	{"qperf-0.4.11-uu.txt", "37330 ns", "0 ns", -EIO, "its mean is 0", 0},
	{"netperf-2.7-rr.txt", "26784.91", "0.00", -EIO, "its operations is 0", 0},
	{"netperf-2.7-tcp-stream.txt", "37634.55", "-0.55", -EIO, "its throughput is -", 0},
	{"osu-5.8-barrier.txt", "9.13", "0.00", -EIO, "its mean is 0", 0},
	/* A row or a key that occurs twice, although its figures are equal. */
	{"perftest-4.5-bw.txt", "0.060430\n", "0.060430\n 65536 1000 3776.90 3776.85 0.060430\n", -EBADMSG,
		"line 24 belongs to a second run", 0},
	{"perftest-4.5-json.txt", "t_avg: 1.15,\n", "t_avg: 1.15,\nt_avg: 1.15,\n", -EBADMSG, "second run", 0},
	{"sockperf-3.7-pp.txt", "percentile 50.000 =   35.859\n",
		"percentile 50.000 =   35.859\nsockperf: ---> percentile 50.000 =   35.859\n", -EBADMSG,
		"line 24 belongs to a second run", 0},
	{"netperf-2.7-rr.txt", "12.20,-1.00\n", "12.20,-1.00\n26784.91,Trans/s,24,36,41,58,37.21,11.80,12.20,-1\n",
		-EBADMSG, "line 4 belongs to a second run", 0},
	{"netperf-2.7-rr.txt", "37.21", "-37.21", -EIO, "line 3: its mean is -37.21, which is not possible", 0},
	/* Units that are not known. */
	{"sockperf-3.7-pp.txt", "36.063 usec", "36.063 nsec", -EBADMSG, "line 14: 'nsec' is not a known unit", 0},
	{"sockperf-3.7-full-rtt.txt", " usec", " msec", -EBADMSG, "'msec' is not a known unit", 0},
	{"sockperf-3.7-tp.txt", "9.902 MBps", "9.902 TBps", -EBADMSG, "'TBps' is not a known unit", 0},
	{"iperf3-3.12-text-p1.txt", "20.8 Gbits/sec                  rec", "20.8 Qbits/sec rec", -EBADMSG, "20.8 Qbits", 0},
	{"iperf-2.1.8-e.txt", "Gbits/sec", "Qbits/sec", -EBADMSG, "Qbits/sec", 0},
	{"netperf-2.7-stream.txt", "10^6", "10^x", -EBADMSG, "the unit of its throughput is unknown", 0},
	{"qperf-0.4.11-uu.txt", "37330 ns", "37330 qs", -EBADMSG, "'qs', which is not a known unit", 0},
	{"osu-5.8-latency.txt", "Latency (us)", "Latency (qs)", -EBADMSG, "than its header names", 0},
	{"perftest-4.5-bw.txt", "BW average[MB/sec]", "BW average[QB/sec]", -EBADMSG, "than its header names", 0},
	/* The sender's jitter is not a count of retransmits. */
	{"iperf3-3.12-udp-p2.txt", "", "", 0, "!retransmits", 0},
	{"iperf3-3.12-udp-p2.txt", "0.000 ms  0/39 (0%)  sender", "39  sender", 0, "!retransmits", 0},
	{"iperf3-3.12-udp-p2.txt", "0.056 ms  0/39", "0.056 ms  Unknown/39", 0, "!loss", 0},
	/* The tool's own error beside its figures. */
	{"iperf3-3.12-text.txt", "iperf Done.", "iperf3: error - control socket has closed unexpectedly", -EIO,
		"iperf3: error - control socket has closed unexpectedly", 0},
	{"iperf3-3.12-text.txt", "iperf Done.", "iperf Done.\niperf3: the client has terminated", -EIO,
		"iperf3: the client has terminated", 0},
	{"iperf3-3.12-server-p2.txt", "iperf3: interrupt - the server has", "iperf3: the client has", -EIO,
		"iperf3: the client has terminated", 0},
	{"iperf3-3.12-server-p2.txt", "", "", 0, "throughput", 23.5e9},
	{"iperf3-3.12-get-server-output.txt", "", "", 0, "throughput", 20.8e9},
	{"iperf3-3.12-mbytes.txt", "", "", 0, "throughput", 2703 * 8 * 1048576.0},
	{"iperf3-3.12-tcp-p2.json", "\n}\n", "\n}\niperf3: error - unable to receive\n", -EIO, "unable to receive", 0},
	{"iperf-2.1.8-e.txt", "40366674\n", "40366674\nwrite failed: Broken pipe\n", -EIO,
		"iperf: write failed: Broken pipe", 0},
	{"perftest-4.5-bw-all-frequency.txt", " 4 ", " Completion with error at client\n 4 ", -EIO,
		"perftest: Completion with error at client", 0},
	{"osu-5.8-latency.txt", "64  ", "mpirun noticed that process rank 1 exited on signal 9\n64  ", -EIO,
		"mpirun noticed", 0},
	/* Both directions in a sum. */
	{"iperf-2.1.8-full-duplex-p2.txt", "", "", 0, "throughput", 18.67e9},
	{"iperf-2.1.8-reverse-p2.txt", "", "", 0, "throughput", 42.9e9},
	{"iperf-2.1.8-i1-p2.txt", "", "", 0, "throughput", 42.2e9},
	{"iperf-2.1.8-server-udp.txt", "", "", 0, "throughput", 10.5e6},
	{"iperf-2.1.8-server-udp.txt", "", "", 0, "loss", 100 / 1790.0},
	{"iperf-2.1.8-i1.csv", "", "", 0, "throughput", 16534997952.0},
	{"qperf-0.4.11-quit.txt", "", "", 0, "mean", 14},
};

static char *changed(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	assert_non_null(at);
	return str_format("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static const struct bench_metric *last_figure(const struct bench_reading *reading, const char *name)
{
	const struct bench_row *row = &reading->rows[reading->row_count - 1];

	return bench_metric_find(row->metrics, row->metric_count, name);
}

static void figures_are_judged(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;
		enum bench_tool tool;
		_free_ char *text = read_output(changes[i].file, &tool);
		_free_ char *other = changed(text, changes[i].from, changes[i].to);
		const char *message = changes[i].message;
		int r = parse(tool, other, &reading);

		print_message("%s: %s\n", changes[i].file, message);
		if (r != changes[i].error)
			fail_msg("%d: %s", r, r < 0 ? vfctl_ctx_error(ctx) : "");
		if (r < 0 && !strstr(vfctl_ctx_error(ctx), message))
			fail_msg("%s", vfctl_ctx_error(ctx));
		if (r < 0)
			continue;
		if (*message == '!') {
			assert_null(last_figure(reading, message + 1));
			continue;
		}
		assert_non_null(last_figure(reading, message));
		assert_true(fabs(last_figure(reading, message)->value - changes[i].value) <=
			1e-9 * changes[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_that_is_cut_at_a_line_is_refused),
		cmocka_unit_test(an_exit_status_proves_the_end),
		cmocka_unit_test(several_runs_in_one_text_are_refused),
		cmocka_unit_test(logs_of_several_runs_are_refused),
		cmocka_unit_test(figures_are_judged),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
