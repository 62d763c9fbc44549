// SPDX-License-Identifier: GPL-2.0-or-later
/* cells: auto, a number, or a list; and the keys of VFs that concern cells. */
#include <errno.h>
#include <inttypes.h>

#include "spec/guest.h"

#define MIB (UINT64_C(1) << 20)

static int read_cell_memory(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	struct vfctl_cell_want *cell = object;

	return read_memory_size(r, key, value, &cell->memory_bytes);
}

static int read_node(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	uint32_t node;
	const struct key number = {.name = key->name, .max = VFCTL_CPU_MAX - 1};
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error < 0 || str_eq(text, "any"))
		return error;
	error = read_u32(r, &number, value, &node);
	if (error == 0)
		*(int *)((char *)object + key->offset) = (int)node;
	return error;
}

int read_guest_node(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return read_node(r, key, value, object);
}

#define C(member) offsetof(struct vfctl_cell_want, member)

static const struct key cell_keys[] = {
	{"vcpus", read_u32, C(vcpus), 1, VFCTL_VCPU_MAX, NULL},
	{"memory", read_cell_memory, 0, 0, 0, NULL},
	{"node", read_node, C(node), 0, 0, NULL},
};

static const char *const node_text[] = {"any", NULL};
static const struct shape cell_shapes[] = {
	{.read = read_cell_memory, .kinds = SHAPE_TEXT, .pattern = SIZE_PATTERN},
	{.read = read_node, .kinds = SHAPE_NUMBER, .max = VFCTL_CPU_MAX - 1, .choices = node_text},
};
static const char *const cell_required[] = {"vcpus", "memory", NULL};
const struct table cell_table = {cell_keys, ARRAY_SIZE(cell_keys), cell_shapes,
	ARRAY_SIZE(cell_shapes), .required = cell_required, .remedy = "every cell needs one"};

static int read_cell(struct reader *r, const struct doc_node *node, void *object)
{
	struct vfctl_guest *guest = object;
	struct vfctl_cell_want *cell;

	if (!array_grow(guest->cells, guest->cell_count))
		return ctx_oom(r->ctx);
	cell = &guest->cells[guest->cell_count++];
	*cell = (struct vfctl_cell_want){.node = VFCTL_NODE_NONE};
	return reader_table(r, node, &cell_table, cell, NULL);
}

int read_guest_cells(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const struct key number = {.name = key->name, .min = 1, .max = VFCTL_CELLS_MAX};
	struct vfctl_guest *guest = object;
	const char *text;
	int error;

	if (value->kind == DOC_LIST) {
		error = reader_each(r, key, value, VFCTL_CELLS_MAX, object, read_cell);
		if (error == 0 && !guest->cell_count)
			error = reader_fail(r, value, key->name, -EINVAL,
				"is empty; write an entry or remove the key");
		return error;
	}
	error = reader_text(r, key, value, &text);
	if (error < 0 || str_eq(text, "auto"))
		return error;
	/* finish_guest_cells() splits it when the whole file is known. */
	return read_u32(r, &number, value, &guest->cells_max);
}

/* As evenly as whole vCPUs and whole pages allow; the first cells get the remainder. */
static int split_evenly(struct reader *r, const struct doc_node *at, struct vfctl_guest *g)
{
	/* For pages of any size, so that the largest size still divides the memory of each cell. */
	uint64_t page = g->page_bytes != VFCTL_PAGES_AUTO && g->page_bytes ? g->page_bytes
		: g->memory_bytes % (1024 * MIB) == 0 &&
			g->memory_bytes / (1024 * MIB) >= g->cells_max ? 1024 * MIB : 2 * MIB;
	uint64_t pages = g->memory_bytes / page, rest = g->memory_bytes % page;
	uint32_t n = g->cells_max;

	if (n > g->vcpus || pages < n)
		return reader_fail(r, at, "cells", -EINVAL, "%" PRIu32 " cells for %" PRIu32
			" vCPUs and %" PRIu64 " MiB: each needs a vCPU and a page of %" PRIu64
			" MiB", n, g->vcpus, g->memory_bytes / MIB, page / MIB);
	g->cells = calloc(n, sizeof(*g->cells));
	if (!g->cells)
		return ctx_oom(r->ctx);
	for (uint32_t k = 0; k < n; k++)
		g->cells[k] = (struct vfctl_cell_want){.node = VFCTL_NODE_NONE,
			.vcpus = g->vcpus / n + (k < g->vcpus % n),
			.memory_bytes = (pages / n + (k < pages % n)) * page +
				(k == 0 ? rest : 0)};
	g->cell_count = n;
	g->cells_max = 0;
	return 0;
}

