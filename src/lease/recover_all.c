// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vfctl recover: every change whose process died, every run whose end the hook did not see, and
 * what a killed vfctl monitor --bridge left.
 */
#include <errno.h>

#include "base/parse.h"
#include "change/pf_locks.h"
#include "change/recover.h"
#include "facts/snapshot/domains.h"
#include "host/host.h"
#include "lease/guest_run.h"
#include "lease/recover.h"
#include "remote/settings.h"
#include "remote/tunnel.h"
#include "tuning/bridge_record.h"
#include "types/hypervisor.h"

/* Weak in the table of operations (open.c): programs that recover all changes link them. */
__attribute__((used)) static const struct op_type *const remote_ops[] = {&op_bench_settings,
	&op_bench_tunnel};

struct recovery {
	struct vfctl_recovery public;
	struct open_changes *open, *runs; /* the arrays to which the public members point */
	struct known_domains *domains;	  /* read with the first run */
	struct bridge_record *bridge;
	char **bridge_steps;
};

void vfctl_recovery_free(struct vfctl_recovery *recovery)
{
	struct recovery *r = (struct recovery *)recovery;

	if (!r)
		return;
	for (size_t i = 0; i < r->public.count; i++) {
		free((char *)r->public.changes[i].error);
		free((void *)r->public.changes[i].steps);
	}
	free(r->public.changes);
	open_changes_free(r->open);
	open_changes_free(r->runs);
	known_domains_free(r->domains);
	bridge_record_close(r->bridge);
	strv_free(r->bridge_steps);
	free(r);
}

static void recovery_freep(struct recovery **r)
{
	vfctl_recovery_free(*r ? &(*r)->public : NULL);
}

/* The steps that have effects to roll back, in reverse order. */
static int list_steps(struct vfctl_ctx *ctx, const struct open_change *c,
	struct vfctl_recovered_change *out)
{
	const char **steps = calloc(c->op_count + 1, sizeof(*steps));

	if (!steps)
		return ctx_oom(ctx);
	for (size_t end = c->op_count; end-- > 0;) {
		size_t start = end;

		while (start > 0 && !c->message[start][0])
			start--;
		/* Its line may belong to an operation that this vfctl does not have. */
		if (c->message[start][0] && ops_leave_something(ctx, &c->ops[start], end - start + 1))
			steps[out->step_count++] = c->message[start];
		end = start;
	}
	out->steps = steps;
	return 0;
}

static bool is_open_still(const struct open_changes *now, int64_t id)
{
	for (size_t i = 0; i < now->count; i++)
		if (now->v[i].id == id)
			return true;
	return false;
}

/* Its process may have ended it between the reading and the lock. */
static int look_again(struct vfctl_ctx *ctx, const struct open_change *c)
{
	_cleanup_(open_changes_freep) struct open_changes *now = NULL;
	int r = journal_read(ctx, c->lock, &now);

	return r < 0 ? r : is_open_still(now, c->id);
}

/*
 * Its process may have died while a write to the kernel, in a child process, is still in progress.
 * The child also holds the lock, and ends soon.
 */
static int lock_dead(struct vfctl_ctx *ctx, const struct open_change *c, bool wait,
	int *ret_lock)
{
	int r = host_try_lock(ctx, c->lock, ret_lock);

	if (r != -EBUSY || !wait || host_exists(ctx, "/proc/%lld", (long long)c->pid))
		return r;
	ctx_clear(ctx);
	return host_lock(ctx, c->lock, false, ret_lock);
}

/* 1: it counts; 0: it has already ended. */
static int recover_next(struct vfctl_ctx *ctx, struct open_change *c,
	const struct vfctl_recover_options *options, struct vfctl_recovered_change *out)
{
	_close_ int lock = -1;
	int r = lock_dead(ctx, c, !options->dry_run, &lock);

	*out = (struct vfctl_recovered_change){.id = c->id, .story = c->story, .pid = c->pid,
		.begun = c->begun};
	if (r == -EBUSY) {
		ctx_clear(ctx);
		return 1;
	}
	if (r == 0)
		r = look_again(ctx, c);
	if (r <= 0)
		return r;
	r = recover_one(ctx, c, options, &out->outcome);
	if (r < 0) {
		out->error = strdup(vfctl_ctx_error(ctx));
		ctx_clear(ctx);
	}
	if (out->outcome == VFCTL_RECOVERED_UNDONE || out->outcome == VFCTL_RECOVERED_FAILED)
		r = list_steps(ctx, c, out);
	return r < 0 && !out->error ? r : 1;
}

