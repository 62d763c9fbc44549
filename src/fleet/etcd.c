// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The connection: one curl handle, which keeps a connection to each endpoint alive; which endpoint
 * gets a request, how often, and with which time limit.
 */
#include "fleet/etcd.h"

#define CURL_DISABLE_TYPECHECK /* its macros would call the functions by their names */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/dl.h"
#include "base/json.h"
#include "base/sonames.h"
#include "fleet/etcd_login.h"

#undef curl_easy_setopt
#undef curl_easy_getinfo
#define SYMBOLS(each) \
	each(curl_global_init) each(curl_easy_init) each(curl_easy_setopt) each(curl_easy_perform) \
	each(curl_easy_getinfo) each(curl_easy_strerror) each(curl_easy_cleanup) \
	each(curl_slist_append) each(curl_slist_free_all)
DL_SYMBOLS(symbols, SYMBOLS);

#define ANSWER_MAX (32u * 1024 * 1024)
#define PAUSE_FIRST_MS 20
#define PAUSE_MAX_MS 400
#define ENDPOINT_WORDS 192

struct endpoint {
	const char *url;
	/* State of the call in progress. */
	char message[ENDPOINT_WORDS]; /* "" if it was not tried */
	bool refused; /* the connection was refused */
	int error;
};

struct etcd {
	struct vfctl_ctx *ctx;
	const struct vfctl_etcd_spec *spec;
	CURL *curl;
	struct curl_slist *headers;
	char *token;
	struct endpoint *endpoints;
	size_t count, good;
	int64_t deadline; /* CLOCK_MONOTONIC, ms */
	bool unsure;
	struct buf answer;
	char curl_text[CURL_ERROR_SIZE];
};

/* ---- curl ---- */

static size_t receive_etcd(char *data, size_t size, size_t count, void *user)
{
	struct etcd *c = user;

	if (c->answer.len + size * count > ANSWER_MAX)
		return 0; /* ends the transfer with CURLE_WRITE_ERROR */
	buf_add(&c->answer, data, size * count);
	return c->answer.failed ? 0 : size * count;
}

static int is_cancelled(void *user, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e)
{
	const struct etcd *c = user;

	return c->ctx->cancelled;
}

static void set_tls(struct etcd *c)
{
	const struct vfctl_etcd_spec *s = c->spec;

	sym_curl_easy_setopt(c->curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	sym_curl_easy_setopt(c->curl, CURLOPT_SSL_VERIFYPEER, 1L);
	sym_curl_easy_setopt(c->curl, CURLOPT_SSL_VERIFYHOST, 2L);
	if (s->ca) {
		sym_curl_easy_setopt(c->curl, CURLOPT_CAINFO, s->ca);
		/* Otherwise the system's authorities would be trusted too. */
		sym_curl_easy_setopt(c->curl, CURLOPT_CAPATH, NULL);
	}
	if (s->cert) {
		sym_curl_easy_setopt(c->curl, CURLOPT_SSLCERT, s->cert);
		sym_curl_easy_setopt(c->curl, CURLOPT_SSLKEY, s->key);
	}
}

static void set_protocols(CURL *curl)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	sym_curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	sym_curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
	/* Otherwise a name server that does not answer would block past the deadline. */
	sym_curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
#endif
	sym_curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* ignore the environment's proxy */
	sym_curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	sym_curl_easy_setopt(curl, CURLOPT_TCP_NODELAY, 1L);
	/* There is one request at a time: HTTP/2 would only add its frames. */
	sym_curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
}

/* Set again when the token changes. */
static int set_headers(struct etcd *c)
{
	_free_ char *auth = c->token ? str_format("Authorization: %s", c->token) : NULL;
	const char *const lines[] = {"Content-Type: application/json", "Expect:", auth};
	struct curl_slist *list = NULL, *longer;

	if (c->token && !auth)
		return ctx_oom(c->ctx);
	for (size_t i = 0; i < ARRAY_SIZE(lines) && lines[i]; i++) {
		longer = sym_curl_slist_append(list, lines[i]);
		if (!longer) {
			sym_curl_slist_free_all(list);
			return ctx_oom(c->ctx);
		}
		list = longer;
	}
	sym_curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, list);
	sym_curl_slist_free_all(c->headers);
	c->headers = list;
	return 0;
}

static void global_init(void)
{
	sym_curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* Created at the first request, so that a host without requests does not load curl. */
static int make_handle(struct etcd *c)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int r;

	if (c->curl)
		return 0;
	r = dl_bind(c->ctx, SONAME_CURL, symbols, ARRAY_SIZE(symbols));
	if (r < 0)
		return r;
	pthread_once(&once, global_init);
	c->curl = sym_curl_easy_init();
	if (!c->curl)
		return ctx_oom(c->ctx);
	set_protocols(c->curl);
	set_tls(c);
	sym_curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, receive_etcd);
	sym_curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
	sym_curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->curl_text);
	sym_curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, is_cancelled);
	sym_curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, c);
	sym_curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
	return set_headers(c);
}

