// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/detect.h"
#include "bench/search.h"
#include "host/host.h"
#include "host/tree.h"
#include "remote/tunnel.h"

#define RAW "raw"
#define LISTEN_MS 60000
#define LISTEN_LOOK_MS 10
#define RUN_MS 60000
#define ROOM_MIN (16u << 10) /* bytes; a run prints more than that */
#define WORDS 300

/* ---- command lines ---- */

struct lines {
	struct argv client, server;
	char *address; /* of a tunnel */
};

static void clear_lines(struct lines *l)
{
	argv_clear(&l->client);
	argv_clear(&l->server);
	free(l->address);
}

static uint16_t port_of(const struct bench_point *p)
{
	return p->test->port ? (uint16_t)p->test->port : p->tool->port;
}

static int make_lines(const struct bench *b, const struct bench_turn *turn, struct lines *ret)
{
	const struct bench_point *p = &b->points[turn->point];
	const struct bench_plan_configuration *c = &b->plan->configurations[turn->configuration];
	struct tool_run run = {.test = p->test, .size = p->size, .threads = p->threads,
		.iterations = p->iterations, .per_node = p->per_node, .direction = p->direction,
		.port = port_of(p),
		.client = bench_plan_find_endpoint(b->plan, c->client),
		.server = bench_plan_find_endpoint(b->plan, c->server),
		.launcher = c->launcher ? c->launcher : p->test->launcher,
		.osu = survey_osu_options(&b->survey, p->test->tool, c->client)};

	if (c->wireguard_mtu && !(ret->address = tunnel_address(bench_number_of(b, c))))
		return ctx_oom(b->ctx);
	run.address = ret->address ? ret->address : run.server->address;
	p->tool->client(&ret->client, &run);
	if (p->tool->server)
		p->tool->server(&ret->server, &run);
	return ret->client.failed || ret->server.failed ? ctx_oom(b->ctx) : 0;
}

int bench_commands(const struct bench *b, size_t turn, char **ret_client, char **ret_server)
{
	_cleanup_(clear_lines) struct lines l = {0};
	_free_ char *client = NULL;
	char *server = NULL;
	int r = make_lines(b, &b->turns[turn], &l);

	if (r < 0)
		return r;
	client = argv_text(l.client.v);
	if (l.server.v)
		server = argv_text(l.server.v);
	if (!client || (l.server.v && !server)) {
		free(server);
		return ctx_oom(b->ctx);
	}
	*ret_client = steal(client);
	*ret_server = server;
	return 0;
}

/* ---- one run ---- */

struct run {
	struct bench *b;
	const char *dir;
	size_t at;
	const struct bench_turn *turn;
	const struct bench_point *point;
	const struct bench_plan_configuration *configuration;
	struct lines lines;
	struct place_job *server, *client;
	char *out, *err, *server_out, *server_err; /* files */
};

static void clear_run(struct run *r)
{
	place_job_stop(r->client);
	place_job_stop(r->server);
	clear_lines(&r->lines);
	free(r->out);
	free(r->err);
	free(r->server_out);
	free(r->server_err);
}

static char *raw_path(const struct run *r, const char *what)
{
	return str_format("%s/" RAW "/%05zu-%s", r->dir, r->at + 1, what);
}

/*
 * Whether a line "  0: 0100007F:1F90 00000000:0000 0A ..." of /proc/net/tcp, udp or their 6 forms
 * is a listening socket.
 */
static bool is_listening(const char *text, uint16_t port, bool udp)
{
	char state[8], local[64];
	unsigned number;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *colon;

		line += *line == '\n';
		if (sscanf(line, " %*u: %63s %*s %7s", local, state) != 2)
			continue;
		colon = strchr(local, ':');
		if (colon && sscanf(colon + 1, "%4x", &number) == 1 && number == port &&
			(udp || str_eq(state, "0A")))
			return true;
	}
	return false;
}

static int look_for_port(struct run *r, bool *ret)
{
	struct place *p = &bench_end_of(r->b, r->configuration->server)->place;
	bool udp = tool_listens_udp(r->point->tool, r->point->test);
	char *tcp_files[] = {"cat", "/proc/net/tcp", "/proc/net/tcp6", NULL};
	char *udp_files[] = {"cat", "/proc/net/udp", "/proc/net/udp6", NULL};
	_cleanup_(place_output_clear) struct place_output o = {0};
	int e = place_run(p, udp ? udp_files : tcp_files, NULL, RUN_MS, &o);

	if (e == 0)
		*ret = o.out.data && is_listening(o.out.data, port_of(r->point), udp);
	return e;
}

