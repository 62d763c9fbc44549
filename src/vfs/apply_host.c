// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The declarations of host.yaml for the host as a whole: kernel settings, huge pages, the subnet
 * manager.
 */
#include "vfs/apply_host.h"

#include <errno.h>
#include <stdio.h>

#include "base/change.h"
#include "change/recover.h"
#include "host/host.h"
#include "state/journal.h"
#include "tuning/host.h"
#include "tuning/ops.h"
#include "vfs/apply_subnet.h"

#define LOCK_KERNEL "kernel"

/* The CPUs whose governor belongs to guests that run. */
static int read_governed(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_cpuset *ret)
{
	_cleanup_(open_changes_freep) struct open_changes *runs = NULL;
	unsigned cpu;
	int r = spec->kernel.governor ? journal_read_runs(ctx, NULL, &runs) : 0;

	for (size_t i = 0; runs && i < runs->count; i++)
		for (size_t k = 0; k < runs->v[i].op_count; k++)
			if (runs->v[i].ops[k].type == &op_cpu_governor && op_cpu(&runs->v[i].ops[k], &cpu))
				vfctl_cpuset_add(ret, cpu);
	return r;
}

typedef int (*host_steps_fn)(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids, struct vfctl_change *change);

static int add_all(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, struct vfctl_ids *ids,
	struct vfctl_change *change)
{
	struct vfctl_cpuset governed = {0};
	int r = read_governed(ctx, spec, &governed);

	if (r == 0)
		r = host_tuning_add_steps(ctx, spec, &governed, &change->steps, &change->pending);
	return r < 0 ? r : subnet_add_steps(ctx, spec, ids, &change->steps, &change->pending);
}

static int add_partitions(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids,
	struct vfctl_change *change)
{
	return subnet_add_partitions(ctx, spec, ids, &change->steps);
}

static int plan_host(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids,
	host_steps_fn add_steps, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = change_new(ctx, &change);

	if (r == 0)
		r = add_steps(ctx, spec, ids, change);
	if (r == 0 && change->steps.failed)
		r = ctx_oom(ctx);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

int apply_host_compare(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids,
	struct vfctl_declared *all)
{
	int r = plan_host(ctx, spec, ids, add_all, &all->host);

	if (r == -ENOMEM)
		return r;
	all->host_error = r;
	if (r < 0)
		all->host_text = strdup(vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return 0;
}

static int journal_host(struct vfctl_ctx *ctx, struct vfctl_change *change, const char *fmt, ...)
	_printf_(3, 4);

static int journal_host(struct vfctl_ctx *ctx, struct vfctl_change *change, const char *fmt, ...)
{
	va_list args;
	int r;

	va_start(args, fmt);
	r = change_journal(ctx, change, LOCK_KERNEL, fmt, args);
	va_end(args);
	return r;
}

static int plan_locked(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids,
	host_steps_fn add_steps, const char *story, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_close_ int lock = -1;
	int r = host_check_writable(ctx);

	if (r == 0)
		r = host_lock(ctx, LOCK_KERNEL, false, &lock);
	if (r == 0)
		r = recover_locked(ctx, LOCK_KERNEL);
	if (r == 0)
		r = plan_host(ctx, spec, ids, add_steps, &change);
	if (r == 0) {
		change->lock_fd = lock;
		lock = -1;
		r = journal_host(ctx, change, "%s", story);
	}
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

int vfctl_apply_host_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids,
	struct vfctl_change **ret_change)
{
	return plan_locked(ctx, spec, ids, add_all, "apply kernel settings", ret_change);
}

int vfctl_partitions_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids,
	struct vfctl_change **ret_change)
{
	return plan_locked(ctx, spec, ids, add_partitions, "write OpenSM's partitions", ret_change);
}
