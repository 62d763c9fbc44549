// SPDX-License-Identifier: GPL-2.0-or-later
/* bench: its rows in vfctl's help; vfctl-bench carries it out (delegate.c). */
#include "command.h"

static int run_bench(struct invocation *in)
{
	return fail_as(in, EXIT_FAILED, -ENOPKG, "vfctl-bench was not started");
}

const struct command cmd_bench = {
	.name = "bench",
	.group = GROUP_TUNING,
	.common = true,
	.args = "COMMAND ...",
	.summary = "Measure settings and show which is better",
	.text = "The program vfctl-bench of the package of the same name carries out these "
		"commands: bench run, latency, throughput, rdma, report, compare, history, "
		"import, parse and plans. See vfctl bench --help, vfctl bench COMMAND --help and "
		"vfctl-bench(1).",
	.examples = {{"vfctl bench latency ens1 --to 10.0.0.2", "latency of a device"},
		{"vfctl bench compare before after", "two results"}},
	.max_args = ARGS_MAX,
	.run = run_bench,
};