/* The first line of a file that is not empty. */
static void first_line(const char *path, char *buf, size_t size)
{
	_close_ int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char some[2048];
	ssize_t n = fd >= 0 ? read(fd, some, sizeof(some) - 1) : 0;
	const char *text = some;

	some[n > 0 ? n : 0] = '\0';
	text += strspn(text, " \t\r\n-");
	snprintf(buf, size, "%.*s", (int)strcspn(text, "\r\n"), text);
}

static int fail_server(struct run *r, const char *what)
{
	char message[WORDS], where[300];
	struct place *p = &bench_end_of(r->b, r->configuration->server)->place;

	first_line(r->server_err, message, sizeof(message));
	if (!*message)
		first_line(r->server_out, message, sizeof(message));
	return ctx_fail(r->b->ctx, -EIO, "the server on %s %s%s%s", place_describe(p, where), what,
		*message ? ": " : "", message);
}

static int await_server(struct run *r)
{
	int64_t end = now_ms() + LISTEN_MS;
	bool there = false;
	int status, e = 0;

	for (;;) {
		e = look_for_port(r, &there);
		if (e < 0 || there)
			return e;
		if (place_job_ended(r->server, &status) == 1)
			return fail_server(r, "ended before it listened");
		if (now_ms() > end)
			return fail_server(r, "never listened");
		if (r->b->ctx->cancelled)
			return ctx_fail(r->b->ctx, -EINTR, "interrupted");
		host_sleep_ms(r->b->ctx, LISTEN_LOOK_MS);
	}
}

static unsigned life_ms(const struct run *r)
{
	return (r->b->plan->timeout_s + tool_seconds(r->point->test)) * 1000;
}

static int start_server(struct run *r)
{
	struct place *p = &bench_end_of(r->b, r->configuration->server)->place;
	bool taken = false;
	int e;

	if (!r->lines.server.v)
		return 0;
	e = look_for_port(r, &taken);
	if (e == 0 && taken)
		e = ctx_fail(r->b->ctx, -EADDRINUSE, "port %u is in use at endpoint %s; write another "
			"port: at test %s", port_of(r->point), p->end->name, r->point->test->name);
	if (e == 0)
		e = place_start(p, r->lines.server.v, life_ms(r) + LISTEN_MS, r->server_out,
			r->server_err, &r->server);
	return e < 0 ? e : await_server(r);
}

static int fail_client(struct run *r, const char *what)
{
	char message[WORDS];

	first_line(r->err, message, sizeof(message));
	if (!*message)
		first_line(r->out, message, sizeof(message));
	return ctx_fail(r->b->ctx, -EIO, "%s %s%s%s", r->point->tool->name, what, *message ? ": " : "",
		message);
}

static int read_output(struct run *r, struct buf *ret)
{
	_close_ int fd = open(r->out, O_RDONLY | O_CLOEXEC);
	char some[65536];
	ssize_t n = 0;

	while (fd >= 0 && (n = read(fd, some, sizeof(some))) > 0)
		buf_add(ret, some, (size_t)n);
	if (fd < 0 || n < 0)
		return ctx_fail(r->b->ctx, -errno, "read %s: %s", r->out, strerror(errno));
	buf_add(ret, "", 0);
	return ret->failed ? ctx_oom(r->b->ctx) : 0;
}

/* An OSU program that cannot be limited to one size prints all. */
static int keep_size(struct run *r, struct bench_reading **io)
{
	if (r->point->tool->parser != BENCH_OSU || !r->point->size ||
		bench_reading_keep(*io, r->point->size))
		return 0;
	bench_reading_free(steal(*io));
	return ctx_fail(r->b->ctx, -EBADMSG, "%s: it printed no figures for %" PRIu64 " bytes",
		r->point->tool->name, r->point->size);
}

