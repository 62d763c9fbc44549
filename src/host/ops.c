// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/ops.h"

#include <errno.h>

#include "host/host.h"

static int observe_file(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	int r = host_try_read(ctx, ret, "%s", op->target);

	if (r == -ENOENT)
		return op_say(ctx, "", ret);
	return r < 0 ? ctx_fail(ctx, r, "read %s: %s", op->target, strerror(-r)) : 0;
}

/* Reading removes trailing white space. */
static bool same_file(const char *text, const char *observed)
{
	size_t len = strlen(observed);

	return !strncmp(text, observed, len) && text[len + strspn(text + len, " \t\r\n")] == '\0';
}

static int put_file(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	_free_ char *now = NULL;
	int r = host_replace(ctx, text[0] ? text : NULL, "%s", op->target);

	if (r == 0)
		r = observe_file(ctx, op, &now);
	if (r == 0 && !same_file(text, now))
		return text[0] ? ctx_fail(ctx, -EIO, "%s does not read back as written", op->target)
			       : ctx_fail(ctx, -EIO, "%s still exists", op->target);
	return r;
}

static int apply_file(struct vfctl_ctx *ctx, const struct op *op)
{
	return put_file(ctx, op, op->want);
}

/*
 * 1: it is to be restored; 0: it already has the previous value. Any other value was written by
 * another program since.
 */
static int find_changed(struct vfctl_ctx *ctx, const struct op *op)
{
	_free_ char *now = NULL;
	int r = observe_file(ctx, op, &now);

	if (r < 0 || same_file(op->before, now))
		return r;
	if (op->want && !same_file(op->want, now))
		return ctx_fail(ctx, -EEXIST, "another program changed %s since vfctl wrote it", op->target);
	return 1;
}

static int revert_file(struct vfctl_ctx *ctx, const struct op *op)
{
	int r = find_changed(ctx, op);

	return r == 1 ? host_replace(ctx, op->before[0] ? op->before : NULL, "%s", op->target) : r;
}

static int check_file(struct vfctl_ctx *ctx, const struct op *op)
{
	int r = find_changed(ctx, op);

	return r < 0 ? r : 0;
}

OP_ONE_BY_ONE(file, observe_file, apply_file, revert_file)
const struct op_type op_file = {.name = "file", OP_CALLS(file), .check_revert = check_file,
	.same = same_file};
