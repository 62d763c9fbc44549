/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FLEET_FLEET_INTERNAL_H
#define VFCTL_FLEET_FLEET_INTERNAL_H

#include "fleet/etcd.h"
#include "fleet/record.h"
#include "ids/store.h"
#include "state/ids_sqlite.h"

/*
 * The fleet's store; its parts are store.c (open, read), guard.c (registration and pool
 * definitions), propose.c, take.c, search.c, claim.c, offline.c, sync.c and admin.c.
 */
#define FLEET_NODE 48

struct fleet_pool {
	/*
	 * The probable next free value of a pool that allocates the lowest first; valid until
	 * hint_until.
	 */
	uint64_t hint;
	int64_t hint_until;
	bool block_checked;
	/* propose.c: the lowest free values that were found, in ascending order. */
	uint64_t *ahead;
	size_t ahead_count;
	bool ahead_all; /* these are all */
	int64_t ahead_until;
};

/* A value's record and its revision, to compare with in the next transaction. */
struct fleet_seen {
	bool there;
	int64_t revision;
	struct vfctl_id id;
};

struct fleet {
	struct id_store base; /* first member */
	const struct vfctl_host_spec *spec;
	struct id_store *local;
	struct etcd *etcd;
	bool write;
	const struct vfctl_id_pool *pools;
	struct fleet_pool *state; /* one for each pool */
	size_t pool_count;
	char node[FLEET_NODE]; /* "INSTANCE EPOCH"; "" if it was not read yet */
	bool present; /* the presence was renewed recently */
	bool adopt; /* take over a registration of this name by another instance (state file lost) */
	/* While etcd is unreachable, no request is sent before this time (CLOCK_MONOTONIC, s). */
	int64_t away_until;
	int away_error;
	char *away_text;
	bool away_told;
	unsigned random;
	unsigned skip; /* this many of a pool's first free values are left for other hosts to propose */
};

static inline struct fleet *fleet_of(struct id_store *s)
{
	return (struct fleet *)s;
}

int64_t fleet_now(const struct fleet *f);
struct fleet_pool *fleet_pool_state(struct fleet *f, const struct vfctl_id_pool *pool);
unsigned fleet_random(struct fleet *f, unsigned below); /* @below must not be 0 */
bool fleet_is_mine(const struct fleet *f, const struct vfctl_id *id);

/* ---- whether etcd is reachable ---- */

/* Begin a call. 0; or an error of etcd_is_away() if etcd was unreachable a moment ago. */
int fleet_begin(struct fleet *f);
/* etcd_commit() that remembers if etcd is unreachable. */
int fleet_commit(struct fleet *f, struct etcd_txn *t, struct etcd_answer *a);
int fleet_end(struct fleet *f, int r); /* record the outcome of other calls of the client */
/* Log once that etcd is unreachable, when a value is served from this host. */
void fleet_warn_away(struct fleet *f);
/* Append "etcd is away" and the reason to the message of a request that needs etcd. */
int fleet_fail_away(struct fleet *f, const char *what);

/* ---- guards: guard.c ---- */

/*
 * Carry out a change, if this host is registered and @pool (NULL: none) is defined as here. This
 * prevents changes of another machine of the same name, and late changes of a call that gave up
 * (see fleet_fence()). 1: done; 0: not done, and @a has the ELSE branch, in which the guard's
 * results are last. If the guard failed, the cause is corrected.
 */
int fleet_change(struct fleet *f, struct etcd_txn *t, const struct vfctl_id_pool *pool,
	struct etcd_answer *a);
/* Prevent all transactions that were sent before from being carried out later. */
int fleet_fence(struct fleet *f);
/* Renew the presence; @force: even if it was renewed recently. */
int fleet_renew_presence(struct fleet *f, bool force);
/* Whether the presence has expired, as far as this host knows. */
bool fleet_presence_over(struct fleet *f);
/* When the presence was last renewed; 0: never, as far as known. */
int64_t fleet_last_contact(struct fleet *f);
const struct vfctl_id_pool *fleet_pool_named(const struct fleet *f, const char *name,
	enum vfctl_id_kind kind);

/* ---- reading ---- */

/* Convert a key's value to a record. */
int fleet_read_kv(struct fleet *f, enum vfctl_id_kind kind, const struct etcd_kv *kv,
	struct vfctl_id *ret);
/* Read the value's record and revision. */
int fleet_look(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	struct fleet_seen *ret);
/* The same from the result of an etcd_get() of one id. */
int fleet_see(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	const struct etcd_result *result, struct fleet_seen *ret);
/* Read the value of a key: @a->results[0]. */
int fleet_read(struct fleet *f, const char *key, struct etcd_answer *a);
/* 1: the key has that value now; 0: its revision was different (0: it existed already). */
/* -EINVAL with a message: etcd has another definition of this pool than host.yaml. */
int fleet_compare_pool(struct fleet *f, const struct vfctl_id_pool *pool);
int fleet_put_if(struct fleet *f, const char *key, int64_t revision, const char *value);

