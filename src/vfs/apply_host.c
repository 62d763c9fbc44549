// SPDX-License-Identifier: GPL-2.0-or-later
/* What host.yaml declares of the host as a whole: kernel settings and pages. */
#include "vfs/apply_host.h"

#include <errno.h>
#include <stdio.h>

#include "change/recover.h"
#include "host/host.h"
#include "tuning/host.h"

#define LOCK_KERNEL "kernel"

static int plan_host(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = change_new(ctx, &change);

	if (r == 0)
		r = host_tuning_add_steps(ctx, spec, &change->steps, &change->pending);
	if (r == 0 && change->steps.failed)
		r = ctx_oom(ctx);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

int apply_host_compare(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_declared *all)
{
	int r = plan_host(ctx, spec, &all->host);

	if (r == -ENOMEM)
		return r;
	all->host_error = r;
	if (r < 0)
		all->host_words = strdup(vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return 0;
}

static int lock_host(struct vfctl_ctx *ctx, struct vfctl_change *change, const char *fmt, ...)
	_printf_(3, 4);

static int lock_host(struct vfctl_ctx *ctx, struct vfctl_change *change, const char *fmt, ...)
{
	va_list args;
	int r;

	va_start(args, fmt);
	r = change_journal(ctx, change, LOCK_KERNEL, fmt, args);
	va_end(args);
	return r;
}

int vfctl_apply_host_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_close_ int lock = -1;
	int r = host_check_writable(ctx);

	if (r == 0)
		r = host_lock(ctx, LOCK_KERNEL, false, &lock);
	if (r == 0)
		r = recover_locked(ctx, LOCK_KERNEL);
	if (r == 0)
		r = plan_host(ctx, spec, &change);
	if (r == 0) {
		change->lock_fd = lock;
		lock = -1;
		r = lock_host(ctx, change, "apply kernel settings");
	}
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
