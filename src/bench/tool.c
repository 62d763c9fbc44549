// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs that measure: their arguments as server and as client. parse_*.c parses their
 * output. Versions and their differences: perftest 4.5 to 26.01, iperf3 3.12 and 3.18 (a thread for
 * each stream only from 3.16), iperf 2.1.8, sockperf 3.7, qperf 0.4.11, netperf 2.7.
 */
#include "bench/tool.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

void tool_add_options(struct argv *a, const struct tool_run *run)
{
	for (size_t i = 0; run->test->options && run->test->options[i]; i++)
		argv_add(a, "%s", run->test->options[i]);
}

static bool is_reverse(const struct tool_run *run)
{
	return str_eq(run->direction, "reverse");
}

static bool is_both(const struct tool_run *run)
{
	return str_eq(run->direction, "both");
}

/* ---- perftest ---- */

static bool is_bandwidth(const char *program)
{
	return strstr(program, "_bw") != NULL;
}

/*
 * Both sides get the same arguments. -F: vfctl itself warns about a changing CPU frequency, which
 * need not stop the test. The plan's "inline" makes inlining equal: a VF may not support it (as in
 * the paper).
 */
static void add_perftest(struct argv *a, const struct tool_run *run,
	const struct endpoint *end)
{
	const struct bench_plan_test *t = run->test;

	argv_add(a, "%s", t->tool);
	argv_add(a, "-F");
	argv_add(a, "-p");
	argv_add(a, "%u", run->port);
	if (end->rdma) {
		argv_add(a, "-d");
		argv_add(a, "%s", end->rdma);
	}
	if (end->gid_index != UINT32_MAX) {
		argv_add(a, "-x");
		argv_add(a, "%u", end->gid_index);
	}
	if (end->ib_port) {
		argv_add(a, "-i");
		argv_add(a, "%u", end->ib_port);
	}
	if (t->all_sizes)
		argv_add(a, "-a");
	if (run->size) {
		argv_add(a, "-s");
		argv_add(a, "%" PRIu64, run->size);
	}
	if (run->iterations) {
		argv_add(a, "-n");
		argv_add(a, "%" PRIu64, run->iterations);
	}
	if (t->duration_s) {
		argv_add(a, "-D");
		argv_add(a, "%u", t->duration_s);
	}
	if (t->events)
		argv_add(a, "-e");
	if (t->inline_bytes != UINT32_MAX) {
		argv_add(a, "-I");
		argv_add(a, "%u", t->inline_bytes);
	}
	if (run->threads > 1) {
		argv_add(a, "-q");
		argv_add(a, "%" PRIu64, run->threads);
	}
	if (is_both(run))
		argv_add(a, "-b");
	if (is_bandwidth(t->tool))
		argv_add(a, "--report_gbits");
	else if (t->raw_samples)
		argv_add(a, "-U");
	tool_add_options(a, run);
}

static void perftest_server(struct argv *a, const struct tool_run *run)
{
	add_perftest(a, run, run->server);
}

static void perftest_client(struct argv *a, const struct tool_run *run)
{
	add_perftest(a, run, run->client);
	argv_add(a, "%s", run->address);
}

/* ---- iperf3 ---- */

/* The options that both iperfs share. */
static void add_load(struct argv *a, const struct tool_run *run)
{
	argv_add(a, "-t");
	argv_add(a, "%u", run->test->duration_s ? run->test->duration_s : 10);
	if (run->threads > 1) {
		argv_add(a, "-P");
		argv_add(a, "%" PRIu64, run->threads);
	}
	if (run->size) {
		argv_add(a, "-l");
		argv_add(a, "%" PRIu64, run->size);
	}
}

static void iperf3_server(struct argv *a, const struct tool_run *run)
{
	argv_add(a, "iperf3");
	argv_add(a, "-s");
	argv_add(a, "-1"); /* it ends after one client */
	argv_add(a, "-p");
	argv_add(a, "%u", run->port);
}

static void iperf3_client(struct argv *a, const struct tool_run *run)
{
	const struct bench_plan_test *t = run->test;

	argv_add(a, "iperf3");
	argv_add(a, "-c");
	argv_add(a, "%s", run->address);
	argv_add(a, "-p");
	argv_add(a, "%u", run->port);
	argv_add(a, "-J");
	add_load(a, run);
	if (t->udp) {
		argv_add(a, "-u");
		argv_add(a, "-b");
		argv_add(a, "0"); /* as fast as possible; the default is 1 Mbit/s */
	}
	if (is_reverse(run))
		argv_add(a, "-R");
	if (is_both(run))
		argv_add(a, "--bidir");
	tool_add_options(a, run);
}

