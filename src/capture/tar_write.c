// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "capture/tar.h"
#include "capture/tar_block.h"

static int put_padded(struct stream *out, const void *data, size_t len)
{
	static const char zeros[TAR_BLOCK];
	int r = stream_write(out, data, len);

	if (r == 0 && len % TAR_BLOCK)
		r = stream_write(out, zeros, TAR_BLOCK - len % TAR_BLOCK);
	return r;
}

static int put_header(struct stream *out, const char *name, const char *link, char type,
	size_t size)
{
	struct tar_header h = {.type = type, .magic = "ustar", .version = {'0', '0'}};
	unsigned sum = 0;

	_Static_assert(sizeof(h) == TAR_BLOCK, "a header is a block");
	memcpy(h.name, name, strnlen(name, sizeof(h.name)));
	memcpy(h.link, link, strnlen(link, sizeof(h.link)));
	snprintf(h.mode, sizeof(h.mode), "%07o", type == '2' ? 0777u : 0644u);
	snprintf(h.uid, sizeof(h.uid), "%07o", 0u);
	snprintf(h.gid, sizeof(h.gid), "%07o", 0u);
	snprintf(h.size, sizeof(h.size), "%011zo", size);
	snprintf(h.mtime, sizeof(h.mtime), "%011lo", (unsigned long)time(NULL));
	memset(h.checksum, ' ', sizeof(h.checksum));
	for (size_t i = 0; i < sizeof(h); i++)
		sum += ((const unsigned char *)&h)[i];
	snprintf(h.checksum, sizeof(h.checksum), "%06o", sum);
	return stream_write(out, &h, sizeof(h));
}

/* "LENGTH key=value\n", where the length includes itself. */
static void add_record(struct buf *b, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3, digits = 1, length;

	do
		length = rest + digits;
	while (snprintf(NULL, 0, "%zu", length) != (int)digits++);
	buf_printf(b, "%zu %s=%s\n", length, key, value);
}

/* A name that is too long for its field is written before the member. */
static int put_long(struct stream *out, const struct image_entry *e, const char *link)
{
	_buf_ struct buf records = {0};
	int r;

	if (strlen(e->path) > sizeof(((struct tar_header *)0)->name))
		add_record(&records, "path", e->path);
	if (strlen(link) > sizeof(((struct tar_header *)0)->link))
		add_record(&records, "linkpath", link);
	if (records.failed)
		return -ENOMEM;
	if (!records.len)
		return 0;
	r = put_header(out, "pax", "", 'x', records.len);
	return r == 0 ? put_padded(out, records.data, records.len) : r;
}

static int put_entry(struct stream *out, const struct image_entry *e)
{
	bool is_link = e->kind == IMAGE_LINK;
	const char *link = is_link ? e->data : "";
	size_t size = e->kind == IMAGE_FILE ? e->len : 0;
	int r = put_long(out, e, link);

	if (r == 0)
		r = put_header(out, e->path, link, is_link ? '2' : '0', size);
	return r == 0 && size ? put_padded(out, e->data, size) : r;
}

int tar_write(struct stream *out, const struct image *im)
{
	static const char end[2 * TAR_BLOCK];
	int r = 0;

	for (size_t i = 0; i < im->count && r == 0; i++)
		if (im->v[i].kind != IMAGE_DIR) /* they are created because of their contents */
			r = put_entry(out, &im->v[i]);
	return r == 0 ? stream_write(out, end, sizeof(end)) : r;
}
