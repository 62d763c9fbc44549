// SPDX-License-Identifier: GPL-2.0-or-later
/* Administration of the fleet: orphans, reclaim, publish. */
#include <errno.h>

#include "fleet/fleet_internal.h"
#include "fleet/store.h"
#include "ids/pools.h"
#include "types/idrange.h"

/* A reclaimed value is never free at once: the host that had it may still be running. */
#define RECLAIM_REST_S 600

/* ---- which hosts report ---- */

#define PRESENT "v1/host/"

static int read_hosts(struct fleet *f, struct etcd_answer *ret)
{
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);

	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = PRESENT, .last = PRESENT "\xff"});
	return fleet_commit(f, &t, ret);
}

static bool is_there(const struct etcd_answer *hosts, const char *host)
{
	for (size_t i = 0; i < hosts->results[0].count; i++)
		if (str_eq(hosts->results[0].kvs[i].key + strlen(PRESENT), host))
			return true;
	return false;
}

/* A value that is in its cooldown or quarantined needs no host. */
static bool needs_host(const struct vfctl_id *id)
{
	return id->state == VFCTL_ID_LEASED || id->state == VFCTL_ID_BLOCK;
}

/* ---- orphans ---- */

struct orphans {
	struct etcd_answer hosts;
	struct vfctl_id *ids;
	size_t count;
};

static void clear_orphans(struct orphans *o)
{
	etcd_answer_clear(&o->hosts);
	free(o->ids);
}

static int keep_orphan(void *data, const struct vfctl_id *id)
{
	struct orphans *o = data;

	if (!needs_host(id) || is_there(&o->hosts, id->owner.host))
		return 0;
	if (!array_grow(o->ids, o->count))
		return -ENOMEM;
	o->ids[o->count++] = *id;
	return 0;
}

int id_etcd_orphans(struct id_store *s, struct vfctl_id **ret_ids, size_t *ret_count)
{
	_cleanup_(clear_orphans) struct orphans o = {.count = 0};
	struct fleet *f = fleet_of(s);
	int r = fleet_begin(f);

	if (r == 0)
		r = read_hosts(f, &o.hosts);
	if (r == 0)
		r = fleet_walk_all(f, 0, keep_orphan, &o);
	if (r < 0)
		return r == -ENOMEM ? ctx_oom(s->ctx) : r;
	*ret_ids = steal(o.ids);
	*ret_count = o.count;
	return 0;
}

/* ---- reclaim ---- */

static int check_gone(struct fleet *f, const char *host, bool force)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer hosts = {0};
	int r = force ? 0 : read_hosts(f, &hosts);

	if (force || r < 0 || !is_there(&hosts, host))
		return r;
	return ctx_fail(f->base.ctx, -EBUSY, "host %s is alive, and its guests may use the values; "
		"release them on that host. If it is dead but not yet counted as gone (etcd.ttl), use "
		"--force", host);
}

static int rest_it(struct fleet *f, const struct fleet_seen *seen, struct vfctl_id *io)
{
	const struct vfctl_id_pool *pool = fleet_pool_named(f, io->pool, io->kind);
	int r;

	io->state = VFCTL_ID_RESTING;
	io->since = fleet_now(f);
	io->until = io->since + (pool && pool->rest_s > RECLAIM_REST_S ? pool->rest_s
		: RECLAIM_REST_S);
	r = fleet_replace(f, seen, io);
	if (r == 0)
		return ctx_fail(f->base.ctx, -EAGAIN, "the value changed meanwhile; repeat the command");
	return r < 0 ? r : 0;
}

int id_etcd_reclaim(struct id_store *s, enum vfctl_id_kind kind, uint64_t value, bool force,
	struct vfctl_id *ret)
{
	struct fleet *f = fleet_of(s);
	char text[VFCTL_ID_TEXT];
	struct fleet_seen seen;
	struct vfctl_id now;
	int r = fleet_begin(f);

	if (r == 0)
		r = fleet_look(f, kind, value, &seen);
	if (r == 0 && !seen.there)
		r = ctx_fail(s->ctx, -ENOENT, "%s has no owner", vfctl_id_format(kind, value, text));
	if (r == 0)
		r = check_gone(f, seen.id.owner.host, force);
	if (r < 0)
		return r;
	now = seen.id;
	r = now.state == VFCTL_ID_RESTING ? 0 : rest_it(f, &seen, &now);
	if (r == 0)
		*ret = now;
	return r;
}

