/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_IDS_SQLITE_H
#define VFCTL_STATE_IDS_SQLITE_H

#include "ids/store.h"

/*
 * What the fleet's store asks of the host's besides the common table: it keeps there what
 * this host has, and what it did while the fleet could not be reached. @s is always a
 * store that id_sqlite_open() made. Between s->ops->begin() and end() all is one
 * transaction.
 */

/*
 * The pools in the context's state file. @write false: nothing is made; without a file it
 * is as if all were free.
 */
int id_sqlite_open(struct vfctl_ctx *ctx, bool write, struct id_store **ret_store);

/* Make the value's row as @id says, whatever it was. */
int id_sqlite_put(struct id_store *s, const struct vfctl_id *id);
/* Forget the value: it is free. 0 also when it was. */
int id_sqlite_drop(struct id_store *s, enum vfctl_id_kind kind, uint64_t value);
/* 1: there are rows with @pending set; 0 none. */
int id_sqlite_any_pending(struct id_store *s);
/*
 * Lease one of the values set aside for this host (BLOCK) to @io->owner, from @choice's
 * start up and round; @io->pending is kept. Same owner, same value. -ENOSPC: none is left.
 */
int id_sqlite_take_block(struct id_store *s, const struct id_choice *choice,
	struct vfctl_id *io);

/* What was noted under that name; "" nothing (or it does not fit). */
int id_sqlite_note(struct id_store *s, const char *name, char *buf, size_t size);
int id_sqlite_set_note(struct id_store *s, const char *name, const char *value);
/*
 * Shall a change outlast a power failure once its call returns? Without, the last ones may
 * be lost, in order, and the file stays whole: enough for what etcd has as well.
 */
int id_sqlite_set_durable(struct id_store *s, bool durable);

#endif
