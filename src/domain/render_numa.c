// SPDX-License-Identifier: GPL-2.0-or-later
/* The guest's NUMA cells: memory, its pages and nodes, topology and distances. */
#include <inttypes.h>

#include "domain/domain.h"

static void set_size(struct xml_node *node, uint64_t bytes)
{
	xml_set(node, "unit", "KiB");
	xml_set_textf(node, "%" PRIu64, bytes / 1024);
}

void render_set_list(
	struct xml_node *node, const char *attr, const struct vfctl_cpuset *set)
{
	size_t size = vfctl_cpuset_format(set, NULL, 0) + 1;
	_free_ char *text = malloc(size);

	if (text)
		vfctl_cpuset_format(set, text, size);
	xml_set(node, attr, text);
}

/* The guest cells that use pages of this size. */
static struct vfctl_cpuset cells_of_size(const struct vfctl_assignment *a, uint64_t bytes)
{
	struct vfctl_cpuset set = {0};

	for (size_t i = 0; i < a->cell_count; i++)
		if (a->cells[i].page_bytes == bytes)
			vfctl_cpuset_add(&set, (unsigned)i);
	return set;
}

static void add_page(struct xml_node *huge, const struct vfctl_assignment *a, uint64_t bytes)
{
	struct vfctl_cpuset set = cells_of_size(a, bytes);
	struct xml_node *page = xml_add(huge, "page");

	xml_setf(page, "size", "%" PRIu64, bytes / 1024);
	xml_set(page, "unit", "KiB");
	render_set_list(page, "nodeset", &set);
}

/* One <page> for each size; cells with base pages are in none. */
static void render_hugepages(struct render *r, struct xml_node *backing)
{
	const struct vfctl_assignment *a = r->assignment;
	struct xml_node *huge = NULL;

	xml_remove_children(backing, "hugepages");
	for (size_t i = 0; i < a->cell_count; i++) {
		uint64_t bytes = a->cells[i].page_bytes;
		struct vfctl_cpuset set = cells_of_size(a, bytes);

		if (bytes == VFCTL_PAGES_BASE || vfctl_cpuset_next(&set, 0) != (int)i)
			continue;
		if (!huge)
			huge = xml_add_before(
				backing, xml_child(backing, NULL), "hugepages");
		add_page(huge, a, bytes);
	}
}

static void render_allocation(struct render *r, struct xml_node *backing)
{
	enum vfctl_choice choice = r->guest->xml.preallocate;
	size_t vcpus = r->assignment->vcpu_count;
	struct xml_node *allocation;
	bool added;

	allocation = render_child(backing, "allocation", &added);
	if (!added && choice == VFCTL_CHOICE_AUTO)
		return;
	xml_set(allocation, "mode",
		choice == VFCTL_CHOICE_OFF ? "ondemand" : "immediate");
	if (choice == VFCTL_CHOICE_OFF)
		xml_unset(allocation, "threads");
	else if (r->version >= SINCE_ALLOCATION_THREADS && vcpus > 1)
		xml_setf(allocation, "threads", "%zu", vcpus < 16 ? vcpus : 16);
}

static void render_backing(struct render *r)
{
	static const struct message memfd = {"memfd", NULL, NULL};
	static const struct message shared = {"shared", NULL, NULL};
	const struct vfctl_guest_xml *x = &r->guest->xml;
	struct xml_node *backing = render_section(r, "memoryBacking");

	render_hugepages(r, backing);
	/* Merged pages move between nodes, and the first write to one delays the guest. */
	if (x->nosharepages == VFCTL_CHOICE_OFF)
		xml_remove_children(backing, "nosharepages");
	else
		render_child(backing, "nosharepages", NULL);
	/* A thread under FIFO must not wait for a page from disk. */
	if (r->guest->locked || x->realtime)
		render_child(backing, "locked", NULL);
	render_choice(backing, "source", "type", x->shared_memory, &memfd);
	render_choice(backing, "access", "mode", x->shared_memory, &shared);
	render_allocation(r, backing);
}

static void render_numatune(struct render *r)
{
	static const char *const ours[] = {"memory", "memnode"};
	const struct vfctl_assignment *a = r->assignment;
	struct xml_node *tune = render_section(r, "numatune"), *before, *node;
	struct vfctl_cpuset nodes = {0};

	for (size_t i = 0; i < a->cell_count; i++)
		vfctl_cpuset_add(&nodes, (unsigned)a->cells[i].memory_node);
	before = render_take_out(tune, ours, ARRAY_SIZE(ours));
	node = xml_add_before(tune, before, "memory");
	xml_set(node, "mode", "strict");
	render_set_list(node, "nodeset", &nodes);
	for (size_t i = 0; i < a->cell_count; i++) {
		node = xml_add_before(tune, before, "memnode");
		xml_setf(node, "cellid", "%zu", i);
		xml_set(node, "mode", "strict");
		xml_setf(node, "nodeset", "%d", a->cells[i].memory_node);
	}
}

