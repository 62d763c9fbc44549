// SPDX-License-Identifier: GPL-2.0-or-later
/* The numbers of cores of each class that one cell may take on a node. */
#include "placement/search/options.h"

/*
 * A permutation of an earlier vector is not another option: with many cells it would multiply the
 * options.
 */
static void add_vector(struct gen *g, const struct vector *v, struct vector *list,
	size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		if (memcmp(list[i].cores, v->cores, sizeof(v->cores)) == 0)
			return;
	if (*count < VECTORS_MAX)
		list[(*count)++] = *v;
	else
		g->list->cut = true;
}

/* The vector is wasteful if one core can be removed and the rest is enough. */
static bool is_wasteful(const struct gen *g, const struct vector *v, uint32_t vcpus)
{
	uint32_t sum = 0, smallest = 0;

	for (unsigned c = g->capacity->class_count; c-- > 0;) {
		sum += v->cores[c] * g->capacity->class_threads[c];
		if (v->cores[c])
			smallest = g->capacity->class_threads[c];
	}
	return smallest && sum - smallest >= vcpus;
}

/* Cores of classes from @class down that hold @left more vCPUs, @each per core. */
static void fill_classes(struct gen *g, const struct node_free *room, unsigned class,
	uint32_t left, uint32_t vcpus, bool one_each, struct vector *v, struct vector *list,
	size_t *count)
{
	uint32_t threads = one_each ? 1 : g->capacity->class_threads[class];
	uint32_t need = (left + threads - 1) / threads;
	uint32_t most = need < room->cores[class] ? need : room->cores[class];

	if (g->list->cut)
		return;
	if (class == 0) {
		v->cores[0] = (uint16_t)need;
		if (need <= room->cores[0] && (one_each || !is_wasteful(g, v, vcpus)))
			add_vector(g, v, list, count);
		return;
	}
	g->list->work += class > 1 ? most : most / 16;
	for (uint32_t n = most + 1; n-- > 0;) {
		v->cores[class] = (uint16_t)n;
		fill_classes(g, room, class - 1, n * threads > left ? 0 : left - n * threads,
			vcpus, one_each, v, list, count);
	}
}

static void even_vectors(struct gen *g, const struct node_free *room, uint32_t vcpus,
	struct vector *list, size_t *count)
{
	for (unsigned c = g->capacity->class_count; c-- > 0;) {
		uint32_t threads = g->capacity->class_threads[c];
		struct vector v = {.threads = threads};

		if (threads < 2 || vcpus % threads || vcpus / threads > room->cores[c])
			continue;
		v.cores[c] = (uint16_t)(vcpus / threads);
		add_vector(g, &v, list, count);
	}
}

size_t option_vectors(struct gen *g, const struct node_free *room, uint32_t vcpus,
	struct vector list[VECTORS_MAX])
{
	enum vfctl_threads policy = g->r->threads;
	bool isolate = policy == VFCTL_THREADS_ISOLATE;
	struct vector v = {.threads = 1};
	size_t count = 0;

	if (!vcpus) {
		add_vector(g, &v, list, &count);
		return count;
	}
	if (policy == VFCTL_THREADS_PREFER || policy == VFCTL_THREADS_REQUIRE)
		even_vectors(g, room, vcpus, list, &count);
	if (policy == VFCTL_THREADS_REQUIRE)
		return count;
	fill_classes(g, room, g->capacity->class_count - 1, vcpus, vcpus, isolate, &v, list,
		&count);
	return count;
}

/* A guest with a whole node does not share CPUs on it. */
static enum qemu_place qemu_place(const struct gen *g, unsigned node)
{
	if (g->demand->current && g->demand->current->qemu_node == (int)node)
		return QEMU_KEPT;
	if (g->rooms[node].qemu_slots)
		return QEMU_SEAT;
	return g->r->whole_node ? QEMU_OWN : QEMU_NEW;
}

uint32_t option_qemu_cores(const struct gen *g, unsigned node)
{
	enum qemu_place place = qemu_place(g, node);

	return request_has_auto(g->r) && place != QEMU_SEAT && place != QEMU_KEPT;
}

size_t option_host_cell(const struct gen *g)
{
	size_t k = 0;

	while (k < g->count && g->rooms[g->cells[k].node].qemu_slots != SEATS_HOST)
		k++;
	return k;
}

bool option_extra(struct gen *g, size_t number)
{
	struct opt_cell *cell = &g->cells[number];
	bool has_qemu = number == g->qemu && request_has_auto(g->r);
	uint32_t need = (number == g->extra ? request_extra_cores(g->r) : 0) +
		(has_qemu ? option_qemu_cores(g, cell->node) : 0);

	memset(cell->extra, 0, sizeof(cell->extra));
	cell->qemu = has_qemu ? qemu_place(g, cell->node) : QEMU_ELSEWHERE;
	for (unsigned c = 0; c < g->capacity->class_count && need; c++) {
		uint32_t left = (uint32_t)(g->rooms[cell->node].cores[c] - cell->cores[c]);

		cell->extra[c] = (uint16_t)(left < need ? left : need);
		need -= cell->extra[c];
		if (cell->extra[c])
			cell->qemu_class = (uint8_t)c;
	}
	return !need;
}

uint32_t option_held_cores(const struct opt_cell *cell)
{
	uint32_t n = 0;

	for (unsigned c = 0; c < CAPACITY_CLASSES_MAX; c++)
		n += (uint32_t)(cell->cores[c] + cell->extra[c]);
	return n - (cell->qemu == QEMU_NEW);
}

bool option_l3(const struct gen *g, struct opt_cell *cell)
{
	uint32_t size = g->capacity->nodes[cell->node].l3_cores, cores = option_held_cores(cell);
	const struct node_free *room = &g->rooms[cell->node];

	cell->l3 = 0;
	if (!g->r->whole_l3)
		return true;
	if (!size)
		return false;
	cell->l3 = (uint16_t)((cores + size - 1) / size);
	/* A core that is shared with others is in none of its groups. */
	return cell->l3 <= room->l3_whole &&
		cell->l3 * size + (cell->qemu == QEMU_NEW) <= room->core_count;
}

bool option_fills_host(const struct gen *g)
{
	uint32_t cores = 0;

	for (size_t k = 0; k < g->count; k++)
		cores += option_held_cores(&g->cells[k]);
	return cores == g->capacity->core_count;
}
