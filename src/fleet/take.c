// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocate values: one transaction for each, or one for a whole reserve. */
#include <errno.h>

#include "types/idrange.h"
#include "fleet/fleet_internal.h"

/* If two hosts want the same value, one of them is refused; in each round one host succeeds. */
#define TRIES 200
/* A hint is valid for so long, because releases of other hosts need not be seen at once. */
#define HINT_S 10
/* Number of free values to choose from after collisions; below FLEET_WINDOW. */
#define SPREAD_MAX 48

/* ---- the hint ---- */

/* Lowest first: the last allocated value plus one saves a search. */
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
};

/* The owner already has a value: it gets the same one again if it belongs to this host. 1: done. */
static int take_same(struct taking *t, const struct etcd_kv *owner)
{
	struct vfctl_id holder = {.value = 0};
	struct fleet *f = t->f;
	char text[VFCTL_ID_TEXT];
	int r = fleet_owner_value(f, owner, &t->id.value);

	if (r == 0)
		r = fleet_claim(f, &t->id, &holder);
	if (r == -EEXIST && holder.value)
		return ctx_fail(f->base.ctx, r, "%s of domain %s has %s on host %s; release it "
			"there first, or, if that host is gone: vfctl guid reclaim %s",
			t->id.owner.device, t->id.owner.domain_uuid, vfctl_id_format(holder.kind,
				holder.value, text), holder.owner.host, text);
	return r < 0 ? r : 1;
}

/*
 * The value had an owner: choose the next one. After each collision the hosts choose from a wider
 * range.
 */
static int choose_next(struct taking *t, const struct etcd_result *near)
{
	const struct vfctl_id_pool *pool = t->choice->pool;
	struct fleet_spot spots[SPREAD_MAX];
	unsigned spread = t->collisions == 0 ? 1 : t->collisions < 5 ? 2u << t->collisions
		: SPREAD_MAX;
	int n = fleet_spots_in(t->f, pool, t->id.value, end_of(pool, t->id.value), near, spots,
		spread);

	if (n > 0 && spots[0].value == t->id.value) { /* the guard failed, not the value */
		t->spot = spots[0];
		return 0;
	}
	t->collisions++;
	if (n == 0)
		n = fleet_search(t->f, pool, t->choice->start, spots, spread);
	if (n < 0)
		return n;
	t->spot = spots[fleet_random(t->f, (unsigned)n)];
	return 0;
}

/* 1: done, 0: try again. */
static int try_take(struct taking *t)
{
	const struct vfctl_id_pool *pool = t->choice->pool;
	const struct fleet_lease lease = {.id = &t->id, .revision = t->spot.revision,
		.last = end_of(pool, t->spot.value)};
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	const struct etcd_kv *owner;
	int r;

	t->id.value = t->spot.value;
	r = fleet_lease(t->f, pool, &lease, &a);
	if (r != 0)
		return r;
	owner = etcd_first(&a.results[0]);
	/* This host itself may have leased it, in an attempt whose answer was lost. */
	return owner ? take_same(t, owner) : choose_next(t, &a.results[1]);
}

/* All other values are used: take one from the reserve. 1: done. */
static int take_from_block(struct taking *t)
{
	struct vfctl_id_filter filter = {.pool = t->choice->pool->name,
		.states = 1u << VFCTL_ID_BLOCK};
	_free_ char *message = steal(t->f->base.ctx->error);
	struct vfctl_id row, holder;
	int r = t->f->local->ops->page(t->f->local, &filter, t->choice->pool->kind, NULL, &row, 1);

	if (r <= 0)
		return ctx_fail(t->f->base.ctx, -ENOSPC, "%s", message ? message : "exhausted");
	t->id.value = row.value;
	r = fleet_claim(t->f, &t->id, &holder);
	return r < 0 ? r : 1;
}

int fleet_take(struct fleet *f, const struct id_choice *choice, struct vfctl_id *io)
{
	struct taking t = {.f = f, .choice = choice, .id = *io};
	int r = 0;

	fleet_make_lease(f, &t.id);
	str_copy(t.id.pool, sizeof(t.id.pool), choice->pool->name);
	if (!hinted(f, choice, &t.spot))
		r = fleet_search(f, choice->pool, choice->start, &t.spot, 1);
	r = r < 0 ? r : 0;
	for (int i = 0; i < TRIES && r == 0; i++)
		r = try_take(&t);
	if (r == -ENOSPC)
		r = take_from_block(&t);
	if (r == 0)
		r = ctx_fail(f->base.ctx, -EAGAIN, "other hosts allocated each value of pool %s first; "
			"try again", choice->pool->name);
	if (r < 0)
		return r;
	set_hint(f, choice, t.id.value);
	r = mirror_put(f, &t.id);
	if (r == 0)
		*io = t.id;
	return r;
}

