// SPDX-License-Identifier: GPL-2.0-or-later
/* What operators do to the fleet: orphans, reclaim, publish. */
#include <errno.h>
#include <inttypes.h>

#include "base/idrange.h"
#include "state/fleet.h"
#include "state/ids_etcd.h"

/* A value is never free at once: the host that had it may be alive after all. */
#define RECLAIM_REST_S 600

/* ---- which hosts are there ---- */

struct hosts {
	char (*names)[65];
	size_t count;
};

static void clear_hosts(struct hosts *h)
{
	free(h->names);
}

static int read_hosts(struct fleet *f, struct hosts *h)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);
	size_t skip = strlen("v1/host/");
	int r;

	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = "v1/host/", .below = true});
	r = fleet_commit(f, &t, &a);
	if (r < 0)
		return r;
	h->names = calloc(a.results[0].count + 1, sizeof(*h->names));
	if (!h->names)
		return ctx_oom(f->base.ctx);
	for (size_t i = 0; i < a.results[0].count; i++)
		if (strlen(a.results[0].kvs[i].key) > skip &&
			str_copy(h->names[h->count], sizeof(*h->names),
				a.results[0].kvs[i].key + skip))
			h->count++;
	return 0;
}

static bool is_there(const struct hosts *h, const char *host)
{
	for (size_t i = 0; i < h->count; i++)
		if (str_eq(h->names[i], host))
			return true;
	return false;
}

/* ---- orphans ---- */

struct list {
	struct vfctl_id *ids;
	size_t count;
};

static void clear_list(struct list *l)
{
	free(l->ids);
}

/* What rests or is quarantined needs no host. */
static bool is_orphan(const struct vfctl_id *id, const struct hosts *h)
{
	return (id->state == VFCTL_ID_LEASED || id->state == VFCTL_ID_BLOCK) &&
		!is_there(h, id->owner.host);
}

static int collect(struct fleet *f, enum vfctl_id_kind kind, const struct hosts *h,
	struct list *l)
{
	_free_ struct vfctl_id *page = calloc(FLEET_PAGE, sizeof(*page));
	int got = page ? FLEET_PAGE : ctx_oom(f->base.ctx);
	uint64_t first = 0;

	while (got == FLEET_PAGE) {
		etcd_begin(f->etcd);
		got = fleet_page(f, kind, first, UINT64_MAX, 0, page, FLEET_PAGE);
		for (int i = 0; i < got; i++) {
			if (!is_orphan(&page[i], h))
				continue;
			if (!array_grow(l->ids, l->count))
				return ctx_oom(f->base.ctx);
			l->ids[l->count++] = page[i];
		}
		if (got > 0)
			first = page[got - 1].value + 1;
	}
	return got < 0 ? got : 0;
}

int id_etcd_orphans(struct id_store *s, struct vfctl_id **ret_ids, size_t *ret_count)
{
	_cleanup_(clear_hosts) struct hosts hosts = {0};
	_cleanup_(clear_list) struct list list = {0};
	struct fleet *f = fleet_of(s);
	int r = fleet_begin(f);

	if (r == 0)
		r = read_hosts(f, &hosts);
	for (int kind = VFCTL_ID_GUID; kind <= VFCTL_ID_MAC && r == 0; kind++)
		r = collect(f, (enum vfctl_id_kind)kind, &hosts, &list);
	if (r < 0)
		return r;
	*ret_ids = steal(list.ids);
	*ret_count = list.count;
	return 0;
}

/* ---- reclaim ---- */

static int fail_present(struct fleet *f, const char *host)
{
	return ctx_fail(f->base.ctx, -EBUSY, "host %s is there, its guests may use what it has; "
		"release it on that host. If it is dead but not counted as gone yet (etcd.ttl): "
		"--force", host);
}

static int check_reclaim(struct fleet *f, const struct fleet_seen *seen, bool force)
{
	_cleanup_(clear_hosts) struct hosts hosts = {0};
	char text[VFCTL_ID_TEXT];
	int r;

	if (!seen->there)
		return ctx_fail(f->base.ctx, -ENOENT, "nobody has %s",
			vfctl_id_format(seen->id.kind, seen->id.value, text));
	if (force)
		return 0;
	r = read_hosts(f, &hosts);
	if (r == 0 && is_there(&hosts, seen->id.owner.host))
		r = fail_present(f, seen->id.owner.host);
	return r;
}

int id_etcd_reclaim(struct id_store *s, enum vfctl_id_kind kind, uint64_t value, bool force,
	struct vfctl_id *ret)
{
	struct fleet *f = fleet_of(s);
	const struct vfctl_id_pool *pool;
	struct fleet_seen seen;
	struct vfctl_id now;
	int r = fleet_begin(f);

	if (r == 0)
		r = fleet_look(f, kind, value, &seen);
	if (r == 0)
		r = check_reclaim(f, &seen, force);
	if (r < 0)
		return r;
	now = seen.id;
	if (now.state == VFCTL_ID_RESTING) {
		*ret = now;
		return 0;
	}
	pool = fleet_pool_named(f, now.pool, kind);
	now.state = VFCTL_ID_RESTING;
	now.since = fleet_now(f);
	now.until = now.since + (pool && pool->rest_s > RECLAIM_REST_S ? pool->rest_s
		: RECLAIM_REST_S);
	r = fleet_replace(f, &seen, &now);
	if (r == 0)
		return ctx_fail(f->base.ctx, -EAGAIN, "the value changed meanwhile; look again");
	if (r < 0)
		return r;
	*ret = now;
	return 0;
}

