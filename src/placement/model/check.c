// SPDX-License-Identifier: GPL-2.0-or-later
/* What a model must hold, whoever made it: each failure begins with the member's path. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "placement/model/model.h"

#define SET_TEXT 200

/* "CPU 4", "CPUs 4-7,9": of a long list the beginning. */
static const char *cpus(const struct vfctl_cpuset *set, char buf[SET_TEXT])
{
	char list[SET_TEXT - 16];

	vfctl_cpuset_format(set, list, sizeof(list));
	snprintf(buf, SET_TEXT, "CPU%s %s", vfctl_cpuset_count(set) == 1 ? "" : "s", list);
	return buf;
}

static struct vfctl_cpuset without(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b)
{
	struct vfctl_cpuset left = *a;

	vfctl_cpuset_andnot(&left, b);
	return left;
}

static struct vfctl_cpuset common(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b)
{
	struct vfctl_cpuset both = *a;

	vfctl_cpuset_and(&both, b);
	return both;
}

static int check_online(struct vfctl_ctx *ctx, const struct vfctl_topology *t,
	const char *member, const struct vfctl_cpuset *set)
{
	struct vfctl_cpuset gone;
	char text[SET_TEXT];

	if (vfctl_cpuset_within(set, &t->online))
		return 0;
	gone = without(set, &t->online);
	return ctx_fail(ctx, -EINVAL, "%s: this host has no %s online", member,
		cpus(&gone, text));
}

