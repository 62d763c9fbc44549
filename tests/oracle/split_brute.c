// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every way to split guests over nodes. Once the nodes of each guest and its page size are
 * fixed, CPUs, memory and VFs do not depend on each other: each is tried by itself.
 */
#include "split.h"

#define KINDS 3 /* of cores: 1, 2, 4 threads */
#define PFS 8

static const unsigned threads_of[KINDS] = {1, 2, 4};

/* The nodes a guest is on, lowest first, and the size of its pages. */
struct shape {
	bool placed;
	unsigned cells, node[NODES], mask;
	unsigned page; /* 1: huge */
};

struct free_host {
	int cores[NODES][KINDS], shared[NODES];
	unsigned qemu_slots[NODES];
	int memory[NODES][2]; /* in MiB */
	unsigned vfs[PFS];
};

struct solver {
	const struct instance *in;
	unsigned nodes, groups;
	struct {
		struct vfctl_bdf pf;
		int fabric;
		unsigned node, local;
	} group[PFS];
	struct free_host left;
	struct shape shape[GUESTS];
	unsigned alone[GUESTS][NODES]; /* vCPUs with a CPU of their own, by cell */
	/* While the VFs of one guest are chosen. */
	bool only_local;
	unsigned best_distance;
	unsigned taken[VFCTL_GUEST_VFS_MAX]; /* group of each VF */
};

static unsigned kind_of(unsigned threads)
{
	return threads == 4 ? 2 : threads - 1;
}

static void read_cores(struct solver *s)
{
	for (size_t i = 0; i < s->in->topology.core_count; i++) {
		const struct vfctl_core *core = &s->in->cores[i];

		if (instance_core_is_free(s->in, i))
			s->left.cores[core->node][kind_of(vfctl_cpuset_count(&core->cpus))]++;
	}
}

static void read_host(struct solver *s)
{
	const struct vfctl_host_model *m = &s->in->model;

	read_cores(s);
	for (unsigned n = 0; n < s->nodes; n++) {
		const struct vfctl_node *node = &s->in->nodes[n];
		struct vfctl_cpuset cpus = node->cpus;

		vfctl_cpuset_and(&cpus, &m->shared_cpus);
		s->left.qemu_slots[n] = instance_slots(s->in, n);
		s->left.shared[n] = (int)(vfctl_cpuset_count(&cpus) * m->shared_ratio);
		s->left.memory[n][1] = node->pool_count ? (int)(2 * node->pools[0].total) : 0;
		s->left.memory[n][0] = (int)(node->memory_bytes / MIB) - s->left.memory[n][1];
	}
	for (size_t i = 0; i < m->vf_count; i++) {
		unsigned g = 0;

		while (g < s->groups && vfctl_bdf_compare(&s->group[g].pf, &m->vfs[i].pf) != 0)
			g++;
		s->groups += g == s->groups;
		s->group[g].pf = m->vfs[i].pf;
		s->group[g].fabric = m->vfs[i].fabric;
		s->group[g].node = (unsigned)m->vfs[i].node;
		s->group[g].local = local_nodes(s->in, m->vfs[i].node);
		s->left.vfs[g]++;
	}
}

static unsigned distance(const struct solver *s, unsigned a, unsigned b)
{
	return s->in->distances[a * s->nodes + b];
}

/* ---- CPUs ---- */

/* One guest, cell by cell: what is still to be placed of it. */
struct cpu_state {
	size_t guest;
	unsigned cell, alone, shared, siblings; /* siblings: threads: require has this many */
	unsigned extra; /* cores for QEMU's and I/O threads, beside one of its cells */
	bool qemu_slot;	/* emulator_cores: auto: QEMU's threads have no place yet */
};

static bool cpus(struct solver *s, struct cpu_state at);
static bool cpus_of_guest(struct solver *s, size_t g);

static bool cell_done(struct solver *s, struct cpu_state at);

static bool pick_extra(struct solver *s, struct cpu_state at, unsigned kind, unsigned left)
{
	int *cores = &s->left.cores[s->shape[at.guest].node[at.cell]][kind];

	if (!left) {
		at.extra = 0;
		return cell_done(s, at);
	}
	if (kind == KINDS)
		return false;
	for (int n = 0; n <= *cores && n <= (int)left; n++) {
		bool ok;

		*cores -= n;
		ok = pick_extra(s, at, kind + 1, left - (unsigned)n);
		*cores += n;
		if (ok)
			return true;
	}
	return false;
}