/* ---- one attempt ---- */

struct request {
	const char *path;
	const char *body;
	size_t len;
	bool changes; /* it changes something, so its outcome matters: see etcd_unsure() */
	/* The expected contents of the answer, one of these: */
	const struct etcd_txn *txn;
	struct etcd_answer *answer; /* the answer to @txn */
	int64_t *lease, *ttl_s;
	char **token;
};

/*
 * A server that rejects the certificate, or requires one, reports this only after the handshake
 * (TLS 1.3). curl then fails to receive, or to send if the connection is already closed.
 */
static enum etcd_verdict broken_off(const struct etcd *c, struct endpoint *e)
{
	if (!str_starts(e->url, "https:"))
		return ETCD_UNSURE;
	snprintf(e->message, sizeof(e->message), "%.100s; if etcd requires a certificate, set cert and "
		"key in host.yaml", c->curl_text);
	if (!strstr(c->curl_text, "alert"))
		return ETCD_UNSURE;
	e->error = -EACCES;
	return ETCD_OTHER;
}

static enum etcd_verdict no_answer(struct etcd *c, struct endpoint *e, CURLcode code)
{
	const char *message = c->curl_text[0] ? c->curl_text : sym_curl_easy_strerror(code);

	snprintf(e->message, sizeof(e->message), "%.180s", message);
	e->error = -EHOSTUNREACH;
	e->refused = false;
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
		e->refused = true;
		return ETCD_AGAIN;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_ISSUER_ERROR:
		snprintf(e->message, sizeof(e->message), "%.120s; check ca, cert and key in "
			"host.yaml", message);
		e->error = -EACCES;
		return ETCD_OTHER;
	case CURLE_WRITE_ERROR:
		snprintf(e->message, sizeof(e->message), "the answer exceeds %u MiB",
			ANSWER_MAX >> 20);
		/* fall through */
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		e->error = -EBADMSG;
		return ETCD_UNSURE;
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
		return broken_off(c, e);
	default:
		return ETCD_UNSURE;
	}
}

/* If the answer does not come from etcd, the next endpoint is tried. */
static enum etcd_verdict read_answer(struct etcd *c, struct endpoint *e,
	const struct request *q)
{
	const char *text = c->answer.data;
	size_t len = c->answer.len;

	if (q->txn)
		e->error = etcd_answer_read(c->ctx, c->spec->prefix, text, len, q->txn->ops,
			q->answer);
	else if (q->token)
		e->error = etcd_answer_token(c->ctx, text, len, q->token);
	else
		e->error = etcd_answer_lease(c->ctx, text, len, q->lease, q->ttl_s);
	if (e->error != -EBADMSG)
		return ETCD_FINAL;
	snprintf(e->message, sizeof(e->message), "%.190s", vfctl_ctx_error(c->ctx));
	return ETCD_UNSURE;
}

static int64_t remaining(const struct etcd *c)
{
	return c->deadline - now_ms();
}

/*
 * The time limit of one attempt. Another endpoint must be tried before the deadline: a stopped one
 * accepts the connection and never answers.
 */
static long try_ms(const struct etcd *c)
{
	int64_t left = remaining(c), share = c->spec->timeout_ms / 3;

	if (c->count > 1 && left > share)
		left = share;
	return left < 1 ? 1 : (long)left;
}

static enum etcd_verdict ask_etcd(struct etcd *c, struct endpoint *e, const struct request *q)
{
	_free_ char *url = str_format("%s%s", e->url, q->path);
	long ms = try_ms(c), connect_ms = (long)c->spec->timeout_ms / 4, status = 0;
	CURLcode code;

	e->error = -ENOMEM;
	if (!url)
		return ETCD_FINAL;
	c->curl_text[0] = '\0';
	buf_reset(&c->answer);
	buf_puts(&c->answer, ""); /* there is an answer, even if it is empty */
	sym_curl_easy_setopt(c->curl, CURLOPT_URL, url);
	sym_curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, q->body);
	sym_curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE, (long)q->len);
	sym_curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, ms);
	sym_curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT_MS, connect_ms < ms ? connect_ms : ms);
	code = sym_curl_easy_perform(c->curl);
	if (c->answer.failed)
		return ETCD_FINAL;
	if (code)
		return no_answer(c, e, code);
	sym_curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == 200)
		return read_answer(c, e, q);
	return etcd_answer_refusal(status, c->answer.data, c->answer.len, e->message, &e->error);
}

