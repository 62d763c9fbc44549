// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects, and their places in the tree; colours and words are in picture_style.c. */
#include "topology/picture.h"

#include <inttypes.h>

#include "topology/picture_style.h"

struct drawing {
	const struct vfctl_host_model *model;
	const struct vfctl_topology *topology;
	struct buf *b;
	unsigned objects; /* so far: each has a number of its own */
};

/* ---- objects ---- */

/* "0x00000003,0xffffffff": words of 32 bits, the highest first. */
static void put_set(struct buf *b, const char *name, const struct vfctl_cpuset *set)
{
	int i = VFCTL_CPU_MAX / 32 - 1;

	while (i > 0 && !(uint32_t)(set->word[i / 2] >> (i % 2 * 32)))
		i--;
	buf_printf(b, " %s=\"", name);
	for (int top = i; i >= 0; i--)
		buf_printf(b, "%s0x%08" PRIx32, i < top ? "," : "",
			(uint32_t)(set->word[i / 2] >> (i % 2 * 32)));
	buf_puts(b, "\"");
}

/* The tag's beginning; the caller adds attributes and '>'. */
static void begin_picture(struct drawing *d, const char *type, int index)
{
	buf_printf(d->b, "<object type=\"%s\" gp_index=\"%u\"", type, ++d->objects);
	if (index >= 0)
		buf_printf(d->b, " os_index=\"%d\"", index);
}

static void put_sets(struct drawing *d, const struct vfctl_cpuset *cpus,
	const struct vfctl_cpuset *nodes)
{
	put_set(d->b, "cpuset", cpus);
	put_set(d->b, "complete_cpuset", cpus);
	put_set(d->b, "nodeset", nodes);
	put_set(d->b, "complete_nodeset", nodes);
}

static void end_picture(struct drawing *d)
{
	buf_puts(d->b, "</object>\n");
}

static void put_style(struct drawing *d, uint32_t colour)
{
	buf_printf(d->b, "<info name=\"lstopoStyle\" value=\"Background=#%06" PRIx32
		";Text=#%06" PRIx32 "\"/>\n", colour, style_text(colour));
}

/* A box with a text of its own; stays open for what is inside. */
static void begin_box(struct drawing *d, const char *text, uint32_t colour)
{
	begin_picture(d, "Misc", -1);
	buf_puts(d->b, " name=\"");
	style_put_xml(d->b, text);
	buf_puts(d->b, "\">\n");
	put_style(d, colour);
}

static void put_box(struct drawing *d, const struct buf *text, uint32_t colour)
{
	if (text->failed)
		d->b->failed = true;
	begin_box(d, text->data ? text->data : "", colour);
	end_picture(d);
}

/* ---- cores ---- */

static void put_cpu(struct drawing *d, int cpu, const struct vfctl_cpuset *node)
{
	struct vfctl_cpuset one = {0};

	vfctl_cpuset_add(&one, (unsigned)cpu);
	begin_picture(d, "PU", cpu);
	put_sets(d, &one, node);
	buf_puts(d->b, ">\n");
	put_style(d, style_cpu(d->model, (unsigned)cpu));
	end_picture(d);
}

static void put_core(struct drawing *d, size_t number, const struct vfctl_cpuset *node)
{
	const struct vfctl_core *c = &d->topology->cores[number];

	begin_picture(d, "Core", (int)number);
	put_sets(d, &c->cpus, node);
	buf_puts(d->b, ">\n");
	put_style(d, style_cpu(d->model, (unsigned)vfctl_cpuset_next(&c->cpus, 0)));
	for (int cpu = vfctl_cpuset_next(&c->cpus, 0); cpu >= 0;
		cpu = vfctl_cpuset_next(&c->cpus, (unsigned)cpu + 1))
		put_cpu(d, cpu, node);
	end_picture(d);
}

/* Is core @at the first of its L3 cache on its node? */
static bool leads(const struct vfctl_topology *t, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (t->cores[i].node == t->cores[at].node && t->cores[i].l3 == t->cores[at].l3)
			return false;
	return true;
}

/* Those of one L3 cache, from the first on. */
static void put_group(struct drawing *d, size_t first, const struct vfctl_cpuset *node)
{
	const struct vfctl_topology *t = d->topology;
	const struct vfctl_core *lead = &t->cores[first];
	struct vfctl_cpuset cpus = {0};

	for (size_t i = first; i < t->core_count; i++)
		if (t->cores[i].node == lead->node && t->cores[i].l3 == lead->l3)
			vfctl_cpuset_or(&cpus, &t->cores[i].cpus);
	begin_picture(d, "L3Cache", lead->l3);
	put_sets(d, &cpus, node);
	buf_puts(d->b, " cache_size=\"0\" depth=\"3\" cache_linesize=\"0\" "
		"cache_associativity=\"0\" cache_type=\"0\">\n");
	put_style(d, STYLE_CACHE);
	for (size_t i = first; i < t->core_count; i++)
		if (t->cores[i].node == lead->node && t->cores[i].l3 == lead->l3)
			put_core(d, i, node);
	end_picture(d);
}

static void put_cores(struct drawing *d, const struct vfctl_node *n,
	const struct vfctl_cpuset *node)
{
	const struct vfctl_topology *t = d->topology;

	for (size_t i = 0; i < t->core_count; i++) {
		if (t->cores[i].node != (int)n->id)
			continue;
		if (t->cores[i].l3 < 0)
			put_core(d, i, node);
		else if (leads(t, i))
			put_group(d, i, node);
	}
}

/* ---- PFs and guests ---- */