/* With emulator_cores: auto: a seat of the node, or one of a core of it that gets some. */
static bool take_slot(struct solver *s, struct cpu_state at)
{
	unsigned node = s->shape[at.guest].node[at.cell], *qemu_slots = &s->left.qemu_slots[node];
	bool ok = false;

	at.cell++;
	at.qemu_slot = false;
	if (*qemu_slots) {
		*qemu_slots -= 1;
		ok = cpus(s, at);
		*qemu_slots += 1;
		return ok;
	}
	for (unsigned kind = 0; kind < KINDS && !ok; kind++) {
		if (!s->left.cores[node][kind])
			continue;
		s->left.cores[node][kind]--;
		*qemu_slots = threads_of[kind] * VFCTL_QEMU_GUESTS_PER_CPU - 1;
		ok = cpus(s, at);
		*qemu_slots = 0;
		s->left.cores[node][kind]++;
	}
	return ok;
}

static bool cell_done(struct solver *s, struct cpu_state at)
{
	if ((at.extra && pick_extra(s, at, 0, at.extra)) || (at.qemu_slot && take_slot(s, at)))
		return true;
	at.cell++;
	return cpus(s, at);
}

/* Has it all of the host, so that QEMU's threads are on its own CPUs? */
static bool fills_host(const struct solver *s, size_t g)
{
	const struct vfctl_request *r = &s->in->requests[g];
	const struct shape *shape = &s->shape[g];

	for (unsigned n = 0; n < s->nodes; n++) {
		uint32_t vcpus = 0;

		for (unsigned k = 0; k < shape->cells; k++)
			if (shape->node[k] == n)
				vcpus = s->alone[g][k];
		if (!instance_fills(s->in, r, n, vcpus))
			return false;
	}
	return r->emulator_cores == VFCTL_EMULATOR_AUTO && instance_is_empty(s->in);
}

/* Cores for @need vCPUs, from the kind on. */
static bool pick_cores(struct solver *s, struct cpu_state at, unsigned kind, int need)
{
	const struct vfctl_request *r = &s->in->requests[at.guest];
	int *cores, each;

	if (need <= 0)
		return cell_done(s, at);
	if (kind == KINDS)
		return false;
	cores = &s->left.cores[s->shape[at.guest].node[at.cell]][kind];
	each = r->threads == VFCTL_THREADS_ISOLATE ? 1 : (int)threads_of[kind];
	for (int n = 0; n <= *cores && (n - 1) * each < need; n++) {
		bool ok;

		if (r->threads == VFCTL_THREADS_REQUIRE && n &&
			(threads_of[kind] != at.siblings || n * each > need))
			break;
		*cores -= n;
		ok = pick_cores(s, at, kind + 1, need - n * each);
		*cores += n;
		if (ok)
			return true;
	}
	return false;
}

/* @alone and @shared vCPUs in the cell. */
static bool fill_cell(struct solver *s, struct cpu_state at, unsigned alone, unsigned shared)
{
	const struct shape *shape = &s->shape[at.guest];
	int *carries = &s->left.shared[shape->node[at.cell]];
	bool last = at.cell + 1 == shape->cells, ok;

	if (alone + shared == 0 || (int)shared > *carries ||
		(last && (alone != at.alone || shared != at.shared)))
		return false;
	s->alone[at.guest][at.cell] = alone;
	at.alone -= alone;
	at.shared -= shared;
	*carries -= (int)shared;
	ok = pick_cores(s, at, 0, (int)alone);
	*carries += (int)shared;
	return ok;
}

static bool cpus(struct solver *s, struct cpu_state at)
{
	if (at.cell == s->shape[at.guest].cells)
		return !at.alone && !at.shared &&
			!at.extra && (!at.qemu_slot || fills_host(s, at.guest)) &&
			cpus_of_guest(s, at.guest + 1);
	for (unsigned a = 0; a <= at.alone; a++)
		for (unsigned h = 0; h <= at.shared; h++)
			if (fill_cell(s, at, a, h))
				return true;
	return false;
}