static int has_values(struct fleet *f, const char *host, struct vfctl_id *ret)
{
	_free_ struct vfctl_id *page = calloc(FLEET_PAGE, sizeof(*page));
	int got = page ? 0 : ctx_oom(f->base.ctx);

	for (int kind = VFCTL_ID_GUID; kind <= VFCTL_ID_MAC && got >= 0; kind++) {
		uint64_t first = 0;

		do {
			etcd_begin(f->etcd);
			got = fleet_page(f, (enum vfctl_id_kind)kind, first, UINT64_MAX, 0, page,
				FLEET_PAGE);
			for (int i = 0; i < got; i++)
				if (str_eq(page[i].owner.host, host) &&
					(page[i].state == VFCTL_ID_LEASED ||
						page[i].state == VFCTL_ID_BLOCK)) {
					*ret = page[i];
					return 1;
				}
			if (got > 0)
				first = page[got - 1].value + 1;
		} while (got == FLEET_PAGE);
	}
	return got < 0 ? got : 0;
}

int id_etcd_forget_host(struct id_store *s, const char *host, bool force)
{
	_cleanup_(clear_hosts) struct hosts hosts = {0};
	_etcd_answer_ struct etcd_answer a = {0};
	struct fleet *f = fleet_of(s);
	_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);
	char node[FLEET_KEY], key[FLEET_KEY], text[VFCTL_ID_TEXT];
	struct vfctl_id id = {.value = 0};
	int r = fleet_begin(f);

	if (r == 0)
		r = read_hosts(f, &hosts);
	if (r == 0 && is_there(&hosts, host) && !force)
		r = fail_present(f, host);
	if (r == 0)
		r = has_values(f, host, &id);
	if (r == 1)
		r = ctx_fail(f->base.ctx, -ENOTEMPTY, "host %s has %s, perhaps more; reclaim that "
			"first", host, vfctl_id_format(id.kind, id.value, text));
	if (r < 0)
		return r;
	etcd_begin(f->etcd);
	etcd_if_absent(&t, fleet_node_key(host, node));
	etcd_delete(&t, ETCD_ELSE, node);
	etcd_delete(&t, ETCD_ELSE, fleet_host_key(host, key));
	r = fleet_commit(f, &t, &a);
	if (r == 0 && a.succeeded && !etcd_unsure(f->etcd))
		r = ctx_fail(f->base.ctx, -ENOENT, "no host %s is registered", host);
	return r;
}

/* ---- publish ---- */

/* A value of this pool that its new ranges do not hold: 1. */
static int find_outside(struct fleet *f, const struct vfctl_id_pool *pool,
	struct vfctl_id *ret)
{
	_free_ struct vfctl_id *page = calloc(FLEET_PAGE, sizeof(*page));
	int got = page ? FLEET_PAGE : ctx_oom(f->base.ctx);
	uint64_t first = 0;

	while (got == FLEET_PAGE) {
		etcd_begin(f->etcd);
		got = fleet_page(f, pool->kind, first, UINT64_MAX, 0, page, FLEET_PAGE);
		for (int i = 0; i < got; i++)
			if (str_eq(page[i].pool, pool->name) && idranges_find(pool->ranges,
					pool->range_count, page[i].value) < 0) {
				*ret = page[i];
				return 1;
			}
		if (got > 0)
			first = page[got - 1].value + 1;
	}
	return got < 0 ? got : 0;
}

static int check_holds_all(struct fleet *f, const struct vfctl_id_pool *pool)
{
	char text[VFCTL_ID_TEXT];
	struct vfctl_id id;
	int r;

	if (pool->source != VFCTL_ID_SOURCE_RANGES)
		return 0;
	r = find_outside(f, pool, &id);
	if (r == 1)
		r = ctx_fail(f->base.ctx, -EINVAL, "pool %s would no longer hold %s, which is %s on "
			"host %s; release it first, or keep it in the ranges", pool->name,
			vfctl_id_format(id.kind, id.value, text), vfctl_id_state_name(id.state),
			id.owner.host);
	return r;
}

/* 1: it was changed, or would be. */
static int publish_pool(struct fleet *f, const struct vfctl_id_pool *pool, bool dry_run)
{
	_free_ char *text = fleet_pool_text(pool);
	_etcd_answer_ struct etcd_answer was = {0}, a = {0};
	_etcd_txn_ struct etcd_txn look = etcd_txn(f->etcd), t = etcd_txn(f->etcd);
	const struct etcd_kv *kv;
	char key[FLEET_KEY];
	int r;

	if (!text)
		return ctx_oom(f->base.ctx);
	fleet_pool_key(pool->name, key);
	etcd_begin(f->etcd);
	etcd_get(&look, ETCD_THEN, &(struct etcd_range){.first = key});
	r = fleet_commit(f, &look, &was);
	if (r < 0)
		return r;
	kv = was.results[0].count ? &was.results[0].kvs[0] : NULL;
	if (kv && str_eq(kv->value, text))
		return 0;
	r = check_holds_all(f, pool);
	if (r < 0 || dry_run)
		return r < 0 ? r : 1;
	etcd_if_revision(&t, key, kv ? kv->modified : 0);
	etcd_put(&t, ETCD_THEN, key, text, 0);
	etcd_begin(f->etcd);
	r = fleet_commit(f, &t, &a);
	if (r == 0 && !a.succeeded && !etcd_unsure(f->etcd))
		r = ctx_fail(f->base.ctx, -EAGAIN, "another host publishes pool %s too", pool->name);
	fleet_pool_state(f, pool)->revision = 0; /* read again when it is next needed */
	return r < 0 ? r : 1;
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
