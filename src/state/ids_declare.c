// SPDX-License-Identifier: GPL-2.0-or-later
/* Declare pools to the store; count their values; find the values that they would allocate. */
#include <errno.h>
#include <inttypes.h>

#include "base/parse.h"
#include "state/ids_db.h"
#include "state/ids_rows.h"
#include "types/idrange.h"

/* ---- is the definition unchanged? ---- */

/* The definition of a pool: kind, source, cooldown and ranges, as one number (FNV-1a). */
static int64_t shape_of(const struct vfctl_id_pool *pool)
{
	const uint64_t head[3] = {(uint64_t)pool->kind, (uint64_t)pool->source, pool->rest_s};

	return (int64_t)fnv1a(fnv1a(FNV1A_START, head, sizeof(head)), pool->ranges,
		pool->range_count * sizeof(*pool->ranges));
}

/* Its ranges are not known yet: they derive from a PF that was not read. */
static bool unresolved(const struct vfctl_id_pool *pool)
{
	return pool->source == VFCTL_ID_SOURCE_HOST && !pool->range_count;
}

/* 1: the table has the same definition; 0: it has not. */
static int is_declared(struct ids_db *s, const struct vfctl_id_pool *pool)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r;

	if (unresolved(pool))
		return 1; /* it is kept as it was */
	r = query_new(s->db, &q, "SELECT shape, declared FROM pool WHERE name = ?", "s",
		pool->name);
	if (r == 0)
		r = query_step(q);
	return r == 1 ? query_int(q, 1) && query_int(q, 0) == shape_of(pool) : r;
}

static const struct vfctl_id_pool *pool_named(const struct vfctl_id_pool *pools,
	size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(pools[i].name, name))
			return &pools[i];
	return NULL;
}

/* 1: the table declares no pool except these. */
static int none_is_left(struct ids_db *s, const struct vfctl_id_pool *pools, size_t count)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT name FROM pool WHERE declared <> 0", "");

	while (r >= 0 && (r = query_step(q)) == 1)
		if (!pool_named(pools, count, query_text(q, 0)))
			return 0;
	return r < 0 ? r : 1;
}

static int all_declared(struct ids_db *s, const struct vfctl_id_pool *pools, size_t count)
{
	int r = none_is_left(s, pools, count);

	for (size_t i = 0; i < count && r == 1; i++)
		r = is_declared(s, &pools[i]);
	return r;
}

/* ---- another definition ---- */

static int forget_others(struct ids_db *s, const struct vfctl_id_pool *pools, size_t count)
{
	int r = db_run(s->db, "UPDATE pool SET declared = -1 WHERE declared <> 0", "");

	for (size_t i = 0; i < count && r == 0; i++)
		r = db_run(s->db, "UPDATE pool SET declared = 1 WHERE declared = -1 AND name = ?",
			"s", pools[i].name);
	if (r == 0)
		r = db_run(s->db, "DELETE FROM pool_free WHERE pool IN (SELECT name FROM pool "
			"WHERE declared = -1)", "");
	return r < 0 ? r : db_run(s->db, "UPDATE pool SET declared = 0 WHERE declared = -1", "");
}

static int define_pool(struct ids_db *s, const struct vfctl_id_pool *pool)
{
	return db_run(s->db, "INSERT INTO pool (name, kind, shape, size, rest, declared) "
		"VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, "
		"shape = excluded.shape, size = excluded.size, rest = excluded.rest, declared = 1",
		"siiii", pool->name, (int64_t)pool->kind, shape_of(pool),
		(int64_t)idranges_size(pool->ranges, pool->range_count), (int64_t)pool->rest_s);
}

int ids_db_rest(struct id_store *store, const char *pool, uint32_t *ret_s)
{
	struct ids_db *s = ids_db_of(store);
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT rest FROM pool WHERE name = ?", "s", pool);

	if (r == 0)
		r = query_step(q);
	if (r == 1)
		*ret_s = (uint32_t)query_int(q, 0);
	return r < 0 ? r : r == 1 ? 0 : -ENOENT;
}

/*
 * All allocated values in these ranges belong to the pool from now on, whatever pool they came
 * from.
 */
static int adopt(struct ids_db *s, const struct vfctl_id_pool *pool)
{
	int r = 0;

	for (size_t i = 0; i < pool->range_count && r == 0; i++)
		r = db_run(s->db, "UPDATE identity SET pool = ? WHERE kind = ? AND value BETWEEN "
			"? AND ? AND pool <> ?", "siiis", pool->name, (int64_t)pool->kind,
			id_pack(pool->ranges[i].first), id_pack(pool->ranges[i].last), pool->name);
	return r;
}