void render_memory(struct render *r)
{
	set_size(render_section(r, "memory"), r->assignment->memory_bytes);
	/* It must not exceed the memory size, and without a balloon it never differs. */
	xml_remove_children(r->domain, "currentMemory");
	render_backing(r);
	render_numatune(r);
}

static size_t common_divisor(size_t a, size_t b)
{
	while (b) {
		size_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * The largest number of cores that divides every cell, so that no socket is in two cells. Linux
 * warns about a cache that two nodes share, and a guest's L3 belongs to its socket.
 */
static size_t cores_per_socket(const struct vfctl_assignment *a)
{
	size_t cores = 0;

	for (size_t i = 0; i < a->cell_count; i++)
		cores = common_divisor(a->cells[i].vcpu_count / a->guest_threads, cores);
	return cores;
}

/* Number of L3 caches that each cell fills, if all cells have the same shape; else 0. */
static uint32_t common_l3(const struct vfctl_assignment *a)
{
	for (size_t i = 1; i < a->cell_count; i++)
		if (a->cells[i].vcpu_count != a->cells[0].vcpu_count ||
			a->cells[i].l3_groups != a->cells[0].l3_groups)
			return 0;
	return a->cells[0].l3_groups;
}

static void set_topology(struct render *r, struct xml_node *node)
{
	const struct vfctl_assignment *a = r->assignment;
	size_t cores = cores_per_socket(a), dies = common_l3(a);
	size_t sockets = a->vcpu_count / a->guest_threads / cores;

	if (!dies || cores % dies || r->guest->xml.l3 == VFCTL_CHOICE_OFF)
		dies = 1;
	xml_setf(node, "sockets", "%zu", sockets);
	/* One die for each, so that the guest sees which cores share an L3. */
	if (dies > 1)
		xml_setf(node, "dies", "%zu", dies);
	xml_setf(node, "cores", "%zu", cores / dies);
	xml_setf(node, "threads", "%" PRIu32, a->guest_threads);
}

/* QEMU accepts 10 only for a cell itself; some firmware also states it for others. */
static unsigned guest_distance(const unsigned *row, size_t from, size_t to)
{
	if (from == to)
		return DISTANCE_LOCAL;
	return row[to] > DISTANCE_LOCAL ? row[to] : DISTANCE_LOCAL + 1;
}

static void add_distances(struct xml_node *cell, const unsigned *row, size_t from, size_t n)
{
	struct xml_node *distances = xml_add(cell, "distances"), *sibling;

	for (size_t to = 0; to < n; to++) {
		sibling = xml_add(distances, "sibling");
		xml_setf(sibling, "id", "%zu", to);
		xml_setf(sibling, "value", "%u", guest_distance(row, from, to));
	}
}

static void add_cell(struct render *r, struct xml_node *numa, size_t number)
{
	const struct vfctl_assignment *a = r->assignment;
	const struct vfctl_cell *cell = &a->cells[number];
	const unsigned *distances = r->request->cell_distances;
	struct xml_node *node = xml_add(numa, "cell");
	uint32_t last = cell->first_vcpu + cell->vcpu_count - 1;

	xml_setf(node, "id", "%zu", number);
	if (cell->vcpu_count > 1)
		xml_setf(node, "cpus", "%" PRIu32 "-%" PRIu32, cell->first_vcpu, last);
	else
		xml_setf(node, "cpus", "%" PRIu32, last);
	xml_setf(node, "memory", "%" PRIu64, cell->memory_bytes / 1024);
	xml_set(node, "unit", "KiB");
	if (distances && a->cell_count > 1 &&
		r->guest->xml.distances != VFCTL_CHOICE_OFF)
		add_distances(node, distances + number * a->cell_count, number,
			a->cell_count);
}

/* virtiofs and vhost-user need memory that other processes can map, in all cells. */
static bool is_shared(const struct xml_node *numa)
{
	xml_each(cell, numa, "cell")
		if (xml_get_is(cell, "memAccess", "shared"))
			return true;
	return false;
}

void render_cells(struct render *r, struct xml_node *cpu)
{
	static const char *const ours[] = {"topology", "numa"};
	bool shared = is_shared(xml_child(cpu, "numa"));
	struct xml_node *before = render_take_out(cpu, ours, ARRAY_SIZE(ours)), *numa;

	set_topology(r, xml_add_before(cpu, before, "topology"));
	numa = xml_add_before(cpu, before, "numa");
	for (size_t i = 0; i < r->assignment->cell_count; i++)
		add_cell(r, numa, i);
	xml_each(cell, numa, "cell")
		if (shared)
			xml_set(cell, "memAccess", "shared");
}
