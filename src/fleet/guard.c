// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registration of this host in the fleet, and the comparison of its pools with those of the
 * fleet.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "fleet/fleet_internal.h"

/* ---- the registration ---- */

/* Created once, by the first command. */
static int new_node(struct fleet *f)
{
	uint64_t instance;
	int r;

	if (getrandom(&instance, sizeof(instance), 0) != sizeof(instance))
		return ctx_fail(f->base.ctx, -EIO, "the kernel gave no random number for the instance "
			"of this host");
	r = f->local->ops->begin(f->local);
	if (r < 0)
		return r;
	r = id_sqlite_note(f->local, "node", f->node, sizeof(f->node));
	if (r == 0 && !f->node[0]) {
		snprintf(f->node, sizeof(f->node), "%016" PRIx64 " 1", instance);
		r = id_sqlite_set_note(f->local, "node", f->node);
	}
	f->local->ops->end(f->local, r == 0);
	return r;
}

static int know_node(struct fleet *f)
{
	int r = 0;

	if (!f->node[0])
		r = id_sqlite_note(f->local, "node", f->node, sizeof(f->node));
	return r == 0 && !f->node[0] ? new_node(f) : r;
}

static int fail_twin(struct fleet *f)
{
	return ctx_fail(f->base.ctx, -EEXIST, "another machine is registered in etcd as host %s, "
		"or the state file of this one was lost. If there is another, give one of them "
		"another name (host: in host.yaml); if not: vfctl guid sync --adopt",
		f->spec->host);
}

static bool same_instance(const char *a, const char *b)
{
	return strncmp(a, b, 17) == 0; /* sixteen digits and a space */
}

/* If it was changed meanwhile, the next attempt detects it. */
static int write_node(struct fleet *f, const struct etcd_kv *was, const char *node)
{
	int64_t revision = was ? was->modified : 0;
	char key[FLEET_KEY];
	int r = fleet_put_if(f, fleet_key("node", f->spec->host, key), revision, node);

	return r < 0 ? r : 0;
}

static int mend_node(struct fleet *f, const struct etcd_kv *theirs)
{
	char noted[FLEET_NODE];
	int r = id_sqlite_note(f->local, "node", noted, sizeof(noted));

	if (r < 0)
		return r;
	if (noted[0] && !str_eq(noted, f->node)) { /* another command has raised the epoch */
		memcpy(f->node, noted, sizeof(noted));
		return 0;
	}
	if (!theirs) {
		r = write_node(f, NULL, f->node);
		return r < 0 ? r : fleet_renew_presence(f, true) < 0 ? -EHOSTUNREACH : 0;
	}
	if (!same_instance(theirs->value, f->node) && f->adopt)
		return write_node(f, theirs, f->node);
	/* The epoch was raised by a command that ended before it could record that. */
	if (!same_instance(theirs->value, f->node) ||
		!str_copy(f->node, sizeof(f->node), theirs->value))
		return fail_twin(f);
	return id_sqlite_set_note(f->local, "node", f->node);
}

int fleet_fence(struct fleet *f)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	char next[FLEET_NODE], key[FLEET_KEY];
	const struct etcd_kv *was;
	int r = fleet_read(f, fleet_key("node", f->spec->host, key), &a);

	was = r == 0 ? etcd_first(&a.results[0]) : NULL;
	if (!was)
		return r; /* not registered: no change of this host is carried out */
	if (!same_instance(was->value, f->node))
		return fail_twin(f);
	snprintf(next, sizeof(next), "%.16s %" PRIu64, f->node,
		(uint64_t)strtoull(was->value + 17, NULL, 10) + 1);
	r = write_node(f, was, next);
	if (r < 0)
		return r;
	memcpy(f->node, next, sizeof(next));
	return id_sqlite_set_note(f->local, "node", next);
}

/* ---- presence ---- */

