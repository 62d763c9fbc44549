// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recorded output of the tools (tests/fuzz/corpus/bench; tests/bench/README lists the files made
 * for tests).
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "bench/reading.h"
#include "bench/text.h"

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

static char *read_file(const char *name, size_t *ret_len)
{
	_free_ char *path = str_format(CORPUS "%s", name);
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	assert_non_null(file);
	assert_non_null(text);
	*ret_len = fread(text, 1, (1 << 20) - 1, file);
	fclose(file);
	return text;
}

static int parse_file(const char *name, const struct bench_extract *extract,
	struct bench_reading **ret)
{
	size_t len;
	_free_ char *text = read_file(name, &len);
	char *end = strchr(text, '\n');
	enum bench_tool tool;

	assert_non_null(end);
	*end = '\0';
	assert_int_equal(bench_tool_parse(text, &tool), 0);
	return bench_parse(ctx, tool, extract, end + 1, len - (size_t)(end + 1 - text), ret);
}

/* ---- what is read ---- */

static const struct {
	const char *file;
	uint64_t size;
	const char *metric;
	double value;
	bool from_samples;
} figures[] = {
	{"perftest-4.5-lat.txt", 2, "p50", 1.14, false},
	{"perftest-4.5-lat.txt", 2, "min", 1.06, false},
	{"perftest-4.5-lat.txt", 2, "max", 11.41, false},
	{"perftest-4.5-lat.txt", 2, "mean", 1.15, false},
	{"perftest-4.5-lat.txt", 2, "p99", 1.30, false},
	{"perftest-4.5-lat.txt", 2, "p99_9", 11.41, false},
	{"perftest-4.5-lat-fused.txt", 2, "p99", 1216.65, false},
	{"perftest-4.5-lat-fused.txt", 2, "p99_9", 37330.73, false},
	{"perftest-4.5-lat-all.txt", 8388608, "p50", 3.40, false},
	{"perftest-4.5-lat-duration.txt", 2, "mean", 5.62, false},
	{"perftest-4.5-lat-duration.txt", 2, "operations", 177935.94, false},
	{"perftest-4.5-lat-duration-cpu.txt", 2, "cpu_local", 12.5, false},
	{"perftest-4.5-bw.txt", 65536, "throughput", 3776.85 * 8388608, false},
	{"perftest-24.07-bw.txt", 65536, "throughput", 3776.85 * 8388608, false},
	{"perftest-4.5-bw.txt", 65536, "message_rate", 60430, false},
	{"perftest-4.5-bw-gbits.txt", 65536, "throughput", 31.68e9, false},
	{"perftest-4.5-bw-all-frequency.txt", 8388608, "throughput", 218.5 * 8388608, false},
	{"perftest-4.5-bw-duration-cpu.txt", 65536, "throughput", 2900.11 * 8388608, false},
	{"perftest-4.5-bw-duration-cpu.txt", 65536, "cpu_local", 50.12, false},
	{"perftest-4.5-qos.txt", 65536, "throughput", 3776.85 * 8388608, false},
	/* Ten samples: perftest's own maximum would be 2.00, it drops the two largest. */
	{"perftest-4.5-lat-unsorted.txt", 2, "max", 9.75, true},
	{"perftest-4.5-lat-unsorted.txt", 2, "p50", 1.5, true},
	{"perftest-4.5-lat-unsorted.txt", 2, "p90", 2.775, true},
	{"perftest-4.5-lat-unsorted.txt", 2, "mean", 2.3, true},
	{"perftest-4.5-lat-unsorted.txt", 2, "stdev", 2.6294274831, true},
	{"perftest-4.5-lat-unsorted.txt", 2, "samples", 10, true},
	{"perftest-4.5-json.txt", 2, "p99", 1.30, false},
	{"perftest-25.01-json.txt", 2, "p99_9", 11.41, false},
	{"perftest-3.0-lat.txt", 2, "p50", 0.98, false},
	{"perftest-4.5-comma.txt", 2, "max", 11.41, false},
	{"iperf3-3.12-tcp-p2.json", 0, "throughput", 0, false},
	{"iperf3-3.12-bidir.json", 0, "throughput_reverse", 0, false},
	{"iperf3-3.12-reverse.json", 0, "throughput", 0, false},
	{"iperf3-3.12-udp.json", 0, "throughput", 100100269.2, false},
	{"iperf3-3.12-text.txt", 0, "throughput", 18e9, false},
	{"iperf3-3.12-text.txt", 0, "retransmits", 4, false},
	{"iperf3-3.12-text-p1.txt", 0, "throughput", 20.8e9, false},
	{"iperf3-3.18-stream.json", 0, "throughput", 9.4e9, false},
	{"iperf3-3.18-stream.json", 0, "retransmits", 12, false},
	{"iperf3-3.18-stream.json", 0, "cpu_remote", 30, false},
	{"iperf-2.1.8-p1.csv", 0, "throughput", 19913094763.0, false},
	{"iperf-2.1.8-p4.csv", 0, "throughput", 37947690551.0, false},
	{"iperf-2.1.8-e-p3.txt", 0, "throughput", 43e9, false},
	{"iperf-2.1.8-e-p3.txt", 0, "retransmits", 47, false},
	{"iperf-2.1.8-e-i1.txt", 0, "throughput", 44e9, false},
	{"iperf-2.1.8-fm.txt", 0, "throughput", 44007e6, false},
	{"iperf-2.1.8-full-duplex.txt", 0, "throughput", 16.3e9, false},
	{"iperf-2.1.8-full-duplex.txt", 0, "throughput_reverse", 8.29e9, false},
	{"iperf-2.0.9-interval.txt", 0, "throughput", 8.59e9, false},
	{"iperf-2.0.9-server-report.txt", 0, "throughput", 50.3e6, false},
	{"iperf-2.0.9-server-report.txt", 0, "throughput_sent", 52.4e6, false},
	{"iperf-2.1.8-udp.txt", 0, "throughput_sent", 52.4e6, false},
	{"iperf-2.0.9-server-report.txt", 0, "jitter", 10, false},
	{"iperf-2.0.9-server-report.txt", 0, "loss", 100 * 1800 / 44582.0, false},
	/* Both directions are not added: -d, -r, --full-duplex. */
	{"iperf-2.1.8-d.txt", 0, "throughput", 2.76e9, false},
	{"iperf-2.1.8-d.txt", 0, "throughput_reverse", 2.88e9, false},
	{"iperf-2.1.8-r.txt", 0, "throughput", 5.82e9, false},
	{"iperf-2.1.8-r.txt", 0, "throughput_reverse", 6.29e9, false},
	{"iperf-2.1.8-d-p2.txt", 0, "throughput", 5.06e9, false},
	{"iperf-2.1.8-d-p2.txt", 0, "throughput_reverse", 4.18e9, false},
	{"iperf-2.1.8-d-p2.csv", 0, "throughput", 1410352487.0 + 2603980382.0, false},
	{"iperf-2.1.8-d-p2.csv", 0, "throughput_reverse", 1946692853.0 + 2503857903.0, false},
	{"iperf-2.1.8-r.csv", 0, "throughput", 5568186147.0, false},
	{"iperf-2.1.8-r.csv", 0, "throughput_reverse", 6664700237.0, false},
	{"iperf-2.2.1-full-duplex.csv", 0, "throughput", 4322333964.0, false},
	{"iperf-2.2.1-full-duplex.csv", 0, "throughput_reverse", 3585480989.0, false},
	{"iperf-2.2.1-full-duplex-p2.csv", 0, "throughput", 6201664422.0, false},
	{"iperf-2.2.1-full-duplex-p2.csv", 0, "throughput_reverse", 6081823337.0, false},
	{"iperf-2.1.8-full-duplex-p2.csv", 0, "throughput", 2139011684.0 + 3471373365.0, false},
	{"iperf-2.1.8-full-duplex-p2.csv", 0, "throughput_reverse", 2506265427.0 + 2016071571.0, false},
	{"iperf-2.1.8-reverse.csv", 0, "throughput", 7340825546.0, false},
	{"iperf-2.1.8-reverse.txt", 0, "throughput", 5.68e9, false},
	{"iperf-2.1.8-udp-fast.txt", 0, "throughput", 1551572e3, false},
	{"iperf-2.1.8-udp-fast.txt", 0, "throughput_sent", 2862241e3, false},
	{"iperf-2.1.8-udp-fast.txt", 0, "loss", 100 * (84658 + 79900) / (202911 + 155111.0), false},
	{"iperf-2.1.8-udp-reverse.txt", 0, "throughput", 3176325e3, false},
	{"iperf-2.1.8-udp-p2.txt", 0, "throughput", 21e6, false},
	{"iperf-2.1.8-udp-p2.txt", 0, "loss", 100 / 898.0, false},
	{"iperf-2.1.8-udp-p2.txt", 0, "jitter", 0.5, false},
	{"iperf-2.1.8-udp-d.txt", 0, "throughput", 10.5e6, false},
	{"iperf-2.1.8-udp-d.txt", 0, "throughput_reverse", 10.5e6, false},
	{"iperf-2.0.9-d-udp.txt", 0, "throughput", 50.3e6, false},
	{"iperf-2.0.9-d-udp.txt", 0, "throughput_reverse", 51.2e6, false},
	{"iperf-2.0.9-d-udp.txt", 0, "loss", 100 * 1783 / 44582.0, false},
	{"iperf-2.0.9-d-udp.txt", 0, "out_of_order", 3, false},
	{"iperf3-3.12-udp-p2.txt", 0, "throughput", 20.4e6, false},
	{"iperf3-3.12-udp-p2.txt", 0, "jitter", 55, false},
	{"iperf3-3.12-udp-bidir.txt", 0, "jitter", 12, false},
	{"iperf3-3.12-udp-bidir.txt", 0, "throughput_reverse", 10.2e6, false},
	{"iperf3-3.12-udp-bidir.json", 0, "jitter", 53.77057270581866, false},
	{"sockperf-3.7-pp.txt", 0, "p50", 35.859, false},
	{"sockperf-3.7-pp.txt", 0, "p99_9", 77.902, false},
	{"sockperf-3.7-pp.txt", 0, "mean", 36.063, false},
	{"sockperf-3.7-pp.txt", 0, "samples", 7624, false},
	{"sockperf-3.7-full-rtt.txt", 0, "mean", 4.472, false},
	{"sockperf-3.7-full-rtt.txt", 0, "max", 4573.311, false},
	{"sockperf-3.7-full.csv", 14, "samples", 274, true},
	{"sockperf-3.7-full.csv", 14, "max", 2627.062, true},
	{"sockperf-3.6-log.csv", 0, "min", 3.438, true},
	{"sockperf-3.7-tp.txt", 14, "message_rate", 741673, false},
	{"sockperf-3.7-tp.txt", 14, "throughput_sent", 9.902 * 8388608, false},
	{"qperf-0.4.11-uu.txt", 0, "mean", 37.33, false},
	{"qperf-0.4.11-uu.txt", 0, "throughput", 11776032768.0, false},
	{"qperf-0.4.11-v.txt", 0, "message_rate", 26400, false},
	{"qperf-0.4.11-v.txt", 0, "cpu_local", 54, false},
	{"qperf-0.4.11-vvuu.txt", 1, "mean", 37.336, false},
	{"qperf-0.4.11-sweep.txt", 4096, "mean", 38, false},
	{"qperf-0.4.11-sweep.txt", 65536, "throughput", 1.53e9 * 8, false},
	{"netperf-2.7-rr.txt", 0, "operations", 26784.91, false},
	{"netperf-2.7-rr.txt", 0, "p99", 58, false},
	{"netperf-2.7-stream.txt", 0, "throughput", 18342.71e6, false},
	{"netperf-2.7-keyval.txt", 0, "mean", 37.21, false},
	{"netperf-2.7-tcp-stream.txt", 0, "throughput", 37634.55e6, false},
	{"netperf-2.7-tcp-stream.txt", 0, "cpu_remote", 25.02, false},
	{"netperf-2.7-udp-stream.txt", 0, "throughput_sent", 9576.50e6, false},
	{"netperf-2.7-udp-stream.txt", 0, "throughput", 9565.86e6, false},
	{"netperf-2.7-tcp-rr.txt", 0, "operations", 24951.31, false},
	{"osu-5.3-latency.txt", 8192, "mean", 2.46, false},
	{"osu-5.3-bibw.txt", 8192, "throughput", 5108.49 * 8e6, false},
	{"osu-5.3-bcast.txt", 1048576, "max", 82.56, false},
	{"osu-5.3-alltoall.txt", 8192, "mean", 4.23, false},
	{"osu-5.3-ibarrier.txt", 0, "mean", 1.63, false}, /* without # and a final newline */
	{"osu-5.3-ibarrier-full.txt", 0, "mean", 1.79, false},
	{"osu-7.4-latency.txt", 8192, "mean", 3.84, false},
	{"osu-7.4-bibw.txt", 8192, "throughput", 4257.09 * 8e6, false},
	{"osu-7.4-bcast.txt", 1048576, "min", 95.02, false},
	{"osu-7.4-alltoall.txt", 1048576, "mean", 109.98, false},
	{"osu-7.4-ibarrier.txt", 0, "mean", 2.19, false},
	{"osu-7.4-ibarrier-full.txt", 0, "mean", 1.86, false},
	{"osu-7.4-ibarrier-tail.txt", 0, "p99", 4.04, false},
	{"osu-5.8-latency.txt", 8192, "mean", 4.41, false},
	{"osu-5.8-barrier.txt", 0, "mean", 9.13, false},
	{"osu-5.8-bw.txt", 4194304, "throughput", 12114.52e6 * 8, false},
	{"osu-5.8-mbw-mr.txt", 1, "message_rate", 6220113.21, false},
	{"osu-7.4-bcast-full.txt", 1024, "max", 6.91, false},
	{"osu-7.4-tail.txt", 1, "p99", 3.10, false},
	{"osu-7.4-bw-tail.txt", 16, "throughput_p75", 220.74 * 8e6, false},
	{"osu-7.4-validation.txt", 8, "mean", 1.22, false},
};

