// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/json.h"
#include "bench/trial.h"
#include "host/tree.h"

/* ---- the line ---- */

/* With as few digits as are needed to read back the same value. */
static void put_number(struct buf *out, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	buf_puts(out, text);
}

static void put_text(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, ",\"%s\":", key);
	if (value)
		json_put(out, value);
	else
		buf_puts(out, "null");
}

static void put_texts(struct buf *out, const char *key, char *const *texts)
{
	if (!texts || !*texts)
		return;
	buf_printf(out, ",\"%s\":[", key);
	for (size_t i = 0; texts[i]; i++) {
		buf_puts(out, i ? "," : "");
		json_put(out, texts[i]);
	}
	buf_puts(out, "]");
}

static void put_parameters(struct buf *out, const struct bench_trial *t)
{
	buf_puts(out, ",\"parameters\":{");
	for (size_t i = 0; i < t->parameter_count; i++) {
		buf_puts(out, i ? "," : "");
		json_put(out, t->parameters[i].name);
		buf_puts(out, ":");
		json_put(out, t->parameters[i].value);
	}
	buf_puts(out, "}");
}

static void put_metrics(struct buf *out, const struct bench_trial *t)
{
	buf_puts(out, ",\"metrics\":[");
	for (size_t i = 0; i < t->metric_count; i++) {
		const struct bench_metric *m = &t->metrics[i];

		buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
		json_put(out, m->name);
		buf_puts(out, ",\"unit\":");
		json_put(out, m->unit);
		buf_puts(out, ",\"value\":");
		put_number(out, m->value);
		buf_printf(out, ",\"from_samples\":%s}", m->from_samples ? "true" : "false");
	}
	buf_puts(out, "]");
}

static void put_histogram(struct buf *out, const struct bench_histogram *h)
{
	if (!h->count)
		return;
	buf_printf(out, ",\"histogram\":{\"per_octave\":%d,\"first\":%d,\"counts\":[",
		BENCH_PER_OCTAVE, h->first);
	for (size_t i = 0; i < h->count; i++)
		buf_printf(out, i ? ",%" PRIu64 : "%" PRIu64, h->counts[i]);
	buf_puts(out, "]}");
}

char *bench_trial_format(const struct bench_trial *t)
{
	_buf_ struct buf out = {0};

	buf_printf(&out, "{\"run\":%u,\"trial\":%u", t->run, t->trial);
	put_text(&out, "configuration", t->configuration);
	put_text(&out, "test", t->test);
	put_text(&out, "tool", t->tool);
	put_parameters(&out, t);
	put_text(&out, "started", t->started);
	buf_puts(&out, ",\"seconds\":");
	put_number(&out, t->seconds);
	put_text(&out, "error", t->error);
	put_metrics(&out, t);
	put_histogram(&out, &t->histogram);
	put_texts(&out, "commands", t->commands);
	put_texts(&out, "raw", t->raw);
	buf_puts(&out, "}\n");
	return buf_steal(&out);
}

static int check_figures(struct vfctl_ctx *ctx, const struct bench_trial *t)
{
	if (!t->configuration || !t->test || !t->run || !isfinite(t->seconds))
		return ctx_fail(ctx, -EINVAL, "a trial has no configuration, test or position in the "
			"order");
	for (size_t i = 0; i < t->metric_count; i++)
		if (!isfinite(t->metrics[i].value))
			return ctx_fail(ctx, -EINVAL, "the %s of a trial is not finite", t->metrics[i].name);
	return 0;
}

/* ---- the file ---- */

#define BLOCK 4096

/* Find the end of the last complete line. */
static int find_end(int fd, off_t size, off_t *ret)
{
	char block[BLOCK];
	off_t end = size;

	while (end > 0) {
		size_t len = end > BLOCK ? BLOCK : (size_t)end;
		ssize_t n = pread(fd, block, len, end - (off_t)len);
		const char *newline;

		if (n != (ssize_t)len)
			return n < 0 ? -errno : -EIO;
		newline = memrchr(block, '\n', len);
		if (newline) {
			*ret = end - (off_t)len + (newline - block) + 1;
			return 0;
		}
		end -= (off_t)len;
	}
	*ret = 0;
	return 0;
}

static int cut_torn(int fd, off_t *ret_size)
{
	struct stat st;
	off_t end;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	r = find_end(fd, st.st_size, &end);
	if (r == 0 && end < st.st_size && ftruncate(fd, end) < 0)
		r = -errno;
	*ret_size = end;
	return r;
}

/* Write the whole line or nothing. */
static int write_line(int fd, const char *line)
{
	size_t len = strlen(line);
	off_t size = 0;
	ssize_t n;
	int r = cut_torn(fd, &size);

	if (r < 0)
		return r;
	n = write(fd, line, len);
	if (n == (ssize_t)len && fdatasync(fd) == 0)
		return 0;
	r = n == (ssize_t)len || n < 0 ? -errno : -ENOSPC;
	if (ftruncate(fd, size) < 0)
		return r; /* the next writer removes it */
	return r;
}

int bench_trial_append(struct vfctl_ctx *ctx, const char *dir, const struct bench_trial *trial)
{
	_free_ char *path = str_format("%s/" BENCH_TRIALS, dir);
	_free_ char *line = NULL;
	_close_ int fd = -1;
	int r = check_figures(ctx, trial);

	if (r < 0)
		return r;
	line = bench_trial_format(trial);
	if (!path || !line)
		return ctx_oom(ctx);
	fd = tree_open(dir, BENCH_TRIALS, O_RDWR | O_CREAT | O_APPEND);
	if (fd < 0)
		return ctx_fail(ctx, fd, "%s cannot be written: %s", path, strerror(-fd));
	r = flock(fd, LOCK_EX) < 0 ? -errno : write_line(fd, line);
	if (r < 0)
		return ctx_fail(ctx, r, "%s cannot be written: %s", path, strerror(-r));
	return 0;
}