/* The connection to libvirt while changes of guests are recovered. */
struct libvirt_visit {
	struct vfctl_ctx *ctx;
	struct vfctl_hypervisor *hypervisor;
	bool tried;
};

static void connect_to(struct vfctl_ctx *ctx, const struct vfctl_recover_options *options,
	struct libvirt_visit *io)
{
	if (io->tried || !options->connect || options->accept)
		return;
	io->tried = true;
	if (options->connect(ctx, &io->hypervisor) < 0) {
		log_warn(ctx, "%s", vfctl_ctx_error(ctx));
		ctx_clear(ctx);
		io->hypervisor = NULL;
	}
	ctx->hypervisor = io->hypervisor;
}

static void disconnect(struct libvirt_visit *visit)
{
	vfctl_hypervisor_close(visit->hypervisor);
	visit->ctx->hypervisor = NULL;
}

/* ---- runs whose domain is off: libvirt did not call the hook at their end ---- */

/*
 * 1: libvirt reports that it is off, or does not have it any more; 0: it runs, or this cannot be
 * determined.
 */
static int is_off(struct vfctl_ctx *ctx, const char *uuid)
{
	struct vfctl_hypervisor *hv = ctx->hypervisor;
	struct vfctl_domain_info info = {0};
	int r = hv ? hv->get(ctx, hv, uuid, false, &info) : -ENOTCONN;
	bool off = r == -ENOENT || (r == 0 && !info.active);

	vfctl_domain_info_clear(&info);
	if (r < 0)
		ctx_clear(ctx);
	return off;
}

/* Read libvirt's files first: that is cheap, and nearly all guests run. */
static int is_over(struct vfctl_ctx *ctx, const struct open_change *run, struct recovery *all,
	const struct vfctl_recover_options *options, struct libvirt_visit *visit)
{
	enum run_state state;
	int r = run_look(ctx, run->run, &state);

	if (r < 0 || state != RUN_GOES_ON)
		return r < 0 ? r : state == RUN_OF_EARLIER_BOOT;
	if (!all->domains)
		r = known_domains_read(ctx, &all->domains);
	if (r < 0 || all->domains->unread || known_domains_runs(all->domains, run->run))
		return r;
	connect_to(ctx, options, visit);
	return is_off(ctx, run->run);
}

static int end_run(struct vfctl_ctx *ctx, const struct open_change *run)
{
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	_cleanup_(open_changes_freep) struct open_changes *now = NULL;
	int r = pf_locks_add_of(ctx, &locks, run->run);

	if (r == 0)
		r = pf_locks_take(ctx, &locks);
	if (r == 0)
		r = journal_read_runs(ctx, run->run, &now);
	/* The domain may have been started meanwhile: then it is another run. */
	return r < 0 || !is_open_still(now, run->id) ? r : run_end(ctx, run->run);
}

/* 1: it counts; 0: it is still running. */
static int recover_run(struct vfctl_ctx *ctx, struct open_change *run, struct recovery *all,
	const struct vfctl_recover_options *options, struct libvirt_visit *visit,
	struct vfctl_recovered_change *out)
{
	int r = is_over(ctx, run, all, options, visit);

	if (r <= 0)
		return r;
	*out = (struct vfctl_recovered_change){.id = run->id, .story = run->story,
		.pid = run->pid, .begun = run->begun, .outcome = VFCTL_RECOVERED_UNDONE};
	r = options->dry_run ? 0 : end_run(ctx, run);
	if (r < 0) {
		out->outcome = VFCTL_RECOVERED_FAILED;
		out->error = strdup(vfctl_ctx_error(ctx));
		ctx_clear(ctx);
	}
	r = list_steps(ctx, run, out);
	return r < 0 ? r : 1;
}

static int recover_runs(struct vfctl_ctx *ctx, struct recovery *all,
	const struct vfctl_recover_options *options, struct libvirt_visit *visit)
{
	for (size_t i = 0; i < all->runs->count; i++) {
		int r = recover_run(ctx, &all->runs->v[i], all, options, visit,
			&all->public.changes[all->public.count]);

		if (r < 0)
			return r;
		all->public.count += (size_t)r;
	}
	return 0;
}

/* ---- vfctl monitor --bridge: it has a record of its own, beside the journal ---- */

