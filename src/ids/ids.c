// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules for pools, independent of the store. */
#include "ids/ids.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "ids/owner.h"
#include "ids/pools.h"
#include "types/idrange.h"

/* ---- open and close ---- */

static int open_fleet(struct vfctl_ids *ids, bool write, ids_open_fleet_fn open,
	struct id_store *local)
{
	int r = open(ids->ctx, ids->spec, write, local, &ids->store);

	if (r < 0)
		local->ops->close(local);
	return r;
}

static int read_lost(struct vfctl_ids *ids)
{
	struct id_store *s = ids->store;
	size_t n = 0;
	int r = s->ops->lost ? s->ops->lost(s, &ids->lost, &ids->lost_count) : 0;

	/* A value whose PF has not been read is declared nevertheless. */
	for (size_t i = 0; i < ids->lost_count && r == 0; i++)
		if (!vfctl_ids_pool(ids, ids->lost[i].kind, ids->lost[i].name))
			ids->lost[n++] = ids->lost[i];
	ids->lost_count = n;
	return r;
}

int ids_open(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool write,
	ids_open_fleet_fn open, struct vfctl_ids **ret_ids)
{
	_cleanup_(vfctl_ids_closep) struct vfctl_ids *ids = calloc(1, sizeof(*ids));
	struct id_store *local;
	int r;

	if (!ids)
		return ctx_oom(ctx);
	ids->ctx = ctx;
	ids->spec = spec;
	r = id_store_open(ctx, write, &local);
	if (r < 0)
		return r;
	if (spec->etcd)
		r = open_fleet(ids, write, open, local);
	else
		ids->store = local;
	if (r == 0)
		r = ids->store->ops->declare(ids->store, spec->pools, spec->pool_count);
	if (r == 0)
		r = read_lost(ids);
	if (r == 0)
		*ret_ids = steal(ids);
	return r;
}

void vfctl_ids_close(struct vfctl_ids *ids)
{
	if (!ids)
		return;
	if (ids->store)
		ids->store->ops->close(ids->store);
	free(ids->lost);
	free(ids->taken);
	free(ids);
}

/* ---- declared pools ---- */

const struct vfctl_host_spec *vfctl_ids_spec(const struct vfctl_ids *ids)
{
	return ids->spec;
}

const struct vfctl_id_pool *vfctl_ids_pool(const struct vfctl_ids *ids,
	enum vfctl_id_kind kind, const char *name)
{
	for (size_t i = 0; i < ids->spec->pool_count; i++) {
		const struct vfctl_id_pool *p = &ids->spec->pools[i];

		if (p->kind == kind && (!name || str_eq(p->name, name)))
			return p;
	}
	return NULL;
}

const struct vfctl_id_pool *vfctl_ids_pool_of(const struct vfctl_ids *ids,
	enum vfctl_id_kind kind, uint64_t value)
{
	for (size_t i = 0; i < ids->spec->pool_count; i++) {
		const struct vfctl_id_pool *p = &ids->spec->pools[i];

		if (p->kind == kind && idranges_find(p->ranges, p->range_count, value) >= 0)
			return p;
	}
	return NULL;
}

const struct vfctl_id_pool *vfctl_ids_lost(const struct vfctl_ids *ids, size_t *ret_count)
{
	*ret_count = ids->lost_count;
	return ids->lost;
}

int vfctl_ids_stats(struct vfctl_ids *ids, const struct vfctl_id_pool *pool,
	struct vfctl_id_stats *ret_stats)
{
	return ids->store->ops->stats(ids->store, pool, ret_stats);
}

int vfctl_ids_find(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret_id)
{
	return ids->store->ops->find(ids->store, kind, value, ret_id);
}

/* ---- combined changes ---- */

int vfctl_ids_begin(struct vfctl_ids *ids)
{
	if (ids->store->ops->begin)
		return ids->store->ops->begin(ids->store);
	ids->grouped = true;
	return 0;
}

