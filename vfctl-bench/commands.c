// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vfctl-bench: measure, report the differences and how certain they are. `vfctl bench VERB` and
 * `vfctl tune search` start it.
 */
#include "verbs.h"

/* Options of several commands. */
#define OUTPUT .name = "output", .arg = "DIR", \
	.help = "write the result there (default: a new directory in " VFCTL_BENCH_DIR ")"
#define SEED .name = "seed", .arg = "N", \
	.help = "seed of the order of runs (default: from the clock; the result records it)"
#define TRIALS .name = "trials", .arg = "N", \
	.help = "trials of each configuration (default: 15, or the plan's)"
#define NO_VERDICT .name = "no-verdict", \
	.help = "measure even if the trials are too few for a verdict (default: refuse)"
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
#define SHAPE .name = "shape", .arg = "SHAPE", .choices = "summary matrix tail tests", \
	.help = "summary (default); matrix, a column for each configuration; tail, 50th to 99.9th " \
		"percentile and maximum; tests, p of the rank test and the t-test"
#define ALPHA .name = "alpha", .arg = "P", \
	.help = "level of significance (default: 0.05, or the plan's)"
#define NOISE .name = "noise", .arg = "SHARE", \
	.help = "ignore smaller differences (default: 0.01, or the plan's)"

/* ---- measuring ---- */

static const struct option_row run_options[] = {
	{OUTPUT},
	{"resume", 0, "DIR", "continue the result in this directory", NULL},
	{"quick", 0, NULL, "one short trial of everything, to see that it works (no verdict)", NULL},
	{SEED}, {TRIALS}, {NO_VERDICT},
};
static const struct command cmd_run = {
	.name = "run",
	.typed = "bench run",
	.answer = bench_run_answer,
	.args = "PLAN",
	.summary = "Measure what a plan describes",
	.text = "A plan (YAML) names two endpoints, their configurations, and tests with perftest, "
		"iperf, sockperf, qperf, netperf, OSU or a command of yours. Trials of the configurations "
		"alternate. A plan with too few trials for a verdict is refused. vfctl restores each "
		"setting that it changed, also after Ctrl-C. --dry-run checks both ends and prints each run.",
	.examples = {{"vfctl bench run plan.yaml --quick", "see within minutes whether everything works"},
		{"vfctl bench run plan.yaml --dry-run", "check both ends and print every run"},
		{"vfctl bench run --resume DIR", "continue an interrupted measurement"}},
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
	{SET}, {OUTPUT}, {SEED}, {TRIALS}, {NO_VERDICT},
};
static const struct command cmd_latency = {
	.name = "latency",
	.typed = "bench latency",
	.answer = bench_run_answer,
	.args = "DEVICE --to ADDRESS",
	.summary = "Measure the UDP latency of an interface",
	.text = "Measures with sockperf; needs no plan.",
	.examples = {{"vfctl bench latency ens1 --to 10.0.0.2", "with the present settings"},
		{"vfctl bench latency ens1 --to 10.0.0.2 --set rx-usecs=0",
			"compare with another setting"}},
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
	{SET}, {OUTPUT}, {SEED}, {TRIALS}, {NO_VERDICT},
};
static const struct command cmd_throughput = {
	.name = "throughput",
	.typed = "bench throughput",
	.answer = bench_run_answer,
	.args = "DEVICE --to ADDRESS",
	.summary = "Measure the TCP throughput of an interface",
	.text = "Measures 1, 2, 4 and 8 streams with iperf3; needs no plan.",
	.examples = {{"vfctl bench throughput ens1 --to 10.0.0.2", "with the present settings"},
		{"vfctl bench throughput ens1 --to 10.0.0.2 --set adaptive-rx=off",
			"compare with another setting"}},
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
	{SET}, {OUTPUT}, {SEED}, {TRIALS}, {NO_VERDICT},
};
static const struct command cmd_rdma = {
	.name = "rdma",
	.typed = "bench rdma",
	.answer = bench_run_answer,
	.args = "DEVICE --to ADDRESS",
	.summary = "Measure RDMA latency and bandwidth of a device",
	.text = "Measures ib_write_lat, ib_read_lat and ib_write_bw; needs no plan.",
	.examples = {{"vfctl bench rdma mlx5_0 --to 10.0.0.2", "the same device name at both ends"},
		{"vfctl bench rdma mlx5_0 --to 10.0.0.2 --peer-device mlx5_1 --size 2",
			"another device on the other end, 2 bytes"}},
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
	{REGEX("with --command: ")}, {JSON_PATH("with --command: ")},
	{"higher", 0, NULL, "with --command: a higher number is better", NULL},
	{"trials", 0, "N", "most trials of each setting, 6 to 49 (default: 15)", NULL},
	{"noise", 0, "SHARE", "ignore smaller differences (default: 1%)", NULL},
	{"max-time", 0, "TIME", "stop measuring after this time, such as 30m", NULL},
	{SEED}, {OUTPUT},
	{"resume", 0, "DIR", "continue the search in this directory", NULL},
	{"save-profile", 0, "NAME", "print the best setting as a profile for host.yaml", NULL},
	{"profile-file", 0, "FILE", "with --save-profile: write the profile to this file", NULL},
};
static const struct command cmd_search = {
	.name = "search",
	.typed = "tune search",
	.answer = tune_search_answer,
	.args = "DEVICE --to ADDRESS",
	.summary = "Find the best settings for a workload by measuring",
	.text = "The workload is latency, throughput, a --command of yours, or the test of a plan "
		"(vfctl tune search PLAN.yaml). Settings that are clearly worse are dropped early. The "
		"best setting is measured again beside the present one, and only these figures decide. "
		"vfctl restores every setting that it changed.",
	.examples = {{"vfctl tune search ens1 --to 10.0.0.2 --goal p99", "the lowest 99th percentile"},
		{"vfctl tune search ens1 --to 10.0.0.2 --save-profile fast",
			"keep the best setting as a profile"}},
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
	{"baseline", 0, "NAME[,NAME...]", "compare the others with each of these configurations", NULL},
};
static const struct command cmd_report = {
	.name = "report",
	.typed = "bench report",
	.answer = bench_report_answer,
	.args = "DIR",
	.summary = "Show which configuration of a result is better",
	.text = "Prints how much each configuration differs from the baseline, and whether "
		"chance explains it.",
	.examples = {{"vfctl bench report DIR", "as tables"},
		{"vfctl bench report DIR --html page.html", "as a page with plots"}},
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_FILE,
	.reads = true,
	OPTIONS(report_options),
	.run = bench_run_report,
};

