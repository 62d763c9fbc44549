// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules for nodes, their distances, and cores. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "placement/model/check.h"
#include "placement/model/model.h"
#include "topology/topology.h"

const char *check_cpus_text(const struct vfctl_cpuset *set, char buf[SET_TEXT])
{
	char list[SET_TEXT - 16];

	vfctl_cpuset_format(set, list, sizeof(list));
	snprintf(buf, SET_TEXT, "CPU%s %s", plural(vfctl_cpuset_count(set)), list);
	return buf;
}

struct vfctl_cpuset check_without(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b)
{
	struct vfctl_cpuset left = *a;

	vfctl_cpuset_andnot(&left, b);
	return left;
}

struct vfctl_cpuset check_common(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b)
{
	struct vfctl_cpuset both = *a;

	vfctl_cpuset_and(&both, b);
	return both;
}

int check_online_cpus(struct vfctl_ctx *ctx, const struct vfctl_topology *t,
	const char *member, const struct vfctl_cpuset *set)
{
	struct vfctl_cpuset gone;
	char text[SET_TEXT];

	if (vfctl_cpuset_within(set, &t->online))
		return 0;
	gone = check_without(set, &t->online);
	return ctx_fail(ctx, -EINVAL, "%s: this host has no %s online", member,
		check_cpus_text(&gone, text));
}

bool check_is_page(uint64_t bytes)
{
	return bytes >= 64 * 1024 && !(bytes & (bytes - 1)) && bytes <= MODEL_BYTES_MAX;
}

/* ---- nodes and their distances ---- */

static int check_pools(struct vfctl_ctx *ctx, const struct vfctl_node *n, size_t at)
{
	if (n->pool_count > VFCTL_POOLS_MAX)
		return ctx_fail(ctx, -EINVAL,
			"nodes[%zu].pools: %zu sizes of pages; a node has "
			"at most %d",
			at, n->pool_count, VFCTL_POOLS_MAX);
	for (size_t i = 0; i < n->pool_count; i++) {
		const struct vfctl_page_pool *p = &n->pools[i];

		if (!check_is_page(p->page_bytes))
			return ctx_fail(ctx, -EINVAL,
				"nodes[%zu].pools[%zu].page_bytes: %" PRIu64 " is not a size of huge "
				"pages, which is a power of two of at least 65536",
				at, i, p->page_bytes);
		if (i && p->page_bytes <= p[-1].page_bytes)
			return ctx_fail(ctx, -EINVAL,
				"nodes[%zu].pools[%zu].page_bytes: %" PRIu64
				" comes after %" PRIu64
				"; list each size once, smallest first",
				at, i, p->page_bytes, p[-1].page_bytes);
		if (p->total > MODEL_BYTES_MAX / p->page_bytes)
			return ctx_fail(ctx, -EINVAL, "nodes[%zu].pools[%zu].total: %" PRIu64
				" pages are more than any host has", at, i, p->total);
		if (p->free != VFCTL_COUNT_UNKNOWN && p->free > p->total)
			return ctx_fail(ctx, -EINVAL, "nodes[%zu].pools[%zu].free: %" PRIu64
				" pages are free of %" PRIu64, at, i, p->free, p->total);
	}
	return 0;
}

/* Name the node before number @at that also has one of its CPUs. */
static int fail_shared(struct vfctl_ctx *ctx, const struct vfctl_topology *t, size_t at)
{
	char text[SET_TEXT];

	for (size_t i = 0; i < at; i++) {
		struct vfctl_cpuset both = check_common(&t->nodes[i].cpus, &t->nodes[at].cpus);

		if (!vfctl_cpuset_empty(&both))
			return ctx_fail(ctx, -EINVAL,
				"nodes[%zu].cpus: %s %s in node %u too; a CPU "
				"is in one node",
				at, check_cpus_text(&both, text),
				vfctl_cpuset_count(&both) == 1 ? "is" : "are",
				t->nodes[i].id);
	}
	return 0;
}

static int check_node(struct vfctl_ctx *ctx, const struct vfctl_topology *t, size_t at,
	struct vfctl_cpuset *seen)
{
	const struct vfctl_node *n = &t->nodes[at];
	char member[48];
	int r;

	snprintf(member, sizeof(member), "nodes[%zu].cpus", at);
	if (n->id >= VFCTL_CPU_MAX)
		return ctx_fail(ctx, -EINVAL, "nodes[%zu].id: %u is not below %d", at, n->id,
			VFCTL_CPU_MAX);
	if (at && n->id <= n[-1].id)
		return ctx_fail(ctx, -EINVAL,
			"nodes[%zu].id: %u comes after %u; list each node "
			"once, by its number",
			at, n->id, n[-1].id);
	if (n->memory_bytes > MODEL_BYTES_MAX)
		return ctx_fail(ctx, -EINVAL,
			"nodes[%zu].memory_bytes: %" PRIu64 " is more than "
			"any host has",
			at, n->memory_bytes);
	if (vfctl_cpuset_intersects(seen, &n->cpus))
		return fail_shared(ctx, t, at);
	vfctl_cpuset_or(seen, &n->cpus);
	r = check_online_cpus(ctx, t, member, &n->cpus);
	return r < 0 ? r : check_pools(ctx, n, at);
}

static int check_distances(struct vfctl_ctx *ctx, const struct vfctl_topology *t)
{
	size_t n = t->node_count;

	for (size_t i = 0; i < n * n; i++) {
		unsigned value = t->distances[i];

		if (i % (n + 1) == 0 && value != 10)
			return ctx_fail(ctx, -EINVAL,
				"distances[%zu][%zu]: %u; from a node to itself "
				"it is 10",
				i / n, i % n, value);
		if (value < 10 || value > MODEL_DISTANCE_MAX)
			return ctx_fail(ctx, -EINVAL,
				"distances[%zu][%zu]: %u is not 10 to %d", i / n, i % n,
				value, MODEL_DISTANCE_MAX);
	}
	return 0;
}

