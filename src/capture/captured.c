// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A host that was captured into a directory or an archive, or any tree that contains a sys/:
 * everything can be read, nothing can be changed. It may come from an untrusted source: only plain
 * files are opened, no link leads out of it, and its size and depth are limited.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/openat2.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "capture/captured.h"
#include "capture/tar.h"
#include "host/plain.h"

/*
 * Limit for the sum of calls, listed names and kilobytes read: a host with 1000 VFs needs about
 * 50,000. A few files and links can simulate any number of devices.
 */
#define WORK_MAX 1000000

struct captured {
	struct host host;
	struct image image; /* of an archive */
	bool in_memory;
	uint64_t work;
};

static int refuse_write(struct host *h, const char *path, const char *text, unsigned ms)
{
	return -EROFS;
}

static int refuse_replace(struct host *h, const char *path, const char *text)
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

/* Count @amount of the permitted work. */
static int spend_captured(struct captured *c, uint64_t amount)
{
	if (c->work > WORK_MAX)
		return -E2BIG;
	c->work += amount;
	return 0;
}

static int captured_check(struct host *h)
{
	return spend_captured((struct captured *)h, 0);
}

static int captured_read(struct host *h, const char *path, struct buf *ret_text)
{
	struct captured *c = (struct captured *)h;
	_close_ int fd = -1;
	int r = spend_captured(c, 1);

	if (r < 0)
		return r;
	if (c->in_memory) {
		r = image_read(&c->image, path, ret_text);
	} else {
		fd = plain_open_in(h, path);
		r = fd < 0 ? fd : plain_read(fd, HOST_FILE_MAX, ret_text);
	}
	return r < 0 ? r : spend_captured(c, ret_text->len >> 10);
}

static int captured_readlink(struct host *h, const char *path, char **ret_target)
{
	struct captured *c = (struct captured *)h;
	int r = spend_captured(c, 1);

	if (r < 0)
		return r;
	return c->in_memory ? image_readlink(&c->image, path, ret_target)
			    : files_readlink(h, path, ret_target);
}

static int captured_list(struct host *h, const char *path, char ***ret_names)
{
	struct captured *c = (struct captured *)h;
	int r = spend_captured(c, 1);

	if (r == 0)
		r = c->in_memory ? image_list(&c->image, path, ret_names)
				 : files_list(h, path, ret_names);
	return r < 0 ? r : spend_captured(c, strv_len(*ret_names));
}

/* The text of an attribute of a generic netlink request; NULL if there is none. */
static const char *text_in(const struct nlmsghdr *m, uint16_t type)
{
	const char *at = (const char *)m + NLMSG_LENGTH(GENL_HDRLEN),
		*stop = (const char *)m + m->nlmsg_len;

	while (at + NLA_HDRLEN <= stop) {
		const struct nlattr *attr = (const void *)at;

		if (attr->nla_type == type && attr->nla_len > NLA_HDRLEN && at + attr->nla_len <= stop &&
			at[attr->nla_len - 1] == '\0')
			return at + NLA_HDRLEN;
		if (attr->nla_len < NLA_HDRLEN)
			return NULL;
		at += NLA_ALIGN(attr->nla_len);
	}
	return NULL;
}

/*
 * Find the answer to a devlink request: family number, dumps, and modes. False: the request is not
 * one of these.
 */
