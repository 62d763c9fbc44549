// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "command.h"
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
	_cleanup_(close_session) struct session s = {0};
	_cleanup_(vfctl_model_freep) struct vfctl_host_model *model = NULL;
	int status = read_model(in, &s, &model);

	return status ? status : show_topology(in, model);
}

/*
 * The planner writes this document itself, as it reads it back (src/placement/model/format.c); the
 * rows describe it. The tests hold the one to the other.
 */
#define IS(key, kind, about, ...) PUT(key, NULL, kind, about, __VA_ARGS__)
#define PLACE IS("node", MEMBER_NUMBER, "NUMA node; null: the device has no locality", NULLABLE), \
	IS("fabric", MEMBER_END, "ethernet, infiniband, other (no network), or a number: VFs with " \
		"the same number are on the same network"), \
	IS("port", MEMBER_NUMBER, "port of the card, from 1; 0: unknown"), \
	IS("root", MEMBER_TEXT, "PCI root complex, such as \"0000:3a\"", NULLABLE)
#define MEMORY IS("node", MEMBER_NUMBER, "NUMA node"), \
	IS("page_bytes", MEMBER_NUMBER, "size of the pages; 0: base pages"), \
	IS("bytes", MEMBER_NUMBER, "size"), \
	IS("taken", MEMBER_FLAG, "the guest runs, so the kernel's free counts already exclude this " \
		"memory")

static const struct member page_pool_table[] = {
	IS("page_bytes", MEMBER_NUMBER, "size of a huge page"),
	IS("total", MEMBER_NUMBER, "number of pages"),
	IS("free", MEMBER_NUMBER, "free pages", NULLABLE), END};
static const struct member node_table[] = {
	IS("id", MEMBER_NUMBER, "number of the node"),
	IS("cpus", MEMBER_TEXT, "its CPUs; \"\": it has only memory"),
	IS("memory_bytes", MEMBER_NUMBER, "its memory, including huge pages"),
	FILL("pools", NULL, page_pool_table, "huge pages by size"), END};
static const struct member core_table[] = {
	IS("cpus", MEMBER_TEXT, "hardware threads of the core"),
	IS("node", MEMBER_NUMBER, "NUMA node", NULLABLE),
	IS("package", MEMBER_NUMBER, "package", NULLABLE),
	IS("die", MEMBER_NUMBER, "die", NULLABLE),
	IS("l3", MEMBER_NUMBER, "L3 cache: cores with the same number share it", NULLABLE), END};
static const struct member typical_table[] = {
	IS("vcpus", MEMBER_NUMBER, "vCPUs"),
	IS("cells", MEMBER_NUMBER, "cells"),
	IS("vfs", MEMBER_NUMBER, "VFs"),
	IS("share", MEMBER_NUMBER, "relative weight of such guests, 1 to 1000"), END};
static const struct member model_pf_table[] = {
	IS("address", MEMBER_TEXT, "PCI address"),
	FILL_EACH("names", NULL, MEMBER_TEXT, "names, the usual one first"),
	PLACE,
	IS("num_vfs", MEMBER_NUMBER, "VFs that exist"),
	IS("max_vfs", MEMBER_NUMBER, "VFs that the driver allows"),
	IS("eswitch", MEMBER_TEXT, "mode of the eswitch", NULLABLE),
	IS("bond", MEMBER_TEXT, "bond that the network device is a port of", NULLABLE),
	IS("lag", MEMBER_TEXT, "VF-LAG that the driver makes of the bond", NULLABLE), END};
static const struct member memory_table[] = {
	MEMORY, END};
static const struct member cell_table[] = {
	MEMORY,
	IS("shared_vcpus", MEMBER_NUMBER, "vCPUs on shared CPUs of the node"), END};
static const struct member free_vf_table[] = {
	SECTION("FREEVF", NULL),
	IS("address", MEMBER_TEXT, "PCI address of the VF"),
	IS("pf", MEMBER_TEXT, "PCI address of its PF"),
	IS("index", MEMBER_NUMBER, "the N of PF/N"),
	PLACE, END};
static const struct member occupant_table[] = {
	IS("name", MEMBER_TEXT, "name of the guest"),
	IS("uuid", MEMBER_TEXT, "UUID of the guest"),
	IS("foreign", MEMBER_FLAG, "vfctl did not define the guest: it is never moved"),
	IS("running", MEMBER_FLAG, "the guest runs"),
	IS("cpus", MEMBER_TEXT, "CPUs that only this guest uses"),
	IS("qemu_cpus", MEMBER_TEXT, "core that the QEMU threads of several guests share",
		OPTIONAL),
	FILL("memory", NULL, cell_table, "memory of each cell"),
	FILL("vfs", NULL, free_vf_table, "VFs of the guest"), END};
static const struct member topology_table[] = {
	IS("vfctl_model", MEMBER_NUMBER, "1, the version of this document; --model reads it back "
		"([placement.md](placement.md#the-model-as-json))"),
	FILL("nodes", NULL, node_table, "NUMA nodes by number"),
	FILL_EACH("distances", NULL, MEMBER_FILL, "distances from each node to all nodes, as in "
		"the ACPI SLIT"),
	FILL("cores", NULL, core_table, "cores, ordered by their lowest CPU"),
	IS("online", MEMBER_TEXT, "CPUs that are online"),
	IS("reserved_cpus", MEMBER_TEXT, "CPUs that are kept for the host"),
	IS("reserved_why", MEMBER_TEXT, "where this is configured", NULLABLE),
	IS("shared_cpus", MEMBER_TEXT, "CPUs that shared vCPUs run on"),
	IS("shared_ratio", MEMBER_NUMBER, "shared vCPUs on each of these CPUs; 0: the default, 4"),
	IS("busy_cpus", MEMBER_TEXT, "CPUs in use that belong to no guest of occupants"),
	IS("host_memory_bytes", MEMBER_NUMBER, "memory that is kept for the host on each node"),
	FILL("typical", NULL, typical_table, "guests that are expected next", OPTIONAL),
	IS("typical_why", MEMBER_TEXT, "where this is configured", OPTIONAL),
	FILL("promises", NULL, memory_table, "memory in use that belongs to no guest of occupants"),
	FILL("pfs", NULL, model_pf_table, "PFs by address"),
	FILL("free_vfs", NULL, free_vf_table, "VFs that can be given to a guest"),
	FILL("occupants", NULL, occupant_table, "guests that are placed"), END};
static const struct answer topology_answer[] = {{NULL, topology_table, false}, {0}};

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
	.answer = topology_answer,
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
