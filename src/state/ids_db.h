/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_IDS_DB_H
#define VFCTL_STATE_IDS_DB_H

#include "ids/store.h"
#include "state/file.h"
#include "state/sqlite.h"

/* The host's store; its parts are ids_sqlite.c, ids_declare.c and ids_rows.c. */
struct ids_db {
	struct id_store base; /* first: it is handed out as this */
	struct db *db;
	bool write;
	unsigned depth; /* of begin() within begin() */
	/* The tables know the pools as they were declared to us; false only for a reader. */
	bool declared;
};

/* Values whose rest is over that one take() brings back; it must not pay for all. */
#define IDS_EXPIRE_BATCH 32

static inline struct ids_db *ids_db_of(struct id_store *s)
{
	return (struct ids_db *)s;
}

int64_t ids_db_now(const struct ids_db *s);
int ids_db_begin(struct id_store *s);
/* Commit, or undo; @r is what led here. Returns @r, or why the commit failed. */
int ids_db_finish(struct ids_db *s, int r);

int ids_db_declare(struct id_store *s, const struct vfctl_id_pool *pools, size_t count);
int ids_db_peek(struct id_store *s, const struct id_choice *choice, unsigned nth,
	uint64_t *ret_value);
int ids_db_rest(struct id_store *s, const char *pool, uint32_t *ret_s);
int ids_db_lost(struct id_store *s, struct vfctl_id_pool **ret_pools, size_t *ret_count);
int ids_db_stats(struct id_store *s, const struct vfctl_id_pool *pool,
	struct vfctl_id_stats *ret);
/* -ENOSPC: what its values are, and what helps. @chosen: of those that are free, by this change. */
int ids_db_fail_exhausted(struct ids_db *s, const struct vfctl_id_pool *pool, unsigned chosen);

#endif
