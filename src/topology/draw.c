// SPDX-License-Identifier: GPL-2.0-or-later
/* A picture of the model, drawn by hwloc's lstopo. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "host/plain.h"
#include "host/run.h"
#include "topology/picture.h"
#include "core/host.h"
#include "core/workflow.h"

#define DRAW_MS 60000
#define PICTURE_MAX ((size_t)256 << 20)

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

/* A file in memory; lstopo reaches it under its name below our /proc directory. */
static int make_file(struct vfctl_ctx *ctx, const char *what, int *ret_fd, char name[64])
{
	int fd = memfd_create(what, MFD_CLOEXEC);

	if (fd < 0)
		return ctx_fail(ctx, -errno, "make a file in memory: %s", strerror(errno));
	snprintf(name, 64, "/proc/%d/fd/%d", (int)getpid(), fd);
	*ret_fd = fd;
	return 0;
}

static int read_back(struct vfctl_ctx *ctx, int fd, struct buf *ret)
{
	int r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : plain_read(fd, PICTURE_MAX, ret);

	return r < 0 ? ctx_fail(ctx, r, "read what lstopo drew: %s", strerror(-r)) : 0;
}

static int run_lstopo(struct vfctl_ctx *ctx, enum vfctl_picture format, const struct buf *xml,
	struct buf *ret_picture)
{
	_free_ char *said = NULL;
	_close_ int input = -1, output = -1;
	char from[64], to[64];
	char *const argv[] = {(char *)find_lstopo(), "--if", "xml", "-i", from, "-p",
		"--no-factorize", "--no-default-legend", "--no-attrs=L3", "-f", "--of",
		(char *)formats[format].name, to, NULL};
	int r = make_file(ctx, "vfctl-model", &input, from);

	if (r == 0)
		r = make_file(ctx, "vfctl-picture", &output, to);
	if (r == 0)
		r = write_all(ctx, input, "the model", xml->data, xml->len);
	if (r == 0)
		r = host_run(ctx, argv, DRAW_MS, &said);
	if (r == 0)
		r = read_back(ctx, output, ret_picture);
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
	struct buf *picture)
{
	const char *tag = strstr(picture->data, "<svg"), *after = tag ? strchr(tag, '>') : NULL;
	struct buf whole = {0};

	if (!after)
		return ctx_fail(ctx, -EIO, "lstopo drew no SVG");
	buf_add(&whole, picture->data, (size_t)(after + 1 - picture->data));
	buf_puts(&whole, "\n");
	picture_svg_words(model, &whole);
	buf_puts(&whole, after + 1);
	buf_free(picture);
	*picture = whole;
	return whole.failed ? ctx_oom(ctx) : 0;
}

int vfctl_model_draw(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	enum vfctl_picture format, const char *path)
{
	_cleanup_(vfctl_output_freep) struct vfctl_output *output = NULL;
	_buf_ struct buf xml = {0}, picture = {0};
	int r;

	if ((size_t)format >= ARRAY_SIZE(formats))
		return ctx_fail(ctx, -EINVAL, "no such format of pictures");
	r = vfctl_output_open(ctx, path, true, &output);
	if (r < 0)
		return r;
	if (!find_lstopo())
		return ctx_fail(ctx, -ENOPKG,
			"lstopo is not installed, which draws the picture; "
			"install the Debian package hwloc");
	picture_xml(model, &xml);
	if (xml.failed)
		return ctx_oom(ctx);
	r = run_lstopo(ctx, format, &xml, &picture);
	if (r == 0 && format == VFCTL_PICTURE_SVG)
		r = add_words(ctx, model, &picture);
	if (r == 0)
		r = write_all(ctx, vfctl_output_fd(output), path, picture.data, picture.len);
	return r == 0 ? vfctl_output_commit(ctx, output) : r;
}
