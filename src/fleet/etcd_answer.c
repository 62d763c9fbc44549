// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers of etcd. The gateway leaves out members that are false, 0 or empty (protobuf's JSON), so
 * most members may be absent; a member that is present must have its type.
 */
#include "fleet/etcd.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/json.h"

static int fail_form(struct vfctl_ctx *ctx, const char *what)
{
	return ctx_fail(ctx, -EBADMSG, "the answer is not one of etcd: %s; vfctl needs etcd 3.4 or "
		"newer with its gRPC gateway at that address", what);
}

static void clear_result(struct etcd_result *result)
{
	for (size_t i = 0; i < result->count; i++) {
		free(result->kvs[i].key);
		free(result->kvs[i].value);
	}
	free(result->kvs);
}

void etcd_answer_clear(struct etcd_answer *a)
{
	for (size_t i = 0; i < a->count; i++)
		clear_result(&a->results[i]);
	free(a->results);
	*a = (struct etcd_answer){.results = NULL};
}

static int read_bytes(struct vfctl_ctx *ctx, const struct json *value, char **ret_data,
	size_t *ret_len)
{
	const char *text = json_text(value);
	int r = value && !text ? -EBADMSG : base64_decode(text ? text : "", ret_data, ret_len);

	return r == -ENOMEM ? ctx_oom(ctx) : r < 0 ? fail_form(ctx, "a key or value is not "
		"base64") : 0;
}

/* Read a key and remove the prefix, which it must have. */
static int read_key(struct vfctl_ctx *ctx, const char *prefix, const struct json *value,
	char **ret_key)
{
	_free_ char *key = NULL;
	size_t len, skip = strlen(prefix);
	int r = read_bytes(ctx, value, &key, &len);

	if (r < 0)
		return r;
	if (strlen(key) != len || len < skip || !str_starts(key, prefix))
		return fail_form(ctx, "a key that was not asked for");
	memmove(key, key + skip, len - skip + 1);
	*ret_key = steal(key);
	return 0;
}

static int read_kv(struct vfctl_ctx *ctx, const char *prefix, const struct json *value,
	struct etcd_kv *kv)
{
	int r = read_key(ctx, prefix, json_member(value, "key"), &kv->key);

	if (r == 0)
		r = read_bytes(ctx, json_member(value, "value"), &kv->value, &kv->value_len);
	if (r == 0 && (json_number(json_member(value, "mod_revision"), &kv->modified) < 0 ||
			json_number(json_member(value, "lease"), &kv->lease) < 0))
		r = fail_form(ctx, "a revision is not a number");
	if (r == 0 && kv->modified <= 0)
		r = fail_form(ctx, "a key without a revision");
	return r;
}

static int read_range(struct vfctl_ctx *ctx, const char *prefix, const struct json *range,
	struct etcd_result *ret)
{
	const struct json *kvs = json_member(range, "kvs");
	size_t count = json_count(kvs);

	if (json_number(json_member(range, "count"), &ret->total) < 0)
		return fail_form(ctx, "a count is not a number");
	ret->more = json_flag(json_member(range, "more"));
	ret->kvs = calloc(count ? count : 1, sizeof(*ret->kvs));
	if (!ret->kvs)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++) {
		int r = read_kv(ctx, prefix, json_item(kvs, i), &ret->kvs[ret->count++]);

		if (r < 0)
			return r;
	}
	return 0;
}

static int read_results(struct vfctl_ctx *ctx, const char *prefix, const struct json *list,
	size_t expected, struct etcd_answer *a)
{
	int r = 0;

	if (json_count(list) != expected)
		return fail_form(ctx, "another number of results than operations");
	a->results = calloc(expected ? expected : 1, sizeof(*a->results));
	if (!a->results)
		return ctx_oom(ctx);
	a->count = expected;
	for (size_t i = 0; i < expected && r == 0; i++)
		r = read_range(ctx, prefix, json_member(json_item(list, i), "response_range"),
			&a->results[i]);
	return r;
}

int etcd_answer_read(struct vfctl_ctx *ctx, const char *prefix, const char *text, size_t len,
	const size_t expected[2], struct etcd_answer *ret_answer)
{
	_json_doc_ struct json *root = NULL;
	_cleanup_(etcd_answer_clear) struct etcd_answer a = {0};
	int r = json_read(ctx, "etcd's answer", text, len, &root);

	if (r < 0)
		return r;
	a.succeeded = json_flag(json_member(root, "succeeded"));
	if (json_number(json_member(json_member(root, "header"), "revision"), &a.revision) < 0 ||
		a.revision <= 0)
		return fail_form(ctx, "no revision");
	r = read_results(ctx, prefix, json_member(root, "responses"),
		expected[a.succeeded ? ETCD_THEN : ETCD_ELSE], &a);
	if (r < 0)
		return r;
	*ret_answer = steal(a);
	return 0;
}