/* The tool's own error message is better than its exit status. */
static int judge_bench(struct run *r, int status, struct bench_reading **ret)
{
	const struct bench_plan_test *t = r->point->test;
	const struct bench_extract extract = {.regex = t->regex, .json_path = t->json_path,
		.unit = t->unit, .higher_is_better = t->higher_is_better, .ended_well = status == 0};
	_buf_ struct buf text = {0};
	char how[64];
	int e = read_output(r, &text);

	if (e < 0)
		return e;
	snprintf(how, sizeof(how), status > 128 ? "was killed by signal %d" : "ended with status %d",
		status > 128 ? status - 128 : status);
	if (status != 0 && r->point->tool->parser != BENCH_IPERF3)
		return fail_client(r, how);
	e = bench_parse(r->b->ctx, r->point->tool->parser, &extract, text.data ? text.data : "",
		text.len, ret);
	if (e == 0 && status != 0) {
		bench_reading_free(*ret);
		*ret = NULL;
		return fail_client(r, how);
	}
	return e < 0 ? e : keep_size(r, ret);
}

static int measure_bench(struct run *r, struct bench_reading **ret)
{
	struct place *p = &bench_end_of(r->b, r->configuration->client)->place;
	int status = 0, e = start_server(r);

	if (e == 0)
		e = place_start(p, r->lines.client.v, life_ms(r), r->out, r->err, &r->client);
	if (e == 0)
		e = place_job_wait(r->client, life_ms(r), r->server, &status);
	if (e == -EPIPE)
		return fail_server(r, "ended before its client did");
	if (e == -ETIMEDOUT && !r->point->tool->server)
		return ctx_append(r->b->ctx, e, " (timeout: in the plan allows more time)");
	if (e == -ETIMEDOUT)
		return ctx_append(r->b->ctx, e, " (check that the client can reach port %u of the "
			"server, and firewalls; timeout: in the plan allows more time)", port_of(r->point));
	/* The output of a program in a guest is written when its job is released. */
	if (e == 0)
		place_job_stop(steal(r->server));
	return e < 0 ? e : judge_bench(r, status, ret);
}

/* ---- the line of a trial ---- */

static int add_parameter(struct bench_trial *t, const char *name, const char *fmt, ...)
	_printf_(3, 4);
static int add_parameter(struct bench_trial *t, const char *name, const char *fmt, ...)
{
	struct bench_parameter *p;
	va_list args;

	if (!array_grow(t->parameters, t->parameter_count))
		return -ENOMEM;
	p = &t->parameters[t->parameter_count++];
	str_copy(p->name, sizeof(p->name), name);
	va_start(args, fmt);
	vsnprintf(p->value, sizeof(p->value), fmt, args);
	va_end(args);
	return 0;
}

static int add_parameters(struct bench_trial *t, const struct bench_point *p, uint64_t size)
{
	int e = size ? add_parameter(t, "size", "%" PRIu64, size) : 0;

	if (e == 0 && p->test->threads.count)
		e = add_parameter(t, "threads", "%" PRIu64, p->threads);
	if (e == 0 && p->per_node)
		e = add_parameter(t, "per-node", "%" PRIu64, p->per_node);
	if (e == 0 && p->test->iterations.count > 1)
		e = add_parameter(t, "iterations", "%" PRIu64, p->iterations);
	if (e == 0 && p->test->directions)
		e = add_parameter(t, "direction", "%s", p->direction);
	if (e == 0 && p->phase)
		e = add_parameter(t, SEARCH_PHASE, "%s", p->phase);
	return e;
}

static int name_files(const struct run *r, struct bench_trial *t)
{
	const char *const paths[] = {r->out, r->err, r->server_out, r->server_err};
	_cleanup_(argv_clear) struct argv raw = {0}, commands = {0};
	_free_ char *client = argv_text(r->lines.client.v),
		    *server = r->lines.server.v ? argv_text(r->lines.server.v) : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (paths[i] && access(paths[i], F_OK) == 0)
			argv_add(&raw, "%s", paths[i] + strlen(r->dir) + 1);
	if (server)
		argv_add(&commands, "%s", server);
	argv_add(&commands, "%s", client ? client : "");
	t->raw = steal(raw.v);
	t->commands = steal(commands.v);
	return raw.failed || commands.failed || !client ? -ENOMEM : 0;
}

static int begin_line(const struct run *r, const char *started, double seconds,
	struct bench_trial *t)
{
	*t = (struct bench_trial){.run = (unsigned)r->at + 1, .trial = r->turn->trial,
		.configuration = strdup(r->configuration->name), .test = strdup(r->point->test->name),
		.tool = strdup(r->point->tool->name), .started = strdup(started), .seconds = seconds};
	return t->configuration && t->test && t->tool && t->started ? name_files(r, t) : -ENOMEM;
}

