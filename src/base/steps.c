// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/steps.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"

void steps_add(struct steps *s, const struct step *row, const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0 || !array_grow(s->v, s->count)) {
		if (n >= 0)
			free(text);
		s->failed = true;
		return;
	}
	s->v[s->count] = *row;
	s->v[s->count++].describe = text;
}

/* Undo rows done-1 .. 0; the words of the failure that led here are kept. */
static int undo_all(struct vfctl_ctx *ctx, struct steps *s, size_t done, int error)
{
	_free_ char *reason = ctx->error;
	_buf_ struct buf left = {0};

	ctx->error = NULL;
	while (done-- > 0) {
		struct step *row = &s->v[done];

		if (!row->undo)
			continue;
		log_info(ctx, "undo: %s", row->describe);
		ctx_audit(ctx, "undo: %s", row->describe);
		if (row->undo(ctx, row->data) == 0)
			continue;
		buf_printf(&left, "%s%s (%s)", left.len ? ", " : "", row->describe,
			vfctl_ctx_error(ctx));
	}
	if (left.len || left.failed)
		return ctx_fail(ctx, -ESTALE, "%s; and this could not be undone: %s",
			reason ? reason : "", left.failed ? "" : left.data);
	ctx_fail(ctx, error, "%s", reason ? reason : "");
	return error;
}

static int run_row(struct vfctl_ctx *ctx, struct step *row)
{
	int r;

	log_info(ctx, "%s", row->describe);
	r = row->apply(ctx, row->data);
	if (r == 0 && row->verify)
		r = row->verify(ctx, row->data);
	ctx_audit(ctx, "%s: %s", row->describe, r < 0 ? vfctl_ctx_error(ctx) : "done");
	return r;
}

/* What was committed stays: do what can still be done, and name what cannot. */
static int go_forward(struct vfctl_ctx *ctx, struct steps *s, size_t failed)
{
	_free_ char *reason = steal(ctx->error);
	_buf_ struct buf left = {0};

	buf_printf(&left, "%s", s->v[failed].describe);
	for (size_t i = failed + 1; i < s->count; i++)
		if (run_row(ctx, &s->v[i]) < 0)
			buf_printf(&left, ", %s", s->v[i].describe);
	return ctx_fail(ctx, -ESTALE, "%s; the steps before are done and stay, this is left to do: "
		"%s", reason ? reason : "",
		left.failed ? "" : left.data);
}

int steps_run(struct vfctl_ctx *ctx, struct steps *s)
{
	bool committed = false;

	if (s->failed)
		return ctx_oom(ctx);
	for (size_t i = 0; i < s->count; i++) {
		struct step *row = &s->v[i];
		int r;

		if (ctx->cancelled && !committed)
			return undo_all(ctx, s, i,
				ctx_fail(ctx, -EINTR, "interrupted; rolled back"));
		r = run_row(ctx, row);
		if (r < 0 && committed)
			return go_forward(ctx, s, i);
		/* A failed step may be half done: its own undo runs as well. */
		if (r < 0)
			return undo_all(ctx, s, i + 1, r);
		committed |= row->commit;
	}
	return 0;
}

void steps_clear(struct steps *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->v[i].describe);
	free(s->v);
	*s = (struct steps){0};
}
