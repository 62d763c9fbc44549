/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_FLEET_H
#define VFCTL_STATE_FLEET_H

#include "state/etcd.h"
#include "state/fleet_record.h"
#include "state/ids.h"
#include "state/ids_sqlite.h"

/*
 * The fleet's store; its parts are ids_etcd.c (open, look), fleet_guard.c (who we are and
 * what the pools are), fleet_take.c, fleet_search.c, fleet_claim.c, fleet_offline.c,
 * fleet_sync.c and fleet_admin.c.
 */
#define FLEET_NODE 48
#define FLEET_NOTE 8192

struct fleet_pool {
	int64_t revision; /* of its definition in etcd, which is ours; 0 not known */
	/* Where the next free value is likely, of the lowest-first kind; until hint_until. */
	uint64_t hint;
	int64_t hint_until;
	bool block_checked;
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
	/* While etcd is away nobody asks it again before that (CLOCK_MONOTONIC, s). */
	int64_t away_until;
	int away_error;
	char *away_words;
	bool away_told;
	struct fleet_seen last; /* what find() saw, for the release() that follows */
	unsigned random;
};

static inline struct fleet *fleet_of(struct id_store *s)
{
	return (struct fleet *)s;
}

int64_t fleet_now(const struct fleet *f);
struct fleet_pool *fleet_pool_state(struct fleet *f, const struct vfctl_id_pool *pool);
unsigned fleet_random(struct fleet *f, unsigned below);
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

/* ---- guards: fleet_guard.c ---- */

/*
 * Each change compares the host's registration, so that one made by another machine of the
 * same name, or left behind by a call that gave up (see fleet_fence()), is not carried out;
 * and, with a pool, its definition. The guard's are the first results of the ELSE branch.
 */
int fleet_guard(struct fleet *f, struct etcd_txn *t, const struct vfctl_id_pool *pool);
/* How many results are the guard's. */
size_t fleet_guard_results(const struct vfctl_id_pool *pool);
/* The ELSE branch was taken: 0 not for the guard's sake; 1 mended, try again; errno. */
int fleet_guard_check(struct fleet *f, const struct etcd_answer *a,
	const struct vfctl_id_pool *pool);
/* From now on no transaction that was sent before is carried out. */
int fleet_fence(struct fleet *f);
/* The presence lasts on; @force: also when it is fresh. */
int fleet_renew_presence(struct fleet *f, bool force);
/* Has the presence ended, as far as this host can tell? */
bool fleet_presence_over(struct fleet *f);
/* Has this host ever been there? */
bool fleet_presence_known(struct fleet *f);
/* Take over a registration of this name that is not ours (state file lost). */
int fleet_adopt_node(struct fleet *f);
const struct vfctl_id_pool *fleet_pool_named(const struct fleet *f, const char *name,
	enum vfctl_id_kind kind);
/* -EINVAL: what @theirs and ours differ in. */
int fleet_fail_definition(struct fleet *f, const struct vfctl_id_pool *pool,
	const char *theirs);

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
/* Records first..last, at most @max: 0 .. @max, or errno. */
int fleet_page(struct fleet *f, enum vfctl_id_kind kind, uint64_t first, uint64_t last,
	int64_t changed_since, struct vfctl_id *ret, size_t max);
#define FLEET_PAGE 500

/* ---- free values: fleet_search.c ---- */

struct fleet_spot {
	uint64_t value;
	int64_t revision; /* of a record whose rest is over, which is to be replaced; 0 none */
};
/*
 * The first free value from @start up and round, skipping @skip gaps where there are so
 * many within reach. -ENOSPC with words.
 */
int fleet_search(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t start,
	unsigned skip, struct fleet_spot *ret);
/* Among the records of first..last that @result begins: 1 found, 0 not in these. */
int fleet_spot_in(struct fleet *f, const struct vfctl_id_pool *pool, uint64_t first,
	uint64_t last, const struct etcd_result *result, unsigned skip, struct fleet_spot *ret);
#define FLEET_WINDOW 64

/* ---- changing ---- */

/* @io becomes what etcd has: one value for @io->owner. */
int fleet_take(struct fleet *f, const struct id_choice *choice, struct vfctl_id *io);
int fleet_claim(struct fleet *f, struct vfctl_id *io, struct vfctl_id *ret_holder);
int fleet_release(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, int64_t until);
/* The value becomes as @now says (NULL: free), if it is as @seen says. 1 done, 0 it is not. */
int fleet_replace(struct fleet *f, const struct fleet_seen *seen,
	const struct vfctl_id *now);
int fleet_reserve(struct fleet *f, const struct vfctl_id_pool *pool, unsigned count,
	unsigned *ret_added);
/* Keep the host's block filled; failures are only logged. */
void fleet_top_up(struct fleet *f, const struct vfctl_id_pool *pool);

/* ---- what this host knows: fleet_offline.c ---- */

int offline_find(struct fleet *f, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret);
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
