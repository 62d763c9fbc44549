// SPDX-License-Identifier: GPL-2.0-or-later
/* The only file that knows zlib. */
#include "host/gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <zlib.h>

#include "base/dl.h"
#include "base/sonames.h"

#define SYMBOLS(each) \
	each(gzdopen) each(gzread) each(gzwrite) each(gzclose) each(gzerror)
DL_SYMBOLS(symbols, SYMBOLS);

struct stream {
	struct vfctl_ctx *ctx;
	const char *name;
	int fd;    /* of a plain one */
	gzFile gz; /* NULL: plain */
};

void stream_free(struct stream *s)
{
	if (s && s->gz)
		sym_gzclose(s->gz);
	free(s);
}

/* zlib closes what it is given. */
static int start_gzip(struct stream *s, const char *mode)
{
	int fd, r = dl_bind(s->ctx, SONAME_ZLIB, symbols, ARRAY_SIZE(symbols));

	if (r < 0)
		return r;
	fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return ctx_fail(s->ctx, -errno, "open %s: %s", s->name, strerror(errno));
	s->gz = sym_gzdopen(fd, mode);
	if (s->gz)
		return 0;
	close(fd);
	return ctx_oom(s->ctx);
}

static int stream_new(struct vfctl_ctx *ctx, int fd, const char *name, const char *gzip_mode,
	struct stream **ret)
{
	_stream_ struct stream *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return ctx_oom(ctx);
	s->ctx = ctx;
	s->fd = fd;
	s->name = name;
	r = gzip_mode ? start_gzip(s, gzip_mode) : 0;
	if (r == 0)
		*ret = steal(s);
	return r;
}

int stream_open(struct vfctl_ctx *ctx, int fd, const char *name, struct stream **ret)
{
	static const struct {
		unsigned char magic[4];
		const char *unpack; /* NULL: we do it */
	} kinds[] = {
		{{0x1f, 0x8b, 8}, NULL},
		{{0xfd, '7', 'z', 'X'}, "xz -d"},
		{{0x28, 0xb5, 0x2f, 0xfd}, "zstd -d"},
		{{'B', 'Z', 'h'}, "bzip2 -d"},
		{{'L', 'Z', 'I', 'P'}, "lzip -d"},
	};
	unsigned char begin[262] = {0};
	ssize_t n = pread(fd, begin, sizeof(begin), 0);

	if (n < 0)
		return ctx_fail(ctx, -errno, "read %s: %s", name, strerror(errno));
	/* The first member of a plain archive may have any name, "BZh" too. */
	if (memcmp(begin + 257, "ustar", 5) == 0)
		return stream_new(ctx, fd, name, NULL, ret);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (memcmp(begin, kinds[i].magic, kinds[i].magic[3] ? 4 : 3) != 0)
			continue;
		if (!kinds[i].unpack)
			return stream_new(ctx, fd, name, "rb", ret);
		return ctx_fail(ctx, -EINVAL, "%s is packed in another way than gzip; unpack it "
			"first: %s %s", name, kinds[i].unpack, name);
	}
	return stream_new(ctx, fd, name, NULL, ret);
}

/* At the end of the file, zlib's gzread() returns 0 inside a gzip stream as after it: gzerror()
 * tells them apart (zlib.h, at gzread). zlib 1.3.2 tells it of the last read that returns data
 * only, so each short read is asked. */
static bool ends_inside(struct stream *s)
{
	int error = Z_OK;

	if (s->gz)
		sym_gzerror(s->gz, &error);
	return error == Z_BUF_ERROR;
}

ssize_t stream_read(struct stream *s, void *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		char *at = (char *)data + done;
		ssize_t n = s->gz ? sym_gzread(s->gz, at, (unsigned)(len - done))
				  : read(s->fd, at, len - done);

		if (n < 0 && !s->gz && errno == EINTR)
			continue;
		if ((n < 0 && s->gz) || ((size_t)(n < 0 ? 0 : n) < len - done && ends_inside(s)))
			return ctx_fail(s->ctx, -EBADMSG, "%s is damaged: gzip cannot unpack it",
				s->name);
		if (n < 0)
			return ctx_fail(s->ctx, -errno, "read %s: %s", s->name, strerror(errno));
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int stream_create(struct vfctl_ctx *ctx, int fd, const char *name, bool gzip,
	struct stream **ret)
{
	return stream_new(ctx, fd, name, gzip ? "wb" : NULL, ret);
}

static int fail_write(struct stream *s, int error)
{
	error = error ? error : EIO;
	return ctx_fail(s->ctx, -error, "write %s: %s", s->name, strerror(error));
}

int stream_write(struct stream *s, const void *data, size_t len)
{
	size_t done = 0;

	errno = 0;
	if (s->gz)
		return len && sym_gzwrite(s->gz, data, (unsigned)len) <= 0
			? fail_write(s, errno) : 0;
	while (done < len) {
		ssize_t n = write(s->fd, (const char *)data + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail_write(s, errno);
		done += (size_t)n;
	}
	return 0;
}

int stream_finish(struct stream *s)
{
	gzFile gz = steal(s->gz);

	errno = 0;
	return gz && sym_gzclose(gz) != Z_OK ? fail_write(s, errno) : 0;
}