/* ---- iperf 2 ---- */

static void iperf_server(struct argv *a, const struct tool_run *run)
{
	argv_add(a, "iperf");
	argv_add(a, "-s");
	argv_add(a, "-p");
	argv_add(a, "%u", run->port);
	if (run->test->udp)
		argv_add(a, "-u");
}

/*
 * The client's CSV of UDP lacks the server's report, so that what arrived is unknown: it is read
 * from text, in kilobits for its digits. Without -b UDP has 1 Mbit/s, and -b 0 is not valid; no
 * network has 1,000 Gbit/s.
 */
static void iperf_client(struct argv *a, const struct tool_run *run)
{
	const struct bench_plan_test *t = run->test;

	argv_add(a, "iperf");
	argv_add(a, "-c");
	argv_add(a, "%s", run->address);
	argv_add(a, "-p");
	argv_add(a, "%u", run->port);
	argv_add(a, t->udp ? "-f" : "-y");
	argv_add(a, t->udp ? "k" : "C");
	add_load(a, run);
	if (t->udp) {
		argv_add(a, "-u");
		argv_add(a, "-b");
		argv_add(a, "1000g");
	}
	if (is_reverse(run))
		argv_add(a, "-R");
	if (is_both(run))
		argv_add(a, "--full-duplex");
	tool_add_options(a, run);
}

/* ---- sockperf ---- */

static void sockperf_server(struct argv *a, const struct tool_run *run)
{
	argv_add(a, "sockperf");
	argv_add(a, "server");
	if (!run->test->udp)
		argv_add(a, "--tcp");
	argv_add(a, "-p");
	argv_add(a, "%u", run->port);
}

static void sockperf_client(struct argv *a, const struct tool_run *run)
{
	const struct bench_plan_test *t = run->test;

	argv_add(a, "sockperf");
	argv_add(a, "%s", t->mode ? t->mode : "ping-pong");
	argv_add(a, "-i");
	argv_add(a, "%s", run->address);
	argv_add(a, "-p");
	argv_add(a, "%u", run->port);
	if (!t->udp)
		argv_add(a, "--tcp");
	argv_add(a, "-t");
	argv_add(a, "%u", t->duration_s ? t->duration_s : 5);
	if (run->size) {
		argv_add(a, "-m");
		argv_add(a, "%" PRIu64, run->size);
	}
	/* The times of each message, on standard output after the summary. */
	if (t->raw_samples) {
		argv_add(a, "--full-log");
		argv_add(a, "/dev/stdout");
	}
	tool_add_options(a, run);
}

/* ---- qperf ---- */

static void qperf_server(struct argv *a, const struct tool_run *run)
{
	argv_add(a, "qperf");
	argv_add(a, "-lp");
	argv_add(a, "%u", run->port);
}

static void qperf_client(struct argv *a, const struct tool_run *run)
{
	const struct bench_plan_test *t = run->test;

	argv_add(a, "qperf");
	argv_add(a, "%s", run->address);
	argv_add(a, "-lp");
	argv_add(a, "%u", run->port);
	argv_add(a, "-uu"); /* numbers in a fixed unit */
	argv_add(a, "-t");
	argv_add(a, "%u", t->duration_s ? t->duration_s : 2);
	if (run->size) {
		argv_add(a, "-m");
		argv_add(a, "%" PRIu64, run->size);
	}
	tool_add_options(a, run);
	argv_add(a, "%s", t->mode ? t->mode : t->udp ? "udp_lat" : "tcp_lat");
}

/* ---- netperf ---- */

static void netperf_server(struct argv *a, const struct tool_run *run)
{
	argv_add(a, "netserver");
	argv_add(a, "-D"); /* stay in the foreground */
	argv_add(a, "-p");
	argv_add(a, "%u", run->port);
}

#define NETPERF_TEST 32

/* netperf's own names are TCP_RR and similar; tcp-rr and tcp_rr mean the same. */
static const char *netperf_test(const struct bench_plan_test *t, char buf[NETPERF_TEST])
{
	size_t i = 0;

	if (!t->mode)
		return t->udp ? "UDP_RR" : "TCP_RR";
	for (; t->mode[i] && i < NETPERF_TEST - 1; i++)
		buf[i] = t->mode[i] == '-' ? '_' : (char)toupper((unsigned char)t->mode[i]);
	buf[i] = '\0';
	return buf;
}