static const struct bench_row *row_of(const struct bench_reading *reading, uint64_t size)
{
	for (size_t i = 0; i < reading->row_count; i++)
		if (reading->rows[i].size == size)
			return &reading->rows[i];
	return NULL;
}

static void figures_are_read(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;
		const struct bench_metric *m = NULL;
		const struct bench_row *row;

		print_message("%s %s\n", figures[i].file, figures[i].metric);
		assert_int_equal(parse_file(figures[i].file, NULL, &reading), 0);
		row = row_of(reading, figures[i].size);
		assert_non_null(row);
		m = bench_metric_find(row->metrics, row->metric_count, figures[i].metric);
		assert_non_null(m);
		if (figures[i].value != 0)
			assert_true(fabs(m->value - figures[i].value) <= 1e-9 * figures[i].value);
		else
			assert_true(m->value > 1e9); /* as it was recorded */
		assert_int_equal(m->from_samples, figures[i].from_samples);
	}
}

/* perftest's is wrong since 4.5-0.17, those of others are of what they dropped. */
static void no_tool_tells_the_deviation(void **state)
{
	static const char *const files[] = {"perftest-4.5-lat.txt", "sockperf-3.7-pp.txt",
		"netperf-2.7-rr.txt"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;

		assert_int_equal(parse_file(files[i], NULL, &reading), 0);
		for (size_t k = 0; k < reading->row_count; k++)
			assert_null(bench_metric_find(reading->rows[k].metrics,
				reading->rows[k].metric_count, "stdev"));
	}
}