struct search {
	const char *host;
	const struct vfctl_id_pool *pool;
	struct vfctl_id found;
};

static int is_of_host(void *data, const struct vfctl_id *id)
{
	struct search *s = data;

	s->found = *id;
	return needs_host(id) && str_eq(id->owner.host, s->host);
}

int id_etcd_forget_host(struct id_store *s, const char *host, bool force)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	struct fleet *f = fleet_of(s);
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);
	char node[FLEET_KEY], key[FLEET_KEY], text[VFCTL_ID_TEXT];
	struct search search = {.host = host};
	int r = fleet_begin(f);

	if (r == 0)
		r = check_gone(f, host, force);
	if (r == 0)
		r = fleet_walk_all(f, 0, is_of_host, &search);
	if (r == 1)
		r = ctx_fail(f->base.ctx, -ENOTEMPTY, "host %s still has %s, and perhaps more values; "
			"reclaim them first", host, vfctl_id_format(search.found.kind, search.found.value,
				text));
	if (r < 0)
		return r;
	etcd_begin(f->etcd);
	etcd_if_revision(&t, fleet_key("node", host, node), 0);
	etcd_delete(&t, ETCD_ELSE, node);
	etcd_delete(&t, ETCD_ELSE, fleet_key("host", host, key));
	r = fleet_commit(f, &t, &a);
	if (r == 0 && a.succeeded && !etcd_unsure(f->etcd))
		r = ctx_fail(f->base.ctx, -ENOENT, "no host %s is registered", host);
	return r;
}

/* ---- publish ---- */

static int is_outside(void *data, const struct vfctl_id *id)
{
	struct search *s = data;
	const struct vfctl_id_pool *pool = s->pool;

	s->found = *id;
	return id->kind == pool->kind && str_eq(id->pool, pool->name) &&
		idranges_find(pool->ranges, pool->range_count, id->value) < 0;
}

static int check_holds_all(struct fleet *f, const struct vfctl_id_pool *pool)
{
	struct search search = {.pool = pool};
	const struct vfctl_id *id = &search.found;
	char text[VFCTL_ID_TEXT];
	int r;

	if (pool->source != VFCTL_ID_SOURCE_RANGES)
		return 0;
	r = fleet_walk_all(f, 0, is_outside, &search);
	if (r == 1)
		r = ctx_fail(f->base.ctx, -EINVAL, "pool %s would no longer hold %s, which is %s "
			"on host %s; release it first, or keep it in the ranges", pool->name,
			vfctl_id_format(id->kind, id->value, text), vfctl_id_state_name(id->state),
			id->owner.host);
	return r;
}

/* 1: the definition was changed, or would be. */
static int publish_pool(struct fleet *f, const struct vfctl_id_pool *pool, bool dry_run)
{
	_free_ char *text = fleet_pool_text(pool);
	_cleanup_(etcd_answer_clear) struct etcd_answer was = {0};
	const struct etcd_kv *kv;
	char key[FLEET_KEY];
	int r;

	if (!text)
		return ctx_oom(f->base.ctx);
	fleet_key("pool", pool->name, key);
	etcd_begin(f->etcd);
	r = fleet_read(f, key, &was);
	if (r < 0)
		return r;
	kv = etcd_first(&was.results[0]);
	if (kv && str_eq(kv->value, text))
		return 0;
	r = check_holds_all(f, pool);
	if (r < 0 || dry_run)
		return r < 0 ? r : 1;
	etcd_begin(f->etcd);
	r = fleet_put_if(f, key, kv ? kv->modified : 0, text);
	return r ? r : ctx_fail(f->base.ctx, -EAGAIN, "another host publishes pool %s at the same time; "
		"repeat the command",
		pool->name);
}

int id_etcd_publish(struct id_store *s, bool dry_run, size_t *ret_changed)
{
	struct fleet *f = fleet_of(s);
	size_t changed = 0;
	int r = fleet_begin(f);

	for (size_t i = 0; i < f->pool_count && r >= 0; i++) {
		r = publish_pool(f, &f->pools[i], dry_run);
		changed += r == 1;
	}
	if (r < 0)
		return r;
	*ret_changed = changed;
	return 0;
}
