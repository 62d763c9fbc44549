// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as the archive of a captured host; what was read can be written and read again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/copy.h"
#include "capture/tar.h"
#include "capture/tar_block.h"
#include "fuzz.h"
#include "host/host.h"
#include "types/snapshot.h"

static int in_memory(const void *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	FUZZ_CHECK(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static int read_image(struct vfctl_ctx *ctx, int fd, struct image *im)
{
	_cleanup_(stream_freep) struct stream *in = NULL;
	int r = stream_open(ctx, fd, "fuzz", &in);

	return r == 0 ? tar_read(ctx, in, "fuzz", im) : r;
}

static void check_same(const struct image *a, const struct image *b)
{
	size_t k = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct image_entry *x = &a->v[i], *y;

		if (x->kind == IMAGE_DIR)
			continue;
		FUZZ_CHECK(k < b->count);
		y = &b->v[k];
		FUZZ_CHECK(x->kind == y->kind && strcmp(x->path, y->path) == 0);
		FUZZ_CHECK(x->len == y->len && memcmp(x->data, y->data, x->len) == 0);
		k++;
	}
	FUZZ_CHECK(k == b->count);
}

static void write_again(struct vfctl_ctx *ctx, const struct image *im)
{
	_cleanup_(image_clear) struct image again = {0};
	_cleanup_(stream_freep) struct stream *out = NULL;
	_close_ int fd = in_memory("", 0);

	FUZZ_CHECK(stream_create(ctx, fd, "again", false, &out) == 0);
	FUZZ_CHECK(tar_write(out, im) == 0 && stream_finish(out) == 0);
	FUZZ_CHECK(lseek(fd, 0, SEEK_SET) == 0);
	FUZZ_CHECK(read_image(ctx, fd, &again) == 0);
	check_same(im, &again);
}

static void look_at(struct vfctl_ctx *ctx, const char *path)
{
	struct vfctl_snapshot *snapshot = NULL;
	_cleanup_(host_copy_remove) struct host_copy copy = {0};

	if (vfctl_ctx_open_host(ctx, path) < 0) {
		FUZZ_CHECK(*vfctl_ctx_error(ctx));
		return;
	}
	if (vfctl_snapshot_read(ctx, NULL, &snapshot) < 0)
		FUZZ_CHECK(*vfctl_ctx_error(ctx));
	vfctl_snapshot_free(snapshot);
	if (host_copy_make(ctx, &copy) < 0)
		FUZZ_CHECK(*vfctl_ctx_error(ctx) && !copy.dir);
}

/* A fuzzer does not guess checksums: every header gets the right one. */
static void mend(uint8_t *data, size_t size)
{
	for (size_t at = 0; at + TAR_BLOCK <= size; at += TAR_BLOCK) {
		struct tar_header *h = (struct tar_header *)(data + at);
		unsigned sum = 0;

		if (memcmp(h->magic, "ustar", 5) != 0)
			continue;
		memset(h->checksum, ' ', sizeof(h->checksum));
		for (size_t i = 0; i < TAR_BLOCK; i++)
			sum += data[at + i];
		snprintf(h->checksum, sizeof(h->checksum), "%06o", sum & 0777777);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(image_clear) struct image im = {0};
	_free_ uint8_t *mended = malloc(size + 1);
	_close_ int fd = -1;
	struct vfctl_ctx *ctx;
	char path[64];

	if (!mended || vfctl_ctx_new(&ctx) < 0)
		return 0;
	memcpy(mended, data, size);
	mend(mended, size);
	fd = in_memory(mended, size);
	FUZZ_CHECK(vfctl_ctx_set_state_path(ctx, "/nonexistent/state.db") == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (read_image(ctx, fd, &im) == 0)
		write_again(ctx, &im);
	else
		FUZZ_CHECK(*vfctl_ctx_error(ctx));
	look_at(ctx, path);
	vfctl_ctx_free(ctx);
	return 0;
}
