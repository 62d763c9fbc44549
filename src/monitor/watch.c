// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Report when to read the host again. There is no polling: the process wakes up only for an event.
 */
#include "monitor/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "facts/snapshot/domains.h"
#include "host/host.h"

#define QUIET_MS 100 /* a driver that is probing causes many events at once */
#define LONGEST_MS 1000
#define PLACES 4
/*
 * IN_CLOSE_WRITE is not watched: SQLite opens its log for writing even to read, so vfctl would wake
 * itself up.
 */
#define EVENTS (IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM)

/* A directory, and the files in it that are watched. */
struct place {
	char *dir;
	char *name;	/* NULL: all files; else this file and its -wal */
	int wd;		/* watch of the directory, or of the nearest existing one above it */
	char *awaited;	/* name in that directory that leads to the watched one; NULL: the watch
			   is on that itself */
};

struct vfctl_watch {
	int kernel[HOST_EVENTS_MAX];
	size_t kernel_count;
	int files;
	struct place places[PLACES];
	size_t place_count;
};

void vfctl_watch_close(struct vfctl_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->kernel_count; i++)
		close(w->kernel[i]);
	if (w->files >= 0)
		close(w->files);
	for (size_t i = 0; i < w->place_count; i++) {
		free(w->places[i].dir);
		free(w->places[i].name);
		free(w->places[i].awaited);
	}
	free(w);
}

/* ---- places ---- */

/* Watch the directory or, if it does not exist, the nearest existing one above it. */
static int aim(struct vfctl_ctx *ctx, struct vfctl_watch *w, struct place *p)
{
	_free_ char *path = strdup(p->dir);

	free(p->awaited);
	p->awaited = NULL;
	p->wd = path ? inotify_add_watch(w->files, path, EVENTS) : -1;
	while (path && p->wd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		char *slash = strrchr(path, '/');

		if (!slash || !path[1])
			break;
		free(p->awaited);
		p->awaited = strdup(slash + 1);
		slash[slash == path] = '\0';
		if (!p->awaited)
			return ctx_oom(ctx);
		p->wd = inotify_add_watch(w->files, path, EVENTS);
	}
	if (!path)
		return ctx_oom(ctx);
	if (p->wd >= 0 || errno == EACCES) /* a directory that may not be read cannot be watched either */
		return 0;
	return ctx_fail(ctx, -errno, "watch %s: %s", p->dir, errno == ENOSPC
		? "too many watches (raise fs.inotify.max_user_watches)" : strerror(errno));
}

/* @path of a file, or of a directory whose files are all watched; @root is prepended. */
static int add_place(struct vfctl_ctx *ctx, struct vfctl_watch *w, const char *root,
	const char *path, bool file)
{
	struct place *p = &w->places[w->place_count++];
	char *slash;

	p->dir = str_format("%s%s%s", root, path[0] == '/' ? "" : "./", path);
	slash = p->dir ? strrchr(p->dir, '/') : NULL;
	if (!slash)
		return ctx_oom(ctx);
	if (file) {
		p->name = strdup(slash + 1);
		slash[slash == p->dir] = '\0';
		if (!p->name)
			return ctx_oom(ctx);
	}
	return aim(ctx, w, p);
}

static int add_spec_place(struct vfctl_ctx *ctx, struct vfctl_watch *w, const char *host_yaml)
{
	struct stat st;

	return add_place(ctx, w, host_yaml ? "" : host_of(ctx)->root,
		host_yaml ? host_yaml : VFCTL_HOST_SPEC_PATH,
		!host_yaml || stat(host_yaml, &st) < 0 || !S_ISDIR(st.st_mode));
}

static int add_places(struct vfctl_ctx *ctx, struct vfctl_watch *w, const char *host_yaml)
{
	const char *root = host_of(ctx)->root;
	int r = add_place(ctx, w, "", vfctl_ctx_state_path(ctx), true);

	if (r == 0)
		r = add_spec_place(ctx, w, host_yaml);
	if (r == 0)
		r = add_place(ctx, w, root, LIBVIRT_DEFINITIONS, false);
	return r < 0 ? r : add_place(ctx, w, root, LIBVIRT_RUNNING, false);
}

int vfctl_watch_open(struct vfctl_ctx *ctx, const char *host_yaml, struct vfctl_watch **ret)
{
	_cleanup_(vfctl_watch_closep) struct vfctl_watch *w = calloc(1, sizeof(*w));
	struct host *h = host_of(ctx);
	int r;

	if (!w)
		return ctx_oom(ctx);
	w->files = -1;
	if (!h->ops->events)
		return ctx_usage_error(ctx, -EINVAL, "a captured host has no events; remove --host to "
			"watch this host");
	r = h->ops->events(h, w->kernel);
	if (r < 0)
		return ctx_fail(ctx, r, "listen to kernel events: %s", strerror(-r));
	w->kernel_count = (size_t)r;
	w->files = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->files < 0)
		return ctx_fail(ctx, -errno, "watch files: %s", strerror(errno));
	r = add_places(ctx, w, host_yaml);
	if (r == 0)
		*ret = steal(w);
	return r;
}