int64_t fleet_last_contact(struct fleet *f)
{
	char text[32];

	return id_sqlite_note(f->local, "present", text, sizeof(text)) < 0 ? 0
		: strtoll(text, NULL, 10);
}

bool fleet_presence_over(struct fleet *f)
{
	int64_t renewed = fleet_last_contact(f);

	/* A clock that was set back proves nothing either. */
	return fleet_now(f) < renewed || fleet_now(f) >= renewed + f->spec->etcd->ttl_s;
}

static int put_presence(struct fleet *f)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);
	char key[FLEET_KEY];
	int64_t lease;
	int r = fleet_end(f, etcd_lease_grant(f->etcd, f->spec->etcd->ttl_s, &lease));

	if (r < 0)
		return r;
	etcd_put(&t, fleet_key("host", f->spec->host, key), f->node, lease);
	return fleet_commit(f, &t, &a);
}

/* 1: the lease of the presence was renewed for long enough; 0: it needs another one. */
static int renew_lease(struct fleet *f)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	const struct etcd_kv *kv;
	char key[FLEET_KEY];
	int64_t ttl;
	int r = fleet_read(f, fleet_key("host", f->spec->host, key), &a);

	kv = r == 0 ? etcd_first(&a.results[0]) : NULL;
	if (!kv || !kv->lease)
		return r;
	r = fleet_end(f, etcd_lease_renew(f->etcd, kv->lease, &ttl));
	return r == -ENOENT ? 0 : r < 0 ? r : ttl == f->spec->etcd->ttl_s;
}

int fleet_renew_presence(struct fleet *f, bool force)
{
	int64_t renewed = fleet_last_contact(f), begun = fleet_now(f);
	char text[32];
	int r;

	if (!force && begun >= renewed && begun < renewed + f->spec->etcd->ttl_s / 4)
		return 0;
	r = renew_lease(f);
	if (r == 0)
		r = put_presence(f);
	if (r < 0)
		return r;
	/* The time before the request: the lease lasts at least until this host's deadline. */
	snprintf(text, sizeof(text), "%" PRId64, begun);
	return id_sqlite_set_note(f->local, "present", text);
}

/* ---- definitions ---- */

const struct vfctl_id_pool *fleet_pool_named(const struct fleet *f, const char *name,
	enum vfctl_id_kind kind)
{
	for (size_t i = 0; i < f->pool_count; i++)
		if (f->pools[i].kind == kind && str_eq(f->pools[i].name, name))
			return &f->pools[i];
	return NULL;
}

/* Append the value of "key=" in a definition, up to the next space. */
static void put_value(struct buf *out, const char *text, const char *key)
{
	const char *at = strstr(text, key);
	size_t len = at ? strcspn(at, " ") : 0, skip = strlen(key);

	if (at)
		buf_printf(out, "%.*s", (int)(len - skip), at + skip);
	else
		buf_puts(out, "nothing");
}

/*
 * Append ranges such as "0200000000000001..020000000000ffff,..." in readable form; at most three.
 */
static void put_ranges(struct buf *out, const char *text, enum vfctl_id_kind kind)
{
	const char *at = strstr(text, "ranges=");
	uint64_t first, last;
	char a[VFCTL_ID_TEXT], b[VFCTL_ID_TEXT];
	size_t count = 0;

	at = at ? at + strlen("ranges=") : "";
	for (; sscanf(at, "%16" SCNx64 "..%16" SCNx64, &first, &last) == 2;
		at += strcspn(at, ","), at += *at == ',') {
		if (++count > 3)
			break;
		buf_printf(out, "%s%s..%s", count > 1 ? ", " : "", vfctl_id_format(kind, first, a),
			vfctl_id_format(kind, last, b));
	}
	buf_puts(out, count > 3 ? ", ..." : count ? "" : "none");
}

