// SPDX-License-Identifier: GPL-2.0-or-later
/* What this host knows and what etcd has are brought together. Nothing is taken over. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "state/fleet.h"
#include "state/ids_etcd.h"

/* Rows that one transaction looks up; two operations each, below etcd's limit. */
#define BATCH 60

struct sync {
	struct fleet *f;
	struct vfctl_ids_sync n;
};

/* ---- what was done here while etcd was away ---- */

static bool theirs_is_ours(const struct sync *s, const struct fleet_seen *seen,
	const struct vfctl_id *row)
{
	return seen->there && fleet_is_mine(s->f, &seen->id) &&
		(seen->id.state == VFCTL_ID_BLOCK || (seen->id.state == VFCTL_ID_LEASED &&
			fleet_same_owner(&seen->id.owner, &row->owner)));
}

/* @seen is what it is in etcd; the row stays, marked, until it is released here. */
static int mark_conflict(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	const struct vfctl_id_owner *o = &seen->id.owner;
	struct vfctl_id now = *row;

	if (!seen->there)
		snprintf(now.note, sizeof(now.note), "etcd has it as nobody's");
	else
		snprintf(now.note, sizeof(now.note), "etcd has it as %s: %.40s %.12s on %.32s",
			vfctl_id_state_name(seen->id.state), o->domain_name[0] ? o->domain_name
			: o->domain_uuid, o->device, o->host);
	now.pending = true;
	s->n.conflicts++;
	return id_sqlite_put(s->f->local, &now);
}

/*
 * The owner's key names another value: of a taking that failed here and was carried out
 * there all the same. The guest has the one of @row.
 */
static int drop_stray(struct sync *s, const struct vfctl_id *row, uint64_t value)
{
	struct fleet_seen stray;
	int r = fleet_look(s->f, row->kind, value, &stray);

	if (r < 0 || !stray.there || stray.id.state != VFCTL_ID_LEASED ||
		!fleet_is_mine(s->f, &stray.id) ||
		!fleet_same_owner(&stray.id.owner, &row->owner))
		return r;
	r = fleet_replace(s->f, &stray, NULL);
	if (r == 1) {
		s->n.undone++;
		return mirror_drop(s->f, row->kind, value);
	}
	return r;
}

static int read_owner(struct sync *s, const struct vfctl_id *row, uint64_t *ret_value)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(s->f->etcd);
	char key[FLEET_KEY];
	int r;

	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = fleet_owner_key(row->kind,
		&row->owner, key)});
	r = fleet_commit(s->f, &t, &a);
	if (r < 0 || !a.results[0].count)
		return r;
	return fleet_value_read(a.results[0].kvs[0].value, a.results[0].kvs[0].value_len,
		ret_value) ? 1 : 0;
}

/*
 * Leased here: from the block, or with another P_Key. The claim compares with what it
 * finds; what is nobody's in etcd it may have, for the guest here uses it.
 */
static int push_lease(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	struct vfctl_id now = *row, holder;
	uint64_t has = row->value;
	bool lost = !seen->there;
	int r;

	if (seen->there && !theirs_is_ours(s, seen, row))
		return mark_conflict(s, row, seen);
	r = read_owner(s, row, &has);
	if (r >= 0 && has != row->value)
		r = drop_stray(s, row, has);
	if (r < 0)
		return r;
	r = fleet_claim(s->f, &now, &holder);
	if (r == -EEXIST)
		return mark_conflict(s, row, seen);
	if (r == 0)
		*(lost ? &s->n.restored : &s->n.pushed) += 1;
	return r;
}

/* Released here, or never taken as far as anybody here knows. */
static int push_release(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	bool rests = row->until > fleet_now(s->f);
	struct vfctl_id now = *row;
	int r = 1;

	now.pending = false;
	if (theirs_is_ours(s, seen, row) ||
		(seen->there && seen->id.state == VFCTL_ID_QUARANTINED)) {
		r = fleet_replace(s->f, seen, rests ? &now : NULL);
		if (r == 1)
			s->n.pushed++;
	} else {
		rests = false; /* it is not ours there: nothing to tell */
		s->n.undone += !seen->there;
	}
	if (r <= 0)
		return r; /* 0: it changed meanwhile, the next sync sees */
	return rests ? id_sqlite_put(s->f->local, &now) : mirror_drop(s->f, row->kind, row->value);
}

