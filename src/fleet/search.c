// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the next free value. etcd returns the number of keys in a range without sending them: a
 * range with as many keys as values is full. A handful of requests finds the first gap among any
 * number of values.
 */
#include <errno.h>
#include <inttypes.h>

#include "types/idrange.h"
#include "fleet/fleet_internal.h"

/* Number of parts that one transaction counts; below etcd's limit of operations. */
#define PARTS 63

/* ---- among a few records ---- */

int fleet_spots_in(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t first,
	uint64_t last, const struct etcd_result *result, struct fleet_spot *ret, size_t max)
{
	uint64_t next = first;
	struct vfctl_id id;
	size_t n = 0;

	for (size_t i = 0; i < result->count && n < max; i++) {
		int r = fleet_read_kv(f, pool->kind, &result->kvs[i], &id);

		if (r < 0)
			return r;
		if (id.value < next || id.value > last)
			return ctx_fail(f->base.ctx, -EBADMSG, "etcd answered with other keys than "
				"those asked for");
		while (next < id.value && n < max)
			ret[n++] = (struct fleet_spot){.value = next++};
		if (id.state == VFCTL_ID_RESTING && id.until <= fleet_now(f) && n < max)
			ret[n++] = (struct fleet_spot){id.value, result->kvs[i].modified};
		next = id.value + 1;
	}
	/* After the last record all values are free, if there are no more records. */
	while (!result->more && next <= last && n < max)
		ret[n++] = (struct fleet_spot){.value = next++};
	return (int)n;
}

/*
 * Number of free values found in first..last: 0 if there is none among the first FLEET_WINDOW
 * records.
 */
static int look_near(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t first,
	uint64_t last, struct fleet_spot *ret, size_t max)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);
	char from[FLEET_KEY], to[FLEET_KEY];
	int r;

	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.limit = FLEET_WINDOW,
		.first = fleet_id_key(pool->kind, first, from),
		.last = fleet_id_key(pool->kind, last, to)});
	r = fleet_commit(f, &t, &a);
	return r < 0 ? r : fleet_spots_in(f, pool, first, last, &a.results[0], ret, max);
}

/* ---- among many ---- */

/* Count the keys in each part: the index of the first part that is not full, or @count. */
static int first_not_full(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct vfctl_id_range *parts, size_t count, size_t *ret_at)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);
	int r;

	for (size_t i = 0; i < count; i++) {
		char from[FLEET_KEY], to[FLEET_KEY];

		etcd_get(&t, ETCD_THEN, &(struct etcd_range){.count_only = true,
			.first = fleet_id_key(pool->kind, parts[i].first, from),
			.last = fleet_id_key(pool->kind, parts[i].last, to)});
	}
	r = fleet_commit(f, &t, &a);
	if (r < 0)
		return r;
	for (*ret_at = 0; *ret_at < count; (*ret_at)++) {
		const struct vfctl_id_range *p = &parts[*ret_at];

		if ((uint64_t)a.results[*ret_at].total < p->last - p->first + 1)
			break;
	}
	return 0;
}

static size_t split_up(uint64_t first, uint64_t last, struct vfctl_id_range parts[PARTS])
{
	uint64_t len = (last - first) / PARTS + 1;
	size_t n = 0;

	for (;;) {
		uint64_t end = last - first < len ? last : first + len - 1;

		parts[n++] = (struct vfctl_id_range){first, end};
		if (end == last)
			return n;
		first = end + 1;
	}
}

/* 1 and @io becomes its first part, of at most one window, that is not full; 0 if it is full. */
static int narrow_down(struct fleet *f, const struct vfctl_id_pool *pool,
	struct vfctl_id_range *io)
{
	struct vfctl_id_range parts[PARTS];
	size_t at, n;
	int r;

	while (io->last - io->first >= FLEET_WINDOW) {
		n = split_up(io->first, io->last, parts);
		r = first_not_full(f, pool, parts, n, &at);
		if (r < 0 || at == n)
			return r;
		*io = parts[at];
	}
	return 1;
}

static int search_range(struct fleet *f, const struct vfctl_id_pool *pool,
	struct vfctl_id_range range, struct fleet_spot *ret, size_t max)
{
	int r = look_near(f, pool, range.first, range.last, ret, max);

