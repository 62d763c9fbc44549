// SPDX-License-Identifier: GPL-2.0-or-later
/* Subtract a placed guest from its nodes. */
#include "placement/search/search.h"

static void take_cores(struct node_free *room, const uint16_t *cores,
	const struct capacity *capacity)
{
	for (unsigned c = 0; c < capacity->class_count; c++) {
		uint16_t n = cores[c] < room->cores[c] ? cores[c] : room->cores[c];

		room->cores[c] = (uint16_t)(room->cores[c] - n);
		room->core_count = (uint16_t)(room->core_count - n);
		room->threads -= n * capacity->class_threads[c];
	}
}

/* Cores of its groups without a vCPU are held as well. */
static void take_whole_l3(const struct capacity *capacity, struct node_free *room,
	const struct opt_cell *cell)
{
	uint32_t rest = (uint32_t)cell->l3 * capacity->nodes[cell->node].l3_cores -
		option_held_cores(cell);
	uint16_t cores[CAPACITY_CLASSES_MAX] = {0};

	for (unsigned c = capacity->class_count; c-- > 0 && rest;) {
		cores[c] = (uint16_t)(rest < room->cores[c] ? rest : room->cores[c]);
		rest -= cores[c];
	}
	take_cores(room, cores, capacity);
	room->l3_whole = (uint16_t)(room->l3_whole - cell->l3);
}

static void take_slot(struct node_free *room, const struct opt_cell *cell,
	const struct capacity *capacity)
{
	if (cell->qemu == QEMU_NEW)
		room->qemu_slots = (uint16_t)(capacity->class_threads[cell->qemu_class] *
			VFCTL_QEMU_GUESTS_PER_CPU);
	if ((cell->qemu == QEMU_NEW || cell->qemu == QEMU_SEAT) && room->qemu_slots != SEATS_HOST &&
		room->qemu_slots)
		room->qemu_slots--;
}

static void take_held(const struct capacity *capacity, const struct current_place *current,
	struct node_free *rooms)
{
	for (unsigned n = 0; current->page >= 0 && n < capacity->node_count; n++) {
		uint64_t *memory = &rooms[n].memory[current->page], held = current->held[n];

		if (held)
			*memory -= held < *memory ? held : *memory;
	}
}

void option_take(const struct capacity *capacity, const struct demand *demand,
	const struct option *o,
	const struct opt_cell *cells, struct node_free *rooms)
{
	if (o->stay)
		take_held(capacity, demand->current, rooms);
	for (size_t k = 0; k < o->cell_count; k++) {
		struct node_free *room = &rooms[cells[k].node];
		uint64_t *memory = &rooms[cells[k].memory_node].memory[o->page];
		uint16_t size = capacity->nodes[cells[k].node].l3_cores;

		take_cores(room, cells[k].cores, capacity);
		take_cores(room, cells[k].extra, capacity);
		take_slot(room, &cells[k], capacity);
		if (cells[k].l3)
			take_whole_l3(capacity, room, &cells[k]);
		if (demand->request->whole_node)
			take_cores(room, room->cores, capacity);
		if (size && room->core_count / size < room->l3_whole)
			room->l3_whole = (uint16_t)(room->core_count / size);
		room->shared -= cells[k].shared < room->shared ? cells[k].shared : room->shared;
		*memory -= cells[k].memory < *memory ? cells[k].memory : *memory;
		if (demand->current && !o->stay)
			rooms[cells[k].memory_node].entered |= (uint16_t)(1 << o->page);
		if (demand->request->whole_node) {
			room->shared = 0;
			memset(room->memory, 0, sizeof(room->memory));
		}
		room->touched = true;
		rooms[cells[k].memory_node].touched = true;
	}
}
