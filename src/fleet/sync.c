// SPDX-License-Identifier: GPL-2.0-or-later
/* Reconcile this host's record with etcd. No value is taken from another owner. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "fleet/fleet_internal.h"
#include "fleet/store.h"
#include "ids/owner.h"
#include "ids/pools.h"

/* Number of rows that one transaction looks up; below etcd's limit of operations. */
#define BATCH 60

struct sync {
	struct fleet *f;
	bool adopt;
	int64_t revision; /* revision of etcd at the beginning */
	struct vfctl_ids_sync n;
};

/* ---- a lease ---- */

static bool theirs_is_ours(const struct sync *s, const struct fleet_seen *seen,
	const struct vfctl_id *row)
{
	return seen->there && fleet_is_mine(s->f, &seen->id) &&
		(seen->id.state == VFCTL_ID_BLOCK || (seen->id.state == VFCTL_ID_LEASED &&
			id_same_owner(&seen->id.owner, &row->owner)));
}

/* @seen is the record in etcd. The row here is marked, and stays until it is released here. */
static int mark_conflict(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	const struct vfctl_id_owner *o = &seen->id.owner;
	struct vfctl_id now = *row;

	if (!seen->there)
		snprintf(now.note, sizeof(now.note), "it has no owner in etcd");
	else
		snprintf(now.note, sizeof(now.note), "in etcd it is %s: %.40s %.12s on %.32s",
			vfctl_id_state_name(seen->id.state), o->domain_name[0] ? o->domain_name
			: o->domain_uuid, o->device, o->host);
	now.pending = true;
	s->n.conflicts++;
	return id_sqlite_put(s->f->local, &now);
}

/*
 * The owner's key names another value: the allocation failed here, but etcd carried it out. The
 * guest uses the value in @row.
 */
static int drop_stray(struct sync *s, const struct vfctl_id *row)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	struct fleet_seen stray = {.there = false};
	char key[FLEET_KEY];
	uint64_t value;
	int r = fleet_read(s->f, fleet_owner_key(row->kind, &row->owner, key), &a);

	if (r < 0 || !etcd_first(&a.results[0]))
		return r;
	r = fleet_owner_value(s->f, etcd_first(&a.results[0]), &value);
	if (r == 0 && value != row->value)
		r = fleet_look(s->f, row->kind, value, &stray);
	if (r < 0 || stray.id.state != VFCTL_ID_LEASED || !theirs_is_ours(s, &stray, row))
		return r;
	r = fleet_replace(s->f, &stray, NULL);
	if (r <= 0)
		return r;
	s->n.undone++;
	return mirror_drop(s->f, row->kind, value);
}

/*
 * Report a lease that was taken here while etcd was unreachable, or that etcd lost. The claim
 * compares with the present record. A value without an owner in etcd may be claimed, because the
 * guest here uses it.
 */
static int sync_lease(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	struct vfctl_id now = *row, holder;
	int r;

	if (seen->there && !theirs_is_ours(s, seen, row))
		return mark_conflict(s, row, seen);
	if (!row->pending && seen->there && seen->id.state == VFCTL_ID_LEASED) {
		now.pkey = seen->id.pkey;
		return now.pkey == row->pkey ? 0 : id_sqlite_put(s->f->local, &now);
	}
	r = drop_stray(s, row);
	if (r >= 0)
		r = fleet_claim(s->f, &now, &holder);
	if (r == -EEXIST)
		return mark_conflict(s, row, seen);
	if (r == 0)
		*(seen->there ? &s->n.pushed : &s->n.restored) += 1;
	return r;
}

/* ---- entries that are not leases ---- */