static bool find_devlink(const struct nlmsghdr *m, size_t len, char *path, size_t size)
{
	const struct genlmsghdr *g = NLMSG_DATA(m);
	const char *name;

	if (len < NLMSG_LENGTH(GENL_HDRLEN) || m->nlmsg_len > len)
		return false;
	if (m->nlmsg_type == GENL_ID_CTRL) {
		name = text_in(m, CTRL_ATTR_FAMILY_NAME);
		snprintf(path, size, CAPTURE_DEVLINK_FAMILY);
		return name && str_eq(name, DEVLINK_GENL_NAME);
	}
	if ((m->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
		snprintf(path, size, CAPTURE_DEVLINK_DUMP, g->cmd);
		return true;
	}
	name = text_in(m, DEVLINK_ATTR_DEV_NAME);
	if (g->cmd != DEVLINK_CMD_ESWITCH_GET || !name || strchr(name, '/'))
		return false;
	snprintf(path, size, CAPTURE_ESWITCH, name);
	return true;
}

/* Only vfctl's requests were captured: for all links, for one with its VFs, and for devlink. */
static int captured_exchange(struct host *h, int protocol, const void *request,
	size_t len, unsigned timeout_ms, struct buf *ret_reply)
{
	const struct nlmsghdr *m = request;
	const struct ifinfomsg *info = NLMSG_DATA(m);
	char path[64];
	int r;

	if (protocol == NETLINK_GENERIC && find_devlink(m, len, path, sizeof(path))) {
		r = captured_read(h, path, ret_reply);
		return r == -ENOENT ? -EOPNOTSUPP : r;
	}
	if (protocol != NETLINK_ROUTE || len < NLMSG_LENGTH(sizeof(*info)) ||
		m->nlmsg_type != RTM_GETLINK)
		return -EROFS;
	if (m->nlmsg_flags & NLM_F_DUMP)
		snprintf(path, sizeof(path), CAPTURE_LINKS);
	else
		snprintf(path, sizeof(path), CAPTURE_VFS, info->ifi_index);
	r = captured_read(h, path, ret_reply);
	return r == -ENOENT ? -EOPNOTSUPP : r;
}

static void captured_free(struct host *h)
{
	image_clear(&((struct captured *)h)->image);
	files_free(h);
}

static int captured_kernel_log(struct host *h, struct buf *ret_text)
{
	return captured_read(h, CAPTURE_LOG, ret_text);
}

static const struct host_ops captured_ops = {
	.name = "capture",
	.read_only = true,
	.read = captured_read,
	.write = refuse_write,
	.replace = refuse_replace,
	.readlink = captured_readlink,
	.list = captured_list,
	.exchange = captured_exchange,
	.kernel_log = captured_kernel_log,
	.load_module = refuse_module,
	.lock = refuse_lock,
	.check = captured_check,
	.sleep = files_sleep,
	.free = captured_free,
};

static int fail_no_sys(struct vfctl_ctx *ctx, const char *path)
{
	return ctx_fail(ctx, -EINVAL, "%s holds no sys/ directory: not a captured host "
		"(make one with vfctl capture)", path);
}

/* ---- an archive ---- */

static bool image_has_sys(const struct image *im, const char *dir)
{
	_free_ char *sys = str_format("%s/sys", dir);

	return sys && image_kind_of(im, sys) == IMAGE_DIR;
}

/* The top of the archive, or its only directory that contains a sys/. */
static int find_top(struct vfctl_ctx *ctx, struct image *im, const char *path)
{
	_strv_ char **names = NULL;

	if (image_has_sys(im, ""))
		return 0;
	if (image_list(im, "/", &names) == 0)
		for (char **name = names; *name; name++)
			if (image_has_sys(im, *name)) {
				image_descend(im, *name);
				return 0;
			}
	return fail_no_sys(ctx, path);
}

static int load_archive(struct vfctl_ctx *ctx, const char *path, struct image *im)
{
	_close_ int fd = plain_open(path);
	_cleanup_(stream_freep) struct stream *in = NULL;
	int r;

	if (fd == -EMEDIUMTYPE)
		return ctx_fail(ctx, -EINVAL, "host %s is neither a file nor a directory", path);
	if (fd < 0)
		return ctx_fail(ctx, fd, "host %s: %s", path, strerror(-fd));
	r = stream_open(ctx, fd, path, &in);
	if (r == 0)
		r = tar_read(ctx, in, path, im);
	return r == 0 ? find_top(ctx, im, path) : r;
}

/* ---- a directory ---- */

static bool dir_has_sys(int dir)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT};
	_close_ int fd = (int)syscall(SYS_openat2, dir, "sys", &how, sizeof(how));

	return fd >= 0;
}

/* @dir itself, or its only directory that contains a sys/ (archives have one at the top). */
static int find_dir(struct vfctl_ctx *ctx, const char *path, char **ret_root, int *ret_fd)
{
	struct host here = {.root_fd = -1};
	_close_ int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_strv_ char **names = NULL;

	if (dir < 0)
		return ctx_fail(ctx, -errno, "host %s: %s", path, strerror(errno));
	if (dir_has_sys(dir)) {
		*ret_root = strdup(path);
		*ret_fd = dir;
		dir = -1;
		return *ret_root ? 0 : ctx_oom(ctx);
	}
	if (files_list(&here, path, &names) < 0)
		return fail_no_sys(ctx, path);
	for (char **name = names; *name; name++) {
		_close_ int inner = openat(dir, *name,
			O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (inner < 0 || !dir_has_sys(inner))
			continue;
		*ret_root = str_format("%s/%s", path, *name);
		*ret_fd = inner;
		inner = -1;
		return *ret_root ? 0 : ctx_oom(ctx);
	}
	return fail_no_sys(ctx, path);
}

/* ---- both ---- */

/* The context gets no root directory, so no path of the running host can be reached through it. */
static int fill_captured(struct vfctl_ctx *ctx, struct captured *c, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return ctx_fail(ctx, -errno, "host %s: %s", path, strerror(errno));
	free(steal(c->host.root));
	c->in_memory = !S_ISDIR(st.st_mode);
	if (!c->in_memory)
		return find_dir(ctx, path, &c->host.root, &c->host.root_fd);
	c->host.root = strdup(path);
	return c->host.root ? load_archive(ctx, path, &c->image) : ctx_oom(ctx);
}

static int captured_host_new(struct vfctl_ctx *ctx, const char *path, struct host **ret_host)
{
	struct host *h;
	int r = files_host_new(&captured_ops, NULL, sizeof(struct captured), &h);

	if (r < 0)
		return ctx_oom(ctx);
	r = fill_captured(ctx, (struct captured *)h, path);
	if (r < 0)
		captured_free(h);
	else
		*ret_host = h;
	return r;
}

int vfctl_ctx_open_host(struct vfctl_ctx *ctx, const char *path)
{
	struct host *h = NULL;
	int r = captured_host_new(ctx, path, &h);

	if (r == 0)
		host_set(ctx, h);
	return ctx_mark_usage_error(ctx, r);
}

const char *vfctl_ctx_host_root(struct vfctl_ctx *ctx)
{
	return ctx->host ? ctx->host->root : "";
}
