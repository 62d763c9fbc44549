// SPDX-License-Identifier: GPL-2.0-or-later
/* A host whose Nth call fails, whichever it is; all others reach the host within. */
#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <signal.h>

#include "sim.h"

struct fault {
	struct host host;
	struct host *inner;
	unsigned left, first; /* calls until it fails: now, and at the beginning */
	int error;
	bool late; /* the call does its work, and fails then */
	bool on;   /* all calls after it fail as well */
	bool kill; /* the process dies: before the call, or after it with @late */
	bool run;  /* $SIM_RUN, a shell command, is run before the call, which then does its work */
	bool only_libvirt, libvirt; /* only its calls count, and this call is not one of them */
	bool only_state;
	bool hit;
};

static struct fault *fault_of(struct host *h)
{
	return (struct fault *)h;
}

static bool now(struct host *h)
{
	struct fault *f = fault_of(h);

	if (f->hit && f->on)
		return true;
	if (!f->libvirt && f->left && --f->left == 0) {
		const char *command = f->run ? getenv("SIM_RUN") : NULL;

		f->hit = true;
		return !command || system(command) < 0;
	}
	return false;
}

/* Nothing is cleaned up, as with kill -9; the sanitizers' look at leaks is left out too. */
static int fail(struct host *h)
{
	struct fault *f = fault_of(h);

	if (f->kill)
		kill(getpid(), SIGKILL);
	return f->error;
}

int sim_inside;

/* Allocations of the simulator itself do not count as the program's. */
#define INSIDE(call)                                                                     \
	({                                                                               \
		int r_;                                                                  \
		sim_inside++;                                                            \
		r_ = (call);                                                             \
		sim_inside--;                                                            \
		r_;                                                                      \
	})
#define INNER(h) (fault_of(h)->inner)
#define CALL(h, op, ...)                                                                 \
	(!fault_of(h)->late && now(h) ? fail(h)                                          \
				      : INSIDE(INNER(h)->ops->op(INNER(h), __VA_ARGS__)))

int fault_libvirt(struct host *h, bool done)
{
	struct fault *f = (struct fault *)h;

	if (!str_eq(h->ops->name, "fault") || f->only_state || f->late != done)
		return 0;
	f->libvirt = false;
	if (now(h))
		return fail(h);
	f->libvirt = f->only_libvirt;
	return 0;
}

static struct host *state_host; /* whose process dies at a write of the state file */

void fault_state(void)
{
	struct fault *f = (struct fault *)state_host;

	if (!f)
		return;
	f->libvirt = false;
	if (now(state_host))
		fail(state_host);
	f->libvirt = true;
}

static int fault_read(struct host *h, const char *path, struct buf *ret)
{
	return CALL(h, read, path, ret);
}

static int fault_read_slow(struct host *h, const char *path, unsigned ms, struct buf *ret)
{
	return CALL(h, read_slow, path, ms, ret);
}

static int fault_write(struct host *h, const char *path, const char *text, unsigned ms)
{
	if (fault_of(h)->late && now(h)) {
		INSIDE(INNER(h)->ops->write(INNER(h), path, text, ms));
		return fail(h);
	}
	return fault_of(h)->late ? INSIDE(INNER(h)->ops->write(INNER(h), path, text, ms))
				 : CALL(h, write, path, text, ms);
}

static int fault_replace(struct host *h, const char *path, const char *text)
{
	if (fault_of(h)->late && now(h)) {
		INSIDE(INNER(h)->ops->replace(INNER(h), path, text));
		return fail(h);
	}
	return fault_of(h)->late ? INSIDE(INNER(h)->ops->replace(INNER(h), path, text))
				 : CALL(h, replace, path, text);
}

static int fault_readlink(struct host *h, const char *path, char **ret)
{
	return CALL(h, readlink, path, ret);
}

static int fault_list(struct host *h, const char *path, char ***ret)
{
	return CALL(h, list, path, ret);
}

/*
 * Requests that only read have no deferred work: links, and devlink (the number of its family, and
 * what follows).
 */
