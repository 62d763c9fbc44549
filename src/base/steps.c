// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/steps.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/trial.h"

void step_begin(struct steps *s, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = str_vformat(fmt, args);
	va_end(args);
	if (!text || !array_grow(s->v, s->count)) {
		free(text);
		s->failed = true;
		return;
	}
	s->v[s->count++] = (struct step){.describe = text};
}

static char *copy_text(struct steps *s, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	s->failed |= text && !copy;
	return copy;
}

static _printf_(5, 0) void add_op(struct steps *s, const struct op_type *type, const char *want,
	const char *before, const char *target_fmt, va_list args)
{
	struct step *row = s->failed ? NULL : &s->v[s->count - 1];
	char *target = str_vformat(target_fmt, args);

	if (!target || !row || !array_grow(row->ops, row->op_count)) {
		free(target);
		s->failed = true;
		return;
	}
	row->ops[row->op_count++] = (struct op){type, target, copy_text(s, want),
		copy_text(s, before)};
}

void step_op(struct steps *s, const struct op_type *type, const char *want,
	const char *before, const char *target_fmt, ...)
{
	va_list args;

	va_start(args, target_fmt);
	add_op(s, type, want, before, target_fmt, args);
	va_end(args);
}

void step_attrs_op(struct steps *s, const struct op_type *type, const struct vfctl_vf_attrs *want,
	const struct vfctl_vf_attrs *before, const char *target_fmt, ...)
{
	_free_ char *new = want ? json_of_attrs(want) : NULL, *old = before ? json_of_attrs(before) : NULL;
	va_list args;

	s->failed |= (want && !new) || (before && !old);
	va_start(args, target_fmt);
	add_op(s, type, new, old, target_fmt, args);
	va_end(args);
}

void steps_put(struct steps *s, size_t index)
{
	struct step last;

	if (s->failed || index >= s->count)
		return;
	last = s->v[s->count - 1];
	memmove(s->v + index + 1, s->v + index, (s->count - 1 - index) * sizeof(*s->v));
	s->v[index] = last;
}

static int undo_row(struct vfctl_ctx *ctx, const struct step *row)
{
	if (!ops_leave_something(ctx, row->ops, row->op_count))
		return 0;
	log_info(ctx, "undo: %s", row->describe);
	ctx_audit(ctx, "undo: %s", row->describe);
	return ops_revert(ctx, row->ops, row->op_count);
}

int steps_revert(struct vfctl_ctx *ctx, const struct steps *s, size_t done)
{
	_buf_ struct buf left = {0};

	while (done-- > 0) {
		const struct step *row = &s->v[done];

		if ((left.len && ops_hold(row->ops, row->op_count)) || undo_row(ctx, row) == 0)
			continue;
		buf_printf(&left, "%s%s (%s)", left.len ? ", " : "", row->describe,
			vfctl_ctx_error(ctx));
	}
	return left.len || left.failed ? ctx_fail(ctx, -ESTALE, "%s", left.failed ? "" : left.data) : 0;
}

/*
 * A device disappears in stages, and calls fail in different ways meanwhile. This adds the reason
 * to the message.
 */
static void tell_gone(struct vfctl_ctx *ctx, const struct steps *s, size_t done, char **reason)
{
	const struct op *gone = NULL;
	char *message;

	for (size_t i = 0; i < done && !gone; i++)
		gone = ops_gone(ctx, s->v[i].ops, s->v[i].op_count);
	if (!gone)
		return;
	message = str_format("%.*s disappeared during the change (it was unplugged or removed), and "
		"with it what was changed", (int)strcspn(gone->target, "/"), gone->target);
	if (!message)
		return;
	free(*reason);
	*reason = message;
}

/* Roll back the steps that are done. The message of the original failure is kept. */
static int undo_all(struct vfctl_ctx *ctx, struct steps *s, size_t done, int error)
{
	_free_ char *reason = steal(ctx->error);
	int r = steps_revert(ctx, s, done);
	_free_ char *left = steal(ctx->error);

	tell_gone(ctx, s, done, &reason);
	if (r < 0)
		return ctx_fail(ctx, r, "%s; this could not be rolled back: %s", reason ? reason : "",
			left ? left : "");
	return ctx_fail(ctx, error, "%s", reason ? reason : "");
}

static int run_row(struct vfctl_ctx *ctx, struct step *row)
{
	int r;

	log_info(ctx, "%s", row->describe);
	r = ops_apply(ctx, row->ops, row->op_count);
	ctx_audit(ctx, "%s: %s", row->describe, r < 0 ? vfctl_ctx_error(ctx) : "done");
	return r;
}

/* Whether a step has to wait until everything before it is done, and something is not. */
static bool waits(const struct step *row)
{
	return row->op_count && row->ops[0].type->after_all;
}