/* The gateway treats a renewal as a stream: its only answer is in "result". */
int etcd_answer_lease(struct vfctl_ctx *ctx, const char *text, size_t len,
	int64_t *ret_lease, int64_t *ret_ttl_s)
{
	_json_doc_ struct json *root = NULL;
	const struct json *result;
	int64_t lease = 0, ttl = 0;
	int r = json_read(ctx, "etcd's answer", text, len, &root);

	if (r < 0)
		return r;
	result = json_member(root, "result") ? json_member(root, "result") : root;
	if (!json_member(result, "header") || json_number(json_member(result, "ID"), &lease) < 0 ||
		json_number(json_member(result, "TTL"), &ttl) < 0)
		return fail_form(ctx, "no lease");
	*ret_lease = lease;
	*ret_ttl_s = ttl;
	return 0;
}

int etcd_answer_token(struct vfctl_ctx *ctx, const char *text, size_t len, char **ret_token)
{
	_json_doc_ struct json *root = NULL;
	const char *token;
	int r = json_read(ctx, "etcd's answer", text, len, &root);

	if (r < 0)
		return r;
	token = json_text(json_member(root, "token"));
	if (!token || !*token)
		return fail_form(ctx, "no token");
	/* The token becomes a header line: it must not add another one. */
	for (const char *c = token; *c; c++)
		if (!isgraph((unsigned char)*c))
			return fail_form(ctx, "a token with invalid characters");
	*ret_token = strdup(token);
	return *ret_token ? 0 : ctx_oom(ctx);
}

/* ---- refusals ---- */

/* etcd's error messages (api/v3rpc/rpctypes/error.go), and their meaning here. */
static const struct {
	const char *message;
	enum etcd_verdict verdict;
	int error;
	const char *remedy;
} refusals[] = {
	/* The proposal was accepted and then lost: it may still be carried out. */
	{"leader changed", ETCD_UNSURE, -EHOSTUNREACH, ""},
	{"request timed out", ETCD_UNSURE, -EHOSTUNREACH, ""},
	{"context deadline exceeded", ETCD_UNSURE, -EHOSTUNREACH, ""},
	{"context canceled", ETCD_UNSURE, -EHOSTUNREACH, ""},
	{"no leader", ETCD_AGAIN, -EHOSTUNREACH, ""},
	{"not leader", ETCD_AGAIN, -EHOSTUNREACH, ""},
	{"too many requests", ETCD_AGAIN, -EHOSTUNREACH, ""},
	{"server stopped", ETCD_UNSURE, -EHOSTUNREACH, ""},
	{"unhealthy cluster", ETCD_AGAIN, -EHOSTUNREACH, ""},
	{"database space exceeded", ETCD_FINAL, -EDQUOT,
		"; compact and defragment it, then etcdctl alarm disarm"},
	{"invalid auth token", ETCD_LOGIN, -EACCES, ""},
	{"auth store is old", ETCD_LOGIN, -EACCES, ""},
	{"authentication failed", ETCD_FINAL, -EACCES,
		"; check user and password-file"},
	{"user name is empty", ETCD_FINAL, -EACCES,
		"; set user and password-file in host.yaml"},
	{"permission denied", ETCD_FINAL, -EACCES,
		"; grant the user's role readwrite on the prefix (etcdctl role grant-permission)"},
	{"authentication is not enabled", ETCD_FINAL, -EACCES,
		"; remove user and password-file from host.yaml, or enable it"},
	{"requested lease not found", ETCD_FINAL, -ENOENT, ""},
	{"too many operations", ETCD_FINAL, -E2BIG,
		"; start it with --max-txn-ops 128 or more"},
};

/* Reduce an answer to one line without characters that could harm a terminal. */
static void clean_answer(char *message)
{
	for (unsigned char *c = (unsigned char *)message; *c; c++)
		if (*c < 0x20 || *c >= 0x7f)
			*c = '?';
}

static enum etcd_verdict by_status(long status, int *ret_error)
{
	*ret_error = status == 401 || status == 403 ? -EACCES : -EBADMSG;
	if (status == 401)
		return ETCD_LOGIN;
	if (status == 429 || status == 502 || status == 503 || status == 504) {
		*ret_error = -EHOSTUNREACH;
		return status == 429 ? ETCD_AGAIN : ETCD_UNSURE;
	}
	return status >= 500 ? ETCD_UNSURE : ETCD_OTHER;
}

enum etcd_verdict etcd_answer_refusal(long status, const char *text, size_t len,
	char message[192], int *ret_error)
{
	_json_doc_ struct json *root = NULL;
	struct vfctl_ctx scratch = {0};
	const char *said = NULL;

	if (json_read(&scratch, "", text, len, &root) == 0)
		said = json_text(json_member(root, "message"));
	if (!said)
		said = json_text(json_member(root, "error"));
	ctx_clear(&scratch);
	for (size_t i = 0; said && i < ARRAY_SIZE(refusals); i++)
		if (strstr(said, refusals[i].message)) {
			snprintf(message, 192, "%.100s%s", said, refusals[i].remedy);
			clean_answer(message);
			*ret_error = refusals[i].error;
			return refusals[i].verdict;
		}
	snprintf(message, 192, "HTTP status %ld%s%.100s", status, said ? ": " : "",
		said ? said : "");
	clean_answer(message);
	return by_status(status, ret_error);
}
