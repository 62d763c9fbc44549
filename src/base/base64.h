/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_BASE64_H
#define VFCTL_BASE_BASE64_H

#include "base/buf.h"

/* RFC 4648 section 4, with padding, as protobuf's JSON writes bytes. */
void base64_add(struct buf *out, const void *data, size_t len);
/*
 * Decode the whole @text strictly: -EBADMSG if it is not base64. *ret_data is NUL-terminated and
 * may contain further NULs; freed by the caller.
 */
int base64_decode(const char *text, char **ret_data, size_t *ret_len);

#endif
