// SPDX-License-Identifier: GPL-2.0-or-later
#include "monitor/bridge_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "host/host.h"

#define PATH HOST_LOCK_DIR "/bridge"

struct bridge_record {
	int fd;
	struct bridge_row *rows;
	size_t count;
};

static bool read_line(const char *line, char *ret_sign, struct bridge_row *ret)
{
	char function[VFCTL_BDF_TEXT] = "", mac[VFCTL_MAC_TEXT] = "";

	*ret = (struct bridge_row){.port = ""};
	return sscanf(line, "%c%15s %17s %15s", ret_sign, function, mac, ret->port) >= 3 &&
		vfctl_bdf_parse(function, &ret->function) == 0 && vfctl_mac_parse(mac, &ret->mac) == 0;
}

static void remove_row(struct bridge_record *r, const struct bridge_row *row)
{
	for (size_t i = 0; i < r->count; i++)
		if (vfctl_bdf_compare(&r->rows[i].function, &row->function) == 0 &&
			memcmp(&r->rows[i].mac, &row->mac, sizeof(row->mac)) == 0) {
			r->rows[i] = r->rows[--r->count];
			return;
		}
}

/* A line that a kill interrupted is left out: its entry was not added yet. */
static int read_rows(struct vfctl_ctx *ctx, struct bridge_record *r)
{
	_buf_ struct buf text = {0};

	if (host_try_bytes(ctx, &text, PATH) < 0 || !text.data)
		return 0;
	for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
		struct bridge_row row;
		char sign;

		*end = '\0';
		if (!read_line(line, &sign, &row))
			continue;
		remove_row(r, &row);
		if (sign != '+')
			continue;
		if (!array_grow(r->rows, r->count))
			return ctx_oom(ctx);
		r->rows[r->count++] = row;
	}
	return 0;
}

static int write_row(struct vfctl_ctx *ctx, const struct bridge_record *r, char sign,
	const struct vfctl_bdf *function, const struct vfctl_mac *mac, const char *port)
{
	char line[96], text[VFCTL_MAC_TEXT];
	int len = snprintf(line, sizeof(line), "%c%s %s %s\n", sign, TEXT(function),
		vfctl_mac_format(mac, text), port);

	if (write(r->fd, line, (size_t)len) == len)
		return 0;
	return ctx_fail(ctx, -errno, "write " PATH ": %s", strerror(errno));
}

/* The file begins with what is still there. */
static int begin_file(struct vfctl_ctx *ctx, struct bridge_record *r)
{
	_free_ char *path = str_format("%s" PATH, host_of(ctx)->root);
	_buf_ struct buf text = {0};
	char mac[VFCTL_MAC_TEXT];
	int e;

	for (size_t i = 0; i < r->count; i++)
		buf_printf(&text, "+%s %s %s\n", TEXT(&r->rows[i].function),
			vfctl_mac_format(&r->rows[i].mac, mac), r->rows[i].port);
	if (!path || text.failed)
		return ctx_oom(ctx);
	e = host_replace(ctx, text.data ? text.data : "", PATH);
	if (e < 0)
		return e;
	r->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	return r->fd < 0 ? ctx_fail(ctx, -errno, "open " PATH ": %s", strerror(errno)) : 0;
}

int bridge_record_open(struct vfctl_ctx *ctx, struct bridge_record **ret)
{
	struct bridge_record *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return ctx_oom(ctx);
	r->fd = -1;
	e = read_rows(ctx, r);
	if (e == 0)
		e = begin_file(ctx, r);
	if (e < 0)
		bridge_record_close(r);
	else
		*ret = r;
	return e;
}

void bridge_record_close(struct bridge_record *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	free(r->rows);
	free(r);
}

const struct bridge_row *bridge_record_row(const struct bridge_record *r, size_t index)
{
	return index < r->count ? &r->rows[index] : NULL;
}

void bridge_record_forget(struct bridge_record *r)
{
	r->count = 0;
}

int bridge_record_add(struct vfctl_ctx *ctx, struct bridge_record *r,
	const struct vfctl_bdf *function,
	const struct vfctl_mac *mac, const char *port)
{
	return write_row(ctx, r, '+', function, mac, port);
}

void bridge_record_remove(struct vfctl_ctx *ctx, struct bridge_record *r,
	const struct vfctl_bdf *function, const struct vfctl_mac *mac)
{
	if (write_row(ctx, r, '-', function, mac, "") < 0)
		ctx_clear(ctx);
}