static bool cpus_of_guest(struct solver *s, size_t g)
{
	const struct vfctl_request *r = &s->in->requests[g];
	struct cpu_state at = {.guest = g, .alone = r->vcpus - r->shared_vcpus,
		.shared = r->shared_vcpus, .extra = r->iothread_cores,
		.qemu_slot = r->emulator_cores == VFCTL_EMULATOR_AUTO};

	at.extra += at.qemu_slot ? 0 : r->emulator_cores;
	if (g == s->in->guest_count)
		return true;
	if (!s->shape[g].placed)
		return cpus_of_guest(s, g + 1);
	if (r->threads != VFCTL_THREADS_REQUIRE)
		return cpus(s, at);
	for (unsigned k = 1; k < KINDS; k++) {
		at.siblings = threads_of[k];
		if (cpus(s, at))
			return true;
	}
	return false;
}

/* ---- memory ---- */

static int memory_of(const struct solver *s, size_t g)
{
	return g < s->in->guest_count ? (int)(s->in->requests[g].memory_bytes / MIB) : 0;
}

static bool memory(struct solver *s, size_t g, unsigned cell, int left, bool local)
{
	const struct vfctl_request *r = &s->in->requests[g];
	const struct shape *shape = &s->shape[g];
	int unit = shape->page ? 2 : 1;

	if (g == s->in->guest_count)
		return true;
	if (!shape->placed || cell == shape->cells)
		return (!shape->placed || !left) &&
			memory(s, g + 1, 0, memory_of(s, g + 1), local);
	for (unsigned n = 0; n < s->nodes; n++) {
		unsigned own = shape->node[cell];
		int *here = &s->left.memory[n][shape->page];

		if (n != own && (local || r->memory_affinity == VFCTL_AFFINITY_REQUIRED ||
				(r->max_distance && distance(s, own, n) > r->max_distance)))
			continue;
		for (int m = unit; m <= left && m <= *here; m += unit) {
			bool ok;

			*here -= m;
			ok = memory(s, g, cell + 1, left - m, local);
			*here += m;
			if (ok)
				return true;
		}
	}
	return false;
}

static bool memory_fits(struct solver *s, bool local)
{
	return memory(s, 0, 0, memory_of(s, 0), local);
}

/* ---- VFs ---- */

static bool vfs(struct solver *s, size_t g, size_t want, unsigned done, unsigned count,
	unsigned sum);

/* Does the guest have a VF of the group already that this one shall be apart from? */
static bool is_near(const struct solver *s, const struct vfctl_request *r, uint32_t anti_affinity,
	unsigned q, unsigned count)
{
	unsigned i = 0;

	/* @taken has the VFs of this guest, those of its earlier wants first. */
	for (size_t w = 0; anti_affinity && w < r->want_count; w++)
		for (unsigned k = 0; k < r->wants[w].count && i < count; k++, i++)
			if (r->wants[w].anti_affinity == anti_affinity && s->taken[i] == q)
				return true;
	return false;
}

static bool may_take(const struct solver *s, size_t g, size_t want, unsigned q, unsigned count,
	unsigned *ret_distance)
{
	const struct vfctl_request *r = &s->in->requests[g];
	const struct vfctl_vf_want *w = &r->wants[want];
	bool local = s->group[q].local & s->shape[g].mask, any = w->affinity == VFCTL_AFFINITY_ANY;
	unsigned nearest = UINT32_MAX;

	if (!s->left.vfs[q] || (w->fabric != VFCTL_FABRIC_ANY && w->fabric != s->group[q].fabric))
		return false;
	for (unsigned k = 0; k < s->shape[g].cells; k++) {
		unsigned d = distance(s, s->group[q].node, s->shape[g].node[k]);

		nearest = d < nearest ? d : nearest;
	}
	*ret_distance = any ? 0 : 4 * (nearest - 10);
	if (!any && ((r->max_distance && nearest > r->max_distance) ||
			(!local && (s->only_local || w->affinity == VFCTL_AFFINITY_REQUIRED))))
		return false;
	return !is_near(s, r, w->anti_affinity, q, count);
}

static bool vfs_of_guest(struct solver *s, size_t g)
{
	unsigned before[VFCTL_GUEST_VFS_MAX];
	bool ok;

	while (g < s->in->guest_count && !s->shape[g].placed)
		g++;
	if (g == s->in->guest_count)
		return true;
	memcpy(before, s->taken, sizeof(before));
	ok = vfs(s, g, 0, 0, 0, 0);
	memcpy(s->taken, before, sizeof(before));
	return ok;
}

/*
 * For a single guest all ways are tried, to find the least distance; for several guests one is
 * enough.
 */
