/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_PLAN_H
#define VFCTL_BENCH_PLAN_H

#include "base/util.h"
#include "remote/endpoint.h"
#include "spec/reader.h"

#define BENCH_PLAN_FILE_MAX (256u << 10)
#define BENCH_NAME_MAX 48 /* of endpoints, configurations and tests */

/* The names are those of ethtool -C, and "mtu", "ipoib-mode", "governor". */
struct bench_plan_setting {
	char *name, *value;
};

struct bench_plan_settings {
	struct bench_plan_setting *v;
	size_t count;
};

struct bench_plan_configuration {
	char *name;
	char *client, *server; /* endpoints; never NULL */
	struct bench_plan_settings of_client, of_server, of_both; /* by the key "settings" */
	uint32_t wireguard_mtu; /* a tunnel between the two under the tools; 0: none */
};

struct bench_numbers {
	uint64_t *v;
	size_t count;
};

struct bench_plan_test {
	char *name;
	char *tool; /* a name of bench/tool.c */
	char *mode; /* what of the tool: "udp_lat" of qperf, "UDP_RR" of netperf; NULL: its usual */
	struct bench_numbers sizes;   /* bytes; none: the tool's own */
	struct bench_numbers threads; /* 1..1024; none: 1 */
	char **directions;	      /* NULL: forward */
	uint64_t iterations;	      /* 0: by duration */
	uint32_t duration_s;	      /* 0: the tool's own */
	uint32_t port;		      /* 0: the tool's own */
	bool udp;
	bool events;	 /* perftest -e */
	bool all_sizes;	 /* perftest -a */
	bool raw_samples; /* of each round trip, where the tool tells them */
	uint32_t inline_bytes; /* perftest -I; UINT32_MAX: the tool's own */
	char **options;	       /* more arguments for client and server; NULL: none */
	char **command;	       /* argv of tool "command"; run on the client's end */
	char *regex, *json_path, *unit; /* where its number is */
	char *goal;	       /* which value decides; NULL: the tool's usual */
	bool higher_is_better; /* of a command */
};

struct bench_plan {
	char *name;
	uint32_t trials, warmup;
	uint32_t seed; /* 0: chosen at the start */
	uint32_t timeout_s; /* of one run, besides its duration */
	double alpha, noise; /* fractions */
	char *baseline; /* a configuration, or NULL */
	struct endpoint *endpoints;
	size_t endpoint_count;
	struct bench_plan_configuration *configurations;
	size_t configuration_count;
	struct bench_plan_test *tests;
	size_t test_count;
};

/* -EINVAL with "file:line:column: key: words" for whatever the file cannot mean. */
int bench_plan_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct bench_plan **ret);
/* The same of a document that is there already. */
int bench_plan_read(struct vfctl_ctx *ctx, const struct doc_node *root, struct bench_plan **ret);
void bench_plan_free(struct bench_plan *plan);
DEFINE_FREEP(struct bench_plan, bench_plan_free)

const struct endpoint *bench_plan_find_endpoint(const struct bench_plan *plan, const char *name);

/* In plan_tests.c: the entries of "tests". */
extern const struct table bench_test_table;
int read_bench_tests(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
void bench_test_clear(struct bench_plan_test *test);

#endif
