/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_BASE64_H
#define VFCTL_BASE_BASE64_H

#include "base/buf.h"

/* RFC 4648 section 4, with padding, as protobuf's JSON writes bytes. */
void base64_add(struct buf *out, const void *data, size_t len);
/*
 * The whole @text, strictly: -EBADMSG when it is no base64. *ret_data has a NUL behind it
 * and may have more within; freed by the caller.
 */
int base64_decode(const char *text, char **ret_data, size_t *ret_len);

#endif