static int sum_cells(struct reader *r, const struct doc_node *at, struct vfctl_guest *g)
{
	uint64_t vcpus = 0, memory = 0;

	for (size_t k = 0; k < g->cell_count; k++) {
		vcpus += g->cells[k].vcpus;
		memory += g->cells[k].memory_bytes;
	}
	if (g->vcpus && g->vcpus != vcpus)
		return reader_fail(r, at, "cells", -EINVAL, "they have %" PRIu64 " vCPUs together, but "
			"vcpus is %" PRIu32 "; correct one of the two (vcpus can be omitted)",
			vcpus, g->vcpus);
	if (g->memory_bytes && g->memory_bytes != memory)
		return reader_fail(r, at, "cells", -EINVAL, "they have %" PRIu64 " MiB together, but "
			"memory is %" PRIu64 " MiB; correct one of the two (memory can be "
			"omitted)", memory / MIB, g->memory_bytes / MIB);
	if (vcpus > VFCTL_VCPU_MAX)
		return reader_fail(r, at, "cells", -EINVAL, "they have %" PRIu64 " vCPUs together; "
			"a guest has at most %d", vcpus, VFCTL_VCPU_MAX);
	g->vcpus = (uint32_t)vcpus;
	g->memory_bytes = memory;
	return 0;
}

int finish_guest_cells(struct reader *r, const struct doc_node *at, struct vfctl_guest *g)
{
	uint64_t page = g->page_bytes;
	int error = 0;

	if (g->cell_count)
		error = sum_cells(r, at, g);
	else if (g->cells_max > 1)
		error = split_evenly(r, at, g);
	for (size_t k = 0; k < g->cell_count && error == 0; k++)
		if (page != VFCTL_PAGES_AUTO && page && g->cells[k].memory_bytes % page)
			error = reader_fail(r, at, "cells", -EINVAL, "the memory of cell %zu, %" PRIu64
				" MiB, is not a whole number of pages of %" PRIu64 " MiB", k,
				g->cells[k].memory_bytes / MIB, page / MIB);
	if (error == 0 && g->shared_vcpus > g->vcpus)
		error = g->shared_vcpus == UINT32_MAX ? 0 : reader_fail(r, at, "shared_vcpus",
			-EINVAL, "%" PRIu32 " of %" PRIu32 " vCPUs; write all, or a smaller number",
			g->shared_vcpus, g->vcpus);
	if (error == 0 && g->shared_vcpus == UINT32_MAX)
		g->shared_vcpus = g->vcpus;
	return error;
}

int read_guest_shared(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_guest *guest = object;
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error == 0 && str_eq(text, "all")) {
		guest->shared_vcpus = UINT32_MAX;
		return 0;
	}
	return error < 0 ? error : read_u32(r, key, value, object);
}

/* ---- cells of VFs ---- */

int read_vf_cell(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const struct key number = {.name = key->name, .max = VFCTL_CELLS_MAX - 1};
	struct vfctl_guest_vf *vf = object;
	uint32_t cell;
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error < 0 || str_eq(text, "any"))
		return error;
	if (str_eq(text, "each")) {
		vf->cell = VFCTL_CELL_EACH;
		return 0;
	}
	error = read_u32(r, &number, value, &cell);
	if (error == 0)
		vf->cell = (int)cell;
	return error;
}

static bool is_one_set(const struct vfctl_guest_vf *a, const struct vfctl_guest_vf *b)
{
	return (a->bond && b->bond && str_eq(a->bond, b->bond)) || (a->anti_affinity_name &&
		b->anti_affinity_name && str_eq(a->anti_affinity_name, b->anti_affinity_name));
}

/* A MAC that one entry of a bond states is that of all its ports. */
static int share_mac(struct reader *r, const struct doc_node *at, struct vfctl_guest *g, size_t i)
{
	struct vfctl_guest_vf *vf = &g->vfs[i];

	for (size_t k = 0; vf->bond && k < g->vf_count; k++) {
		struct vfctl_guest_vf *other = &g->vfs[k];

		if (!is_one_set(vf, other) || !(vf->attrs.mask & VFCTL_ATTR_MAC))
			continue;
		if (other->attrs.mask & VFCTL_ATTR_MAC &&
			memcmp(&other->attrs.mac, &vf->attrs.mac, sizeof(vf->attrs.mac)))
			return reader_fail(r, at, "vfs", -EINVAL, "entries %zu and %zu are ports of the "
				"bond %s, which has one MAC, but state two; keep one of them", k, i,
				vf->bond);
		other->attrs.mac = vf->attrs.mac;
		other->attrs.mask |= VFCTL_ATTR_MAC;
	}
	return 0;
}

/* Names become numbers, the same for the same name. */
int finish_guest_vf_cells(struct reader *r, const struct doc_node *at, struct vfctl_guest *g)
{
	uint32_t next = 1;
	int error = 0;

	for (size_t i = 0; i < g->vf_count && error == 0; i++) {
		struct vfctl_guest_vf *vf = &g->vfs[i];

		if ((vf->cell >= 0 && (size_t)vf->cell >= g->cell_count) ||
			(vf->cell == VFCTL_CELL_EACH && !g->cell_count))
			return reader_fail(r, at, "vfs", -EINVAL, "entry %zu is for %s, but the guest "
				"has %zu cells; state them under cells:", i,
				vf->cell < 0 ? "each cell" : "a cell with a higher number",
				g->cell_count);
		for (size_t k = 0; k < i && !vf->anti_affinity; k++)
			if (is_one_set(&g->vfs[k], vf))
				vf->anti_affinity = g->vfs[k].anti_affinity;
		if ((vf->anti_affinity_name || vf->bond) && !vf->anti_affinity)
			vf->anti_affinity = next++;
		error = share_mac(r, at, g, i);
	}
	return error;
}
