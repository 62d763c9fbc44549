// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where is the next free value? Etcd tells how many keys a range has without sending them:
 * a range with as many keys as values is full. A handful of requests finds the first gap
 * among any number of values.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/idrange.h"
#include "state/fleet.h"

/* Parts that one transaction counts; below etcd's limit of operations. */
#define PARTS 63

/* ---- among a few records ---- */

/* Is the record in the way? Not when its rest is over. */
static int is_taken(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct etcd_kv *kv, uint64_t value)
{
	struct vfctl_id id;
	int r = fleet_read_kv(f, pool->kind, kv, &id);

	if (r < 0)
		return r;
	return id.value != value || id.state != VFCTL_ID_RESTING || id.until > fleet_now(f);
}

/* One place among those found: with @skip, the last of so many. */
static bool found(struct fleet_spot *ret, bool *any, unsigned *skip, uint64_t value,
	int64_t revision)
{
	*ret = (struct fleet_spot){value, revision};
	*any = true;
	return (*skip)-- == 0;
}

int fleet_spot_in(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t first,
	uint64_t last, const struct etcd_result *result, unsigned skip, struct fleet_spot *ret)
{
	bool any = false;
	uint64_t next = first, at;

	for (size_t i = 0; i < result->count; i++) {
		const struct etcd_kv *kv = &result->kvs[i];
		int r;

		if (!fleet_id_of_key(pool->kind, kv->key, &at) || at < next || at > last)
			return ctx_fail(f->base.ctx, -EBADMSG, "etcd answered with other keys than "
				"those asked for");
		for (; next < at; next++)
			if (found(ret, &any, &skip, next, 0))
				return 1;
		r = is_taken(f, pool, kv, at);
		if (r < 0)
			return r;
		if (r == 0 && found(ret, &any, &skip, at, kv->modified))
			return 1;
		if (at == last)
			return any;
		next = at + 1;
	}
	/* Behind the last record all is free, if there are no more of them. */
	while (!result->more && next <= last)
		if (found(ret, &any, &skip, next++, 0))
			return 1;
	return any;
}

static int look_near(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t first,
	uint64_t last, unsigned skip, struct fleet_spot *ret)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);
	char from[FLEET_KEY], to[FLEET_KEY];
	int r;

	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.limit = FLEET_WINDOW,
		.first = fleet_id_key(pool->kind, first, from),
		.last = fleet_id_key(pool->kind, last, to)});
	r = fleet_commit(f, &t, &a);
	return r < 0 ? r : fleet_spot_in(f, pool, first, last, &a.results[0], skip, ret);
}

/* ---- among many ---- */

/* Count each part: the index of the first that is not full, or @count. */
static int first_not_full(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct vfctl_id_range *parts, size_t count, size_t *ret_at)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);
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

