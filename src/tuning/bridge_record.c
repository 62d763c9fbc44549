// SPDX-License-Identifier: GPL-2.0-or-later
#include "tuning/bridge_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "host/host.h"
#include "tuning/fdb.h"

#define PATH HOST_LOCK_DIR "/bridge"
#define LINES_SPARE 256 /* of entries that are gone; the file is in memory (tmpfs) */

struct bridge_record {
	int fd;
	struct bridge_row *rows; /* of the run before */
	size_t count;
	size_t lines; /* in the file */
	int64_t pid, begun; /* of the run that wrote it */
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
		if (sscanf(line, "#%" SCNd64 " %" SCNd64, &r->pid, &r->begun) == 2)
			continue;
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

	buf_printf(&text, "#%" PRId64 " %" PRId64 "\n", r->pid, r->begun);
	for (size_t i = 0; i < count; i++)
		buf_printf(&text, "+%s %s %s\n", TEXT(&rows[i].function),
			vfctl_mac_format(&rows[i].mac, mac), rows[i].port);
	if (!path || text.failed)
		return ctx_oom(ctx);
	e = host_replace(ctx, text.data, PATH);
	if (e < 0)
		return e;
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return ctx_fail(ctx, -errno, "open " PATH ": %s", strerror(errno));
	if (r->fd >= 0)
		close(r->fd);
	r->fd = fd;
	r->lines = count + 1;
	return 0;
}

bool bridge_record_is_long(const struct bridge_record *r, size_t entries)
{
	return r->lines > 2 * entries + LINES_SPARE;
}

/* What the run before left. */
static int read_record(struct vfctl_ctx *ctx, struct bridge_record **ret)
{
	struct bridge_record *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return ctx_oom(ctx);
	r->fd = -1;
	e = read_rows(ctx, r);
	if (e < 0)
		bridge_record_close(r);
	else
		*ret = r;
	return e;
}

int bridge_record_open(struct vfctl_ctx *ctx, struct bridge_record **ret)
{
	struct bridge_record *r = NULL;
	int e = read_record(ctx, &r);

	if (e < 0)
		return e;
	r->pid = getpid();
	r->begun = (int64_t)time(NULL);
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

/* ---- a run that was killed ---- */

int vfctl_bridge_is_followed(struct vfctl_ctx *ctx)
{
	_close_ int lock = -1;
	int r = host_exists(ctx, HOST_LOCK_DIR "/" BRIDGE_LOCK ".lock")
		? host_try_lock(ctx, BRIDGE_LOCK, &lock)
		: host_check_writable(ctx);

	ctx_clear(ctx);
	return r == -EBUSY ? 1 : r;
}

int bridge_record_read_left(struct vfctl_ctx *ctx, int *ret_lock, struct bridge_record **ret)
{
	int r = host_exists(ctx, PATH) ? host_try_lock(ctx, BRIDGE_LOCK, ret_lock) : -ENOENT;

	*ret = NULL;
	if (r < 0) { /* it runs, or this process may not know */
		ctx_clear(ctx);
		return 0;
	}
	r = read_record(ctx, ret);
	if (r == 0 && !(*ret)->count) {
		bridge_record_close(*ret);
		*ret = NULL;
	}
	return r;
}

void bridge_record_process(const struct bridge_record *r, int64_t *ret_pid, int64_t *ret_begun)
{
	*ret_pid = r->pid;
	*ret_begun = r->begun;
}

/* The number of rows of the function from @first on; 0: an earlier row has the same one. */
static size_t count_function(const struct bridge_record *r, size_t first)
{
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++) {
		if (vfctl_bdf_compare(&r->rows[i].function, &r->rows[first].function) != 0)
			continue;
		if (i < first)
			return 0;
		count++;
	}
	return count;
}

char **bridge_record_steps(const struct bridge_record *r)
{
	char **steps = calloc(r->count + 1, sizeof(*steps)), mac[VFCTL_MAC_TEXT];
	size_t n = 0;

	for (size_t i = 0; steps && i < r->count; i++) {
		size_t count = count_function(r, i);

		if (!count)
			continue;
		vfctl_mac_format(&r->rows[i].mac, mac);
		steps[n] = count == 1
			? str_format("%s: add %s to the card's table", TEXT(&r->rows[i].function), mac)
			: str_format("%s: add %zu MACs such as %s to the card's table",
				TEXT(&r->rows[i].function), count, mac);
		if (!steps[n++]) {
			strv_free(steps);
			return NULL;
		}
	}
	return steps;
}

int bridge_record_end(struct vfctl_ctx *ctx, struct bridge_record *r, bool undo)
{
	_free_ char *first = NULL;
	size_t kept = 0;
	int error = 0, e;

	for (size_t i = 0; undo && i < r->count; i++) {
		e = fdb_remove(ctx, &r->rows[i].function, &r->rows[i].mac);
		if (e < 0)
			r->rows[kept++] = r->rows[i];
		if (e < 0 && !error) {
			error = e;
			first = strdup(vfctl_ctx_error(ctx));
		}
		ctx_clear(ctx);
	}
	r->count = kept;
	e = bridge_record_rewrite(ctx, r, r->rows, kept);
	return error ? ctx_fail(ctx, error, "%s", first ? first : "out of memory") : e;
}

/* ---- a run ---- */

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
