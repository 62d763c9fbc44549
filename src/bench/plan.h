/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_PLAN_H
#define VFCTL_BENCH_PLAN_H

#include "base/util.h"
#include "remote/endpoint.h"
#include "spec/reader.h"

#define BENCH_PLAN_FILE_MAX (256u << 10)
#define BENCH_NAME_MAX 48 /* of endpoints, configurations and tests */

/* The names of ethtool -C, and "mtu", "ipoib-mode", "governor". */
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
	struct bench_plan_settings of_client, of_server, of_both; /* the values of the key "settings" */
	char **launcher; /* instead of that of each test of OSU; NULL: none */
	uint32_t wireguard_mtu; /* the tools use a tunnel between the two ends; 0: no tunnel */
};

struct bench_numbers {
	uint64_t *v;
	size_t count;
};

struct bench_plan_test {
	char *name;
	char *tool; /* a name in bench/tool.c */
	char *mode; /* mode of the tool: "udp_lat" of qperf, "UDP_RR" of netperf; NULL: the default */
	struct bench_numbers sizes;   /* bytes; none: the tool's default */
	struct bench_numbers threads; /* 1..1024; none: 1 */
	char **directions;	      /* NULL: forward */
	struct bench_numbers per_node; /* processes of MPI on each end; none: half of the threads */
	struct bench_numbers iterations; /* none: limited by duration */
	uint32_t duration_s;	      /* 0: the tool's default */
	uint32_t port;		      /* 0: the tool's default; a command's server has none */
	bool udp;
	bool events;	 /* perftest -e */
	bool all_sizes;	 /* perftest -a */
	bool raw_samples; /* one for each round trip, if the tool reports them */
	uint32_t inline_bytes; /* perftest -I; UINT32_MAX: the tool's default */
	char **options;	       /* further arguments for client and server; NULL: none */
	char **launcher;       /* of OSU: "mpirun" with its own arguments; NULL: mpirun alone */
	char **command;	       /* argv of tool "command"; it runs on the client's end */
	char **server_command; /* argv of its server, which listens on @port; NULL: none */
	char *regex, *json_path, *unit; /* position of its number */
	char *goal;	       /* the value that decides; NULL: the tool's default */
	bool higher_is_better; /* for a command */
};

struct bench_plan {
	char *name;
	uint32_t trials, warmup;
	uint32_t seed; /* 0: chosen at the start */
	uint32_t timeout_s; /* time limit of one run, besides its duration */
	double alpha, noise; /* fractions */
	char **baselines; /* names of configurations; NULL: the first configuration */
	char **requires; /* what the hosts must have, for people; NULL: nothing */
	char *source;	/* what the plan repeats, or NULL */
	struct endpoint *endpoints;
	size_t endpoint_count;
	struct bench_plan_configuration *configurations;
	size_t configuration_count;
	struct bench_plan_test *tests;
	size_t test_count;
};

/* -EINVAL with "file:line:column: key: message" for everything that is not valid. */
int bench_plan_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct bench_plan **ret);
/* Parse a document that was already read. */
int bench_plan_read(struct vfctl_ctx *ctx, const struct doc_node *root, struct bench_plan **ret);
void bench_plan_free(struct bench_plan *plan);
DEFINE_FREEP(struct bench_plan, bench_plan_free)

/* Whether that configuration is among the first @below baselines. */
bool bench_plan_is_baseline(const struct bench_plan *plan, const char *name, size_t below);
/* The number of trials with which a verdict is possible; 0: nothing is compared. */
unsigned bench_plan_trials_needed(const struct bench_plan *plan);
/* For a smoke run: one trial without a warm-up, each test with 1 s or up to 1,000 iterations. */
void bench_plan_quicken(struct bench_plan *plan);
const struct endpoint *bench_plan_find_endpoint(const struct bench_plan *plan, const char *name);

/* In plan_tests.c: the table for entries of "tests". */
extern const struct table bench_test_table;
int read_bench_tests(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
void bench_test_clear(struct bench_plan_test *test);

/* In plan_settings.c: a struct bench_plan_settings. */
extern const struct table bench_setting_table;
int read_bench_settings(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);

#endif
