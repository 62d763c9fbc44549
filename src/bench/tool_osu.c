// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * OSU micro-benchmarks: mpirun starts both ends. What a program accepts depends on its version, so
 * its own list of options decides: point to point 5.3 has no -m, collectives have -f since 4, and
 * -z (percentiles) came with 7.0, its list of percentiles with 7.4.
 */
#include "bench/tool.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * A line of the list begins with the option: "  -m [MIN:]MAX ...", "  -m, --message-size  [MIN:]MAX
 * ...".
 */
static const char *find_option(const char *usage, const char *option)
{
	size_t len = strlen(option);

	for (const char *line = usage; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		line += strspn(line, " \t");
		if (strncmp(line, option, len) == 0 && strchr(" ,\t", line[len]))
			return line;
	}
	return NULL;
}

unsigned osu_options(const char *usage)
{
	const char *size = find_option(usage, "-m");
	unsigned known = find_option(usage, "-i") ? OSU_KNOWN : 0;

	if (!known)
		return 0; /* not the list: it could not start, or is another program */
	if (size)
		known |= OSU_SIZE;
	if (size && strcspn(size, "\n") > 0 && memmem(size, strcspn(size, "\n"), "[MIN:]MAX", 9))
		known |= OSU_RANGE;
	if (find_option(usage, "-f"))
		known |= OSU_FULL;
	if (find_option(usage, "-z"))
		known |= OSU_TAIL;
	if (strstr(usage, "-z<1-99"))
		known |= OSU_TAIL_LIST;
	return known;
}

void osu_version(const char *text, char *buf, size_t size)
{
	const char *line = strstr(text, "# OSU "), *at = line;

	*buf = '\0';
	while (at && (at = strstr(at, " v")) && at < line + strcspn(line, "\n")) {
		size_t len = strspn(at + 2, "0123456789.");

		at += 2;
		if (len)
			snprintf(buf, size, "%.*s", (int)len, at);
	}
}

static uint64_t processes(const struct tool_run *run)
{
	if (run->per_node && !run->test->threads.count)
		return 2 * run->per_node;
	return run->threads > 1 ? run->threads : 2;
}

/* How many of them the client's end has: half of them, or as many as it takes. */
static uint64_t of_client(const struct tool_run *run)
{
	uint64_t all = processes(run);

	if (!run->per_node)
		return all / 2 + all % 2;
	return run->per_node < all ? run->per_node : all;
}

/*
 * mpirun accepts only a host's name: user and port belong in ~/.ssh/config. Without a number Open
 * MPI starts one process on each host, and refuses more.
 */
static void add_hosts(struct argv *a, const struct tool_run *run)
{
	uint64_t here = of_client(run), there = processes(run) - here;
	const char *host = run->server->where == ENDPOINT_SSH ? run->server->at : run->address;
	bool uri = host && str_starts(host, "ssh://"); /* ssh://[USER@]HOST:PORT */
	const char *user;
	int len;

	if (!host)
		return;
	host += uri ? strlen("ssh://") : 0;
	user = strchr(host, '@');
	host = user ? user + 1 : host;
	len = (int)(uri ? strcspn(host, ":") : strlen(host));
	argv_add(a, "--host");
	if (!there)
		argv_add(a, "localhost:%" PRIu64, here);
	else if (here + there > 2)
		argv_add(a, "localhost:%" PRIu64 ",%.*s:%" PRIu64, here, len, host, there);
	else
		argv_add(a, "localhost,%.*s", len, host);
}

static bool is_collective(const char *program)
{
	return !str_eq(program, "osu_latency") && !str_eq(program, "osu_bw") &&
		!str_eq(program, "osu_bibw");
}

/* Whether the plan itself gives the option, as "-z", "-z50,99" or "--tail-lat". */
static bool is_given(const struct tool_run *run, const char *option, const char *name)
{
	for (size_t i = 0; run->test->options && run->test->options[i]; i++)
		if (str_starts(run->test->options[i], option) || str_starts(run->test->options[i], name))
			return true;
	return false;
}

/* If nothing is known about the program, it has the options of all versions from 5.4. */
static unsigned options_of(const struct tool_run *run)
{
	if (run->osu)
		return run->osu;
	return OSU_SIZE | OSU_RANGE | (is_collective(run->test->tool) ? OSU_FULL : 0);
}

static void add_version_options(struct argv *a, const struct tool_run *run)
{
	unsigned can = options_of(run);

	if (can & OSU_FULL && !is_given(run, "-f", "--full"))
		argv_add(a, "-f");
	if (can & OSU_TAIL && !is_given(run, "-z", "--tail-lat"))
		argv_add(a, can & OSU_TAIL_LIST ? "-z50,90,95,99" : "-z");
	if (!run->size || !(can & OSU_SIZE))
		return; /* it measures all sizes, of which one row is used */
	argv_add(a, "-m");
	if (can & OSU_RANGE)
		argv_add(a, "%" PRIu64 ":%" PRIu64, run->size, run->size);
	else
		argv_add(a, "%" PRIu64, run->size);
}

void osu_client(struct argv *a, const struct tool_run *run)
{
	static char *const mpirun[] = {"mpirun", NULL};
	const struct bench_plan_test *t = run->test;
	char *const *launcher = run->launcher ? run->launcher : mpirun;

	for (size_t i = 0; launcher[i]; i++)
		argv_add(a, "%s", launcher[i]);
	argv_add(a, "-np");
	argv_add(a, "%" PRIu64, processes(run));
	add_hosts(a, run);
	argv_add(a, "%s", t->tool);
	add_version_options(a, run);
	if (run->iterations) {
		argv_add(a, "-i");
		argv_add(a, "%" PRIu64, run->iterations);
	}
	tool_add_options(a, run);
}
