// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "capture/tar.h"
#include "capture/tar_block.h"

/* Limit for the whole unpacked archive, including headers and padding. */
#define STREAM_MAX IMAGE_BYTES_MAX
/* Limit for a pax header or a long name: two paths and some more. */
#define EXTRA_MAX (64 << 10)

struct member {
	char *path, *link;   /* from a pax header or a long name; NULL: from the header */
	uint64_t size;
	bool has_size;
};

struct archive {
	struct vfctl_ctx *ctx;
	struct stream *in;
	const char *name;
	struct image *im;
	uint64_t seen; /* bytes of it read so far */
	struct member next;
};

static void member_clear(struct member *m)
{
	free(m->path);
	free(m->link);
	*m = (struct member){0};
}

static int too_large(struct archive *a)
{
	return ctx_fail(a->ctx, -E2BIG, "%s unpacks to more than %zu MiB or %d files: no capture is "
		"that large", a->name, STREAM_MAX >> 20, IMAGE_ENTRIES_MAX);
}

static int get(struct archive *a, void *data, size_t len)
{
	ssize_t n;

	a->seen += len;
	if (a->seen > STREAM_MAX)
		return too_large(a);
	n = stream_read(a->in, data, len);
	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0
		: ctx_fail(a->ctx, -EBADMSG, "%s is damaged: it ends in the middle", a->name);
}

/* Read the bytes of a member and skip the padding; the result is NUL-terminated. */
static int get_data(struct archive *a, uint64_t size, size_t max, const char *path,
	char **ret)
{
	size_t padded = (size_t)(size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
	_free_ char *data = NULL;
	int r;

	if (size > max)
		return ctx_fail(a->ctx, -EFBIG, "%s: member '%.200s' has %llu bytes; at most %zu KiB "
			"are allowed", a->name, path, (unsigned long long)size,
			max >> 10);
	/* Checked before the data are read, so that no memory is allocated for a wrong size. */
	if (a->seen + padded > STREAM_MAX)
		return too_large(a);
	data = malloc(padded + 1);
	if (!data)
		return ctx_oom(a->ctx);
	r = get(a, data, padded);
	if (r < 0)
		return r;
	data[size] = '\0';
	*ret = steal(data);
	return 0;
}

/* ---- numbers and names ---- */

/* Octal with spaces around it, or (GNU) big-endian binary after a byte with bit 0x80. */
static int read_number(const char *field, size_t size, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i = 0;

	if ((unsigned char)field[0] == 0x80) {
		for (i = 1; i < size; i++) {
			if (value >> 55)
				return -ERANGE;
			value = value << 8 | (unsigned char)field[i];
		}
		*ret = value;
		return 0;
	}
	while (i < size && field[i] == ' ')
		i++;
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(field[i] - '0');
	if (i < size && field[i] != ' ' && field[i] != '\0')
		return -EINVAL;
	*ret = value;
	return 0;
}

static bool checksum_fits(const struct tar_header *h)
{
	const unsigned char *bytes = (const unsigned char *)h;
	uint64_t want;
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof(*h); i++) {
		size_t at = i - offsetof(struct tar_header, checksum);

		sum += at < sizeof(h->checksum) ? ' ' : bytes[i];
	}
	return read_number(h->checksum, sizeof(h->checksum), &want) == 0 && want == sum;
}

static char *header_path(const struct tar_header *h)
{
	bool ustar = memcmp(h->magic, "ustar\0", 6) == 0;

	if (ustar && h->prefix[0])
		return str_format("%.155s/%.100s", h->prefix, h->name);
	return strndup(h->name, sizeof(h->name));
}

/* ---- pax ---- */

static int bad_pax(struct archive *a)
{
	return ctx_fail(a->ctx, -EBADMSG, "%s is damaged: a pax header in it is not valid",
		a->name);
}

static int set_text(struct archive *a, char **field, const char *value)
{
	free(*field);
	*field = strdup(value);
	return *field ? 0 : ctx_oom(a->ctx);
}

static int take_record(struct archive *a, const char *key, const char *value)
{
	if (str_eq(key, "path"))
		return set_text(a, &a->next.path, value);
	if (str_eq(key, "linkpath"))
		return set_text(a, &a->next.link, value);
	if (str_starts(key, "GNU.sparse."))
		return ctx_fail(a->ctx, -EINVAL, "%s holds a sparse file; pack it without "
			"--sparse", a->name);
	if (str_eq(key, "size")) {
		char *end;

		errno = 0;
		a->next.size = strtoull(value, &end, 10);
		a->next.has_size = true;
		if (*value < '0' || *value > '9' || *end || errno)
			return bad_pax(a);
	}
	return 0;
}

/* "LENGTH key=value\n" records; the length includes the whole record. */
static int take_pax(struct archive *a, char *text, size_t size)
{
	while (size) {
		char *space = memchr(text, ' ', size), *end, *equals;
		unsigned long length;
		int r;

		errno = 0;
		length = *text >= '1' && *text <= '9' ? strtoul(text, &end, 10) : 0;
		if (!space || !length || end != space || length > size || errno ||
			length < (size_t)(space - text) + 3 || text[length - 1] != '\n')
			return bad_pax(a);
		text[length - 1] = '\0';
		equals = strchr(space + 1, '=');
		if (!equals || strlen(space) != length - 1 - (size_t)(space - text))
			return bad_pax(a);
		*equals = '\0';
		r = take_record(a, space + 1, equals + 1);
		if (r < 0)
			return r;
		text += length;
		size -= length;
	}
	return 0;
}

/* ---- members ---- */