	while (r == 0 && range.last - range.first >= FLEET_WINDOW) {
		struct vfctl_id_range part = range;

		r = narrow_down(f, pool, &part);
		if (r != 1)
			return r;
		r = look_near(f, pool, part.first, range.last, ret, max);
		if (part.last == range.last)
			return r;
		range.first = part.last + 1; /* other hosts filled it meanwhile: continue after it */
	}
	return r;
}

/* ---- a full pool ---- */

struct census {
	struct vfctl_id_stats n;
	int64_t next;	     /* end of the first cooldown; 0 if there is none */
	uint64_t next_value; /* the value with that cooldown */
};

static int count_one(void *data, const struct vfctl_id *id)
{
	struct census *c = data;
	uint64_t *const counts[] = {[VFCTL_ID_LEASED] = &c->n.leased,
		[VFCTL_ID_BLOCK] = &c->n.block, [VFCTL_ID_RESTING] = &c->n.resting,
		[VFCTL_ID_QUARANTINED] = &c->n.quarantined};

	(*counts[id->state])++;
	if (id->state == VFCTL_ID_RESTING && (!c->next || id->until < c->next)) {
		c->next = id->until;
		c->next_value = id->value;
	}
	return 0;
}

static int take_census(struct fleet *f, const struct vfctl_id_pool *pool, bool in_time,
	struct census *c)
{
	int r = 0;

	for (size_t i = 0; i < pool->range_count && r == 0; i++)
		r = fleet_walk(f, &(struct fleet_walk){.kind = pool->kind, .in_time = in_time,
			.first = pool->ranges[i].first, .last = pool->ranges[i].last,
			.each = count_one, .data = c});
	return r;
}

int fleet_count(struct fleet *f, const struct vfctl_id_pool *pool, struct vfctl_id_stats *ret)
{
	struct census c = {.n.size = idranges_size(pool->ranges, pool->range_count)};
	int r = take_census(f, pool, false, &c);
	uint64_t out = c.n.leased + c.n.block + c.n.resting + c.n.quarantined;

	c.n.free = c.n.size > out ? c.n.size - out : 0;
	if (r == 0)
		*ret = c.n;
	return r;
}

static int fail_exhausted(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct census *c)
{
	ctx_fail(f->base.ctx, -ENOSPC, "pool %s is exhausted: of its %" PRIu64 " values %" PRIu64 " are "
		"leased, %" PRIu64 " in the reserves of hosts, %" PRIu64 " in their cooldown, %" PRIu64 ""
		" quarantined", pool->name, idranges_size(pool->ranges, pool->range_count),
		c->n.leased, c->n.block, c->n.resting, c->n.quarantined);
	if (c->next)
		return ctx_append(f->base.ctx, -ENOSPC, "; the next cooldown ends in %" PRId64 " "
			"s; give the pool more ranges in host.yaml of all hosts, or wait",
			c->next - fleet_now(f));
	return ctx_append(f->base.ctx, -ENOSPC, "; see vfctl guid orphans, or give the pool more "
		"ranges in host.yaml of all hosts, and vfctl guid publish");
}

/* All values have records: find one whose cooldown is over. */
static int find_rested(struct fleet *f, const struct vfctl_id_pool *pool, struct fleet_spot *ret)
{
	struct census c = {.next = 0};
	int r = take_census(f, pool, true, &c);

	if (r == 0 && c.next && c.next <= fleet_now(f))
		r = look_near(f, pool, c.next_value, c.next_value, ret, 1);
	return r ? r : fail_exhausted(f, pool, &c);
}

int fleet_search(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t start,
	struct fleet_spot *ret, size_t max)
{
	int r = 0;

	for (size_t i = 0; i < pool->range_count && r == 0; i++) {
		struct vfctl_id_range above = pool->ranges[i];

		if (above.first < start)
			above.first = start;
		if (above.first <= above.last)
			r = search_range(f, pool, above, ret, max);
	}
	for (size_t i = 0; i < pool->range_count && r == 0 && start; i++) {
		struct vfctl_id_range below = pool->ranges[i];

		if (below.last >= start)
			below.last = start - 1;
		if (below.first <= below.last)
			r = search_range(f, pool, below, ret, max);
	}
	return r ? r : find_rested(f, pool, ret);
}
