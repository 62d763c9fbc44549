/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_BUF_H
#define VFCTL_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/util.h"

/* A growing byte string, always NUL-terminated. A failed growth is remembered. */
struct buf {
	char *data;
	size_t len;
	size_t room;
	bool failed;
};

void buf_add(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *text);
void buf_printf(struct buf *b, const char *fmt, ...) _printf_(2, 3);
void buf_reset(struct buf *b);
void buf_free(struct buf *b);
#define _buf_ _cleanup_(buf_free)
/* Return the text, which the caller then owns; NULL if a growth failed. */
char *buf_steal(struct buf *b);

#endif
