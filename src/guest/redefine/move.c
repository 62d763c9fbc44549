// SPDX-License-Identifier: GPL-2.0-or-later
/* Carry out one move of a rebalance: the guest as its file requests, on other nodes. */
#include <errno.h>

#include "base/change.h"
#include "base/planning.h"
#include "change/recover.h"
#include "facts/guest_spec.h"
#include "facts/snapshot/snapshot.h"
#include "guest/guest.h"
#include "guest/redefine/redefine.h"
#include "guest/suggest.h"
#include "lease/lease.h"
#include "placement/placement.h"
#include "spec/guest.h"
#include "state/leases.h"
#include "types/hypervisor.h"

struct moving {
	const struct vfctl_place_options *options;
	struct vfctl_domain_info info;
	struct vfctl_guest *guest;
	struct vfctl_snapshot *snapshot;
	struct vfctl_host_model *model;
	struct vfctl_rebalance *rebalance;
};

static void moving_clear(struct moving *m)
{
	vfctl_rebalance_free(m->rebalance);
	vfctl_model_free(m->model);
	vfctl_snapshot_free(m->snapshot);
	vfctl_guest_free(m->guest);
	vfctl_domain_info_clear(&m->info);
}

/*
 * Its VFs keep their leased values, and the contents of the definition are kept, regardless of the
 * metadata, which any user may have written.
 */
static int read_guest(struct vfctl_ctx *ctx, struct moving *m)
{
	int r = guest_spec_read(ctx, m->info.xml, &m->guest);

	if (r == 0 && !m->guest)
		return ctx_fail(ctx, -EEXIST, "the file of domain %s is unknown, so vfctl cannot place "
			"it elsewhere; define it with its file: vfctl define", m->info.name);
	if (r == -EBADMSG)
		return ctx_append(ctx, -EEXIST, "; another program changed the definition of domain %s; "
			"define it with its file: vfctl define", m->info.name);
	if (r < 0)
		return r;
	guest_keep_place(m->guest);
	m->guest->name = strdup(m->info.name); /* it may have been renamed since */
	m->guest->machine = strdup("q35"); /* the definition states the version */
	return m->guest->name && m->guest->machine ? 0 : ctx_oom(ctx);
}

static int propose_move(struct vfctl_ctx *ctx, struct moving *m,
	const struct vfctl_assignment **ret)
{
	int r = vfctl_snapshot_read(ctx, NULL, &m->snapshot);

	if (r == 0)
		r = snapshot_need_all(ctx, m->snapshot);
	if (r == 0)
		r = vfctl_model_read(ctx, m->snapshot, m->options, &m->model);
	if (r == 0)
		r = vfctl_model_read_words(ctx, m->model, m->options->hypervisor);
	if (r == 0)
		r = vfctl_plan_rebalance(ctx, m->model, NULL, &m->rebalance);
	for (size_t i = 0; r == 0 && i < m->rebalance->move_count; i++) {
		const struct vfctl_move *move = &m->rebalance->moves[i];

		if (str_eq(m->model->occupants[move->occupant].uuid, m->info.uuid))
			*ret = move->to;
	}
	return r;
}

int redefine_find_domain(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv, const char *domain,
	struct vfctl_domain_info *ret)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease *lease;
	int r = hv->get(ctx, hv, domain, true, ret);

	if (r != -ENOENT)
		return ctx_mark_usage_error(ctx, r);
	if (vfctl_leases_read(ctx, &leases) < 0)
		return r;
	lease = vfctl_leases_find(leases, domain);
	if (!lease || lease->transient) {
		r = hv->get(ctx, hv, domain, true, ret);
		return ctx_mark_usage_error(ctx, r == -ENOENT
			? suggest_domain(ctx, hv, leases, domain, r) : r);
	}
	r = hv->get(ctx, hv, lease->domain_uuid, true, ret);
	if (r != -ENOENT)
		return ctx_mark_usage_error(ctx, r);
	return ctx_fail(ctx, -ENOENT, "domain %s no longer exists in libvirt but holds a lease; define "
		"it again with its file (vfctl define), or end the lease: vfctl undefine "
		"%s", lease->domain_name, lease->domain_name);
}

