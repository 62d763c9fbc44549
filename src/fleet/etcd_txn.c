// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transactions in the form of the gateway (etcd's api_reference_v3: TxnRequest). Bytes are base64,
 * so nothing needs escaping; 64-bit numbers are strings.
 */
#include "fleet/etcd.h"

#include <inttypes.h>

#include "base/base64.h"

void etcd_txn_clear(struct etcd_txn *t)
{
	buf_free(&t->compare);
	buf_free(&t->branch[ETCD_THEN]);
	buf_free(&t->branch[ETCD_ELSE]);
}

/* "name":"PREFIX + key + end" */
static void add_key(struct buf *b, const char *name, const struct etcd_txn *t,
	const char *key, const char *end, size_t end_len)
{
	_buf_ struct buf whole = {0};

	buf_puts(&whole, t->prefix);
	buf_puts(&whole, key);
	buf_add(&whole, end, end_len);
	buf_printf(b, "\"%s\":\"", name);
	base64_add(b, whole.data, whole.len);
	buf_puts(b, "\"");
	b->failed |= whole.failed;
}

static void next(struct buf *b)
{
	if (b->len)
		buf_puts(b, ",");
}

/* ---- compares ---- */

static void compare_txn(struct etcd_txn *t, const char *key)
{
	next(&t->compare);
	buf_puts(&t->compare, "{\"result\":\"EQUAL\",");
	add_key(&t->compare, "key", t, key, NULL, 0);
}

void etcd_if_value(struct etcd_txn *t, const char *key, const char *value)
{
	compare_txn(t, key);
	buf_puts(&t->compare, ",\"target\":\"VALUE\",\"value\":\"");
	base64_add(&t->compare, value, strlen(value));
	buf_puts(&t->compare, "\"}");
}

void etcd_if_revision(struct etcd_txn *t, const char *key, int64_t mod_revision)
{
	compare_txn(t, key);
	buf_printf(&t->compare, ",\"target\":\"MOD\",\"mod_revision\":\"%" PRId64 "\"}",
		mod_revision);
}

/* ---- operations ---- */

static struct buf *operation(struct etcd_txn *t, enum etcd_branch branch, const char *name,
	const char *key)
{
	struct buf *b = &t->branch[branch];

	next(b);
	buf_printf(b, "{\"%s\":{", name);
	add_key(b, "key", t, key, NULL, 0);
	t->ops[branch]++;
	return b;
}

void etcd_put(struct etcd_txn *t, const char *key, const char *value, int64_t lease)
{
	struct buf *b = operation(t, ETCD_THEN, "request_put", key);

	buf_puts(b, ",\"value\":\"");
	base64_add(b, value, strlen(value));
	buf_puts(b, "\"");
	if (lease)
		buf_printf(b, ",\"lease\":\"%" PRId64 "\"", lease);
	buf_puts(b, "}}");
}

void etcd_delete(struct etcd_txn *t, enum etcd_branch branch, const char *key)
{
	buf_puts(operation(t, branch, "request_delete_range", key), "}}");
}

void etcd_get(struct etcd_txn *t, enum etcd_branch branch, const struct etcd_range *range)
{
	struct buf *b = operation(t, branch, "request_range", range->first);

	if (range->last) { /* the first key above it is the key followed by a NUL */
		buf_puts(b, ",");
		add_key(b, "range_end", t, range->last, "", 1);
	}
	if (range->limit)
		buf_printf(b, ",\"limit\":\"%u\"", range->limit);
	if (range->count_only)
		buf_puts(b, ",\"count_only\":true");
	if (range->changed_since)
		buf_printf(b, ",\"min_mod_revision\":\"%" PRId64 "\"", range->changed_since);
	buf_puts(b, "}}");
}