static int push_quarantine(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	struct vfctl_id now = *row;
	int r;

	now.pending = false;
	if (seen->there) /* somebody's after all */
		return mirror_drop(s->f, row->kind, row->value);
	r = fleet_replace(s->f, seen, &now);
	if (r == 1)
		s->n.pushed++;
	return r <= 0 ? r : id_sqlite_put(s->f->local, &now);
}

static int push_row(struct sync *s, const struct vfctl_id *row)
{
	struct fleet_seen seen;
	int r;

	etcd_begin(s->f->etcd); /* each row has its own deadline */
	r = fleet_look(s->f, row->kind, row->value, &seen);
	if (r < 0)
		return r;
	switch (row->state) {
	case VFCTL_ID_LEASED:
		return push_lease(s, row, &seen);
	case VFCTL_ID_RESTING:
		return push_release(s, row, &seen);
	case VFCTL_ID_QUARANTINED:
		return push_quarantine(s, row, &seen);
	default:
		return 0;
	}
}

/* Call @fn for rows of this host; it may change the row it is given. */
static int each_row(struct sync *s, enum vfctl_id_kind kind, bool pending,
	int (*fn)(struct sync *s, struct vfctl_id *rows, size_t count))
{
	struct vfctl_id_filter filter = {.host = s->f->spec->host};
	_free_ struct vfctl_id *rows = calloc(BATCH, sizeof(*rows));
	uint64_t after = 0;
	int r = rows ? 0 : ctx_oom(s->f->base.ctx), got = BATCH;

	while (r >= 0 && got == BATCH) {
		got = pending ? id_sqlite_pending(s->f->local, kind, &after, rows, BATCH)
			: s->f->local->ops->page(s->f->local, &filter, kind, &after, rows, BATCH);
		if (got <= 0)
			return got;
		after = rows[got - 1].value;
		r = fn(s, rows, (size_t)got);
	}
	return r < 0 ? r : 0;
}

static int push_rows(struct sync *s, struct vfctl_id *rows, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r >= 0; i++)
		r = push_row(s, &rows[i]);
	return r;
}

static bool is_shared(const struct sync *s, const struct vfctl_id *row)
{
	for (size_t i = 0; i < s->f->pool_count; i++)
		if (str_eq(s->f->pools[i].name, row->pool))
			return true;
	return false;
}

/* The hook knows neither this host's name nor etcd: what it noted is told from here. */
static int adopt_noted(struct sync *s)
{
	const struct vfctl_id_filter filter = {.host = "", .states = 1u << VFCTL_ID_LEASED};
	_free_ struct vfctl_id *rows = calloc(BATCH, sizeof(*rows));
	uint64_t after = 0;
	int r = rows ? 0 : ctx_oom(s->f->base.ctx), got = BATCH;

	for (bool more = false; r == 0 && got == BATCH; more = true) {
		got = s->f->local->ops->page(s->f->local, &filter, VFCTL_ID_GUID,
			more ? &after : NULL, rows, BATCH);
		for (int i = 0; i < got && r == 0; i++) {
			after = rows[i].value;
			if (!is_shared(s, &rows[i]))
				continue;
			str_copy(rows[i].owner.host, sizeof(rows[i].owner.host), s->f->spec->host);
			rows[i].pending = true;
			r = id_sqlite_put(s->f->local, &rows[i]);
		}
	}
	return got < 0 ? got : r;
}

/* A change that gave up may be carried out yet: not after the fence. */
static int has_pending(struct sync *s, bool *ret)
{
	struct vfctl_id row;
	int r = id_sqlite_pending(s->f->local, VFCTL_ID_GUID, NULL, &row, 1);

	if (r == 0)
		r = id_sqlite_pending(s->f->local, VFCTL_ID_MAC, NULL, &row, 1);
	*ret = r > 0;
	return r < 0 ? r : 0;
}

