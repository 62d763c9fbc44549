/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_STORE_H
#define VFCTL_IDS_STORE_H

#include "base/ctx.h"
#include "core/identity.h"

/*
 * Where identities are kept: this host's SQLite file, or the fleet's etcd with the former
 * as its memory. What is valid, which pool and which value an owner should get is for
 * ids/ to say; that no value goes out twice is for the store to keep, whoever else
 * works on it at the same time. Each call is one transaction.
 */
struct id_store;

/* Of a pool that says nothing about it, s. */
#define ID_REST_S 3600

/* Which free value to take. */
struct id_choice {
	const struct vfctl_id_pool *pool;
	const struct vfctl_id_owner *owner; /* for whom */
	uint64_t start; /* the lowest free one from here up, then round the pool's end */
};

struct id_store_ops {
	/*
	 * Make the pools known, all at once, so that what is leased may move from one to
	 * another: their ranges become free values but for those that have an owner or
	 * rest. The same definitions again cost one look. -EINVAL when a leased value of
	 * one of these pools would lie in none. A pool that is known but not among them
	 * keeps what it has out and gives no more. One without ranges that is to have
	 * some (VFCTL_ID_SOURCE_HOST) stays as it was.
	 */
	int (*declare)(struct id_store *s, const struct vfctl_id_pool *pools, size_t count);
	int (*find)(struct id_store *s, enum vfctl_id_kind kind, uint64_t value,
		struct vfctl_id *ret);
	/*
	 * The value that a domain's (or host's) device has of that kind; else one that it
	 * had and that rests still (ret->state says which); else -ENOENT.
	 */
	int (*find_owner)(struct id_store *s, enum vfctl_id_kind kind,
		const struct vfctl_id_owner *owner, struct vfctl_id *ret);
	/* @io says owner, kind, pool, pkey; receives the value. Same owner, same value. */
	int (*take)(struct id_store *s, const struct id_choice *choice, struct vfctl_id *io);
	/* The nth value that take() would give, to this owner. */
	int (*peek)(struct id_store *s, const struct id_choice *choice, unsigned nth,
		uint64_t *ret_value);
	/* Take @io->value. -EEXIST: *ret_holder says whose it is. */
	int (*claim)(struct id_store *s, struct vfctl_id *io, struct vfctl_id *ret_holder);
	/*
	 * Leased -> resting until @until, or free when that is 0; quarantined -> free.
	 * 0 also for one that rests; -ENOENT; -EPERM it is not @owner's (NULL: anybody's).
	 */
	int (*release)(struct id_store *s, enum vfctl_id_kind kind, uint64_t value,
		const struct vfctl_id_owner *owner, int64_t until);
	/* 1, or 0 when the value is known already. */
	int (*quarantine)(struct id_store *s, const struct vfctl_id *id);
	int (*stats)(struct id_store *s, const struct vfctl_id_pool *pool,
		struct vfctl_id_stats *ret);
	/* Values above (@kind, @after) that match, at most @max: 0 .. @max, or errno. */
	int (*page)(struct id_store *s, const struct vfctl_id_filter *filter,
		enum vfctl_id_kind kind, const uint64_t *after, struct vfctl_id *ret, size_t max);
	void (*close)(struct id_store *s);
	/*
	 * Optional, both NULL in a store that has no such thing: the calls in between
	 * become one transaction.
	 */
	int (*begin)(struct id_store *s);
	int (*end)(struct id_store *s, bool keep);
	/* Seconds that values of that pool rest, declared now or once; -ENOENT unknown. */
	int (*rest)(struct id_store *s, const char *pool, uint32_t *ret_s);
	/* Optional: pools that are declared no more and have values out; freed by caller. */
	int (*lost)(struct id_store *s, struct vfctl_id_pool **ret_pools, size_t *ret_count);
	/*
	 * Of the store that id_store_open() opens alone. note(): what was noted under that name; ""
	 * nothing (or it does not fit). put(): make the value's row as @id says, whatever it was.
	 */
	int (*note)(struct id_store *s, const char *name, char *buf, size_t size);
	int (*put)(struct id_store *s, const struct vfctl_id *id);
};

/* The first member of every store. */
struct id_store {
	const struct id_store_ops *ops;
	struct vfctl_ctx *ctx;
	int64_t now; /* seconds since 1970; 0: as the clock says. Tests set it. */
};

/*
 * The store in the context's state file, by the context's tables. @write false: nothing is made;
 * without a file it is as if all were free.
 */
int id_store_open(struct vfctl_ctx *ctx, bool write, struct id_store **ret_store);
void id_store_closep(struct id_store **store);

#endif