static void sweeps_have_a_row_for_each_size(void **state)
{
	_cleanup_(bench_reading_freep) struct bench_reading *lat = NULL, *bw = NULL;

	assert_int_equal(parse_file("perftest-4.5-lat-all.txt", NULL, &lat), 0);
	assert_int_equal(lat->row_count, 23);
	assert_int_equal(parse_file("perftest-4.5-bw-all-frequency.txt", NULL, &bw), 0);
	assert_int_equal(bw->row_count, 23);
}

static void samples_stay_in_order_of_time(void **state)
{
	_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;

	assert_int_equal(parse_file("perftest-4.5-lat-unsorted.txt", NULL, &reading), 0);
	assert_int_equal(reading->rows[0].sample_count, 10);
	assert_true(reading->rows[0].samples[3] == 9.75);
	assert_true(reading->rows[0].samples[9] == 1.25);
}

static void versions_are_read(void **state)
{
	static const char *const files[][2] = {{"iperf3-3.12-udp.json", "3.12"},
		{"iperf3-3.18-stream.json", "3.18"}, {"sockperf-3.7-pp.txt", "3.7-no.git"},
		{"osu-7.4-tail.txt", "7.4"}};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;

		assert_int_equal(parse_file(files[i][0], NULL, &reading), 0);
		assert_string_equal(reading->version, files[i][1]);
	}
}

