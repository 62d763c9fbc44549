/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FLEET_ETCD_H
#define VFCTL_FLEET_ETCD_H

#include "base/buf.h"
#include "base/ctx.h"
#include "core/hostspec.h"

/*
 * What we need of etcd version 3, through its JSON gateway (etcd's "gRPC gateway" and
 * "API reference: v3" documents): transactions, leases, authentication. Keys are given and
 * received without the spec's prefix. The file that knows libcurl is etcd.c; etcd_txn.c
 * writes requests, etcd_answer.c reads answers, which are hostile input.
 */
struct etcd;

/* No network: the first call connects. @spec outlives the result. */
int etcd_open(struct vfctl_ctx *ctx, const struct vfctl_etcd_spec *spec,
	struct etcd **ret);
void etcd_close(struct etcd *c);

/*
 * A call of ours begins: all requests from here on, with all their tries, end within the
 * spec's timeout.
 */
void etcd_begin(struct etcd *c);
/*
 * Errors of this client, apart from those of a store that answers: etcd cannot be used
 * now, and a host has to do with what it has.
 *   -EHOSTUNREACH  no endpoint could be reached, or none has a leader
 *   -ETIMEDOUT     the deadline came first
 *   -EACCES        certificates, password or permissions
 *   -EBADMSG       what answered is not etcd, or broken
 *   -EDQUOT        etcd is out of space
 *   -ENOPKG        there is no libcurl
 */
bool etcd_is_away(int error);
/*
 * Of the last etcd_commit(): a try whose outcome nobody knows came before its answer or
 * failure. When it failed, the transaction may have been carried out, or may yet be; when
 * its compares did not hold, perhaps because it had been carried out already.
 */
bool etcd_unsure(const struct etcd *c);
/* Which endpoint answered last; begin with that one next time (it is checked). */
const char *etcd_good_endpoint(const struct etcd *c);
void etcd_prefer(struct etcd *c, const char *endpoint);

/* ---- transactions ---- */

/* etcd's own limit for each of compares, and operations of a branch (--max-txn-ops). */
#define ETCD_OPS_MAX 128

enum etcd_branch { ETCD_THEN, ETCD_ELSE };

/* All compares hold: THEN is done, else ELSE. Without compares: THEN. */
struct etcd_txn {
	const char *prefix;
	struct buf compare, branch[2];
	size_t ops[2];
};

struct etcd_txn etcd_txn(const struct etcd *c);
void etcd_txn_clear(struct etcd_txn *t);
void etcd_if_value(struct etcd_txn *t, const char *key, const char *value);
/* The key was last changed at that revision; 0: it is absent. */
void etcd_if_revision(struct etcd_txn *t, const char *key, int64_t mod_revision);
/* In THEN. @lease 0: none; the key lasts. */
void etcd_put(struct etcd_txn *t, const char *key, const char *value, int64_t lease);
void etcd_delete(struct etcd_txn *t, enum etcd_branch branch, const char *key);

struct etcd_range {
	const char *first;
	const char *last;     /* included, or NULL: @first alone */
	unsigned limit;	      /* 0 none */
	bool count_only;
	int64_t changed_since; /* only keys changed at or after that revision */
};
void etcd_get(struct etcd_txn *t, enum etcd_branch branch, const struct etcd_range *range);

struct etcd_kv {
	char *key;   /* without the prefix; has no NUL in it */
	char *value; /* any bytes, a NUL behind */
	size_t value_len;
	int64_t modified; /* the revision that wrote it */
	int64_t lease;
};

/* Of one operation; empty unless it was etcd_get(). */
struct etcd_result {
	struct etcd_kv *kvs;
	size_t count;
	int64_t total; /* keys there are, whatever the limit */
	bool more;
};

/* The one key that was asked for, or NULL. */
static inline const struct etcd_kv *etcd_first(const struct etcd_result *result)
{
	return result->count ? &result->kvs[0] : NULL;
}

struct etcd_answer {
	bool succeeded; /* the compares held */
	int64_t revision;
	struct etcd_result *results; /* as many as the branch has operations */
	size_t count;
};

void etcd_answer_clear(struct etcd_answer *a);
/*
 * Carry it out, on whichever endpoint answers; again when a try's outcome is unknown, so it
 * must be one that does no harm twice (its compares see to that). *ret_answer is as it was
 * on failure, and must be empty.
 */
int etcd_commit(struct etcd *c, struct etcd_txn *t, struct etcd_answer *ret_answer);

/* ---- leases ---- */

int etcd_lease_grant(struct etcd *c, uint32_t ttl_s, int64_t *ret_lease);
/* -ENOENT: it is over. *ret_ttl_s is what it lasts from now. */
int etcd_lease_renew(struct etcd *c, int64_t lease, int64_t *ret_ttl_s);

/* ---- answers as text: for etcd.c and the fuzzer ---- */

/* @expected: results there must be, in the branch that was done. */
int etcd_answer_read(struct vfctl_ctx *ctx, const char *prefix, const char *text, size_t len,
	const size_t expected[2], struct etcd_answer *ret_answer);
int etcd_answer_lease(struct vfctl_ctx *ctx, const char *text, size_t len,
	int64_t *ret_lease, int64_t *ret_ttl_s);
int etcd_answer_token(struct vfctl_ctx *ctx, const char *text, size_t len, char **ret_token);

/* What an answer with an HTTP status other than 200 asks for. */
enum etcd_verdict {
	ETCD_FINAL,  /* it will be the same again, anywhere */
	ETCD_OTHER,  /* another endpoint may be better */
	ETCD_AGAIN,  /* later, here or elsewhere; it was not carried out */
	ETCD_UNSURE, /* the same, but it may have been carried out */
	ETCD_LOGIN,  /* with a new token */
};
/* Its words go into @words; *ret_error is what it is when that is all there is. */
enum etcd_verdict etcd_answer_refusal(long status, const char *text, size_t len,
	char words[192], int *ret_error);

#endif
