// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

static bool reserve(struct buf *b, size_t more)
{
	size_t need = b->len + more + 1;
	char *bigger;

	if (b->failed)
		return false;
	if (need <= b->room)
		return true;
	if (need < b->room * 2)
		need = b->room * 2;
	if (need < 64)
		need = 64;
	bigger = realloc(b->data, need);
	if (!bigger) {
		b->failed = true;
		return false;
	}
	b->data = bigger;
	b->room = need;
	return true;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (!reserve(b, len))
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args, again;
	int len;

	va_start(args, fmt);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (len >= 0 && reserve(b, (size_t)len)) {
		vsnprintf(b->data + b->len, (size_t)len + 1, fmt, again);
		b->len += (size_t)len;
	}
	va_end(again);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data)
		b->data[0] = '\0';
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}

char *buf_steal(struct buf *b)
{
	char *text;

	buf_add(b, "", 0);
	if (b->failed) {
		buf_free(b);
		return NULL;
	}
	text = b->data;
	*b = (struct buf){0};
	return text;
}