/* ---- what is refused ---- */

static const struct {
	const char *file;
	int error;
	const char *message;
} failures[] = {
	{"perftest-4.5-refused.txt", -EIO, "Couldn't connect to 10.0.0.2:18515"},
	{"perftest-4.5-completion.txt", -EIO, "Completion with error at client"},
	{"perftest-4.5-lat-nan.txt", -EIO, "'inf'"},
	{"perftest-4.5-lat-cycles.txt", -EBADMSG, "without -C"},
	{"perftest-4.5-cut.txt", -EBADMSG, "ends within a line"},
	{"perftest-4.5-missing.txt", -EBADMSG, "fewer figures"},
	{"perftest-4.5-json-bw.txt", -EBADMSG, "the unit of"},
	{"perftest-4.5-both-ends.txt", -EBADMSG, "line 50 belongs to a second run, or to the other end"},
	{"iperf3-3.12-refused.json", -EIO, "unable to connect to server: Connection refused"},
	{"iperf3-3.12-refused.txt", -EIO, "Connection refused"},
	{"iperf3-3.18-stream-error.json", -EIO, "server may have stopped running"},
	{"iperf3-3.12-null.json", -EIO, "not a number"},
	{"iperf3-3.12-zero.json", -EIO, "is 0"},
	{"iperf-2.1.8-refused.txt", -EIO, "tcp connect failed: Connection refused"},
	{"iperf-2.1.8-udp-no-reverse.txt", -EIO, "expected reverse connect did not occur"},
	{"sockperf-3.7-refused.txt", -EIO, "Is the server down?"},
	{"qperf-0.4.11-refused.txt", -EIO, "failed to connect"},
	{"qperf-0.4.11.txt", -EBADMSG, "one at a time"}, /* tcp_lat and udp_lat */
	{"netperf-2.7-no-server.txt", -EIO, "are you sure there is a netserver"},
	{"netperf-2.7-cut.txt", -EBADMSG, "truncated"},
	{"osu-7.4-invalid.txt", -EIO, "validation failed"},
	{"osu-5.8-abort.txt", -EIO, "not enough slots"},
};

