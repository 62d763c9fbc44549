// SPDX-License-Identifier: GPL-2.0-or-later
#include "state/ids_rows.h"

#include <stdio.h>

/* ---- free intervals ---- */

static int insert(struct db *db, const char *pool, uint64_t first, uint64_t last)
{
	return db_run(db, "INSERT INTO pool_free (pool, first, last) VALUES (?, ?, ?)", "sii",
		pool, id_pack(first), id_pack(last));
}

static int delete_free(struct db *db, const char *pool, uint64_t first)
{
	return db_run(db, "DELETE FROM pool_free WHERE pool = ? AND first = ?", "si", pool,
		id_pack(first));
}

/* Read one interval with @sql: 1; 0: @sql finds none; a negative errno. */
static int read_interval(struct db *db, const char *sql, const char *pool, uint64_t value,
	struct vfctl_id_range *ret)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(db, &q, sql, "si", pool, id_pack(value));

	if (r == 0)
		r = query_step(q);
	if (r == 1)
		*ret = (struct vfctl_id_range){id_unpack(query_int(q, 0)),
			id_unpack(query_int(q, 1))};
	return r;
}

/* The last interval that begins at or below @value. */
static int at_or_below(struct db *db, const char *pool, uint64_t value,
	struct vfctl_id_range *ret)
{
	return read_interval(db, "SELECT first, last FROM pool_free WHERE pool = ? AND first <= ? "
		"ORDER BY first DESC LIMIT 1", pool, value, ret);
}

static int above(struct db *db, const char *pool, uint64_t value,
	struct vfctl_id_range *ret)
{
	return read_interval(db, "SELECT first, last FROM pool_free WHERE pool = ? AND first > ? "
		"ORDER BY first LIMIT 1", pool, value, ret);
}

/* No value is 0 or all ones, so the neighbours below do not wrap. */
int free_add(struct db *db, const char *pool, uint64_t first, uint64_t last)
{
	struct vfctl_id_range below, next;
	int r = at_or_below(db, pool, first, &below);

	if (r == 1 && below.last + 1 == first) {
		first = below.first;
		r = delete_free(db, pool, first);
	}
	if (r >= 0)
		r = above(db, pool, last, &next);
	if (r == 1 && next.first - 1 == last) {
		last = next.last;
		r = delete_free(db, pool, next.first);
	}
	return r < 0 ? r : insert(db, pool, first, last);
}

int free_remove(struct db *db, const char *pool, uint64_t value)
{
	struct vfctl_id_range in = {0};
	int r = at_or_below(db, pool, value, &in);

	if (r <= 0 || in.last < value)
		return r < 0 ? r : 0;
	r = delete_free(db, pool, in.first);
	if (r == 0 && in.first < value)
		r = insert(db, pool, in.first, value - 1);
	if (r == 0 && value < in.last)
		r = insert(db, pool, value + 1, in.last);
	return r < 0 ? r : 1;
}

int free_from(struct db *db, const char *pool, uint64_t start, uint64_t *ret_value)
{
	struct vfctl_id_range in;
	int r = at_or_below(db, pool, start, &in);

	if (r == 1 && in.last >= start) {
		*ret_value = start;
		return 1;
	}
	if (r >= 0)
		r = above(db, pool, start, &in);
	if (r == 1)
		*ret_value = in.first;
	return r;
}

int free_pool_of(struct db *db, enum vfctl_id_kind kind, uint64_t value,
	char ret_pool[VFCTL_ID_NAME_MAX + 1])
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(db, &q, "SELECT name FROM pool WHERE kind = ?", "i", (int64_t)kind);

	if (r == 0)
		r = query_step(q);
	for (; r == 1; r = query_step(q)) {
		struct vfctl_id_range in;
		int has = at_or_below(db, query_text(q, 0), value, &in);

		if (has < 0)
			return has;
		if (has == 1 && in.last >= value) {
			str_copy(ret_pool, VFCTL_ID_NAME_MAX + 1, query_text(q, 0));
			return 1;
		}
	}
	return r;
}

/* ---- rows ---- */

char *id_owner_key(const struct vfctl_id_owner *owner, char buf[ID_OWNER_TEXT])
{
	if (owner->domain_uuid[0])
		snprintf(buf, ID_OWNER_TEXT, "d %s %s", owner->domain_uuid, owner->device);
	else
		snprintf(buf, ID_OWNER_TEXT, "h %s %s", owner->host, owner->device);
	return buf;
}