/* Name the differences between the definitions of a pool, each with both values. */
static int fail_definition(struct fleet *f, const struct vfctl_id_pool *pool,
	const char *ours, const char *theirs)
{
	static const char *const keys[] = {"kind=", "strategy=", "source=", "rest=", "ranges="};
	_buf_ struct buf what = {0};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		_buf_ struct buf a = {0}, b = {0};
		bool ranges = str_eq(keys[i], "ranges=");

		if (ranges) {
			put_ranges(&a, ours, pool->kind);
			put_ranges(&b, theirs, pool->kind);
		} else {
			put_value(&a, ours, keys[i]);
			put_value(&b, theirs, keys[i]);
		}
		if (a.data && b.data && !str_eq(a.data, b.data))
			buf_printf(&what, "%s%.*s is %s in host.yaml and %s in etcd", what.len ? ", " : "",
				(int)strlen(keys[i]) - 1, keys[i], a.data, b.data);
	}
	return ctx_fail(f->base.ctx, -EINVAL, "pool %s differs from the fleet's: %s; make host.yaml the "
		"same as on the other hosts, or, to change it for all of them: vfctl guid publish",
		pool->name, what.data ? what.data : "its ranges");
}

int fleet_compare_pool(struct fleet *f, const struct vfctl_id_pool *pool)
{
	_free_ char *text = fleet_pool_text(pool);
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	const struct etcd_kv *theirs;
	char key[FLEET_KEY];
	int r = text ? fleet_read(f, fleet_key("pool", pool->name, key), &a) : ctx_oom(f->base.ctx);

	theirs = r < 0 ? NULL : etcd_first(&a.results[0]);
	return r < 0 || !theirs || str_eq(theirs->value, text) ? r
		: fail_definition(f, pool, text, theirs->value);
}

/* The first host that has the pool defines it. */
static int mend_pool(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct etcd_kv *theirs)
{
	_free_ char *text = fleet_pool_text(pool);
	char key[FLEET_KEY];
	int r;

	if (!text)
		return ctx_oom(f->base.ctx);
	if (theirs)
		return str_eq(theirs->value, text) ? 0
			: fail_definition(f, pool, text, theirs->value);
	r = fleet_put_if(f, fleet_key("pool", pool->name, key), 0, text);
	return r < 0 ? r : 0;
}

/* ---- the guard ---- */

static int add_guard(struct fleet *f, struct etcd_txn *t, const struct vfctl_id_pool *pool)
{
	_free_ char *text = pool ? fleet_pool_text(pool) : NULL;
	char key[FLEET_KEY];
	int r = know_node(f);

	if (r < 0)
		return r;
	if (pool && !text)
		return ctx_oom(f->base.ctx);
	if (!f->present && fleet_renew_presence(f, false) == 0)
		f->present = true;
	fleet_key("node", f->spec->host, key);
	etcd_if_value(t, key, f->node);
	etcd_get(t, ETCD_ELSE, &(struct etcd_range){.first = key});
	if (pool) {
		fleet_key("pool", pool->name, key);
		etcd_if_value(t, key, text);
		etcd_get(t, ETCD_ELSE, &(struct etcd_range){.first = key});
	}
	return 0;
}

/* The guard's results are the last ones. */
static int check_guard(struct fleet *f, const struct etcd_answer *a,
	const struct vfctl_id_pool *pool)
{
	const struct etcd_result *guard = &a->results[a->count - (pool ? 2 : 1)];
	const struct etcd_kv *node = etcd_first(&guard[0]);

	if (!node || !str_eq(node->value, f->node))
		return mend_node(f, node);
	return pool ? mend_pool(f, pool, etcd_first(&guard[1])) : 0;
}

int fleet_change(struct fleet *f, struct etcd_txn *t, const struct vfctl_id_pool *pool,
	struct etcd_answer *a)
{
	int r = add_guard(f, t, pool);

	if (r == 0)
		r = fleet_commit(f, t, a);
	if (r < 0 || a->succeeded)
		return r < 0 ? r : 1;
	return check_guard(f, a, pool);
}