static void failures_are_told_in_the_tools_text(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
		struct bench_reading *reading = NULL;

		print_message("%s\n", failures[i].file);
		assert_int_equal(parse_file(failures[i].file, NULL, &reading), failures[i].error);
		assert_null(reading);
		if (!strstr(vfctl_ctx_error(ctx), failures[i].message))
			fail_msg("%s: \"%s\"", failures[i].file, vfctl_ctx_error(ctx));
	}
}

/* Truncated output is rejected, or gives the same values: never different ones. */
static void what_is_cut_lies_not(void **state)
{
	static const char *const files[] = {"iperf3-3.12-udp.json", "netperf-2.7-rr.txt",
		"perftest-4.5-lat-unsorted.txt", "perftest-4.5-json.txt"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		size_t len;
		_free_ char *text = read_file(files[i], &len);
		char *begin = strchr(text, '\n') + 1;
		enum bench_tool tool;

		begin[-1] = '\0';
		assert_int_equal(bench_tool_parse(text, &tool), 0);
		for (size_t cut = 1; cut + 100 < len - (size_t)(begin - text); cut++) {
			_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;

			if (bench_parse(ctx, tool, NULL, begin, cut, &reading) == 0 &&
				tool != BENCH_NETPERF && strcmp(files[i], "perftest-4.5-json.txt") != 0)
				fail_msg("%s cut at %zu gave figures", files[i], cut);
		}
	}
}