static bool is_page(uint64_t bytes)
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

		if (!is_page(p->page_bytes))
			return ctx_fail(ctx, -EINVAL,
				"nodes[%zu].pools[%zu].page_bytes: %" PRIu64
				" is no size of huge pages; it is a power of two of at "
				"least 65536",
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

/* Which node before number @at has a CPU of it? */
static int fail_shared(struct vfctl_ctx *ctx, const struct vfctl_topology *t, size_t at)
{
	char text[SET_TEXT];

	for (size_t i = 0; i < at; i++) {
		struct vfctl_cpuset both = common(&t->nodes[i].cpus, &t->nodes[at].cpus);

		if (!vfctl_cpuset_empty(&both))
			return ctx_fail(ctx, -EINVAL,
				"nodes[%zu].cpus: %s %s in node %u too; a CPU "
				"is in one node",
				at, cpus(&both, text),
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
	r = check_online(ctx, t, member, &n->cpus);
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

static int check_nodes(struct vfctl_ctx *ctx, const struct vfctl_topology *t)
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
	left = without(&t->online, &seen);
	if (!vfctl_cpuset_empty(&left))
		return ctx_fail(ctx, -EINVAL, "online: %s %s in no node", cpus(&left, text),
			vfctl_cpuset_count(&left) == 1 ? "is" : "are");
	return t->distances ? check_distances(ctx, t)
			    : ctx_fail(ctx, -EINVAL, "distances: they are missing");
}

/* ---- cores ---- */

static int fail_core(struct vfctl_ctx *ctx, const struct vfctl_topology *t, size_t at)
{
	char text[SET_TEXT];

	for (size_t i = 0; i < at; i++) {
		struct vfctl_cpuset both = common(&t->cores[i].cpus, &t->cores[at].cpus);

		if (!vfctl_cpuset_empty(&both))
			return ctx_fail(ctx, -EINVAL,
				"cores[%zu].cpus: %s %s in cores[%zu] too", at,
				cpus(&both, text),
				vfctl_cpuset_count(&both) == 1 ? "is" : "are", i);
	}
	return 0;
}

/* The lowest CPU of a core; -1: none of the words has one. */
static int first_cpu(const struct vfctl_core *c, size_t words)
{
	for (size_t i = 0; i < words; i++)
		if (c->cpus.word[i])
			return (int)(i * 64) + __builtin_ctzll(c->cpus.word[i]);
	return -1;
}

/* The planner checks each model it gets. @words: of what is online; there is nothing beyond. */
static bool is_sound(const struct vfctl_topology *t, const struct vfctl_core *c,
	const struct vfctl_node *node, struct vfctl_cpuset *seen, size_t words)
{
	static const struct vfctl_cpuset none;
	uint64_t wrong = 0;

	for (size_t i = 0; i < words; i++) {
		uint64_t word = c->cpus.word[i];

		wrong |= word & (~(t->online.word[i] & node->cpus.word[i]) | seen->word[i]);
		seen->word[i] |= word;
	}
	return !wrong && memcmp(&c->cpus.word[words], &none.word[words],
		sizeof(none.word) - words * sizeof(none.word[0])) == 0;
}

/* What is wrong with its CPUs, in words. */
static int fail_cpus(struct vfctl_ctx *ctx, const struct vfctl_topology *t, size_t at)
{
	char member[48];
	int r;

	snprintf(member, sizeof(member), "cores[%zu].cpus", at);
	r = check_online(ctx, t, member, &t->cores[at].cpus);
	if (r == 0)
		r = fail_core(ctx, t, at);
	return r < 0 ? r : ctx_fail(ctx, -EINVAL, "%s: not all of them are in its node %d",
		member, t->cores[at].node);
}

/* @before: the lowest CPU of the core before it, and @node its node; become its own. */
static int check_core(struct vfctl_ctx *ctx, const struct vfctl_topology *t, size_t at,
	struct vfctl_cpuset *seen, size_t words, int *before, const struct vfctl_node **node)
{
	const struct vfctl_core *c = &t->cores[at];
	int first = first_cpu(c, words);

	if (first < 0 && vfctl_cpuset_empty(&c->cpus))
		return ctx_fail(ctx, -EINVAL, "cores[%zu].cpus: a core has at least one CPU", at);
	/* Cores of one node mostly stand together. */
	if (!*node || c->node < 0 || (*node)->id != (unsigned)c->node)
		*node = vfctl_topology_node(t, c->node);
	if (!*node)
		return ctx_fail(ctx, -EINVAL, "cores[%zu].node: there is no node %d", at, c->node);
	if (!is_sound(t, c, *node, seen, words))
		return fail_cpus(ctx, t, at);
	if (first < *before)
		return ctx_fail(ctx, -EINVAL, "cores[%zu].cpus: CPU %d comes after CPU %d; list "
			"cores by their lowest CPU", at, first, *before);
	*before = first;
	return 0;
}

static int check_cores(struct vfctl_ctx *ctx, const struct vfctl_topology *t)
{
	const struct vfctl_node *node = NULL;
	struct vfctl_cpuset seen = {0}, left;
	size_t words = cpuset_words(&t->online);
	char text[SET_TEXT];
	int r = 0, before = -1;

	if (!t->core_count)
		return ctx_fail(ctx, -EINVAL, "cores: there are none; a host has at least one");
	for (size_t i = 0; i < t->core_count && r == 0; i++)
		r = check_core(ctx, t, i, &seen, words, &before, &node);
	left = without(&t->online, &seen);
	if (r == 0 && !vfctl_cpuset_empty(&left))
		return ctx_fail(ctx, -EINVAL, "online: %s %s in no core", cpus(&left, text),
			vfctl_cpuset_count(&left) == 1 ? "is" : "are");
	return r;
}

/* ---- what is kept, held and free ---- */

static int check_sets(struct vfctl_ctx *ctx, const struct vfctl_host_model *m)
{
	struct vfctl_cpuset both = common(&m->reserved_cpus, &m->shared_cpus);
	char text[SET_TEXT];
	int r = check_online(ctx, m->topology, "reserved_cpus", &m->reserved_cpus);

	if (r == 0)
		r = check_online(ctx, m->topology, "shared_cpus", &m->shared_cpus);
	if (r == 0)
		r = check_online(ctx, m->topology, "busy_cpus", &m->busy_cpus);
	if (r < 0)
		return r;
	if (!vfctl_cpuset_empty(&both))
		return ctx_fail(ctx, -EINVAL, "shared_cpus: %s %s reserved for the host too",
			cpus(&both, text), vfctl_cpuset_count(&both) == 1 ? "is" : "are");
	for (size_t i = 0; i < m->typical_count; i++)
		if (!m->typical[i].vcpus || !m->typical[i].cells || !m->typical[i].share ||
			m->typical[i].vcpus % m->typical[i].cells)
			return ctx_fail(ctx, -EINVAL, "typical[%zu]: its vCPUs, cells and share are "
				"1 at least, and its cells alike", i);
	if (m->shared_ratio > MODEL_RATIO_MAX)
		return ctx_fail(ctx, -EINVAL, "shared_ratio: %u is not 0 to %d",
			m->shared_ratio, MODEL_RATIO_MAX);
	if (m->host_memory_bytes > MODEL_BYTES_MAX)
		return ctx_fail(ctx, -EINVAL, "host_memory_bytes: %" PRIu64 " is more than any "
			"host has", m->host_memory_bytes);
	return 0;
}

static int check_promises(struct vfctl_ctx *ctx, const struct vfctl_topology *t,
	const char *member, const struct vfctl_promise *v, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!vfctl_topology_node(t, v[i].node))
			return ctx_fail(ctx, -EINVAL, "%s[%zu].node: there is no node %d",
				member, i, v[i].node);
		if (v[i].page_bytes != VFCTL_PAGES_BASE && !is_page(v[i].page_bytes))
			return ctx_fail(ctx, -EINVAL,
				"%s[%zu].page_bytes: %" PRIu64 " is neither 0 "
				"(base pages) nor a size of huge pages",
				member, i, v[i].page_bytes);
		if (v[i].bytes > MODEL_BYTES_MAX)
			return ctx_fail(ctx, -EINVAL,
				"%s[%zu].bytes: %" PRIu64 " is more than any "
				"host has",
				member, i, v[i].bytes);
	}
	return 0;
}

/* Node, fabric, port: what a PF and a VF both have. */
static bool is_place(const struct vfctl_topology *t, int node, int fabric, uint32_t port)
{
	return (node == VFCTL_NODE_NONE || vfctl_topology_node(t, node)) && fabric >= 0 &&
		fabric <= MODEL_FABRIC_MAX && port <= MODEL_PORT_MAX;
}

static int fail_place(struct vfctl_ctx *ctx, const struct vfctl_topology *t,
	const char *member, int node, int fabric, uint32_t port)
{
	if (node != VFCTL_NODE_NONE && !vfctl_topology_node(t, node))
		return ctx_fail(ctx, -EINVAL, "%s.node: there is no node %d", member, node);
	if (fabric < 0 || fabric > MODEL_FABRIC_MAX)
		return ctx_fail(ctx, -EINVAL, "%s.fabric: %d is not 0 to %d", member, fabric,
			MODEL_FABRIC_MAX);
	return ctx_fail(ctx, -EINVAL, "%s.port: %u is not 0 to %d", member, port,
		MODEL_PORT_MAX);
}

static int check_pf(struct vfctl_ctx *ctx, const struct vfctl_host_model *m, size_t at)
{
	const struct vfctl_model_pf *p = &m->pfs[at];
	char member[32];

	for (size_t i = 0; i < at; i++)
		if (vfctl_bdf_compare(&m->pfs[i].bdf, &p->bdf) == 0)
			return ctx_fail(ctx, -EINVAL,
				"pfs[%zu].address: %s is pfs[%zu] already", at,
				TEXT(&p->bdf), i);
	if (!is_place(m->topology, p->node, p->fabric, p->port)) {
		snprintf(member, sizeof(member), "pfs[%zu]", at);
		return fail_place(ctx, m->topology, member, p->node, p->fabric, p->port);
	}
	if (p->num_vfs > p->max_vfs || p->max_vfs > MODEL_VFS_MAX)
		return ctx_fail(ctx, -EINVAL,
			"pfs[%zu].num_vfs: %u of at most %u VFs cannot be", at, p->num_vfs,
			p->max_vfs);
	return 0;
}

/* A name with the PF that has it. */
struct named_pf {
	const char *name;
	size_t pf;
};

static int by_name(const void *a, const void *b)
{
	const struct named_pf *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->pf > y->pf) - (x->pf < y->pf);
}

