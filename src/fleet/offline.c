// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The values of this host, in its own file: the only source while etcd is unreachable. Changes made
 * then are pending until a sync has reported them.
 */
#include <errno.h>

#include "fleet/fleet.h"
#include "fleet/fleet_internal.h"
#include "ids/owner.h"

bool vfctl_id_in_conflict(const struct vfctl_id *id)
{
	return id->state == VFCTL_ID_LEASED && id->pending && id->note[0];
}

/* ---- the mirror ---- */

int mirror_get(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret)
{
	_free_ char *message = steal(f->base.ctx->error);
	int r = f->local->ops->find(f->local, kind, value, ret);

	if (r == 0 || r == -ENOENT) { /* success: the previous message is kept */
		free(f->base.ctx->error);
		f->base.ctx->error = steal(message);
	}
	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

int mirror_drop(struct fleet *f, enum vfctl_id_kind kind, uint64_t value)
{
	return f->write ? id_sqlite_drop(f->local, kind, value) : 0;
}

/* Delete the former value of this owner, which was in conflict. */
static int drop_former(struct fleet *f, const struct vfctl_id *id)
{
	struct vfctl_id had;
	int r = f->local->ops->find_owner(f->local, id->kind, &id->owner, &had);

	if (r == 0 && had.state == VFCTL_ID_LEASED && had.value != id->value)
		r = id_sqlite_drop(f->local, had.kind, had.value);
	return r == -ENOENT ? 0 : r;
}

int mirror_put(struct fleet *f, const struct vfctl_id *id)
{
	int r;

	if (!f->write)
		return 0;
	if (!fleet_is_mine(f, id))
		return id_sqlite_drop(f->local, id->kind, id->value);
	r = id_sqlite_put(f->local, id);
	if (r != -EEXIST)
		return r;
	r = drop_former(f, id);
	return r < 0 ? r : id_sqlite_put(f->local, id);
}

/* ---- while etcd is unreachable ---- */

int offline_find(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret)
{
	int r = mirror_get(f, kind, value, ret);

	if (r == 0)
		return fleet_fail_away(f, "the owner of the value is unknown here");
	return r < 0 ? r : 0;
}

/* A change that is not in etcd must survive a power failure. */
static int begin_durable(struct fleet *f)
{
	if (!f->write)
		return fleet_fail_away(f, "this command only reads");
	return id_sqlite_set_durable(f->local, true);
}

static int end_durable(struct fleet *f, int r)
{
	int error = id_sqlite_set_durable(f->local, false);

	return r < 0 ? r : error < 0 ? error : r;
}

static int put_durable(struct fleet *f, const struct vfctl_id *id)
{
	int r = begin_durable(f);

	return r < 0 ? r : end_durable(f, mirror_put(f, id));
}

static int fail_conflict(struct fleet *f, const struct vfctl_id *id)
{
	char text[VFCTL_ID_TEXT];

	return ctx_fail(f->base.ctx, -EEXIST, "%s was leased here, but %s; release it here and allocate "
		"another", vfctl_id_format(id->kind, id->value, text), id->note);
}

int offline_may_take(struct fleet *f)
{
	if (!fleet_last_contact(f))
		return fleet_fail_away(f, "and this host has never reached it, so it has no reserve");
	/*
	 * Other hosts may have reclaimed the reserve of a host that did not report for that long.
	 */
	if (fleet_presence_over(f))
		return fleet_fail_away(f, "this has lasted longer than etcd.ttl, so the reserve of this "
			"host may now belong to another host");
	return 0;
}

int offline_fail_no_block(struct fleet *f)
{
	return fleet_fail_away(f, "and the reserve of this host is used up (etcd.block in host.yaml "
		"sets its size)");
}

int offline_take(struct fleet *f, const struct id_choice *choice, struct vfctl_id *io)
{
	struct vfctl_id had, id = *io;
	int r = f->local->ops->find_owner(f->local, io->kind, &io->owner, &had);

	if (r == 0 && vfctl_id_in_conflict(&had))
		return fail_conflict(f, &had);
	if (r == 0 && had.state == VFCTL_ID_LEASED) {
		*io = had;
		return 0;
	}
	r = offline_may_take(f);
	if (r == 0)
		r = begin_durable(f);
	if (r < 0)
		return r;
	fleet_warn_away(f);
	id.pending = true;
	r = end_durable(f, id_sqlite_take_block(f->local, choice, &id));
	if (r == -ENOSPC)
		return offline_fail_no_block(f);
	if (r == 0)
		*io = id;
	return r;
}

/*
 * etcd assigns the value to this host: in its reserve, as a lease, or as a release that was not
 * reported yet.
 */
static bool may_claim(const struct fleet *f, const struct vfctl_id *row,
	const struct vfctl_id *io)
{
	bool same = id_same_owner(&row->owner, &io->owner);

	switch (row->state) {
	case VFCTL_ID_LEASED:
		return same && !vfctl_id_in_conflict(row);
	case VFCTL_ID_BLOCK:
		return fleet_is_mine(f, row) && !fleet_presence_over((struct fleet *)f);
	case VFCTL_ID_RESTING:
		return same && row->pending;
	default:
		return false;
	}
}

int offline_claim(struct fleet *f, struct vfctl_id *io, struct vfctl_id *ret_holder)
{
	struct vfctl_id row, now = *io;
	int r = mirror_get(f, io->kind, io->value, &row);

	if (r < 0)
		return r;
	if (r == 1 && row.state == VFCTL_ID_LEASED && !may_claim(f, &row, io)) {
		*ret_holder = row;
		return -EEXIST;
	}
	if (r == 0 || !may_claim(f, &row, io))
		return fleet_fail_away(f, "only values in the reserve of this host can be leased now, "
			"and this value is not one of them");
	if (row.state == VFCTL_ID_LEASED && row.pkey == io->pkey) {
		*io = row;
		return 0;
	}
	now.state = VFCTL_ID_LEASED;
	now.since = row.state == VFCTL_ID_LEASED ? row.since : fleet_now(f);
	now.until = 0;
	now.pending = true;
	str_copy(now.pool, sizeof(now.pool), row.pool);
	r = put_durable(f, &now);
	if (r == 0)
		*io = now;
	return r;
}

int offline_release(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, int64_t until)
{
	struct vfctl_id row;
	int r = mirror_get(f, kind, value, &row);

	if (r <= 0)
		return r < 0 ? r : fleet_fail_away(f, "the value belongs to another host");
	if (row.state == VFCTL_ID_RESTING)
		return 0;
	if (row.state == VFCTL_ID_BLOCK || !fleet_owns(&row, owner))
		return ctx_fail(f->base.ctx, -EPERM, "it belongs to another owner");
	if (vfctl_id_in_conflict(&row))
		return mirror_drop(f, kind, value);
	if (row.state == VFCTL_ID_QUARANTINED)
		until = 0;
	row.state = VFCTL_ID_RESTING;
	row.since = fleet_now(f);
	row.until = until ? until : row.since;
	row.pending = true;
	return put_durable(f, &row);
}

int offline_quarantine(struct fleet *f, const struct vfctl_id *id)
{
	struct vfctl_id row, now = *id;
	int r = mirror_get(f, id->kind, id->value, &row);

	if (r != 0)
		return r < 0 ? r : 0;
	now.since = fleet_now(f);
	now.pending = true;
	r = put_durable(f, &now);
	return r < 0 ? r : 1;
}