static bool vfs(struct solver *s, size_t g, size_t want, unsigned done, unsigned count,
	unsigned sum)
{
	const struct vfctl_request *r = &s->in->requests[g];
	bool found = false;

	if (want == r->want_count) {
		if (s->in->guest_count > 1)
			return vfs_of_guest(s, g + 1);
		s->best_distance = sum < s->best_distance ? sum : s->best_distance;
		return true;
	}
	if (done == r->wants[want].count)
		return vfs(s, g, want + 1, 0, count, sum);
	for (unsigned q = 0; q < s->groups; q++) {
		unsigned d;

		if (!may_take(s, g, want, q, count, &d))
			continue;
		s->left.vfs[q]--;
		s->taken[count] = q;
		found |= vfs(s, g, want, done + 1, count + 1, sum + d);
		s->left.vfs[q]++;
		if (found && s->in->guest_count > 1)
			return true;
	}
	return found;
}

/* ---- nodes ---- */

static bool set_shape(struct solver *s, size_t g, unsigned mask, unsigned page)
{
	const struct vfctl_request *r = &s->in->requests[g];
	struct shape *shape = &s->shape[g];

	*shape = (struct shape){.placed = true, .mask = mask, .page = page};
	if ((r->page_bytes == VFCTL_PAGES_BASE && page) ||
		(r->page_bytes == HUGE_BYTES && !page) ||
		(page && r->memory_bytes % HUGE_BYTES))
		return false;
	for (unsigned n = 0; n < s->nodes; n++) {
		if (!(mask >> n & 1))
			continue;
		if (vfctl_cpuset_empty(&s->in->nodes[n].cpus))
			return false;
		for (unsigned k = 0; r->max_distance && k < shape->cells; k++)
			if (distance(s, n, shape->node[k]) > r->max_distance)
				return false;
		shape->node[shape->cells++] = n;
	}
	return shape->cells <= r->vcpus && (!r->cells_max || shape->cells <= r->cells_max);
}

static unsigned between_cells(const struct solver *s, const struct shape *shape)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < shape->cells; i++)
		for (unsigned k = 0; k < i; k++)
			sum += distance(s, shape->node[i], shape->node[k]) - 10;
	return sum;
}

static void value_shape(struct solver *s, struct split_answer *ret)
{
	if (!cpus_of_guest(s, 0))
		return;
	for (int local = 1; local >= 0; local--) {
		unsigned sum;

		s->only_local = local;
		s->best_distance = UINT32_MAX;
		if ((ret->placed && ret->local > local) || !memory_fits(s, local) ||
			!vfs_of_guest(s, 0))
			continue;
		sum = s->best_distance + between_cells(s, &s->shape[0]);
		if (!ret->placed || local > ret->local || sum < ret->distance)
			*ret = (struct split_answer){.placed = 1, .local = local, .distance = sum};
	}
}

/* cells: auto: one node, and only where none will do several. */
static void solve_one(struct solver *s, struct split_answer *ret)
{
	for (int one = 1; one >= 0 && !ret->placed; one--)
		for (unsigned mask = 1; mask < 1u << s->nodes; mask++)
			for (unsigned page = 0; page < 2; page++)
				if ((__builtin_popcount(mask) == 1) == one &&
					set_shape(s, 0, mask, page))
					value_shape(s, ret);
}

static bool can_be(struct solver *s, size_t g)
{
	if (g == s->in->guest_count)
		return cpus_of_guest(s, 0) && memory_fits(s, false) && vfs_of_guest(s, 0);
	if (!s->shape[g].placed)
		return can_be(s, g + 1);
	for (unsigned mask = 1; mask < 1u << s->nodes; mask++)
		for (unsigned page = 0; page < 2; page++)
			if (set_shape(s, g, mask, page) && can_be(s, g + 1))
				return true;
	return false;
}

static void solve_many(struct solver *s, struct split_answer *ret)
{
	for (unsigned who = 1; who < 1u << s->in->guest_count; who++) {
		unsigned count = (unsigned)__builtin_popcount(who);

		for (size_t g = 0; g < s->in->guest_count; g++)
			s->shape[g].placed = who >> g & 1;
		if (count > ret->placed && can_be(s, 0))
			ret->placed = count;
	}
}

void split_solve(const struct instance *in, struct split_answer *ret)
{
	static struct solver s;

	s = (struct solver){.in = in, .nodes = (unsigned)in->topology.node_count};
	*ret = (struct split_answer){0};
	read_host(&s);
	if (in->guest_count == 1)
		solve_one(&s, ret);
	else
		solve_many(&s, ret);
}
