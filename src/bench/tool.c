// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs that measure: how each is called, as server and as client. What they print is read
 * in parse_*.c. Versions and their differences: perftest 4.5 to 26.01, iperf3 3.12 and 3.18 (a
 * thread for each stream only from 3.16), iperf 2.1.8, sockperf 3.7, qperf 0.4.11, netperf 2.7.
 */
#include "bench/tool.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static void add_options(struct argv *a, const struct tool_run *run)
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
 * Both sides get the same arguments. -F: a changing CPU frequency is a warning of ours, no reason to
 * stop. Inlining is made equal by the plan's "inline": a VF may have none (as the paper's had).
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
	if (t->all_sizes)
		argv_add(a, "-a");
	if (run->size) {
		argv_add(a, "-s");
		argv_add(a, "%" PRIu64, run->size);
	}
	if (t->iterations) {
		argv_add(a, "-n");
		argv_add(a, "%" PRIu64, t->iterations);
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
	add_options(a, run);
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

/* As both iperfs are told it. */
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
	argv_add(a, "-1"); /* one client, then it ends */
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
		argv_add(a, "0"); /* as fast as it goes; its usual is 1 Mbit/s */
	}
	if (is_reverse(run))
		argv_add(a, "-R");
	if (is_both(run))
		argv_add(a, "--bidir");
	add_options(a, run);
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

static void iperf_client(struct argv *a, const struct tool_run *run)
{
	const struct bench_plan_test *t = run->test;

	argv_add(a, "iperf");
	argv_add(a, "-c");
	argv_add(a, "%s", run->address);
	argv_add(a, "-p");
	argv_add(a, "%u", run->port);
	argv_add(a, "-y");
	argv_add(a, "C");
	add_load(a, run);
	if (t->udp)
		argv_add(a, "-u");
	if (is_reverse(run))
		argv_add(a, "-R");
	add_options(a, run);
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
	/* The times of each message, on standard output behind the summary. */
	if (t->raw_samples) {
		argv_add(a, "--full-log");
		argv_add(a, "/dev/stdout");
	}
	add_options(a, run);
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
	argv_add(a, "-uu"); /* numbers in one unit */
	argv_add(a, "-t");
	argv_add(a, "%u", t->duration_s ? t->duration_s : 2);
	if (run->size) {
		argv_add(a, "-m");
		argv_add(a, "%" PRIu64, run->size);
	}
	add_options(a, run);
	argv_add(a, "%s", t->mode ? t->mode : t->udp ? "udp_lat" : "tcp_lat");
}

/* ---- netperf ---- */

static void netperf_server(struct argv *a, const struct tool_run *run)
{
	argv_add(a, "netserver");
	argv_add(a, "-D"); /* stays in the foreground */
	argv_add(a, "-p");
	argv_add(a, "%u", run->port);
}

#define NETPERF_TEST 32

/* Its own names are TCP_RR and the like; tcp-rr and tcp_rr mean the same. */
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
	add_options(a, run);
}

/* ---- OSU: mpirun starts both ends ---- */

/* mpirun takes a host's name alone: user and port are for ~/.ssh/config. */
static void add_hosts(struct argv *a, const struct tool_run *run)
{
	const char *host = run->server->where == ENDPOINT_SSH ? run->server->at : run->address;
	bool uri = host && str_starts(host, "ssh://"); /* ssh://[USER@]HOST:PORT */
	const char *user;

	if (!host)
		return;
	host += uri ? strlen("ssh://") : 0;
	user = strchr(host, '@');
	host = user ? user + 1 : host;
	argv_add(a, "--host");
	argv_add(a, "localhost,%.*s", (int)(uri ? strcspn(host, ":") : strlen(host)), host);
}

static void osu_client(struct argv *a, const struct tool_run *run)
{
	const struct bench_plan_test *t = run->test;

	argv_add(a, "mpirun");
	argv_add(a, "-np");
	argv_add(a, "%" PRIu64, run->threads > 1 ? run->threads : 2);
	add_hosts(a, run);
	add_options(a, run);
	argv_add(a, "%s", t->tool);
	if (run->size) {
		argv_add(a, "-m");
		argv_add(a, "%" PRIu64 ":%" PRIu64, run->size, run->size);
	}
	if (t->iterations) {
		argv_add(a, "-i");
		argv_add(a, "%" PRIu64, t->iterations);
	}
}

/* ---- the user's own ---- */

static bool is_variable(const char *at, const char *name)
{
	return str_starts(at, name);
}