/* The value was released here, or never leased according to this host, or its cooldown is over. */
static int sync_rest(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	bool over = row->until <= fleet_now(s->f), told = seen->there && !row->pending &&
		seen->id.state == VFCTL_ID_RESTING && fleet_is_mine(s->f, &seen->id);
	struct vfctl_id now = *row;
	int r;

	if (told && !over)
		return 0;
	if (!told && !(row->pending && (theirs_is_ours(s, seen, row) ||
			(seen->there && seen->id.state == VFCTL_ID_QUARANTINED)))) {
		s->n.undone += row->pending && !seen->there;
		return mirror_drop(s->f, row->kind, row->value); /* in etcd it does not belong to
								    this host */
	}
	now.pending = false;
	r = fleet_replace(s->f, seen, over ? NULL : &now);
	if (r <= 0)
		return r; /* 0: it changed meanwhile; the next sync handles it */
	*(told ? &s->n.expired : &s->n.pushed) += 1;
	return over ? mirror_drop(s->f, row->kind, row->value)
		: id_sqlite_put(s->f->local, &now);
}

static int sync_block(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	bool mine = seen->there && fleet_is_mine(s->f, &seen->id);

	if (mine && seen->id.state == VFCTL_ID_LEASED) {
		s->n.found++;
		return mirror_put(s->f, &seen->id);
	}
	return mine && seen->id.state == VFCTL_ID_BLOCK ? 0
		: mirror_drop(s->f, row->kind, row->value);
}

static int sync_quarantine(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen)
{
	bool same = seen->there && !row->pending && seen->id.state == row->state &&
		fleet_is_mine(s->f, &seen->id);
	struct vfctl_id now = *row;
	int r;

	if (row->pending && !seen->there) {
		now.pending = false;
		r = fleet_replace(s->f, seen, &now);
		if (r <= 0)
			return r;
		s->n.pushed++;
		s->n.quarantined++;
		return id_sqlite_put(s->f->local, &now);
	}
	s->n.quarantined += same;
	return same ? 0 : mirror_drop(s->f, row->kind, row->value); /* it has an owner after all */
}

/* ---- all values in this host's record ---- */

typedef int (*sync_fn)(struct sync *s, const struct vfctl_id *row,
	const struct fleet_seen *seen);

static int sync_row(struct sync *s, struct vfctl_id *row, const struct fleet_seen *seen)
{
	static const sync_fn by_state[] = {[VFCTL_ID_LEASED] = sync_lease,
		[VFCTL_ID_BLOCK] = sync_block, [VFCTL_ID_RESTING] = sync_rest,
		[VFCTL_ID_QUARANTINED] = sync_quarantine};

	/* The hook has neither this host's name nor etcd: sync reports its notes. */
	if (!row->owner.host[0] && row->kind == VFCTL_ID_GUID &&
		row->state == VFCTL_ID_LEASED && fleet_pool_named(s->f, row->pool, row->kind)) {
		str_copy(row->owner.host, sizeof(row->owner.host), s->f->spec->host);
		row->pending = true;
	}
	if (!fleet_is_mine(s->f, row))
		return 0;
	etcd_begin(s->f->etcd); /* each value has its own deadline */
	return by_state[row->state](s, row, seen);
}

static int sync_rows(struct sync *s, struct vfctl_id *rows, size_t count)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(s->f->etcd);
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
			r = sync_row(s, &rows[i], &seen);
	}
	return r < 0 ? r : 0;
}

static int sync_kind(struct sync *s, enum vfctl_id_kind kind)
{
	const struct vfctl_id_filter all = {.states = 0};
	_free_ struct vfctl_id *rows = calloc(BATCH, sizeof(*rows));
	uint64_t after = 0;
	int r = rows ? 0 : ctx_oom(s->f->base.ctx), got = BATCH;

	while (r == 0 && got == BATCH) {
		got = s->f->local->ops->page(s->f->local, &all, kind, &after, rows, BATCH);
		if (got <= 0)
			return got;
		after = rows[got - 1].value;
		r = sync_rows(s, rows, (size_t)got);
	}
	return r;
}

