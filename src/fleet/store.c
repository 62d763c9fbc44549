// SPDX-License-Identifier: GPL-2.0-or-later
/* The fleet's store: opening it, reachability of etcd, and reading. */
#include "fleet/store.h"

#include <errno.h>
#include <time.h>

#include "fleet/fleet_internal.h"

/* After a failure, no request is sent to etcd for this time. */
#define AWAY_S 30

int64_t fleet_now(const struct fleet *f)
{
	return f->base.now ? f->base.now : (int64_t)time(NULL);
}

static int64_t monotonic_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

struct fleet_pool *fleet_pool_state(struct fleet *f, const struct vfctl_id_pool *pool)
{
	return &f->state[pool - f->pools];
}

unsigned fleet_random(struct fleet *f, unsigned below)
{
	f->random = f->random * 1664525 + 1013904223; /* the generator of Numerical Recipes: good
							 enough to spread hosts */
	return (f->random >> 8) % below;
}

bool fleet_is_mine(const struct fleet *f, const struct vfctl_id *id)
{
	return str_eq(id->owner.host, f->spec->host);
}

/* ---- whether etcd is reachable ---- */

int fleet_begin(struct fleet *f)
{
	etcd_begin(f->etcd);
	f->local->now = f->base.now;
	if (f->away_error && monotonic_s() < f->away_until)
		return ctx_fail(f->base.ctx, f->away_error, "%s", f->away_text ? f->away_text
			: "etcd was not reachable a moment ago");
	return 0;
}

static void note_endpoint(struct fleet *f)
{
	const char *good = etcd_good_endpoint(f->etcd);
	char noted[512];

	if (!f->write || !f->spec->etcd->endpoints[1])
		return;
	if (id_sqlite_note(f->local, "endpoint", noted, sizeof(noted)) == 0 &&
		!str_eq(noted, good))
		id_sqlite_set_note(f->local, "endpoint", good);
}

int fleet_end(struct fleet *f, int r)
{
	if (!etcd_is_away(r)) {
		f->away_error = 0;
		return r;
	}
	f->away_error = r;
	f->away_until = monotonic_s() + AWAY_S;
	free(f->away_text);
	f->away_text = strdup(vfctl_ctx_error(f->base.ctx));
	f->away_told = false;
	return r;
}

int fleet_commit(struct fleet *f, struct etcd_txn *t, struct etcd_answer *a)
{
	return fleet_end(f, etcd_commit(f->etcd, t, a));
}

void fleet_warn_away(struct fleet *f)
{
	if (f->away_told)
		return;
	f->away_told = true;
	log_warn(f->base.ctx, "%s; this host uses its own records",
		f->away_text ? f->away_text : "etcd cannot be reached");
}

int fleet_fail_away(struct fleet *f, const char *what)
{
	return ctx_fail(f->base.ctx, -EHOSTUNREACH, "%s; %s", f->away_text ? f->away_text
		: "etcd cannot be reached", what);
}

/* ---- records ---- */

int fleet_read_kv(struct fleet *f, enum vfctl_id_kind kind, const struct etcd_kv *kv,
	struct vfctl_id *ret)
{
	uint64_t value;

	if (!fleet_id_of_key(kind, kv->key, &value))
		return ctx_fail(f->base.ctx, -EBADMSG, "etcd has a key %.80s below vfctl's prefix that "
			"vfctl did not write; remove it, or use another prefix", kv->key);
	return fleet_record_read(f->base.ctx, kind, value, kv->value, kv->value_len, ret);
}

int fleet_see(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	const struct etcd_result *result, struct fleet_seen *ret)
{
	struct fleet_seen seen = {.there = result->count > 0};
	int r = 0;

	seen.id = (struct vfctl_id){.kind = kind, .value = value};
	if (seen.there) {
		seen.revision = result->kvs[0].modified;
		r = fleet_read_kv(f, kind, &result->kvs[0], &seen.id);
	}
	if (r == 0 && seen.id.value != value)
		r = ctx_fail(f->base.ctx, -EBADMSG, "etcd answered with another key");
	if (r == 0)
		*ret = seen;
	return r;
}

int fleet_read(struct fleet *f, const char *key, struct etcd_answer *a)
{
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);

	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = key});
	return fleet_commit(f, &t, a);
}

int fleet_put_if(struct fleet *f, const char *key, int64_t revision, const char *value)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);
	int r;

	etcd_if_revision(&t, key, revision);
	etcd_put(&t, key, value, 0);
	r = fleet_commit(f, &t, &a);
	return r < 0 ? r : a.succeeded || etcd_unsure(f->etcd);
}

int fleet_look(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	struct fleet_seen *ret)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	char key[FLEET_KEY];
	int r = fleet_read(f, fleet_id_key(kind, value, key), &a);

	return r < 0 ? r : fleet_see(f, kind, value, &a.results[0], ret);
}

