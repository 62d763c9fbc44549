// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "command.h"
#include "print/topology.h"
#include "session.h"

static int print_json(struct invocation *in, const struct vfctl_host_model *model)
{
	char *text = vfctl_model_format(model);

	if (!text)
		return fail(in, -ENOMEM);
	fputs(text, out_file(in->out));
	free(text);
	return EXIT_DONE;
}

static int draw(struct invocation *in, const struct vfctl_host_model *model,
	enum vfctl_picture format, const char *path)
{
	int r = path ? vfctl_model_draw(in->ctx, model, format, path) : 0;

	if (r < 0)
		return fail(in, r);
	if (path && !in->quiet)
		out_line(in->out, "wrote %s", path);
	return EXIT_DONE;
}

static int show_topology(struct invocation *in, const struct vfctl_host_model *model)
{
	const char *svg = option_of(in, "svg"), *png = option_of(in, "png");
	int status;

	if (in->json && (svg || png))
		return usage(in,
			"--json is for standard output, --svg and --png are for files; "
			"ask for one of them");
	if (in->json)
		return print_json(in, model);
	if (!svg && !png) {
		print_topology(in->out, model);
		return EXIT_DONE;
	}
	status = draw(in, model, VFCTL_PICTURE_SVG, svg);
	return status ? status : draw(in, model, VFCTL_PICTURE_PNG, png);
}

static int run_topology(struct invocation *in)
{
	struct vfctl_host_model *model = NULL;
	struct session s;
	int status = read_model(in, &s, &model);

	if (status == EXIT_DONE)
		status = show_topology(in, model);
	vfctl_model_free(model);
	close_session(&s);
	return status;
}

static const struct option_row options[] = {
	{"model", 0, "FILE",
		"a model: a file (JSON, hwloc XML), or synthetic:'numa:2 core:4 pu:2'",
		NULL},
	{"svg", 0, "FILE",
		"draw it into a file (with hwloc's lstopo) instead of printing", NULL},
	{"png", 0, "FILE", "the same as PNG", NULL},
	{"reserve", 0, "CPUS", "CPUs that are the host's own, besides those of host.yaml",
		NULL},
};

const struct command cmd_topology = {
	.name = "topology",
	.args = "",
	.summary =
		"show NUMA nodes, cores, memory, PFs and VFs, and which guest sits where",
	.text = "--json prints the model that the planner works on; --model reads it "
		"back, so that a\n"
		"case can be kept and tried again anywhere (docs/placement.md).",
	.reads = true,
	OPTIONS(options),
	.run = run_topology,
};