static int fail_shrunk(struct ids_db *s, const struct vfctl_id_pool *pool,
	const struct vfctl_id *first, uint64_t count)
{
	char text[VFCTL_ID_TEXT];
	const struct vfctl_id_owner *o = &first->owner;

	return ctx_fail(s->base.ctx, -EINVAL, "pool %s in host.yaml no longer includes %" PRIu64 " "
		"leased value%s, the first %s (of %s %s); keep them in its ranges until they are "
		"released", pool->name, count, plural(count),
		vfctl_id_format(first->kind, first->value, text),
		o->domain_uuid[0] ? "domain" : "host", vfctl_id_owner_name(o));
}

/* Values of the pool outside of its ranges belong to no pool now; refused if one is in use. */
static int let_go(struct ids_db *s, const struct vfctl_id_pool *pool)
{
	struct vfctl_id id, first = {.value = 0};
	_cleanup_(query_freep) struct query *q = NULL;
	uint64_t out = 0;
	int r = query_new(s->db, &q, "SELECT " ID_COLUMNS " FROM identity WHERE pool = ? "
		"ORDER BY kind, value", "s", pool->name);

	while (r >= 0 && (r = query_step(q)) == 1) {
		id_read(q, &id);
		if (id.kind == pool->kind &&
			idranges_find(pool->ranges, pool->range_count, id.value) >= 0)
			continue;
		if (id.state == VFCTL_ID_LEASED || id.state == VFCTL_ID_BLOCK) {
			if (!out++)
				first = id;
			continue;
		}
		r = db_run(s->db, "UPDATE identity SET pool = '' WHERE kind = ? AND value = ?",
			"ii", (int64_t)id.kind, id_pack(id.value));
	}
	return r < 0 ? r : out ? fail_shrunk(s, pool, &first, out) : 0;
}

static int add_gap(struct ids_db *s, const char *pool, uint64_t first, uint64_t last)
{
	return db_run(s->db, "INSERT INTO pool_free (pool, first, last) VALUES (?, ?, ?)",
		"sii", pool, id_pack(first), id_pack(last));
}

/* Mark the gaps between the allocated values of one range as free. */
static int free_the_rest(struct ids_db *s, const struct vfctl_id_pool *pool,
	const struct vfctl_id_range *in)
{
	uint64_t next = in->first;
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT value FROM identity WHERE kind = ? AND value "
		"BETWEEN ? AND ? ORDER BY value", "iii", (int64_t)pool->kind,
		id_pack(in->first), id_pack(in->last));

	while (r >= 0 && (r = query_step(q)) == 1) {
		uint64_t value = id_unpack(query_int(q, 0));

		if (value > next)
			r = add_gap(s, pool->name, next, value - 1);
		next = value + 1;
	}
	if (r == 0 && next <= in->last)
		r = add_gap(s, pool->name, next, in->last);
	return r;
}

static int rebuild(struct ids_db *s, const struct vfctl_id_pool *pool)
{
	int r = db_run(s->db, "DELETE FROM pool_free WHERE pool = ?", "s", pool->name);

	for (size_t i = 0; i < pool->range_count && r == 0; i++)
		r = free_the_rest(s, pool, &pool->ranges[i]);
	return r;
}

static int count_again(struct ids_db *s)
{
	int r = db_exec(s->db, "UPDATE pool SET "
		"leased = (SELECT count(*) FROM identity i WHERE i.pool = name AND state = 0), "
		"block = (SELECT count(*) FROM identity i WHERE i.pool = name AND state = 1), "
		"resting = (SELECT count(*) FROM identity i WHERE i.pool = name AND state = 2), "
		"quarantined = (SELECT count(*) FROM identity i WHERE i.pool = name AND state = 3)");

	return r < 0 ? r : db_exec(s->db, "DELETE FROM pool WHERE declared = 0 AND "
		"leased + block + resting + quarantined = 0");
}

static int define_all(struct ids_db *s, const struct vfctl_id_pool *pools, size_t count)
{
	_free_ bool *same = calloc(count + 1, sizeof(*same));
	int r = same ? forget_others(s, pools, count) : ctx_oom(s->base.ctx);

	for (size_t i = 0; i < count && r >= 0; i++) {
		r = is_declared(s, &pools[i]);
		same[i] = r == 1;
	}
	/*
	 * First all pools adopt values, then all release theirs, so that a value can move from one
	 * pool to another.
	 */
	for (size_t i = 0; i < count && r >= 0; i++)
		r = same[i] ? 0 : define_pool(s, &pools[i]);
	for (size_t i = 0; i < count && r >= 0; i++)
		r = same[i] ? 0 : adopt(s, &pools[i]);
	for (size_t i = 0; i < count && r >= 0; i++)
		if (!same[i] && pools[i].source != VFCTL_ID_SOURCE_MAC)
			r = let_go(s, &pools[i]);
	for (size_t i = 0; i < count && r >= 0; i++)
		r = same[i] ? 0 : rebuild(s, &pools[i]);
	return r < 0 ? r : count_again(s);
}

