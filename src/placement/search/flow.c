// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/search/flow.h"

#include <errno.h>

#define UNREACHED INT64_MAX

void flow_clear(struct flow *f)
{
	free(f->cost);
	free(f->left);
	free(f->to);
	free(f->next);
	free(f->first);
	free(f->distance);
	free(f->via);
	free(f->queue);
	free(f->queued);
	*f = (struct flow){0};
}

static bool grow(void *array, size_t count, size_t size)
{
	void **p = array, *bigger = realloc(*p, count * size);

	if (bigger)
		*p = bigger;
	return bigger != NULL;
}

int flow_node(struct flow *f)
{
	size_t room = f->node_room ? f->node_room * 2 : 64;

	if (f->node_count == f->node_room) {
		if (room > INT32_MAX / 2 || !grow(&f->first, room, sizeof(*f->first)) ||
			!grow(&f->distance, room, sizeof(*f->distance)) ||
			!grow(&f->via, room, sizeof(*f->via)) ||
			!grow(&f->queue, room + 1, sizeof(*f->queue)) ||
			!grow(&f->queued, room, sizeof(*f->queued)))
			return -ENOMEM;
		f->node_room = room;
	}
	f->first[f->node_count] = -1;
	return (int)f->node_count++;
}

static void half_edge(struct flow *f, unsigned from, unsigned to, uint16_t capacity,
	int64_t cost)
{
	size_t e = f->edge_count++;

	f->to[e] = to;
	f->left[e] = capacity;
	f->cost[e] = cost;
	f->next[e] = f->first[from];
	f->first[from] = (int32_t)e;
}

int flow_edge(struct flow *f, unsigned from, unsigned to, uint16_t capacity, int64_t cost)
{
	size_t room = f->edge_room ? f->edge_room * 2 : 256;

	if (f->edge_count + 2 > f->edge_room) {
		if (!grow(&f->cost, room, sizeof(*f->cost)) ||
			!grow(&f->left, room, sizeof(*f->left)) ||
			!grow(&f->to, room, sizeof(*f->to)) ||
			!grow(&f->next, room, sizeof(*f->next)))
			return -ENOMEM;
		f->edge_room = room;
	}
	half_edge(f, from, to, capacity, cost);
	half_edge(f, to, from, 0, -cost);
	return 0;
}

/* Shortest paths from @from with a queue, because reverse edges may have negative costs. */
static bool search(struct flow *f, unsigned from, unsigned to)
{
	size_t head = 0, tail = 0, ring = f->node_count + 1;

	for (size_t i = 0; i < f->node_count; i++) {
		f->distance[i] = UNREACHED;
		f->queued[i] = false;
	}
	f->distance[from] = 0;
	f->queue[tail++] = from;
	while (head != tail) {
		unsigned node = f->queue[head];

		head = (head + 1) % ring;
		f->queued[node] = false;
		for (int32_t e = f->first[node]; e >= 0; e = f->next[e]) {
			unsigned other = f->to[e];
			int64_t d = f->distance[node] + f->cost[e];

			f->work++;
			if (!f->left[e] || d >= f->distance[other])
				continue;
			f->distance[other] = d;
			f->via[other] = e;
			if (!f->queued[other]) {
				f->queued[other] = true;
				f->queue[tail] = other;
				tail = (tail + 1) % ring;
			}
		}
	}
	return f->distance[to] != UNREACHED;
}

int flow_send(struct flow *f, unsigned from, unsigned to, uint16_t units)
{
	while (units) {
		uint16_t fits = units;

		if (!search(f, from, to))
			return 0;
		for (unsigned node = to; node != from; node = f->to[f->via[node] ^ 1])
			if (f->left[f->via[node]] < fits)
				fits = f->left[f->via[node]];
		for (unsigned node = to; node != from; node = f->to[f->via[node] ^ 1]) {
			f->left[f->via[node]] = (uint16_t)(f->left[f->via[node]] - fits);
			f->left[f->via[node] ^ 1] =
				(uint16_t)(f->left[f->via[node] ^ 1] + fits);
		}
		f->total += fits * f->distance[to];
		units = (uint16_t)(units - fits);
	}
	return 1;
}

int flow_mark(const struct flow *f, struct flow_mark *ret)
{
	struct flow_mark m = {.edge_count = f->edge_count, .node_count = f->node_count,
		.total = f->total};

	m.left = malloc((f->edge_count + 1) * sizeof(*m.left));
	m.first = malloc((f->node_count + 1) * sizeof(*m.first));
	if (!m.left || !m.first) {
		flow_mark_clear(&m);
		return -ENOMEM;
	}
	if (f->edge_count)
		memcpy(m.left, f->left, f->edge_count * sizeof(*m.left));
	if (f->node_count)
		memcpy(m.first, f->first, f->node_count * sizeof(*m.first));
	*ret = m;
	return 0;
}

void flow_return(struct flow *f, const struct flow_mark *mark)
{
	f->edge_count = mark->edge_count;
	f->node_count = mark->node_count;
	f->total = mark->total;
	if (mark->edge_count)
		memcpy(f->left, mark->left, mark->edge_count * sizeof(*f->left));
	if (mark->node_count)
		memcpy(f->first, mark->first, mark->node_count * sizeof(*f->first));
}

void flow_mark_clear(struct flow_mark *mark)
{
	free(mark->left);
	free(mark->first);
	*mark = (struct flow_mark){0};
}