/* Guests name PFs: a name is of one PF. */
static int check_names(struct vfctl_ctx *ctx, const struct vfctl_host_model *m)
{
	_free_ struct named_pf *v = NULL;
	size_t count = 0, n = 0;

	for (size_t i = 0; i < m->pf_count; i++)
		for (char **name = m->pfs[i].names; name && *name; name++)
			count++;
	v = calloc(count + 1, sizeof(*v));
	if (!v)
		return ctx_oom(ctx);
	for (size_t i = 0; i < m->pf_count; i++)
		for (char **name = m->pfs[i].names; name && *name; name++)
			v[n++] = (struct named_pf){*name, i};
	sort_unless_sorted(v, count, sizeof(*v), by_name);
	for (size_t i = 1; i < count; i++)
		if (v[i].pf != v[i - 1].pf && str_eq(v[i].name, v[i - 1].name))
			return ctx_fail(ctx, -EINVAL, "pfs[%zu].names: pfs[%zu] is called %.64s "
				"too", v[i].pf, v[i - 1].pf, v[i].name);
	return 0;
}

/* Where PFs are listed at all, those of the free VFs are among them. */
static int check_listed(struct vfctl_ctx *ctx, const struct vfctl_host_model *m)
{
	size_t at = 0;

	for (size_t i = 0; i < m->vf_count && m->pf_count; i++) {
		/* VFs of one PF mostly stand together. */
		size_t left = m->pf_count;

		while (left && vfctl_bdf_compare(&m->pfs[at].bdf, &m->vfs[i].pf)) {
			at = (at + 1) % m->pf_count;
			left--;
		}
		if (!left)
			return ctx_fail(ctx, -EINVAL, "free_vfs[%zu].pf: %s is not in pfs", i,
				TEXT(&m->vfs[i].pf));
	}
	return 0;
}