/* ---- user and password ---- */

/* Log in on this endpoint, in a single attempt: the caller retries. */
static enum etcd_verdict log_in(struct etcd *c, struct endpoint *e)
{
	_buf_ struct buf body = {0};
	struct request q = {.path = "/v3/auth/authenticate", .token = &c->token};
	enum etcd_verdict v;

	e->error = etcd_login_write(c->ctx, c->spec, &body);
	if (e->error < 0)
		return ETCD_FINAL;
	free(steal(c->token)); /* an old token would be rejected */
	e->error = set_headers(c);
	if (e->error < 0)
		return ETCD_FINAL;
	q.body = body.data;
	q.len = body.len;
	v = ask_etcd(c, e, &q);
	explicit_bzero(body.data, body.len);
	if (v == ETCD_FINAL && e->error == 0)
		e->error = set_headers(c);
	return v == ETCD_LOGIN ? ETCD_FINAL : v;
}

static enum etcd_verdict try_endpoint(struct etcd *c, struct endpoint *e,
	const struct request *q)
{
	enum etcd_verdict v;

	e->message[0] = '\0';
	for (int logins = 0;; logins++) {
		if (c->spec->user && !c->token) {
			v = log_in(c, e);
			if (v != ETCD_FINAL || e->error < 0)
				return v == ETCD_UNSURE ? ETCD_AGAIN : v;
		}
		v = ask_etcd(c, e, q);
		if (v != ETCD_LOGIN)
			break;
		/* A token expires after five minutes, or with the member that issued it. */
		if (!c->spec->user || logins)
			return ETCD_FINAL;
		free(steal(c->token));
	}
	if (v == ETCD_UNSURE && q->changes)
		c->unsure = true;
	return v;
}

/* ---- all attempts ---- */

/* Reports the last error of each endpoint; returns the most informative one. */
static int fail_all(struct etcd *c)
{
	_buf_ struct buf message = {0};
	int error = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct endpoint *e = &c->endpoints[i];

		if (!e->message[0])
			continue;
		buf_printf(&message, "%s%s: %s", message.len ? "; " : "", e->url, e->message);
		if (!error || error == -EHOSTUNREACH)
			error = e->error;
	}
	if (message.failed)
		return ctx_oom(c->ctx);
	if ((!error || error == -EHOSTUNREACH) && remaining(c) <= 0)
		error = -ETIMEDOUT;
	return ctx_fail(c->ctx, error ? error : -ETIMEDOUT, "etcd did not answer%s: %s",
		remaining(c) <= 0 ? " in time" : "", message.len ? message.data : "no time left");
}

static int fail_one(struct etcd *c, const struct endpoint *e)
{
	if (e->error == -ENOMEM)
		return ctx_oom(c->ctx);
	if (!e->message[0]) /* already in the message */
		return e->error;
	return ctx_fail(c->ctx, e->error, "etcd at %s: %s", e->url, e->message);
}

/*
 * Whether another round is useful. A wrong answer of an endpoint stays wrong. An endpoint that
 * refuses connections may be starting; but if etcd is down on this host, guests should not wait for
 * the whole deadline.
 */
static bool worth_it(const struct etcd *c)
{
	int64_t waited = c->spec->timeout_ms - remaining(c);

	if (c->ctx->cancelled)
		return false;
	for (size_t i = 0; i < c->count; i++) {
		const struct endpoint *e = &c->endpoints[i];

		if (e->error != -EHOSTUNREACH)
			continue;
		if (!e->refused || waited < c->spec->timeout_ms / 5)
			return true;
	}
	return false;
}