static const struct option_row compare_options[] = {
	{"history", 0, "DIR", "result of an earlier session without the change; may be given several "
		"times",
		NULL},
	{"same-host-state", 0, NULL, "nothing but the change differs between the two sessions", NULL},
	{HTML}, {MARKDOWN}, {CSV}, {SHAPE}, {ALPHA}, {NOISE},
};
static const struct command cmd_compare = {
	.name = "compare",
	.typed = "bench compare",
	.answer = bench_report_answer,
	.args = "BEFORE AFTER",
	.summary = "Compare two results",
	.text = "The exit status is 3 when AFTER is worse. A host can change between two sessions by "
		"itself, so two results alone show only that they differ. With two or more --history, "
		"AFTER is better or worse if it differs more than those sessions and BEFORE do.",
	.examples = {{"vfctl bench compare old new --history mon --history tue",
			"take the spread of earlier sessions into account"},
		{"vfctl bench compare old new --same-host-state",
			"two measurements of one session, without a reboot between"}},
	.min_args = 2,
	.max_args = 2,
	.operand = OPERAND_FILE,
	.reads = true,
	OPTIONS(compare_options),
	.repeats = "history",
	.run = bench_run_report,
};

static const struct command cmd_history = {
	.name = "history",
	.typed = "bench history",
	.answer = bench_history_answer,
	.args = "[DIR...]",
	.summary = "List results (default: those in " VFCTL_BENCH_DIR ")",
	.examples = {{"vfctl bench history", "results in /var/lib/vfctl/bench"},
		{"vfctl bench history ~/results --json", "results in another directory"}},
	.max_args = ARGS_MAX,
	.operand = OPERAND_FILE,
	.reads = true,
	.run = bench_run_history,
};