enum rank { FREE, OURS, FOREIGN };

/* A VF with its place in the model. */
struct listed {
	const struct vfctl_free_vf *vf;
	enum rank rank;
	size_t occupant, index;
};

static void name_vf(const struct listed *l, char buf[64])
{
	if (l->rank == FREE)
		snprintf(buf, 64, "free_vfs[%zu]", l->index);
	else
		snprintf(buf, 64, "occupants[%zu].vfs[%zu]", l->occupant, l->index);
}

/*
 * One VF, one holder. Only domains we did not make may name one together with others: two
 * domains that never run at once can have the same device.
 */
static int check_holders(struct vfctl_ctx *ctx, const struct listed *v, size_t count)
{
	_free_ struct sort_key *keys = calloc(count + 1, sizeof(*keys));
	char this[64], other[64];

	if (!keys)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){model_bdf_key(&v[i].vf->bdf), v[i].rank, i};
	sort_keys(keys, count);
	for (size_t i = 1; i < count; i++) {
		if (keys[i].major != keys[i - 1].major ||
			(keys[i].minor == FOREIGN && keys[i - 1].minor != FREE))
			continue;
		name_vf(&v[keys[i].at], this);
		name_vf(&v[keys[i - 1].at], other);
		return ctx_fail(ctx, -EINVAL, "%s.address: VF %s is %s already", this,
			TEXT(&v[keys[i].at].vf->bdf), other);
	}
	return 0;
}

/* A foreign domain may hold a whole PF. */
static bool is_own_pf(const struct listed *l)
{
	return l->rank != FOREIGN && vfctl_bdf_compare(&l->vf->bdf, &l->vf->pf) == 0;
}

static int fail_vf(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const struct listed *l)
{
	char member[64];

	name_vf(l, member);
	if (l->vf->index >= MODEL_VFS_MAX)
		return ctx_fail(ctx, -EINVAL, "%s.index: %u is not below %d", member,
			l->vf->index, MODEL_VFS_MAX);
	if (is_own_pf(l))
		return ctx_fail(ctx, -EINVAL, "%s.address: %s is its PF", member,
			TEXT(&l->vf->bdf));
	return fail_place(ctx, m->topology, member, l->vf->node, l->vf->fabric, l->vf->port);
}

static int check_vf(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const struct listed *l)
{
	return l->vf->index >= MODEL_VFS_MAX || is_own_pf(l) ||
		!is_place(m->topology, l->vf->node, l->vf->fabric, l->vf->port) ?
		fail_vf(ctx, m, l) : 0;
}

static int check_vfs(struct vfctl_ctx *ctx, const struct vfctl_host_model *m)
{
	size_t count = m->vf_count, n = 0;
	_free_ struct listed *v = NULL;
	int r = 0;

	for (size_t i = 0; i < m->occupant_count; i++)
		count += m->occupants[i].vf_count;
	v = calloc(count + 1, sizeof(*v));
	if (!v)
		return ctx_oom(ctx);
	for (size_t k = 0; k < m->vf_count; k++)
		v[n++] = (struct listed){&m->vfs[k], FREE, 0, k};
	for (size_t i = 0; i < m->occupant_count; i++)
		for (size_t k = 0; k < m->occupants[i].vf_count; k++)
			v[n++] = (struct listed){&m->occupants[i].vfs[k],
				m->occupants[i].foreign ? FOREIGN : OURS, i, k};
	for (size_t i = 0; i < n && r == 0; i++)
		r = check_vf(ctx, m, &v[i]);
	return r < 0 ? r : check_holders(ctx, v, n);
}