/* Read one page from *@first on, and move *@first behind it. */
static int walk_page(struct fleet *f, const struct fleet_walk *w, uint64_t *first, bool *ret_more)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);
	char from[FLEET_KEY], to[FLEET_KEY];
	int r;

	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = fleet_id_key(w->kind, *first, from),
		.last = fleet_id_key(w->kind, w->last, to), .limit = FLEET_PAGE,
		.changed_since = w->since});
	r = fleet_commit(f, &t, &a);
	*ret_more = r == 0 && a.results[0].count >= FLEET_PAGE;
	for (size_t i = 0; r == 0 && i < a.results[0].count; i++) {
		struct vfctl_id id;

		r = fleet_read_kv(f, w->kind, &a.results[0].kvs[i], &id);
		if (r < 0)
			return r;
		*ret_more &= id.value < w->last;
		*first = id.value + 1;
		r = w->each(w->data, &id);
	}
	return r;
}

int fleet_walk(struct fleet *f, const struct fleet_walk *w)
{
	uint64_t first = w->first;
	bool more = true;
	int r = 0;

	while (r == 0 && more) {
		if (!w->in_time)
			etcd_begin(f->etcd);
		r = walk_page(f, w, &first, &more);
	}
	return r;
}

int fleet_walk_all(struct fleet *f, int64_t since,
	int (*each)(void *data, const struct vfctl_id *id), void *data)
{
	int r = 0;

	for (int kind = VFCTL_ID_GUID; kind <= VFCTL_ID_MAC && r == 0; kind++)
		r = fleet_walk(f, &(struct fleet_walk){.kind = (enum vfctl_id_kind)kind,
			.last = UINT64_MAX, .since = since, .each = each, .data = data});
	return r;
}

static int find_fleet(struct id_store *s, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret)
{
	struct fleet *f = fleet_of(s);
	struct fleet_seen seen;
	char text[VFCTL_ID_TEXT];
	int r = fleet_begin(f);

	if (r == 0)
		r = fleet_look(f, kind, value, &seen);
	if (etcd_is_away(r))
		return offline_find(f, kind, value, ret);
	if (r < 0)
		return r;
	if (!seen.there)
		return ctx_fail(s->ctx, -ENOENT, "%s has no owner",
			vfctl_id_format(kind, value, text));
	*ret = seen.id;
	return 0;
}

/*
 * Search only this host's record. If a domain has its value from another host, take_fleet() and
 * peek() find it, because they have to ask etcd anyway.
 */
static int find_owner(struct id_store *s, enum vfctl_id_kind kind,
	const struct vfctl_id_owner *owner, struct vfctl_id *ret)
{
	struct fleet *f = fleet_of(s);

	return f->local->ops->find_owner(f->local, kind, owner, ret);
}

static int peek(struct id_store *s, const struct id_choice *choice, unsigned nth,
	uint64_t *ret_value)
{
	return fleet_propose(fleet_of(s), choice, nth, ret_value);
}

/* ---- counts and lists ---- */

static int stats(struct id_store *s, const struct vfctl_id_pool *pool,
	struct vfctl_id_stats *ret)
{
	struct fleet *f = fleet_of(s);
	int r = fleet_begin(f);

	if (r == 0)
		r = fleet_count(f, pool, ret);
	if (!etcd_is_away(r))
		return r;
	fleet_warn_away(f);
	return f->local->ops->stats(f->local, pool, ret);
}

struct page {
	const struct vfctl_id_filter *filter;
	struct vfctl_id *ids;
	size_t count, max;
};

static int keep_match(void *data, const struct vfctl_id *id)
{
	struct page *p = data;
	const struct vfctl_id_filter *q = p->filter;

	if ((!q->pool || str_eq(q->pool, id->pool)) &&
		(!q->domain_uuid || str_eq(q->domain_uuid, id->owner.domain_uuid)) &&
		(!q->host || str_eq(q->host, id->owner.host)) &&
		(!q->states || q->states & 1u << id->state))
		p->ids[p->count++] = *id;
	return p->count == p->max;
}

static int page_fleet(struct id_store *s, const struct vfctl_id_filter *filter,
	enum vfctl_id_kind kind, const uint64_t *after, struct vfctl_id *ret, size_t max)
{
	struct page p = {.filter = filter, .ids = ret, .max = max};
	uint64_t first = after ? *after + 1 : 0;
	struct fleet *f = fleet_of(s);
	int r;

	if (!filter->fleet)
		return f->local->ops->page(f->local, filter, kind, after, ret, max);
	if (after && *after == UINT64_MAX)
		return 0;
	r = fleet_begin(f);
	if (r == 0)
		r = fleet_walk(f, &(struct fleet_walk){.kind = kind, .first = first,
			.last = UINT64_MAX, .each = keep_match, .data = &p});
	if (etcd_is_away(r))
		return ctx_prefix(s->ctx, r, "while listing the fleet");
	return r < 0 ? r : (int)p.count;
}

/* ---- changes, with or without etcd ---- */

static int begin_for(struct fleet *f, struct vfctl_id_owner *owner)
{
	if (!owner->host[0])
		str_copy(owner->host, sizeof(owner->host), f->spec->host);
	return fleet_begin(f);
}

