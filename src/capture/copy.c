// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cpuset.h"
#include "host/host.h"

/* A host with 4096 CPUs has about this many files of topology and caches. */
#define FILES_MAX 250000
#define NODES_MAX 1024 /* the kernel's limit (NODES_SHIFT 10) */
#define ONE_FILE_MAX (64 << 10)
#define DEPTH 4
/* For CPUs and nodes in lists: a library allocates memory for the highest number that it reads. */
#define NUMBER_MAX 65535

struct copying {
	struct vfctl_ctx *ctx;
	const char *dir;
	size_t files, nodes;
};

#define CPUS "/sys/devices/system/cpu"
#define NODES "/sys/devices/system/node"

static const char *const lists[] = {"online", "possible", "present", "offline", "isolated",
	"nohz_full", "cpulist", "*_list", "has_*"};

static bool matches_copy(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

/* Only those files of the CPUs are copied that describe their position. */
static bool is_wanted(const char *dir, const char *name)
{
	static const char *const of_cpus[] = {"cpu[0-9]*", "online", "possible", "present",
		"offline", "kernel_max"};
	static const char *const of_cpu[] = {"topology", "cache", "online"};
	/* Links to directories that are copied themselves. */
	static const char *const of_node_not[] = {"cpu[0-9]*", "memory[0-9]*", "power"};

	if (str_eq(dir, CPUS))
		return matches_copy(name, of_cpus, ARRAY_SIZE(of_cpus));
	if (fnmatch(CPUS "/cpu[0-9]*", dir, FNM_PATHNAME) == 0)
		return matches_copy(name, of_cpu, ARRAY_SIZE(of_cpu));
	if (fnmatch(NODES "/node[0-9]*", dir, FNM_PATHNAME) == 0)
		return !matches_copy(name, of_node_not, ARRAY_SIZE(of_node_not));
	return true;
}

static int fail_nonsense(struct copying *c, const char *path)
{
	return ctx_fail(c->ctx, -EINVAL, "the captured host's %s names a CPU or node that no "
		"kernel has; capture the host again", path);
}

static int check_numbers(struct copying *c, const char *path, const char *text)
{
	for (const char *at = text; (at = strpbrk(at, "0123456789")); at += strspn(at, "0123456789"))
		if (strspn(at, "0123456789") > 9 || strtoul(at, NULL, 10) > NUMBER_MAX)
			return fail_nonsense(c, path);
	return 0;
}

/* "cpu12" and "node3": libraries use these names. */
static int check_name(struct copying *c, const char *dir, const char *path,
	const char *name)
{
	bool node = fnmatch("node[0-9]*", name, 0) == 0;
	const char *digits = name + strcspn(name, "0123456789");

	if (!node && fnmatch("cpu[0-9]*", name, 0) != 0)
		return 0;
	if (strlen(digits) > 9 || strtoul(digits, NULL, 10) >= VFCTL_CPU_MAX)
		return fail_nonsense(c, path);
	return node && str_eq(dir, NODES) && ++c->nodes > NODES_MAX ? -E2BIG : 0;
}

static int make_dir(struct copying *c, const char *path)
{
	_free_ char *target = str_format("%s%s", c->dir, path);

	if (!target)
		return -ENOMEM;
	return mkdir(target, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

static int put_file(struct copying *c, const char *path, const struct buf *text)
{
	_free_ char *target = str_format("%s%s", c->dir, path);
	_close_ int fd = -1;

	if (!target)
		return -ENOMEM;
	fd = open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	errno = EIO;
	return write(fd, text->data, text->len) == (ssize_t)text->len ? 0 : -errno;
}

static int copy_file(struct copying *c, const char *path, const char *name)
{
	struct host *h = host_of(c->ctx);
	_buf_ struct buf text = {0};
	int r = h->ops->read(h, path, &text);

	if (r == -ENOMEM)
		return r;
	if (r < 0 || !text.data || text.len > ONE_FILE_MAX)
		return 0;
	r = matches_copy(name, lists, ARRAY_SIZE(lists)) ? check_numbers(c, path, text.data) : 0;
	return r < 0 ? r : put_file(c, path, &text);
}

static int copy_tree(struct copying *c, const char *dir, unsigned depth);

/* A directory behind a link becomes an empty one: nothing is copied twice, or endlessly. */
static int copy_entry(struct copying *c, const char *path, const char *name, unsigned depth)
{
	struct host *h = host_of(c->ctx);
	_free_ char *target = NULL;
	_strv_ char **names = NULL;
	bool is_link = h->ops->readlink(h, path, &target) == 0;
	int r;

	if (++c->files > FILES_MAX)
		return -E2BIG;
	r = h->ops->list(h, path, &names);
	if (r < 0)
		return copy_file(c, path, name);
	return is_link || !depth ? make_dir(c, path) : copy_tree(c, path, depth - 1);
}

static int copy_tree(struct copying *c, const char *dir, unsigned depth)
{
	struct host *h = host_of(c->ctx);
	_strv_ char **names = NULL;
	int r = h->ops->list(h, dir, &names);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = make_dir(c, dir);
	for (size_t i = 0; r == 0 && names[i]; i++) {
		_free_ char *path = str_format("%s/%s", dir, names[i]);

		if (!path)
			return -ENOMEM;
		if (!is_wanted(dir, names[i]))
			continue;
		r = check_name(c, dir, path, names[i]);
		if (r == 0)
			r = copy_entry(c, path, names[i], depth);
	}
	return r;
}

static int copy_all(struct copying *c)
{
	static const char *const parents[] = {"/sys", "/sys/devices", "/sys/devices/system",
		"/proc"};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parents) && r == 0; i++)
		r = make_dir(c, parents[i]);
	if (r == 0)
		r = copy_tree(c, CPUS, DEPTH);
	if (r == 0)
		r = copy_tree(c, NODES, DEPTH);
	return r == 0 ? copy_file(c, "/proc/meminfo", "meminfo") : r;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void host_copy_remove(struct host_copy *copy)
{
	if (!copy->dir)
		return;
	nftw(copy->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(steal(copy->dir));
	pthread_sigmask(SIG_SETMASK, &copy->before, NULL);
}

static void block_signals(sigset_t *ret_before)
{
	static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2};
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaddset(&block, ending[i]);
	pthread_sigmask(SIG_BLOCK, &block, ret_before);
}

int host_copy_make(struct vfctl_ctx *ctx, struct host_copy *ret)
{
	_free_ char *name = str_format("%s/vfctl-host-XXXXXX", ctx->temp_dir);
	struct copying c = {.ctx = ctx};
	int r;

	*ret = (struct host_copy){0};
	if (!name)
		return ctx_oom(ctx);
	if (!host_exists(ctx, CPUS))
		return ctx_fail(ctx, -ENOENT, "the captured host has no %s, so its topology is unknown; "
			"capture it with vfctl capture", CPUS);
	block_signals(&ret->before);
	if (!mkdtemp(name)) {
		r = ctx_fail(ctx, -errno, "make a directory in %s: %s", ctx->temp_dir,
			strerror(errno));
		pthread_sigmask(SIG_SETMASK, &ret->before, NULL);
		return r;
	}
	ret->dir = steal(name);
	c.dir = ret->dir;
	r = copy_all(&c);
	if (r == -ENOMEM)
		ctx_oom(ctx);
	else if (r < 0 && r != -EINVAL)
		ctx_fail(ctx, r, "copy the captured CPUs and nodes to %s: %s", ctx->temp_dir,
			r == -E2BIG ? "there are more files than any host has" : strerror(-r));
	if (r < 0)
		host_copy_remove(ret);
	return r;
}
