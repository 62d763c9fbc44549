// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keep the stations behind bridges in the tables of cards. A message about one MAC costs a look-up
 * in a tree; everything is read again only when devices between a card and a bridge change, or what
 * decides about MACs (VFs, leases).
 */
#include "monitor/bridge.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts/hostfile.h"
#include "host/host.h"
#include "monitor/bridge_follow.h"
#include "monitor/watch.h"
#include "spec/host_yaml.h"
#include "state/leases.h"

#define LOCK_WAIT_MS 500 /* a command that asks whether this runs holds the lock for a moment */
#define LOCK_POLL_MS 20
#define QUIET_MS 100 /* after the last message, before everything is read again */
#define LONGEST_MS 1000
#define RETRY_MS 10000 /* after a reading that failed */
#define WIRE_MS 2000 /* after which a station that is seen on the wire has moved there */
#define MESSAGES 65536

/* ---- the run ---- */

/* Leases and pools decide about MACs too. */
static void look_at_state(struct follow *f)
{
	_free_ char *log = str_format("%s-wal", vfctl_ctx_state_path(f->ctx));
	struct stat st;

	if ((!log || stat(log, &st) < 0) && stat(vfctl_ctx_state_path(f->ctx), &st) < 0)
		return;
	if (st.st_mtim.tv_sec != f->state.tv_sec || st.st_mtim.tv_nsec != f->state.tv_nsec)
		follow_read_again(f);
	f->state = st.st_mtim;
}

/* 0, or the negative errno of a socket that does not work. */
static int drain(struct follow *f)
{
	static _Alignas(struct nlmsghdr) char block[MESSAGES];
	ssize_t n;

	look_at_state(f);
	while ((n = read(f->fd, block, sizeof(block))) > 0 || (n < 0 && errno == ENOBUFS)) {
		struct buf all = {.data = block, .len = n > 0 ? (size_t)n : 0};
		const struct nlmsghdr *m;
		size_t at = 0;

		if (n < 0) /* messages were lost */
			follow_read_again(f);
		while (n > 0 && (m = nl_next(&all, &at)))
			follow_message(f, m);
	}
	return n < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;
}

/* When everything is read again; 0: nothing happened. */
static int64_t reading_time(const struct follow *f)
{
	int64_t quiet = f->last_dirty + QUIET_MS, latest = f->first_dirty + LONGEST_MS;

	if (!f->first_dirty)
		return 0;
	return quiet < latest ? quiet : latest;
}

static int wait_ms(const struct follow *f)
{
	int64_t now = now_ms(), end = reading_time(f);

	if (f->wire_at && (!end || f->wire_at + WIRE_MS < end))
		end = f->wire_at + WIRE_MS;
	if (!end)
		return -1;
	return end > now ? (int)(end - now) : 0;
}

struct moving {
	struct kept **v;
	size_t count;
	int64_t now, next; /* of those that stay, when the first was seen on the wire */
};

static void look_for_moved(const void *node, VISIT visit, void *data)
{
	struct kept *e = *(struct kept *const *)node;
	struct moving *m = data;

	if ((visit != postorder && visit != leaf) || !e->wire)
		return;
	if (m->now - e->wire >= WIRE_MS && array_grow(m->v, m->count))
		m->v[m->count++] = e;
	else if (!m->next || e->wire < m->next)
		m->next = e->wire;
}

static void remove_moved(struct follow *f)
{
	struct moving m = {.now = now_ms()};

	twalk_r(f->entries, look_for_moved, &m);
	f->wire_at = m.next;
	for (size_t i = 0; i < m.count; i++) {
		struct side *s = kept_side(f, m.v[i]);

		if (s)
			kept_forget(f, s, m.v[i], "it is on the wire");
	}
	free(m.v);
}

/* ---- host.yaml ---- */

static void note_spec(struct follow *f)
{
	int r = vfctl_watch_drain(f->ctx, f->watch);

	if (r < 0)
		log_warn(f->ctx, "%s", vfctl_ctx_error(f->ctx));
	ctx_clear(f->ctx);
	f->spec_changed |= r != 0;
	if (r != 0)
		follow_read_again(f);
}

/* While it cannot be read, the last one stays in effect: a mistake must not cut guests off. */
static void read_spec_again(struct follow *f)
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = NULL;
	int r = vfctl_host_spec_read(f->ctx, f->host_yaml, &spec);

	f->spec_changed = false;
	if (r < 0 || spec->absent) {
		log_warn(f->ctx, "%s; the MACs behind bridges stay as they were declared before",
			r < 0 ? vfctl_ctx_error(f->ctx) : VFCTL_HOST_SPEC_PATH " is gone");
		ctx_clear(f->ctx);
		return;
	}
	vfctl_host_spec_free(f->spec);
	f->spec = steal(spec);
}

/* ---- the loop ---- */

