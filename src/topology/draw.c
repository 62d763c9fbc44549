// SPDX-License-Identifier: GPL-2.0-or-later
/* A picture of the model as a file; rsvg-convert makes a PNG of it. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "host/files.h"
#include "host/plain.h"
#include "host/run.h"
#include "topology/picture.h"

#define CONVERT_MS 60000
#define PICTURE_MAX ((size_t)256 << 20)

static const char *find_converter(void)
{
	static const char *const places[] = {"/usr/bin/rsvg-convert", "/usr/local/bin/rsvg-convert"};

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

/* Create a file in memory; the converter opens it through this process's /proc directory. */
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

	return r < 0 ? ctx_fail(ctx, r, "read the output of rsvg-convert: %s", strerror(-r)) : 0;
}

/* Convert the SVG in @picture to a PNG. */
static int convert(struct vfctl_ctx *ctx, struct buf *picture)
{
	_free_ char *last = NULL;
	_close_ int input = -1, output = -1;
	char from[64], to[64];
	char *const argv[] = {(char *)find_converter(), "--format=png", "--zoom=2", "--output", to, from,
		NULL};
	int r;

	if (!argv[0])
		return ctx_fail(ctx, -ENOPKG, "rsvg-convert, which makes PNG files, is not installed; "
			"install the Debian package librsvg2-bin, or draw an SVG file with --svg");
	r = make_file(ctx, "vfctl-svg", &input, from);
	if (r == 0)
		r = make_file(ctx, "vfctl-png", &output, to);
	if (r == 0)
		r = write_all(ctx, input, "the SVG", picture->data, picture->len);
	if (r == 0)
		r = host_run(ctx, argv, CONVERT_MS, &last);
	buf_reset(picture);
	if (r == 0)
		r = read_back(ctx, output, picture);
	if (r == 0 && (!picture->data || !str_starts(picture->data, "\x89PNG")))
		return ctx_fail(ctx, -EIO, "%s made no picture%s%s", argv[0], *last ? ": " : "", last);
	return r;
}

int picture_write(struct vfctl_ctx *ctx, struct buf *picture, enum vfctl_picture format,
	const char *path)
{
	_cleanup_(vfctl_output_freep) struct vfctl_output *output = NULL;
	int r;

	if (format != VFCTL_PICTURE_SVG && format != VFCTL_PICTURE_PNG)
		return ctx_fail(ctx, -EINVAL, "not a known picture format");
	if (picture->failed)
		return ctx_oom(ctx);
	r = vfctl_output_open(ctx, path, true, &output);
	if (r < 0)
		return r;
	if (format == VFCTL_PICTURE_PNG)
		r = convert(ctx, picture);
	if (r == 0)
		r = write_all(ctx, vfctl_output_fd(output), path, picture->data, picture->len);
	return r == 0 ? vfctl_output_commit(ctx, output) : r;
}

int vfctl_model_draw(struct vfctl_ctx *ctx, const struct vfctl_host_model *model, const char *title,
	enum vfctl_picture format, const char *path)
{
	_buf_ struct buf picture = {0};

	picture_svg(model, title, &picture);
	return picture_write(ctx, &picture, format, path);
}
