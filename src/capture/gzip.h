/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CAPTURE_GZIP_H
#define VFCTL_CAPTURE_GZIP_H

#include "base/ctx.h"
#include "base/util.h"

/*
 * A stream of bytes from or to a file, packed with gzip or plain. zlib is loaded when it is needed.
 */
struct stream;

/* Detects plain data or gzip. @fd still belongs to the caller. @name is for messages. */
int stream_open(struct vfctl_ctx *ctx, int fd, const char *name, struct stream **ret);
/* Up to @len bytes; fewer only at the end. @return their count, or a negative errno. */
ssize_t stream_read(struct stream *s, void *data, size_t len);

int stream_create(struct vfctl_ctx *ctx, int fd, const char *name, bool gzip,
	struct stream **ret);
int stream_write(struct stream *s, const void *data, size_t len);
/* Afterwards all data have been passed to the kernel. */
int stream_finish(struct stream *s);

void stream_free(struct stream *s);
DEFINE_FREEP(struct stream, stream_free)

#endif
