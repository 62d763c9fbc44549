// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One certain value changes hands. Each change compares the revisions of what was looked
 * at; when they have moved on, it looks and decides again.
 */
#include <errno.h>

#include "state/fleet.h"
#include "vfctl/fleet.h"

#define TRIES 20

/* ---- claim ---- */

struct claim {
	struct fleet *f;
	const struct vfctl_id_pool *pool; /* whose definition is guarded; NULL */
	struct vfctl_id id;
	struct fleet_seen seen;	  /* the value's record */
	int64_t owner_revision;	  /* of the owner's key; 0 there is none */
	bool done;
};

static int write_claim(struct claim *c, struct etcd_txn *t)
{
	char key[FLEET_KEY], owner[FLEET_KEY], value[FLEET_VALUE];
	_free_ char *record = fleet_record_write(&c->id);
	int r = fleet_guard(c->f, t, c->pool);

	if (r < 0 || !record)
		return r < 0 ? r : ctx_oom(c->f->base.ctx);
	fleet_id_key(c->id.kind, c->id.value, key);
	fleet_owner_key(c->id.kind, &c->id.owner, owner);
	etcd_if_revision(t, key, c->seen.revision);
	etcd_if_revision(t, owner, c->owner_revision);
	etcd_put(t, ETCD_THEN, key, record, 0);
	etcd_put(t, ETCD_THEN, owner, fleet_value_text(c->id.value, value), 0);
	etcd_get(t, ETCD_ELSE, &(struct etcd_range){.first = key});
	etcd_get(t, ETCD_ELSE, &(struct etcd_range){.first = owner});
	return 0;
}

/* What it is now: may it be ours? 0 try so; 1 it is ours as it is; -EEXIST. */
static int decide(struct claim *c, struct vfctl_id *ret_holder)
{
	const struct vfctl_id *was = &c->seen.id;
	bool same = fleet_same_owner(&was->owner, &c->id.owner), may = false;

	if (!c->seen.there)
		return 0;
	c->id.since = fleet_now(c->f);
	switch (was->state) {
	case VFCTL_ID_LEASED:
		may = same && str_eq(was->owner.host, c->id.owner.host);
		c->id.since = was->since;
		break;
	case VFCTL_ID_RESTING:
		may = same || was->until <= fleet_now(c->f);
		break;
	case VFCTL_ID_BLOCK:
		may = str_eq(was->owner.host, c->id.owner.host);
		break;
	case VFCTL_ID_QUARANTINED:
		break;
	}
	if (!may) {
		*ret_holder = *was;
		return -EEXIST;
	}
	str_copy(c->id.pool, sizeof(c->id.pool), was->pool);
	return was->state == VFCTL_ID_LEASED && c->owner_revision && was->pkey == c->id.pkey &&
		str_eq(was->owner.domain_name, c->id.owner.domain_name);
}

static int fail_has_other(struct claim *c, uint64_t value, struct vfctl_id *ret_holder)
{
	const struct vfctl_id_owner *o = &c->id.owner;
	char text[VFCTL_ID_TEXT];

	*ret_holder = (struct vfctl_id){.value = 0};
	return ctx_fail(c->f->base.ctx, -EEXIST, "%s of %s has %s already; release that first",
		o->device, o->domain_name[0] ? o->domain_name : o->domain_uuid[0]
		? o->domain_uuid : o->host, vfctl_id_format(c->id.kind, value, text));
}

static int try_claim(struct claim *c, struct vfctl_id *ret_holder)
{
	_etcd_answer_ struct etcd_answer a = {0};
	_etcd_txn_ struct etcd_txn t = etcd_txn(c->f->etcd);
	size_t at = fleet_guard_results(c->pool);
	uint64_t has;
	int r = write_claim(c, &t);

	if (r == 0) {
		r = fleet_commit(c->f, &t, &a);
		if (r < 0 && etcd_unsure(c->f->etcd) && c->seen.id.state != VFCTL_ID_LEASED)
			mirror_doubt(c->f, &c->id);
	}
	if (r < 0)
		return r;
	c->done = a.succeeded;
	if (a.succeeded)
		return 0;
	r = fleet_guard_check(c->f, &a, c->pool);
	if (r != 0)
		return r < 0 ? r : 0;
	r = fleet_see(c->f, c->id.kind, c->id.value, &a.results[at], &c->seen);
	if (r < 0)
		return r;
	c->owner_revision = a.results[at + 1].count ? a.results[at + 1].kvs[0].modified : 0;
	if (c->owner_revision && (!fleet_value_read(a.results[at + 1].kvs[0].value,
			a.results[at + 1].kvs[0].value_len, &has) || has != c->id.value))
		return fail_has_other(c, has, ret_holder);
	r = decide(c, ret_holder);
	c->done = r == 1;
	return r < 0 ? r : 0;
}

int fleet_claim(struct fleet *f, struct vfctl_id *io, struct vfctl_id *ret_holder)
{
	struct claim c = {.f = f, .id = *io};
	int r = 0;

	if (io->pool[0])
		c.pool = fleet_pool_named(f, io->pool, io->kind);
	c.id.state = VFCTL_ID_LEASED;
	c.id.since = fleet_now(f);
	c.id.until = 0;
	c.id.pending = false;
	c.id.note[0] = '\0';
	for (int i = 0; i < TRIES && r == 0 && !c.done; i++)
		r = try_claim(&c, ret_holder);
	if (r == 0 && !c.done) {
		ret_holder->value = 0;
		r = ctx_fail(f->base.ctx, -EAGAIN, "the value changes all the time; try again");
	}
	if (r == 0)
		r = mirror_put(f, &c.id);
	if (r == 0)
		*io = c.id;
	return r;
}

