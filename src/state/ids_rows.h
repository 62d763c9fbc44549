/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_IDS_ROWS_H
#define VFCTL_STATE_IDS_ROWS_H

#include "ids/store.h"
#include "state/sqlite.h"

/*
 * The two tables behind pools: values with an owner (identity), and free values, as intervals
 * (pool_free). A value in a declared pool's ranges is in exactly one of them.
 */

/* SQLite's integers are signed; with the top bit flipped they sort like unsigned numbers. */
static inline int64_t id_pack(uint64_t value)
{
	return (int64_t)(value ^ (UINT64_C(1) << 63));
}
static inline uint64_t id_unpack(int64_t value)
{
	return (uint64_t)value ^ (UINT64_C(1) << 63);
}

/* ---- free intervals ---- */

/* Mark first..last as free, joined with adjacent intervals. */
int free_add(struct db *db, const char *pool, uint64_t first, uint64_t last);
/* 1: it was free and is now removed; 0: it was not free. */
int free_remove(struct db *db, const char *pool, uint64_t value);
/* The lowest free value from @start up: 1, or 0 if there is none. */
int free_from(struct db *db, const char *pool, uint64_t start, uint64_t *ret_value);
/* The pool that has this value among its free values: 1, or 0 if there is none. */
int free_pool_of(struct db *db, enum vfctl_id_kind kind, uint64_t value,
	char ret_pool[VFCTL_ID_NAME_MAX + 1]);

/* ---- rows ---- */

#define ID_COLUMNS \
	"kind, value, pool, state, host, domain_uuid, domain_name, device, pkey, since, " \
	"until, pending, note"

/* "d UUID DEVICE" or "h HOST DEVICE": unique among the leased values of a kind. */
#define ID_OWNER_TEXT 256
char *id_owner_key(const struct vfctl_id_owner *owner, char buf[ID_OWNER_TEXT]);

/* Read the present row of a query of ID_COLUMNS. */
void id_read(struct query *q, struct vfctl_id *ret);
/* 1 and the row, or 0. */
int row_get(struct db *db, enum vfctl_id_kind kind, uint64_t value, struct vfctl_id *ret);
/*
 * Change the row of a value: @was (NULL: it was free or in no pool) becomes @now (NULL: it is
 * free). Counts and free intervals are updated. The pool of a new row becomes "" when that pool has
 * ranges and the value is not free in them.
 */
int row_change(struct db *db, const struct vfctl_id *was, struct vfctl_id *now);
/* The column of the table pool that counts the values in a state. */
const char *row_count_column(enum vfctl_id_state state);

#endif
