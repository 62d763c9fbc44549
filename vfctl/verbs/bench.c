// SPDX-License-Identifier: GPL-2.0-or-later
/* bench: what help of vfctl says of it; vfctl-bench carries it out (delegate.c). */
#include "command.h"

static int run_bench(struct invocation *in)
{
	return fail_as(in, EXIT_FAILED, -ENOPKG, "vfctl-bench was not started");
}

const struct command cmd_bench = {
	.name = "bench",
	.args = "COMMAND ...",
	.summary = "Measure settings, and show which is better",
	.text = "The program vfctl-bench, which has a package of its own, carries out these commands: "
		"bench run, latency, throughput, rdma, report, compare, history, import and parse. "
		"See vfctl bench --help, vfctl bench COMMAND --help and vfctl-bench(1).",
	.max_args = ARGS_MAX,
	.run = run_bench,
};
