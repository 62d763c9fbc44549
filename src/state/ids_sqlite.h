/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_IDS_SQLITE_H
#define VFCTL_STATE_IDS_SQLITE_H

#include "ids/store.h"

/*
 * Functions of the host's store for the fleet's store, which records there the values of this host
 * and its changes while the fleet was unreachable. @s is always a store from id_sqlite_open(). All
 * calls between s->ops->begin() and end() are one transaction.
 */

/*
 * Open the pools in the context's state file. @write false: create nothing; without a file all
 * values are free.
 */
int id_sqlite_open(struct vfctl_ctx *ctx, bool write, struct id_store **ret_store);

/* Set the value's row to @id, whatever it was. */
int id_sqlite_put(struct id_store *s, const struct vfctl_id *id);
/* Delete the value's row, so that it is free. 0 also if there was none. */
int id_sqlite_drop(struct id_store *s, enum vfctl_id_kind kind, uint64_t value);
/* 1: there are rows with @pending set, or notes of changes without an answer; 0: there are none. */
int id_sqlite_any_pending(struct id_store *s);
/*
 * Lease one of the values in the reserve of this host (BLOCK) to @io->owner, from @choice's start
 * up and then from the beginning; @io->pending is kept. The same owner gets the same value.
 * -ENOSPC: none is left.
 */
int id_sqlite_take_block(struct id_store *s, const struct id_choice *choice,
	struct vfctl_id *io);

/* Read a note by its name; "" if there is none (or it does not fit). */
int id_sqlite_note(struct id_store *s, const char *name, char *buf, size_t size);
int id_sqlite_set_note(struct id_store *s, const char *name, const char *value);
int id_sqlite_drop_note(struct id_store *s, const char *name);
/* Prefix of the names of notes about changes without an answer from etcd (fleet/unread.c). */
#define ID_NOTE_UNREAD "unread "
/*
 * 1 and the first of these notes after the name @io, with its value; 0 if there is none. Begin with
 * @io empty.
 */
int id_sqlite_next_unread(struct id_store *s, char *io, size_t size, char *value,
	size_t value_size);
/*
 * Whether a change must survive a power failure once its call returns. If not, the last changes may
 * be lost, in order, and the file stays intact; that is enough for values that etcd also has.
 */
int id_sqlite_set_durable(struct id_store *s, bool durable);

#endif
