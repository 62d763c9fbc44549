// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
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

/*
 * The planner writes this document itself, in the form that it reads
 * (src/placement/model/format.c); these rows describe it. The tests compare the two.
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
	IS("exposed", MEMBER_TEXT,
		"why no guest gets its other free VFs, or more of them; null: guests get them", NULLABLE),
	IS("card", MEMBER_TEXT, "vendor and device, by pci.ids", NULLABLE),
	IS("driver", MEMBER_TEXT, "driver", NULLABLE),
	IS("speed_mbps", MEMBER_NUMBER, "speed of the port in Mbit/s; 0: unknown"),
	IS("eswitch", MEMBER_TEXT, "mode of the eswitch", NULLABLE),
	IS("bond", MEMBER_TEXT, "bond that the network device is a port of", NULLABLE),
	IS("lag", MEMBER_TEXT, "VF-LAG that the driver makes of the bond", NULLABLE), END};
static const struct member gpu_pf_table[] = {
	IS("pf", MEMBER_TEXT, "PCI address of the PF"),
	IS("distance", MEMBER_TEXT, "what is between them, in the words of nvidia-smi topo: PIX (at most "
		"one PCIe switch), PXB (several), PHB (a host bridge), NODE (two host bridges of "
		"a NUMA node), SYS (two NUMA nodes), unknown"), END};
static const struct member gpu_table[] = {
	IS("address", MEMBER_TEXT, "PCI address"),
	IS("vendor", MEMBER_TEXT, "NVIDIA, AMD, Intel, or the number of another vendor", NULLABLE),
	IS("driver", MEMBER_TEXT, "driver", NULLABLE),
	IS("node", MEMBER_NUMBER, "NUMA node", NULLABLE),
	FILL("pfs", NULL, gpu_pf_table, "PFs and their distance from the GPU"), END};
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
		"([placement.md](../explanation/placement.md#the-model-as-json))"),
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
	FILL("gpus", NULL, gpu_table, "GPUs and other accelerators by address", OPTIONAL),
	FILL("free_vfs", NULL, free_vf_table, "VFs that can be given to a guest"),
	FILL("occupants", NULL, occupant_table, "guests that are placed"), END};
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