int check_topology_nodes(struct vfctl_ctx *ctx, const struct vfctl_topology *t)
{
	struct vfctl_cpuset seen = {0}, left;
	char text[SET_TEXT];
	int r = 0;

	if (!t->node_count || t->node_count > VFCTL_MODEL_NODES_MAX)
		return ctx_fail(ctx, -EINVAL, "nodes: there are %zu; it must be 1 to %d",
			t->node_count, VFCTL_MODEL_NODES_MAX);
	for (size_t i = 0; i < t->node_count && r == 0; i++)
		r = check_node(ctx, t, i, &seen);
	if (r < 0)
		return r;
	left = check_without(&t->online, &seen);
	if (!vfctl_cpuset_empty(&left))
		return ctx_fail(ctx, -EINVAL, "online: %s %s in no node", check_cpus_text(&left, text),
			vfctl_cpuset_count(&left) == 1 ? "is" : "are");
	return t->distances ? check_distances(ctx, t)
			    : ctx_fail(ctx, -EINVAL, "distances: missing");
}

/* ---- cores ---- */

static int fail_core(struct vfctl_ctx *ctx, const struct vfctl_topology *t, size_t at)
{
	char text[SET_TEXT];

	for (size_t i = 0; i < at; i++) {
		struct vfctl_cpuset both = check_common(&t->cores[i].cpus, &t->cores[at].cpus);

		if (!vfctl_cpuset_empty(&both))
			return ctx_fail(ctx, -EINVAL,
				"cores[%zu].cpus: %s %s in cores[%zu] too", at,
				check_cpus_text(&both, text),
				vfctl_cpuset_count(&both) == 1 ? "is" : "are", i);
	}
	return 0;
}

/* The lowest CPU of a core; -1 if it has none. @message: number of words to search. */
static int first_cpu(const struct vfctl_core *c, size_t message)
{
	for (size_t i = 0; i < message; i++)
		if (c->cpus.word[i])
			return (int)(i * 64) + __builtin_ctzll(c->cpus.word[i]);
	return -1;
}

/* The planner checks each model that it gets. @message: number of words with online CPUs. */
static bool is_sound(const struct vfctl_topology *t, const struct vfctl_core *c,
	const struct vfctl_node *node, struct vfctl_cpuset *seen, size_t message)
{
	static const struct vfctl_cpuset none;
	uint64_t wrong = 0;

	for (size_t i = 0; i < message; i++) {
		uint64_t word = c->cpus.word[i];

		wrong |= word & (~(t->online.word[i] & node->cpus.word[i]) | seen->word[i]);
		seen->word[i] |= word;
	}
	return !wrong && memcmp(&c->cpus.word[message], &none.word[message],
		sizeof(none.word) - message * sizeof(none.word[0])) == 0;
}

/* Report the error in its CPUs. */
static int fail_cpus(struct vfctl_ctx *ctx, const struct vfctl_topology *t, size_t at)
{
	char member[48];
	int r;

	snprintf(member, sizeof(member), "cores[%zu].cpus", at);
	r = check_online_cpus(ctx, t, member, &t->cores[at].cpus);
	if (r == 0)
		r = fail_core(ctx, t, at);
	return r < 0 ? r : ctx_fail(ctx, -EINVAL, "%s: not all of them are in its node %d",
		member, t->cores[at].node);
}

/* @before and @node: the lowest CPU and the node of the previous core; set to those of this one. */
static int check_core(struct vfctl_ctx *ctx, const struct vfctl_topology *t, size_t at,
	struct vfctl_cpuset *seen, size_t message, int *before, const struct vfctl_node **node)
{
	const struct vfctl_core *c = &t->cores[at];
	int first = first_cpu(c, message);

	if (first < 0 && vfctl_cpuset_empty(&c->cpus))
		return ctx_fail(ctx, -EINVAL, "cores[%zu].cpus: a core has at least one CPU", at);
	/* Cores of one node are usually adjacent. */
	if (!*node || c->node < 0 || (*node)->id != (unsigned)c->node)
		*node = vfctl_topology_node(t, c->node);
	if (!*node)
		return ctx_fail(ctx, -EINVAL, "cores[%zu].node: node %d does not exist", at, c->node);
	if (!is_sound(t, c, *node, seen, message))
		return fail_cpus(ctx, t, at);
	if (first < *before)
		return ctx_fail(ctx, -EINVAL, "cores[%zu].cpus: CPU %d comes after CPU %d; list "
			"cores by their lowest CPU", at, first, *before);
	*before = first;
	return 0;
}

int check_topology_cores(struct vfctl_ctx *ctx, const struct vfctl_topology *t)
{
	const struct vfctl_node *node = NULL;
	struct vfctl_cpuset seen = {0}, left;
	size_t message = cpuset_text(&t->online);
	char text[SET_TEXT];
	int r = 0, before = -1;

	if (!t->core_count)
		return ctx_fail(ctx, -EINVAL, "cores: missing; a host has at least one");
	for (size_t i = 0; i < t->core_count && r == 0; i++)
		r = check_core(ctx, t, i, &seen, message, &before, &node);
	left = check_without(&t->online, &seen);
	if (r == 0 && !vfctl_cpuset_empty(&left))
		return ctx_fail(ctx, -EINVAL, "online: %s %s in no core", check_cpus_text(&left, text),
			vfctl_cpuset_count(&left) == 1 ? "is" : "are");
	return r;
}
