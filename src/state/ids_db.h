/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_IDS_DB_H
#define VFCTL_STATE_IDS_DB_H

#include "ids/store.h"
#include "state/file.h"
#include "state/sqlite.h"

/* The host's store of identities; its parts are ids_sqlite.c, ids_declare.c and ids_rows.c. */
struct ids_db {
	struct id_store base; /* first member: callers get a pointer to it */
	struct db *db;
	bool write;
	unsigned depth; /* nesting depth of begin() */
	/* The tables contain the pools as they are declared; false only for a reader. */
	bool declared;
};

/*
 * Number of values with an expired cooldown that one take() frees; a single call should not free
 * all of them.
 */
#define IDS_EXPIRE_BATCH 32

static inline struct ids_db *ids_db_of(struct id_store *s)
{
	return (struct ids_db *)s;
}

int64_t ids_db_now(const struct ids_db *s);
int ids_db_begin(struct id_store *s);
/* Commit or roll back; @r is the result so far. Returns @r, or why the commit failed. */
int ids_db_finish(struct ids_db *s, int r);

int ids_db_declare(struct id_store *s, const struct vfctl_id_pool *pools, size_t count);
int ids_db_peek(struct id_store *s, const struct id_choice *choice, unsigned nth,
	uint64_t *ret_value);
int ids_db_rest(struct id_store *s, const char *pool, uint32_t *ret_s);
int ids_db_lost(struct id_store *s, struct vfctl_id_pool **ret_pools, size_t *ret_count);
int ids_db_stats(struct id_store *s, const struct vfctl_id_pool *pool,
	struct vfctl_id_stats *ret);
/*
 * -ENOSPC: the states of the pool's values, and a remedy. @chosen: how many free values this change
 * has chosen.
 */
int ids_db_fail_exhausted(struct ids_db *s, const struct vfctl_id_pool *pool, unsigned chosen);

#endif