static int sync_all(struct sync *s)
{
	int r = id_sqlite_any_pending(s->f->local);

	if (r > 0) /* a change that gave up may still be carried out, but not after the fence */
		r = fleet_fence(s->f);
	if (r >= 0)
		r = unread_undo(s->f, &s->n.undone);
	for (int kind = VFCTL_ID_GUID; kind <= VFCTL_ID_MAC && r >= 0; kind++)
		r = sync_kind(s, (enum vfctl_id_kind)kind);
	return r;
}

/* ---- values of this host in etcd that are unknown here ---- */

static int find_one(void *data, const struct vfctl_id *id)
{
	struct sync *s = data;
	struct vfctl_id row;
	int r = fleet_is_mine(s->f, id) ? mirror_get(s->f, id->kind, id->value, &row) : 1;

	if (r != 0)
		return r < 0 ? r : 0;
	s->n.found++;
	return mirror_put(s->f, id);
}

/*
 * Request only the changes since the last sync, except after a restored backup, whose revisions are
 * lower.
 */
static int find_unknown(struct sync *s)
{
	char text[32] = "";
	int64_t since;
	int r = id_sqlite_note(s->f->local, "revision", text, sizeof(text));

	since = strtoll(text, NULL, 10);
	if (s->adopt || since > s->revision)
		since = 0;
	if (r == 0)
		r = fleet_walk_all(s->f, since, find_one, s);
	snprintf(text, sizeof(text), "%" PRId64, s->revision);
	return r < 0 ? r : id_sqlite_set_note(s->f->local, "revision", text);
}

/* ---- the whole sync ---- */

static int count_hosts(struct sync *s)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(s->f->etcd);
	struct vfctl_id *orphans;
	int r;

	etcd_begin(s->f->etcd);
	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = "v1/node/", .last = "v1/node/\xff",
		.count_only = true});
	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = "v1/host/", .last = "v1/host/\xff",
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
	int r = 0;

	for (size_t i = 0; i < s->f->pool_count && r == 0; i++) {
		unsigned added = 0;

		etcd_begin(s->f->etcd);
		r = fleet_compare_pool(s->f, &s->f->pools[i]);
		s->n.pools_differ += r == -EINVAL;
		if (r == 0) {
			etcd_begin(s->f->etcd);
			r = fleet_fill_block(s->f, &s->f->pools[i], s->f->spec->etcd->block, &added);
		}
		s->n.set_aside += added;
		if (r == -ENOSPC || r == -EINVAL) { /* the other pools are still filled */
			log_warn(s->f->base.ctx, "%s", vfctl_ctx_error(s->f->base.ctx));
			r = 0;
		}
	}
	return r;
}

/* An empty transaction registers this host, because of its guard. */
static int register_host(struct sync *s)
{
	struct fleet *f = s->f;
	int r = 0;

	f->adopt = s->adopt;
	for (int tries = 0; tries < 5 && r == 0; tries++) {
		_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
		_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);

		r = fleet_change(f, &t, NULL, &a);
		s->revision = a.revision;
	}
	f->adopt = false;
	if (r == 0)
		return ctx_fail(f->base.ctx, -EAGAIN, "other programs keep changing the registration of "
			"host %s", f->spec->host);
	return r < 0 ? r : fleet_renew_presence(f, true);
}

int id_etcd_sync(struct id_store *store, bool adopt, struct vfctl_ids_sync *ret)
{
	struct sync s = {.f = fleet_of(store), .adopt = adopt};
	int r;

	s.f->away_error = 0; /* check now whether it is reachable again */
	r = fleet_begin(s.f);
	if (r == 0)
		r = register_host(&s);
	if (r >= 0)
		r = sync_all(&s);
	if (r >= 0)
		r = find_unknown(&s);
	if (r >= 0)
		r = fill_blocks(&s);
	if (r >= 0)
		r = count_hosts(&s);
	if (r < 0)
		return r;
	*ret = s.n;
	return 0;
}
