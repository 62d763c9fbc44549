// SPDX-License-Identifier: GPL-2.0-or-later
/* Who this host is to the fleet, and whether its pools are the fleet's. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "state/fleet.h"

/* ---- the registration ---- */

/* Made once, by whichever command comes first. */
static int new_node(struct fleet *f)
{
	uint64_t instance;
	int r;

	if (getrandom(&instance, sizeof(instance), 0) != sizeof(instance))
		return ctx_fail(f->base.ctx, -EIO, "no random number for this host's instance");
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
	if (r == 0 && !f->node[0])
		r = new_node(f);
	return r;
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
	return strncmp(a, b, 17) == 0; /* sixteen digits and a blank */
}

static int write_node(struct fleet *f, const struct etcd_kv *was, const char *node)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);
	char key[FLEET_KEY];
	int r;

	fleet_node_key(f->spec->host, key);
	etcd_if_revision(&t, key, was ? was->modified : 0);
	etcd_put(&t, ETCD_THEN, key, node, 0);
	r = fleet_commit(f, &t, &a);
	return r < 0 ? r : 1; /* when it was changed meanwhile, the next try sees */
}

/* 1: mended. */
static int mend_node(struct fleet *f, const struct etcd_kv *theirs)
{
	char noted[FLEET_NODE];
	int r = id_sqlite_note(f->local, "node", noted, sizeof(noted));

	if (r < 0)
		return r;
	if (!theirs) {
		r = write_node(f, NULL, noted[0] ? noted : f->node);
		return r < 0 ? r : fleet_renew_presence(f, true) < 0 ? -EHOSTUNREACH : 1;
	}
	if (noted[0] && !str_eq(noted, f->node)) { /* another command has fenced */
		memcpy(f->node, noted, sizeof(noted));
		return 1;
	}
	if (!same_instance(theirs->value, f->node))
		return fail_twin(f);
	/* It was fenced, and what did it ended before it could note that. */
	if (!str_copy(f->node, sizeof(f->node), theirs->value))
		return fail_twin(f);
	r = id_sqlite_set_note(f->local, "node", f->node);
	return r < 0 ? r : 1;
}

static int read_node(struct fleet *f, struct etcd_answer *a)
{
	_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);
	char key[FLEET_KEY];

	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = fleet_node_key(f->spec->host,
		key)});
	return fleet_commit(f, &t, a);
}

int fleet_fence(struct fleet *f)
{
	_etcd_answer_ struct etcd_answer a = {0};
	char next[FLEET_NODE];
	int r = know_node(f);

	if (r == 0)
		r = read_node(f, &a);
	if (r < 0 || a.results[0].count == 0)
		return r; /* not registered: nothing of ours is carried out */
	if (!same_instance(a.results[0].kvs[0].value, f->node))
		return fail_twin(f);
	snprintf(next, sizeof(next), "%.16s %" PRIu64, f->node,
		(uint64_t)strtoull(a.results[0].kvs[0].value + 17, NULL, 10) + 1);
	r = write_node(f, &a.results[0].kvs[0], next);
	if (r < 0)
		return r;
	memcpy(f->node, next, sizeof(next));
	return id_sqlite_set_note(f->local, "node", next);
}

int fleet_adopt_node(struct fleet *f)
{
	_etcd_answer_ struct etcd_answer a = {0};
	int r = know_node(f);

	if (r == 0)
		r = read_node(f, &a);
	if (r < 0 || (a.results[0].count && str_eq(a.results[0].kvs[0].value, f->node)))
		return r;
	r = write_node(f, a.results[0].count ? &a.results[0].kvs[0] : NULL, f->node);
	return r < 0 ? r : 0;
}

/* ---- presence ---- */

static int read_presence(struct fleet *f, int64_t *ret_renewed)
{
	char text[32];
	int r = id_sqlite_note(f->local, "present", text, sizeof(text));

	*ret_renewed = strtoll(text, NULL, 10);
	return r;
}