int ids_db_declare(struct id_store *store, const struct vfctl_id_pool *pools, size_t count)
{
	struct ids_db *s = ids_db_of(store);
	int r = all_declared(s, pools, count);

	s->declared = r == 1 || s->write;
	if (r != 0 || !s->write)
		return r < 0 ? r : 0;
	r = ids_db_begin(store);
	if (r < 0)
		return r;
	/* If another process has done it meanwhile, this call finds nothing to do. */
	return ids_db_finish(s, define_all(s, pools, count));
}

int ids_db_lost(struct id_store *store, struct vfctl_id_pool **ret_pools, size_t *ret_count)
{
	struct ids_db *s = ids_db_of(store);
	_free_ struct vfctl_id_pool *pools = NULL;
	_cleanup_(query_freep) struct query *q = NULL;
	size_t n = 0;
	int r = query_new(s->db, &q, "SELECT name, kind FROM pool WHERE declared = 0 AND "
		"leased + block + resting + quarantined > 0 ORDER BY name", "");

	while (r >= 0 && (r = query_step(q)) == 1) {
		if (!array_grow(pools, n))
			return ctx_oom(store->ctx);
		str_copy(pools[n].name, sizeof(pools[n].name), query_text(q, 0));
		pools[n++].kind = (enum vfctl_id_kind)query_int(q, 1);
	}
	if (r == 0) {
		*ret_pools = steal(pools);
		*ret_count = n;
	}
	return r;
}

/* ---- counts and proposals ---- */

/* Only a reader may find pools declared differently: it counts the values that it sees. */
static int count_by_hand(struct ids_db *s, const struct vfctl_id_pool *pool,
	struct vfctl_id_stats *n)
{
	uint64_t *const counts[] = {[VFCTL_ID_LEASED] = &n->leased,
		[VFCTL_ID_BLOCK] = &n->block, [VFCTL_ID_RESTING] = &n->resting,
		[VFCTL_ID_QUARANTINED] = &n->quarantined};
	int r = 0;

	for (size_t i = 0; i < pool->range_count && r >= 0; i++) {
		_cleanup_(query_freep) struct query *q = NULL;

		r = query_new(s->db, &q, "SELECT state, count(*) FROM identity WHERE kind = ? AND "
			"value BETWEEN ? AND ? GROUP BY state", "iii", (int64_t)pool->kind,
			id_pack(pool->ranges[i].first), id_pack(pool->ranges[i].last));
		while (r >= 0 && (r = query_step(q)) == 1)
			*counts[query_int(q, 0)] += (uint64_t)query_int(q, 1);
	}
	return r;
}

static int read_counts(struct ids_db *s, const struct vfctl_id_pool *pool,
	struct vfctl_id_stats *n)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT leased, block, resting, quarantined FROM pool "
		"WHERE name = ?", "s", pool->name);

	if (r == 0)
		r = query_step(q);
	if (r == 1) {
		n->leased = (uint64_t)query_int(q, 0);
		n->block = (uint64_t)query_int(q, 1);
		n->resting = (uint64_t)query_int(q, 2);
		n->quarantined = (uint64_t)query_int(q, 3);
	}
	return r < 0 ? r : 0;
}

int ids_db_stats(struct id_store *store, const struct vfctl_id_pool *pool,
	struct vfctl_id_stats *ret)
{
	struct ids_db *s = ids_db_of(store);
	struct vfctl_id_stats n = {.size = idranges_size(pool->ranges, pool->range_count)};
	int r = s->declared ? read_counts(s, pool, &n) : count_by_hand(s, pool, &n);
	uint64_t out = n.leased + n.block + n.resting + n.quarantined;

	if (r < 0)
		return r;
	n.free = n.size > out ? n.size - out : 0;
	*ret = n;
	return 0;
}