/* ---- the reserve ---- */

/* The limit in host.yaml; below ETCD_OPS_MAX, including the guard's compares. */
#define BLOCK_MAX 120
#define BLOCK_TRIES 20
#define BLOCK_SPREAD 8 /* number of additional values to choose from after each attempt that lost
			  to other hosts */

static int write_row(struct etcd_txn *t, const struct vfctl_id *row, int64_t revision)
{
	_free_ char *record = fleet_record_write(row);
	char key[FLEET_KEY];

	if (!record)
		return -ENOMEM;
	fleet_id_key(row->kind, row->value, key);
	etcd_if_revision(t, key, revision);
	etcd_put(t, key, record, 0);
	return 0;
}

static int mirror_block(struct fleet *f, struct vfctl_id *row, const struct fleet_spot *spots,
	int n)
{
	int r = f->local->ops->begin(f->local);

	if (r < 0)
		return r;
	for (int i = 0; i < n && r == 0; i++) {
		row->value = spots[i].value;
		r = id_sqlite_put(f->local, row);
	}
	return f->local->ops->end(f->local, r == 0) < 0 && r == 0 ? -EIO : r;
}

/* Returns how many of the values were reserved; 0: other hosts were faster. */
static int try_reserve(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct fleet_spot *spots, int n)
{
	struct vfctl_id row = {.kind = pool->kind, .state = VFCTL_ID_BLOCK,
		.since = fleet_now(f)};
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);
	int r;

	str_copy(row.pool, sizeof(row.pool), pool->name);
	str_copy(row.owner.host, sizeof(row.owner.host), f->spec->host);
	for (int i = 0; i < n; i++) {
		row.value = spots[i].value;
		if (write_row(&t, &row, spots[i].revision) < 0)
			return ctx_oom(f->base.ctx);
	}
	/* The outcome is unknown: the next sync finds the result. */
	r = fleet_change(f, &t, pool, &a);
	if (r == 1)
		r = mirror_block(f, &row, spots, n);
	return r < 0 || !a.succeeded ? r : n;
}

int fleet_fill_block(struct fleet *f, const struct vfctl_id_pool *pool, unsigned least,
	unsigned *ret_added)
{
	unsigned want, skip, added = 0;
	struct fleet_spot spots[BLOCK_MAX + BLOCK_TRIES * BLOCK_SPREAD];
	struct vfctl_id_stats n;
	int r = 0;

	if (pool->range_count)
		r = f->local->ops->stats(f->local, pool, &n);
	if (r < 0 || !pool->range_count || n.block >= least)
		return r;
	want = f->spec->etcd->block - (unsigned)n.block;
	if (want > BLOCK_MAX)
		want = BLOCK_MAX;
	for (unsigned tries = 0; tries < BLOCK_TRIES && added < want && r >= 0; tries++) {
		skip = fleet_random(f, tries * BLOCK_SPREAD + 1);
		r = fleet_search(f, pool, 0, spots, want - added + skip);
		if (r < 0)
			break;
		skip = (unsigned)r > want - added ? (unsigned)r - (want - added) : 0;
		r = try_reserve(f, pool, spots + skip, r - (int)skip);
		added += r > 0 ? (unsigned)r : 0;
	}
	*ret_added = added;
	if (r == -ENOSPC && added) { /* all that were free */
		ctx_clear(f->base.ctx);
		return 0;
	}
	if (r >= 0 && added < want)
		r = ctx_fail(f->base.ctx, -EAGAIN, "other hosts allocated values of pool %s first; try "
			"again",
			pool->name);
	return r < 0 ? r : 0;
}

void fleet_top_up(struct fleet *f, const struct vfctl_id_pool *pool)
{
	struct fleet_pool *state = fleet_pool_state(f, pool);
	unsigned want = f->spec->etcd->block, added = 0;

	/* Once per command: the values that it allocates do not come from the reserve. */
	if (state->block_checked)
		return;
	state->block_checked = true;
	if (fleet_fill_block(f, pool, want / 2 + want % 2, &added) < 0)
		log_warn(f->base.ctx, "the reserve for work without etcd could not be filled: %s",
			vfctl_ctx_error(f->base.ctx));
	ctx_clear(f->base.ctx);
}
