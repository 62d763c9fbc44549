/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FLEET_FLEET_H
#define VFCTL_FLEET_FLEET_H

#include "fleet/etcd.h"
#include "fleet/record.h"
#include "ids/store.h"
#include "state/ids_sqlite.h"

/*
 * The fleet's store; its parts are store.c (open, look), guard.c (who we are and what the
 * pools are), propose.c, take.c, search.c, claim.c, offline.c, sync.c and admin.c.
 */
#define FLEET_NODE 48

struct fleet_pool {
	/* Where the next free value is likely, of the lowest-first kind; until hint_until. */
	uint64_t hint;
	int64_t hint_until;
	bool block_checked;
	/* propose.c: the lowest free values, in their order, as they were looked at. */
	uint64_t *ahead;
	size_t ahead_count;
	bool ahead_all; /* there are no more */
	int64_t ahead_until;
};

/* Something to compare with in the next transaction. */
struct fleet_seen {
	bool there;
	int64_t revision;
	struct vfctl_id id;
};

struct fleet {
	struct id_store base; /* first */
	const struct vfctl_host_spec *spec;
	struct id_store *local;
	struct etcd *etcd;
	bool write;
	const struct vfctl_id_pool *pools;
	struct fleet_pool *state; /* of each */
	size_t pool_count;
	char node[FLEET_NODE]; /* "INSTANCE EPOCH"; "" not read yet */
	bool present; /* the presence is known to be fresh */
	bool adopt; /* take over a registration of this name that is not ours (state file lost) */
	/* While etcd is away nobody asks it again before that (CLOCK_MONOTONIC, s). */
	int64_t away_until;
	int away_error;
	char *away_words;
	bool away_told;
	unsigned random;
	unsigned skip; /* so many of a pool's first free values are not proposed: others do */
};

static inline struct fleet *fleet_of(struct id_store *s)
{
	return (struct fleet *)s;
}

int64_t fleet_now(const struct fleet *f);
struct fleet_pool *fleet_pool_state(struct fleet *f, const struct vfctl_id_pool *pool);
unsigned fleet_random(struct fleet *f, unsigned below); /* @below is not 0 */
bool fleet_is_mine(const struct fleet *f, const struct vfctl_id *id);

/* ---- whether etcd is there ---- */

/* A call of ours begins. 0; or an error of etcd_is_away(): it was away a moment ago. */
int fleet_begin(struct fleet *f);
/* etcd_commit(), which remembers when it is away. */
int fleet_commit(struct fleet *f, struct etcd_txn *t, struct etcd_answer *a);
int fleet_end(struct fleet *f, int r); /* the outcome of other calls of the client */
/* A value served from here, or the words why not: says once that etcd is away. */
void fleet_warn_away(struct fleet *f);
/* Put "etcd is away" and why behind what could not be done without. */
int fleet_fail_away(struct fleet *f, const char *what);

/* ---- guards: guard.c ---- */

/*
 * Carry out a change, if this host is registered, and @pool (NULL: none) is defined as here.
 * So one made by another machine of the same name, or left behind by a call that gave up
 * (see fleet_fence()), is not carried out.
 * 1 done; 0 not: @a has the ELSE branch, the guard's last; if it was the guard, that is mended.
 */
int fleet_change(struct fleet *f, struct etcd_txn *t, const struct vfctl_id_pool *pool,
	struct etcd_answer *a);
/* From now on no transaction that was sent before is carried out. */
int fleet_fence(struct fleet *f);
/* The presence lasts on; @force: also when it is fresh. */
int fleet_renew_presence(struct fleet *f, bool force);
/* Has the presence ended, as far as this host can tell? */
bool fleet_presence_over(struct fleet *f);
/* When the presence was renewed; 0 never, as far as is known. */
int64_t fleet_last_contact(struct fleet *f);
const struct vfctl_id_pool *fleet_pool_named(const struct fleet *f, const char *name,
	enum vfctl_id_kind kind);

/* ---- looking ---- */

/* Make a record of a key's value. */
int fleet_read_kv(struct fleet *f, enum vfctl_id_kind kind, const struct etcd_kv *kv,
	struct vfctl_id *ret);
/* The value's record and revision. */
int fleet_look(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	struct fleet_seen *ret);
/* Of the result of an etcd_get() of one id. */
int fleet_see(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	const struct etcd_result *result, struct fleet_seen *ret);
/* What stands under that key: @a->results[0]. */
int fleet_read(struct fleet *f, const char *key, struct etcd_answer *a);
/* 1 the key has that value; 0 its revision was not that one (0: it was there already). */
/* -EINVAL, in words: etcd has another definition of this pool than host.yaml. */
int fleet_compare_pool(struct fleet *f, const struct vfctl_id_pool *pool);
int fleet_put_if(struct fleet *f, const char *key, int64_t revision, const char *value);

