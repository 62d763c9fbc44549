// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Capacity for the next guests. The assumptions about them, unless the administrator states their
 * kinds (docs/explanation/placement.md): guests of 1, 2, 4, 8 and 16 threads and guests of two
 * cells (8, 16 or 32 threads each) are equally frequent, and every second guest needs a local VF.
 * On queues of real requests (tests/perf/queues), doubled and halved shares placed as many guests.
 */
#include "placement/search/future_capacity.h"

#include "placement/search/capacity.h"

/* Counts of 0 and 1 differ, but not infinitely. */
#define COUNT_BASE 0.5
/* Threads near VFs have this weight, compared with a guest with a VF: they are used up first. */
#define NEAR_SHARE 4.0

/* ---- number of guests that fit ---- */

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Guests with two cells, each on a different node. */
struct pairs {
	uint64_t sum, most;
};

static void pairs_add(struct pairs *p, uint32_t cells)
{
	p->sum += cells;
	p->most = cells > p->most ? cells : p->most;
}

static uint64_t pairs_count(const struct pairs *p)
{
	uint64_t others = p->sum - p->most;

	return p->sum / 2 < others ? p->sum / 2 : others;
}

/* @usable: usable threads of each node. */
static uint64_t count_pairs(const uint32_t *usable, size_t nodes, uint32_t threads)
{
	struct pairs p = {0};

	for (size_t n = 0; n < nodes; n++)
		pairs_add(&p, usable[n] / threads);
	return pairs_count(&p);
}

void future_capacity_vfs_at_start(const struct capacity *s, struct future_capacity_vfs *ret)
{
	memset(ret, 0, (s->node_count + 1) * sizeof(*ret));
	for (size_t g = 0; g < s->group_count; g++)
		ret[s->groups[g].home_node].of[s->groups[g].network] += s->groups[g].free;
}

/* ---- kinds and their prices ---- */

static uint32_t largest_node(const struct capacity *s)
{
	uint32_t most = 0;

	for (unsigned n = 0; n < s->node_count; n++)
		most = s->nodes[n].threads > most ? s->nodes[n].threads : most;
	return most;
}

static void add_kind(struct future_capacity *o, uint32_t threads, uint32_t cells, double share,
	double vf_share)
{
	struct future_capacity_kind *k = o->kinds;

	while (k < &o->kinds[o->kind_count] && (k->threads != threads || k->cells != cells))
		k++;
	if (k == &o->kinds[OUTLOOK_KINDS_MAX])
		return;
	if (k == &o->kinds[o->kind_count]) {
		o->kind_count++;
		*k = (struct future_capacity_kind){.threads = threads, .cells = cells};
	}
	k->share += share;
	k->vf_share += vf_share;
}

static void assume_kinds(struct future_capacity *o, uint32_t largest)
{
	uint32_t sizes = 0, pairs = 0;

	for (uint32_t size = 1; size <= 16 && size <= largest; size *= 2)
		sizes++;
	for (uint32_t size = 8; size <= 32 && size <= largest; size *= 2)
		pairs++;
	for (uint32_t i = 0; i < sizes; i++)
		add_kind(o, 1u << i, 1, 0.5 / (sizes + 1), 0.5 / (sizes + 1));
	for (uint32_t i = 0; i < pairs; i++)
		add_kind(o, 8u << i, 2, 1.0 / pairs / (sizes + 1), 0);
	if (!pairs && largest)
		add_kind(o, largest, 2, 1.0 / (sizes + 1), 0);
}

/* Use the kinds that the administrator states. */
static void take_kinds(struct future_capacity *o, const struct vfctl_typical *typical, size_t count,
	uint32_t largest)
{
	double all = 0;

	for (size_t i = 0; i < count; i++)
		all += typical[i].share;
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_typical *t = &typical[i];
		uint32_t threads = t->vcpus / t->cells;

		if (threads <= largest)
			add_kind(o, threads, t->cells > 1 ? 2 : 1, t->vfs ? 0 : t->share / all,
				t->vfs ? t->share / all : 0);
	}
}