/* {address} {port} {size} {threads} {device} in its words stand for those of the run. */
static void add_filled(struct argv *a, const char *word, const struct tool_run *run)
{
	const struct {
		const char *name;
		const char *text;
		uint64_t number;
	} values[] = {{"{address}", run->address, 0}, {"{device}", run->client->device, 0},
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
		add_filled(a, run->test->command[i], run);
}

/* ---- the table ---- */

#define LATENCY .goal = "p50", .higher_is_better = false
#define THROUGHPUT .goal = "throughput", .higher_is_better = true
#define PERFTEST .parser = BENCH_PERFTEST, .package = "perftest", .port = 18515,        \
	.version = {"--version"}, .server = perftest_server, .client = perftest_client
#define RDMA_ALL (TOOL_RDMA | TOOL_SIZE | TOOL_ITERATIONS | TOOL_DURATION)
#define OSU .parser = BENCH_OSU, .can = TOOL_SIZE | TOOL_ITERATIONS, .client = osu_client

static const struct tool tools[] = {
	{"ib_write_lat", PERFTEST, LATENCY, .can = RDMA_ALL},
	{"ib_read_lat", PERFTEST, LATENCY, .can = RDMA_ALL},
	{"ib_send_lat", PERFTEST, LATENCY, .can = RDMA_ALL},
	{"ib_atomic_lat", PERFTEST, LATENCY, .can = RDMA_ALL & ~TOOL_SIZE},
	{"ib_write_bw", PERFTEST, THROUGHPUT, .can = RDMA_ALL | TOOL_THREADS | TOOL_BOTH},
	{"ib_read_bw", PERFTEST, THROUGHPUT, .can = RDMA_ALL | TOOL_THREADS | TOOL_BOTH},
	{"ib_send_bw", PERFTEST, THROUGHPUT, .can = RDMA_ALL | TOOL_THREADS | TOOL_BOTH},
	{"ib_atomic_bw", PERFTEST, THROUGHPUT,
		.can = (RDMA_ALL | TOOL_THREADS | TOOL_BOTH) & ~TOOL_SIZE},
	{"iperf3", BENCH_IPERF3, "iperf3", THROUGHPUT, .port = 5201, .version = {"--version"},
		.can = TOOL_SIZE | TOOL_THREADS | TOOL_REVERSE | TOOL_BOTH | TOOL_DURATION | TOOL_UDP,
		.server = iperf3_server, .client = iperf3_client},
	{"iperf", BENCH_IPERF2, "iperf", THROUGHPUT, .port = 5001, .version = {"--version"},
		.can = TOOL_SIZE | TOOL_THREADS | TOOL_REVERSE | TOOL_DURATION | TOOL_UDP,
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
	{"osu_latency", OSU, .goal = "mean"},
	{"osu_bw", OSU, THROUGHPUT},
	{"osu_bibw", OSU, THROUGHPUT},
	{"osu_barrier", OSU, .goal = "mean"},
	{"osu_bcast", OSU, .goal = "mean"},
	{"osu_allreduce", OSU, .goal = "mean"},
	{"osu_allgather", OSU, .goal = "mean"},
	{"osu_alltoall", OSU, .goal = "mean"},
	{"command", BENCH_COMMAND, .goal = "value", .client = command_client,
		.can = TOOL_SIZE | TOOL_THREADS | TOOL_DURATION},
};

const struct tool *tool_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (str_eq(tools[i].name, name))
			return &tools[i];
	return NULL;
}

/* Of tools that measure the one or the other, by what they are asked. */
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

static int check_direction(struct vfctl_ctx *ctx, const struct tool *tool, const char *direction)
{
	unsigned need = str_eq(direction, "reverse") ? TOOL_REVERSE
		: str_eq(direction, "both")	     ? TOOL_BOTH
						     : 0;

	return (tool->can & need) == need ? 0
		: ctx_mistake(ctx, -EINVAL, "%s cannot measure the direction '%s'; for reverse exchange "
			"client and server", tool->name, direction);
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
		{TOOL_ITERATIONS, test->iterations > 0, "iterations"},
		{TOOL_DURATION, test->duration_s > 0, "duration"},
		{TOOL_UDP, test->udp, "transport: udp"},
		{TOOL_RDMA, test->events || test->all_sizes || test->inline_bytes != UINT32_MAX,
			"events, all-sizes and inline"},
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].asked && !(tool->can & rows[i].need))
			return ctx_mistake(ctx, -EINVAL, "test %s: %s does not take %s; remove the key",
				test->name, tool->name, rows[i].key);
	if (test->all_sizes && test->sizes.count)
		return ctx_mistake(ctx, -EINVAL, "test %s: all-sizes measures every size; remove size",
			test->name);
	for (size_t i = 0; test->directions && test->directions[i] && r == 0; i++)
		r = check_direction(ctx, tool, test->directions[i]);
	if (r == 0 && tool->server && !server->address)
		r = ctx_mistake(ctx, -EINVAL, "endpoint %s has no address, and %s needs one to reach it; "
			"write address: 10.0.0.2 there", server->name, tool->name);
	if (r == 0 && tool->can & TOOL_RDMA && (!client->rdma || !server->rdma))
		r = ctx_mistake(ctx, -EINVAL, "endpoint %s has no RDMA device; write rdma: mlx5_0 there "
			"(rdma link shows them)", client->rdma ? server->name : client->name);
	return r;
}