static void pause_ms(const struct etcd *c, int64_t ms)
{
	if (ms > remaining(c))
		ms = remaining(c);
	if (ms > 0)
		nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/*
 * Try each endpoint once, beginning with the last good one: 0 or a final failure; 1 if none has
 * answered.
 */
static int round_of(struct etcd *c, const struct request *q)
{
	for (size_t i = 0, first = c->good; i < c->count && remaining(c) > 0; i++) {
		size_t at = (first + i) % c->count;
		struct endpoint *e = &c->endpoints[at];

		e->refused = false;
		if (try_endpoint(c, e, q) == ETCD_FINAL) {
			c->good = at;
			return e->error < 0 ? fail_one(c, e) : 0;
		}
		log_debug(c->ctx, "etcd at %s: %s", e->url, e->message);
		if (c->ctx->cancelled)
			return ctx_fail(c->ctx, -ECANCELED, "cancelled while waiting for etcd");
	}
	return 1;
}

static int post(struct etcd *c, const struct request *q)
{
	int64_t pause = PAUSE_FIRST_MS;
	int r = make_handle(c);

	if (r < 0)
		return r;
	c->unsure = false;
	for (size_t i = 0; i < c->count; i++) {
		c->endpoints[i].message[0] = '\0';
		c->endpoints[i].error = 0;
	}
	while (remaining(c) > 0) {
		r = round_of(c, q);
		if (r <= 0)
			return r;
		if (!worth_it(c))
			break;
		pause_ms(c, pause);
		pause = pause < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS;
	}
	return fail_all(c);
}

/* ---- calls ---- */

int etcd_commit(struct etcd *c, struct etcd_txn *t, struct etcd_answer *ret_answer)
{
	struct request q = {.path = "/v3/kv/txn", .txn = t, .answer = ret_answer};
	const struct buf *then = &t->branch[ETCD_THEN], *or_else = &t->branch[ETCD_ELSE];
	_buf_ struct buf body = {0};

	buf_puts(&body, "{\"compare\":[");
	buf_add(&body, t->compare.data, t->compare.len);
	buf_puts(&body, "],\"success\":[");
	buf_add(&body, then->data, then->len);
	buf_puts(&body, "],\"failure\":[");
	buf_add(&body, or_else->data, or_else->len);
	buf_puts(&body, "]}");
	if (body.failed || t->compare.failed || then->failed || or_else->failed)
		return ctx_oom(c->ctx);
	q.changes = t->compare.len > 0; /* a transaction without compares only reads */
	q.body = body.data;
	q.len = body.len;
	return post(c, &q);
}

static int lease_call(struct etcd *c, const char *path, const char *member, int64_t number,
	int64_t *ret_lease, int64_t *ret_ttl_s)
{
	struct request q = {.path = path, .lease = ret_lease, .ttl_s = ret_ttl_s};
	char body[64];

	q.len = (size_t)snprintf(body, sizeof(body), "{\"%s\":\"%" PRId64 "\"}", member, number);
	q.body = body;
	return post(c, &q);
}

int etcd_lease_grant(struct etcd *c, uint32_t ttl_s, int64_t *ret_lease)
{
	int64_t lease, ttl;
	int r = lease_call(c, "/v3/lease/grant", "TTL", ttl_s, &lease, &ttl);

	if (r == 0 && !lease)
		r = ctx_fail(c->ctx, -EBADMSG, "etcd granted a lease without an ID");
	if (r == 0)
		*ret_lease = lease;
	return r;
}

int etcd_lease_renew(struct etcd *c, int64_t lease, int64_t *ret_ttl_s)
{
	int64_t ttl;
	int r = lease_call(c, "/v3/lease/keepalive", "ID", lease, &lease, &ttl);

	if (r == 0 && ttl <= 0)
		r = ctx_fail(c->ctx, -ENOENT, "the lease has expired");
	if (r == 0)
		*ret_ttl_s = ttl;
	return r;
}

/* ---- open, close, state ---- */

int etcd_open(struct vfctl_ctx *ctx, const struct vfctl_etcd_spec *spec, struct etcd **ret)
{
	size_t count = strv_len(spec->endpoints);
	struct etcd *c = calloc(1, sizeof(*c));

	if (c)
		c->endpoints = calloc(count ? count : 1, sizeof(*c->endpoints));
	if (!c || !c->endpoints) {
		free(c);
		return ctx_oom(ctx);
	}
	c->ctx = ctx;
	c->spec = spec;
	c->count = count;
	for (size_t i = 0; i < count; i++)
		c->endpoints[i].url = spec->endpoints[i];
	etcd_begin(c);
	*ret = c;
	return 0;
}

void etcd_close(struct etcd *c)
{
	if (!c)
		return;
	if (c->curl) {
		sym_curl_easy_cleanup(c->curl);
		sym_curl_slist_free_all(c->headers);
	}
	buf_free(&c->answer);
	free(c->token);
	free(c->endpoints);
	free(c);
}

void etcd_begin(struct etcd *c)
{
	c->deadline = now_ms() + c->spec->timeout_ms;
}

bool etcd_is_away(int error)
{
	return error == -EHOSTUNREACH || error == -ETIMEDOUT || error == -EACCES ||
		error == -EBADMSG || error == -EDQUOT || error == -ENOPKG;
}

bool etcd_unsure(const struct etcd *c)
{
	return c->unsure;
}

const char *etcd_good_endpoint(const struct etcd *c)
{
	return c->endpoints[c->good].url;
}

void etcd_prefer(struct etcd *c, const char *endpoint)
{
	for (size_t i = 0; i < c->count; i++)
		if (str_eq(c->endpoints[i].url, endpoint))
			c->good = i;
}

struct etcd_txn etcd_txn(const struct etcd *c)
{
	return (struct etcd_txn){.prefix = c->spec->prefix};
}
