// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pools in the host's SQLite file. Nearly all time goes to fsync; the rest is a few index look-ups,
 * whatever the size of the pool and the number of allocated values.
 */
#include "state/ids_sqlite.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "ids/owner.h"
#include "base/buf.h"
#include "state/file.h"
#include "state/ids_db.h"
#include "state/ids_rows.h"

/* ---- transactions ---- */

static int end_row(struct id_store *store, bool keep)
{
	struct ids_db *s = ids_db_of(store);

	if (keep)
		return ids_db_finish(s, 0);
	s->depth--;
	return db_roll_back(s->db, 0);
}

/* ---- look-ups ---- */

static int fail_unknown(struct ids_db *s, enum vfctl_id_kind kind, uint64_t value)
{
	char text[VFCTL_ID_TEXT];

	return ctx_fail(s->base.ctx, -ENOENT, "%s has no owner",
		vfctl_id_format(kind, value, text));
}

static int find_value(struct id_store *store, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret)
{
	struct ids_db *s = ids_db_of(store);
	int r = row_get(s->db, kind, value, ret);

	return r == 1 ? 0 : r == 0 ? fail_unknown(s, kind, value) : r;
}

static int owned(struct ids_db *s, enum vfctl_id_kind kind,
	const struct vfctl_id_owner *owner, enum vfctl_id_state state, struct vfctl_id *ret)
{
	/*
	 * The index is named: otherwise SQLite scans all values of the kind for the second query.
	 */
	const char *sql = state == VFCTL_ID_LEASED
		? "SELECT " ID_COLUMNS " FROM identity INDEXED BY identity_owner WHERE kind = ? "
		  "AND owner = ? AND state = 0"
		: "SELECT " ID_COLUMNS " FROM identity INDEXED BY identity_rested WHERE kind = ? "
		  "AND owner = ? AND state = 2 ORDER BY until DESC LIMIT 1";
	char key[ID_OWNER_TEXT];
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, sql, "is", (int64_t)kind, id_owner_key(owner, key));

	if (r == 0)
		r = query_step(q);
	if (r == 1)
		id_read(q, ret);
	return r;
}

static int find_owner(struct id_store *store, enum vfctl_id_kind kind,
	const struct vfctl_id_owner *owner, struct vfctl_id *ret)
{
	struct ids_db *s = ids_db_of(store);
	int r = owned(s, kind, owner, VFCTL_ID_LEASED, ret);

	if (r == 0)
		r = owned(s, kind, owner, VFCTL_ID_RESTING, ret);
	if (r == 0)
		return ctx_fail(store->ctx, -ENOENT, "%s has no %s",
			owner->domain_uuid[0] ? owner->domain_uuid : owner->host,
			kind == VFCTL_ID_GUID ? "GUID" : "MAC");
	return r < 0 ? r : 0;
}

/*
 * Ordered by value, beginning at @start. The unary plus keeps SQLite on that index: with another
 * one it would sort all remaining rows for each page. A domain has few values.
 */
static int page_query(struct ids_db *s, const struct vfctl_id_filter *f,
	enum vfctl_id_kind kind, uint64_t start, size_t max, struct query **ret)
{
	_free_ char *sql = str_format("SELECT " ID_COLUMNS " FROM identity WHERE kind = ?1 AND "
		"value >= ?2 AND (?3 IS NULL OR +pool = ?3) AND (?4 IS NULL OR +host = ?4) AND %s "
		"AND ((1 << state) & ?6) <> 0 ORDER BY value LIMIT %zu", f->domain_uuid
		? "domain_uuid = ?5 AND domain_uuid <> ''" : "?5 IS NULL", max);

	if (!sql)
		return ctx_oom(s->base.ctx);
	return query_new(s->db, ret, sql, "iisssi", (int64_t)kind, id_pack(start), f->pool,
		f->host, f->domain_uuid, f->states ? (int64_t)f->states : INT64_C(-1));
}

static int page(struct id_store *store, const struct vfctl_id_filter *filter,
	enum vfctl_id_kind kind, const uint64_t *after, struct vfctl_id *ret, size_t max)
{
	struct ids_db *s = ids_db_of(store);
	_cleanup_(query_freep) struct query *q = NULL;
	size_t n = 0;
	int r;

	if (after && *after == UINT64_MAX)
		return 0;
	r = page_query(s, filter, kind, after ? *after + 1 : 0, max, &q);
	while (r >= 0 && n < max && (r = query_step(q)) == 1)
		id_read(q, &ret[n++]);
	return r < 0 ? r : (int)n;
}