/* ---- occupants ---- */

static int fail_held(struct vfctl_ctx *ctx, const struct vfctl_host_model *m, size_t at)
{
	char text[SET_TEXT];

	for (size_t i = 0; i < at; i++) {
		struct vfctl_cpuset both =
			common(&m->occupants[i].cpus, &m->occupants[at].cpus);

		if (!m->occupants[i].foreign && !vfctl_cpuset_empty(&both))
			return ctx_fail(ctx, -EINVAL,
				"occupants[%zu].cpus: %s %s held by %s too", at,
				cpus(&both, text),
				vfctl_cpuset_count(&both) == 1 ? "is" : "are",
				m->occupants[i].name);
	}
	return 0;
}

static int check_occupant(struct vfctl_ctx *ctx, const struct vfctl_host_model *m, size_t at,
	struct vfctl_cpuset *held)
{
	const struct vfctl_occupant *o = &m->occupants[at];
	char member[48];
	int r;

	snprintf(member, sizeof(member), "occupants[%zu].cpus", at);
	if (!o->name || !o->name[0])
		return ctx_fail(ctx, -EINVAL, "occupants[%zu].name: it has none", at);
	r = check_online(ctx, m->topology, member, &o->cpus);
	if (r < 0)
		return r;
	if (!o->foreign && vfctl_cpuset_intersects(held, &o->cpus))
		return fail_held(ctx, m, at);
	if (!o->foreign)
		vfctl_cpuset_or(held, &o->cpus);
	snprintf(member, sizeof(member), "occupants[%zu].qemu_cpus", at);
	r = check_online(ctx, m->topology, member, &o->qemu_cpus);
	if (r < 0)
		return r;
	snprintf(member, sizeof(member), "occupants[%zu].memory", at);
	for (size_t i = 0; i < o->memory_count && o->shared_vcpus; i++)
		if (o->shared_vcpus[i] > VFCTL_VCPU_MAX)
			return ctx_fail(ctx, -EINVAL,
				"%s[%zu].shared_vcpus: %u is not 0 to %d", member, i,
				o->shared_vcpus[i], VFCTL_VCPU_MAX);
	return check_promises(ctx, m->topology, member, o->memory, o->memory_count);
}

/* Where QEMU's threads of several guests run no guest of ours has a core of its own. */
static int check_qemu_cpus(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const struct vfctl_cpuset *held)
{
	char text[SET_TEXT];

	for (size_t i = 0; i < m->occupant_count; i++) {
		struct vfctl_cpuset both = common(&m->occupants[i].qemu_cpus, held);

		if (!vfctl_cpuset_empty(&both))
			return ctx_fail(ctx, -EINVAL, "occupants[%zu].qemu_cpus: %s %s held by a "
				"guest alone", i, cpus(&both, text),
				vfctl_cpuset_count(&both) == 1 ? "is" : "are");
	}
	return 0;
}

int model_check(struct vfctl_ctx *ctx, const struct vfctl_host_model *m)
{
	struct vfctl_cpuset held = {0};
	int r;

	if (!m->topology)
		return ctx_fail(ctx, -EINVAL, "nodes: they are missing; load a topology first");
	r = check_nodes(ctx, m->topology);
	if (r == 0)
		r = check_cores(ctx, m->topology);
	if (r == 0)
		r = check_sets(ctx, m);
	if (r == 0)
		r = check_promises(ctx, m->topology, "promises", m->promises, m->promise_count);
	for (size_t i = 0; i < m->pf_count && r == 0; i++)
		r = check_pf(ctx, m, i);
	if (r == 0)
		r = check_names(ctx, m);
	if (r == 0)
		r = check_listed(ctx, m);
	for (size_t i = 0; i < m->occupant_count && r == 0; i++)
		r = check_occupant(ctx, m, i, &held);
	if (r == 0)
		r = check_qemu_cpus(ctx, m, &held);
	return r < 0 ? r : check_vfs(ctx, m);
}

int vfctl_model_check(struct vfctl_ctx *ctx, const struct vfctl_host_model *model)
{
	int r = model_check(ctx, model);

	return r < 0 ? ctx_prefix(ctx, r, "host model") : 0;
}
