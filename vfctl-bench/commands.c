// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vfctl-bench: measure, and say what differs and how sure that is. `vfctl bench VERB` and `vfctl tune
 * search` start it.
 */
#include "verbs.h"

/* Options of several commands. */
#define OUTPUT .name = "output", .arg = "DIR", \
	.help = "write the result there (default: a new directory in " VFCTL_BENCH_DIR ")"
#define SEED .name = "seed", .arg = "N", \
	.help = "seed of the order of runs (default: from the clock; the result records it)"
#define TRIALS .name = "trials", .arg = "N", \
	.help = "trials of each configuration (default: 15, or the plan's)"
#define TO .name = "to", .arg = "ADDRESS", .help = "address of the other end"
#define ON .name = "on", .arg = "ENDPOINT", \
	.help = "where the server runs: here, netns:NAME, guest:DOMAIN, ssh:[USER@]HOST (default: " \
		"ssh:ADDRESS)"
#define SET .name = "set", .arg = "SETTINGS", \
	.help = "measure these settings as well, such as 'rx-usecs=0 adaptive-rx=off'; may be given " \
		"several times"
#define PEER_NETDEV .name = "peer-device", .arg = "DEVICE", \
	.help = "interface of the other end; it gets the same settings"
#define REGEX(of) .name = "regex", .arg = "REGEX", \
	.help = of "the number is the first group of this expression"
#define JSON_PATH(of) .name = "json-path", .arg = "PATH", \
	.help = of "the number in JSON output, such as a.b[0].c"
#define HTML .name = "html", .arg = "FILE", \
	.help = "write one HTML page with charts (-: standard output)"
#define MARKDOWN .name = "markdown", .arg = "FILE", .help = "write Markdown"
#define CSV .name = "csv", .arg = "FILE", .help = "write a CSV line for each figure"
#define SHAPE .name = "shape", .arg = "SHAPE", .words = "summary matrix tail", \
	.help = "summary (default); matrix, a column for each configuration; tail, 99th percentile " \
		"and maximum"
#define ALPHA .name = "alpha", .arg = "P", .help = "level of significance (default: 0.05, or the plan's)"
#define NOISE .name = "noise", .arg = "SHARE", \
	.help = "ignore smaller differences (default: 0.01, or the plan's)"

/* ---- measuring ---- */

static const struct option_row run_options[] = {
	{OUTPUT},
	{"resume", 0, "DIR", "continue the result in this directory", NULL},
	{SEED}, {TRIALS},
};
static const struct command cmd_run = {
	.name = "run",
	.typed = "bench run",
	.answer = bench_run_answer,
	.args = "PLAN",
	.summary = "Measure what a plan describes",
	.text = "A plan (YAML; docs/bench.md) names two endpoints, their configurations, and tests "
		"with perftest, iperf, sockperf, qperf, netperf, OSU or a command of yours. "
		"Configurations are measured in turns. vfctl restores every setting that it changed, "
		"also after Ctrl-C. --dry-run checks both ends and prints every run. "
		"Examples: vfctl bench run plan.yaml --dry-run; vfctl bench run --resume DIR.",
	.max_args = 1,
	.operand = OPERAND_FILE,
	.changes = true,
	OPTIONS(run_options),
	.run = bench_run_plan,
};

static const struct option_row latency_options[] = {
	{TO}, {ON}, {PEER_NETDEV},
	{"size", 0, "LIST", "bytes of a message (default: 64,1024)", NULL},
	{"duration", 0, "TIME", "time of one run (default: 2s)", NULL},
	{SET}, {OUTPUT}, {SEED}, {TRIALS},
};
static const struct command cmd_latency = {
	.name = "latency",
	.typed = "bench latency",
	.answer = bench_run_answer,
	.args = "DEVICE --to ADDRESS",
	.summary = "Measure the UDP latency of an interface",
	.text = "Measures with sockperf, without a plan of your own. "
		"Examples: vfctl bench latency ens1 --to 10.0.0.2; vfctl bench latency ens1 --to "
		"10.0.0.2 --set rx-usecs=0.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_PF,
	.changes = true,
	OPTIONS(latency_options),
	.repeats = "set",
	.run = bench_run_latency,
};

static const struct option_row throughput_options[] = {
	{TO}, {ON}, {PEER_NETDEV},
	{"duration", 0, "TIME", "time of one run (default: 5s)", NULL},
	{SET}, {OUTPUT}, {SEED}, {TRIALS},
};
static const struct command cmd_throughput = {
	.name = "throughput",
	.typed = "bench throughput",
	.answer = bench_run_answer,
	.args = "DEVICE --to ADDRESS",
	.summary = "Measure the TCP throughput of an interface",
	.text = "Measures 1, 2, 4 and 8 streams with iperf3, without a plan of your own. "
		"Examples: vfctl bench throughput ens1 --to 10.0.0.2; vfctl bench throughput ens1 --to "
		"10.0.0.2 --set adaptive-rx=off.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_PF,
	.changes = true,
	OPTIONS(throughput_options),
	.repeats = "set",
	.run = bench_run_throughput,
};

static const struct option_row rdma_options[] = {
	{TO}, {ON},
	{"peer-device", 0, "DEVICE", "RDMA device of the other end (default: DEVICE)", NULL},
	{"size", 0, "LIST", "bytes of a message (default: 2,4096)", NULL},
	{SET}, {OUTPUT}, {SEED}, {TRIALS},
};
static const struct command cmd_rdma = {
	.name = "rdma",
	.typed = "bench rdma",
	.answer = bench_run_answer,
	.args = "DEVICE --to ADDRESS",
	.summary = "Measure RDMA latency and bandwidth of a device",
	.text = "Measures ib_write_lat, ib_read_lat and ib_write_bw, without a plan of your own. "
		"Examples: vfctl bench rdma mlx5_0 --to 10.0.0.2; vfctl bench rdma mlx5_0 --to 10.0.0.2 "
		"--peer-device mlx5_1 --size 2.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_PF,
	.changes = true,
	OPTIONS(rdma_options),
	.repeats = "set",
	.run = bench_run_rdma,
};

static const struct option_row search_options[] = {
	{TO}, {ON}, {PEER_NETDEV},
	{"goal", 0, "METRIC", "metric to optimize: p50 (default), p99, mean, throughput, ...", NULL},
	{"try", 0, "SETTINGS", "measure these settings, such as 'rx-usecs=0 adaptive-rx=off'; may be "
		"given several times (default: a list for the driver)", NULL},
	{"size", 0, "BYTES", "bytes of a message (default: 64)", NULL},
	{"duration", 0, "TIME", "time of one run (default: 2s)", NULL},
	{"command", 0, "COMMAND", "the workload; it prints a number", NULL},
	{REGEX("of --command: ")}, {JSON_PATH("of --command: ")},
	{"higher", 0, NULL, "of --command: a higher number is better", NULL},
	{"trials", 0, "N", "most trials of each setting, 6 to 49 (default: 15)", NULL},
	{"noise", 0, "SHARE", "ignore smaller differences (default: 1%)", NULL},
	{"max-time", 0, "TIME", "stop measuring after this time, such as 30m", NULL},
	{SEED}, {OUTPUT},
	{"resume", 0, "DIR", "continue the search in this directory", NULL},
	{"keep", 0, "NAME", "print the best setting as a profile for host.yaml", NULL},
	{"profile-file", 0, "FILE", "of --keep: write the profile to this file", NULL},
};
static const struct command cmd_search = {
	.name = "search",
	.typed = "tune search",
	.answer = tune_search_answer,
	.args = "DEVICE --to ADDRESS",
	.summary = "Find the best settings for a workload by measuring",
	.text = "The workload is latency, throughput, a --command of yours, or the test of a plan "
		"(vfctl tune search PLAN.yaml). Settings that are clearly worse are left out early. The "
		"best setting is measured again beside the present one, and only these figures decide. "
		"vfctl restores every setting that it changed. "
		"Examples: vfctl tune search ens1 --to 10.0.0.2 --goal p99; vfctl tune search ens1 --to "
		"10.0.0.2 --keep fast.",
	.max_args = 1,
	.operand = OPERAND_PF,
	.changes = true,
	OPTIONS(search_options),
	.repeats = "try",
	.run = tune_run_search,
};

/* ---- results ---- */

static const struct option_row report_options[] = {
	{HTML}, {MARKDOWN}, {CSV}, {SHAPE}, {ALPHA}, {NOISE},
	{"baseline", 0, "NAME", "configuration to compare the others with", NULL},
};
static const struct command cmd_report = {
	.name = "report",
	.typed = "bench report",
	.answer = bench_report_answer,
	.args = "DIR",
	.summary = "Show which configuration of a result is better",
	.text = "Prints by how much each configuration differs from the baseline, and whether that may "
		"be chance. Examples: vfctl bench report DIR; vfctl bench report DIR --html page.html.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_FILE,
	.reads = true,
	OPTIONS(report_options),
	.run = bench_run_report,
};

static const struct option_row compare_options[] = {
	{HTML}, {MARKDOWN}, {CSV}, {SHAPE}, {ALPHA}, {NOISE},
};
static const struct command cmd_compare = {
	.name = "compare",
	.typed = "bench compare",
	.answer = bench_report_answer,
	.args = "BEFORE AFTER",
	.summary = "Compare two results",
	.text = "The exit status is 3 when AFTER is worse. Examples: vfctl bench compare old new; vfctl "
		"bench compare old new --noise 0.05 --markdown README.md.",
	.min_args = 2,
	.max_args = 2,
	.operand = OPERAND_FILE,
	.reads = true,
	OPTIONS(compare_options),
	.run = bench_run_report,
};

static const struct command cmd_history = {
	.name = "history",
	.typed = "bench history",
	.answer = bench_history_answer,
	.args = "[DIR...]",
	.summary = "List results (default: those in " VFCTL_BENCH_DIR ")",
	.text = "Examples: vfctl bench history; vfctl bench history ~/results --json.",
	.max_args = ARGS_MAX,
	.operand = OPERAND_FILE,
	.reads = true,
	.run = bench_run_history,
};

static const struct option_row import_options[] = {
	{"csv", 0, "FILE", "read the data from this file", NULL},
	{"name", 0, "NAME", "name of the result (default: that of DIR)", NULL},
	{"baseline", 0, "NAME", "configuration to compare the others with", NULL},
	{"goal", 0, "METRIC", "metric that decides (default: p50, or the first metric)", NULL},
	{"higher", 0, NULL, "a higher value of the goal is better", NULL},
	{"paired", 0, NULL, "trials of equal number were measured in turns", NULL},
	{"emulated", 0, NULL, "the hardware was emulated", NULL},
};
static const struct command cmd_import = {
	.name = "import",
	.typed = "bench import",
	.answer = bench_import_answer,
	.args = "DIR --csv FILE",
	.summary = "Make a result of data from other tools",
	.text = "Examples: vfctl bench import DIR --csv data.csv; vfctl bench import DIR --csv data.csv "
		"--goal throughput --higher --paired.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_FILE,
	.reads = true,
	OPTIONS(import_options),
	.run = bench_run_import,
};

static const struct option_row parse_options[] = {
	{REGEX("of command: ")}, {JSON_PATH("of command: ")},
};
static const struct command cmd_parse = {
	.name = "parse",
	.typed = "bench parse",
	.answer = bench_parse_answer,
	.args = "TOOL FILE",
	.summary = "Print the figures in a tool's output",
	.text = "TOOL is a perftest program, iperf3, iperf, sockperf, qperf, netperf, osu or command. "
		"Examples: vfctl bench parse sockperf output.txt; vfctl bench parse command output.txt "
		"--regex 'rate: ([0-9.]+)'.",
	.min_args = 2,
	.max_args = 2,
	.operand = OPERAND_FILE,
	.reads = true,
	OPTIONS(parse_options),
	.run = bench_run_parse,
};

/* ---- about the program ---- */

static int run_schema(struct invocation *in)
{
	_free_ char *text = NULL;
	int r;

	if (in->arg_count)
		return answer_run_schema(in, in->args, in->arg_count);
	r = vfctl_bench_schema(in->ctx, &text);
	if (r < 0)
		return fail(in, r);
	fputs(text, stdout);
	return EXIT_DONE;
}

static const struct command cmd_plan_schema = {
	.name = "schema",
	.typed = "bench schema",
	.args = "[VERB]",
	.summary = "Print the JSON schema of a plan or of an answer",
	.text = "The schema of a plan is generated from the table that reads plans, so it accepts every "
		"plan that vfctl accepts. It is installed in /usr/share/vfctl/schema. VERB: what that "
		"verb of vfctl bench prints with --json. reference: the reference of all these answers. "
		"Examples: vfctl bench schema; vfctl bench schema report.",
	.max_args = 1,
	.run = run_schema,
};

const struct command *const commands[] = {&cmd_run, &cmd_latency, &cmd_throughput, &cmd_rdma, &cmd_search,
	&cmd_report, &cmd_compare, &cmd_history, &cmd_import, &cmd_parse, &cmd_plan_schema, &cmd_completion,
	&cmd_help};
const size_t command_count = ARRAY_SIZE(commands);

const struct program this_program = {
	.name = "vfctl-bench",
	.typed = "vfctl bench",
	.about = "Measure, and show which setting is better and how sure that is.\n\n"
		 "vfctl bench COMMAND and vfctl-bench COMMAND are the same; vfctl tune search is\n"
		 "vfctl-bench search.",
};
