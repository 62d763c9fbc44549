// SPDX-License-Identifier: GPL-2.0-or-later
/* Guests that are placed together and then defined one after the other. */
#include <errno.h>
#include <unistd.h>

#include "base/change.h"
#include "change/recover.h"
#include "facts/model/model.h"
#include "facts/snapshot/snapshot.h"
#include "guest/define.h"
#include "guest/guest.h"
#include "ids/ops.h"
#include "lease/ops.h"
#include "placement/model/host_model.h"
#include "placement/placement.h"

struct vfctl_batch {
	struct vfctl_place_options options;
	struct vfctl_guest **guests; /* borrowed; new guests first */
	size_t count, new_count;
	struct vfctl_host_model *model;
	struct vfctl_requests *requests;
	struct vfctl_plan *plan; /* for the new guests */
	int lock_fd; /* -1: a dry run holds no lock */
	bool dry_run;
};

void vfctl_batch_free(struct vfctl_batch *batch)
{
	if (!batch)
		return;
	close_fd(&batch->lock_fd);
	vfctl_plan_free(batch->plan);
	vfctl_requests_free(batch->requests);
	vfctl_model_free(batch->model);
	free(batch->guests);
	free(batch);
}

/* Guests that libvirt already has come last: they have their place. */
static int sort_guests(struct vfctl_ctx *ctx, struct vfctl_batch *b,
	struct vfctl_guest *const *guests)
{
	size_t there = 0;

	b->guests = calloc(b->count + 1, sizeof(*b->guests));
	if (!b->guests)
		return ctx_oom(ctx);
	for (size_t i = 0; i < b->count; i++) {
		struct vfctl_domain_info info = {0};
		int r = find_existing(ctx, b->options.hypervisor, guests[i], &info);

		vfctl_domain_info_clear(&info);
		if (r < 0)
			return r;
		if (r)
			b->guests[b->count - ++there] = guests[i];
		else
			b->guests[b->new_count++] = guests[i];
	}
	/* Both groups keep their order. */
	for (size_t i = 0; i < there / 2; i++) {
		struct vfctl_guest **a = &b->guests[b->new_count + i];
		struct vfctl_guest **z = &b->guests[b->count - 1 - i], *one = *a;

		*a = *z;
		*z = one;
	}
	return 0;
}

static int place_all(struct vfctl_ctx *ctx, struct vfctl_batch *b)
{
	struct vfctl_snapshot *snapshot = NULL;
	int r = vfctl_snapshot_read(ctx, NULL, &snapshot);

	if (r == 0)
		r = snapshot_need_leases(ctx, snapshot);
	if (r == 0)
		r = vfctl_model_read(ctx, snapshot, &b->options, &b->model);
	vfctl_snapshot_free(snapshot);
	if (r == 0)
		r = vfctl_requests_make(ctx, b->model, b->guests, b->new_count, &b->requests);
	return r < 0 || !b->new_count ? r : vfctl_plan_make(ctx, b->model, b->requests->v, b->new_count,
		NULL,
		&b->plan);
}

int vfctl_batch_place(struct vfctl_ctx *ctx, struct vfctl_guest *const *guests, size_t count,
	const struct vfctl_place_options *options, bool dry_run, struct vfctl_batch **ret)
{
	_cleanup_(vfctl_batch_freep) struct vfctl_batch *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return ctx_oom(ctx);
	b->options = *options;
	b->count = count;
	b->dry_run = dry_run;
	b->lock_fd = -1;
	r = dry_run ? 0 : guest_lock(ctx, options->hypervisor, &b->lock_fd);
	if (r == 0)
		r = sort_guests(ctx, b, guests);
	if (r == 0)
		r = place_all(ctx, b);
	if (r == 0)
		*ret = steal(b);
	return r;
}

const struct vfctl_guest *vfctl_batch_guest(const struct vfctl_batch *batch, size_t index)
{
	return index < batch->count ? batch->guests[index] : NULL;
}

/* In a dry run nothing is taken, so each guest would propose the same first free values. */
static int forget_values(struct vfctl_ctx *ctx, const char *name, struct steps *steps)
{
	for (size_t i = 0; i < steps->count; i++) {
		struct step *s = &steps->v[i];

		if (!s->op_count || s->ops[0].type != &op_claim)
			continue;
		free(s->describe);
		s->describe = str_format("domain %s gets GUIDs and MACs from pools", name);
		while (s->op_count)
			op_clear(&s->ops[--s->op_count]);
		if (!s->describe)
			return ctx_oom(ctx);
	}
	return 0;
}

int vfctl_batch_define_plan(struct vfctl_ctx *ctx, struct vfctl_batch *batch, size_t index,
	const char *template_text, const char *template_name, struct vfctl_change **ret_change)
{
	struct define_request q = {.options = &batch->options, .template_text = template_text,
		.template_name = template_name, .dry_run = batch->dry_run};
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = change_new(ctx, &change);

	if (r == 0 && index >= batch->count)
		r = ctx_fail(ctx, -EINVAL, "the batch has %zu guests", batch->count);
	if (r < 0)
		return r;
	q.guest = batch->guests[index];
	if (index < batch->new_count) {
		q.assignment = &batch->plan->assignments[index];
		r = assignment_fits(ctx, "it", q.assignment);
	}
	if (r == 0)
		r = define_locked(ctx, &q, change);
	if (r == 0 && batch->dry_run)
		r = forget_values(ctx, q.guest->name, &change->steps);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