/* One line for each row that the tool printed: its own sweep has several. */
static int write_lines(const struct run *r, const char *started, double seconds,
	const struct bench_reading *reading, const char *error)
{
	size_t count = reading ? reading->row_count : 1;
	int e = 0;

	for (size_t i = 0; i < count && e == 0; i++) {
		_cleanup_(bench_trial_clear) struct bench_trial t = {0};
		uint64_t size = reading && r->point->test->all_sizes ? reading->rows[i].size
								     : r->point->size;

		if (r->point->test->all_sizes && count > 1 && !size)
			continue; /* OSU's empty message has no place on an axis of sizes */
		e = begin_line(r, started, seconds, &t);
		if (e == 0)
			e = add_parameters(&t, r->point, size);
		if (e == 0 && reading)
			e = bench_trial_from_row(&reading->rows[i], &t);
		if (e == 0 && error && !(t.error = strdup(error)))
			e = -ENOMEM;
		e = e < 0 ? ctx_oom(r->b->ctx) : bench_trial_append(r->b->ctx, r->dir, &t);
	}
	return e;
}

/* The goal of its test; NULL: the tool reported none. */
static const struct bench_metric *goal_metric(const struct run *r,
	const struct bench_reading *reading)
{
	return reading ? bench_metric_find(reading->rows[0].metrics, reading->rows[0].metric_count,
		tool_goal(r->point->tool, r->point->test)) : NULL;
}

static void tell_bench(const struct run *r, const struct bench_reading *reading, const char *error)
{
	const struct bench_metric *m = goal_metric(r, reading);
	char message[128], trial[32], value[VFCTL_BENCH_TEXT];

	snprintf(trial, sizeof(trial), r->turn->trial ? "trial %u" : "warm-up", r->turn->trial);
	bench_point_text(r->point, message);
	if (error)
		log_warn(r->b->ctx, "%s of %s, %s failed: %s", trial, r->configuration->name, message,
			error);
	else if (m)
		log_info(r->b->ctx, "%s of %s, %s: %s %s", trial, r->configuration->name, message,
			tool_goal(r->point->tool, r->point->test),
			vfctl_bench_value(m->value, m->unit, m->value, value));
	else
		log_info(r->b->ctx, "%s of %s, %s: measured", trial, r->configuration->name, message);
}

static int open_run(struct run *r)
{
	int e = make_lines(r->b, r->turn, &r->lines);

	if (e < 0)
		return e;
	r->out = raw_path(r, "client.out");
	r->err = raw_path(r, "client.err");
	if (r->lines.server.v) {
		r->server_out = raw_path(r, "server.out");
		r->server_err = raw_path(r, "server.err");
	}
	return r->out && r->err && (!r->lines.server.v || (r->server_out && r->server_err))
		? 0
		: ctx_oom(r->b->ctx);
}

/* Whether an error of a run ends the measurement as a whole. */
static bool is_final(int error)
{
	return error == -EINTR || error == -ENOMEM || error == -ENOSPC || error == -EROFS ||
		error == -EDQUOT || error == -ENODEV;
}

/* If there was no disk space for its output, a program's own message does not give the reason. */
static int look_for_room(struct bench *b, const char *dir, int error)
{
	struct statvfs fs;

	if (error == 0 || statvfs(dir, &fs) < 0 || (uint64_t)fs.f_bavail * fs.f_bsize >= ROOM_MIN)
		return error;
	return ctx_fail(b->ctx, -ENOSPC, "%s: %s (the measured runs are kept; to continue when there is "
		"space again: vfctl bench run --resume %s)", dir, strerror(ENOSPC), dir);
}

/* If one configuration is refused, the search continues without it. */
static bool is_refusal(const struct bench *b, int error)
{
	return b->searches && !b->ctx->cancelled &&
		(error == -EINVAL || error == -EOPNOTSUPP || error == -EPROTO);
}

static double goal_of(const struct run *r, const struct bench_reading *reading)
{
	const struct bench_metric *m = goal_metric(r, reading);

	return m ? m->value : NAN;
}

