// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads of nodes that guests can still use. */
#include "placement/search/capacity.h"

uint32_t capacity_usable_threads(const struct capacity *s, const struct node_free *room)
{
	uint32_t open = capacity_open_threads(s, room);
	uint64_t bytes = 0, threads;

	for (unsigned p = 0; p < s->page_count; p++)
		bytes += room->memory[p];
	threads = s->thread_bytes ? bytes / s->thread_bytes : open;
	return threads < open ? (uint32_t)threads : open;
}

uint64_t capacity_threads_within(const struct capacity *s, const struct node_free *rooms,
	uint64_t slack)
{
	uint64_t open = 0, all = 0;

	for (unsigned n = 0; n < s->node_count; n++) {
		open += capacity_open_threads(s, &rooms[n]);
		all += rooms[n].threads;
	}
	return all - open < slack ? all : open + slack;
}

/* If no core carries QEMU's threads yet, the next guest uses the smallest one for that. */
uint32_t capacity_open_threads(const struct capacity *s, const struct node_free *room)
{
	for (unsigned c = 0; c < s->class_count && s->next_share && !room->qemu_slots; c++)
		if (room->cores[c])
			return room->threads - s->class_threads[c];
	return room->threads;
}