/* Read a header that precedes a member and extends it. */
static int take_extra(struct archive *a, char type, uint64_t size)
{
	_free_ char *data = NULL;
	int r = get_data(a, size, EXTRA_MAX, "(header)", &data);

	if (r < 0)
		return r;
	if (type == 'x')
		return take_pax(a, data, (size_t)size);
	if (type == 'L')
		return set_text(a, &a->next.path, data);
	if (type == 'K')
		return set_text(a, &a->next.link, data);
	return 0; /* 'g': applies to all members, and contains nothing that is needed */
}

static const char *what_is(char type)
{
	static const struct {
		char type;
		const char *message;
	} kinds[] = {{'1', "a hard link"}, {'3', "a device"}, {'4', "a device"}, {'6', "a FIFO"},
		{'S', "a sparse file"}, {'M', "a part of a file"}};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return kinds[i].message;
	return "of no known type";
}

static int add_tar(struct archive *a, enum image_kind kind, const char *path, const char *data,
	size_t len)
{
	int r;

	if (kind == IMAGE_DIR && !path[strspn(path, "./")] && !strstr(path, ".."))
		return 0; /* the top directory itself */
	r = image_add(a->im, kind, path, data, len);
	if (r == -EINVAL)
		return ctx_fail(a->ctx, r, "%s: member '%.200s' leads out of the archive", a->name,
			path);
	if (r == -ENAMETOOLONG)
		return ctx_fail(a->ctx, r, "%s: a name in it is too long: '%.200s...'", a->name,
			path);
	if (r == -ENOMEM)
		return ctx_oom(a->ctx);
	return r < 0 ? too_large(a) : 0;
}

static int take_member(struct archive *a, const struct tar_header *h, uint64_t size)
{
	_free_ char *path = a->next.path ? steal(a->next.path) : header_path(h);
	_free_ char *link = a->next.link ? steal(a->next.link)
					 : strndup(h->link, sizeof(h->link));
	_free_ char *data = NULL;
	size_t len = path ? strlen(path) : 0;
	int r;

	if (!path || !link)
		return ctx_oom(a->ctx);
	if (h->type == '2')
		return add_tar(a, IMAGE_LINK, path, link, strlen(link));
	/* Before POSIX, a directory was a file whose name ended like this. */
	if (h->type == '5' || (h->type == '\0' && len && path[len - 1] == '/'))
		return add_tar(a, IMAGE_DIR, path, "", 0);
	if (h->type != '0' && h->type != '\0' && h->type != '7')
		return ctx_fail(a->ctx, -EINVAL, "%s: member '%.200s' is %s; a capture holds only "
			"files, directories and symbolic links", a->name, path, what_is(h->type));
	r = get_data(a, size, IMAGE_FILE_MAX, path, &data);
	return r == 0 ? add_tar(a, IMAGE_FILE, path, data, (size_t)size) : r;
}

static int take_header(struct archive *a, const struct tar_header *h)
{
	bool extra = strchr("xgLK", h->type) && h->type;
	uint64_t size;
	int r;

	if (!checksum_fits(h) || read_number(h->size, sizeof(h->size), &size) < 0)
		return a->seen == sizeof(*h)
			? ctx_fail(a->ctx, -EINVAL, "%s is not a capture: it is not a tar archive, "
				"plain or packed with gzip (create one with vfctl capture)", a->name)
			: ctx_fail(a->ctx, -EBADMSG, "%s is damaged: byte %llu of its unpacked content "
				"does not begin a member", a->name,
				(unsigned long long)(a->seen - sizeof(*h)));
	if (extra)
		return take_extra(a, h->type, size);
	r = take_member(a, h, a->next.has_size ? a->next.size : size);
	member_clear(&a->next);
	return r;
}

static bool is_zero(const struct tar_header *h)
{
	const char *bytes = (const char *)h;

	for (size_t i = 0; i < sizeof(*h); i++)
		if (bytes[i])
			return false;
	return true;
}

/* After the end mark there is only padding; a packed file has its checksum after that. */
static int drain_tar(struct archive *a)
{
	char block[16384];
	ssize_t n;

	while ((n = stream_read(a->in, block, sizeof(block))) > 0) {
		a->seen += (size_t)n;
		if (a->seen > STREAM_MAX)
			return too_large(a);
	}
	return (int)n;
}

/*
 * Read members up to the end mark, a block of zeros (POSIX pax: "two logical records"). Other
 * programs also accept the end of the file between members. But a capture that was truncated there
 * would be incomplete, and zlib does not always report that a gzip stream is truncated.
 */
static int read_members(struct archive *a)
{
	struct tar_header h;
	int r = 0;

	while (r == 0) {
		ssize_t n = stream_read(a->in, &h, sizeof(h));

		if (n < 0)
			return (int)n;
		a->seen += (size_t)n;
		if (a->seen > STREAM_MAX)
			return too_large(a);
		if (n == 0 && a->seen)
			return ctx_fail(a->ctx, -EBADMSG, "%s is damaged: it was cut off, its end "
				"mark is missing", a->name);
		if ((size_t)n < sizeof(h))
			memset((char *)&h + n, 0xff, sizeof(h) - (size_t)n);
		if (is_zero(&h))
			return drain_tar(a);
		a->seen += sizeof(h) - (size_t)n;
		r = take_header(a, &h);
	}
	return r;
}

int tar_read(struct vfctl_ctx *ctx, struct stream *in, const char *name, struct image *im)
{
	struct archive a = {.ctx = ctx, .in = in, .name = name, .im = im};
	int r = read_members(&a);

	member_clear(&a.next);
	if (r == 0 && image_sort(im) < 0)
		r = ctx_oom(ctx);
	return r;
}
