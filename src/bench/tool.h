/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_TOOL_H
#define VFCTL_BENCH_TOOL_H

#include "base/buf.h"
#include "bench/plan.h"
#include "bench/reading.h"
#include "remote/argv.h"

/* One point of a sweep. */
struct tool_run {
	const struct bench_plan_test *test;
	const struct endpoint *client, *server;
	const char *address; /* of the server, as the client reaches it */
	uint64_t size;	     /* 0: the tool's own */
	uint64_t threads;    /* 1: one */
	const char *direction;
	uint16_t port;
};

/* What a tool can be asked for besides its usual. */
enum { TOOL_SIZE = 1, TOOL_THREADS = 2, TOOL_REVERSE = 4, TOOL_BOTH = 8, TOOL_ITERATIONS = 16,
	TOOL_DURATION = 32, TOOL_UDP = 64, TOOL_RDMA = 128 };

struct tool {
	const char *name; /* the program, and its name in plans */
	enum bench_tool parser;
	const char *package;  /* of Debian; NULL: none has it */
	const char *goal;     /* what is judged when the plan says nothing */
	bool higher_is_better;
	unsigned can;
	uint16_t port;	      /* where its server listens; 0: it has none */
	bool udp_server;      /* on UDP (also when the test's transport is TCP: false) */
	const char *version[2]; /* arguments that make it tell its version; NULL: none do */
	void (*server)(struct argv *a, const struct tool_run *run); /* NULL: there is none */
	void (*client)(struct argv *a, const struct tool_run *run);
};

/* NULL: there is none of that name. */
const struct tool *tool_find(const char *name);
const char *tool_goal(const struct tool *tool, const struct bench_plan_test *test);
bool tool_higher_is_better(const struct tool *tool, const struct bench_plan_test *test);
/* Can it do what the test asks for? -EINVAL with words. */
int tool_check(struct vfctl_ctx *ctx, const struct tool *tool, const struct bench_plan_test *test,
	const struct endpoint *client, const struct endpoint *server);
/* Does its server listen on UDP for this test? */
bool tool_listens_udp(const struct tool *tool, const struct bench_plan_test *test);
/* The longest that the client takes by itself, seconds, as far as it is known. */
unsigned tool_seconds(const struct bench_plan_test *test);

#endif