/* Records in their order: each(), until it returns other than 0; that is returned. */
struct fleet_walk {
	enum vfctl_id_kind kind;
	uint64_t first, last;
	int64_t since; /* only what changed at or after that revision */
	bool in_time;  /* within the deadline of now; else each page has its own */
	int (*each)(void *data, const struct vfctl_id *id);
	void *data;
};
#define FLEET_PAGE 256
int fleet_walk(struct fleet *f, const struct fleet_walk *w);
/* The same for all GUIDs and MACs. */
int fleet_walk_all(struct fleet *f, int64_t since,
	int (*each)(void *data, const struct vfctl_id *id), void *data);

/* ---- free values: search.c ---- */

struct fleet_spot {
	uint64_t value;
	int64_t revision; /* of a record whose rest is over, which is to be replaced; 0 none */
};
/*
 * Free values, the first from @start up and round, others near behind it: how many,
 * 1 .. @max. -ENOSPC with words.
 */
int fleet_search(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t start,
	struct fleet_spot *ret, size_t max);
/* Among the records of first..last that @result begins: 0 .. @max. */
int fleet_spots_in(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t first,
	uint64_t last, const struct etcd_result *result, struct fleet_spot *ret, size_t max);
#define FLEET_WINDOW 64
int fleet_count(struct fleet *f, const struct vfctl_id_pool *pool, struct vfctl_id_stats *ret);

/* ---- what would be taken: propose.c ---- */

/*
 * The owner's value; else a free one, of @nth 0, 1, ... different ones. While etcd is away, from
 * this host's block. -EEXIST, in words: the owner has one on another host.
 */
int fleet_propose(struct fleet *f, const struct id_choice *choice, unsigned nth, uint64_t *ret);
/* Somebody else has one that was proposed; and, on opening, as often as the context says so. */
void fleet_collided(struct fleet *f);
void fleet_spread(struct fleet *f);
void fleet_pools_clear(struct fleet *f);

/* ---- changing ---- */

/* That value for that owner, in place of what was there. */
struct fleet_lease {
	const struct vfctl_id *id;
	int64_t revision, owner_revision; /* of the value's record and the owner's key; 0 none */
	uint64_t last;
	bool had; /* it is leased so already: no doubt when the outcome is not known */
};
/* 1 done; 0 not: @a has the owner's key, then the records from the value to @last. */
int fleet_lease(struct fleet *f, const struct vfctl_id_pool *pool,
	const struct fleet_lease *l, struct etcd_answer *a);
void fleet_make_lease(const struct fleet *f, struct vfctl_id *id);
/* The value that an owner's key names. */
int fleet_owner_value(struct fleet *f, const struct etcd_kv *owner, uint64_t *ret_value);
/* Empty members of @owner, or none, are not compared. */
bool fleet_owns(const struct vfctl_id *id, const struct vfctl_id_owner *owner);

/* @io becomes what etcd has: one value for @io->owner. */
int fleet_take(struct fleet *f, const struct id_choice *choice, struct vfctl_id *io);
int fleet_claim(struct fleet *f, struct vfctl_id *io, struct vfctl_id *ret_holder);
int fleet_release(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, int64_t until);
/*
 * The value becomes as @now says (NULL: free), if it is as @seen says. 1 done (or it is so
 * already); 0 it is otherwise.
 */
int fleet_replace(struct fleet *f, const struct fleet_seen *seen,
	const struct vfctl_id *now);
/* Fill the host's block, if it has fewer than @least. */
int fleet_fill_block(struct fleet *f, const struct vfctl_id_pool *pool, unsigned least,
	unsigned *ret_added);
/* The same, if it is below half; failures are only logged. */
void fleet_top_up(struct fleet *f, const struct vfctl_id_pool *pool);

/* ---- what this host knows: offline.c ---- */

int offline_find(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret);
/* 0, or, in words, why this host can go by nothing that was set aside for it. */
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
/* What etcd has now is what the host has: @id, if it is this host's, else nothing. */
int mirror_put(struct fleet *f, const struct vfctl_id *id);
int mirror_drop(struct fleet *f, enum vfctl_id_kind kind, uint64_t value);
/* A taking whose outcome is not known: if it was carried out, the next sync undoes it. */
void mirror_doubt(struct fleet *f, const struct vfctl_id *id);

#endif
