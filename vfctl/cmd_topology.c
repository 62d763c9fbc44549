// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "command.h"
#include "print_topology.h"
#include "vfctl/workflow.h"

/* A captured host and a plain tree have no libvirt to ask. */
static int connect_hv(struct invocation *in, struct vfctl_hypervisor **ret)
{
	const char *uri = option_of(in, "connect");
	int r;

	if (option_of(in, "host") && !uri)
		return 0;
	r = vfctl_libvirt_open(in->ctx, uri, ret);
	if (r < 0 && uri)
		return fail(in, r);
	if (r < 0 && !in->quiet)
		warn("what other domains hold is not known: %s", vfctl_ctx_error(in->ctx));
	return 0;
}

static int read_host(struct invocation *in, struct vfctl_place_options *options,
	struct vfctl_host_model **ret)
{
	struct vfctl_snapshot *snapshot = NULL;
	struct vfctl_host_spec *spec = NULL;
	int r = vfctl_host_spec_read(in->ctx, option_of(in, "host-yaml"), &spec);

	options->spec = spec;
	if (r == 0)
		r = vfctl_snapshot_read(in->ctx, NULL, &snapshot);
	if (r == 0 && snapshot->leases_error)
		warn("leases are not shown: %s", snapshot->leases_error);
	if (r == 0)
		r = vfctl_model_read(in->ctx, snapshot, options, ret);
	vfctl_snapshot_free(snapshot);
	vfctl_host_spec_free(spec);
	return r < 0 ? fail(in, r) : 0;
}

static int read_model(struct invocation *in, struct vfctl_host_model **ret)
{
	const char *reserve = option_of(in, "reserve"), *file = option_of(in, "model");
	struct vfctl_place_options options = {0};
	int r;

	if (file && reserve)
		return usage(in,
			"--reserve is for a host; a model has reserved_cpus of its own");
	if (reserve && vfctl_cpuset_parse(reserve, &options.reserved_cpus) < 0)
		return usage(in, "--reserve must be a list of CPUs such as 0-1,8, not '%s'",
			reserve);
	if (file) {
		r = vfctl_model_load(in->ctx, file, ret);
		return r < 0 ? fail(in, r) : 0;
	}
	r = connect_hv(in, &options.hypervisor);
	if (r == 0)
		r = read_host(in, &options, ret);
	if (options.hypervisor)
		options.hypervisor->close(options.hypervisor);
	return r;
}

static int print_json(struct invocation *in, const struct vfctl_host_model *model)
{
	char *text = vfctl_model_format(model);

	if (!text)
		return fail(in, -ENOMEM);
	fputs(text, stdout);
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

static int show(struct invocation *in, const struct vfctl_host_model *model)
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

static int run(struct invocation *in)
{
	struct vfctl_host_model *model = NULL;
	int status = read_model(in, &model);

	if (status == EXIT_DONE)
		status = show(in, model);
	vfctl_model_free(model);
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
	.run = run,
};