static void put_pf(struct drawing *d, const struct vfctl_model_pf *p)
{
	const struct vfctl_host_model *m = d->model;
	_buf_ struct buf text = {0};

	style_name_pf(m, p, &text);
	begin_box(d, text.data ? text.data : "", STYLE_PF);
	for (size_t i = 0; i < m->occupant_count; i++) {
		buf_reset(&text);
		if (style_held_vfs(m, p, &m->occupants[i], &text))
			put_box(d, &text, style_guest(i));
	}
	buf_reset(&text);
	if (style_free_vfs(m, p, &text))
		put_box(d, &text, STYLE_FREE);
	end_picture(d);
}

static void put_pfs(struct drawing *d, int node)
{
	for (size_t i = 0; i < d->model->pf_count; i++)
		if (d->model->pfs[i].node == node)
			put_pf(d, &d->model->pfs[i]);
}

static void put_guests(struct drawing *d, const struct vfctl_node *n)
{
	_buf_ struct buf text = {0};

	for (size_t i = 0; i < d->model->occupant_count; i++) {
		buf_reset(&text);
		if (style_share(n, &d->model->occupants[i], &text))
			put_box(d, &text, style_guest(i));
	}
}

/* ---- nodes ---- */

static void put_memory(struct drawing *d, const struct vfctl_node *n,
	const struct vfctl_cpuset *node)
{
	begin_picture(d, "NUMANode", (int)n->id);
	put_sets(d, &n->cpus, node);
	buf_printf(d->b, " local_memory=\"%" PRIu64 "\">\n", n->memory_bytes);
	end_picture(d);
}

/*
 * A group around all that is on a node. dont_merge: it stays where a package has no other
 * node. One without CPUs hangs its boxes into the machine.
 */
static void put_node(struct drawing *d, const struct vfctl_node *n)
{
	struct vfctl_cpuset node = {0};
	bool has_cpus = !vfctl_cpuset_empty(&n->cpus);

	vfctl_cpuset_add(&node, n->id);
	if (has_cpus) {
		begin_picture(d, "Group", -1);
		put_sets(d, &n->cpus, &node);
		buf_printf(d->b,
			" subtype=\"Node %u\" kind=\"0\" subkind=\"%u\" "
			"dont_merge=\"1\">\n",
			n->id, n->id);
		put_style(d, STYLE_NODE);
	}
	put_memory(d, n, &node);
	put_cores(d, n, &node);
	put_pfs(d, (int)n->id);
	put_guests(d, n);
	if (has_cpus)
		end_picture(d);
}

/* The package all cores of a node are in; -1: several, none, or not known. */
static int package_of(const struct vfctl_topology *t, const struct vfctl_node *n)
{
	int package = -2;

	for (size_t i = 0; i < t->core_count; i++)
		if (t->cores[i].node == (int)n->id)
			package = package == -2 || package == t->cores[i].package
				? t->cores[i].package : -1;
	return package < 0 ? -1 : package;
}

/* All nodes of the package of node number @first, unless one before it was of the same. */
static void put_package(struct drawing *d, size_t first)
{
	const struct vfctl_topology *t = d->topology;
	int package = package_of(t, &t->nodes[first]);
	struct vfctl_cpuset cpus = {0}, nodes = {0};

	for (size_t i = 0; i < t->node_count; i++) {
		if (package_of(t, &t->nodes[i]) != package)
			continue;
		if (i < first)
			return;
		vfctl_cpuset_or(&cpus, &t->nodes[i].cpus);
		vfctl_cpuset_add(&nodes, t->nodes[i].id);
	}
	begin_picture(d, "Package", package);
	put_sets(d, &cpus, &nodes);
	buf_puts(d->b, ">\n");
	put_style(d, STYLE_PACKAGE);
	for (size_t i = first; i < t->node_count; i++)
		if (package_of(t, &t->nodes[i]) == package)
			put_node(d, &t->nodes[i]);
	end_picture(d);
}

/* ---- the machine ---- */

static void put_legend(struct drawing *d)
{
	_buf_ struct buf line = {0};

	for (size_t i = 0; style_legend(d->model, i, &line); i++) {
		buf_puts(d->b, "<info name=\"lstopoLegend\" value=\"");
		style_put_xml(d->b, line.data ? line.data : "");
		buf_puts(d->b, "\"/>\n");
		buf_reset(&line);
	}
}

void picture_svg_words(const struct vfctl_host_model *model, struct buf *ret)
{
	_buf_ struct buf line = {0};

	buf_puts(ret, "<title>NUMA nodes, VFs and guests</title>\n<desc>");
	for (size_t i = 0; style_legend(model, i, &line); i++) {
		style_put_xml(ret, line.data ? line.data : "");
		buf_puts(ret, "\n");
		buf_reset(&line);
	}
	buf_puts(ret, "</desc>\n");
}

static void put_machine(struct drawing *d)
{
	const struct vfctl_topology *t = d->topology;
	struct vfctl_cpuset nodes = {0};

	for (size_t i = 0; i < t->node_count; i++)
		vfctl_cpuset_add(&nodes, t->nodes[i].id);
	begin_picture(d, "Machine", 0);
	put_sets(d, &t->online, &nodes);
	put_set(d->b, "allowed_cpuset", &t->online);
	put_set(d->b, "allowed_nodeset", &nodes);
	buf_puts(d->b, ">\n");
	put_style(d, STYLE_MACHINE);
	put_legend(d);
	for (size_t i = 0; i < t->node_count; i++)
		if (package_of(t, &t->nodes[i]) < 0)
			put_node(d, &t->nodes[i]);
		else
			put_package(d, i);
	put_pfs(d, VFCTL_NODE_NONE);
	end_picture(d);
}

void picture_xml(const struct vfctl_host_model *model, struct buf *ret)
{
	struct drawing d = {.model = model, .topology = model->topology, .b = ret};

	buf_puts(ret, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n");
	put_machine(&d);
	buf_puts(ret, "</topology>\n");
}
