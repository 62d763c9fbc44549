// SPDX-License-Identifier: GPL-2.0-or-later
/* monitor: print changes on this host as they happen, one line each. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/context.h"
#include "command.h"
#include "monitor/watch.h"
#include "things.h"
#include "verbs/monitor_bridge.h"

#define AGAIN_MS 1000 /* after a failed read, and during a change */
#define FOREVER_S 31536000u
#define WORDS_MAX 2560 /* length of a line; JSON is not truncated */

struct monitor {
	struct invocation *in;
	struct vfctl_watch *watch;
	struct things now;
	int signal_fd, stop_fd; /* the latter becomes readable when a signal arrives or the
				   reader is gone */
	bool journal;
	uint32_t left; /* lines to print; 0: no limit */
	bool ended;	    /* all lines are printed, or there is no reader */
	int64_t end_ms;	    /* CLOCK_MONOTONIC; 0: none */
	bool failing;	    /* the last read failed, which was reported */
	bool busy;	    /* a change is in progress: there is no event for the death of its process */
};

/* ---- a line ---- */

/* An object that appeared has no @before, one that disappeared no @after. */
struct event {
	const char *kind, *what; /* "appeared", "changed", "gone", "present", "lost" */
	const struct thing *before, *after;
};

static const struct thing *subject(const struct event *e)
{
	return e->after ? e->after : e->before;
}

static void format_time(char text[32])
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
}

static const char *value_in(const struct thing *t, const char *name)
{
	const char *value = t ? thing_member(t, name) : NULL;

	return value && *value ? value : NULL;
}

/* Whether that member is worth printing. */
static bool told(const struct event *e, const char *name)
{
	const char *before = value_in(e->before, name), *after = value_in(e->after, name);

	return before && after ? strcmp(before, after) != 0 : before || after;
}

/* Append to @text at @at, as far as there is space; returns the new position. */
static size_t put_text(char *text, size_t size, size_t at, const char *a, const char *b,
	const char *c)
{
	int n = at < size ? snprintf(text + at, size - at, "%s%s%s", a, b, c) : 0;

	return at + (n > 0 ? (size_t)n : 0);
}

/* "holder free -> domain web, lease web" */
static void format_members(const struct event *e, char *text, size_t size)
{
	const struct thing *t = subject(e);
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; t && i < t->member_count; i++) {
		const char *name = t->members[i].name, *after = value_in(e->after, name),
			   *before = value_in(e->before, name);

		if (!e->after || !told(e, name) || (!e->before && strcmp(name, e->kind) == 0))
			continue;
		at = put_text(text, size, at, at ? ", " : ": ", name, " ");
		if (e->before)
			at = put_text(text, size, at, before ? before : "-", " -> ", "");
		at = put_text(text, size, at, after ? after : "-", "", "");
	}
}

/*
 * The values have the form of vfctl list -o for the column of that name, with '-' instead of '_'.
 */
