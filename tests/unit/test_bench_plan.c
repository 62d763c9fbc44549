// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans of measurements: what is read, what is refused, and the order of what is run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "bench/plan_draft.h"
#include "bench/measure.h"
#include "bench/run.h"
#include "bench/stats.h"
#include "remote/settings.h"
#include "remote/tunnel.h"

#define ENDS "endpoints:\n  a: {netns: left, device: ens1}\n  b: {netns: right, device: ens2, "   \
	     "address: 10.9.0.2}\n"
#define RDMA_ENDS "endpoints:\n  a: {netns: left, device: ens1, rdma: mlx5_0, gid-index: 3, ib-port: 2}\n" \
		  "  b: {netns: right, device: ens2, rdma: mlx5_1, address: 10.9.0.2}\n"
#define TEST "tests:\n  - {tool: sockperf, transport: udp, size: 64, duration: 1s}\n"
#define PLAN ENDS "configurations:\n  now: {}\n" TEST

static struct vfctl_ctx *ctx;

static int try(const char *text, struct bench_plan **ret)
{
	return bench_plan_parse(ctx, "p.yaml", text, strlen(text), ret);
}

static struct bench_plan *parse(const char *text)
{
	struct bench_plan *plan = NULL;

	if (try(text, &plan) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return plan;
}

static void the_smallest_plan_has_the_usual(void **state)
{
	_cleanup_(bench_plan_freep) struct bench_plan *p = parse(PLAN);

	assert_string_equal(p->name, "bench");
	assert_int_equal(p->trials, 15);
	assert_int_equal(p->warmup, 1);
	assert_true(p->alpha == 0.05 && p->noise == 0.01);
	assert_int_equal(p->endpoint_count, 2);
	assert_int_equal(p->endpoints[0].where, ENDPOINT_NETNS);
	assert_true(p->endpoints[0].gid_index == UINT32_MAX);
	assert_string_equal(p->configurations[0].client, "a");
	assert_string_equal(p->configurations[0].server, "b");
	assert_string_equal(p->tests[0].name, "sockperf");
	assert_true(p->tests[0].inline_bytes == UINT32_MAX);
}

static void every_key_is_read(void **state)
{
	_cleanup_(bench_plan_freep) struct bench_plan *p = parse(
		"name: all of it\ntrials: 3\nwarmup: 0\nseed: 9\ntimeout: 2m\nalpha: 0.01\nnoise: 2%\n"
		"baseline: [wg, fast]\nendpoints:\n"
		"  vm: {guest: web, rdma: mlx5_0, gid-index: 3, ib-port: 2, cpus: 0-3}\n"
		"  peer: {ssh: 'ssh://root@node2:2222', ssh_config: /etc/ssh/bench, address: fd00::2, "
		"device: ib0}\n"
		"configurations:\n"
		"  fast: {client: vm, server: peer, server-settings: {rx-usecs: 0, adaptive-rx: off, "
		"ipoib-mode: connected, governor: performance, mtu: 65520}}\n"
		"  wg: {client: vm, server: peer, wireguard: {mtu: 1280}}\n"
		"tests:\n"
		"  - {name: lat, tool: ib_send_lat, size: [2, 4KiB], iterations: [1000, 100], events: on, "
		"inline: 0, options: ['--use-srq'], port: 2000}\n"
		"  - {name: bw, tool: ib_write_bw, all-sizes: on, threads: [1, 4], "
		"direction: [forward, both]}\n"
		"  - {name: mine, tool: command, command: [app, '{address}'], json-path: a.b, unit: ms, "
		"goal: value, better: higher}\n"
		"  - {tool: netperf, mode: UDP_RR, transport: udp, duration: 3s, raw-samples: on}\n");

	assert_true(p->noise == 0.02 && p->alpha == 0.01);
	assert_int_equal(p->timeout_s, 120);
	assert_string_equal(p->baselines[0], "wg");
	assert_true(bench_plan_is_baseline(p, "fast", 2) && !bench_plan_is_baseline(p, "fast", 1));
	assert_int_equal(p->endpoints[1].where, ENDPOINT_SSH);
	assert_string_equal(p->endpoints[1].ssh_config, "/etc/ssh/bench");
	assert_int_equal(p->configurations[0].of_server.count, 5);
	assert_string_equal(p->configurations[0].of_server.v[1].value, "off");
	assert_int_equal(p->configurations[1].wireguard_mtu, 1280);
	assert_true(p->tests[0].sizes.v[1] == 4096);
	assert_true(p->tests[0].iterations.count == 2 && p->tests[0].iterations.v[1] == 100);
	assert_int_equal(p->endpoints[0].ib_port, 2);
	assert_true(p->tests[0].events && p->tests[0].inline_bytes == 0);
	assert_true(p->tests[2].higher_is_better);
	assert_string_equal(p->tests[1].directions[1], "both");
}

static void what_cannot_be_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{"trials: 3\n", "endpoints: the key is missing"},
		{"endpoints: {}\n", "at least one"},
		{"endpoints: {'a b': {}}\n", "cannot be a name"},
		{"endpoints: {a: {netns: x, ssh: y}}\n", "is in one place"},
		{"endpoints: {a: {netns: '-x'}}\n", "is not the name of an endpoint"},
		{"endpoints: {a: {device: 'a;b'}}\n", "is not the name of an endpoint"},
		{"endpoints: {a: {ssh: 'ssh://-oProxyCommand=x'}}\n", "is not the name of an endpoint"},
		{"endpoints: {a: {cpus: none}}\n", "list of CPUs"},
		{ENDS "configurations: {now: {client: c}}\n" TEST, "endpoint 'c' is not in this plan"},
		{"endpoints: {a: {}, b: {}, c: {}}\nconfigurations: {now: {client: a}}\n" TEST,
			"server: the key is missing"},
		{"endpoints: {a: {}, b: {address: x}}\nconfigurations: {n: {settings: {mtu: 1500}}}\n" TEST,
			"has no device"},
		{ENDS "configurations: {n: {settings: {mtu: 1500}, client-settings: {mtu: 900}}}\n" TEST,
			"for both ends"},
		{ENDS "configurations: {n: {settings: {mtu: 1}}}\n" TEST, "68 to 65520"},
		{ENDS "configurations: {n: {settings: {rx-usec: 1}}}\n" TEST, "rx-usecs"},
		{"baseline: x\n" PLAN, "configuration 'x' is not in this plan"},
		{"baseline: [now, x]\n" PLAN, "configuration 'x' is not in this plan"},
		{"baseline: [now, now]\n" PLAN, "now occurs twice"},
		{"baseline: []\n" PLAN, "is empty"},
		{"alpha: 80%\n" PLAN, "0 to 50%"},
		{"noise: nan\n" PLAN, "0 to 50%"},
		{ENDS "configurations: {n: {}}\ntests: []\n", "is empty"},
		{ENDS "configurations: {n: {}}\ntests: [{size: 1}]\n", "name the tool"},
		{ENDS "configurations: {n: {}}\ntests: [{tool: ping}]\n", "ib_write_lat"},
		{ENDS "configurations: {n: {}}\ntests: [{tool: command}]\n", "command: the key is missing"},
		{ENDS "configurations: {n: {}}\ntests: [{tool: command, command: [x]}]\n", "either regex or json-path"},
		{ENDS "configurations: {n: {}}\ntests: [{tool: iperf3, regex: x}]\n", "tool: command"},
		{ENDS "configurations: {n: {}}\ntests: [{tool: iperf3, launcher: [mpirun]}]\n", "launcher: "},
		{ENDS "configurations: {n: {launcher: [mpirun]}}\n" TEST, "configurations.n.launcher: no test"},
		{"requires: []\n" PLAN, "requires"},
		{ENDS "configurations: {n: {}}\ntests: [{tool: command, command: [x], regex: x, server-command: "
			"[y]}]\n", "port: the key is missing"},
		{ENDS "configurations: {n: {}}\ntests: [{tool: iperf3, size: [1, 1]}]\n", "twice"},
		{ENDS "configurations: {n: {}}\ntests: [{tool: iperf3, size: -1}]\n", "must be 1 to"},
		{ENDS "configurations: {n: {}}\ntests: [{tool: iperf3, size: 64KB}]\n", "4KiB"},
		{ENDS "configurations: {n: {}}\ntests: [{tool: iperf3}, {tool: iperf3}]\n",
			"rename one"},
		{ENDS "configurations: {n: {}}\ntests: [{tool: ib_send_lat, iterations: 1, duration: 1s}]\n",
			"not both"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bench_plan *plan = NULL;

		if (try(rows[i].text, &plan) == 0)
			fail_msg("taken: %s", rows[i].text);
		if (!strstr(vfctl_ctx_error(ctx), rows[i].message) ||
			strncmp(vfctl_ctx_error(ctx), "p.yaml:", 7) != 0)
			fail_msg("%s: %s", rows[i].text, vfctl_ctx_error(ctx));
	}
}