static void nothing_is_no_output(void **state)
{
	struct bench_reading *reading = NULL;

	for (unsigned tool = 0; tool < BENCH_COMMAND; tool++) {
		assert_int_equal(bench_parse(ctx, tool, NULL, "", 0, &reading), -EIO);
		assert_non_null(strstr(vfctl_ctx_error(ctx), "printed nothing"));
		assert_int_equal(bench_parse(ctx, tool, NULL, "\0\xff\xfe[", 4, &reading), -EIO);
	}
}

/* OSU prints two digits after the point: a last line without its newline is whole with them. */
static void the_last_line_of_osu_needs_no_newline(void **state)
{
	static const struct {
		const char *line;
		int error;
	} rows[] = {{"  9.13", 0}, {"  9.1", -EBADMSG}, {"  9.", -EBADMSG}, {"  9", -EBADMSG},
		{"  9.13  9.10  9.20  1000", -EBADMSG}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;
		_free_ char *text = str_format("# OSU MPI Barrier Latency Test v5.3\n# Avg Latency(us)%s\n%s",
			strlen(rows[i].line) > 6 ? "   Min Latency(us)   Max Latency(us)  Iterations" : "",
			rows[i].line);

		if (bench_parse(ctx, BENCH_OSU, NULL, text, strlen(text), &reading) != rows[i].error)
			fail_msg("'%s'", rows[i].line);
	}
}

/* ---- a command of the user's own ---- */

static int value_of(const char *file, struct bench_extract extract, double *ret)
{
	_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;
	int r = parse_file(file, &extract, &reading);

	if (r == 0) {
		assert_string_equal(reading->rows[0].metrics[0].name, "value");
		assert_string_equal(reading->rows[0].metrics[0].unit, extract.unit);
		*ret = reading->rows[0].metrics[0].value;
	}
	return r;
}

static void commands_values_are_found(void **state)
{
	double value;

	assert_int_equal(value_of("command-json.txt",
		(struct bench_extract){.json_path = "a.b[1]", .unit = "us"}, &value), 0);
	assert_true(value == 2500);
	assert_int_equal(value_of("command-json.txt",
		(struct bench_extract){.json_path = "n", .unit = ""}, &value), 0);
	assert_true(value == 12);
	assert_int_equal(value_of("command-json.txt",
		(struct bench_extract){.json_path = "a.c"}, &value), -EIO);
	assert_int_equal(value_of("command-json.txt",
		(struct bench_extract){.json_path = "a..c"}, &value), -EINVAL);
	assert_int_equal(value_of("command-text.txt",
		(struct bench_extract){.regex = "per second: *([0-9.,]+)", .unit = "1/s"}, &value), 0);
	assert_true(value == 12345.6);
	assert_int_equal(value_of("command-text.txt",
		(struct bench_extract){.regex = "nowhere"}, &value), -EIO);
	assert_int_equal(value_of("command-text.txt",
		(struct bench_extract){.regex = "(per second"}, &value), -EINVAL);
	assert_int_equal(value_of("command-text.txt", (struct bench_extract){0}, &value), -EINVAL);
}

/* ---- figures ---- */