bool fleet_presence_known(struct fleet *f)
{
	int64_t renewed = 0;

	return read_presence(f, &renewed) == 0 && renewed;
}

bool fleet_presence_over(struct fleet *f)
{
	int64_t renewed = 0;

	/* A clock that was set back proves nothing either. */
	return read_presence(f, &renewed) < 0 || fleet_now(f) < renewed ||
		fleet_now(f) >= renewed + f->spec->etcd->ttl_s;
}

static int put_presence(struct fleet *f, int64_t lease)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);
	char key[FLEET_KEY];

	etcd_put(&t, ETCD_THEN, fleet_host_key(f->spec->host, key), f->node, lease);
	return fleet_commit(f, &t, &a);
}

/* The lease that the presence has, if it can be renewed as it is. */
static int renew_lease(struct fleet *f, bool *ret_done)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);
	char key[FLEET_KEY];
	int64_t lease, ttl = 0;
	int r;

	etcd_get(&t, ETCD_THEN, &(struct etcd_range){.first = fleet_host_key(f->spec->host,
		key)});
	r = fleet_commit(f, &t, &a);
	if (r < 0 || !a.results[0].count)
		return r;
	lease = a.results[0].kvs[0].lease;
	r = lease ? fleet_end(f, etcd_lease_renew(f->etcd, lease, &ttl)) : 0;
	*ret_done = r == 0 && ttl == f->spec->etcd->ttl_s;
	return r == -ENOENT ? 0 : r;
}

int fleet_renew_presence(struct fleet *f, bool force)
{
	int64_t renewed, lease, begun = fleet_now(f);
	bool done = false;
	char text[32];
	int r = read_presence(f, &renewed);

	if (r < 0)
		return r;
	if (!force && begun >= renewed && begun < renewed + f->spec->etcd->ttl_s / 4)
		return 0;
	r = renew_lease(f, &done);
	if (r == 0 && !done) {
		r = fleet_end(f, etcd_lease_grant(f->etcd, f->spec->etcd->ttl_s, &lease));
		if (r == 0)
			r = put_presence(f, lease);
	}
	if (r < 0)
		return r;
	/* From before it was asked for: it lasts at least as long as we say. */
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

/* The first word, of both, that is not the same: "rest=600s". */
static void first_difference(const char *a, const char *b, char one[80], char other[80])
{
	while (*a && *b) {
		size_t la = strcspn(a, " "), lb = strcspn(b, " ");

		if (la != lb || strncmp(a, b, la) != 0)
			break;
		a += la + (a[la] != '\0');
		b += lb + (b[lb] != '\0');
	}
	snprintf(one, 80, "%.*s", (int)strcspn(a, " "), a);
	snprintf(other, 80, "%.*s", (int)strcspn(b, " "), b);
}

int fleet_fail_definition(struct fleet *f, const struct vfctl_id_pool *pool,
	const char *theirs)
{
	_free_ char *ours = fleet_pool_text(pool);
	char one[80], other[80];

	if (!ours)
		return ctx_oom(f->base.ctx);
	first_difference(ours, theirs, one, other);
	return ctx_fail(f->base.ctx, -EINVAL, "pool %s is not the fleet's: host.yaml says %s, "
		"etcd has %s; make host.yaml the same as on the other hosts, or, to change it "
		"for all of them: vfctl guid publish", pool->name, one, other);
}

static void note_name(const struct vfctl_id_pool *pool, char buf[64])
{
	snprintf(buf, 64, "pool %s", pool->name);
}

static int know_pool(struct fleet *f, const struct vfctl_id_pool *pool)
{
	struct fleet_pool *state = fleet_pool_state(f, pool);
	_free_ char *noted = malloc(FLEET_NOTE), *text = fleet_pool_text(pool);
	char name[64], *end;
	int64_t revision;
	int r;

	if (!noted || !text)
		return ctx_oom(f->base.ctx);
	note_name(pool, name);
	r = id_sqlite_note(f->local, name, noted, FLEET_NOTE);
	revision = strtoll(noted, &end, 10);
	if (r == 0 && *end == ' ' && str_eq(end + 1, text))
		state->revision = revision;
	return r;
}

/* Etcd has it like ours, since that revision. */
static int note_pool(struct fleet *f, const struct vfctl_id_pool *pool, int64_t revision)
{
	_free_ char *text = fleet_pool_text(pool);
	_free_ char *note = text ? str_format("%" PRId64 " %s", revision, text) : NULL;
	char name[64];

	if (!note)
		return ctx_oom(f->base.ctx);
	fleet_pool_state(f, pool)->revision = revision;
	note_name(pool, name);
	return id_sqlite_set_note(f->local, name, note);
}

/* The first host that has the pool defines it. 1: mended. */
static int define_pool(struct fleet *f, const struct vfctl_id_pool *pool)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);
	_free_ char *text = fleet_pool_text(pool);
	char key[FLEET_KEY];
	int r;

	if (!text)
		return ctx_oom(f->base.ctx);
	fleet_pool_key(pool->name, key);
	etcd_if_absent(&t, key);
	etcd_put(&t, ETCD_THEN, key, text, 0);
	etcd_get(&t, ETCD_ELSE, &(struct etcd_range){.first = key});
	r = fleet_commit(f, &t, &a);
	if (r < 0)
		return r;
	if (!a.succeeded && a.results[0].count) {
		const struct etcd_kv *kv = &a.results[0].kvs[0];

		if (!str_eq(kv->value, text))
			return fleet_fail_definition(f, pool, kv->value);
		r = note_pool(f, pool, kv->modified);
	} else if (a.succeeded) {
		r = note_pool(f, pool, a.revision);
	}
	return r < 0 ? r : 1;
}