/* A reader without intervals: check value after value against the allocated ones. */
static int gap_from(struct ids_db *s, const struct vfctl_id_pool *pool, uint64_t start,
	uint64_t *ret_value)
{
	int r = 0;

	for (size_t i = 0; i < pool->range_count; i++) {
		const struct vfctl_id_range *in = &pool->ranges[i];
		uint64_t next = start > in->first ? start : in->first;
		_cleanup_(query_freep) struct query *q = NULL;

		r = query_new(s->db, &q, "SELECT value FROM identity WHERE kind = ? AND value "
			"BETWEEN ? AND ? ORDER BY value", "iii", (int64_t)pool->kind, id_pack(next),
			id_pack(in->last));
		while (r >= 0 && (r = query_step(q)) == 1 && id_unpack(query_int(q, 0)) == next)
			next++;
		if (r < 0)
			return r;
		if (next <= in->last) {
			*ret_value = next;
			return 1;
		}
	}
	return 0;
}

/* Values whose cooldown is over: the next calls of take() find them free. */
struct rested {
	uint64_t *v;
	size_t count;
};

static void clear_rested(struct rested *rested)
{
	free(rested->v);
}

static int read_rested(struct ids_db *s, const struct vfctl_id_pool *pool, unsigned nth,
	struct rested *ret)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT value FROM identity WHERE pool = ? AND state = 2 "
		"AND until <= ? AND pending = 0 ORDER BY until LIMIT ?", "sii", pool->name,
		ids_db_now(s), (int64_t)nth + IDS_EXPIRE_BATCH);

	while (r >= 0 && (r = query_step(q)) == 1) {
		if (!array_grow(ret->v, ret->count))
			return ctx_oom(s->base.ctx);
		ret->v[ret->count++] = id_unpack(query_int(q, 0));
	}
	return r;
}

/*
 * The lowest value from @start up that is free, or whose cooldown is over: 1, or 0 if there is
 * none.
 */
static int next_free(struct ids_db *s, const struct vfctl_id_pool *pool,
	const struct rested *rested, uint64_t start, uint64_t *ret_value)
{
	uint64_t value = 0;
	int r = s->declared ? free_from(s->db, pool->name, start, &value)
			    : gap_from(s, pool, start, &value);

	for (size_t i = 0; i < rested->count && r >= 0; i++)
		if (rested->v[i] >= start && (r == 0 || rested->v[i] < value)) {
			value = rested->v[i];
			r = 1;
		}
	if (r == 1)
		*ret_value = value;
	return r;
}

int ids_db_peek(struct id_store *store, const struct id_choice *choice, unsigned nth,
	uint64_t *ret_value)
{
	_cleanup_(clear_rested) struct rested rested = {0};
	struct ids_db *s = ids_db_of(store);
	uint64_t value = 0, from = choice->start, first = 0;
	bool round = false;
	int r = read_rested(s, choice->pool, nth, &rested);

	for (unsigned i = 0; i <= nth && r >= 0; i++) {
		r = next_free(s, choice->pool, &rested, from, &value);
		if (r == 0 && !round) {
			round = true;
			r = next_free(s, choice->pool, &rested, 0, &value);
		}
		if (r == 0 || (r == 1 && i && value == first))
			return ids_db_fail_exhausted(s, choice->pool, i);
		if (i == 0)
			first = value;
		from = value + 1;
	}
	if (r == 1)
		*ret_value = value;
	return r < 0 ? r : 0;
}

int ids_db_fail_exhausted(struct ids_db *s, const struct vfctl_id_pool *pool, unsigned chosen)
{
	struct vfctl_id_stats n;
	_cleanup_(query_freep) struct query *q = NULL;
	int64_t wait = -1;
	int r = ids_db_stats(&s->base, pool, &n);

	if (r == 0)
		r = query_new(s->db, &q, "SELECT until FROM identity WHERE pool = ? AND state = 2 "
			"ORDER BY until LIMIT 1", "s", pool->name);
	if (r == 0)
		r = query_step(q);
	if (r < 0)
		return r;
	if (r == 1)
		wait = query_int(q, 0) - ids_db_now(s);
	ctx_fail(s->base.ctx, -ENOSPC, "pool %s is exhausted: of its %" PRIu64 " values %" PRIu64 " are "
		"leased, %" PRIu64 " in the reserve, %" PRIu64 " in their cooldown, %" PRIu64 " "
		"quarantined",
		pool->name, n.size, n.leased, n.block, n.resting, n.quarantined);
	if (chosen)
		ctx_append(s->base.ctx, -ENOSPC, ", and %u are already chosen", chosen);
	if (wait > 0)
		return ctx_append(s->base.ctx, -ENOSPC, "; the next cooldown ends in %" PRId64 " s; "
			"give the pool more ranges in host.yaml, or wait", wait);
	return ctx_append(s->base.ctx, -ENOSPC, "; give the pool more ranges in host.yaml, or release "
		"unused values (vfctl guid list --pool %s; vfctl guid release VALUE)", pool->name);
}