static void find_fabrics(struct capacity *s)
{
	struct future_capacity *o = &s->future_capacity;

	for (size_t g = 0; g < s->group_count; g++) {
		size_t f = 0;

		while (f < o->fabric_count && o->fabrics[f] != s->groups[g].fabric)
			f++;
		if (f == o->fabric_count && f < OUTLOOK_FABRICS_MAX)
			o->fabrics[o->fabric_count++] = s->groups[g].fabric;
		s->groups[g].network = (uint8_t)(f < OUTLOOK_FABRICS_MAX ? f
							: OUTLOOK_FABRICS_MAX - 1);
	}
}

static uint64_t price_of(double share, double count)
{
	double price = OUTLOOK_SCALE * share / (count + COUNT_BASE);

	return share <= 0 ? 0 : price < 1 ? 1 : (uint64_t)(price + 0.5);
}

static void price_kind(const struct capacity *s, struct future_capacity_kind *k,
	const uint32_t *usable,
	const struct future_capacity_vfs *vfs)
{
	uint64_t fit = 0, with_vf[OUTLOOK_FABRICS_MAX] = {0};

	if (k->cells > 1) {
		k->price = price_of(k->share + k->vf_share,
			(double)count_pairs(usable, s->node_count, k->threads));
		return;
	}
	for (unsigned n = 0; n < s->node_count; n++) {
		uint32_t guests = usable[n] / k->threads;

		fit += guests;
		for (size_t f = 0; f < s->future_capacity.fabric_count; f++)
			with_vf[f] += min32(guests, vfs[n].of[f]);
	}
	k->price = price_of(k->share, (double)fit);
	for (size_t f = 0; f < s->future_capacity.fabric_count; f++)
		k->vf_price[f] = price_of(k->vf_share / (double)s->future_capacity.fabric_count,
			(double)with_vf[f]);
}

void future_capacity_init(struct capacity *s)
{
	struct future_capacity_vfs vfs[CAPACITY_NODES_MAX + 1];
	uint32_t usable[CAPACITY_NODES_MAX];
	struct future_capacity *o = &s->future_capacity;
	double with_vf = 0;

	future_capacity_usable(s, s->start, usable);
	find_fabrics(s);
	future_capacity_vfs_at_start(s, vfs);
	if (s->model->typical_count)
		take_kinds(o, s->model->typical, s->model->typical_count, largest_node(s));
	else
		assume_kinds(o, largest_node(s));
	for (size_t k = 0; k < o->kind_count; k++)
		price_kind(s, &o->kinds[k], usable, vfs);
	for (size_t k = 0; k < o->kind_count; k++)
		with_vf += o->kinds[k].vf_share + (o->kinds[k].cells > 1 ? 0.5 * o->kinds[k].share : 0);
	for (size_t f = 0; f < o->fabric_count; f++) {
		uint64_t threads = 0;

		for (unsigned n = 0; n < s->node_count; n++)
			threads += vfs[n].of[f] ? usable[n] : 0;
		o->near_price[f] = price_of(NEAR_SHARE * with_vf / (double)o->fabric_count,
			(double)threads);
	}
}

/* ---- the value of a state ---- */

void future_capacity_usable(const struct capacity *s, const struct node_free *rooms, uint32_t *ret)
{
	for (unsigned n = 0; n < s->node_count; n++)
		ret[n] = capacity_usable_threads(s, &rooms[n]);
}

uint64_t future_capacity_node(const struct capacity *s, uint32_t threads,
	const struct future_capacity_vfs *vfs)
{
	const struct future_capacity *o = &s->future_capacity;
	uint64_t sum = 0;

	for (const struct future_capacity_kind *k = o->kinds; k < &o->kinds[o->kind_count]; k++) {
		uint32_t guests = k->cells == 1 ? threads / k->threads : 0;

		sum += guests * k->price;
		for (size_t f = 0; f < o->fabric_count; f++)
			sum += min32(guests, vfs->of[f]) * k->vf_price[f];
	}
	for (size_t f = 0; f < o->fabric_count; f++)
		sum += vfs->of[f] ? threads * o->near_price[f] : 0;
	return sum;
}

uint64_t future_capacity_pairs(const struct capacity *s, const uint32_t *usable)
{
	const struct future_capacity *o = &s->future_capacity;
	uint64_t sum = 0;

	for (const struct future_capacity_kind *k = o->kinds; k < &o->kinds[o->kind_count]; k++)
		if (k->cells > 1)
			sum += k->price * count_pairs(usable, s->node_count, k->threads);
	return sum;
}