/* For vfctl_ids_end(): remember a value that got an owner. */
static int remember_ids(struct vfctl_ids *ids, const struct vfctl_id *id)
{
	if (!ids->grouped)
		return 0;
	if (!array_grow(ids->taken, ids->taken_count))
		return ctx_oom(ids->ctx);
	ids->taken[ids->taken_count++] = *id;
	return 0;
}

static void give_back(struct vfctl_ids *ids)
{
	_free_ char *message = steal(ids->ctx->error);
	struct id_store *s = ids->store;

	while (ids->taken_count) {
		const struct vfctl_id *id = &ids->taken[--ids->taken_count];

		if (s->ops->release(s, id->kind, id->value, NULL, 0) < 0) {
			char text[VFCTL_ID_TEXT];

			log_warn(ids->ctx, "%s could not be released: %s; run: vfctl guid release",
				vfctl_id_format(id->kind, id->value, text),
				vfctl_ctx_error(ids->ctx));
		}
	}
	ctx_fail(ids->ctx, 0, "%s", message ? message : "");
}

int vfctl_ids_end(struct vfctl_ids *ids, bool keep)
{
	if (ids->store->ops->end)
		return ids->store->ops->end(ids->store, keep);
	if (!keep)
		give_back(ids);
	ids->taken_count = 0;
	ids->grouped = false;
	return 0;
}

/* ---- take ---- */

static int check_pool(struct vfctl_ids *ids, const struct vfctl_id_pool *pool)
{
	if (pool->source == VFCTL_ID_SOURCE_HOST && !pool->range_count)
		return ctx_fail(ids->ctx, -ENODATA, "pool %s derives its values from the GUID of PF %s, "
			"which is unknown; the PF must exist and be InfiniBand", pool->name,
			ids->spec->pool_pfs[pool - ids->spec->pools]);
	return 0;
}

static int derive(struct vfctl_ids *ids, const struct vfctl_id_pool *pool,
	const struct vfctl_mac *mac, uint64_t *ret_value)
{
	char text[VFCTL_ID_TEXT];
	const char *fault;
	uint64_t value;

	if (!mac)
		return ctx_fail(ids->ctx, -EINVAL, "pool %s derives its values from the MAC of the VF, "
			"which is not stated; set the MAC first", pool->name);
	value = vfctl_guid_from_mac(mac);
	fault = vfctl_guid_fault(value);
	if (fault)
		return ctx_fail(ids->ctx, -EINVAL, "pool %s: %s, from the VF's MAC, %s",
			pool->name, vfctl_guid_format(value, text), fault);
	*ret_value = value;
	return 0;
}

static int64_t now_of(const struct vfctl_ids *ids)
{
	return ids->store->now ? ids->store->now : (int64_t)time(NULL);
}

int ids_fail_held(struct vfctl_ids *ids, const struct vfctl_id *held)
{
	const struct value_claim claim = {.kind = held->kind, .value = held->value,
		.domain_uuid = "", .device = "", .host = ""};
	const struct value_answer answer = {.row = held,
		.verdict = value_ask_row(held, &claim, 0)};

	return value_fail(ids->ctx, &claim, &answer, now_of(ids));
}

static int claim_ids(struct vfctl_ids *ids, struct vfctl_id *io)
{
	struct id_store *s = ids->store;
	struct vfctl_id holder = {.value = 0};
	bool had = ids->grouped && s->ops->find(s, io->kind, io->value, &holder) == 0 &&
		holder.state == VFCTL_ID_LEASED;
	int r;

	holder.value = 0;
	r = s->ops->claim(s, io, &holder);

	/* Without a holder the store has already set the message. */
	if (r == -EEXIST && holder.value)
		return ids_fail_held(ids, &holder);
	return r < 0 || had ? r : remember_ids(ids, io);
}

int vfctl_ids_may_claim(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner)
{
	const struct value_claim claim = {.kind = kind, .value = value,
		.domain_uuid = owner->domain_uuid, .device = owner->device, .host = owner->host};
	struct vfctl_id holder;
	int r = ids->store->ops->find(ids->store, kind, value, &holder);

	if (r < 0)
		return ctx_ignore_error(ids->ctx, r, -ENOENT);
	return value_ask_row(&holder, &claim, now_of(ids)) &
		(VALUE_FREE | VALUE_OWN | VALUE_RESERVE) ? 0 : ids_fail_held(ids, &holder);
}

