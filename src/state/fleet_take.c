// SPDX-License-Identifier: GPL-2.0-or-later
/* Taking values: one transaction each, or one for a whole block. */
#include <errno.h>
#include <inttypes.h>

#include "base/idrange.h"
#include "state/fleet.h"

/* Of two hosts that want the same value one is refused: each time one gets it. */
#define TRIES 200
/* A hint is good as long as others' releases need not be seen. */
#define HINT_S 10
#define SPREAD_MAX 48 /* gaps to choose from after collisions; of FLEET_WINDOW */

/* ---- the hint ---- */

/* Lowest first: what was taken last, plus one, saves looking. */
static bool hinted(struct fleet *f, const struct id_choice *choice, struct fleet_spot *ret)
{
	const struct fleet_pool *state = fleet_pool_state(f, choice->pool);

	if (choice->start || !state->hint || fleet_now(f) > state->hint_until)
		return false;
	*ret = (struct fleet_spot){.value = state->hint};
	return true;
}

static void set_hint(struct fleet *f, const struct id_choice *choice, uint64_t taken)
{
	struct fleet_pool *state = fleet_pool_state(f, choice->pool);
	const struct vfctl_id_pool *p = choice->pool;

	if (choice->start)
		return;
	if (!state->hint || fleet_now(f) > state->hint_until)
		state->hint_until = fleet_now(f) + HINT_S;
	state->hint = idranges_find(p->ranges, p->range_count, taken + 1) >= 0 ? taken + 1 : 0;
}

/* ---- one value ---- */

/* The end of the range that holds the value. */
static uint64_t end_of(const struct vfctl_id_pool *pool, uint64_t value)
{
	ssize_t at = idranges_find(pool->ranges, pool->range_count, value);

	return at < 0 ? value : pool->ranges[at].last;
}

struct taking {
	struct fleet *f;
	const struct id_choice *choice;
	struct vfctl_id id;
	struct fleet_spot spot;
	unsigned collisions;
	bool done;
};

static int write_txn(struct taking *t, struct etcd_txn *txn)
{
	const struct vfctl_id_pool *pool = t->choice->pool;
	char key[FLEET_KEY], owner[FLEET_KEY], last[FLEET_KEY], value[FLEET_VALUE];
	_free_ char *record = fleet_record_write(&t->id);
	int r = fleet_guard(t->f, txn, pool);

	if (r < 0 || !record)
		return r < 0 ? r : ctx_oom(t->f->base.ctx);
	fleet_id_key(pool->kind, t->id.value, key);
	fleet_owner_key(pool->kind, &t->id.owner, owner);
	etcd_if_revision(txn, key, t->spot.revision);
	etcd_if_absent(txn, owner);
	etcd_put(txn, ETCD_THEN, key, record, 0);
	etcd_put(txn, ETCD_THEN, owner, fleet_value_text(t->id.value, value), 0);
	etcd_get(txn, ETCD_ELSE, &(struct etcd_range){.first = owner});
	etcd_get(txn, ETCD_ELSE, &(struct etcd_range){.first = key, .limit = FLEET_WINDOW,
		.last = fleet_id_key(pool->kind, end_of(pool, t->id.value), last)});
	return 0;
}

/* The owner has a value already: the same again, if it is this host's. */
static int take_same(struct taking *t, const struct etcd_kv *owner)
{
	struct vfctl_id holder = {.value = 0};
	struct fleet *f = t->f;
	char text[VFCTL_ID_TEXT];
	int r;

	if (!fleet_value_read(owner->value, owner->value_len, &t->id.value))
		return ctx_fail(f->base.ctx, -EBADMSG, "%s in etcd holds no value; remove it",
			owner->key);
	r = fleet_claim(f, &t->id, &holder);
	if (r == -EEXIST && holder.value)
		return ctx_fail(f->base.ctx, r, "%s of domain %s has %s on host %s; release it there "
			"first, or, if that host is gone: vfctl guid reclaim %s",
			t->id.owner.device, t->id.owner.domain_uuid, vfctl_id_format(holder.kind,
				holder.value, text), holder.owner.host, text);
	t->done = r == 0;
	return r;
}

/* The value was somebody's: where next? The more collide, the wider they spread. */
static int choose_next(struct taking *t, const struct etcd_result *near)
{
	const struct vfctl_id_pool *pool = t->choice->pool;
	unsigned spread = t->collisions < 5 ? 2u << t->collisions : SPREAD_MAX;
	unsigned skip = fleet_random(t->f, t->collisions ? spread : 1);
	int r;

	t->collisions++;
	r = fleet_spot_in(t->f, pool, t->id.value, end_of(pool, t->id.value), near, skip,
		&t->spot);
	if (r == 0)
		r = fleet_search(t->f, pool, t->choice->start, skip, &t->spot);
	return r < 0 ? r : 0;
}