/* ---- changing ---- */

/*
 * Largest assumed difference between this clock and the one that started a cooldown: hosts of a
 * fleet, a leap second.
 */
#define CLOCK_SLACK_S (24 * 3600)

/* The clock was ahead when the cooldown began: it begins again now. */
static int rest_anew(struct ids_db *s, const struct vfctl_id *was, int64_t now)
{
	struct vfctl_id io = *was;

	io.since = now;
	io.until = now + (was->until - was->since);
	return row_change(s->db, was, &io);
}

/* Free values of the pool whose cooldown is over: 1 if there may be more. */
static int expire(struct ids_db *s, const char *pool)
{
	struct vfctl_id over[IDS_EXPIRE_BATCH];
	_cleanup_(query_freep) struct query *q = NULL;
	int64_t now = ids_db_now(s);
	size_t n = 0;
	/* A value whose release was not reported to the fleet yet is kept until then. */
	int r = query_new(s->db, &q, "SELECT " ID_COLUMNS " FROM identity WHERE pool = ? AND "
		"state = 2 AND (until <= ? OR since > ?) AND pending = 0 ORDER BY until LIMIT ?",
		"siii", pool, now, now + CLOCK_SLACK_S, (int64_t)IDS_EXPIRE_BATCH);

	while (r >= 0 && n < ARRAY_SIZE(over) && (r = query_step(q)) == 1)
		id_read(q, &over[n++]);
	query_free(steal(q));
	for (size_t i = 0; i < n && r >= 0; i++)
		r = over[i].until > now ? rest_anew(s, &over[i], now)
					: row_change(s->db, &over[i], NULL);
	return r < 0 ? r : n == ARRAY_SIZE(over);
}

/* Search from the start up, then from the pool's beginning: 1, or 0 if no value is free. */
static int pick(struct ids_db *s, const struct id_choice *choice, uint64_t *ret_value)
{
	int r = free_from(s->db, choice->pool->name, choice->start, ret_value);

	return r ? r : free_from(s->db, choice->pool->name, 0, ret_value);
}

static int find_free(struct ids_db *s, const struct id_choice *choice, uint64_t *ret_value)
{
	int r = expire(s, choice->pool->name), more = r;

	if (r >= 0)
		r = pick(s, choice, ret_value);
	while (r == 0 && more > 0) {
		more = expire(s, choice->pool->name);
		r = more < 0 ? more : pick(s, choice, ret_value);
	}
	return r;
}

/* Give the owner its own value again, with the present P_Key and name: 1, or 0 if it has none. */
static int take_again(struct ids_db *s, struct vfctl_id *io)
{
	struct vfctl_id was, now;
	int r = owned(s, io->kind, &io->owner, VFCTL_ID_LEASED, &was);

	if (r <= 0)
		return r;
	now = was;
	now.owner = io->owner;
	now.pkey = io->pkey;
	now.pending = was.pending || io->pending;
	r = row_change(s->db, &was, &now);
	if (r < 0)
		return r;
	*io = now;
	return 1;
}

static int take_new(struct ids_db *s, const struct id_choice *choice, struct vfctl_id *io)
{
	struct vfctl_id id = *io;
	int r = find_free(s, choice, &id.value);

	if (r == 0)
		return ids_db_fail_exhausted(s, choice->pool, 0);
	if (r < 0)
		return r;
	id.state = VFCTL_ID_LEASED;
	id.since = ids_db_now(s);
	id.until = 0;
	str_copy(id.pool, sizeof(id.pool), choice->pool->name);
	r = row_change(s->db, NULL, &id);
	if (r == 0)
		*io = id;
	return r;
}

static int take_value(struct id_store *store, const struct id_choice *choice, struct vfctl_id *io)
{
	struct ids_db *s = ids_db_of(store);
	int r = ids_db_begin(store);

	if (r < 0)
		return r;
	r = take_again(s, io);
	if (r == 0)
		r = take_new(s, choice, io);
	return ids_db_finish(s, r < 0 ? r : 0);
}

/* Whether the owner of @io may claim the value. */
static bool may_claim(const struct vfctl_id *was, const struct vfctl_id *io, int64_t now)
{
	const struct value_claim claim = {.kind = io->kind, .value = io->value,
		.domain_uuid = io->owner.domain_uuid, .device = io->owner.device,
		.host = io->owner.host};

	return value_ask_row(was, &claim, now) & (VALUE_FREE | VALUE_OWN | VALUE_RESERVE);
}