static void netperf_client(struct argv *a, const struct tool_run *run)
{
	const struct bench_plan_test *t = run->test;
	char buf[NETPERF_TEST];
	const char *test = netperf_test(t, buf);
	bool stream = strstr(test, "STREAM");

	argv_add(a, "netperf");
	argv_add(a, "-H");
	argv_add(a, "%s", run->address);
	argv_add(a, "-p");
	argv_add(a, "%u", run->port);
	argv_add(a, "-l");
	argv_add(a, "%u", t->duration_s ? t->duration_s : 10);
	argv_add(a, "-t");
	argv_add(a, "%s", test);
	argv_add(a, "-c");
	argv_add(a, "-C");
	argv_add(a, "--");
	if (run->size) {
		argv_add(a, stream ? "-m" : "-r");
		if (stream)
			argv_add(a, "%" PRIu64, run->size);
		else
			argv_add(a, "%" PRIu64 ",%" PRIu64, run->size, run->size);
	}
	argv_add(a, "-o");
	argv_add(a, "THROUGHPUT,THROUGHPUT_UNITS,MIN_LATENCY,P50_LATENCY,P90_LATENCY,P99_LATENCY,"
		    "MAX_LATENCY,MEAN_LATENCY,STDDEV_LATENCY,LOCAL_CPU_UTIL,REMOTE_CPU_UTIL");
	tool_add_options(a, run);
}

/* ---- commands of the user ---- */

static bool is_variable(const char *at, const char *name)
{
	return str_starts(at, name);
}

/* Replace {address} {port} {size} {threads} and {device}, which is @end's, in its words. */
static void add_filled(struct argv *a, const char *word, const struct tool_run *run,
	const struct endpoint *end)
{
	const struct {
		const char *name;
		const char *text;
		uint64_t number;
	} values[] = {{"{address}", run->address, 0}, {"{device}", end->device, 0},
		{"{port}", NULL, run->port}, {"{size}", NULL, run->size},
		{"{threads}", NULL, run->threads}};
	_buf_ struct buf out = {0};

	while (*word) {
		size_t i = 0;

		while (i < ARRAY_SIZE(values) && !is_variable(word, values[i].name))
			i++;
		if (i == ARRAY_SIZE(values)) {
			buf_add(&out, word++, 1);
			continue;
		}
		word += strlen(values[i].name);
		if (i < 2)
			buf_puts(&out, values[i].text ? values[i].text : "");
		else
			buf_printf(&out, "%" PRIu64, values[i].number);
	}
	a->failed |= out.failed;
	argv_add(a, "%s", out.data ? out.data : "");
}

static void command_client(struct argv *a, const struct tool_run *run)
{
	for (size_t i = 0; run->test->command[i]; i++)
		add_filled(a, run->test->command[i], run, run->client);
}

static void command_server(struct argv *a, const struct tool_run *run)
{
	for (size_t i = 0; run->test->server_command && run->test->server_command[i]; i++)
		add_filled(a, run->test->server_command[i], run, run->server);
}

/* ---- the table ---- */

#define LATENCY .goal = "p50", .higher_is_better = false
#define THROUGHPUT .goal = "throughput", .higher_is_better = true
#define PERFTEST .parser = BENCH_PERFTEST, .package = "perftest", .port = 18515,        \
	.version = {"--version"}, .server = perftest_server, .client = perftest_client
/*
 * perftest 4.5 to 26 (perftest_parameters.c): no events of writes, no inlining of reads and
 * atomics, one size of atomics, and queue pairs (threads) only in tests of bandwidth.
 */
#define RDMA (TOOL_RDMA | TOOL_ITERATIONS | TOOL_DURATION)
#define RDMA_SIZES (RDMA | TOOL_ALL_SIZES | TOOL_SIZE)
#define RDMA_WRITE (RDMA_SIZES | TOOL_INLINE)
#define RDMA_READ (RDMA_SIZES | TOOL_EVENTS)
#define RDMA_SEND (RDMA_SIZES | TOOL_EVENTS | TOOL_INLINE)
#define RDMA_ATOMIC (RDMA | TOOL_EVENTS)
#define RDMA_BW (TOOL_THREADS | TOOL_BOTH)
#define OSU .parser = BENCH_OSU, .client = osu_client
#define OSU_PAIR OSU, .can = TOOL_SIZE | TOOL_ALL_SIZES | TOOL_ITERATIONS
/* Threads are processes, half of them on each end. */
#define OSU_NODES (TOOL_THREADS | TOOL_PER_NODE)
#define OSU_ALL OSU_PAIR | OSU_NODES, .goal = "mean"