static int open_text(const char *text, uint64_t seed, struct bench **ret)
{
	return bench_new(ctx, parse(text), text, &(struct bench_how){.seed = seed}, ret);
}

static void a_tool_is_asked_only_for_what_it_can(void **state)
{
	static const struct {
		const char *tests, *message;
	} rows[] = {
		{"[{tool: sockperf, threads: 2}]", "does not take threads"},
		{"[{tool: sockperf, iterations: 2}]", "does not take iterations"},
		{"[{tool: qperf, direction: both}]", "cannot measure the direction"},
		{"[{tool: osu_bw, threads: 4}]", "does not take threads"},
		{"[{tool: osu_latency, processes-per-node: 2}]", "does not take processes-per-node"},
		{"[{tool: osu_bcast, threads: [4, 16], processes-per-node: [4, 8]}]", "do not fit"},
		{"[{tool: ib_send_lat}]", "has no RDMA device"},
		{"[{tool: ib_atomic_lat, size: 8}]", "does not take size"},
		{"[{tool: ib_atomic_bw, all-sizes: on}]", "does not take all-sizes"},
		{"[{tool: ib_read_lat, inline: 0}]", "does not take inline"},
		{"[{tool: ib_write_bw, events: on}]", "does not take events"},
		{"[{tool: ib_send_bw, all-sizes: on, duration: 1s}]", "does not combine duration with all-sizes"},
		{"[{tool: ib_read_bw, events: on, duration: 1s}]", "does not combine duration with events"},
		{"[{tool: ib_send_lat, iterations: [1000, 4]}]", "at least 5 iterations"},
		{"[{tool: iperf, transport: udp, direction: [forward, both]}]", "use tool: iperf3"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_free_ char *text = str_format("%sconfigurations: {n: {}}\ntests: %s\n", ENDS,
			rows[i].tests);
		struct bench *b = NULL;

		assert_int_equal(open_text(text, 1, &b), -EINVAL);
		if (!strstr(vfctl_ctx_error(ctx), rows[i].message))
			fail_msg("%s: %s", rows[i].tests, vfctl_ctx_error(ctx));
	}
}

static int by_ending(const struct dirent *entry)
{
	return strstr(entry->d_name, ".yaml") != NULL;
}

static char *read_plan(const char *name)
{
	_free_ char *path = str_format(VFCTL_SOURCE_DIR "/docs/bench/%s", name);
	FILE *file = fopen(path, "r");
	char text[8192];
	size_t len;

	assert_non_null(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	return strdup(text);
}

/* The shipped plans are valid, request nothing that a tool does not support, and reach a verdict. */
static void every_plan_of_the_documents_can_be_run(void **state)
{
	struct dirent **names;
	int count = scandir(VFCTL_SOURCE_DIR "/docs/bench", &names, by_ending, alphasort);

	(void)state;
	assert_true(count >= 11);
	for (int i = 0; i < count; i++) {
		_cleanup_(bench_freep) struct bench *b = NULL;
		_free_ char *text = read_plan(names[i]->d_name);

		if (open_text(text, 1, &b) < 0)
			fail_msg("%s: %s", names[i]->d_name, vfctl_ctx_error(ctx));
		assert_true(b->turn_count > 0);
		assert_true(b->plan->trials >= trials_needed(true, b->plan->alpha));
		free(names[i]);
	}
	free(names);
}

/* A smoke run has one trial of everything, within five minutes besides the user's own commands. */
static void a_quick_run_takes_minutes(void **state)
{
	static const struct vfctl_bench_plan_options quick = {.quick = true};
	static const char *const names[] = {"acceptance.yaml", "ipoib-modes.yaml", "latency-moderation.yaml",
		"mpi.yaml", "mpi-completion.yaml", "throughput-threads.yaml", "verbs-latency.yaml", "wireguard.yaml"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(vfctl_bench_closep) struct vfctl_bench *b = NULL, *whole = NULL;
		_free_ char *text = read_plan(names[i]);

		assert_int_equal(vfctl_bench_open(ctx, names[i], text, strlen(text), &quick, &b), 0);
		assert_int_equal(vfctl_bench_open(ctx, names[i], text, strlen(text), NULL, &whole), 0);
		if (vfctl_bench_seconds(b) > 300)
			fail_msg("%s: %u s", names[i], vfctl_bench_seconds(b));
		assert_true(vfctl_bench_turn_count(b) * 6 < vfctl_bench_turn_count(whole));
		assert_true(vfctl_bench_seconds(b) * 6 < vfctl_bench_seconds(whole));
	}
}

/* ---- order ---- */

#define SWEEP ENDS "trials: 4\nwarmup: 1\nconfigurations:\n  a: {}\n  b: {}\ntests:\n"             \
		   "  - {tool: iperf3, size: [64, 1024], threads: [1, 2], direction: [forward, reverse]}\n"

static void every_round_has_everything_once(void **state)
{
	_cleanup_(bench_freep) struct bench *b = NULL;
	size_t each = 2 * 8;

	assert_int_equal(open_text(SWEEP, 3, &b), 0);
	assert_int_equal(b->turn_count, 5 * each);
	for (size_t round = 0; round < 5; round++) {
		bool seen[2][8] = {{false}};

		for (size_t i = 0; i < each; i++) {
			const struct bench_turn *t = &b->turns[round * each + i];

			assert_int_equal(t->trial, round);
			assert_false(seen[t->configuration][t->point]);
			seen[t->configuration][t->point] = true;
		}
	}
}

static bool same_order(const struct bench *a, const struct bench *b)
{
	for (size_t i = 0; i < a->turn_count; i++)
		if (a->turns[i].configuration != b->turns[i].configuration ||
			a->turns[i].point != b->turns[i].point)
			return false;
	return true;
}

static void the_seed_is_the_order(void **state)
{
	_cleanup_(bench_freep) struct bench *a = NULL, *again = NULL, *other = NULL;

	assert_int_equal(open_text(SWEEP, 3, &a), 0);
	assert_int_equal(open_text(SWEEP, 3, &again), 0);
	assert_int_equal(open_text(SWEEP, 4, &other), 0);
	assert_true(same_order(a, again));
	assert_false(same_order(a, other));
}

/* ---- versions of OSU ---- */

static void osu_programs_get_what_their_version_has(void **state)
{
	static const struct {
		const char *usage;
		unsigned options;
		const char *line;
	} rows[] = {
		{"Usage: osu_latency [options]\n  -x ITER       warmup\n  -i ITER       number of iterations\n",
			OSU_KNOWN, "mpirun -np 2 --host localhost,h osu_latency"},
		{"options:\n  -m SIZE  set maximum\n  -i ITER  set iterations\n  -f       print full\n",
			OSU_KNOWN | OSU_SIZE | OSU_FULL, "mpirun -np 2 --host localhost,h osu_latency -f -m 64"},
		{"Options:\n  -m, --message-size        [MIN:]MAX - set the minimum\n  -i, --iterations  ITER\n"
		 "  -z, --tail-lat            Print tail latencies.\n",
			OSU_KNOWN | OSU_SIZE | OSU_RANGE | OSU_TAIL,
			"mpirun -np 2 --host localhost,h osu_latency -z -m 64:64"},
		{"  -m [MIN:]MAX  set\n  -i ITER\n  -z, --tail-lat  Print\n  -z<1-99,1-99,1-99..> Comma\n",
			OSU_KNOWN | OSU_SIZE | OSU_RANGE | OSU_TAIL | OSU_TAIL_LIST,
			"mpirun -np 2 --host localhost,h osu_latency -z50,90,95,99 -m 64:64"},
		{"error while loading shared libraries: libmpi.so.40\n", 0,
			"mpirun -np 2 --host localhost,h osu_latency -m 64:64"},
	};
	const struct endpoint end = {.name = (char *)"s"};
	struct bench_plan_test test = {.tool = (char *)"osu_latency"};
	char version[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(argv_clear) struct argv argv = {0};
		_free_ char *line = NULL;

		assert_int_equal(osu_options(rows[i].usage), rows[i].options);
		osu_client(&argv, &(struct tool_run){.test = &test, .client = &end, .server = &end,
			.address = "h", .size = 64, .threads = 1, .osu = rows[i].options});
		line = argv_text(argv.v);
		assert_string_equal(line, rows[i].line);
	}
	osu_version("\n# OSU MPI-CUDA Latency Test v7.4\n# Size", version, sizeof(version));
	assert_string_equal(version, "7.4");
	osu_version("osu_latency: invalid option -- 'v' v9", version, sizeof(version));
	assert_string_equal(version, "");
}

/* ---- command lines ---- */

static void command_lines_are_as_the_tools_want_them(void **state)
{
	static const struct {
		const char *tests, *client, *server;
	} rows[] = {
		{"{tool: sockperf, transport: udp, size: 64, duration: 1s}",
			"sockperf ping-pong -i 10.9.0.2 -p 11111 -t 1 -m 64", "sockperf server -p 11111"},
		{"{tool: sockperf, raw-samples: on}",
			"sockperf ping-pong -i 10.9.0.2 -p 11111 --tcp -t 5 --full-log /dev/stdout",
			"sockperf server --tcp -p 11111"},
		{"{tool: iperf3, threads: 4, direction: both, duration: 2s, port: 7}",
			"iperf3 -c 10.9.0.2 -p 7 -J -t 2 -P 4 --bidir", "iperf3 -s -1 -p 7"},
		{"{tool: iperf, direction: reverse, transport: udp}",
			"iperf -c 10.9.0.2 -p 5001 -f k -t 10 -u -b 1000g -R", "iperf -s -p 5001 -u"},
		{"{tool: osu_latency, size: 64, iterations: 9}",
			"mpirun -np 2 --host localhost,10.9.0.2 osu_latency -m 64:64 -i 9", NULL},
		{"{tool: osu_alltoall, threads: 5, launcher: [mpirun, -x, UCX_TLS=rc], options: [-z]}",
			"mpirun -x UCX_TLS=rc -np 5 --host localhost:3,10.9.0.2:2 osu_alltoall -f -z", NULL},
		{"{tool: osu_barrier, processes-per-node: 8}",
			"mpirun -np 16 --host localhost:8,10.9.0.2:8 osu_barrier -f", NULL},
		{"{tool: osu_allreduce, threads: 4, processes-per-node: 3, size: 8}",
			"mpirun -np 4 --host localhost:3,10.9.0.2:1 osu_allreduce -f -m 8:8", NULL},
		{"{tool: osu_allreduce, threads: 4, processes-per-node: [4, 8]}",
			"mpirun -np 4 --host localhost:4 osu_allreduce -f", NULL},
		{"{tool: osu_ibarrier, processes-per-node: 1, launcher: [mpirun, -x, A=b]}",
			"mpirun -x A=b -np 2 --host localhost,10.9.0.2 osu_ibarrier -f", NULL},
		{"{tool: iperf, direction: both, threads: 2}",
			"iperf -c 10.9.0.2 -p 5001 -y C -t 10 -P 2 --full-duplex", "iperf -s -p 5001"},
		{"{tool: command, command: [app, '{address}'], server-command: [srv, -l, '{port}'], "
		 "regex: x, port: 9}", "app 10.9.0.2", "srv -l 9"},
		{"{tool: ib_send_bw, all-sizes: on, threads: 4, iterations: 1000}",
			"ib_send_bw -F -p 18515 -d mlx5_0 -x 3 -i 2 -a -n 1000 -q 4 --report_gbits 10.9.0.2",
			"ib_send_bw -F -p 18515 -d mlx5_1 -a -n 1000 -q 4 --report_gbits"},
		{"{tool: qperf, mode: tcp_bw}", "qperf 10.9.0.2 -lp 19765 -uu -t 2 tcp_bw",
			"qperf -lp 19765"},
		{"{tool: command, command: [app, '--to={address}:{port}', '{size}', 'it''s'], size: 64, "
		 "regex: '([0-9]+)', port: 9}",
			"app --to=10.9.0.2:9 64 'it'\\''s'", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_free_ char *text = str_format("%sconfigurations: {n: {}}\ntests: [%s]\n", RDMA_ENDS,
			rows[i].tests);
		_cleanup_(bench_freep) struct bench *b = NULL;
		_free_ char *client = NULL, *server = NULL;

		assert_int_equal(open_text(text, 1, &b), 0);
		assert_int_equal(bench_commands(b, 0, &client, &server), 0);
		assert_string_equal(client, rows[i].client);
		if (rows[i].server)
			assert_string_equal(server, rows[i].server);
		else
			assert_null(server);
	}
}

static void the_launcher_of_a_configuration_comes_first(void **state)
{
	static const char text[] = ENDS "configurations:\n  n: {}\n"
		"  b: {launcher: [mpirun, -genv, MV2_USE_BLOCKING, '1']}\nseed: 1\nwarmup: 0\n"
		"tests: [{tool: osu_barrier, launcher: [mpirun, -x, A=b]}]\n";
	static const char *const lines[] = {"mpirun -x A=b -np 2 --host localhost,10.9.0.2 osu_barrier -f",
		"mpirun -genv MV2_USE_BLOCKING 1 -np 2 --host localhost,10.9.0.2 osu_barrier -f"};
	_cleanup_(bench_freep) struct bench *b = NULL;

	(void)state;
	assert_int_equal(open_text(text, 1, &b), 0);
	for (size_t i = 0; i < 2; i++) {
		_free_ char *client = NULL, *server = NULL;

		assert_int_equal(bench_commands(b, i, &client, &server), 0);
		assert_string_equal(client, lines[b->turns[i].configuration]);
	}
}

/* ---- places in the journal ---- */

static void a_place_reads_back_from_its_text(void **state)
{
	static const struct endpoint ends[] = {
		{.where = ENDPOINT_HERE, .device = (char *)"ens1"},
		{.where = ENDPOINT_NETNS, .at = (char *)"a", .device = (char *)"ens1"},
		{.where = ENDPOINT_SSH, .at = (char *)"ssh://u@h:22", .ssh_config = (char *)"/etc/x",
			.device = (char *)"ib0"},
		{.where = ENDPOINT_GUEST, .at = (char *)"web", .device = (char *)"eth0"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		_free_ char *target = settings_target(&ends[i]), *text = NULL;
		struct endpoint back;

		assert_int_equal(settings_target_parse(ctx, target, &back, &text), 0);
		assert_int_equal(back.where, ends[i].where);
		assert_string_equal(back.at, ends[i].at ? ends[i].at : "");
		assert_string_equal(back.device, ends[i].device);
		assert_int_equal(back.ssh_config != NULL, ends[i].ssh_config != NULL);
		if (back.ssh_config)
			assert_string_equal(back.ssh_config, ends[i].ssh_config);
	}
}

static void a_text_that_is_no_place_is_refused(void **state)
{
	static const char *const texts[] = {"", "here", "here:", "x/y", "/:", "moon:a/ens1"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct endpoint back;
		char *text = NULL;

		assert_int_equal(settings_target_parse(ctx, texts[i], &back, &text), -EBADMSG);
	}
}

/* The text that a result directory keeps is the same plan, whatever is in its values. */
static void a_plan_of_options_reads_back_from_its_text(void **state)
{
	static const char odd[] = "awk '{ print \"a: b\" }' # no comment \\ \xc3\xa9";
	_cleanup_(bench_plan_freep) struct bench_plan *made = NULL, *again = NULL;
	const struct doc_node *root = NULL;
	struct plan_draft *d = NULL;
	_free_ char *text = NULL;

	assert_int_equal(plan_draft_new(ctx, &d), 0);
	plan_draft_put(d, "null", "name", NULL);
	plan_draft_put(d, "ens1", "endpoints", "client", "device", NULL);
	plan_draft_put(d, "fe80::1", "endpoints", "server", "address", NULL);
	plan_draft_put(d, NULL, "configurations", "as-it-is", NULL);
	plan_draft_put(d, "off", "configurations", "no", "client-settings", "adaptive-rx", NULL);
	plan_draft_put(d, "command", "tests", "+", "tool", NULL);
	plan_draft_put(d, odd, "tests", "-", "command", "+", NULL);
	plan_draft_put(d, "-", "tests", "-", "command", "+", NULL);
	plan_draft_put(d, "^([0-9]+): *x", "tests", "-", "regex", NULL);
	plan_draft_put(d, "osu_bw", "tests", "+", "tool", NULL);
	plan_draft_put(d, "4KiB", "tests", "-", "size", "+", NULL);
	assert_int_equal(plan_draft_read(ctx, d, &root, &text), 0);
	if (bench_plan_read(ctx, root, &made) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	again = parse(text);
	for (int i = 0; i < 2; i++) {
		const struct bench_plan *p = i ? again : made;

		assert_string_equal(p->name, "null");
		assert_string_equal(p->endpoints[0].device, "ens1");
		assert_string_equal(p->endpoints[1].address, "fe80::1");
		assert_string_equal(p->configurations[0].name, "as-it-is");
		assert_string_equal(p->configurations[1].of_client.v[0].value, "off");
		assert_string_equal(p->tests[0].command[0], odd);
		assert_string_equal(p->tests[0].command[1], "-");
		assert_string_equal(p->tests[0].regex, "^([0-9]+): *x");
		assert_int_equal(p->tests[1].sizes.v[0], 4096);
		assert_int_equal(p->test_count, 2);
	}
	plan_draft_put(d, "again", "name", NULL);
	free(text);
	text = NULL;
	assert_int_equal(plan_draft_read(ctx, d, &root, &text), -EINVAL);
	assert_string_equal(vfctl_ctx_error(ctx), "name is given twice");
	plan_draft_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smallest_plan_has_the_usual),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(what_cannot_be_is_refused_with_its_place),
		cmocka_unit_test(a_plan_of_options_reads_back_from_its_text),
		cmocka_unit_test(a_tool_is_asked_only_for_what_it_can),
		cmocka_unit_test(every_plan_of_the_documents_can_be_run),
		cmocka_unit_test(a_quick_run_takes_minutes),
		cmocka_unit_test(osu_programs_get_what_their_version_has),
		cmocka_unit_test(every_round_has_everything_once),
		cmocka_unit_test(the_seed_is_the_order),
		cmocka_unit_test(command_lines_are_as_the_tools_want_them),
		cmocka_unit_test(the_launcher_of_a_configuration_comes_first),
		cmocka_unit_test(a_place_reads_back_from_its_text),
		cmocka_unit_test(a_text_that_is_no_place_is_refused),
	};
	int failed;

	if (vfctl_ctx_new(&ctx) < 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	vfctl_ctx_free(ctx);
	return failed;
}