/* ---- replace ---- */

/* Leased values have an owner key beside their own. */
static void drop_owner(struct etcd_txn *t, const struct vfctl_id *was)
{
	char owner[FLEET_KEY], value[FLEET_VALUE];

	if (was->state != VFCTL_ID_LEASED)
		return;
	fleet_owner_key(was->kind, &was->owner, owner);
	etcd_if_value(t, owner, fleet_value_text(was->value, value));
	etcd_delete(t, ETCD_THEN, owner);
}

static int write_replace(struct fleet *f, struct etcd_txn *t, const struct fleet_seen *seen,
	const struct vfctl_id *now, bool with_owner)
{
	char key[FLEET_KEY];
	_free_ char *record = now ? fleet_record_write(now) : NULL;
	int r = fleet_guard(f, t, NULL);

	if (r < 0 || (now && !record))
		return r < 0 ? r : ctx_oom(f->base.ctx);
	fleet_id_key(seen->id.kind, seen->id.value, key);
	etcd_if_revision(t, key, seen->revision);
	if (now)
		etcd_put(t, ETCD_THEN, key, record, 0);
	else
		etcd_delete(t, ETCD_THEN, key);
	if (seen->there && with_owner)
		drop_owner(t, &seen->id);
	etcd_get(t, ETCD_ELSE, &(struct etcd_range){.first = key});
	return 0;
}

/*
 * The same again when the record stands as it was: then it is the owner's key that does
 * not, which somebody removed by hand; it is left as it is.
 */
int fleet_replace(struct fleet *f, const struct fleet_seen *seen,
	const struct vfctl_id *now)
{
	bool with_owner = true;

	for (int i = 0; i < TRIES; i++) {
		_etcd_answer_ struct etcd_answer a = {0};
		_etcd_txn_ struct etcd_txn t = etcd_txn(f->etcd);
		size_t at = fleet_guard_results(NULL);
		int r = write_replace(f, &t, seen, now, with_owner);

		if (r == 0)
			r = fleet_commit(f, &t, &a);
		if (r < 0 || a.succeeded)
			return r < 0 ? r : 1;
		r = fleet_guard_check(f, &a, NULL);
		if (r < 0)
			return r;
		if (r == 0 && (a.results[at].count ? a.results[at].kvs[0].modified : 0) !=
				seen->revision)
			return 0;
		if (r == 0)
			with_owner = false;
	}
	return 0;
}

/* ---- release ---- */

/* Empty members of @owner are not compared. */
static bool may_release(const struct fleet *f, const struct vfctl_id *id,
	const struct vfctl_id_owner *owner)
{
	if (id->state == VFCTL_ID_QUARANTINED)
		return true;
	if (id->state != VFCTL_ID_LEASED || !fleet_is_mine(f, id))
		return false;
	return !owner || (str_eq(id->owner.domain_uuid, owner->domain_uuid) &&
		(!owner->device[0] || str_eq(id->owner.device, owner->device)));
}

static int mirror_released(struct fleet *f, const struct vfctl_id *id, bool rests)
{
	return rests ? mirror_put(f, id) : mirror_drop(f, id->kind, id->value);
}

/* 1 done; 0 it changed meanwhile. */
static int release_seen(struct fleet *f, const struct fleet_seen *seen,
	const struct vfctl_id_owner *owner, int64_t until)
{
	struct vfctl_id now = seen->id;
	bool rests = until && seen->id.state == VFCTL_ID_LEASED;
	int r;

	if (!seen->there) {
		mirror_drop(f, seen->id.kind, seen->id.value);
		return ctx_fail(f->base.ctx, -ENOENT, "nobody has it");
	}
	if (now.state == VFCTL_ID_RESTING)
		return mirror_released(f, &now, true) < 0 ? -EIO : 1;
	if (!may_release(f, &now, owner))
		return ctx_fail(f->base.ctx, -EPERM, "it is another's");
	now.state = VFCTL_ID_RESTING;
	now.since = fleet_now(f);
	now.until = until;
	r = fleet_replace(f, seen, rests ? &now : NULL);
	if (r == 1 && mirror_released(f, &now, rests) < 0)
		return -EIO;
	return r;
}

/* A lease of ours that etcd has as somebody else's: forgotten here, left alone there. */
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
	struct fleet_seen seen = f->last;
	int r = 0;

	if (!seen.there || seen.id.kind != kind || seen.id.value != value)
		seen.there = false;
	f->last.there = false;
	for (int i = 0; i < TRIES && r == 0; i++) {
		if (!seen.there)
			r = fleet_look(f, kind, value, &seen);
		if (r == 0)
			r = release_seen(f, &seen, owner, until);
		if (r == -EPERM || r == -ENOENT) {
			int forgotten = release_conflict(f, kind, value);

			r = forgotten ? forgotten : r;
		}
		seen.there = false;
	}
	return r < 0 ? r : r == 1 ? 0 : ctx_fail(f->base.ctx, -EAGAIN, "the value changes all "
		"the time; try again");
}