/* An owner may have only one value of a kind. */
static int check_has_no_other(struct ids_db *s, const struct vfctl_id *io)
{
	const struct vfctl_id_owner *o = &io->owner;
	char text[VFCTL_ID_TEXT];
	struct vfctl_id other;
	int r = owned(s, io->kind, o, VFCTL_ID_LEASED, &other);

	if (r <= 0 || other.value == io->value)
		return r < 0 ? r : 0;
	return ctx_fail(s->base.ctx, -EEXIST, "%s of %s already has %s; release that first",
		o->device, vfctl_id_owner_name(o),
		vfctl_id_format(other.kind, other.value, text));
}

static int claim_row(struct ids_db *s, struct vfctl_id *io, struct vfctl_id *ret_holder)
{
	struct vfctl_id was, now = *io;
	int r = row_get(s->db, io->kind, io->value, &was), found = r;

	if (r < 0)
		return r;
	now.state = VFCTL_ID_LEASED;
	now.since = ids_db_now(s);
	now.until = 0;
	if (found && !may_claim(&was, io, now.since)) {
		*ret_holder = was;
		return -EEXIST;
	}
	if (found)
		str_copy(now.pool, sizeof(now.pool), was.pool);
	if (found && was.state == VFCTL_ID_LEASED)
		now.since = was.since;
	/* A caller without pools (the hook) removes the value from its pool too. */
	else if (!now.pool[0])
		r = free_pool_of(s->db, io->kind, io->value, now.pool);
	if (r >= 0)
		r = check_has_no_other(s, io);
	if (r < 0) {
		*ret_holder = (struct vfctl_id){.value = 0};
		return r;
	}
	r = row_change(s->db, found ? &was : NULL, &now);
	if (r == 0)
		*io = now;
	return r;
}

static int claim_value(struct id_store *store, struct vfctl_id *io, struct vfctl_id *ret_holder)
{
	struct ids_db *s = ids_db_of(store);
	int r = ids_db_begin(store);

	if (r < 0)
		return r;
	return ids_db_finish(s, claim_row(s, io, ret_holder));
}

/* Empty members of @owner are not compared. */
static bool is_owner(const struct vfctl_id_owner *has, const struct vfctl_id_owner *owner)
{
	if (!owner)
		return true;
	if (!str_eq(has->domain_uuid, owner->domain_uuid))
		return false;
	return (!owner->device[0] || str_eq(has->device, owner->device)) &&
		(!owner->host[0] || owner->domain_uuid[0] || str_eq(has->host, owner->host));
}

static int release_row(struct ids_db *s, const struct vfctl_id *was,
	const struct vfctl_id_owner *owner, int64_t until)
{
	struct vfctl_id now = *was;

	if (was->state == VFCTL_ID_RESTING)
		return 0;
	if (was->state == VFCTL_ID_QUARANTINED)
		return row_change(s->db, was, NULL);
	if (was->state == VFCTL_ID_BLOCK || !is_owner(&was->owner, owner))
		return ctx_fail(s->base.ctx, -EPERM, "it is %s", was->state == VFCTL_ID_BLOCK
			? "in the reserve of a host" : "another's");
	if (!until)
		return row_change(s->db, was, NULL);
	now.state = VFCTL_ID_RESTING;
	now.since = ids_db_now(s);
	now.until = until;
	return row_change(s->db, was, &now);
}

static int release_value(struct id_store *store, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, int64_t until)
{
	struct ids_db *s = ids_db_of(store);
	struct vfctl_id was;
	int r = ids_db_begin(store);

	if (r < 0)
		return r;
	r = row_get(s->db, kind, value, &was);
	if (r == 0)
		r = fail_unknown(s, kind, value);
	else if (r == 1)
		r = release_row(s, &was, owner, until);
	return ids_db_finish(s, r);
}

static int quarantine_value(struct id_store *store, const struct vfctl_id *id)
{
	struct ids_db *s = ids_db_of(store);
	struct vfctl_id was, now = *id;
	int r = ids_db_begin(store);

	if (r < 0)
		return r;
	r = row_get(s->db, id->kind, id->value, &was);
	if (r == 0) {
		now.state = VFCTL_ID_QUARANTINED;
		now.since = ids_db_now(s);
		r = row_change(s->db, NULL, &now);
		r = r < 0 ? r : 1;
	} else if (r == 1) {
		r = 0;
	}
	return ids_db_finish(s, r);
}

/* ---- for the fleet's store ---- */

