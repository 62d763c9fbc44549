// SPDX-License-Identifier: GPL-2.0-or-later
/* monitor --bridge: keep the MACs behind bridges in the tables of cards, a line for each change. */
#include "verbs/monitor_bridge.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "monitor/bridge.h"

struct bridging {
	struct invocation *in;
	int end_fd; /* readable: the lines are printed, or their reader has ended */
	uint32_t left; /* lines to print; 0: no limit */
	bool ended;
};

struct bridge_line {
	char time[32];
	const struct vfctl_bridge_event *event;
};

#define OF struct bridge_line
TEXT_OF(line_what, OF, it->event->what)
TEXT_OF(line_uplink, OF, it->event->uplink)
TEXT_OF(line_mac, OF, it->event->mac)
TEXT_OF(line_port, OF, it->event->port[0] ? it->event->port : NULL)
TEXT_OF(line_why, OF, it->event->why)
const struct member answer_bridge_line[] = {
	FIELD(time, "UTC, such as `2026-01-31T12:00:00Z`"),
	TEXT("event", line_what, "added, removed, left out (it may not be added, or the table is full), "
		"failed"),
	TEXT("uplink", line_uplink, "PF, or PF/INDEX of a VF"),
	TEXT("mac", line_mac, "MAC"),
	TEXT("port", line_port, "port of the bridge, or device of the host", NULLABLE),
	TEXT("why", line_why, "declared, host, guest, learnt, or the reason"), END};
#undef OF

static void end_bridging(struct bridging *b)
{
	const uint64_t one = 1;

	b->ended = true;
	(void)!write(b->end_fd, &one, sizeof(one));
}

static void print_line(struct bridging *b, const struct vfctl_bridge_event *e)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
	struct bridge_line line = {.event = e};
	time_t now = time(NULL);
	struct tm tm;

	strftime(line.time, sizeof(line.time), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	if (b->in->json)
		answer_put(b->in->out, NULL, answer_bridge_line, &line);
	else
		out_line(b->in->out, "%s %s %s %s%s%s (%s)", line.time, e->uplink, e->what, e->mac,
			e->port[0] ? " on " : "", e->port, e->why);
	/* A reader that is slow must not stop this. Only lines that are printed count. */
	if (poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT))
		out_discard(b->in->out);
	else if (!out_flush(b->in->out) || (b->left && --b->left == 0))
		end_bridging(b);
}

static void tell_bridge(void *data, const struct vfctl_bridge_event *e)
{
	struct bridging *b = data;
	bool trouble = strcmp(e->what, "left out") == 0 || strcmp(e->what, "failed") == 0;

	if (b->ended || (b->in->quiet && !trouble))
		return;
	if (strcmp(e->what, "watching") == 0)
		fprintf(stderr, "watching the bridges; end with Ctrl-C\n");
	else
		print_line(b, e);
}

static int watch_fd(struct invocation *in, int stop_fd, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (fd >= 0 && epoll_ctl(stop_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return EXIT_DONE;
	return fail_as(in, EXIT_FAILED, -errno, "wait: %s", strerror(errno));
}

static int follow_bridges(struct bridging *b, int stop_fd)
{
	int r;

	if (b->in->json)
		out_set_lines(b->in->out);
	r = vfctl_bridge_follow(b->in->ctx, option_of(b->in, "host-yaml"), stop_fd, tell_bridge, b);
	return r < 0 ? fail(b->in, r) : EXIT_DONE;
}

int monitor_bridge(struct invocation *in, int stop_fd, uint32_t lines, unsigned seconds)
{
	const struct itimerspec until = {.it_value.tv_sec = seconds};
	struct bridging b = {.in = in, .left = lines, .end_fd = eventfd(0, EFD_CLOEXEC)};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	int status = watch_fd(in, stop_fd, b.end_fd);

	if (status == EXIT_DONE)
		status = watch_fd(in, stop_fd, timer);
	if (status == EXIT_DONE && timerfd_settime(timer, 0, &until, NULL) < 0)
		status = fail_as(in, EXIT_FAILED, -errno, "set a timer: %s", strerror(errno));
	if (status == EXIT_DONE)
		status = follow_bridges(&b, stop_fd);
	if (timer >= 0)
		close(timer);
	if (b.end_fd >= 0)
		close(b.end_fd);
	return status;
}