/* Whether @o is where @to would place it. */
static bool is_on(const struct vfctl_occupant *o, const struct vfctl_assignment *to)
{
	bool on = vfctl_cpuset_intersects(&o->cpus, &to->held_cpus);

	for (size_t i = 0; i < o->vf_count; i++)
		for (size_t k = 0; k < to->vf_count; k++)
			on |= vfctl_bdf_compare(&o->vfs[i].bdf, &to->vfs[k].bdf) == 0;
	return on;
}

/* The move that must come before @move; NULL: none. */
static const struct vfctl_move *first_before(const struct moving *m, const struct vfctl_move *move)
{
	for (size_t i = 0; i < m->rebalance->move_count; i++) {
		const struct vfctl_move *other = &m->rebalance->moves[i];

		if (other != move && is_on(&m->model->occupants[other->occupant], move->to))
			return other;
	}
	return NULL;
}

/*
 * It does not fit (the message is set): report whether other guests of the proposal have to move
 * first.
 */
static int fail_no_room(struct vfctl_ctx *ctx, const struct moving *m,
	const struct vfctl_assignment *to, int r)
{
	const struct vfctl_move *own = m->rebalance->moves, *before;
	const char *name = m->info.name, *other;

	while (own->to != to)
		own++;
	before = first_before(m, own);
	if (!before)
		return r;
	other = m->model->occupants[before->occupant].name;
	return ctx_fail(ctx, r, "domain %s needs the place of domain %s, which is to move too; first "
		"run: vfctl move %s (if each waits for the other: vfctl undefine %s, vfctl move %s, "
		"then vfctl define with the file of %s)", name, other, other, other, name, other);
}

static int check_ours(struct vfctl_ctx *ctx, const struct moving *m)
{
	const struct vfctl_lease *l = vfctl_leases_find_uuid(m->snapshot->leases, m->info.uuid);
	int r = l ? 0 : guest_check_lost(ctx, m->info.xml, m->info.name);

	return r < 0 || (l && l->cell_count) ? r : ctx_fail(ctx, -EEXIST, "vfctl did not define domain "
		"%s, and moves only guests that it defined", m->info.name);
}

static int plan_move(struct vfctl_ctx *ctx, struct moving *m, const char *domain, bool dry_run,
	struct vfctl_change *change)
{
	struct redefine_request request = {.options = m->options, .info = &m->info,
		.dry_run = dry_run};
	int r = redefine_find_domain(ctx, m->options->hypervisor, domain, &m->info);

	if (r == 0)
		r = propose_move(ctx, m, &request.to);
	if (r < 0)
		return r;
	r = check_ours(ctx, m);
	if (r < 0)
		return r;
	if (!request.to)
		return ctx_fail(ctx, -EALREADY, "no move of domain %s makes more guests local (vfctl plan "
			"--rebalance)", m->info.name);
	r = read_guest(ctx, m);
	if (r < 0)
		return r;
	request.guest = m->guest;
	r = guest_redefine(ctx, &request, change);
	return r == -ENOSPC ? fail_no_room(ctx, m, request.to, r) : r;
}

int vfctl_move_plan(struct vfctl_ctx *ctx, const char *domain,
	const struct vfctl_place_options *options, bool dry_run, struct vfctl_change **ret_change)
{
	_cleanup_(moving_clear) struct moving m = {.options = options};
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = guest_change_new(ctx, options->hypervisor, dry_run, &change);

	if (r == 0)
		r = plan_move(ctx, &m, domain, dry_run, change);
	return guest_change_planned(ctx, &change, r, ret_change, options->hypervisor, "move %s", domain);
}
