/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_IDS_H
#define VFCTL_STATE_IDS_H

#include "base/ctx.h"
#include "vfctl/identity.h"

/*
 * Where identities are kept: this host's SQLite file, or the fleet's etcd with the former
 * as its memory. What is valid, which pool and which value an owner should get is for
 * identity/ to say; that no value goes out twice is for the store to keep, whoever else
 * works on it at the same time. Each call is one transaction.
 */
struct id_store;

/* Which free value to take. */
struct id_choice {
	const struct vfctl_id_pool *pool;
	uint64_t start; /* the lowest free one from here up, then round the pool's end */
};

struct id_store_ops {
	/*
	 * Make a pool known: its ranges become free values but for those that have an
	 * owner or rest. The same definition again costs one look. -EINVAL when a leased
	 * value of the pool would lie outside.
	 */
	int (*declare)(struct id_store *s, const struct vfctl_id_pool *pool);
	int (*find)(struct id_store *s, enum vfctl_id_kind kind, uint64_t value,
		struct vfctl_id *ret);
	/* The value that a domain's (or host's) device has of that kind, or -ENOENT. */
	int (*find_owner)(struct id_store *s, enum vfctl_id_kind kind,
		const struct vfctl_id_owner *owner, struct vfctl_id *ret);
	/* @io says owner, kind, pool, pkey; receives the value. Same owner, same value. */
	int (*take)(struct id_store *s, const struct id_choice *choice, struct vfctl_id *io);
	/* The nth value that take() would give. */
	int (*peek)(struct id_store *s, const struct id_choice *choice, unsigned nth,
		uint64_t *ret_value);
	/* Take @io->value. -EEXIST: *ret_holder says whose it is. */
	int (*claim)(struct id_store *s, struct vfctl_id *io, struct vfctl_id *ret_holder);
	/* Leased -> resting until @until, or free when that is 0. */
	int (*release)(struct id_store *s, enum vfctl_id_kind kind, uint64_t value,
		const struct vfctl_id_owner *owner, int64_t until);
	int (*quarantine)(struct id_store *s, const struct vfctl_id *id);
	int (*stats)(struct id_store *s, const struct vfctl_id_pool *pool,
		struct vfctl_id_stats *ret);
	/* Values above (@kind, @after) that match, at most @max: 0 .. @max, or errno. */
	int (*page)(struct id_store *s, const struct vfctl_id_filter *filter,
		enum vfctl_id_kind kind, const uint64_t *after, struct vfctl_id *ret, size_t max);
	void (*close)(struct id_store *s);
};

/* The first member of every store. */
struct id_store {
	const struct id_store_ops *ops;
	struct vfctl_ctx *ctx;
};

/* The pools in the context's state file. @write false: -ENOENT when there is none. */
int id_sqlite_open(struct vfctl_ctx *ctx, bool write, struct id_store **ret_store);

#endif