static void read_again(struct follow *f)
{
	if (f->spec_changed)
		read_spec_again(f);
	if (follow_read(f) == 0)
		return;
	/* A PF may be about to disappear: once more after a while. */
	log_warn(f->ctx, "%s", vfctl_ctx_error(f->ctx));
	ctx_clear(f->ctx);
	f->first_dirty = f->last_dirty = now_ms() + RETRY_MS;
}

static int run_follow(struct follow *f, int stop_fd)
{
	int r;

	if (f->tell)
		f->tell(f->data, &(struct vfctl_bridge_event){.what = "watching"});
	look_at_state(f);
	r = follow_read(f);
	while (r == 0) {
		struct pollfd fds[] = {{.fd = stop_fd, .events = POLLIN}, {.fd = f->fd, .events = POLLIN},
			{.fd = vfctl_watch_fd(f->watch), .events = POLLIN}};
		int n = poll(fds, ARRAY_SIZE(fds), wait_ms(f));

		if (n < 0 && errno != EINTR)
			return ctx_fail(f->ctx, -errno, "wait for messages: %s", strerror(errno));
		if (n > 0 && fds[0].revents)
			return 0;
		r = n > 0 ? drain(f) : 0;
		if (r < 0)
			return ctx_fail(f->ctx, r, "read the kernel's messages: %s", strerror(-r));
		if (n > 0 && fds[2].revents)
			note_spec(f);
		follow_shorten_record(f);
		if (f->wire_at && now_ms() >= f->wire_at + WIRE_MS)
			remove_moved(f);
		if (f->first_dirty && now_ms() >= reading_time(f))
			read_again(f);
	}
	return r;
}

static void end(struct follow *f)
{
	size_t count;
	struct kept **all = kept_all(f, &count);

	for (size_t i = 0; i < count; i++) {
		struct side *s = kept_side(f, all[i]);

		if (s)
			kept_forget(f, s, all[i], "vfctl ends");
		else
			kept_forget_alone(f, all[i]);
	}
	free(all);
	tdestroy(f->entries, free);
	tdestroy(f->devices, free);
	sides_free(f->sides, f->side_count);
	free(f->functions);
	mac_filter_close(&f->filter);
	vfctl_leases_free(f->leases);
	bridge_record_close(f->record);
	vfctl_watch_close(f->watch);
	vfctl_host_spec_free(f->spec);
}

static bool is_declared(const struct vfctl_host_spec *spec)
{
	for (size_t i = 0; i < spec->pf_count; i++)
		if (spec->pfs[i].bridge_mode != VFCTL_BRIDGE_OFF)
			return true;
	return false;
}

static int take_lock(struct vfctl_ctx *ctx, int *ret_lock)
{
	unsigned waited = 0;
	int r;

	while ((r = host_try_lock(ctx, BRIDGE_LOCK, ret_lock)) == -EBUSY && waited < LOCK_WAIT_MS) {
		host_sleep_ms(ctx, LOCK_POLL_MS);
		waited += LOCK_POLL_MS;
	}
	return r != -EBUSY ? r : ctx_fail(ctx, r, "another process follows the bridges of this host "
		"already (systemctl status vfctl-bridge)");
}

static int read_declared(struct follow *f)
{
	int r = vfctl_host_spec_read(f->ctx, f->host_yaml, &f->spec);

	if (r == 0 && !is_declared(f->spec))
		r = ctx_fail(f->ctx, -ENOENT, "no PF in host.yaml has the key bridge; write for example: "
			"{match: ens1, bridge: learnt}");
	return r;
}

/* Before the first reading of the host and of host.yaml, so that nothing is missed. */
static int listen_to_kernel(struct follow *f, int *ret_fd)
{
	struct host *h = host_of(f->ctx);
	int r = h->ops->follow(h, ret_fd);

	f->fd = *ret_fd;
	return r < 0 ? ctx_fail(f->ctx, r, "listen to the kernel's messages: %s", strerror(-r)) : 0;
}

int vfctl_bridge_follow(struct vfctl_ctx *ctx, const char *host_yaml, int stop_fd,
	void (*fn)(void *data, const struct vfctl_bridge_event *event), void *data)
{
	struct follow f = {.ctx = ctx, .host_yaml = host_yaml, .tell = fn, .data = data};
	_close_ int lock = -1, fd = -1;
	int r;

	if (!host_of(ctx)->ops->follow)
		return ctx_usage_error(ctx, -EOPNOTSUPP, "a captured host has no messages; remove --host");
	r = vfctl_watch_open_spec(ctx, host_yaml, &f.watch);
	if (r == 0)
		r = read_declared(&f);
	if (r == 0)
		r = take_lock(ctx, &lock);
	if (r == 0)
		r = listen_to_kernel(&f, &fd);
	if (r == 0)
		r = bridge_record_open(ctx, &f.record);
	if (r == 0)
		r = run_follow(&f, stop_fd);
	end(&f);
	return r;
}