static const struct {
	const char *text;
	int error;
	double value;
} numbers[] = {{"0", 0, 0}, {"1.25", 0, 1.25}, {"-3", 0, -3}, {".5", 0, .5}, {"5.", 0, 5},
	{"0.1", 0, 0.1}, {"123456789.12345", 0, 123456789.12345},
	{"12345678901234567890", 0, 12345678901234567890.0}, {"1e3", 0, 1000}, {"2.5E-3", 0, .0025},
	{"1e400", -ERANGE, 0}, {"nan", -ERANGE, 0}, {"-nan", -ERANGE, 0}, {"inf", -ERANGE, 0},
	{"-inf", -ERANGE, 0}, {"", -EBADMSG, 0}, {"-", -EBADMSG, 0}, {".", -EBADMSG, 0},
	{"1.2.3", -EBADMSG, 0}, {"1x", -EBADMSG, 0}, {"0x10", -EBADMSG, 0}, {"1 2", -EBADMSG, 0},
	{"1,5", 0, 1.5}, {"1,25", 0, 1.25}, {"12345,678", 0, 12345.678}, {"0,125", 0, 0.125},
	{"1,250", -ENOTUNIQ, 0}, {"1,250.5", 0, 1250.5}, {"1,234,567", 0, 1234567},
	{"1,2,3", -EBADMSG, 0}, {",5", 0, .5}, {"1,5,", -EBADMSG, 0}};

static void numbers_are_read(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		double value = NAN;

		if (number_read(span_of(numbers[i].text), &value) != numbers[i].error)
			fail_msg("'%s'", numbers[i].text);
		if (numbers[i].error == 0)
			assert_true(value == numbers[i].value);
	}
}

/* Our own reader of plain digits is exact: it is strtod() to the last bit. */
static void numbers_are_exact(void **state)
{
	uint64_t random = 88172645463325252u;

	for (int i = 0; i < 300000; i++) {
		char text[40];
		double value;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		snprintf(text, sizeof(text), "%llu.%0*llu", (unsigned long long)(random % 1000000),
			1 + (int)(random >> 40) % 9, (unsigned long long)(random >> 20) % 10);
		assert_int_equal(number_read(span_of(text), &value), 0);
		if (value != strtod(text, NULL))
			fail_msg("'%s' is read as %.17g", text, value);
	}
}

/* A guess is right or missing. */
static void the_tool_is_found_by_its_text(void **state)
{
	const char *const names[] = {"perftest-4.5-lat.txt", "iperf3-3.12-text.txt",
		"iperf3-3.12-tcp-p2.json", "iperf-2.1.8-e.txt", "sockperf-3.7-pp.txt", "qperf-0.4.11.txt",
		"netperf-2.7-rr.txt", "osu-5.8-barrier.txt"};
	const char *const tools[] = {"ib_write_lat", "iperf3", "iperf3", "iperf", "sockperf", "qperf",
		"netperf", "osu_barrier"};
	DIR *dir = opendir(CORPUS);
	struct dirent *entry;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_free_ char *text = read_file(names[i], &len);
		const char *body = strchr(text, '\n') + 1, *guess = bench_guess(body, len - (size_t)(body - text));

		assert_non_null(guess);
		assert_string_equal(guess, tools[i]);
	}
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		_free_ char *text = entry->d_name[0] == '.' ? NULL : read_file(entry->d_name, &len);
		char *body = text ? strchr(text, '\n') : NULL;
		const char *guess = body ? bench_guess(body, len - (size_t)(body - text)) : NULL;
		enum bench_tool found, named;

		if (!guess)
			continue;
		*body = '\0';
		assert_int_equal(bench_tool_parse(guess, &found), 0);
		if (bench_tool_parse(text, &named) == 0)
			assert_int_equal(found, named);
	}
	closedir(dir);
	assert_null(bench_guess("42 us\n", 6));
	assert_null(bench_guess("tcp_lat:\nsockperf: x\n", 21));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tool_is_found_by_its_text),
		cmocka_unit_test(figures_are_read),
		cmocka_unit_test(no_tool_tells_the_deviation),
		cmocka_unit_test(sweeps_have_a_row_for_each_size),
		cmocka_unit_test(samples_stay_in_order_of_time),
		cmocka_unit_test(versions_are_read),
		cmocka_unit_test(failures_are_told_in_the_tools_text),
		cmocka_unit_test(what_is_cut_lies_not),
		cmocka_unit_test(nothing_is_no_output),
		cmocka_unit_test(the_last_line_of_osu_needs_no_newline),
		cmocka_unit_test(commands_values_are_found),
		cmocka_unit_test(numbers_are_read),
		cmocka_unit_test(numbers_are_exact),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
