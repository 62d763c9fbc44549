/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CAPTURE_TAR_H
#define VFCTL_CAPTURE_TAR_H

#include "capture/gzip.h"
#include "capture/image.h"

/*
 * Read an archive (ustar, pax, GNU's long names) into @im, which is then sorted. Only files,
 * directories and symbolic links may be in it; anything else, a name that leads upwards, and
 * what is larger than an image may be, is an error that names the member.
 * @return 0; -EINVAL it is not an archive, or contains something else; -EBADMSG it is damaged;
 * -EFBIG, -E2BIG; -ENOPKG; -ENOMEM.
 */
int tar_read(struct vfctl_ctx *ctx, struct stream *in, const char *name, struct image *im);

/* Write what is in @im, sorted, as a pax archive; it belongs to root, with times of now. */
int tar_write(struct stream *out, const struct image *im);

#endif