static int try_take(struct taking *t)
{
	const struct vfctl_id_pool *pool = t->choice->pool;
	size_t guards = fleet_guard_results(pool);
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn txn = etcd_txn(t->f->etcd);
	int r;

	t->id.value = t->spot.value;
	r = write_txn(t, &txn);
	if (r == 0) {
		r = fleet_commit(t->f, &txn, &a);
		if (r < 0 && etcd_unsure(t->f->etcd))
			mirror_doubt(t->f, &t->id);
	}
	if (r < 0)
		return r;
	t->done = a.succeeded;
	if (a.succeeded)
		return 0;
	r = fleet_guard_check(t->f, &a, pool);
	if (r != 0)
		return r < 0 ? r : 0;
	/* Also so when it was ourselves, in a try whose answer was lost. */
	if (a.results[guards].count)
		return take_same(t, &a.results[guards].kvs[0]);
	return choose_next(t, &a.results[guards + 1]);
}

/* All else is gone: what was set aside for when etcd is away. */
static int take_from_block(struct taking *t)
{
	struct vfctl_id_filter filter = {.pool = t->choice->pool->name,
		.states = 1u << VFCTL_ID_BLOCK};
	_free_ char *words = steal(t->f->base.ctx->error);
	struct vfctl_id row, holder;
	int r = t->f->local->ops->page(t->f->local, &filter, t->choice->pool->kind, NULL, &row, 1);

	if (r <= 0)
		return ctx_fail(t->f->base.ctx, -ENOSPC, "%s", words ? words : "exhausted");
	t->id.value = row.value;
	r = fleet_claim(t->f, &t->id, &holder);
	t->done = r == 0;
	return r;
}

int fleet_take(struct fleet *f, const struct id_choice *choice, struct vfctl_id *io)
{
	struct taking t = {.f = f, .choice = choice, .id = *io};
	int r = 0;

	t.id.state = VFCTL_ID_LEASED;
	t.id.since = fleet_now(f);
	t.id.until = 0;
	t.id.pending = false;
	str_copy(t.id.pool, sizeof(t.id.pool), choice->pool->name);
	if (!hinted(f, choice, &t.spot))
		r = fleet_search(f, choice->pool, choice->start, 0, &t.spot);
	for (int i = 0; i < TRIES && r == 0 && !t.done; i++)
		r = try_take(&t);
	if (r == -ENOSPC)
		r = take_from_block(&t);
	if (r == 0 && !t.done)
		r = ctx_fail(f->base.ctx, -EAGAIN, "others took each value of pool %s first; try "
			"again", choice->pool->name);
	if (r < 0)
		return r;
	set_hint(f, choice, t.id.value);
	r = mirror_put(f, &t.id);
	if (r == 0)
		*io = t.id;
	return r;
}

/* ---- a block ---- */

#define RUNS_MAX 100
#define BLOCK_WINDOW 256

struct block {
	struct vfctl_id_range runs[RUNS_MAX]; /* free values next to each other */
	size_t count;
	unsigned values;
};

static void add_free(struct block *b, uint64_t first, uint64_t last, unsigned want)
{
	uint64_t room = want - b->values;

	if (!room || b->count == RUNS_MAX)
		return;
	if (last - first >= room)
		last = first + room - 1;
	b->runs[b->count++] = (struct vfctl_id_range){first, last};
	b->values += (unsigned)(last - first + 1);
}

/* Gaps of one of the pool's ranges, from @first on; what has rested is left to others. */
static int find_runs(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t first,
	uint64_t last, unsigned want, struct block *b)
{
	_free_ struct vfctl_id *page = calloc(BLOCK_WINDOW, sizeof(*page));
	int got = BLOCK_WINDOW;

	if (!page)
		return ctx_oom(f->base.ctx);
	while (b->values < want && b->count < RUNS_MAX && got == BLOCK_WINDOW) {
		got = fleet_page(f, pool->kind, first, last, 0, page, BLOCK_WINDOW);
		if (got < 0)
			return got;
		for (int i = 0; i < got; i++) {
			if (page[i].value > first)
				add_free(b, first, page[i].value - 1, want);
			first = page[i].value + 1;
		}
		if (got && page[got - 1].value == last)
			return 0;
	}
	if (got < BLOCK_WINDOW)
		add_free(b, first, last, want);
	return 0;
}