static int push(struct sync *s)
{
	bool any = false;
	int r = adopt_noted(s);

	if (r == 0)
		r = has_pending(s, &any);
	if (r < 0 || !any)
		return r;
	r = fleet_fence(s->f);
	for (int kind = VFCTL_ID_GUID; kind <= VFCTL_ID_MAC && r >= 0; kind++)
		r = each_row(s, (enum vfctl_id_kind)kind, true, push_rows);
	return r;
}

/* ---- what others did to what this host has ---- */

static int end_rest(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	int r = 1;

	if (row->until > fleet_now(s->f))
		return 0;
	if (seen->there && seen->id.state == VFCTL_ID_RESTING && fleet_is_mine(s->f, &seen->id))
		r = fleet_replace(s->f, seen, NULL);
	if (r == 1)
		s->n.expired++;
	return r <= 0 ? r : mirror_drop(s->f, row->kind, row->value);
}

static int check_lease(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	struct vfctl_id now = *row, holder;
	int r;

	if (!seen->there) {
		r = fleet_claim(s->f, &now, &holder);
		if (r == 0)
			s->n.restored++;
		return r == -EEXIST ? mark_conflict(s, row, seen) : r;
	}
	if (seen->id.state != VFCTL_ID_LEASED || !theirs_is_ours(s, seen, row))
		return mark_conflict(s, row, seen);
	now.pkey = seen->id.pkey;
	return now.pkey == row->pkey ? 0 : id_sqlite_put(s->f->local, &now);
}

static int check_row(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	bool same = seen->there && seen->id.state == row->state &&
		fleet_is_mine(s->f, &seen->id);

	if (row->pending) /* told already, or in conflict */
		return 0;
	switch (row->state) {
	case VFCTL_ID_LEASED:
		return check_lease(s, row, seen);
	case VFCTL_ID_RESTING:
		if (same)
			return end_rest(s, row, seen);
		break;
	case VFCTL_ID_BLOCK:
		if (seen->there && seen->id.state == VFCTL_ID_LEASED &&
			fleet_is_mine(s->f, &seen->id)) {
			s->n.found++;
			return mirror_put(s->f, &seen->id);
		}
		break;
	case VFCTL_ID_QUARANTINED:
		s->n.quarantined += same;
		break;
	}
	return same ? 0 : mirror_drop(s->f, row->kind, row->value);
}

static int check_rows(struct sync *s, struct vfctl_id *rows, size_t count)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(s->f->etcd);
	char key[FLEET_KEY];
	int r;

	etcd_begin(s->f->etcd);
	for (size_t i = 0; i < count; i++)
		etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = fleet_id_key(rows[i].kind,
			rows[i].value, key)});
	r = fleet_commit(s->f, &t, &a);
	for (size_t i = 0; i < count && r >= 0; i++) {
		struct fleet_seen seen;

		r = fleet_see(s->f, rows[i].kind, rows[i].value, &a.results[i], &seen);
		if (r == 0)
			r = check_row(s, &rows[i], &seen);
	}
	return r < 0 ? r : 0;
}

/* ---- what is this host's there and not known here ---- */

static int find_one(struct sync *s, const struct vfctl_id *id)
{
	struct vfctl_id row;
	int r = fleet_is_mine(s->f, id) ? mirror_get(s->f, id->kind, id->value, &row) : 1;

	if (r != 0)
		return r < 0 ? r : 0;
	s->n.found++;
	return mirror_put(s->f, id);
}

static int find_unknown(struct sync *s, enum vfctl_id_kind kind, int64_t since)
{
	_free_ struct vfctl_id *page = calloc(FLEET_PAGE, sizeof(*page));
	uint64_t first = 0;
	int r = page ? 0 : ctx_oom(s->f->base.ctx), got = FLEET_PAGE;

	while (r >= 0 && got == FLEET_PAGE) {
		etcd_begin(s->f->etcd);
		got = fleet_page(s->f, kind, first, UINT64_MAX, since, page, FLEET_PAGE);
		for (int i = 0; i < got && r >= 0; i++)
			r = find_one(s, &page[i]);
		if (got > 0)
			first = page[got - 1].value + 1;
	}
	return got < 0 ? got : r < 0 ? r : 0;
}

static int read_revision(struct sync *s, int64_t *ret)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(s->f->etcd);
	char key[FLEET_KEY];
	int r;

	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = fleet_host_key(s->f->spec->host,
		key)});
	r = fleet_commit(s->f, &t, &a);
	if (r == 0)
		*ret = a.revision;
	return r;
}

