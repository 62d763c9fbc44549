// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Change the owner of one given value. Each change compares the revisions of the records that it
 * read; if they have changed meanwhile, it reads them and decides again.
 */
#include <errno.h>

#include "fleet/fleet.h"
#include "fleet/fleet_internal.h"
#include "ids/owner.h"

#define TRIES 20

/* ---- lease ---- */

int fleet_lease(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct fleet_lease *l, struct etcd_answer *a)
{
	const struct vfctl_id *id = l->id;
	char key[FLEET_KEY], owner[FLEET_KEY], last[FLEET_KEY], value[FLEET_VALUE];
	_free_ char *record = fleet_record_write(id);
	_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);
	int r;

	if (!record)
		return ctx_oom(f->base.ctx);
	fleet_id_key(id->kind, id->value, key);
	fleet_owner_key(id->kind, &id->owner, owner);
	etcd_if_revision(&t, key, l->revision);
	etcd_if_revision(&t, owner, l->owner_revision);
	etcd_put(&t, key, record, 0);
	etcd_put(&t, owner, fleet_value_text(id->value, value), 0);
	etcd_get(&t, ETCD_ELSE, &(struct etcd_range){.first = owner});
	etcd_get(&t, ETCD_ELSE, &(struct etcd_range){.first = key, .limit = FLEET_WINDOW,
		.last = fleet_id_key(id->kind, l->last, last)});
	r = fleet_change(f, &t, pool, a);
	if (r < 0 && !a->results && etcd_unsure(f->etcd) && !l->had)
		unread_note(f, id);
	return r;
}

int fleet_owner_value(struct fleet *f, const struct etcd_kv *owner, uint64_t *ret_value)
{
	if (fleet_value_read(owner->value, ret_value))
		return 0;
	return ctx_fail(f->base.ctx, -EBADMSG, "%s in etcd has no valid record; remove it", owner->key);
}

/* ---- claim ---- */

struct claim {
	struct fleet *f;
	const struct vfctl_id_pool *pool; /* the pool whose definition is guarded; or NULL */
	struct vfctl_id id;
	struct fleet_seen seen; /* the value's record */
	int64_t owner_revision; /* of the owner's key; 0 if there is none */
};

/* Decide by the present record: 0: try to lease it; 1: the owner has it already; -EEXIST. */
static int decide(struct claim *c, struct vfctl_id *ret_holder)
{
	const struct vfctl_id_owner *o = &c->id.owner;
	const struct vfctl_id *was = &c->seen.id;
	const struct value_claim claim = {.kind = c->id.kind, .value = c->id.value,
		.domain_uuid = o->domain_uuid, .device = o->device, .host = o->host};
	enum value_verdict may = VALUE_FREE | VALUE_OWN | VALUE_RESERVE;
	bool leased = was->state == VFCTL_ID_LEASED;

	if (!c->seen.there)
		return 0;
	if (!(value_ask_row(was, &claim, fleet_now(c->f)) & may) ||
		(leased && !str_eq(was->owner.host, o->host))) {
		*ret_holder = *was;
		return -EEXIST;
	}
	c->id.since = leased ? was->since : fleet_now(c->f);
	str_copy(c->id.pool, sizeof(c->id.pool), was->pool);
	return leased && c->owner_revision && was->pkey == c->id.pkey &&
		str_eq(was->owner.domain_name, o->domain_name);
}

static int fail_has_other(struct claim *c, uint64_t value, struct vfctl_id *ret_holder)
{
	const struct vfctl_id_owner *o = &c->id.owner;
	char text[VFCTL_ID_TEXT];

	*ret_holder = (struct vfctl_id){.value = 0};
	return ctx_fail(c->f->base.ctx, -EEXIST, "%s of %s already has %s; release that first",
		o->device, vfctl_id_owner_name(o), vfctl_id_format(c->id.kind, value, text));
}

/* 1: done; 0: read the records again. */
static int try_claim(struct claim *c, struct vfctl_id *ret_holder)
{
	const struct fleet_lease lease = {.id = &c->id, .revision = c->seen.revision,
		.owner_revision = c->owner_revision, .last = c->id.value,
		.had = c->seen.there && c->seen.id.state == VFCTL_ID_LEASED};
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	const struct etcd_kv *owner;
	uint64_t has;
	int r = fleet_lease(c->f, c->pool, &lease, &a);

	if (r != 0)
		return r;
	owner = etcd_first(&a.results[0]);
	c->owner_revision = owner ? owner->modified : 0;
	r = fleet_see(c->f, c->id.kind, c->id.value, &a.results[1], &c->seen);
	if (r == 0 && owner)
		r = fleet_owner_value(c->f, owner, &has);
	if (r < 0)
		return r;
	if (owner && has != c->id.value)
		return fail_has_other(c, has, ret_holder);
	return decide(c, ret_holder);
}

void fleet_make_lease(const struct fleet *f, struct vfctl_id *id)
{
	id->state = VFCTL_ID_LEASED;
	id->since = fleet_now(f);
	id->until = 0;
	id->pending = false;
	id->note[0] = '\0';
}

