// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "placement/model/host_model.h"
#include "print/subnet.h"
#include "print/topology.h"
#include "session.h"

static int print_json(struct invocation *in, const struct vfctl_host_model *model)
{
	_free_ char *text = vfctl_model_format(model);

	if (!text)
		return fail(in, -ENOMEM);
	fputs(text, out_file(in->out));
	return EXIT_DONE;
}

/* "host-1, 2026-11-27 14:05", or the file that was read. */
static void make_title(const char *file, char *title, size_t size)
{
	char host[65] = "this host", date[32] = "";
	time_t now = time(NULL);
	struct tm at;

	if (file) {
		snprintf(title, size, "%s", file);
		return;
	}
	if (gethostname(host, sizeof(host)) < 0)
		host[0] = '\0';
	host[sizeof(host) - 1] = '\0';
	if (localtime_r(&now, &at))
		strftime(date, sizeof(date), ", %Y-%m-%d %H:%M %Z", &at);
	snprintf(title, size, "%s%s", host, date);
}

/* What the pictures show. */
struct subject {
	const struct vfctl_host_model *model;
	const struct vfctl_subnet *subnet; /* NULL: the model */
	const char *file;		   /* that it was read from; NULL: this host */
};

static int draw(struct invocation *in, const struct subject *what, enum vfctl_picture format,
	const char *path)
{
	char title[4096];
	int r;

	if (!path)
		return EXIT_DONE;
	make_title(what->file, title, sizeof(title));
	r = what->subnet ? vfctl_subnet_draw(in->ctx, what->subnet, title, format, path)
			 : vfctl_model_draw(in->ctx, what->model, title, format, path);
	if (r < 0)
		return fail(in, r);
	if (!in->quiet)
		out_line(in->out, "wrote %s", path);
	return EXIT_DONE;
}

static int draw_all(struct invocation *in, const struct subject *what)
{
	int status = draw(in, what, VFCTL_PICTURE_SVG, option_of(in, "svg"));

	return status ? status : draw(in, what, VFCTL_PICTURE_PNG, option_of(in, "png"));
}

/* ---- the fabric ---- */

static int read_subnet(struct invocation *in, const char *file, struct vfctl_subnet **ret)
{
	_free_ char *text = NULL;
	size_t len = 0;
	int r;

	if (!file) {
		r = vfctl_subnet_discover(in->ctx, option_of(in, "device"), ret);
		return r < 0 ? fail(in, r) : 0;
	}
	r = read_named(in, file, VFCTL_SUBNET_TEXT_MAX, &text, &len);
	if (r)
		return r;
	r = vfctl_subnet_parse(in->ctx, strcmp(file, "-") == 0 ? "standard input" : file, text, len, ret);
	return r < 0 ? fail(in, r) : 0;
}

static int check_fabric_options(struct invocation *in)
{
	static const char *const others[] = {"model", "reserve"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (option_of(in, others[i]))
			return usage(in, "--%s is an option for the view of a host, and --fabric shows the "
				"InfiniBand fabric", others[i]);
	if (in->arg_count && option_of(in, "device"))
		return usage(in, "--device is for running ibnetdiscover, and %s is read instead",
			in->args[0]);
	return 0;
}

static int run_fabric(struct invocation *in, bool draws)
{
	_cleanup_(vfctl_subnet_freep) struct vfctl_subnet *subnet = NULL;
	const char *file = in->arg_count ? in->args[0] : NULL;
	int status = check_fabric_options(in), r;

	if (status == 0)
		status = read_subnet(in, file, &subnet);
	if (status)
		return status;
	r = vfctl_subnet_mark_host(in->ctx, subnet);
	if (r == 0 && draws)
		return draw_all(in, &(struct subject){.subnet = subnet, .file = file});
	if (r == 0 && in->json)
		r = answer_put(in->out, NULL, answer_subnet, &(struct subnet_view){subnet, file});
	else if (r == 0)
		r = print_subnet(in->out, in->ctx, subnet);
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

/* ---- the host ---- */

static int run_host(struct invocation *in, bool draws)
{
	_cleanup_(close_session) struct session s = {0};
	_cleanup_(vfctl_model_freep) struct vfctl_host_model *model = NULL;
	int status;

	if (in->arg_count || option_of(in, "device"))
		return usage(in, "%s is for the InfiniBand fabric; add --fabric",
			in->arg_count ? in->args[0] : "--device");
	status = read_model(in, &s, &model);
	if (status)
		return status;
	if (in->json)
		return print_json(in, model);
	if (draws)
		return draw_all(in, &(struct subject){.model = model, .file = option_of(in, "model")});
	print_topology(in->out, model);
	return EXIT_DONE;
}

static int run_topology(struct invocation *in)
{
	bool draws = option_of(in, "svg") || option_of(in, "png");

	if (in->json && draws)
		return usage(in,
			"--json is for standard output, --svg and --png are for files; "
			"ask for one of them");
	return option_of(in, "fabric") ? run_fabric(in, draws) : run_host(in, draws);
}

/* The planner prints its model by its record (src/placement/model/record.c). */
static const struct member topology_table[] = {RECORD_ROW(&vfctl_model_record)};
static const struct answer topology_answer[] = {{"Of the host", topology_table, false},
	{"With `--fabric`", answer_subnet, false}, {0}};

static const struct option_row options[] = {
	{"fabric", 0, NULL, "show the InfiniBand fabric: switches, HCAs and links, from ibnetdiscover or "
		"from FILE with its output (-: standard input)", NULL},
	{"device", 0, "DEVICE", "with --fabric: RDMA device to start from (default: the first with an "
		"active port)", NULL},
	{"model", 0, "FILE",
		"read a model: a file (JSON, hwloc XML) or synthetic:'numa:2 core:4 pu:2'",
		NULL},
	{"svg", 0, "FILE",
		"draw into an SVG file", NULL},
	{"png", 0, "FILE", "draw into a PNG file (with rsvg-convert)", NULL},
	{"reserve", 0, "CPUS", "CPUs that are kept for the host, in addition to those of host.yaml",
		NULL},
};

const struct command cmd_topology = {
	.name = "topology",
	.group = GROUP_VFS,
	.answer = topology_answer,
	.args = "[FILE]",
	.max_args = 1,
	.operand = OPERAND_FILE,
	.summary = "Show nodes, PFs, VFs and guests, or the fabric",
	.text = "With --json it prints the model that the planner uses. --model reads such a "
		"model, so that a case can be kept and tried on any machine.\n"
		"--fabric shows the InfiniBand fabric instead: each switch with its links, and the ports of "
		"this host. It marks links with fewer or slower lanes than most links beside them. It runs "
		"ibnetdiscover (Debian package infiniband-diags), which needs root privileges; with FILE it "
		"reads an output that was saved before, also on another host.",
	.examples = {{"vfctl topology --png host.png", "draw this host"},
		{"vfctl topology --model synthetic:'numa:2 core:4 pu:2'", "show a model"},
		{"vfctl topology --fabric --svg fabric.svg", "draw the InfiniBand fabric"}},
	.reads = true,
	OPTIONS(options),
	.run = run_topology,
};