static const struct option_row import_options[] = {
	{"csv", 0, "FILE", "read the data from this file", NULL},
	{"tool", 0, "TOOL", "the outputs are of this tool (perftest, iperf3, ...) or program "
		"(ib_write_lat, ...) (default: found by their text)", NULL},
	{REGEX("with --tool command: ")}, {JSON_PATH("with --tool command: ")},
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
	.args = "DIR [[NAME=]FILE...]",
	.summary = "Make a result of data from other tools",
	.text = "Each output of a tool is one trial of the configuration NAME; vfctl numbers them in the "
		"order in which they are named. Without NAME, vf-1.txt is a trial of vf.",
	.examples = {{"vfctl bench import DIR --csv data.csv --goal throughput --higher --paired",
			"throughput of alternating trials"},
		{"vfctl bench import DIR bare-*.txt vf-*.txt",
			"outputs of perftest, iperf, ...: each file is a trial of bare or vf"}},
	.min_args = 1,
	.max_args = ARGS_MAX,
	.operand = OPERAND_FILE,
	.reads = true,
	OPTIONS(import_options),
	.run = bench_run_import,
};

static const struct option_row parse_options[] = {
	{REGEX("with command: ")}, {JSON_PATH("with command: ")},
};
static const struct command cmd_parse = {
	.name = "parse",
	.typed = "bench parse",
	.answer = bench_parse_answer,
	.args = "TOOL FILE",
	.summary = "Print the figures in a tool's output",
	.text = "TOOL is a perftest program, iperf3, iperf, sockperf, qperf, netperf, osu or command.",
	.examples = {{"vfctl bench parse sockperf output.txt", "the figures of a known tool"},
		{"vfctl bench parse command output.txt --regex 'rate: ([0-9.]+)'", "of another tool"}},
	.min_args = 2,
	.max_args = 2,
	.operand = OPERAND_FILE,
	.reads = true,
	OPTIONS(parse_options),
	.run = bench_run_parse,
};

/* ---- plans ---- */

static const struct command cmd_plans = {
	.name = "plans",
	.typed = "bench plans",
	.answer = bench_plans_answer,
	.args = "[FILE|DIR...]",
	.summary = "List plans (default: those that are installed)",
	.text = "Prints the number of runs of each plan, how long they take, and what the plan needs. "
		"Copy one and enter your interfaces and addresses.",
	.examples = {{"vfctl bench plans", "the plans of published measurements"},
		{"vfctl bench plans ~/plans", "your own"}},
	.max_args = ARGS_MAX,
	.operand = OPERAND_FILE,
	.reads = true,
	.run = bench_run_plans,
};

static const struct command cmd_check_plan = {
	.name = "check",
	.typed = "bench check",
	.args = "PLAN",
	.summary = "Check a plan without measuring",
	.text = "Prints the first error with its line and column. It does not check the "
		"endpoints; vfctl bench run --dry-run does.",
	.examples = {{"vfctl bench check plan.yaml", "check a plan"},
		{"vfctl check plan.yaml", "the same"}},
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_FILE,
	.run = bench_run_check,
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
		"verb of vfctl bench prints with --json. reference: the reference of all these answers.",
	.examples = {{"vfctl bench schema", "the schema of a plan"},
		{"vfctl bench schema report", "the schema of what vfctl bench report --json prints"}},
	.max_args = 1,
	.run = run_schema,
};

const struct command *const commands[] = {&cmd_run, &cmd_latency, &cmd_throughput, &cmd_rdma,
	&cmd_search,
	&cmd_report, &cmd_compare, &cmd_history, &cmd_import, &cmd_parse, &cmd_plans,
	&cmd_check_plan, &cmd_plan_schema, &cmd_completion, &cmd_version, &cmd_help, &cmd_complete,
	&cmd_man};
const size_t command_count = ARRAY_SIZE(commands);

const struct program this_program = {
	.name = "vfctl-bench",
	.typed = "vfctl bench",
	.section = "1",
	.about = "Measure, and show which setting is better and how sure that is.\n\n"
		 "vfctl bench COMMAND and vfctl-bench COMMAND are the same; vfctl tune search is\n"
		 "vfctl-bench search.",
};