/*
 * Committed operations are not rolled back: do everything that can still be done, and name the
 * rest.
 */
static int go_forward(struct vfctl_ctx *ctx, struct steps *s, size_t failed)
{
	_free_ char *reason = steal(ctx->error);
	_buf_ struct buf left = {0};

	buf_printf(&left, "%s", s->v[failed].describe);
	for (size_t i = failed + 1; i < s->count; i++)
		if (waits(&s->v[i]) || run_row(ctx, &s->v[i]) < 0)
			buf_printf(&left, ", %s", s->v[i].describe);
	return ctx_fail(ctx, -ESTALE, "%s; the steps before it are done and stay; still to do: "
		"%s", reason ? reason : "",
		left.failed ? "" : left.data);
}

static bool is_commit(const struct step *row)
{
	bool commit = false;

	for (size_t i = 0; i < row->op_count; i++)
		commit |= row->ops[i].type->nature == OP_COMMIT;
	return commit;
}

/*
 * After a failure: whether only the answer was lost. The message of the failure is kept unless it
 * was.
 */
static bool is_done_after_all(struct vfctl_ctx *ctx, const struct step *row)
{
	_free_ char *message = NULL;

	if (!is_commit(row))
		return false;
	message = steal(ctx->error);
	if (ops_are_committed(ctx, row->ops, row->op_count) == 1) {
		log_warn(ctx, "%s; but the change was made: %s", message ? message : "", row->describe);
		return true;
	}
	ctx_clear(ctx);
	ctx->error = steal(message);
	return false;
}

static int run_all(struct vfctl_ctx *ctx, struct steps *s)
{
	bool committed = false;

	for (size_t i = 0; i < s->count; i++) {
		struct step *row = &s->v[i];
		int r;

		if (ctx->cancelled && !committed)
			return undo_all(ctx, s, i, ctx_fail(ctx, -EINTR, "interrupted; rolled back"));
		r = run_row(ctx, row);
		if (r < 0 && is_done_after_all(ctx, row))
			r = 0;
		if (r < 0 && committed)
			return go_forward(ctx, s, i);
		/* A failed step may have been applied in part, so it is rolled back too. */
		if (r < 0)
			return undo_all(ctx, s, i + 1, r);
		committed |= is_commit(row);
	}
	return 0;
}

/* Operations that can be rolled back come first; otherwise a failure would leave a mixture. */
static bool is_ordered(const struct steps *s)
{
	bool committed = false;

	for (size_t i = 0; i < s->count; i++) {
		if (committed && !is_commit(&s->v[i]))
			return false;
		committed |= is_commit(&s->v[i]);
	}
	return true;
}

/*
 * The change itself is complete: if its entry stays in the journal, the next process that reads it
 * closes it.
 */
static void end_entry(struct vfctl_ctx *ctx, const struct journal *journal, int64_t id)
{
	_free_ char *message = steal(ctx->error);

	if (journal->end(ctx, id) < 0)
		log_warn(ctx, "the change is over, but stays in the journal until the next command: "
			"%s", vfctl_ctx_error(ctx));
	free(ctx->error);
	ctx->error = steal(message);
}

/* Add the step that asks whether to keep the change, after everything that can be rolled back. */
static void add_trial(struct steps *s)
{
	size_t at = 0;

	while (at < s->count && !is_commit(&s->v[at]))
		at++;
	step_add_op(s, &op_trial, "kept", "asked", "trial", "wait for the confirmation");
	steps_put(s, at);
}

int steps_run(struct vfctl_ctx *ctx, struct steps *s, const struct journal_entry *entry)
{
	const struct journal *journal = s->count ? entry->journal : NULL;
	int64_t id = 0;
	int r = 0;

	if (ctx->confirm && s->count)
		add_trial(s);
	if (s->failed)
		return ctx_oom(ctx);
	if (!is_ordered(s))
		return ctx_fail(ctx, -EINVAL, "nothing is changed: a step that can be rolled back comes "
			"after one that cannot");
	if (journal)
		r = journal->begin(ctx, entry, s, &id);
	if (r < 0)
		return ctx_prefix(ctx, r, "nothing is changed");
	r = run_all(ctx, s);
	if (!journal)
		return r;
	if (r == -ESTALE || entry->joins || (r == 0 && entry->run))
		journal->leave(ctx);
	else
		end_entry(ctx, journal, id);
	return r;
}

void steps_clear(struct steps *s)
{
	for (size_t i = 0; i < s->count; i++) {
		for (size_t k = 0; k < s->v[i].op_count; k++)
			op_clear(&s->v[i].ops[k]);
		free(s->v[i].ops);
		free(s->v[i].describe);
	}
	free(s->v);
	*s = (struct steps){0};
}