static int mend_pool(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct etcd_kv *theirs)
{
	_free_ char *text = fleet_pool_text(pool);
	int r;

	if (!text)
		return ctx_oom(f->base.ctx);
	if (!theirs)
		return define_pool(f, pool);
	if (!str_eq(theirs->value, text))
		return fleet_fail_definition(f, pool, theirs->value);
	r = note_pool(f, pool, theirs->modified);
	return r < 0 ? r : 1;
}

/* ---- the guard ---- */

int fleet_guard(struct fleet *f, struct etcd_txn *t, const struct vfctl_id_pool *pool)
{
	char key[FLEET_KEY];
	int r = know_node(f);

	if (r < 0)
		return r;
	if (!f->present && fleet_renew_presence(f, false) == 0)
		f->present = true;
	fleet_node_key(f->spec->host, key);
	etcd_if_value(t, key, f->node);
	etcd_get(t, ETCD_ELSE, &(struct etcd_range){.first = key});
	if (!pool)
		return 0;
	if (!fleet_pool_state(f, pool)->revision)
		r = know_pool(f, pool);
	if (r == 0 && !fleet_pool_state(f, pool)->revision)
		r = define_pool(f, pool);
	if (r < 0)
		return r;
	fleet_pool_key(pool->name, key);
	etcd_if_revision(t, key, fleet_pool_state(f, pool)->revision);
	etcd_get(t, ETCD_ELSE, &(struct etcd_range){.first = key});
	return 0;
}

size_t fleet_guard_results(const struct vfctl_id_pool *pool)
{
	return pool ? 2 : 1;
}

static const struct etcd_kv *only(const struct etcd_result *result)
{
	return result->count ? &result->kvs[0] : NULL;
}

int fleet_guard_check(struct fleet *f, const struct etcd_answer *a,
	const struct vfctl_id_pool *pool)
{
	const struct etcd_kv *node = only(&a->results[0]);
	const struct etcd_kv *def = pool ? only(&a->results[1]) : NULL;

	if (!node || !str_eq(node->value, f->node))
		return mend_node(f, node);
	if (pool && (!def || def->modified != fleet_pool_state(f, pool)->revision))
		return mend_pool(f, pool, def);
	return 0;
}