/* The texts stay in @all. */
static int list_bridge_steps(struct vfctl_ctx *ctx, struct recovery *all,
	struct vfctl_recovered_change *out)
{
	const char **steps;

	strv_free(all->bridge_steps);
	free((void *)out->steps);
	out->step_count = 0;
	all->bridge_steps = bridge_record_steps(all->bridge);
	steps = calloc(strv_len(all->bridge_steps) + 1, sizeof(*steps));
	out->steps = steps;
	if (!all->bridge_steps || !steps)
		return ctx_oom(ctx);
	for (char **text = all->bridge_steps; *text; text++)
		steps[out->step_count++] = *text;
	return 0;
}

static int recover_bridge(struct vfctl_ctx *ctx, struct recovery *all,
	const struct vfctl_recover_options *options)
{
	struct vfctl_recovered_change *out = &all->public.changes[all->public.count];
	_close_ int lock = -1;
	int r = bridge_record_read_left(ctx, &lock, &all->bridge);

	if (r < 0 || !all->bridge)
		return r;
	all->public.count++;
	*out = (struct vfctl_recovered_change){.story = "monitor --bridge",
		.outcome = options->accept ? VFCTL_RECOVERED_ACCEPTED : VFCTL_RECOVERED_UNDONE};
	bridge_record_process(all->bridge, &out->pid, &out->begun);
	if (!options->accept)
		r = list_bridge_steps(ctx, all, out);
	if (r < 0 || options->dry_run)
		return r;
	r = bridge_record_end(ctx, all->bridge, !options->accept);
	if (r < 0) {
		out->outcome = VFCTL_RECOVERED_FAILED;
		out->error = strdup(vfctl_ctx_error(ctx));
		ctx_clear(ctx);
		return out->error ? list_bridge_steps(ctx, all, out) : ctx_oom(ctx); /* those left */
	}
	return 0;
}

/* Changes of guests and of benchmarks have locks of their own. */
static bool is_chosen(const struct open_change *c, const struct vfctl_recover_options *options)
{
	return !options->host_only || !(str_eq(c->lock, HOST_LOCK_PLACEMENT) ||
		str_starts(c->lock, HOST_LOCK_BENCH));
}

static int recover_changes(struct vfctl_ctx *ctx, struct recovery *all,
	const struct vfctl_recover_options *options, struct libvirt_visit *visit)
{
	for (size_t i = 0; i < all->open->count; i++) {
		int r;

		if (!is_chosen(&all->open->v[i], options))
			continue;
		if (recover_asks_libvirt(&all->open->v[i]))
			connect_to(ctx, options, visit);
		r = recover_next(ctx, &all->open->v[i], options,
			&all->public.changes[all->public.count]);
		if (r < 0)
			return r;
		all->public.count += (size_t)r;
	}
	return 0;
}

int vfctl_recover(struct vfctl_ctx *ctx, const struct vfctl_recover_options *options,
	struct vfctl_recovery **ret)
{
	static const struct vfctl_recover_options nothing = {0};
	_cleanup_(recovery_freep) struct recovery *all = calloc(1, sizeof(*all));
	_cleanup_(disconnect) struct libvirt_visit visit = {.ctx = ctx};
	size_t failed = 0;
	int r = all ? host_check_writable(ctx) : ctx_oom(ctx);

	if (r == 0)
		r = journal_read(ctx, NULL, &all->open);
	if (r == 0)
		r = journal_read_runs(ctx, NULL, &all->runs);
	if (r < 0)
		return r;
	all->public.changes = calloc(all->open->count + all->runs->count + 2,
		sizeof(*all->public.changes));
	if (!all->public.changes)
		return ctx_oom(ctx);
	r = recover_changes(ctx, all, options ? options : &nothing, &visit);
	if (r == 0 && !(options && options->host_only))
		r = recover_runs(ctx, all, options ? options : &nothing, &visit);
	/* The next run goes on with them, so a change of the host leaves them. */
	if (r == 0 && !(options && options->host_only))
		r = recover_bridge(ctx, all, options ? options : &nothing);
	if (r < 0)
		return r;
	for (size_t i = 0; i < all->public.count; i++)
		failed += all->public.changes[i].outcome == VFCTL_RECOVERED_FAILED;
	*ret = &steal(all)->public;
	return failed ? ctx_fail(ctx, -ESTALE, "%zu change%s could not be rolled back; solve the "
		"reported problems and repeat this command, or accept the host as it is: vfctl recover "
		"--accept", failed, plural(failed)) : 0;
}