int vfctl_watch_open_spec(struct vfctl_ctx *ctx, const char *host_yaml, struct vfctl_watch **ret)
{
	_cleanup_(vfctl_watch_closep) struct vfctl_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return ctx_oom(ctx);
	w->files = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->files < 0)
		return ctx_fail(ctx, -errno, "watch files: %s", strerror(errno));
	r = add_spec_place(ctx, w, host_yaml);
	if (r == 0)
		*ret = steal(w);
	return r;
}

int vfctl_watch_fd(const struct vfctl_watch *w)
{
	return w->files;
}

/* ---- events ---- */

/* It does not matter which event it was: after a wake-up everything is compared. */
static unsigned drain_kernel(int fd)
{
	char event[8192];
	unsigned what = 0;

	for (;;) {
		ssize_t n = read(fd, event, sizeof(event));

		if (n < 0 && errno == ENOBUFS)
			what |= VFCTL_WATCH_LOST | VFCTL_WATCH_KERNEL;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n <= 0)
			return what;
		else
			what |= VFCTL_WATCH_KERNEL;
	}
}

static bool is_ours(const struct place *p, const char *name)
{
	size_t len;

	if (p->awaited)
		return str_eq(name, p->awaited);
	if (!p->name)
		return true;
	len = strlen(p->name);
	return !strncmp(name, p->name, len) && (!name[len] || str_eq(name + len, "-wal"));
}

static unsigned judge_file(struct vfctl_watch *w, const struct inotify_event *e)
{
	unsigned what = e->mask & IN_Q_OVERFLOW ? VFCTL_WATCH_LOST | VFCTL_WATCH_FILES : 0;

	for (size_t i = 0; i < w->place_count; i++)
		if (w->places[i].wd == e->wd && (e->mask & IN_IGNORED ||
			is_ours(&w->places[i], e->len ? e->name : "")))
			what |= VFCTL_WATCH_FILES;
	return what;
}

static unsigned drain_files(struct vfctl_watch *w)
{
	_Alignas(struct inotify_event) char block[sizeof(struct inotify_event) + NAME_MAX + 1];
	unsigned what = 0;
	ssize_t n;

	while ((n = read(w->files, block, sizeof(block))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(block + at);

			what |= judge_file(w, e);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	return what;
}

/* Directories may have been created or removed. */
static int aim_again(struct vfctl_ctx *ctx, struct vfctl_watch *w)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < w->place_count; i++)
		r = aim(ctx, w, &w->places[i]);
	return r < 0 ? r : 0;
}

int vfctl_watch_drain(struct vfctl_ctx *ctx, struct vfctl_watch *w)
{
	unsigned what = drain_files(w);
	int r = what ? aim_again(ctx, w) : 0;

	return r < 0 ? r : what != 0;
}

/* One poll(): bits of the events that matter. -EINTR: @stop_fd. */
static int poll_once(struct vfctl_ctx *ctx, struct vfctl_watch *w, int stop_fd, int ms,
	unsigned *io_what)
{
	struct pollfd fds[HOST_EVENTS_MAX + 2];
	nfds_t count = 0;
	unsigned what = 0;
	int r;

	fds[count++] = (struct pollfd){.fd = stop_fd, .events = POLLIN};
	fds[count++] = (struct pollfd){.fd = w->files, .events = POLLIN};
	for (size_t i = 0; i < w->kernel_count; i++)
		fds[count++] = (struct pollfd){.fd = w->kernel[i], .events = POLLIN};
	r = poll(fds, count, ms);
	if (r < 0 && errno != EINTR)
		return ctx_fail(ctx, -errno, "wait for events: %s", strerror(errno));
	if (r > 0 && fds[0].revents)
		return -EINTR;
	what = r > 0 && fds[1].revents ? drain_files(w) : 0;
	for (size_t i = 0; r > 0 && i < w->kernel_count; i++)
		what |= fds[2 + i].revents ? drain_kernel(w->kernel[i]) : 0;
	*io_what |= what;
	return what || r < 0 ? 1 : 0;
}

/* Wait until no event came for QUIET_MS. */
static int settle_watch(struct vfctl_ctx *ctx, struct vfctl_watch *w, int stop_fd,
	unsigned *io_what)
{
	int64_t first = now_ms(), last = first, now = first;
	int r = 0;

	while (r >= 0 && now - last < QUIET_MS && now - first < LONGEST_MS) {
		r = poll_once(ctx, w, stop_fd, (int)(QUIET_MS - (now - last)), io_what);
		now = now_ms();
		if (r > 0)
			last = now;
	}
	return r < 0 ? r : aim_again(ctx, w);
}