static int take_derived(struct vfctl_ids *ids, const struct vfctl_id_pool *pool,
	const struct vfctl_mac *mac, struct vfctl_id *io)
{
	int r = derive(ids, pool, mac, &io->value);

	return r < 0 ? r : claim_ids(ids, io);
}

int vfctl_ids_take(struct vfctl_ids *ids, const struct vfctl_id_pool *pool,
	const struct vfctl_id_owner *owner, uint16_t pkey, const struct vfctl_mac *mac,
	struct vfctl_id *ret_id)
{
	struct id_store *s = ids->store;
	struct id_choice choice = {.pool = pool, .owner = owner,
		.start = id_choose_start(pool, owner)};
	struct vfctl_id id = {.kind = pool->kind, .owner = *owner, .pkey = pkey}, had;
	int r = s->ops->find_owner(s, pool->kind, owner, &had);
	bool again = r == 0 && (had.state == VFCTL_ID_LEASED || str_eq(had.pool, pool->name));

	str_copy(id.pool, sizeof(id.pool), pool->name);
	if (r < 0 && r != -ENOENT)
		return r;
	if (again) {
		id.value = had.value;
		r = claim_ids(ids, &id);
	}
	/* Meanwhile the value may have left its cooldown for another owner. */
	if (!again || r == -EEXIST) {
		r = check_pool(ids, pool);
		if (r == 0 && pool->source == VFCTL_ID_SOURCE_MAC)
			r = take_derived(ids, pool, mac, &id);
		else if (r == 0)
			r = s->ops->take(s, &choice, &id);
		if (r == 0 && pool->source != VFCTL_ID_SOURCE_MAC)
			r = remember_ids(ids, &id);
	}
	if (r == 0)
		*ret_id = id;
	return r;
}

int vfctl_ids_propose(struct vfctl_ids *ids, const struct vfctl_id_pool *pool,
	const struct vfctl_id_owner *owner, const struct vfctl_mac *mac, unsigned nth,
	uint64_t *ret_value)
{
	struct id_store *s = ids->store;
	struct id_choice choice = {.pool = pool, .owner = owner,
		.start = id_choose_start(pool, owner)};
	struct vfctl_id had;
	int r = s->ops->find_owner(s, pool->kind, owner, &had);

	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0 && (had.state == VFCTL_ID_LEASED || str_eq(had.pool, pool->name))) {
		*ret_value = had.value;
		/* Meanwhile the value may have left its cooldown for another owner. */
		r = vfctl_ids_may_claim(ids, pool->kind, had.value, owner);
		if (r != -EEXIST)
			return r;
	}
	ctx_clear(ids->ctx);
	r = check_pool(ids, pool);
	if (r < 0)
		return r;
	if (pool->source == VFCTL_ID_SOURCE_MAC)
		return derive(ids, pool, mac, ret_value);
	return s->ops->peek(s, &choice, nth, ret_value);
}

int vfctl_ids_claim(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, uint16_t pkey, struct vfctl_id *ret_id)
{
	const struct vfctl_id_pool *pool = vfctl_ids_pool_of(ids, kind, value);
	struct vfctl_id id = {.kind = kind, .value = value, .owner = *owner, .pkey = pkey};
	const char *fault = id_fault(kind, value);
	char text[VFCTL_ID_TEXT];
	int r;

	if (fault)
		return ctx_fail(ids->ctx, -EINVAL, "%s %s", vfctl_id_format(kind, value, text),
			fault);
	if (pool)
		str_copy(id.pool, sizeof(id.pool), pool->name);
	r = claim_ids(ids, &id);
	if (r == 0)
		*ret_id = id;
	return r;
}

/* ---- release ---- */