static int find_block(struct fleet *f, const struct vfctl_id_pool *pool, unsigned want,
	unsigned skip, struct block *b)
{
	struct fleet_spot spot;
	int r = fleet_search(f, pool, 0, skip, &spot);
	ssize_t at;

	if (r < 0)
		return r;
	at = idranges_find(pool->ranges, pool->range_count, spot.value);
	for (size_t i = at < 0 ? 0 : (size_t)at; i < pool->range_count && r == 0; i++) {
		uint64_t first = pool->ranges[i].first;

		r = find_runs(f, pool, spot.value > first ? spot.value : first,
			pool->ranges[i].last, want, b);
	}
	return r;
}

static struct vfctl_id block_row(const struct fleet *f, const struct vfctl_id_pool *pool,
	uint64_t value)
{
	struct vfctl_id id = {.kind = pool->kind, .value = value, .state = VFCTL_ID_BLOCK,
		.since = fleet_now(f)};

	str_copy(id.pool, sizeof(id.pool), pool->name);
	str_copy(id.owner.host, sizeof(id.owner.host), f->spec->host);
	return id;
}

static int write_run(struct fleet *f, struct etcd_txn *t, const struct vfctl_id_pool *pool,
	const struct vfctl_id_range *run)
{
	char first[FLEET_KEY], last[FLEET_KEY];

	etcd_if_none(t, fleet_id_key(pool->kind, run->first, first),
		fleet_id_key(pool->kind, run->last, last));
	for (uint64_t v = run->first; v <= run->last; v++) {
		struct vfctl_id id = block_row(f, pool, v);
		_free_ char *record = fleet_record_write(&id);

		if (!record)
			return ctx_oom(f->base.ctx);
		etcd_put(t, ETCD_THEN, fleet_id_key(pool->kind, v, first), record, 0);
	}
	return 0;
}

static int mirror_block(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct block *b)
{
	int r = f->local->ops->begin(f->local);

	if (r < 0)
		return r;
	for (size_t i = 0; i < b->count && r == 0; i++)
		for (uint64_t v = b->runs[i].first; v <= b->runs[i].last && r == 0; v++) {
			struct vfctl_id id = block_row(f, pool, v);

			r = id_sqlite_put(f->local, &id);
		}
	return f->local->ops->end(f->local, r == 0) < 0 && r == 0 ? -EIO : r;
}

/* 1: others were faster. */
static int try_reserve(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct block *b)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);
	int r = fleet_guard(f, &t, pool);

	for (size_t i = 0; i < b->count && r == 0; i++)
		r = write_run(f, &t, pool, &b->runs[i]);
	if (r == 0)
		r = fleet_commit(f, &t, &a);
	/* When nobody knows whether it was: the next sync finds what is there. */
	if (r < 0)
		return r;
	if (a.succeeded)
		return mirror_block(f, pool, b);
	r = fleet_guard_check(f, &a, pool);
	return r < 0 ? r : 1;
}

int fleet_reserve(struct fleet *f, const struct vfctl_id_pool *pool, unsigned count,
	unsigned *ret_added)
{
	struct block b = {.count = 0};
	int r = 1;

	for (unsigned tries = 0; tries < 20 && r == 1; tries++) {
		b = (struct block){.count = 0};
		r = find_block(f, pool, count, fleet_random(f, tries * 8 + 1), &b);
		if (r == 0 && b.count)
			r = try_reserve(f, pool, &b);
	}
	if (r == 1)
		r = ctx_fail(f->base.ctx, -EAGAIN, "others took values of pool %s first; try again",
			pool->name);
	if (r == 0)
		*ret_added = b.values;
	return r;
}

void fleet_top_up(struct fleet *f, const struct vfctl_id_pool *pool)
{
	struct fleet_pool *state = fleet_pool_state(f, pool);
	unsigned want = f->spec->etcd->block, added = 0;
	struct vfctl_id_stats n;

	/* Once in a command: what it takes does not come from the block. */
	if (state->block_checked || !pool->range_count || !want)
		return;
	state->block_checked = true;
	if (f->local->ops->stats(f->local, pool, &n) < 0 || n.block >= want / 2 + want % 2)
		return;
	if (fleet_reserve(f, pool, want - (unsigned)n.block, &added) < 0)
		log_warn(f->base.ctx, "nothing was set aside for when etcd is away: %s",
			vfctl_ctx_error(f->base.ctx));
	ctx_clear(f->base.ctx);
}