void id_read(struct query *q, struct vfctl_id *ret)
{
	*ret = (struct vfctl_id){.kind = (enum vfctl_id_kind)query_int(q, 0),
		.value = id_unpack(query_int(q, 1)),
		.state = (enum vfctl_id_state)query_int(q, 3),
		.pkey = (uint16_t)query_int(q, 8), .since = query_int(q, 9),
		.until = query_int(q, 10), .pending = query_int(q, 11) != 0};
	str_copy(ret->pool, sizeof(ret->pool), query_text(q, 2));
	str_copy(ret->owner.host, sizeof(ret->owner.host), query_text(q, 4));
	str_copy(ret->owner.domain_uuid, sizeof(ret->owner.domain_uuid), query_text(q, 5));
	str_copy(ret->owner.domain_name, sizeof(ret->owner.domain_name), query_text(q, 6));
	str_copy(ret->owner.device, sizeof(ret->owner.device), query_text(q, 7));
	str_copy(ret->note, sizeof(ret->note), query_text(q, 12));
}

int row_get(struct db *db, enum vfctl_id_kind kind, uint64_t value, struct vfctl_id *ret)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(db, &q, "SELECT " ID_COLUMNS " FROM identity WHERE kind = ? AND "
		"value = ?", "ii", (int64_t)kind, id_pack(value));

	if (r == 0)
		r = query_step(q);
	if (r == 1)
		id_read(q, ret);
	return r;
}

const char *row_count_column(enum vfctl_id_state state)
{
	static const char *const columns[] = {
		[VFCTL_ID_LEASED] = "leased", [VFCTL_ID_BLOCK] = "block",
		[VFCTL_ID_RESTING] = "resting", [VFCTL_ID_QUARANTINED] = "quarantined"};

	return columns[state];
}

static int count(struct db *db, const struct vfctl_id *id, int by)
{
	const char *column = row_count_column(id->state);
	_free_ char *sql = str_format("UPDATE pool SET %s = %s + ? WHERE name = ?", column,
		column);

	if (!sql)
		return ctx_oom(db_ctx(db));
	return id->pool[0] ? db_run(db, sql, "is", (int64_t)by, id->pool) : 0;
}

/* Whether the pool has ranges from which a value is taken, or to which it is released. */
static int has_ranges(struct db *db, const char *pool)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(db, &q, "SELECT declared, size FROM pool WHERE name = ?", "s", pool);

	if (r == 0)
		r = query_step(q);
	return r == 1 ? query_int(q, 0) && query_int(q, 1) : r;
}

static int write_row(struct db *db, const struct vfctl_id *id)
{
	char owner[ID_OWNER_TEXT];

	/* OR REPLACE would also delete another value of the same owner. */
	return db_run(db, "INSERT INTO identity (" ID_COLUMNS ", owner) VALUES "
		"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, value) DO UPDATE "
		"SET pool = excluded.pool, state = excluded.state, host = excluded.host, "
		"domain_uuid = excluded.domain_uuid, domain_name = excluded.domain_name, "
		"device = excluded.device, pkey = excluded.pkey, since = excluded.since, "
		"until = excluded.until, pending = excluded.pending, note = excluded.note, "
		"owner = excluded.owner", "iisissssiiiiss", (int64_t)id->kind,
		id_pack(id->value), id->pool, (int64_t)id->state, id->owner.host,
		id->owner.domain_uuid, id->owner.domain_name, id->owner.device,
		(int64_t)id->pkey, id->since, id->until, (int64_t)id->pending, id->note,
		id_owner_key(&id->owner, owner));
}

static int insert_new(struct db *db, struct vfctl_id *id)
{
	int r = id->pool[0] ? has_ranges(db, id->pool) : 0;

	if (r == 1) {
		r = free_remove(db, id->pool, id->value);
		if (r == 0)
			id->pool[0] = '\0';
	}
	return r < 0 ? r : write_row(db, id);
}

int row_change(struct db *db, const struct vfctl_id *was, struct vfctl_id *now)
{
	int r = 0;

	if (was)
		r = count(db, was, -1);
	if (r == 0 && now)
		r = was ? write_row(db, now) : insert_new(db, now);
	else if (r == 0)
		r = db_run(db, "DELETE FROM identity WHERE kind = ? AND value = ?", "ii",
			(int64_t)was->kind, id_pack(was->value));
	if (r == 0 && now)
		return count(db, now, 1);
	if (r == 0 && was->pool[0])
		r = has_ranges(db, was->pool);
	return r == 1 ? free_add(db, was->pool, was->value, was->value) : r;
}
