// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * etcd-loop URL COUNT: COUNT transactions as one allocation makes them (four compares, two
 * puts), over one connection, and nothing else: what this etcd can do for one client.
 */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "fleet/etcd.h"

static size_t swallow(char *data, size_t size, size_t count, void *user)
{
	buf_add(user, data, size * count);
	return size * count;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define NODE "8520c2d0815da73d 1"
#define POOL "kind=guid strategy=lowest source=ranges rest=0s " \
	"ranges=0000000000000200..0000000000002fff"

static void write_body(struct buf *body, long n)
{
	struct etcd_txn t = {.prefix = "/bare/"};
	char key[64], owner[96], record[256], value[17];

	snprintf(key, sizeof(key), "v1/id/guid/%016lx", n);
	snprintf(owner, sizeof(owner), "v1/owner/%08lx-0000-4000-8000-000000000000/guid/vf0", n);
	snprintf(value, sizeof(value), "%016lx", n);
	snprintf(record, sizeof(record), "{\"state\":\"leased\",\"pool\":\"p\",\"host\":\"perf\","
		"\"domain\":\"%08lx-0000-4000-8000-000000000000\",\"name\":\"guest%ld\","
		"\"device\":\"vf0\",\"pkey\":32784,\"since\":1795263665}", n, n);
	etcd_if_value(&t, "v1/node/perf", NODE);
	etcd_if_value(&t, "v1/pool/p", POOL);
	etcd_if_revision(&t, key, 0);
	etcd_if_revision(&t, owner, 0);
	etcd_put(&t, key, record, 0);
	etcd_put(&t, owner, value, 0);
	buf_printf(body, "{\"compare\":[%s],\"success\":[%s],\"failure\":[]}", t.compare.data,
		t.branch[ETCD_THEN].data);
	etcd_txn_clear(&t);
}

/* The keys that the compares read. */
static void write_first(struct buf *body)
{
	struct etcd_txn t = {.prefix = "/bare/"};

	etcd_put(&t, "v1/node/perf", NODE, 0);
	etcd_put(&t, "v1/pool/p", POOL, 0);
	buf_printf(body, "{\"success\":[%s]}", t.branch[ETCD_THEN].data);
	etcd_txn_clear(&t);
}

int main(int argc, char **argv)
{
	struct curl_slist *headers = NULL;
	CURL *curl = curl_easy_init();
	long count = argc > 2 ? atol(argv[2]) : 0;
	_buf_ struct buf answer = {0};
	double begun = 0;

	if (!curl || count < 1)
		return 2;
	headers = curl_slist_append(headers, "Content-Type: application/json");
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, swallow);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	for (long i = -1; i < count; i++) {
		_buf_ struct buf body = {0};

		if (i < 0)
			write_first(&body);
		else
			write_body(&body, i + 0x200);
		buf_reset(&answer);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)body.len);
		if (curl_easy_perform(curl) || !strstr(answer.data, "\"succeeded\":true"))
			return fprintf(stderr, "%s\n", answer.data), 1;
		if (i < 0)
			begun = now_s();
	}
	printf("# %.1f per second\n", (double)count / (now_s() - begun));
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	return 0;
}