static int take_fleet(struct id_store *s, const struct id_choice *choice, struct vfctl_id *io)
{
	struct fleet *f = fleet_of(s);
	int r = begin_for(f, &io->owner);

	if (r == 0)
		r = fleet_take(f, choice, io);
	if (etcd_is_away(r))
		return offline_take(f, choice, io);
	if (r == 0)
		fleet_top_up(f, choice->pool);
	return r;
}

static int claim_fleet(struct id_store *s, struct vfctl_id *io, struct vfctl_id *ret_holder)
{
	const struct vfctl_id_pool *pool;
	struct fleet *f = fleet_of(s);
	int r = begin_for(f, &io->owner);

	if (r == 0)
		r = fleet_claim(f, io, ret_holder);
	if (etcd_is_away(r))
		return offline_claim(f, io, ret_holder);
	pool = fleet_pool_named(f, io->pool, io->kind);
	if (pool && r == -EEXIST)
		fleet_collided(f);
	else if (pool && r == 0)
		fleet_top_up(f, pool);
	return r;
}

static int release_fleet(struct id_store *s, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, int64_t until)
{
	struct fleet *f = fleet_of(s);
	int r = fleet_begin(f);

	if (r == 0)
		r = fleet_release(f, kind, value, owner, until);
	return etcd_is_away(r) ? offline_release(f, kind, value, owner, until) : r;
}

static int try_quarantine(struct fleet *f, const struct vfctl_id *id)
{
	struct fleet_seen none = {.there = false};
	struct vfctl_id now = *id;
	int r;

	none.id = *id;
	now.since = fleet_now(f);
	r = fleet_replace(f, &none, &now);
	return r == 1 && mirror_put(f, &now) < 0 ? -EIO : r;
}

static int quarantine_fleet(struct id_store *s, const struct vfctl_id *id)
{
	struct fleet *f = fleet_of(s);
	int r = fleet_begin(f);

	if (r == 0)
		r = try_quarantine(f, id);
	return etcd_is_away(r) ? offline_quarantine(f, id) : r;
}

/* ---- open and close ---- */

static int declare(struct id_store *s, const struct vfctl_id_pool *pools, size_t count)
{
	struct fleet *f = fleet_of(s);
	struct fleet_pool *state = calloc(count ? count : 1, sizeof(*state));

	if (!state)
		return ctx_oom(s->ctx);
	fleet_pools_clear(f);
	f->state = state;
	f->pools = pools;
	f->pool_count = count;
	return f->local->ops->declare(f->local, pools, count);
}

static int rest_of(struct id_store *s, const char *pool, uint32_t *ret_s)
{
	struct fleet *f = fleet_of(s);

	return f->local->ops->rest(f->local, pool, ret_s);
}

static int lost(struct id_store *s, struct vfctl_id_pool **ret_pools, size_t *ret_count)
{
	struct fleet *f = fleet_of(s);

	return f->local->ops->lost ? f->local->ops->lost(f->local, ret_pools, ret_count) : 0;
}

static void close_store(struct id_store *s)
{
	struct fleet *f = fleet_of(s);

	if (f->etcd && !f->away_error)
		note_endpoint(f);
	etcd_close(f->etcd);
	if (f->local)
		f->local->ops->close(f->local);
	free(f->away_text);
	fleet_pools_clear(f);
	free(f);
}

static const struct id_store_ops ops = {
	.declare = declare,
	.find = find_fleet,
	.find_owner = find_owner,
	.take = take_fleet,
	.peek = peek,
	.claim = claim_fleet,
	.release = release_fleet,
	.quarantine = quarantine_fleet,
	.stats = stats,
	.page = page_fleet,
	.close = close_store,
	.lost = lost,
	.rest = rest_of,
};

bool id_etcd_is(const struct id_store *s)
{
	return s->ops == &ops;
}

/*
 * Values that etcd also has need not be on the disk before the call returns (see offline_take()).
 */
static int use_notes(struct fleet *f)
{
	char endpoint[512];
	int r = f->write ? id_sqlite_set_durable(f->local, false) : 0;

	if (r == 0)
		r = id_sqlite_note(f->local, "endpoint", endpoint, sizeof(endpoint));
	if (r == 0)
		etcd_prefer(f->etcd, endpoint);
	return r;
}

int id_etcd_open(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool write,
	struct id_store *local, struct id_store **ret)
{
	struct fleet *f = calloc(1, sizeof(*f));
	struct timespec t;
	int r;

	if (!f)
		return ctx_oom(ctx);
	clock_gettime(CLOCK_MONOTONIC, &t);
	f->random = (unsigned)t.tv_nsec ^ (unsigned)getpid() * 2654435761u;
	f->base = (struct id_store){.ops = &ops, .ctx = ctx};
	f->spec = spec;
	f->write = write;
	f->local = local;
	fleet_spread(f);
	r = etcd_open(ctx, spec->etcd, &f->etcd);
	if (r == 0)
		r = use_notes(f);
	if (r < 0) {
		f->local = NULL; /* it still belongs to the caller */
		close_store(&f->base);
		return r;
	}
	*ret = &f->base;
	return 0;
}