static const struct vfctl_id_pool *pool_named(const struct vfctl_ids *ids,
	const struct vfctl_id *id)
{
	return id->pool[0] ? vfctl_ids_pool(ids, id->kind, id->pool) : NULL;
}

static int fail_not_yours(struct vfctl_ids *ids, const struct vfctl_id *id)
{
	char text[VFCTL_ID_TEXT], who[ID_OWNER_WORDS];

	return ctx_fail(ids->ctx, -EPERM, "%s %s is %s %s",
		id->kind == VFCTL_ID_GUID ? "GUID" : "MAC", vfctl_id_format(id->kind, id->value, text),
		id->state == VFCTL_ID_BLOCK ? "reserved for" : "leased to",
		id_owner_text(&id->owner, who));
}

int vfctl_ids_release(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, bool unused)
{
	struct id_store *s = ids->store;
	const struct vfctl_id_pool *pool;
	uint32_t rest = 0;
	struct vfctl_id id;
	int64_t now;
	int r = s->ops->find(s, kind, value, &id);

	if (r < 0)
		return r;
	pool = pool_named(ids, &id);
	if (pool && !unused)
		rest = pool->rest_s;
	/* If host.yaml no longer declares the pool, use its former cooldown. */
	else if (!unused && id.pool[0] && s->ops->rest(s, id.pool, &rest) == -ENOENT)
		rest = ID_REST_S;
	now = now_of(ids);
	r = s->ops->release(s, kind, value, owner, rest ? now + rest : 0);
	return r == -EPERM ? fail_not_yours(ids, &id) : r;
}

int vfctl_ids_quarantine(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, const char *note)
{
	const struct vfctl_id_pool *pool = vfctl_ids_pool_of(ids, kind, value);
	struct vfctl_id id = {.kind = kind, .value = value, .state = VFCTL_ID_QUARANTINED};
	int r;

	if (owner)
		id.owner = *owner;
	str_copy(id.owner.host, sizeof(id.owner.host), ids->spec->host);
	if (pool)
		str_copy(id.pool, sizeof(id.pool), pool->name);
	snprintf(id.note, sizeof(id.note), "%s", note);
	r = ids->store->ops->quarantine(ids->store, &id);
	if (r == 1 && remember_ids(ids, &id) < 0)
		return -ENOMEM;
	return r;
}

/* ---- lists ---- */

#define PAGE 256

struct vfctl_id_cursor {
	struct vfctl_ids *ids;
	struct vfctl_id_filter filter;
	enum vfctl_id_kind kind;
	bool begun; /* a value of this kind was read: page[count - 1] was the last one */
	size_t count, next;
	struct vfctl_id page[PAGE];
};

int vfctl_ids_list(struct vfctl_ids *ids, const struct vfctl_id_filter *filter,
	struct vfctl_id_cursor **ret_cursor)
{
	struct vfctl_id_cursor *cursor = calloc(1, sizeof(*cursor));

	if (!cursor)
		return ctx_oom(ids->ctx);
	cursor->ids = ids;
	cursor->filter = *filter;
	*ret_cursor = cursor;
	return 0;
}

static int read_page(struct vfctl_id_cursor *c)
{
	struct id_store *s = c->ids->store;
	uint64_t last = c->begun ? c->page[c->count - 1].value : 0;
	int n = s->ops->page(s, &c->filter, c->kind, c->begun ? &last : NULL, c->page, PAGE);

	while (n == 0 && c->kind < VFCTL_ID_MAC) {
		c->kind++;
		n = s->ops->page(s, &c->filter, c->kind, NULL, c->page, PAGE);
	}
	if (n > 0) {
		c->count = (size_t)n;
		c->next = 0;
		c->begun = true;
	}
	return n;
}

int vfctl_ids_next(struct vfctl_id_cursor *cursor, struct vfctl_id *ret_id)
{
	if (cursor->next == cursor->count) {
		int n = read_page(cursor);

		if (n <= 0)
			return n;
	}
	*ret_id = cursor->page[cursor->next++];
	return 1;
}

void vfctl_ids_list_end(struct vfctl_id_cursor *cursor)
{
	free(cursor);
}
