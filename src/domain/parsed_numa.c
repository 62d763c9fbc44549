// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the NUMA cells and vCPUs of a domain. */

#include "base/parse.h"
#include "domain/domain.h"

#define CELLS_MAX 256 /* QEMU has at most 128 nodes */

static bool is_strict(const struct xml_node *node)
{
	return node && (!xml_get(node, "mode") || xml_get_is(node, "mode", "strict"));
}

static int read_tune(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_parsed_domain *parsed)
{
	const struct xml_node *tune = xml_child(domain, "numatune");
	const struct xml_node *memory = xml_child(tune, "memory");
	int r = parsed_skip(ctx, parsed,
		parsed_list(ctx, memory, "nodeset", &parsed->memory_nodes));

	parsed->memory_strict = is_strict(memory);
	for (size_t i = 0; i < parsed->cell_count; i++) {
		parsed->cells[i].memory_nodes = parsed->memory_nodes;
		parsed->cells[i].memory_strict = parsed->memory_strict;
	}
	xml_each(node, tune, "memnode")
	{
		struct vfctl_cpuset nodes = {0};
		uint32_t id;

		if (r == 0)
			r = parsed_skip(ctx, parsed, parsed_list(ctx, node, "nodeset", &nodes));
		if (r < 0)
			break;
		vfctl_cpuset_or(&parsed->memory_nodes, &nodes);
		if (!xml_get(node, "cellid") ||
			parse_u32(xml_get(node, "cellid"), 0, CELLS_MAX - 1, &id) < 0 ||
			id >= parsed->cell_count)
			continue;
		parsed->cells[id].memory_nodes = nodes;
		parsed->cells[id].memory_strict = is_strict(node);
	}
	return r;
}

/* A page size applies to the cells that it names, or to all that no other one names. */
static int read_pages(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_parsed_domain *parsed)
{
	const struct xml_node *huge =
		xml_child(xml_child(domain, "memoryBacking"), "hugepages");
	struct vfctl_cpuset named = {0};
	uint64_t other = VFCTL_PAGES_BASE;

	xml_each(page, huge, "page")
	{
		const char *size = xml_get(page, "size");
		struct vfctl_cpuset cells = {0};
		uint64_t bytes = VFCTL_PAGES_BASE;
		int r = size ? parsed_bytes(ctx, page, size, &bytes) : 0;

		if (r == 0)
			r = parsed_list(ctx, page, "nodeset", &cells);
		r = parsed_skip(ctx, parsed, r);
		if (r < 0)
			return r;
		if (!xml_get(page, "nodeset"))
			other = bytes;
		for (size_t i = 0; i < parsed->cell_count; i++)
			if (vfctl_cpuset_has(&cells, (unsigned)i))
				parsed->cells[i].page_bytes = bytes;
		vfctl_cpuset_or(&named, &cells);
	}
	for (size_t i = 0; i < parsed->cell_count; i++)
		if (!vfctl_cpuset_has(&named, (unsigned)i))
			parsed->cells[i].page_bytes = other;
	return 0;
}

/* The cell's number: stated, or its position. */
static int cell_id(struct vfctl_ctx *ctx, const struct xml_node *cell, uint32_t place,
	uint32_t *ret_id)
{
	const char *id = xml_get(cell, "id");

	*ret_id = place;
	if ((id && parse_u32(id, 0, CELLS_MAX - 1, ret_id) < 0) || *ret_id >= CELLS_MAX)
		return parsed_fail(ctx, cell, id ? id : "(too many)");
	return 0;
}

static int add_cell(struct vfctl_ctx *ctx, const struct xml_node *node, uint32_t id,
	struct vfctl_parsed_domain *parsed)
{
	const char *memory = xml_get(node, "memory");
	struct vfctl_domain_cell *cell = &parsed->cells[id];
	int r = parsed_list(ctx, node, "cpus", &cell->vcpus);

	if (r == 0 && memory)
		r = parsed_bytes(ctx, node, memory, &cell->memory_bytes);
	if (id >= parsed->cell_count)
		parsed->cell_count = id + 1;
	return r;
}

/* Distances that are not stated are 10 and 20. */
static int read_distances(struct vfctl_ctx *ctx, const struct xml_node *numa,
	struct vfctl_parsed_domain *parsed)
{
	size_t n = parsed->cell_count;
	uint32_t place = 0, from = 0, to = 0, value = 0;

	xml_each(cell, numa, "cell")
	{
		int r = cell_id(ctx, cell, place++, &from);

		if (r < 0)
			return r;
		xml_each(sibling, xml_child(cell, "distances"), "sibling")
		{
			const char *id = xml_get(sibling, "id");
			const char *text = xml_get(sibling, "value");

			if (!id || !text || parse_u32(id, 0, CELLS_MAX - 1, &to) < 0 ||
				parse_u32(text, 0, DISTANCE_UNREACHABLE, &value) < 0 ||
				to >= n)
				return parsed_fail(ctx, sibling, text ? text : "");
			if (!parsed->distances)
				parsed->distances = calloc(n * n, sizeof(*parsed->distances));
			if (!parsed->distances)
				return ctx_oom(ctx);
			parsed->distances[from * n + to] = value;
		}
	}
	for (size_t i = 0; parsed->distances && i < n * n; i++)
		if (!parsed->distances[i])
			parsed->distances[i] = i / n == i % n ? DISTANCE_LOCAL
							    : 2 * DISTANCE_LOCAL;
	return 0;
}

/* A domain without cells is one cell. */
static void make_only_cell(struct vfctl_parsed_domain *parsed)
{
	parsed->cell_count = 1;
	parsed->cells[0].memory_bytes = parsed->memory_bytes;
	for (uint32_t i = 0; i < parsed->vcpus && i < VFCTL_CPU_MAX; i++)
		vfctl_cpuset_add(&parsed->cells[0].vcpus, i);
}

/* The highest number of a cell, which determines the size of the array. */
static int allocate_cells(struct vfctl_ctx *ctx, const struct xml_node *numa,
	struct vfctl_parsed_domain *parsed)
{
	uint32_t place = 0, id = 0, last = 0;

	xml_each(cell, numa, "cell")
	{
		int r = parsed_skip(ctx, parsed, cell_id(ctx, cell, place++, &id));

		if (r < 0)
			return r;
		if (id >= CELLS_MAX)
			continue;
		last = id > last ? id : last;
	}
	parsed->cells = calloc(last + 1, sizeof(*parsed->cells));
	return parsed->cells ? 0 : ctx_oom(ctx);
}

int parsed_read_cells(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_parsed_domain *parsed)
{
	const struct xml_node *numa = xml_child(xml_child(domain, "cpu"), "numa");
	uint32_t place = 0, id = 0;
	int r = allocate_cells(ctx, numa, parsed);

	if (r < 0)
		return r;
	xml_each(cell, numa, "cell")
	{
		r = cell_id(ctx, cell, place++, &id);
		if (r == 0)
			r = add_cell(ctx, cell, id, parsed);
		r = parsed_skip(ctx, parsed, r);
		if (r < 0)
			return r;
	}
	if (!parsed->cell_count)
		make_only_cell(parsed);
	r = parsed_skip(ctx, parsed, read_distances(ctx, numa, parsed));
	if (r == 0)
		r = read_tune(ctx, domain, parsed);
	return r < 0 ? r : read_pages(ctx, domain, parsed);
}