static const struct tool tools[] = {
	{"ib_write_lat", PERFTEST, LATENCY, .can = RDMA_WRITE},
	{"ib_read_lat", PERFTEST, LATENCY, .can = RDMA_READ},
	{"ib_send_lat", PERFTEST, LATENCY, .can = RDMA_SEND},
	{"ib_atomic_lat", PERFTEST, LATENCY, .can = RDMA_ATOMIC},
	{"ib_write_bw", PERFTEST, THROUGHPUT, .can = RDMA_WRITE | RDMA_BW},
	{"ib_read_bw", PERFTEST, THROUGHPUT, .can = RDMA_READ | RDMA_BW},
	{"ib_send_bw", PERFTEST, THROUGHPUT, .can = RDMA_SEND | RDMA_BW},
	{"ib_atomic_bw", PERFTEST, THROUGHPUT, .can = RDMA_ATOMIC | RDMA_BW},
	{"iperf3", BENCH_IPERF3, "iperf3", THROUGHPUT, .port = 5201, .version = {"--version"},
		.can = TOOL_SIZE | TOOL_THREADS | TOOL_REVERSE | TOOL_BOTH | TOOL_DURATION | TOOL_UDP,
		.server = iperf3_server, .client = iperf3_client},
	{"iperf", BENCH_IPERF2, "iperf", THROUGHPUT, .port = 5001, .version = {"--version"},
		.can = TOOL_SIZE | TOOL_THREADS | TOOL_REVERSE | TOOL_BOTH | TOOL_DURATION | TOOL_UDP,
		.udp_server = true, .server = iperf_server, .client = iperf_client},
	{"sockperf", BENCH_SOCKPERF, "sockperf", LATENCY, .port = 11111, .version = {"--version"},
		.can = TOOL_SIZE | TOOL_DURATION | TOOL_UDP, .udp_server = true,
		.server = sockperf_server, .client = sockperf_client},
	{"qperf", BENCH_QPERF, "qperf", .goal = "mean", .port = 19765, .version = {"--version"},
		.can = TOOL_SIZE | TOOL_DURATION | TOOL_UDP,
		.server = qperf_server, .client = qperf_client},
	{"netperf", BENCH_NETPERF, "netperf", LATENCY, .port = 12865, .version = {"-V"},
		.can = TOOL_SIZE | TOOL_DURATION | TOOL_UDP,
		.server = netperf_server, .client = netperf_client},
	{"osu_latency", OSU_PAIR, .goal = "mean"},
	{"osu_bw", OSU_PAIR, THROUGHPUT},
	{"osu_bibw", OSU_PAIR, THROUGHPUT},
	{"osu_barrier", OSU, .can = TOOL_ITERATIONS | OSU_NODES, .goal = "mean"},
	/* Its mean is the whole time, with the computation that overlaps. */
	{"osu_ibarrier", OSU, .can = TOOL_ITERATIONS | OSU_NODES, .goal = "mean"},
	{"osu_bcast", OSU_ALL},
	{"osu_allreduce", OSU_ALL},
	{"osu_allgather", OSU_ALL},
	{"osu_alltoall", OSU_ALL},
	{"command", BENCH_COMMAND, .goal = "value", .udp_server = true, .server = command_server,
		.client = command_client, .can = TOOL_SIZE | TOOL_THREADS | TOOL_DURATION | TOOL_UDP},
};

const struct tool *tool_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (str_eq(tools[i].name, name))
			return &tools[i];
	return NULL;
}

/* For tools that measure either: depends on the requested test. */
static bool measures_throughput(const struct tool *tool, const struct bench_plan_test *test)
{
	if (tool->parser == BENCH_QPERF)
		return test->mode && strstr(test->mode, "_bw");
	if (tool->parser == BENCH_NETPERF)
		return strstr(netperf_test(test, (char[NETPERF_TEST]){0}), "STREAM");
	return tool->higher_is_better;
}

const char *tool_goal(const struct tool *tool, const struct bench_plan_test *test)
{
	if (test->goal)
		return test->goal;
	return measures_throughput(tool, test) ? "throughput" : tool->goal;
}

static bool is_rate(const char *goal)
{
	return str_starts(goal, "throughput") || str_eq(goal, "message_rate") ||
		str_eq(goal, "operations");
}

bool tool_higher_is_better(const struct tool *tool, const struct bench_plan_test *test)
{
	return tool->parser == BENCH_COMMAND ? test->higher_is_better
					     : is_rate(tool_goal(tool, test));
}

bool tool_listens_udp(const struct tool *tool, const struct bench_plan_test *test)
{
	return tool->udp_server && test->udp;
}

unsigned tool_seconds(const struct bench_plan_test *test)
{
	return test->duration_s ? test->duration_s : 10;
}