static const char *member_value(const struct thing *t, const struct member *m)
{
	char name[COLUMN_NAME];

	snprintf(name, sizeof(name), "%s", m->name);
	for (char *c = name; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return thing_member(t, name);
}

/* Prints only the members that differ. */
struct thing_view {
	const struct event *event;
	const struct thing *thing;
};

static bool is_told(const struct thing_view *view, const struct member *m)
{
	const char *before = view->event->before ? member_value(view->event->before, m) : NULL;
	const char *after = view->event->after ? member_value(view->event->after, m) : NULL;

	return strcmp(before ? before : "", after ? after : "") != 0;
}

static void put_value(struct out *out, const struct member *m, const void *of)
{
	const struct thing_view *view = of;
	const char *value = member_value(view->thing, m);

	if (value && is_told(view, m))
		out_str(out, m->name, *value ? value : NULL);
}

#define VALUE(key, about) PUT(key, put_value, MEMBER_TEXT, about, NULLABLE, OPTIONAL)
static const struct member thing_table[] = {
	SECTION("MONITORED", "Strings as `vfctl list -o` prints them in the column of that name "
		"(with `_` instead of `-`)."),
	VALUE("pf", "for a PF: its name"),
	VALUE("driver", "for a PF or VF: its driver"),
	VALUE("netdev", "for a PF or VF: its network device"),
	VALUE("rdma", "for a PF or VF: its RDMA device"),
	VALUE("vfs", "for a PF: VFs that exist, and VFs that the driver allows: \"4/7\""),
	VALUE("link", "for a PF: off, no carrier, up, ..."),
	VALUE("identity", "for a PF or VF: MAC or port GUID"),
	VALUE("policy", "for a VF: attributes that are not at their defaults"),
	VALUE("lease", "for a VF: the domain that it is leased to"),
	VALUE("holder", "for a VF: its user"),
	VALUE("defined_in", "for a VF: domains that are off"),
	VALUE("state", "for a domain: running, off, or \"running, not defined\"; for a change: in "
		"progress, interrupted; for drift: as declared, differs, not possible, not managed"),
	VALUE("finding", "for a finding: its kind, as status has it"),
	VALUE("message", "for drift: the first step that is missing, or why none can be planned; for a "
		"finding and for unread: what was found"),
	VALUE("kept", "for drift: differences that remain while a VF is in use"),
	VALUE("remedy", "for a finding: the remedy"),
	VALUE("pid", "for a change: its process ID"), END};

struct event_view {
	const char *time;
	const struct event *event;
	const struct thing *subject;
	const struct thing_view *before, *after;
};

#define OF struct event_view
TEXT_OF(event_kind, OF, it->event->kind)
TEXT_OF(event_what, OF, it->event->what)
TEXT_OF(event_name, OF, it->subject ? it->subject->name : NULL)
TEXT_OF(event_address, OF, it->subject ? it->subject->address : NULL)
static const struct member event_table[] = {
	FIELD(time, "time at which it was seen", FILLED),
	TEXT("kind", event_kind, "pf, vf, domain, drift, finding, change or unread; events if "
		"events were lost"),
	TEXT("event", event_what, "appeared, changed or gone; present (with --initial); lost: "
		"events were lost, read the state again"),
	TEXT("name", event_name, "name of the PF, VF or domain; for a change: its command; for "
		"unread: what could not be read", NULLABLE),
	TEXT("address", event_address, "PCI address of a PF or VF", NULLABLE),
	OBJECT_AT("before", before, thing_table, "old values of the members that differ; null: the "
		"object did not exist"),
	OBJECT_AT("after", after, thing_table, "new values of the members that differ; null: the "
		"object does not exist"), END};
#undef OF
static const struct answer monitor_answer[] = {{"JSON Lines: one object per line, printed as soon "
	"as it is known, and no `error` at the end", event_table, false},
	{"With `--bridge`, JSON Lines too", answer_bridge_line, false}, {0}};

static void print_json(struct out *out, const struct event *e, const char *when)
{
	const struct thing_view before = {e, e->before}, after = {e, e->after};

	answer_put(out, NULL, event_table, &(struct event_view){when, e, subject(e),
		e->before ? &before : NULL, e->after ? &after : NULL});
}

/* Write the event to systemd's journal, which adds the time itself. */
static void write_journal(struct monitor *m, const struct event *e, const char *message)
{
	const struct thing *t = subject(e);
	char fields[4 + THING_MEMBERS][1024], words[WORDS_MAX + 8];
	const char *list[1 + ARRAY_SIZE(fields)];
	size_t count = 0;

	snprintf(words, sizeof(words), "MESSAGE=%s", message);
	snprintf(fields[count++], sizeof(*fields), "SYSLOG_IDENTIFIER=vfctl");
	snprintf(fields[count++], sizeof(*fields), "VFCTL_KIND=%s", e->kind);
	snprintf(fields[count++], sizeof(*fields), "VFCTL_EVENT=%s", e->what);
	if (t)
		snprintf(fields[count++], sizeof(*fields), "VFCTL_NAME=%s", t->name);
	for (size_t i = 0; e->after && i < e->after->member_count; i++) {
		char *field = fields[count];

		if (!told(e, e->after->members[i].name))
			continue;
		snprintf(field, sizeof(*fields), "VFCTL_%s=%s", e->after->members[i].name,
			e->after->members[i].value);
		for (; *field && *field != '='; field++)
			*field = *field == '-' ? '_' : *field >= 'a' && *field <= 'z'
				? (char)(*field - 'a' + 'A') : *field;
		count++;
	}
	list[0] = words;
	for (size_t i = 0; i < count; i++)
		list[i + 1] = fields[i];
	if (vfctl_journal_send(m->in->ctx, list, count + 1) < 0) {
		warn("%s; nothing more is written to it", vfctl_ctx_error(m->in->ctx));
		m->journal = false;
	}
}

/*
 * Whether a line can be written without blocking: signals are blocked, so a blocked write to a slow
 * reader could not be interrupted.
 */
static bool can_write(struct monitor *m)
{
	struct pollfd fds[] = {{.fd = STDOUT_FILENO, .events = POLLOUT},
		{.fd = m->stop_fd, .events = POLLIN}};
	int r, ms;

	do {
		int64_t left = m->end_ms ? m->end_ms - now_ms() : -1;

		ms = m->end_ms && left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
		r = poll(fds, ARRAY_SIZE(fds), ms);
	} while ((r < 0 && errno == EINTR) || (r == 0 && ms));
	return r != 0 && fds[0].revents;
}

static void tell_monitor(struct monitor *m, const struct event *e)
{
	const struct thing *t = subject(e);
	char when[32], members[WORDS_MAX - 512], words[WORDS_MAX];

	if (m->ended)
		return;
	format_time(when);
	format_members(e, members, sizeof(members));
	snprintf(words, sizeof(words), "%s%s%s %s%s", e->kind, t ? " " : "", t ? t->name : "",
		e->what, t ? members : ": events were lost; the host was read again");
	if (m->in->json)
		print_json(m->in->out, e, when);
	else
		out_line(m->in->out, "%s %s", when, words);
	if (m->journal)
		write_journal(m, e, words);
	if (!can_write(m))
		out_discard(m->in->out);
	else if (out_flush(m->in->out) && (!m->left || --m->left))
		return;
	m->ended = true;
}

/* ---- the difference ---- */

static void compare_monitor(struct monitor *m, const struct thing *before,
	const struct thing *after)
{
	const struct event e = {after->kind, "changed", before, after};

	for (size_t i = 0; i < after->member_count; i++)
		if (told(&e, after->members[i].name)) {
			tell_monitor(m, &e);
			return;
		}
}

static void tell_differences(struct monitor *m, const struct things *old, const struct things *new)
{
	for (size_t i = 0; i < old->count; i++)
		if (!things_find(new, &old->v[i], i))
			tell_monitor(m, &(struct event){old->v[i].kind, "gone", &old->v[i], NULL});
	for (size_t i = 0; i < new->count; i++) {
		const struct thing *before = things_find(old, &new->v[i], i);

		if (before)
			compare_monitor(m, before, &new->v[i]);
		else
			tell_monitor(m, &(struct event){new->v[i].kind, "appeared", NULL, &new->v[i]});
	}
}

/* ---- the loop ---- */

/* The longest time to sleep; -1: until an event. */
static int longest_sleep(const struct monitor *m)
{
	int64_t left = m->end_ms ? m->end_ms - now_ms() : -1;

	if (m->end_ms && left < 0)
		left = 0;
	if ((m->failing || m->busy) && (!m->end_ms || left > AGAIN_MS))
		left = AGAIN_MS;
	return left > INT32_MAX ? INT32_MAX : (int)left;
}

static bool goes_on(const struct things *things)
{
	for (size_t i = 0; i < things->count; i++)
		if (strcmp(things->v[i].kind, "change") == 0 &&
			strcmp(thing_member(&things->v[i], "state"), "goes on") == 0)
			return true;
	return false;
}

/* Devices may disappear while they are read: a failed read is repeated, and reported once. */
static void look_monitor(struct monitor *m)
{
	struct things now = {0};
	int r = things_read(m->in, &now);

	if (r < 0) {
		if (!m->failing)
			warn("the host cannot be read; vfctl tries again: %s",
				*vfctl_ctx_error(m->in->ctx) ? vfctl_ctx_error(m->in->ctx)
							     : strerror(-r));
		m->failing = true;
		return;
	}
	m->failing = false;
	m->busy = goes_on(&now);
	tell_differences(m, &m->now, &now);
	things_free(&m->now);
	m->now = now;
}

static int watch_monitor(struct monitor *m)
{
	while (!m->ended && (!m->end_ms || now_ms() < m->end_ms)) {
		unsigned what = 0;
		int r = vfctl_watch_wait(m->in->ctx, m->watch, m->stop_fd, longest_sleep(m), &what);

		if (r == -EINTR)
			break;
		if (r < 0)
			return fail(m->in, r);
		if (what & VFCTL_WATCH_LOST)
			tell_monitor(m, &(struct event){"events", "lost", NULL, NULL});
		if (what || m->failing || m->busy)
			look_monitor(m);
	}
	return EXIT_DONE;
}

static int begin_monitor(struct monitor *m)
{
	int r = vfctl_watch_open(m->in->ctx, option_of(m->in, "host-yaml"), &m->watch);

	if (r == 0)
		r = things_read(m->in, &m->now);
	if (r < 0)
		return fail(m->in, r);
	m->busy = goes_on(&m->now);
	if (m->in->json)
		out_set_lines(m->in->out);
	for (size_t i = 0; option_of(m->in, "initial") && i < m->now.count; i++)
		tell_monitor(m, &(struct event){m->now.v[i].kind, "present", NULL, &m->now.v[i]});
	if (!m->in->quiet && !option_of(m->in, "initial"))
		fprintf(stderr, "watching; end with Ctrl-C\n");
	return EXIT_DONE;
}

/* ---- the command ---- */

/* A signal ends the wait at any time, and so does the end of the reader. */
static int open_stop(struct monitor *m)
{
	/* A pipe without a reader always reports EPOLLERR; a file does not. */
	struct epoll_event signals = {.events = EPOLLIN}, reader = {0};
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	m->signal_fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	m->stop_fd = epoll_create1(EPOLL_CLOEXEC);
	if (m->signal_fd < 0 || m->stop_fd < 0 ||
		epoll_ctl(m->stop_fd, EPOLL_CTL_ADD, m->signal_fd, &signals) < 0 ||
		(epoll_ctl(m->stop_fd, EPOLL_CTL_ADD, STDOUT_FILENO, &reader) < 0 &&
			errno != EPERM && errno != EBADF))
		return fail_as(m->in, EXIT_FAILED, -errno, "wait for signals: %s",
			strerror(errno));
	return EXIT_DONE;
}

static void monitor_close(struct monitor *m)
{
	things_free(&m->now);
	vfctl_watch_close(m->watch);
	close(m->signal_fd);
	close(m->stop_fd);
}

static int run_monitor(struct invocation *in)
{
	_cleanup_(monitor_close) struct monitor m = {.in = in, .journal = option_of(in, "journal"),
		.signal_fd = -1, .stop_fd = -1};
	unsigned seconds = 0;
	int status = option_number(in, "count", 1, UINT32_MAX, &m.left);

	if (status == EXIT_DONE)
		status = option_seconds(in, "for", 1, FOREVER_S, &seconds);
	if (status != EXIT_DONE)
		return status;
	m.end_ms = seconds ? now_ms() + (int64_t)seconds * 1000 : 0;
	if (option_of(in, "bridge") && (m.journal || option_of(in, "initial")))
		return usage(in, "--bridge prints its own lines and cannot be combined with --initial "
			"or --journal");
	status = open_stop(&m);
	if (status == EXIT_DONE && option_of(in, "bridge"))
		return monitor_bridge(in, m.stop_fd, m.left, seconds);
	if (status == EXIT_DONE)
		status = begin_monitor(&m);
	if (status == EXIT_DONE)
		status = watch_monitor(&m);
	return status;
}

static const struct option_row options[] = {
	{"initial", 'i', NULL, "first print the present state, each line with the event 'present'", NULL},
	{"count", 0, "LINES", "end after this many lines (default: no limit)", NULL},
	{"for", 0, "SECONDS", "end after this time (default: no limit)", NULL},
	{"bridge", 0, NULL, "change the host: keep the MACs behind the bridges of PFs with bridge: in "
		"host.yaml in the cards' tables, and print what is added and removed", NULL},
	{"journal", 0, NULL, "also write each line to systemd's journal, with the fields VFCTL_KIND, "
		"VFCTL_EVENT, VFCTL_NAME and the changed ones", NULL},
};

const struct command cmd_monitor = {
	.name = "monitor",
	.group = GROUP_HOST,
	.answer = monitor_answer,
	.args = "",
	.summary = "Print changes on this host as they happen",
	.text = "Prints one line for each change of a PF, a VF or its user, a domain, drift "
		"from host.yaml, a disagreement of leases and domains, and a change by vfctl "
		"that is in progress or was interrupted. Events of the kernel, libvirt's "
		"files and the state file wake it, so it uses no CPU in between and does not "
		"need libvirtd. A state that lasts less than a second may not be reported. If"
		" events are lost, a line says so and the host is read again. With --json "
		"each line is an object. Ctrl-C, SIGTERM, SIGHUP and a closed pipe end it "
		"with status 0.",
	.examples = {{"vfctl monitor --initial", "the present state first"},
		{"vfctl monitor --json --for 60", "one minute, for a script"},
		{"vfctl monitor --bridge", "as vfctl-bridge.service does"}},
	.reads = true,
	.waits = true,
	OPTIONS(options),
	.run = run_monitor,
};
