// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Propose values for a change that is planned: they are looked up, not taken. Several hosts that
 * plan at the same time may propose the same value. The first one to claim it gets it; the others
 * plan again, and with each collision they choose from a wider range.
 */
#include <errno.h>

#include "fleet/fleet_internal.h"

#define AHEAD_S 10 /* free values are proposed again for so long without another look-up */
#define SPREAD_MAX 64

/* ---- the owner's value ---- */

static int fail_elsewhere(struct fleet *f, const struct vfctl_id *id)
{
	char text[VFCTL_ID_TEXT];

	vfctl_id_format(id->kind, id->value, text);
	return ctx_fail(f->base.ctx, -EEXIST, "%s of domain %s has %s on host %s; release it "
		"there first, or, if that host is gone: vfctl guid reclaim %s", id->owner.device,
		id->owner.domain_uuid, text, id->owner.host, text);
}

/*
 * 1 and the value that etcd has for the owner; 0: none; -EEXIST with a message: it is on another
 * host.
 */
static int ask_owner(struct fleet *f, const struct id_choice *choice, uint64_t *ret)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	struct vfctl_id_owner owner = *choice->owner;
	struct fleet_seen seen = {.there = false};
	const struct etcd_kv *kv;
	char key[FLEET_KEY];
	int r;

	if (!owner.host[0])
		str_copy(owner.host, sizeof(owner.host), f->spec->host);
	r = fleet_read(f, fleet_owner_key(choice->pool->kind, &owner, key), &a);
	if (r < 0)
		return r;
	kv = etcd_first(&a.results[0]);
	r = kv ? fleet_owner_value(f, kv, ret) : 0;
	if (kv && r == 0)
		r = fleet_look(f, choice->pool->kind, *ret, &seen);
	if (r < 0 || !seen.there || seen.id.state != VFCTL_ID_LEASED)
		return r;
	return fleet_is_mine(f, &seen.id) ? 1 : fail_elsewhere(f, &seen.id);
}

/* ---- free values ---- */

void fleet_pools_clear(struct fleet *f)
{
	for (size_t i = 0; f->state && i < f->pool_count; i++)
		free(f->state[i].ahead);
	free(f->state);
	f->state = NULL;
}

static void forget_ahead(struct fleet_pool *state)
{
	state->ahead_count = 0;
	state->ahead_all = false;
}

void fleet_spread(struct fleet *f)
{
	unsigned n = f->base.ctx->collisions;

	f->skip = n ? fleet_random(f, n < 4 ? 4u << n : SPREAD_MAX) : 0;
}

void fleet_collided(struct fleet *f)
{
	for (size_t i = 0; i < f->pool_count; i++) {
		forget_ahead(&f->state[i]);
		f->state[i].hint = 0;
	}
	f->base.ctx->collisions++;
	fleet_spread(f);
}

/* Read further: free values above the known ones, in ascending order. */
static int look_on(struct fleet *f, const struct vfctl_id_pool *pool)
{
	struct fleet_pool *state = fleet_pool_state(f, pool);
	struct fleet_spot spots[FLEET_WINDOW];
	uint64_t last = state->ahead_count ? state->ahead[state->ahead_count - 1] : 0;
	int n = fleet_search(f, pool, last ? last + 1 : 0, spots, FLEET_WINDOW);

	state->ahead_all = n == -ENOSPC || last == UINT64_MAX;
	if (n < 0)
		return n == -ENOSPC && last ? 0 : n;
	for (int i = 0; i < n && !state->ahead_all; i++) {
		/*
		 * The search started again from the beginning: lower values are known, or became
		 * free just now.
		 */
		state->ahead_all = spots[i].value <= last;
		if (state->ahead_all)
			break;
		if (!array_grow(state->ahead, state->ahead_count))
			return ctx_oom(f->base.ctx);
		state->ahead[state->ahead_count++] = spots[i].value;
	}
	return 0;
}

/* The lowest free values, beginning with the @nth. -ENOSPC: there are fewer. */
static int propose_lowest(struct fleet *f, const struct vfctl_id_pool *pool, unsigned nth,
	uint64_t *ret)
{
	struct fleet_pool *state = fleet_pool_state(f, pool);
	size_t at = (size_t)nth + f->skip;
	int r = 0;

	if (fleet_now(f) > state->ahead_until)
		forget_ahead(state);
	if (!state->ahead_count)
		state->ahead_until = fleet_now(f) + AHEAD_S;
	while (r == 0 && state->ahead_count <= at && !state->ahead_all)
		r = look_on(f, pool);
	/* Too few values are left for hosts to avoid each other's values. */
	if (state->ahead_count <= at)
		at = nth;
	if (r == 0 && state->ahead_count <= at)
		r = ctx_fail(f->base.ctx, -ENOSPC, "pool %s has only the %zu free values that are "
			"proposed", pool->name, state->ahead_count);
	if (r == 0)
		*ret = state->ahead[at];
	return r;
}

static int propose_near(struct fleet *f, const struct id_choice *choice, unsigned nth,
	uint64_t *ret)
{
	struct fleet_spot spot = {.value = choice->start};
	int r = 0;

	nth += f->skip;
	for (unsigned i = 0; i <= nth && r >= 0; i++)
		r = fleet_search(f, choice->pool, i ? spot.value + 1 : choice->start, &spot, 1);
	*ret = spot.value;
	return r < 0 ? r : 0;
}

/* The @nth value of this host's reserve. If there is none, return @r and its message. */
static int propose_block(struct fleet *f, const struct vfctl_id_pool *pool, size_t nth, int r,
	uint64_t *ret)
{
	struct vfctl_id_filter filter = {.pool = pool->name, .states = 1u << VFCTL_ID_BLOCK};
	_free_ struct vfctl_id *rows = calloc(nth + 1, sizeof(*rows));
	_free_ char *message = steal(f->base.ctx->error);
	int n = rows ? f->local->ops->page(f->local, &filter, pool->kind, NULL, rows, nth + 1)
		     : -ENOMEM;

	if (n >= 0 && (size_t)n > nth) {
		*ret = rows[nth].value;
		ctx_clear(f->base.ctx);
		return 0;
	}
	return ctx_fail(f->base.ctx, n < 0 ? n : r, "%s", message ? message : "");
}

static int propose_away(struct fleet *f, const struct vfctl_id_pool *pool, unsigned nth,
	uint64_t *ret)
{
	int r = offline_may_take(f);

	if (r < 0)
		return r;
	fleet_warn_away(f);
	r = propose_block(f, pool, nth, -ENOSPC, ret);
	return r == -ENOSPC ? offline_fail_no_block(f) : r;
}

int fleet_propose(struct fleet *f, const struct id_choice *choice, unsigned nth, uint64_t *ret)
{
	const struct fleet_pool *state = fleet_pool_state(f, choice->pool);
	int r = fleet_begin(f);

	if (r == 0)
		r = ask_owner(f, choice, ret);
	if (r == 1)
		return 0;
	if (r == 0)
		r = choice->start ? propose_near(f, choice, nth, ret)
				  : propose_lowest(f, choice->pool, nth, ret);
	if (etcd_is_away(r))
		return propose_away(f, choice->pool, nth, ret);
	if (r == -ENOSPC)
		r = propose_block(f, choice->pool, nth > state->ahead_count
			? nth - state->ahead_count : 0, r, ret);
	return r;
}