int bench_make(struct bench *b, const char *dir, size_t at, struct bench_made *ret)
{
	const struct bench_turn *turn = &b->turns[at];
	_cleanup_(clear_run) struct run r = {.b = b, .dir = dir, .at = at, .turn = turn,
		.point = &b->points[turn->point],
		.configuration = &b->plan->configurations[turn->configuration]};
	_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;
	_free_ char *error = NULL;
	char started[32];
	int64_t begun = now_ms();
	time_t now = time(NULL);
	struct tm tm;
	int e = bench_set_all(b, r.configuration);

	if (e < 0 && e != -EINTR)
		e = bench_explain(b, r.configuration, dir, e);
	*ret = (struct bench_made){.refused = is_refusal(b, e)};
	if (ret->refused && !(error = strdup(vfctl_ctx_error(b->ctx))))
		return ctx_oom(b->ctx);
	if (e == 0 || ret->refused)
		e = open_run(&r);
	if (e < 0)
		return e;
	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	e = ret->refused ? 0 : look_for_room(b, dir, measure_bench(&r, &reading));
	if (e < 0 && !is_final(e))
		e = bench_explain(b, r.configuration, dir, e);
	if (is_final(e) || (e < 0 && b->ctx->cancelled))
		return b->ctx->cancelled ? -EINTR : e;
	if (e < 0 && !(error = strdup(vfctl_ctx_error(b->ctx))))
		return ctx_oom(b->ctx);
	ret->worked = !error;
	ret->value = goal_of(&r, reading);
	ret->seconds = (double)(now_ms() - begun) / 1000;
	e = write_lines(&r, started, ret->seconds, reading, error);
	if (e == 0)
		tell_bench(&r, reading, error);
	return e;
}

/* ---- all runs ---- */

static bool *runs_done(const struct bench *b, const struct bench_result *result)
{
	bool *done = calloc(b->turn_count + 1, sizeof(bool));

	for (size_t i = 0; done && i < result->trial_count; i++)
		if (result->trials[i].run <= b->turn_count)
			done[result->trials[i].run] = true;
	/* After a crash, only the first lines of a program's own sweep may have been written. */
	if (done && result->trial_count) {
		unsigned last = result->trials[result->trial_count - 1].run;

		if (last >= 1 && last <= b->turn_count &&
			b->points[b->turns[last - 1].point].test->all_sizes)
			done[last] = false;
	}
	return done;
}

static int make_raw(struct bench *b, const char *dir)
{
	int r = tree_make_dirs(dir, RAW);

	return r < 0 ? ctx_fail(b->ctx, r, "make %s/" RAW ": %s", dir, strerror(-r)) : 0;
}

static int measure_all(struct bench *b, const char *dir, const bool *done)
{
	_free_ double *values = calloc(b->turn_count + 1, sizeof(*values));
	size_t left = 0, made = 0, failed = 0;
	unsigned tell_after = detect_after(b);
	double total_s = 0;
	int e = values ? 0 : ctx_oom(b->ctx);

	for (size_t i = 0; i < b->turn_count && values; i++) {
		left += !done[i + 1];
		values[i] = NAN;
	}
	for (size_t i = 0; i < b->turn_count && e == 0; i++) {
		struct bench_made run = {0};

		if (done[i + 1])
			continue;
		if (made)
			ctx_progress(b->ctx, "run %zu of %zu, %s; about %.0f s left", i + 1, b->turn_count,
				b->plan->configurations[b->turns[i].configuration].name,
				total_s / (double)made * (double)left);
		if (tell_after && b->turns[i].trial > tell_after) {
			e = detect_tell(b, values);
			tell_after = 0;
		}
		if (e == 0)
		e = bench_make(b, dir, i, &run);
		values[i] = run.value;
		total_s += run.seconds;
		made++;
		left--;
		failed = run.worked ? 0 : failed + 1;
		if (e == 0 && failed == BENCH_FAILED_IN_A_ROW)
			e = ctx_append(b->ctx, -EIO, " (%d consecutive runs failed, so vfctl stopped; "
				"solve that, then continue with: vfctl bench run --resume %s)",
				BENCH_FAILED_IN_A_ROW, dir);
	}
	return e;
}

int bench_prepare(struct bench *b, const char *dir)
{
	int r = make_raw(b, dir);

	return r < 0 ? r : bench_make_tunnels(b);
}

int bench_measure(struct bench *b, const char *dir)
{
	_cleanup_(bench_result_freep) struct bench_result *result = NULL;
	_free_ bool *done = NULL;
	int r = bench_result_read(b->ctx, dir, &result);

	if (r < 0)
		return r;
	done = runs_done(b, result);
	if (!done)
		return ctx_oom(b->ctx);
	r = bench_prepare(b, dir);
	return r < 0 ? r : measure_all(b, dir, done);
}
