// SPDX-License-Identifier: GPL-2.0-or-later
/* A picture of the model, drawn by hwloc's lstopo. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "host/run.h"
#include "topology/picture.h"
#include "vfctl/workflow.h"

#define DRAW_MS 60000

/* lstopo's own SVG ("nativesvg") does not escape names; cairo's is only in package hwloc. */
static const struct {
	const char *name; /* for lstopo */
	const char *begins;
} formats[] = {
	[VFCTL_PICTURE_SVG] = {"cairosvg", "<?xml"},
	[VFCTL_PICTURE_PNG] = {"png", "\x89PNG"},
};

static const char *find_lstopo(void)
{
	static const char *const places[] = {"/usr/bin/lstopo", "/usr/local/bin/lstopo"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return NULL;
}

/* A file that goes when it was not renamed. */
static void remove_file(char **path)
{
	if (*path)
		unlink(*path);
	free(*path);
}

static int write_all(struct vfctl_ctx *ctx, int fd, const char *path, const char *data,
	size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ctx_fail(ctx, -errno, "write %s: %s", path, strerror(errno));
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_xml(struct vfctl_ctx *ctx, const struct buf *xml, char **ret_path)
{
	_cleanup_(remove_file) char *path = NULL;
	_free_ char *name = strdup("/tmp/vfctl-picture-XXXXXX");
	_close_ int fd = name ? mkostemp(name, O_CLOEXEC) : -1;
	int r;

	if (!name)
		return ctx_oom(ctx);
	if (fd < 0)
		return ctx_fail(ctx, -errno, "make a file in /tmp: %s", strerror(errno));
	path = steal(name);
	r = write_all(ctx, fd, path, xml->data, xml->len);
	if (r == 0)
		*ret_path = steal(path);
	return r;
}

/* Beside the picture, so that it takes its place at once; lstopo runs in /. */
static int make_target(struct vfctl_ctx *ctx, const char *path, char **ret_path)
{
	_free_ char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
	_free_ char *name = NULL;
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (path[0] != '/' && !here)
		return ctx_fail(ctx, -errno, "where are we? %s", strerror(errno));
	name = str_format("%s%s%s.XXXXXX", here ? here : "", here ? "/" : "", path);
	if (!name)
		return ctx_oom(ctx);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return ctx_fail(ctx, -errno, "write %s: %s", path, strerror(errno));
	fchmod(fd, 0666 & ~mask);
	close(fd);
	*ret_path = steal(name);
	return 0;
}

static int read_back(struct vfctl_ctx *ctx, const char *path, struct buf *ret)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char some[16384];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, some, sizeof(some))) > 0)
		buf_add(ret, some, (size_t)n);
	if (n < 0)
		return ctx_fail(ctx, -errno, "read %s: %s", path, strerror(errno));
	return ret->failed ? ctx_oom(ctx) : 0;
}

static int run_lstopo(struct vfctl_ctx *ctx, enum vfctl_picture format, const char *xml,
	const char *target, struct buf *ret_picture)
{
	_free_ char *said = NULL;
	char *const argv[] = {(char *)find_lstopo(), "--if", "xml", "-i", (char *)xml, "-p",
		"--no-factorize", "--no-default-legend", "--no-attrs=L3", "-f", "--of",
		(char *)formats[format].name, (char *)target, NULL};
	int r = host_run(ctx, argv, DRAW_MS, &said);

	if (r == 0)
		r = read_back(ctx, target, ret_picture);
	if (r < 0)
		return r;
	/* It reports success for a format that it was built without. */
	if (!ret_picture->data || !str_starts(ret_picture->data, formats[format].begins))
		return ctx_fail(ctx, -EIO, "%s drew no picture%s%s; install the Debian package "
			"hwloc (hwloc-nox cannot draw this)", argv[0], *said ? ": " : "", said);
	return 0;
}

/* Words into the SVG, behind its first tag, for searching and for reading aloud. */
static int add_words(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct buf *picture, const char *target)
{
	const char *tag = strstr(picture->data, "<svg"), *after = tag ? strchr(tag, '>') : NULL;
	_buf_ struct buf words = {0};
	_close_ int fd = -1;
	size_t head;
	int r;

	if (!after)
		return ctx_fail(ctx, -EIO, "lstopo drew no SVG");
	head = (size_t)(after + 1 - picture->data);
	buf_puts(&words, "\n");
	picture_svg_words(model, &words);
	if (words.failed)
		return ctx_oom(ctx);
	fd = open(target, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return ctx_fail(ctx, -errno, "write %s: %s", target, strerror(errno));
	r = write_all(ctx, fd, target, picture->data, head);
	if (r == 0)
		r = write_all(ctx, fd, target, words.data, words.len);
	return r < 0 ? r : write_all(ctx, fd, target, after + 1, picture->len - head);
}

int vfctl_model_draw(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	enum vfctl_picture format, const char *path)
{
	_cleanup_(remove_file) char *input = NULL, *target = NULL;
	struct stat st;
	_buf_ struct buf xml = {0}, picture = {0};
	int r;

	/* What is there is replaced: a device or a pipe must not become a picture. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return ctx_fail(ctx, -EINVAL, "%s is no file; name one to draw into", path);

	if ((size_t)format >= ARRAY_SIZE(formats))
		return ctx_fail(ctx, -EINVAL, "no such format of pictures");
	if (!find_lstopo())
		return ctx_fail(ctx, -ENOPKG,
			"lstopo is not installed, which draws the picture; "
			"install the Debian package hwloc");
	picture_xml(model, &xml);
	if (xml.failed)
		return ctx_oom(ctx);
	r = write_xml(ctx, &xml, &input);
	if (r == 0)
		r = make_target(ctx, path, &target);
	if (r == 0)
		r = run_lstopo(ctx, format, input, target, &picture);
	if (r == 0 && format == VFCTL_PICTURE_SVG)
		r = add_words(ctx, model, &picture, target);
	if (r == 0 && rename(target, path) < 0)
		r = ctx_fail(ctx, -errno, "write %s: %s", path, strerror(errno));
	if (r == 0)
		free(steal(target));
	return r;
}
