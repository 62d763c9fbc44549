// SPDX-License-Identifier: GPL-2.0-or-later
#include "workflow/run.h"

#include <errno.h>

#include "base/change.h"
#include "host/host.h"
#include "vfctl/workflow.h"
#include "workflow/domains.h"
#include "workflow/identity.h"
#include "workflow/policy.h"
#include "workflow/snapshot.h"

/* ---- locks ---- */

int pf_locks_add(struct vfctl_ctx *ctx, struct pf_locks *locks, const struct vfctl_bdf *pf)
{
	size_t at = 0;

	while (at < locks->count && vfctl_bdf_compare(&locks->pfs[at], pf) < 0)
		at++;
	if (at < locks->count && vfctl_bdf_compare(&locks->pfs[at], pf) == 0)
		return 0;
	if (locks->count == PF_LOCKS_MAX)
		return ctx_fail(ctx, -E2BIG, "VFs of more than %d PFs", PF_LOCKS_MAX);
	memmove(&locks->pfs[at + 1], &locks->pfs[at],
		(locks->count - at) * sizeof(locks->pfs[0]));
	locks->pfs[at] = *pf;
	locks->fds[locks->count++] = -1;
	return 0;
}

int pf_locks_take(struct vfctl_ctx *ctx, struct pf_locks *locks)
{
	char text[VFCTL_BDF_TEXT];
	int r = 0;

	for (size_t i = 0; i < locks->count && r == 0; i++)
		r = host_lock(ctx, vfctl_bdf_format(&locks->pfs[i], text), false,
			&locks->fds[i]);
	return r;
}

void pf_locks_clear(struct pf_locks *locks)
{
	for (size_t i = 0; i < locks->count; i++)
		close_fd(&locks->fds[i]);
	locks->count = 0;
}

/* ---- the end of a run ---- */

/* What was plugged into the running domain only is not in its definition: it ends now. */
static int drop_transient(struct store *store, const struct vfctl_lease *lease)
{
	int r = 0;

	for (size_t i = 0; i < lease->vf_count && r == 0; i++)
		if (lease->vfs[i].transient)
			r = store_remove_vf(store, lease->id, &lease->vfs[i].bdf);
	return r;
}

static int note_end(struct vfctl_ctx *ctx, struct store *store,
	const struct vfctl_lease *lease)
{
	int r = 0;

	for (size_t i = 0; i < lease->vf_count && r == 0; i++)
		if (lease->vfs[i].returns_identity)
			r = identities_return(ctx, lease->domain_uuid, &lease->vfs[i].intent);
	if (r < 0)
		return r;
	if (lease->transient) {
		r = identities_forget(ctx, lease->domain_uuid, true);
		return r < 0 ? r : store_drop(store, lease->id);
	}
	r = drop_transient(store, lease);
	return r < 0 ? r : store_end_run(store, lease->id);
}

int run_end(struct vfctl_ctx *ctx, struct store *store, const struct vfctl_lease *lease)
{
	int r = policy_restore(ctx, store, lease, NULL);

	if (r == 0)
		r = note_end(ctx, store, lease);
	return r < 0 ? ctx_append(ctx, r, "; its VFs stay leased to %s; once that is repaired, "
		"return them with: vfctl release %s", lease->domain_name, lease->domain_name) : 0;
}

/* ---- vfctl release ---- */

struct release {
	struct vfctl_leases *leases;
	const struct vfctl_lease *lease;
	struct pf_locks locks;
};

static void free_release(void *data)
{
	struct release *r = data;

	pf_locks_clear(&r->locks);
	vfctl_leases_free(r->leases);
	free(r);
}

/* With the PFs' locks held: what the lease is now counts, not what it was before. */
static int apply_release(struct vfctl_ctx *ctx, void *data)
{
	struct release *r = data;
	struct vfctl_leases *now = NULL;
	_store_ struct store *store = NULL;
	int error = store_open(ctx, STORE_WRITE, &store);

	if (error == 0)
		error = store_read(store, r->lease->domain_uuid, &now);
	if (error == 0 && now->count && now->v[0].running && !r->lease->running)
		error = ctx_fail(ctx, -EBUSY, "domain %s has been started meanwhile; its VFs are "
			"returned when it stops", r->lease->domain_name);
	else if (error == 0 && now->count)
		error = run_end(ctx, store, &now->v[0]);
	vfctl_leases_free(now);
	return error;
}

/* libvirt says "active" from the moment on in which it calls the hook. */
static int check_off(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv,
	const struct vfctl_lease *lease)
{
	struct vfctl_domain_info info;
	bool active;
	int r = hv ? hv->get(ctx, hv, lease->domain_uuid, false, &info) : -ENOENT;

	if (r < 0) {
		if (hv && r == -ENOENT)
			ctx_clear(ctx);
		return r == -ENOENT ? 0 : r;
	}
	active = info.active;
	vfctl_domain_info_clear(&info);
	return active ? ctx_fail(ctx, -EBUSY, "domain %s is running or being started; its VFs are "
		"returned when it stops", lease->domain_name) : 0;
}

static int find_lease(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv, const char *domain,
	struct release *r)
{
	_known_domains_ struct known_domains *domains = NULL;
	int error = vfctl_leases_read(ctx, &r->leases);

	if (error == 0)
		error = known_domains_read(ctx, &domains);
	if (error < 0)
		return error;
	r->lease = vfctl_leases_find(r->leases, domain);
	if (!r->lease)
		return ctx_fail(ctx, -ENOENT, "no domain %s holds a lease here (vfctl list shows "
			"those that do)", domain);
	if (known_domains_runs(domains, r->lease->domain_uuid))
		return ctx_fail(ctx, -EBUSY, "domain %s is running; its VFs are returned when it "
			"stops", r->lease->domain_name);
	error = check_off(ctx, hv, r->lease);
	if (error < 0)
		return error;
	if (domains->unread && !hv)
		return ctx_fail(ctx, -EACCES, "nothing is changed while it is not known whether "
			"the domain runs: %s", domains->unread);
	return 0;
}

static bool is_left(const struct vfctl_lease *lease)
{
	bool left = lease->running || lease->transient;

	for (size_t i = 0; i < lease->vf_count; i++)
		left |= lease->vfs[i].saved.mask || lease->vfs[i].transient;
	return left;
}

int vfctl_release_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, bool dry_run, struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct release *data = calloc(1, sizeof(*data));
	struct step row = {.apply = apply_release, .data = data, .commit = true};
	int r = change_new(ctx, data, free_release, &change);

	if (r == 0)
		r = find_lease(ctx, hypervisor, domain, data);
	for (size_t i = 0; r == 0 && i < data->lease->vf_count; i++)
		r = pf_locks_add(ctx, &data->locks, &data->lease->vfs[i].pf);
	if (r == 0 && !dry_run)
		r = pf_locks_take(ctx, &data->locks);
	if (r < 0)
		return r;
	if (is_left(data->lease))
		steps_add(&change->steps, &row, "give the VFs of domain %s what they had before its "
			"last run%s", data->lease->domain_name,
			data->lease->transient ? ", and end its lease" : "");
	*ret_change = steal(change);
	return 0;
}
