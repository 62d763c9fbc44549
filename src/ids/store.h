/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_STORE_H
#define VFCTL_IDS_STORE_H

#include "base/ctx.h"
#include "types/identity.h"

/*
 * The storage of identities: this host's SQLite file, or the fleet's etcd with that file as a local
 * record. The code in ids/ decides what is valid, and which pool and value an owner gets. The store
 * ensures that no value is allocated twice, even with concurrent processes. Each call is one
 * transaction.
 */
struct id_store;

/* Cooldown of a pool that states none, in seconds. */
#define ID_REST_S 3600

/* Which free value to allocate. */
struct id_choice {
	const struct vfctl_id_pool *pool;
	const struct vfctl_id_owner *owner; /* the future owner */
	uint64_t start; /* the lowest free value from here up, and then from the pool's beginning */
};

struct id_store_ops {
	/*
	 * Declare all pools at once, so that leased values can move from one to another. The values
	 * of their ranges become free, except those with an owner or in a cooldown. Repeating the
	 * same definitions costs one look-up. -EINVAL when a leased value of one of these pools
	 * would be in no pool. A known pool that is not among them keeps its allocated values and
	 * allocates no more. A pool whose ranges are not known yet (VFCTL_ID_SOURCE_HOST) is not
	 * changed.
	 */
	int (*declare)(struct id_store *s, const struct vfctl_id_pool *pools, size_t count);
	int (*find)(struct id_store *s, enum vfctl_id_kind kind, uint64_t value,
		struct vfctl_id *ret);
	/*
	 * The value of that kind of a domain's (or host's) device; or else one in its cooldown
	 * (ret->state tells which); or else -ENOENT.
	 */
	int (*find_owner)(struct id_store *s, enum vfctl_id_kind kind,
		const struct vfctl_id_owner *owner, struct vfctl_id *ret);
	/*
	 * @io has owner, kind, pool and pkey, and receives the value. The same owner gets the same
	 * value.
	 */
	int (*take)(struct id_store *s, const struct id_choice *choice, struct vfctl_id *io);
	/* The nth value that take() would allocate to this owner. */
	int (*peek)(struct id_store *s, const struct id_choice *choice, unsigned nth,
		uint64_t *ret_value);
	/* Allocate @io->value. -EEXIST: *ret_holder has the present owner. */
	int (*claim)(struct id_store *s, struct vfctl_id *io, struct vfctl_id *ret_holder);
	/*
	 * A leased value: cooldown until @until, or free if that is 0; a quarantined one: free.
	 * 0 also for one in its cooldown; -ENOENT; -EPERM it does not belong to @owner (NULL: any
	 * owner).
	 */
	int (*release)(struct id_store *s, enum vfctl_id_kind kind, uint64_t value,
		const struct vfctl_id_owner *owner, int64_t until);
	/* 1, or 0 if the value is already known. */
	int (*quarantine)(struct id_store *s, const struct vfctl_id *id);
	int (*stats)(struct id_store *s, const struct vfctl_id_pool *pool,
		struct vfctl_id_stats *ret);
	/*
	 * Values above (@kind, @after) that match, at most @max of them: returns 0 .. @max, or an
	 * errno.
	 */
	int (*page)(struct id_store *s, const struct vfctl_id_filter *filter,
		enum vfctl_id_kind kind, const uint64_t *after, struct vfctl_id *ret, size_t max);
	void (*close)(struct id_store *s);
	/*
	 * Optional, both NULL in a store without transactions: the calls in between become one
	 * transaction.
	 */
	int (*begin)(struct id_store *s);
	int (*end)(struct id_store *s, bool keep);
	/* Cooldown in seconds of a pool that is or was declared; -ENOENT if it is unknown. */
	int (*rest)(struct id_store *s, const char *pool, uint32_t *ret_s);
	/*
	 * Optional: pools that are no longer declared and still have allocated values; freed by the
	 * caller.
	 */
	int (*lost)(struct id_store *s, struct vfctl_id_pool **ret_pools, size_t *ret_count);
	/*
	 * For the store that id_store_open() opens. note(): read a note by its name; "" if there is
	 * none (or it does not fit). put(): set the value's row to @id, whatever it was.
	 */
	int (*note)(struct id_store *s, const char *name, char *buf, size_t size);
	int (*put)(struct id_store *s, const struct vfctl_id *id);
};

/* First member of every store. */
struct id_store {
	const struct id_store_ops *ops;
	struct vfctl_ctx *ctx;
	int64_t now; /* seconds since 1970; 0: use the clock. Tests set it. */
};

/*
 * Open the store in the context's state file, through the context's tables. @write false: create
 * nothing; without a file all values are free.
 */
int id_store_open(struct vfctl_ctx *ctx, bool write, struct id_store **ret_store);
void id_store_closep(struct id_store **store);

#endif