static bool only_asks(int protocol, const struct nlmsghdr *m)
{
	const struct genlmsghdr *g = NLMSG_DATA(m);

	if (protocol == NETLINK_ROUTE)
		return m->nlmsg_type == RTM_GETLINK;
	if (protocol != NETLINK_GENERIC)
		return false;
	if (m->nlmsg_type == SIM_DEVLINK)
		return g->cmd != DEVLINK_CMD_ESWITCH_SET && g->cmd != DEVLINK_CMD_RATE_SET;
	return m->nlmsg_type == GENL_ID_CTRL && str_eq((const char *)(g + 1) + NLA_HDRLEN, DEVLINK_GENL_NAME);
}

static int fault_exchange(struct host *h, int protocol, const void *request, size_t len,
	unsigned ms, struct buf *ret)
{
	if (fault_of(h)->late && only_asks(protocol, request))
		return INSIDE(INNER(h)->ops->exchange(INNER(h), protocol, request, len, ms, ret));
	if (fault_of(h)->late && now(h)) {
		INSIDE(INNER(h)->ops->exchange(INNER(h), protocol, request, len, ms, ret));
		buf_reset(ret);
		return fail(h);
	}
	return fault_of(h)->late
		? INSIDE(INNER(h)->ops->exchange(INNER(h), protocol, request, len, ms, ret))
		: CALL(h, exchange, protocol, request, len, ms, ret);
}

static int fault_load_module(struct host *h, const char *name, unsigned ms)
{
	return CALL(h, load_module, name, ms);
}

static int fault_service(struct host *h, const char *verb, const char *unit, unsigned ms)
{
	return CALL(h, service, verb, unit, ms);
}

static int fault_hangup(struct host *h, const char *name)
{
	return CALL(h, hangup, name);
}

static int fault_mode(struct host *h, const char *path, unsigned *ret_mode)
{
	return CALL(h, mode, path, ret_mode);
}

static int fault_hold(struct host *h, const char *path, const void *data, size_t len, int *ret_fd)
{
	return CALL(h, hold, path, data, len, ret_fd);
}

static int fault_lock(struct host *h, const char *name, bool shared, unsigned ms,
	int *ret_fd)
{
	return CALL(h, lock, name, shared, ms, ret_fd);
}

static void fault_sleep(struct host *h, unsigned ms)
{
}

static void fault_audit(struct host *h, const char *text)
{
	INNER(h)->ops->audit(INNER(h), text);
}

static int fault_events(struct host *h, int *ret_fds)
{
	return INNER(h)->ops->events(INNER(h), ret_fds);
}

static void fault_free(struct host *h)
{
	INNER(h)->ops->free(INNER(h));
	files_free(h);
}

static const struct host_ops fault_ops = {
	.name = "fault",
	.read = fault_read,
	.read_slow = fault_read_slow,
	.write = fault_write,
	.replace = fault_replace,
	.readlink = fault_readlink,
	.list = fault_list,
	.exchange = fault_exchange,
	.load_module = fault_load_module,
	.service = fault_service,
	.hangup = fault_hangup,
	.mode = fault_mode,
	.hold = fault_hold,
	.lock = fault_lock,
	.sleep = fault_sleep,
	.audit = fault_audit,
	.events = fault_events,
	.free = fault_free,
};

int fault_host_new(struct host *inner, unsigned n, int error, const char *how,
	struct host **ret_host)
{
	int r = files_host_new(&fault_ops, inner->root, sizeof(struct fault), ret_host);

	if (r == 0) {
		fault_of(*ret_host)->inner = inner;
		fault_of(*ret_host)->left = fault_of(*ret_host)->first = n;
		fault_of(*ret_host)->error = error;
		fault_of(*ret_host)->run = str_eq(how, "run");
		fault_of(*ret_host)->kill = str_starts(how, "kill");
		fault_of(*ret_host)->late = str_eq(how, "late") || str_eq(how, "kill-late");
		fault_of(*ret_host)->on = str_eq(how, "on");
		fault_of(*ret_host)->only_libvirt = str_eq(how, "libvirt") ||
			str_eq(how, "kill-libvirt");
		fault_of(*ret_host)->only_state = str_eq(how, "kill-state");
		fault_of(*ret_host)->libvirt = fault_of(*ret_host)->only_libvirt ||
			fault_of(*ret_host)->only_state;
		state_host = fault_of(*ret_host)->only_state ? *ret_host : NULL;
	}
	return r;
}

bool fault_hit(const struct host *h)
{
	return ((const struct fault *)h)->hit;
}

unsigned fault_calls(const struct host *h)
{
	return ((const struct fault *)h)->first - ((const struct fault *)h)->left;
}