/* Call each() for records in ascending order until it returns other than 0; that is returned. */
struct fleet_walk {
	enum vfctl_id_kind kind;
	uint64_t first, last;
	int64_t since; /* only records that changed at or after that revision */
	bool in_time;  /* all pages within the present deadline; else each page has its own */
	int (*each)(void *data, const struct vfctl_id *id);
	void *data;
};
#define FLEET_PAGE 256
int fleet_walk(struct fleet *f, const struct fleet_walk *w);
/* Do the same for all GUIDs and MACs. */
int fleet_walk_all(struct fleet *f, int64_t since,
	int (*each)(void *data, const struct vfctl_id *id), void *data);

/* ---- free values: search.c ---- */

struct fleet_spot {
	uint64_t value;
	int64_t revision; /* of a record whose cooldown is over, which is to be replaced;
			     0: none */
};
/*
 * Find free values: the first one from @start up and then from the beginning, others close above
 * it. Returns their number, 1 .. @max, or -ENOSPC with a message.
 */
int fleet_search(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t start,
	struct fleet_spot *ret, size_t max);
/* Find free values among the records of first..last with which @result begins: 0 .. @max. */
int fleet_spots_in(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t first,
	uint64_t last, const struct etcd_result *result, struct fleet_spot *ret, size_t max);
#define FLEET_WINDOW 64
int fleet_count(struct fleet *f, const struct vfctl_id_pool *pool, struct vfctl_id_stats *ret);

/* ---- proposed values: propose.c ---- */

/*
 * The owner's value, or else a free one; @nth 0, 1, ... are different ones. While etcd is
 * unreachable, it comes from this host's reserve. -EEXIST with a message: the owner has one on
 * another host.
 */
int fleet_propose(struct fleet *f, const struct id_choice *choice, unsigned nth, uint64_t *ret);
/*
 * Another host got a proposed value. Also called when the pools are opened, as often as the context
 * counted it.
 */
void fleet_collided(struct fleet *f);
void fleet_spread(struct fleet *f);
void fleet_pools_clear(struct fleet *f);

/* ---- changing ---- */

/* Lease a value to an owner, in place of its present record. */
struct fleet_lease {
	const struct vfctl_id *id;
	int64_t revision, owner_revision; /* of the value's record and the owner's key; 0:
					     none */
	uint64_t last;
	bool had; /* it is already leased to the owner, so an unknown outcome does not matter */
};
/* 1: done; 0: not done, and @a has the owner's key, then the records from the value to @last. */
int fleet_lease(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct fleet_lease *l, struct etcd_answer *a);
void fleet_make_lease(const struct fleet *f, struct vfctl_id *id);
/* The value that an owner's key names. */
int fleet_owner_value(struct fleet *f, const struct etcd_kv *owner, uint64_t *ret_value);
/* Empty members of @owner are not compared; NULL matches every owner. */
bool fleet_owns(const struct vfctl_id *id, const struct vfctl_id_owner *owner);

/* Set @io to etcd's state: one value for @io->owner. */
int fleet_take(struct fleet *f, const struct id_choice *choice, struct vfctl_id *io);
int fleet_claim(struct fleet *f, struct vfctl_id *io, struct vfctl_id *ret_holder);
int fleet_release(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, int64_t until);
/*
 * Replace the record by @now (NULL: free) if it is still as in @seen. 1: done (or it is already
 * so); 0: it has changed.
 */
int fleet_replace(struct fleet *f, const struct fleet_seen *seen,
	const struct vfctl_id *now);
/* Fill the host's reserve if it has fewer than @least values. */
int fleet_fill_block(struct fleet *f, const struct vfctl_id_pool *pool, unsigned least,
	unsigned *ret_added);
/* Fill it if it is below half; failures are only logged. */
void fleet_top_up(struct fleet *f, const struct vfctl_id_pool *pool);

/* ---- this host's own record: offline.c ---- */

int offline_find(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret);
/* 0, or an error with a message: why this host may not use values of its reserve. */
int offline_may_take(struct fleet *f);
int offline_fail_no_block(struct fleet *f);
int offline_take(struct fleet *f, const struct id_choice *choice, struct vfctl_id *io);
int offline_claim(struct fleet *f, struct vfctl_id *io, struct vfctl_id *ret_holder);
int offline_release(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, int64_t until);
int offline_quarantine(struct fleet *f, const struct vfctl_id *id);
/* 1 and the host's row, or 0. */
int mirror_get(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret);
/*
 * Update the host's record to etcd's state: store @id if it belongs to this host, else delete it.
 */
int mirror_put(struct fleet *f, const struct vfctl_id *id);
int mirror_drop(struct fleet *f, enum vfctl_id_kind kind, uint64_t value);

/* ---- leases whose answer was lost: unread.c ---- */

/* Record that etcd may have leased the value: if it did, the next sync releases it. */
void unread_note(struct fleet *f, const struct vfctl_id *id);
/*
 * Release the values that etcd leased without an answer to this host; call it after fleet_fence().
 * Adds to @io_undone.
 */
int unread_undo(struct fleet *f, size_t *io_undone);

#endif