int id_sqlite_put(struct id_store *store, const struct vfctl_id *id)
{
	struct ids_db *s = ids_db_of(store);
	struct vfctl_id was, now = *id;
	int r = ids_db_begin(store);

	if (r < 0)
		return r;
	r = row_get(s->db, id->kind, id->value, &was);
	if (r >= 0)
		r = row_change(s->db, r ? &was : NULL, &now);
	return ids_db_finish(s, r);
}

int id_sqlite_drop(struct id_store *store, enum vfctl_id_kind kind, uint64_t value)
{
	struct ids_db *s = ids_db_of(store);
	struct vfctl_id was;
	int r = ids_db_begin(store);

	if (r < 0)
		return r;
	r = row_get(s->db, kind, value, &was);
	if (r == 1)
		r = row_change(s->db, &was, NULL);
	return ids_db_finish(s, r);
}

int id_sqlite_any_pending(struct id_store *store)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(ids_db_of(store)->db, &q,
		"SELECT 1 FROM identity WHERE pending <> 0 UNION ALL SELECT 1 FROM fleet_note WHERE "
		"name > '" ID_NOTE_UNREAD "' AND name < 'unread!' LIMIT 1", "");

	return r < 0 ? r : query_step(q);
}

/* 1 and the lowest value of the reserve from @start up, or 0. */
static int block_from(struct ids_db *s, const struct id_choice *choice, uint64_t start,
	struct vfctl_id *ret)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT " ID_COLUMNS " FROM identity WHERE pool = ? AND "
		"state = 1 AND until = 0 AND kind = ? AND value >= ? ORDER BY value LIMIT 1",
		"sii", choice->pool->name, (int64_t)choice->pool->kind, id_pack(start));

	if (r == 0)
		r = query_step(q);
	if (r == 1)
		id_read(q, ret);
	return r;
}

static int take_set_aside(struct ids_db *s, const struct id_choice *choice,
	struct vfctl_id *io)
{
	struct vfctl_id was, now = *io;
	int r = block_from(s, choice, choice->start, &was);

	if (r == 0)
		r = block_from(s, choice, 0, &was);
	if (r == 0)
		return ctx_fail(s->base.ctx, -ENOSPC, "this host has no reserve of pool %s "
			"left", choice->pool->name);
	if (r < 0)
		return r;
	now.value = was.value;
	now.state = VFCTL_ID_LEASED;
	now.since = ids_db_now(s);
	now.until = 0;
	str_copy(now.pool, sizeof(now.pool), was.pool);
	r = row_change(s->db, &was, &now);
	if (r == 0)
		*io = now;
	return r;
}

int id_sqlite_take_block(struct id_store *store, const struct id_choice *choice,
	struct vfctl_id *io)
{
	struct ids_db *s = ids_db_of(store);
	int r = ids_db_begin(store);

	if (r < 0)
		return r;
	r = take_again(s, io);
	if (r == 0)
		r = take_set_aside(s, choice, io);
	return ids_db_finish(s, r < 0 ? r : 0);
}

/* ---- open and close ---- */

static void close_store(struct id_store *store)
{
	struct ids_db *s = ids_db_of(store);

	db_close(s->db);
	free(s);
}

static void close_storep(struct ids_db **s)
{
	if (*s)
		close_store(&(*s)->base);
}

static const struct id_store_ops ops = {
	.declare = ids_db_declare,
	.find = find_value,
	.find_owner = find_owner,
	.take = take_value,
	.peek = ids_db_peek,
	.claim = claim_value,
	.release = release_value,
	.quarantine = quarantine_value,
	.stats = ids_db_stats,
	.page = page,
	.close = close_store,
	.begin = ids_db_begin,
	.end = end_row,
	.lost = ids_db_lost,
	.rest = ids_db_rest,
	.note = id_sqlite_note,
	.put = id_sqlite_put,
};

/* A reader without a file sees empty pools. */
static int open_to_look(struct ids_db *s)
{
	struct vfctl_ctx *ctx = s->base.ctx;
	int r = state_file_open(ctx, false, &s->db);

	if (r != -ENOENT)
		return r;
	ctx_clear(ctx);
	s->write = true; /* the database is in memory, so it may be changed */
	return state_memory_open(ctx, &s->db);
}

int id_sqlite_open(struct vfctl_ctx *ctx, bool write, struct id_store **ret_store)
{
	_cleanup_(close_storep) struct ids_db *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return ctx_oom(ctx);
	s->base = (struct id_store){.ops = &ops, .ctx = ctx};
	s->write = write;
	r = write ? state_file_open(ctx, true, &s->db) : open_to_look(s);
	if (r == 0)
		*ret_store = &steal(s)->base;
	return r;
}
