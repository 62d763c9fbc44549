// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A host that was captured into a directory or an archive, or any tree that holds a
 * sys/: everything can be read, nothing changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/rtnetlink.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "host/host.h"
#include "vfctl/host.h"

struct captured {
	struct host host;
	char *unpacked; /* temporary directory of an archive, removed at the end */
};

static int refuse_write(struct host *h, const char *path, const char *text, unsigned ms)
{
	return -EROFS;
}

static int refuse_module(struct host *h, const char *name, unsigned timeout_ms)
{
	return -EROFS;
}

static int refuse_lock(struct host *h, const char *name, bool shared, unsigned ms,
	int *ret_fd)
{
	return -EROFS;
}

/* Only what vfctl asks of links was captured: all links, or one with its VFs. */
static int captured_exchange(struct host *h, int protocol, const void *request,
	size_t len, unsigned timeout_ms, struct buf *ret_reply)
{
	const struct nlmsghdr *m = request;
	const struct ifinfomsg *info = NLMSG_DATA(m);
	char path[64];
	int r;

	if (protocol != NETLINK_ROUTE || len < NLMSG_LENGTH(sizeof(*info)) ||
		m->nlmsg_type != RTM_GETLINK)
		return -EROFS;
	if (m->nlmsg_flags & NLM_F_DUMP)
		snprintf(path, sizeof(path), CAPTURE_LINKS);
	else
		snprintf(path, sizeof(path), CAPTURE_VFS, info->ifi_index);
	r = files_read(h, path, ret_reply);
	return r == -ENOENT ? -EOPNOTSUPP : r;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path) < 0 ? -errno : 0;
}

static void captured_free(struct host *h)
{
	struct captured *c = (struct captured *)h;

	if (c->unpacked)
		nftw(c->unpacked, remove_entry, 32, FTW_DEPTH | FTW_PHYS);
	free(c->unpacked);
	files_free(h);
}

static const struct host_ops captured_ops = {
	.name = "capture",
	.read_only = true,
	.read = files_read,
	.write = refuse_write,
	.readlink = files_readlink,
	.list = files_list,
	.exchange = captured_exchange,
	.load_module = refuse_module,
	.lock = refuse_lock,
	.sleep = files_sleep,
	.free = captured_free,
};

/* GNU tar finds the compression out by itself and never writes outside -C. */
static int unpack(struct vfctl_ctx *ctx, const char *archive, const char *dir)
{
	char *argv[] = {"tar", "-xf", (char *)archive, "-C", (char *)dir,
		"--no-same-owner", "--no-same-permissions", "--mode=u+rwX", NULL};
	pid_t pid;
	int status, r;

	if (archive[0] == '-')
		return ctx_fail(ctx, -EINVAL, "%s: write it as ./%s", archive, archive);
	r = posix_spawnp(&pid, "tar", NULL, NULL, argv, environ);
	if (r)
		return ctx_fail(ctx, -r, "run tar to read %s: %s", archive, strerror(r));
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		return ctx_fail(ctx, -EINVAL, "%s is no archive that tar can read", archive);
	return 0;
}

static bool holds_sys(const char *dir)
{
	_free_ char *sys = str_format("%s/sys", dir);
	struct stat st;

	return sys && stat(sys, &st) == 0 && S_ISDIR(st.st_mode);
}

/* @dir itself, or the one directory in it that holds a sys/ (archives have one on top). */
static int find_root(struct vfctl_ctx *ctx, const char *dir, const char *shown,
	char **ret_root)
{
	struct host here = {.root_fd = -1};
	_strv_ char **names = NULL;

	if (holds_sys(dir)) {
		*ret_root = strdup(dir);
		return *ret_root ? 0 : ctx_oom(ctx);
	}
	if (files_list(&here, dir, &names) == 0)
		for (char **name = names; *name; name++) {
			_free_ char *inner = str_format("%s/%s", dir, *name);

			if (inner && holds_sys(inner)) {
				*ret_root = steal(inner);
				return 0;
			}
		}
	return ctx_fail(ctx, -EINVAL, "%s holds no sys/ directory: not a captured host "
		"(make one with vfctl capture)", shown);
}

int captured_host_new(struct vfctl_ctx *ctx, const char *path, struct host **ret_host)
{
	char scratch[] = "/tmp/vfctl-host-XXXXXX";
	_free_ char *root = NULL;
	struct captured *c;
	struct host *h;
	struct stat st;
	bool archive;
	int r;

	if (stat(path, &st) < 0)
		return ctx_fail(ctx, -errno, "host %s: %s", path, strerror(errno));
	archive = !S_ISDIR(st.st_mode);
	if (archive && !mkdtemp(scratch))
		return ctx_fail(ctx, -errno, "make %s: %s", scratch, strerror(errno));
	r = archive ? unpack(ctx, path, scratch) : 0;
	if (r == 0)
		r = find_root(ctx, archive ? scratch : path, path, &root);
	if (r == 0) {
		r = files_host_new(&captured_ops, root, sizeof(struct captured), &h);
		if (r < 0)
			ctx_fail(ctx, r, "open %s: %s", root, strerror(-r));
	}
	if (r < 0) {
		if (archive)
			nftw(scratch, remove_entry, 32, FTW_DEPTH | FTW_PHYS);
		return r;
	}
	c = (struct captured *)h;
	c->unpacked = archive ? strdup(scratch) : NULL;
	*ret_host = h;
	return 0;
}

int vfctl_ctx_open_host(struct vfctl_ctx *ctx, const char *path)
{
	struct host *h;
	int r = captured_host_new(ctx, path, &h);

	if (r == 0)
		host_set(ctx, h);
	return r;
}

const char *vfctl_ctx_host_root(struct vfctl_ctx *ctx)
{
	return ctx->host ? ctx->host->root : "";
}
