// SPDX-License-Identifier: GPL-2.0-or-later
/* bench: measure, and say what differs and how sure that is. */
#include "bench.h"

#define MEASURES " output seed trials to on peer-device size duration set "
#define REPORTS " html markdown csv shape alpha noise baseline "

static const struct verb verbs[] = {
	{"run", "PLAN", 0, 1, bench_run_plan, " output resume seed trials "},
	{"latency", "DEVICE --to ADDRESS", 1, 1, bench_run_latency, MEASURES},
	{"throughput", "DEVICE --to ADDRESS", 1, 1, bench_run_throughput, MEASURES},
	{"rdma", "DEVICE --to ADDRESS", 1, 1, bench_run_rdma, MEASURES},
	{"report", "DIR", 1, 1, bench_run_report, REPORTS},
	{"compare", "BEFORE AFTER", 2, 2, bench_run_compare, REPORTS},
	{"history", "[DIR...]", 0, ARGS_MAX - 1, bench_run_history, ""},
	{"import", "DIR --csv FILE", 1, 1, bench_run_import,
		" csv name baseline goal higher paired emulated "},
	{"parse", "TOOL FILE", 2, 2, bench_run_parse, " regex json-path "},
};

static int run_bench(struct invocation *in)
{
	return run_verb(in, verbs, ARRAY_SIZE(verbs));
}

static const struct option_row options[] = {
	{"output", 0, "DIR", "of run, latency, throughput, rdma: where the result goes (default: a new "
		"directory in " VFCTL_BENCH_DIR ")", NULL},
	{"resume", 0, "DIR", "of run: go on with that result", NULL},
	{"seed", 0, "N", "of run: of the order of runs (default: by the clock; it is in the result)", NULL},
	{"trials", 0, "N", "of run: so many of each (default: the plan's, 15)", NULL},
	{"to", 0, "ADDRESS", "of latency, throughput, rdma: the other end", NULL},
	{"on", 0, "PLACE", "where its server runs: here, netns:NAME, guest:DOMAIN, ssh:[USER@]HOST "
		"(default: ssh to ADDRESS)", NULL},
	{"peer-device", 0, "DEVICE", "the other end's interface (of rdma: default the same name)", NULL},
	{"size", 0, "LIST", "of latency, rdma: bytes of a message, such as 64,1024", NULL},
	{"duration", 0, "TIME", "of latency, throughput: of one run, such as 5s", NULL},
	{"set", 0, "SETTINGS", "of latency, throughput, rdma: measure so as well, such as "
		"'rx-usecs=0 adaptive-rx=off'; may be given several times", NULL},
	{"html", 0, "FILE", "of report, compare: write one HTML page with pictures (-: to standard output)",
		NULL},
	{"markdown", 0, "FILE", "of report, compare: write Markdown", NULL},
	{"csv", 0, "FILE", "of report, compare: write a line for each figure; of import: read it", NULL},
	{"shape", 0, "SHAPE", "of report, compare: summary (default); matrix, a column for each "
		"configuration; tail, 99th percentile and maximum", "summary matrix tail"},
	{"alpha", 0, "P", "of report, compare: significant below it (default: the plan's, 0.05)", NULL},
	{"noise", 0, "SHARE", "of report, compare: a smaller difference is none (default: the plan's, 0.01)",
		NULL},
	{"baseline", 0, "NAME", "of report, import: the configuration that others are held against", NULL},
	{"name", 0, "NAME", "of import: what to call the result", NULL},
	{"goal", 0, "METRIC", "of import: what is judged (default p50, or the first metric)", NULL},
	{"higher", 0, NULL, "of import: a higher value of the goal is better", NULL},
	{"paired", 0, NULL, "of import: trials of equal number were made in turns", NULL},
	{"emulated", 0, NULL, "of import: the hardware was emulated", NULL},
	{"regex", 0, "REGEX", "of parse command: where the number stands, as its first group", NULL},
	{"json-path", 0, "PATH", "of parse command: the same in JSON, such as a.b[0].c", NULL},
};

const struct command cmd_bench = {
	.name = "bench",
	.args = "VERB ...",
	.summary = "measure, and say which setting to use and how sure that is",
	.text = "bench run PLAN measures what a plan names (YAML; docs/bench.md): configurations\n"
		"between two ends, in turns, with perftest, iperf, sockperf, qperf, netperf, OSU or a\n"
		"command of yours. What it sets is put back, also after Ctrl-C; --resume DIR goes on.\n"
		"--dry-run looks at both ends and prints every run. bench latency ens1 --to 10.0.0.2\n"
		"--set rx-usecs=0 is a plan in a line.\n"
		"bench report DIR [--html FILE] judges a result directory: which configuration is\n"
		"better, by how much, and whether that may be chance. bench compare BEFORE AFTER\n"
		"holds two of them against each other; the status is 3 when AFTER is worse. bench\n"
		"history [DIR...] lists results (default: those in " VFCTL_BENCH_DIR ").\n"
		"bench import DIR --csv FILE makes a result of data that others measured. bench\n"
		"parse TOOL FILE prints what the output of perftest, iperf3, iperf, sockperf, qperf,\n"
		"netperf, osu or a command says.",
	.min_args = 1,
	.max_args = ARGS_MAX,
	.words = "run latency throughput rdma report compare history import parse",
	.operand = OPERAND_FILE,
	.reads = true,
	.changes = true,
	OPTIONS(options),
	.repeats = "set",
	.run = run_bench,
};
