/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FLEET_ETCD_H
#define VFCTL_FLEET_ETCD_H

#include "base/buf.h"
#include "base/ctx.h"
#include "types/hostspec.h"

/*
 * The functions of etcd version 3 that vfctl needs, through its JSON gateway (etcd's "gRPC gateway"
 * and "API reference: v3" documents): transactions, leases, authentication. Keys are given and
 * received without the spec's prefix. Only etcd.c uses libcurl; etcd_txn.c writes requests,
 * etcd_answer.c reads answers, which are untrusted input.
 */
struct etcd;

/* This causes no network traffic: the first call connects. @spec must outlive the result. */
int etcd_open(struct vfctl_ctx *ctx, const struct vfctl_etcd_spec *spec,
	struct etcd **ret);
void etcd_close(struct etcd *c);

/* Begin a call: all following requests, with all their attempts, end within the spec's timeout. */
void etcd_begin(struct etcd *c);
/*
 * Errors of this client, apart from those of a store that answers: etcd cannot be used now, and the
 * host uses only its own values.
 *   -EHOSTUNREACH  no endpoint could be reached, or none has a leader
 *   -ETIMEDOUT     the deadline expired
 *   -EACCES        certificates, password or permissions
 *   -EBADMSG       the answer is not from etcd, or damaged
 *   -EDQUOT        etcd is out of space
 *   -ENOPKG        libcurl is not installed
 */
bool etcd_is_away(int error);
/*
 * Whether an attempt with unknown outcome preceded the answer or failure of the last etcd_commit().
 * After a failure, the transaction may have been carried out, or may still be. If its compares did
 * not hold, the reason may be that it had already been carried out.
 */
bool etcd_unsure(const struct etcd *c);
/* The endpoint that answered last. Begin with it next time (its name is checked). */
const char *etcd_good_endpoint(const struct etcd *c);
void etcd_prefer(struct etcd *c, const char *endpoint);

/* ---- transactions ---- */

/* etcd's limit for the number of compares, and of operations in a branch (--max-txn-ops). */
#define ETCD_OPS_MAX 128

enum etcd_branch { ETCD_THEN, ETCD_ELSE };

/* If all compares hold, THEN is carried out, otherwise ELSE. Without compares: THEN. */
struct etcd_txn {
	const char *prefix;
	struct buf compare, branch[2];
	size_t ops[2];
};

struct etcd_txn etcd_txn(const struct etcd *c);
void etcd_txn_clear(struct etcd_txn *t);
void etcd_if_value(struct etcd_txn *t, const char *key, const char *value);
/* Compare: the key was last changed at that revision; 0: it does not exist. */
void etcd_if_revision(struct etcd_txn *t, const char *key, int64_t mod_revision);
/* Add a put to THEN. @lease 0: the key has no lease and does not expire. */
void etcd_put(struct etcd_txn *t, const char *key, const char *value, int64_t lease);
void etcd_delete(struct etcd_txn *t, enum etcd_branch branch, const char *key);

struct etcd_range {
	const char *first;
	const char *last;     /* included; NULL: only @first */
	unsigned limit;	      /* 0: no limit */
	bool count_only;
	int64_t changed_since; /* only keys changed at or after that revision */
};
void etcd_get(struct etcd_txn *t, enum etcd_branch branch, const struct etcd_range *range);

struct etcd_kv {
	char *key;   /* without the prefix; contains no NUL */
	char *value; /* any bytes, NUL-terminated */
	size_t value_len;
	int64_t modified; /* the revision that wrote it */
	int64_t lease;
};

/* The result of one operation; empty unless it was etcd_get(). */
struct etcd_result {
	struct etcd_kv *kvs;
	size_t count;
	int64_t total; /* number of keys, regardless of the limit */
	bool more;
};

/* The one requested key, or NULL. */
static inline const struct etcd_kv *etcd_first(const struct etcd_result *result)
{
	return result->count ? &result->kvs[0] : NULL;
}

struct etcd_answer {
	bool succeeded; /* the compares held */
	int64_t revision;
	struct etcd_result *results; /* one for each operation of the branch */
	size_t count;
};

void etcd_answer_clear(struct etcd_answer *a);
/*
 * Carry out a transaction on any endpoint that answers. It is sent again if the outcome of an
 * attempt is unknown, so it must be safe to repeat; its compares ensure that. *ret_answer must be
 * empty and is unchanged on failure.
 */
int etcd_commit(struct etcd *c, struct etcd_txn *t, struct etcd_answer *ret_answer);

/* ---- leases ---- */

int etcd_lease_grant(struct etcd *c, uint32_t ttl_s, int64_t *ret_lease);
/* -ENOENT: it has expired. *ret_ttl_s is its remaining time. */
int etcd_lease_renew(struct etcd *c, int64_t lease, int64_t *ret_ttl_s);

/* ---- answers as text: for etcd.c and the fuzzer ---- */

/* @expected: number of results in the branch that was carried out. */
int etcd_answer_read(struct vfctl_ctx *ctx, const char *prefix, const char *text, size_t len,
	const size_t expected[2], struct etcd_answer *ret_answer);
int etcd_answer_lease(struct vfctl_ctx *ctx, const char *text, size_t len,
	int64_t *ret_lease, int64_t *ret_ttl_s);
int etcd_answer_token(struct vfctl_ctx *ctx, const char *text, size_t len, char **ret_token);

/* How to continue after an answer with an HTTP status other than 200. */
enum etcd_verdict {
	ETCD_FINAL,  /* the answer will be the same on every endpoint */
	ETCD_OTHER,  /* try another endpoint */
	ETCD_AGAIN,  /* try again later, here or elsewhere; it was not carried out */
	ETCD_UNSURE, /* try again later, but it may have been carried out */
	ETCD_LOGIN,  /* log in again for a new token */
};
/* Its text is written to @message; *ret_error is the error if this is the final answer. */
enum etcd_verdict etcd_answer_refusal(long status, const char *text, size_t len,
	char message[192], int *ret_error);

#endif