/* Only what changed since the last time, but for a restored backup, which goes back. */
static int find_all(struct sync *s, bool adopt)
{
	int64_t revision = 0, since;
	char text[32] = "";
	int r = id_sqlite_note(s->f->local, "revision", text, sizeof(text));

	if (r == 0)
		r = read_revision(s, &revision);
	since = strtoll(text, NULL, 10);
	if (adopt || since > revision)
		since = 0;
	for (int kind = VFCTL_ID_GUID; kind <= VFCTL_ID_MAC && r == 0; kind++)
		r = find_unknown(s, (enum vfctl_id_kind)kind, since);
	snprintf(text, sizeof(text), "%" PRId64, revision);
	return r < 0 ? r : id_sqlite_set_note(s->f->local, "revision", text);
}

/* ---- the whole ---- */

static int count_hosts(struct sync *s)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(s->f->etcd);
	struct vfctl_id *orphans;
	int r;

	etcd_begin(s->f->etcd);
	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = "v1/node/", .below = true,
		.count_only = true});
	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = "v1/host/", .below = true,
		.count_only = true});
	r = fleet_commit(s->f, &t, &a);
	if (r < 0)
		return r;
	s->n.hosts = (size_t)a.results[0].total;
	if (a.results[1].total >= a.results[0].total)
		return 0;
	s->n.hosts_gone = (size_t)(a.results[0].total - a.results[1].total);
	r = id_etcd_orphans(&s->f->base, &orphans, &s->n.orphans);
	if (r == 0)
		free(orphans);
	return r;
}

static int fill_blocks(struct sync *s)
{
	unsigned want = s->f->spec->etcd->block;
	int r = 0;

	for (size_t i = 0; i < s->f->pool_count && r == 0; i++) {
		const struct vfctl_id_pool *pool = &s->f->pools[i];
		struct vfctl_id_stats n;
		unsigned added = 0;

		if (!pool->range_count || !want)
			continue;
		etcd_begin(s->f->etcd);
		r = s->f->local->ops->stats(s->f->local, pool, &n);
		if (r == 0 && n.block < want)
			r = fleet_reserve(s->f, pool, want - (unsigned)n.block, &added);
		s->n.set_aside += added;
		if (r == -ENOSPC || r == -EINVAL) { /* the other pools get theirs */
			log_warn(s->f->base.ctx, "%s", vfctl_ctx_error(s->f->base.ctx));
			r = 0;
		}
	}
	return r;
}

/* Registers too: the guard of an empty transaction does. */
static int register_host(struct sync *s, bool adopt)
{
	struct fleet *f = s->f;
	int r = adopt ? fleet_adopt_node(f) : 0;

	for (int tries = 0; tries < 5 && r >= 0; tries++) {
		_etcd_answer_ struct etcd_answer a = {0};
		_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);

		r = fleet_guard(f, &t, NULL);
		if (r == 0)
			r = fleet_commit(f, &t, &a);
		if (r == 0 && a.succeeded)
			return fleet_renew_presence(f, true);
		if (r == 0)
			r = fleet_guard_check(f, &a, NULL);
	}
	return r < 0 ? r : ctx_fail(f->base.ctx, -EAGAIN, "the registration of host %s changes "
		"all the time", f->spec->host);
}

int id_etcd_sync(struct id_store *store, bool adopt, struct vfctl_ids_sync *ret)
{
	struct sync s = {.f = fleet_of(store)};
	int r;

	s.f->away_error = 0; /* now is when to look whether it is back */
	r = fleet_begin(s.f);
	if (r == 0)
		r = register_host(&s, adopt);
	if (r >= 0)
		r = push(&s);
	for (int kind = VFCTL_ID_GUID; kind <= VFCTL_ID_MAC && r >= 0; kind++)
		r = each_row(&s, (enum vfctl_id_kind)kind, false, check_rows);
	if (r >= 0)
		r = find_all(&s, adopt);
	if (r >= 0)
		r = fill_blocks(&s);
	if (r >= 0)
		r = count_hosts(&s);
	if (r < 0)
		return r;
	*ret = s.n;
	return 0;
}