static int check_direction(struct vfctl_ctx *ctx, const struct tool *tool,
	const struct bench_plan_test *test, const char *direction)
{
	bool both = str_eq(direction, "both");
	unsigned need = str_eq(direction, "reverse") ? TOOL_REVERSE : both ? TOOL_BOTH : 0;

	/* With --full-duplex the server of iperf 2.1 does not report what arrived. */
	if (both && test->udp && tool->parser == BENCH_IPERF2)
		return ctx_usage_error(ctx, -EINVAL, "test %s: iperf does not report what arrives over UDP "
			"in both directions at once; use tool: iperf3", test->name);
	return (tool->can & need) == need ? 0
		: ctx_usage_error(ctx, -EINVAL, "%s cannot measure the direction '%s'; for reverse exchange "
			"client and server", tool->name, direction);
}

#define PERFTEST_ITERATIONS_MIN 5

/* What perftest does not combine. */
static int check_perftest(struct vfctl_ctx *ctx, const struct bench_plan_test *t)
{
	if (t->duration_s && (t->all_sizes || t->events))
		return ctx_usage_error(ctx, -EINVAL, "test %s: perftest does not combine duration with %s; "
			"use iterations", t->name, t->all_sizes ? "all-sizes" : "events");
	for (size_t i = 0; i < t->iterations.count; i++)
		if (t->iterations.v[i] < PERFTEST_ITERATIONS_MIN)
			return ctx_usage_error(ctx, -EINVAL, "test %s: perftest needs at least %d iterations",
				t->name, PERFTEST_ITERATIONS_MIN);
	return 0;
}

/* There are two ends. */
static int check_processes(struct vfctl_ctx *ctx, const struct bench_plan_test *t)
{
	uint64_t most = 0, least = UINT64_MAX;

	for (size_t i = 0; i < t->threads.count; i++)
		most = t->threads.v[i] > most ? t->threads.v[i] : most;
	for (size_t i = 0; i < t->per_node.count; i++)
		least = t->per_node.v[i] < least ? t->per_node.v[i] : least;
	return (most + 1) / 2 <= least ? 0
		: ctx_usage_error(ctx, -EINVAL, "test %s: %" PRIu64 " processes (threads) do not fit on two "
			"ends with processes-per-node: %" PRIu64 "; split the test", t->name, most, least);
}

int tool_check(struct vfctl_ctx *ctx, const struct tool *tool, const struct bench_plan_test *test,
	const struct endpoint *client, const struct endpoint *server)
{
	const struct {
		unsigned need;
		bool asked;
		const char *key;
	} rows[] = {
		{TOOL_SIZE, test->sizes.count > 0, "size"},
		{TOOL_THREADS, test->threads.count > 1 ||
			(test->threads.count && test->threads.v[0] > 1), "threads"},
		{TOOL_PER_NODE, test->per_node.count > 0, "processes-per-node"},
		{TOOL_ITERATIONS, test->iterations.count > 0, "iterations"},
		{TOOL_DURATION, test->duration_s > 0, "duration"},
		{TOOL_UDP, test->udp, "transport: udp"},
		{TOOL_ALL_SIZES, test->all_sizes, "all-sizes"},
		{TOOL_EVENTS, test->events, "events"},
		{TOOL_INLINE, test->inline_bytes != UINT32_MAX, "inline"},
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].asked && !(tool->can & rows[i].need))
			return ctx_usage_error(ctx, -EINVAL, "test %s: %s does not take %s; remove the key",
				test->name, tool->name, rows[i].key);
	if (test->all_sizes && test->sizes.count)
		return ctx_usage_error(ctx, -EINVAL, "test %s: all-sizes measures every size; remove size",
			test->name);
	r = check_processes(ctx, test);
	if (r == 0 && tool->parser == BENCH_PERFTEST)
		r = check_perftest(ctx, test);
	for (size_t i = 0; test->directions && test->directions[i] && r == 0; i++)
		r = check_direction(ctx, tool, test, test->directions[i]);
	if (r == 0 && tool->server && (!test->command || test->server_command) && !server->address)
		r = ctx_usage_error(ctx, -EINVAL, "endpoint %s has no address, and %s needs one to reach it; "
			"write address: 10.0.0.2 there", server->name, tool->name);
	if (r == 0 && tool->can & TOOL_RDMA && (!client->rdma || !server->rdma))
		r = ctx_usage_error(ctx, -EINVAL, "endpoint %s has no RDMA device; write rdma: mlx5_0 there "
			"(rdma link shows them)", client->rdma ? server->name : client->name);
	return r;
}
