// SPDX-License-Identifier: GPL-2.0-or-later
#include "monitor/bridge_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "host/host.h"

#define PATH HOST_LOCK_DIR "/bridge"
#define LINES_SPARE 256 /* of entries that are gone; the file is in memory (tmpfs) */

struct bridge_record {
	int fd;
	struct bridge_row *rows; /* of the run before */
	size_t count;
	size_t lines; /* in the file */
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

static int write_row(struct vfctl_ctx *ctx, struct bridge_record *r, char sign,
	const struct vfctl_bdf *function, const struct vfctl_mac *mac, const char *port)
{
	char line[96], text[VFCTL_MAC_TEXT];
	int len = snprintf(line, sizeof(line), "%c%s %s %s\n", sign, TEXT(function),
		vfctl_mac_format(mac, text), port);

	r->lines++;
	if (write(r->fd, line, (size_t)len) == len)
		return 0;
	return ctx_fail(ctx, -errno, "write " PATH ": %s", strerror(errno));
}

int bridge_record_rewrite(struct vfctl_ctx *ctx, struct bridge_record *r,
	const struct bridge_row *rows, size_t count)
{
	_free_ char *path = str_format("%s" PATH, host_of(ctx)->root);
	_buf_ struct buf text = {0};
	char mac[VFCTL_MAC_TEXT];
	int fd, e;

	for (size_t i = 0; i < count; i++)
		buf_printf(&text, "+%s %s %s\n", TEXT(&rows[i].function),
			vfctl_mac_format(&rows[i].mac, mac), rows[i].port);
	if (!path || text.failed)
		return ctx_oom(ctx);
	e = host_replace(ctx, text.data ? text.data : "", PATH);
	if (e < 0)
		return e;
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return ctx_fail(ctx, -errno, "open " PATH ": %s", strerror(errno));
	if (r->fd >= 0)
		close(r->fd);
	r->fd = fd;
	r->lines = count;
	return 0;
}

bool bridge_record_is_long(const struct bridge_record *r, size_t entries)
{
	return r->lines > 2 * entries + LINES_SPARE;
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
		e = bridge_record_rewrite(ctx, r, r->rows, r->count);
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
