/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FUZZ_ANY_HOST_H
#define VFCTL_FUZZ_ANY_HOST_H

#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "host/host.h"

/* A host that answers everything with the same bytes, and changes nothing. */
struct any_host {
	struct host host;
	const uint8_t *data;
	size_t size;
};

/* A copy of exactly its size: a sanitizer sees each byte that is read behind it. */
static int any_give(const struct any_host *a, struct buf *ret)
{
	buf_free(ret);
	*ret = (struct buf){0};
	ret->data = malloc(a->size ? a->size : 1);
	if (!ret->data)
		return -ENOMEM;
	ret->len = ret->room = a->size;
	if (a->size)
		memcpy(ret->data, a->data, a->size);
	return 0;
}

static int any_exchange(struct host *h, int protocol, const void *request, size_t len,
	unsigned timeout_ms, struct buf *ret_reply)
{
	return any_give((const struct any_host *)h, ret_reply);
}

/* A file of text is NUL-terminated, as by read(2). */
static int any_read(struct host *h, const char *path, struct buf *ret_text)
{
	const struct any_host *a = (const struct any_host *)h;

	buf_add(ret_text, a->data, a->size);
	buf_add(ret_text, "", 0);
	return ret_text->failed ? -ENOMEM : 0;
}

static int any_log(struct host *h, struct buf *ret_text)
{
	return any_read(h, "", ret_text);
}

static int any_nothing(struct host *h, const char *path, char **ret)
{
	return -ENOENT;
}

static int any_no_names(struct host *h, const char *path, char ***ret)
{
	return -ENOENT;
}

static int any_refuse_write(struct host *h, const char *path, const char *text, unsigned timeout_ms)
{
	return -EROFS;
}

static int any_refuse_replace(struct host *h, const char *path, const char *text)
{
	return -EROFS;
}

static int any_refuse_lock(struct host *h, const char *name, bool shared, unsigned timeout_ms, int *ret_fd)
{
	return -EROFS;
}

static void any_sleep(struct host *h, unsigned ms)
{
}

static void any_free(struct host *h)
{
}

static const struct host_ops any_ops = {.name = "fuzz", .exchange = any_exchange, .read = any_read,
	.kernel_log = any_log, .readlink = any_nothing, .list = any_no_names,
	.write = any_refuse_write, .replace = any_refuse_replace, .lock = any_refuse_lock,
	.sleep = any_sleep, .free = any_free};

static inline void any_host_set(struct vfctl_ctx *ctx, struct any_host *a, const uint8_t *data, size_t size)
{
	static char nowhere[] = "";

	*a = (struct any_host){{.ops = &any_ops, .root_fd = -1, .root = nowhere}, data, size};
	host_set(ctx, &a->host);
}

#endif
