// SPDX-License-Identifier: GPL-2.0-or-later
/* The only file that uses zlib. */
#include "capture/gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <zlib.h>

#include "base/dl.h"
#include "base/sonames.h"

#define SYMBOLS(each) \
	each(inflateInit2_) each(inflate) each(inflateReset) each(inflateEnd) \
	each(gzdopen) each(gzwrite) each(gzclose)
DL_SYMBOLS(symbols, SYMBOLS);

#define GZIP_ONLY (16 + MAX_WBITS) /* see inflateInit2 in zlib.h */

/*
 * The data are unpacked here and not with gzread(), because not every zlib reports that a file ends
 * within packed data.
 */
struct unpacker {
	z_stream z;
	bool between; /* between members: the data read so far are complete */
	bool over;    /* the data after the last member are not gzip */
	unsigned char in[1 << 16];
};

struct stream {
	struct vfctl_ctx *ctx;
	const char *name;
	int fd;
	gzFile gz;                 /* packs the output; NULL: plain, or for reading */
	struct unpacker *unpacker; /* NULL: plain, or for writing */
};

void stream_free(struct stream *s)
{
	if (s && s->gz)
		sym_gzclose(s->gz);
	if (s && s->unpacker)
		sym_inflateEnd(&s->unpacker->z);
	if (s)
		free(s->unpacker);
	free(s);
}

static int start_unpacking(struct stream *s)
{
	_free_ struct unpacker *u = NULL;
	int r = dl_bind(s->ctx, SONAME_ZLIB, symbols, ARRAY_SIZE(symbols));

	if (r < 0)
		return r;
	u = calloc(1, sizeof(*u));
	if (!u || sym_inflateInit2_(&u->z, GZIP_ONLY, ZLIB_VERSION, (int)sizeof(u->z)) != Z_OK)
		return ctx_oom(s->ctx);
	s->unpacker = steal(u);
	return 0;
}

/* zlib closes the descriptor that it gets. */
static int start_packing(struct stream *s)
{
	int fd, r = dl_bind(s->ctx, SONAME_ZLIB, symbols, ARRAY_SIZE(symbols));

	if (r < 0)
		return r;
	fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return ctx_fail(s->ctx, -errno, "open %s: %s", s->name, strerror(errno));
	s->gz = sym_gzdopen(fd, "wb");
	if (s->gz)
		return 0;
	close(fd);
	return ctx_oom(s->ctx);
}

static int stream_new(struct vfctl_ctx *ctx, int fd, const char *name,
	int (*start)(struct stream *s), struct stream **ret)
{
	_cleanup_(stream_freep) struct stream *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return ctx_oom(ctx);
	s->ctx = ctx;
	s->fd = fd;
	s->name = name;
	r = start ? start(s) : 0;
	if (r == 0)
		*ret = steal(s);
	return r;
}

int stream_open(struct vfctl_ctx *ctx, int fd, const char *name, struct stream **ret)
{
	static const struct {
		unsigned char magic[4];
		const char *unpack; /* NULL: it is unpacked here */
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
	/* The first member of a plain archive may have any name, even "BZh". */
	if (memcmp(begin + 257, "ustar", 5) == 0)
		return stream_new(ctx, fd, name, NULL, ret);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (memcmp(begin, kinds[i].magic, kinds[i].magic[3] ? 4 : 3) != 0)
			continue;
		if (!kinds[i].unpack)
			return stream_new(ctx, fd, name, start_unpacking, ret);
		return ctx_fail(ctx, -EINVAL, "%s is not packed with gzip; unpack it first: %s "
			"%s", name, kinds[i].unpack, name);
	}
	return stream_new(ctx, fd, name, NULL, ret);
}

static ssize_t read_file(struct stream *s, void *data, size_t len)
{
	ssize_t n;

	do
		n = read(s->fd, data, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? ctx_fail(s->ctx, -errno, "read %s: %s", s->name, strerror(errno)) : n;
}

static int fail_damaged(struct stream *s)
{
	return ctx_fail(s->ctx, -EBADMSG, "%s is damaged: gzip cannot unpack it", s->name);
}

/* Read more bytes to unpack: 1, 0 at the end of the file, or a negative errno. */
static int refill(struct stream *s)
{
	struct unpacker *u = s->unpacker;
	ssize_t n = read_file(s, u->in, sizeof(u->in));

	if (n < 0)
		return (int)n;
	if (n == 0)
		return u->between ? 0 : fail_damaged(s);
	u->z.next_in = u->in;
	u->z.avail_in = (unsigned)n;
	return 1;
}

/* As gzip does: another member may follow; anything else is ignored. */
static void next_member(struct unpacker *u)
{
	u->over = *u->z.next_in != 0x1f || sym_inflateReset(&u->z) != Z_OK;
	u->between = u->over;
}

static ssize_t unpack(struct stream *s, void *data, size_t len)
{
	struct unpacker *u = s->unpacker;
	int r = 1;

	u->z.next_out = data;
	u->z.avail_out = (unsigned)len;
	while (u->z.avail_out && !u->over) {
		if (!u->z.avail_in)
			r = refill(s);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		if (u->between) {
			next_member(u);
			continue;
		}
		r = sym_inflate(&u->z, Z_NO_FLUSH);
		if (r != Z_OK && r != Z_STREAM_END && (r != Z_BUF_ERROR || u->z.avail_in))
			return r == Z_MEM_ERROR ? ctx_oom(s->ctx) : fail_damaged(s);
		u->between = r == Z_STREAM_END;
		r = 1;
	}
	return (ssize_t)(len - u->z.avail_out);
}

ssize_t stream_read(struct stream *s, void *data, size_t len)
{
	size_t done = 0;

	if (s->unpacker)
		return unpack(s, data, len);
	while (done < len) {
		ssize_t n = read_file(s, (char *)data + done, len - done);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int stream_create(struct vfctl_ctx *ctx, int fd, const char *name, bool gzip,
	struct stream **ret)
{
	return stream_new(ctx, fd, name, gzip ? start_packing : NULL, ret);
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
