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
	const char *address; /* address of the server, from the client's point of view */
	uint64_t size;	     /* 0: the tool's default */
	uint64_t threads;    /* 1: one */
	uint64_t iterations; /* 0: limited by duration */
	uint64_t per_node;   /* processes on each end; 0: half of the threads */
	const char *direction;
	uint16_t port;
	char *const *launcher; /* of OSU: "mpirun" with its own arguments; NULL: mpirun alone */
	unsigned osu; /* OSU_..., what this version accepts; 0: not known */
};

/* Capabilities of a tool besides its default measurement. */
enum { TOOL_SIZE = 1, TOOL_THREADS = 2, TOOL_REVERSE = 4, TOOL_BOTH = 8, TOOL_ITERATIONS = 16,
	TOOL_DURATION = 32, TOOL_UDP = 64, TOOL_RDMA = 128, TOOL_ALL_SIZES = 256, TOOL_EVENTS = 512,
	TOOL_INLINE = 1024, TOOL_PER_NODE = 2048 };

struct tool {
	const char *name; /* the program, and its name in plans */
	enum bench_tool parser;
	const char *package;  /* Debian package; NULL: there is none */
	const char *goal;     /* the metric that is judged if the plan states none */
	bool higher_is_better;
	unsigned can;
	uint16_t port;	      /* port of its server; 0: it has none */
	bool udp_server;      /* the server uses UDP (even if the transport of the test is TCP: false) */
	const char *version[2]; /* arguments with which it prints its version; NULL: there are none */
	void (*server)(struct argv *a, const struct tool_run *run); /* NULL if there is none */
	void (*client)(struct argv *a, const struct tool_run *run);
};

/* Add the plan's own options. */
void tool_add_options(struct argv *a, const struct tool_run *run);

/* Options of an OSU program: -m, -m MIN:MAX, -f, -z, -z with a list. */
enum { OSU_KNOWN = 1, OSU_SIZE = 2, OSU_RANGE = 4, OSU_FULL = 8, OSU_TAIL = 16,
	OSU_TAIL_LIST = 32 };
/* Read the list that the program prints with -h; 0: it is not such a list. */
unsigned osu_options(const char *usage);
/* The version in "# OSU MPI Latency Test v7.4"; "": it has none. */
void osu_version(const char *text, char *buf, size_t size);
void osu_client(struct argv *a, const struct tool_run *run);

/* NULL if there is none of that name. */
const struct tool *tool_find(const char *name);
const char *tool_goal(const struct tool *tool, const struct bench_plan_test *test);
bool tool_higher_is_better(const struct tool *tool, const struct bench_plan_test *test);
/* Check whether the tool supports what the test requests. -EINVAL with a message. */
int tool_check(struct vfctl_ctx *ctx, const struct tool *tool, const struct bench_plan_test *test,
	const struct endpoint *client, const struct endpoint *server);
/* Whether its server listens on UDP for this test. */
bool tool_listens_udp(const struct tool *tool, const struct bench_plan_test *test);
/* The longest duration of the client, seconds, as far as it is known. */
unsigned tool_seconds(const struct bench_plan_test *test);

#endif