uint64_t future_capacity_vf_worth(const struct capacity *s, uint32_t threads, size_t fabric,
	uint32_t vfs)
{
	const struct future_capacity *o = &s->future_capacity;
	uint64_t sum = vfs == 1 ? threads * o->near_price[fabric] : 0;

	for (const struct future_capacity_kind *k = o->kinds; k < &o->kinds[o->kind_count]; k++)
		if (k->cells == 1 && threads / k->threads >= vfs)
			sum += k->vf_price[fabric];
	return sum;
}

/* ---- the bound ---- */

/*
 * For each fabric, assuming that all VFs that are used come from the other fabrics as far as
 * possible.
 */
static void most_vfs(const struct capacity *s, uint64_t taken,
	const struct future_capacity_vfs *vfs,
	uint64_t ret[OUTLOOK_FABRICS_MAX])
{
	uint64_t all[OUTLOOK_FABRICS_MAX] = {0}, sum = 0;

	for (unsigned n = 0; n <= s->node_count; n++)
		for (size_t f = 0; f < s->future_capacity.fabric_count; f++) {
			all[f] += vfs[n].of[f];
			sum += vfs[n].of[f];
		}
	for (size_t f = 0; f < s->future_capacity.fabric_count; f++) {
		uint64_t others = sum - all[f], own = taken > others ? taken - others : 0;

		ret[f] = all[f] > own ? all[f] - own : 0;
	}
}

static uint64_t most_of_kind(const struct capacity *s, const struct future_capacity_kind *k,
	const uint32_t *usable, uint64_t threads, const struct future_capacity_vfs *vfs,
	const uint64_t left[OUTLOOK_FABRICS_MAX])
{
	uint64_t guests = 0, most = threads / k->threads, sum;
	uint64_t with_vf[OUTLOOK_FABRICS_MAX] = {0};

	if (k->cells > 1) {
		guests = count_pairs(usable, s->node_count, k->threads);
		return k->price * (guests < most / 2 ? guests : most / 2);
	}
	for (unsigned n = 0; n < s->node_count; n++) {
		uint32_t here = usable[n] / k->threads;

		guests += here;
		for (size_t f = 0; f < s->future_capacity.fabric_count; f++)
			with_vf[f] += min32(here, vfs[n].of[f]);
	}
	guests = guests < most ? guests : most;
	sum = guests * k->price;
	for (size_t f = 0; f < s->future_capacity.fabric_count; f++) {
		uint64_t n = with_vf[f] < left[f] ? with_vf[f] : left[f];

		sum += (n < guests ? n : guests) * k->vf_price[f];
	}
	return sum;
}

uint64_t future_capacity_most(const struct capacity *s, const struct node_free *rooms,
	uint64_t threads,
	uint64_t slack, uint64_t taken)
{
	uint64_t all = capacity_threads_within(s, rooms, slack), most = 0, sum = 0;
	uint64_t left[OUTLOOK_FABRICS_MAX] = {0};
	uint64_t near[OUTLOOK_FABRICS_MAX] = {0};
	struct future_capacity_vfs vfs[CAPACITY_NODES_MAX + 1];
	const struct future_capacity *o = &s->future_capacity;
	uint32_t usable[CAPACITY_NODES_MAX];

	future_capacity_usable(s, rooms, usable);
	future_capacity_vfs_at_start(s, vfs);
	most_vfs(s, taken, vfs, left);
	for (unsigned n = 0; n < s->node_count; n++) {
		most += usable[n];
		for (size_t f = 0; f < o->fabric_count; f++)
			near[f] += vfs[n].of[f] ? usable[n] : 0;
	}
	all = all > threads ? all - threads : 0;
	all = most < all ? most : all;
	for (size_t k = 0; k < o->kind_count; k++)
		sum += most_of_kind(s, &o->kinds[k], usable, all, vfs, left);
	for (size_t f = 0; f < o->fabric_count; f++)
		sum += left[f] ? (near[f] < all ? near[f] : all) * o->near_price[f] : 0;
	return sum;
}