int vfctl_watch_wait(struct vfctl_ctx *ctx, struct vfctl_watch *w, int stop_fd, int timeout_ms,
	unsigned *ret_what)
{
	int64_t end = now_ms() + timeout_ms, left = timeout_ms;
	unsigned what = 0;
	int r = 0;

	while (r >= 0 && !what && (timeout_ms < 0 || left >= 0)) {
		r = poll_once(ctx, w, stop_fd, timeout_ms < 0 ? -1 : (int)left, &what);
		left = end - now_ms();
		if (timeout_ms >= 0 && left <= 0)
			break;
	}
	if (r >= 0 && what)
		r = settle_watch(ctx, w, stop_fd, &what);
	if (r < 0)
		return r;
	*ret_what = what;
	return 0;
}

/* ---- domains ---- */

struct states {
	struct vfctl_domain_state *v;
	size_t count;
};

static struct vfctl_domain_state *state_of(struct states *all, const char *name, size_t len)
{
	for (size_t i = 0; i < all->count; i++)
		if (strlen(all->v[i].name) == len && !memcmp(all->v[i].name, name, len))
			return &all->v[i];
	if (!array_grow(all->v, all->count))
		return NULL;
	all->v[all->count] = (struct vfctl_domain_state){0};
	memcpy(all->v[all->count].name, name, len);
	return &all->v[all->count++];
}

static int read_states(struct vfctl_ctx *ctx, const char *dir, bool running, struct states *all)
{
	_strv_ char **names = NULL;
	int r = host_try_list(ctx, &names, "%s", dir);

	for (size_t i = 0; r >= 0 && names[i]; i++) {
		size_t len = strlen(names[i]);
		struct vfctl_domain_state *s;

		if (len <= 4 || len - 4 >= sizeof(s->name) || !str_eq(names[i] + len - 4, ".xml"))
			continue;
		if (running && !known_domain_pid(ctx, dir, names[i]))
			continue;
		s = state_of(all, names[i], len - 4);
		if (!s)
			return ctx_oom(ctx);
		s->running |= running;
		s->defined |= !running;
	}
	return r == -ENOMEM ? r : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct vfctl_domain_state *)a)->name,
		((const struct vfctl_domain_state *)b)->name);
}

int vfctl_domain_states_read(struct vfctl_ctx *ctx, struct vfctl_domain_state **ret,
	size_t *ret_count)
{
	struct states all = {0};
	int r = read_states(ctx, LIBVIRT_DEFINITIONS, false, &all);

	if (r == 0)
		r = read_states(ctx, LIBVIRT_RUNNING, true, &all);
	if (r < 0) {
		free(all.v);
		return r;
	}
	if (all.count)
		qsort(all.v, all.count, sizeof(*all.v), by_name);
	*ret = all.v;
	*ret_count = all.count;
	return 0;
}

/* ---- systemd's journal ---- */

/* systemd's JOURNAL_NATIVE_PROTOCOL: a value with several lines is preceded by its length. */
static void put_field(struct buf *out, const char *field)
{
	const char *value = strchr(field, '=');
	uint64_t len = value ? strlen(value + 1) : 0;
	uint8_t size[8];

	if (!value)
		return;
	if (!strchr(value, '\n')) {
		buf_printf(out, "%s\n", field);
		return;
	}
	for (size_t i = 0; i < sizeof(size); i++)
		size[i] = (uint8_t)(len >> (8 * i));
	buf_add(out, field, (size_t)(value - field));
	buf_puts(out, "\n");
	buf_add(out, size, sizeof(size));
	buf_printf(out, "%s\n", value + 1);
}

int vfctl_journal_send(struct vfctl_ctx *ctx, const char *const *fields, size_t count)
{
	struct sockaddr_un journal = {.sun_family = AF_UNIX};
	_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	_buf_ struct buf entry = {0};
	int len = snprintf(journal.sun_path, sizeof(journal.sun_path),
		"%s/run/systemd/journal/socket", host_of(ctx)->root);

	for (size_t i = 0; i < count; i++)
		put_field(&entry, fields[i]);
	if (entry.failed)
		return ctx_oom(ctx);
	if (len < 0 || (size_t)len >= sizeof(journal.sun_path))
		return ctx_fail(ctx, -ENAMETOOLONG, "the path of the journal is too long");
	if (fd < 0 || sendto(fd, entry.data, entry.len, MSG_NOSIGNAL, (struct sockaddr *)&journal,
		sizeof(journal)) < 0)
		return ctx_fail(ctx, -errno, "write to systemd's journal: %s", strerror(errno));
	return 0;
}