int fleet_claim(struct fleet *f, struct vfctl_id *io, struct vfctl_id *ret_holder)
{
	struct claim c = {.f = f, .id = *io, .pool = fleet_pool_named(f, io->pool, io->kind)};
	int r = 0;

	fleet_make_lease(f, &c.id);
	for (int i = 0; i < TRIES && r == 0; i++)
		r = try_claim(&c, ret_holder);
	if (r == 0) {
		ret_holder->value = 0;
		return ctx_fail(f->base.ctx, -EAGAIN, "other hosts keep changing the value; try again");
	}
	if (r == 1)
		r = mirror_put(f, &c.id);
	if (r == 0)
		*io = c.id;
	return r;
}

/* ---- replace ---- */

/* The owner key of a leased value was written with its record, and is removed with it. */
static void write_replace(struct etcd_txn *t, const struct fleet_seen *seen, const char *record)
{
	char key[FLEET_KEY], owner[FLEET_KEY];

	fleet_id_key(seen->id.kind, seen->id.value, key);
	etcd_if_revision(t, key, seen->revision);
	if (record)
		etcd_put(t, key, record, 0);
	else
		etcd_delete(t, ETCD_THEN, key);
	if (seen->there && seen->id.state == VFCTL_ID_LEASED)
		etcd_delete(t, ETCD_THEN, fleet_owner_key(seen->id.kind, &seen->id.owner, owner));
	etcd_get(t, ETCD_ELSE, &(struct etcd_range){.first = key});
}

int fleet_replace(struct fleet *f, const struct fleet_seen *seen,
	const struct vfctl_id *now)
{
	_free_ char *record = now ? fleet_record_write(now) : NULL;

	if (now && !record)
		return ctx_oom(f->base.ctx);
	for (int i = 0; i < TRIES; i++) {
		_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
		_cleanup_(etcd_txn_clear) struct etcd_txn t = etcd_txn(f->etcd);
		const struct etcd_kv *is;
		int r;

		write_replace(&t, seen, record);
		r = fleet_change(f, &t, NULL, &a);
		if (r != 0)
			return r;
		is = etcd_first(&a.results[0]);
		/*
		 * The record is already as wanted: it was written by an earlier attempt whose
		 * answer was lost.
		 */
		if (is ? record && str_eq(is->value, record) : !record)
			return 1;
		if ((is ? is->modified : 0) != seen->revision)
			return 0;
	}
	return 0;
}

/* ---- release ---- */

bool fleet_owns(const struct vfctl_id *id, const struct vfctl_id_owner *owner)
{
	return !owner || (str_eq(id->owner.domain_uuid, owner->domain_uuid) &&
		(!owner->device[0] || str_eq(id->owner.device, owner->device)));
}

static bool may_release(const struct fleet *f, const struct vfctl_id *id,
	const struct vfctl_id_owner *owner)
{
	return id->state == VFCTL_ID_QUARANTINED || (id->state == VFCTL_ID_LEASED &&
		fleet_is_mine(f, id) && fleet_owns(id, owner));
}

/* 1: done; 0: the record changed meanwhile. */
static int release_seen(struct fleet *f, const struct fleet_seen *seen,
	const struct vfctl_id_owner *owner, int64_t until)
{
	struct vfctl_id now = seen->id;
	bool rests = until && now.state == VFCTL_ID_LEASED;
	int r = 1;

	if (!seen->there) {
		mirror_drop(f, now.kind, now.value);
		return ctx_fail(f->base.ctx, -ENOENT, "it has no owner");
	}
	if (now.state != VFCTL_ID_RESTING) {
		if (!may_release(f, &now, owner))
			return ctx_fail(f->base.ctx, -EPERM, "it belongs to another owner");
		now.state = VFCTL_ID_RESTING;
		now.since = fleet_now(f);
		now.until = until;
		r = fleet_replace(f, seen, rests ? &now : NULL);
	} else {
		rests = true;
	}
	if (r <= 0)
		return r;
	r = rests ? mirror_put(f, &now) : mirror_drop(f, now.kind, now.value);
	return r < 0 ? -EIO : 1;
}

/* A lease of this host that etcd assigns to another owner: delete it here, and keep it in etcd. */
static int release_conflict(struct fleet *f, enum vfctl_id_kind kind, uint64_t value)
{
	struct vfctl_id row;
	int r = mirror_get(f, kind, value, &row);

	if (r == 1 && vfctl_id_in_conflict(&row))
		return mirror_drop(f, kind, value) < 0 ? -EIO : 1;
	return r < 0 ? r : 0;
}

int fleet_release(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, int64_t until)
{
	struct fleet_seen seen;
	int r = 0;

	for (int i = 0; i < TRIES && r == 0; i++) {
		r = fleet_look(f, kind, value, &seen);
		if (r == 0)
			r = release_seen(f, &seen, owner, until);
		if (r == -EPERM || r == -ENOENT) {
			int forgotten = release_conflict(f, kind, value);

			r = forgotten ? forgotten : r;
		}
	}
	return r < 0 ? r : r == 1 ? 0 : ctx_fail(f->base.ctx, -EAGAIN, "other hosts keep changing the "
		"value; try again");
}