/* Parts that double in size: what is taken is mostly at the beginning. */
static size_t double_up(uint64_t first, uint64_t last, struct vfctl_id_range parts[PARTS])
{
	uint64_t len = FLEET_WINDOW;
	size_t n = 0;

	while (n < PARTS) {
		uint64_t end = last - first < len ? last : first + len - 1;

		if (n == PARTS - 1)
			end = last;
		parts[n++] = (struct vfctl_id_range){first, end};
		if (end == last)
			break;
		first = end + 1;
		len *= 2;
	}
	return n;
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

/* Within a part that was not full when it was counted: 1; 0 it is by now. */
static int narrow_down(struct fleet *f, const struct vfctl_id_pool *pool,
	struct vfctl_id_range part, unsigned skip, struct fleet_spot *ret)
{
	struct vfctl_id_range parts[PARTS];
	size_t at, n;
	int r;

	while (part.last - part.first >= FLEET_WINDOW) {
		n = split_up(part.first, part.last, parts);
		r = first_not_full(f, pool, parts, n, &at);
		if (r < 0 || at == n)
			return r;
		part = parts[at];
	}
	return look_near(f, pool, part.first, part.last, skip, ret);
}

/* 1 and a free value of first..last; 0 none. */
static int search_range(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t first,
	uint64_t last, unsigned skip, struct fleet_spot *ret)
{
	struct vfctl_id_range parts[PARTS];
	int r = look_near(f, pool, first, last, skip, ret);
	size_t at, n;

	while (r == 0) {
		n = double_up(first, last, parts);
		r = first_not_full(f, pool, parts, n, &at);
		if (r < 0 || at == n)
			return r;
		r = narrow_down(f, pool, parts[at], skip, ret);
		if (parts[at].last == last)
			return r;
		first = parts[at].last + 1; /* others filled it meanwhile: on behind it */
	}
	return r;
}

/* ---- a full pool ---- */

struct census {
	struct vfctl_id_stats n;
	int64_t next; /* end of the first rest; 0 none */
	struct fleet_spot spot;
};

static bool count_one(struct fleet *f, const struct vfctl_id *id, struct census *c)
{
	uint64_t *const counts[] = {[VFCTL_ID_LEASED] = &c->n.leased,
		[VFCTL_ID_BLOCK] = &c->n.block, [VFCTL_ID_RESTING] = &c->n.resting,
		[VFCTL_ID_QUARANTINED] = &c->n.quarantined};

	(*counts[id->state])++;
	if (id->state != VFCTL_ID_RESTING)
		return false;
	if (!c->next || id->until < c->next)
		c->next = id->until;
	return id->until <= fleet_now(f);
}

/* Every record of the pool: 1 when the rest of one is over. */
static int take_census(struct fleet *f, const struct vfctl_id_pool *pool, struct census *c)
{
	_free_ struct vfctl_id *page = calloc(FLEET_PAGE, sizeof(*page));

	if (!page)
		return ctx_oom(f->base.ctx);
	for (size_t i = 0; i < pool->range_count; i++) {
		uint64_t first = pool->ranges[i].first, last = pool->ranges[i].last;
		int got = FLEET_PAGE;

		while (got == FLEET_PAGE && first <= last) {
			got = fleet_page(f, pool->kind, first, last, 0, page, FLEET_PAGE);
			for (int k = 0; k < got; k++)
				if (count_one(f, &page[k], c))
					return look_near(f, pool, page[k].value, page[k].value, 0,
						&c->spot);
			if (got < 0)
				return got;
			if (got)
				first = page[got - 1].value + 1;
		}
	}
	return 0;
}

static int fail_exhausted(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct census *c)
{
	ctx_fail(f->base.ctx, -ENOSPC, "pool %s is exhausted: of its %" PRIu64 " values %" PRIu64
		" are leased, %" PRIu64 " set aside for hosts, %" PRIu64 " resting, %" PRIu64
		" quarantined", pool->name, idranges_size(pool->ranges, pool->range_count),
		c->n.leased, c->n.block, c->n.resting, c->n.quarantined);
	if (c->next)
		return ctx_append(f->base.ctx, -ENOSPC, "; the next one's rest ends in %" PRId64
			" s", c->next - fleet_now(f));
	return ctx_append(f->base.ctx, -ENOSPC, "; see vfctl guid orphans, or give the pool more "
		"ranges in host.yaml of all hosts, and vfctl guid publish");
}

int fleet_search(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t start,
	unsigned skip, struct fleet_spot *ret)
{
	struct census census = {.next = 0};
	int r = 0;

	for (size_t i = 0; i < pool->range_count && r == 0; i++) {
		uint64_t first = pool->ranges[i].first, last = pool->ranges[i].last;

		if (start <= last)
			r = search_range(f, pool, start > first ? start : first, last, skip, ret);
	}
	for (size_t i = 0; i < pool->range_count && r == 0; i++) {
		uint64_t first = pool->ranges[i].first, last = pool->ranges[i].last;

		if (first < start)
			r = search_range(f, pool, first, last < start ? last : start - 1, skip, ret);
	}
	if (r != 0)
		return r < 0 ? r : 0;
	r = take_census(f, pool, &census);
	if (r == 1)
		*ret = census.spot;
	return r < 0 ? r : r == 1 ? 0 : fail_exhausted(f, pool, &census);
}
