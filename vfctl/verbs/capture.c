// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "vfctl/capture.h"

static int run_capture(struct invocation *in)
{
	const char *path = option_of(in, "output");
	char own[300], host[256] = "host";
	int r;

	if (!path) {
		gethostname(host, sizeof(host) - 1);
		snprintf(own, sizeof(own), "./%s.vfctl.tar.gz", host);
		path = own;
	}
	r = vfctl_host_capture(in->ctx, path);
	if (r < 0)
		return fail(in, r);
	if (!in->quiet)
		out_line(in->out, "wrote %s; read it with: vfctl --host %s list", path, path);
	return EXIT_DONE;
}

static const struct option_row options[] = {
	{"output", 'o', "FILE", "file to write (default ./HOSTNAME.vfctl.tar.gz)", NULL},
};

const struct command cmd_capture = {
	.name = "capture",
	.group = GROUP_HEALTH,
	.args = "",
	.summary = "Record this host in a file for --host",
	.text = "Records PCI functions, NUMA nodes, CPUs, network devices and RDMA devices. "
		"It records no keys, no process list and no user data. Run it as root to "
		"include details of the VFs and the PCI configuration space.",
	.examples = {{"vfctl capture", "write HOSTNAME.vfctl.tar.gz"},
		{"vfctl --host host1.vfctl.tar.gz list", "read it on another machine"}},
	OPTIONS(options),
	.run = run_capture,
};
