// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A lease was requested and etcd's answer did not come: the command failed, and etcd may carry the
 * request out nevertheless, even later. The note names the key of the owner, because several
 * commands of one host may have requested the same value for different owners.
 */
#include <stdio.h>

#include "fleet/fleet_internal.h"
#include "fleet/store.h"
#include "ids/owner.h"
#include "ids/pools.h"

#define NOTE_NAME (FLEET_KEY + sizeof(ID_NOTE_UNREAD))

void unread_note(struct fleet *f, const struct vfctl_id *id)
{
	_free_ char *message = steal(f->base.ctx->error);
	char key[FLEET_KEY], name[NOTE_NAME];

	if (f->write && fleet_is_mine(f, id)) {
		snprintf(name, sizeof(name), ID_NOTE_UNREAD "%s",
			fleet_owner_key(id->kind, &id->owner, key));
		id_sqlite_set_note(f->local, name, vfctl_id_kind_name(id->kind));
	}
	ctx_fail(f->base.ctx, 0, "%s", message ? message : "");
}

/* 1: etcd has a lease for that key that this host does not have; 0: it has not. */
static int is_unknown(struct fleet *f, enum vfctl_id_kind kind, const char *key,
	struct fleet_seen *ret)
{
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	struct vfctl_id row;
	char theirs[FLEET_KEY];
	uint64_t value;
	int r = fleet_read(f, key, &a);

	if (r < 0 || !etcd_first(&a.results[0]))
		return r;
	r = fleet_owner_value(f, etcd_first(&a.results[0]), &value);
	if (r == 0)
		r = fleet_look(f, kind, value, ret);
	if (r < 0 || !ret->there || ret->id.state != VFCTL_ID_LEASED || !fleet_is_mine(f, &ret->id) ||
		!str_eq(fleet_owner_key(kind, &ret->id.owner, theirs), key))
		return r;
	/* A later command may have received the same value, and released it again. */
	r = mirror_get(f, kind, value, &row);
	return r < 0 ? r : r == 0 || !id_same_owner(&row.owner, &ret->id.owner);
}

static int undo(struct fleet *f, enum vfctl_id_kind kind, const char *name, size_t *io_undone)
{
	struct fleet_seen seen;
	int r;

	etcd_begin(f->etcd); /* each value has its own deadline */
	r = is_unknown(f, kind, name + strlen(ID_NOTE_UNREAD), &seen);
	if (r == 1) {
		r = fleet_replace(f, &seen, NULL);
		if (r <= 0)
			return r; /* 0: it changed meanwhile; the next sync handles it */
		*io_undone += 1;
	}
	return r < 0 ? r : id_sqlite_drop_note(f->local, name);
}

int unread_undo(struct fleet *f, size_t *io_undone)
{
	char name[NOTE_NAME] = "", kind[16];
	int r;

	while ((r = id_sqlite_next_unread(f->local, name, sizeof(name), kind, sizeof(kind))) == 1) {
		r = undo(f, str_eq(kind, vfctl_id_kind_name(VFCTL_ID_MAC)) ? VFCTL_ID_MAC
			: VFCTL_ID_GUID, name, io_undone);
		if (r < 0)
			return r;
	}
	return r;
}
