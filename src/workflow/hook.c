// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The libvirt hook: domain XML on stdin -> intent in our metadata -> lease confirmed or
 * taken -> policy written and read back; at release everything returned. libvirt is never
 * called: it waits for us (docs/hooks.rst).
 */
#include <errno.h>
#include <stdio.h>

#include "base/ctx.h"
#include "vfctl/workflow.h"
#include "workflow/identity.h"
#include "workflow/policy.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

static void leases_freep(struct vfctl_leases **leases)
{
	vfctl_leases_free(*leases);
}
#define _leases_ _cleanup_(leases_freep)

static bool lease_has(const struct vfctl_lease *lease, const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < lease->vf_count; i++)
		if (vfctl_bdf_compare(&lease->vfs[i].bdf, vf) == 0)
			return true;
	return false;
}

/* A domain that was not defined with vfctl but carries our intent: it leases as it starts. */
static int take(struct vfctl_ctx *ctx, struct store *store,
	const struct vfctl_domain_intent *intent)
{
	struct vfctl_lease_vf vfs[VFCTL_GUEST_VFS_MAX] = {0};
	struct vfctl_lease lease = {.domain_name = (char *)intent->name, .transient = true,
		.node = VFCTL_NODE_NONE, .vfs = vfs, .vf_count = intent->vf_count};

	/* The UUID, not the id in the XML: a copied XML must not share the original's. */
	str_copy(lease.id, sizeof(lease.id), intent->uuid);
	str_copy(lease.domain_uuid, sizeof(lease.domain_uuid), intent->uuid);
	for (size_t i = 0; i < intent->vf_count; i++)
		vfs[i] = (struct vfctl_lease_vf){.bdf = intent->vfs[i].bdf,
			.pf = intent->vfs[i].pf, .index = intent->vfs[i].index};
	return store_take(store, &lease);
}

static int add_missing(struct store *store, const struct vfctl_lease *lease,
	const struct vfctl_domain_intent *intent)
{
	int r = 0;

	for (size_t i = 0; i < intent->vf_count && r == 0; i++) {
		struct vfctl_lease_vf vf = {.bdf = intent->vfs[i].bdf, .pf = intent->vfs[i].pf,
			.index = intent->vfs[i].index};

		if (!lease_has(lease, &vf.bdf))
			r = store_add_vf(store, lease->id, &vf);
	}
	return r;
}

/* @before: what the domain held before this start (perhaps nothing). */
static int confirm_lease(struct vfctl_ctx *ctx, struct store *store,
	const struct vfctl_domain_intent *intent, const struct vfctl_leases *before)
{
	if (!before->count)
		return take(ctx, store, intent);
	return add_missing(store, &before->v[0], intent);
}

/* The start is stopped: what this call leased is free again. */
static void unconfirm_lease(struct vfctl_ctx *ctx, struct store *store,
	const struct vfctl_domain_intent *intent, const struct vfctl_leases *before, bool rested)
{
	_free_ char *words = steal(ctx->error);

	if (!before->count) {
		store_drop(store, intent->uuid);
		identities_forget(ctx, intent->uuid, rested);
	}
	for (size_t i = 0; before->count && i < intent->vf_count; i++)
		if (!lease_has(&before->v[0], &intent->vfs[i].bdf))
			store_remove_vf(store, before->v[0].id, &intent->vfs[i].bdf);
	ctx_fail(ctx, 0, "%s", words ? words : "");
}

static int check_intent(struct vfctl_ctx *ctx, const struct vfctl_domain_intent *intent)
{
	const struct vfctl_domain_vf *vf = vfctl_domain_intent_missing(intent);

	if (!intent->uuid[0])
		return ctx_fail(ctx, -EINVAL, "the domain XML has no UUID");
	if (vf)
		return ctx_fail(ctx, -EINVAL, "the metadata names VF %s but the domain has no such "
			"device; remove it with: vfctl detach %s --vf %s --config", TEXT(&vf->bdf),
			intent->name, TEXT(&vf->bdf));
	return 0;
}

/*
 * A failure leaves all as it was. What was taken for a start that fails later is returned
 * by libvirt's release call.
 */
static int prepare(struct vfctl_ctx *ctx, const struct vfctl_domain_intent *intent)
{
	_leases_ struct vfctl_leases *before = NULL;
	_store_ struct store *store = NULL;
	bool rested = false;
	int r = check_intent(ctx, intent);

	if (r < 0 || !intent->vf_count)
		return r;
	r = store_open(ctx, STORE_WRITE, &store);
	if (r == 0)
		r = store_read(store, intent->uuid, &before);
	if (r < 0)
		return r;
	r = confirm_lease(ctx, store, intent, before);
	if (r == 0)
		r = identities_confirm(ctx, intent, !before->count, &rested);
	if (r == 0)
		r = policy_apply(ctx, store, intent->vfs, intent->vf_count);
	/* What was there is known as long as the lease lasts: release tries again. */
	if (r < 0 && r != -ESTALE)
		unconfirm_lease(ctx, store, intent, before, rested);
	return r;
}

/* Affinity is libvirt's by the XML; the start is only remembered. */
static int started(struct vfctl_ctx *ctx, const struct vfctl_domain_intent *intent)
{
	_leases_ struct vfctl_leases *leases = NULL;
	_store_ struct store *store = NULL;
	int r;

	if (access(ctx->state_path, F_OK) < 0)
		return 0; /* nothing was ever leased */
	r = store_open(ctx, STORE_WRITE, &store);
	if (r == 0)
		r = store_read(store, intent->uuid, &leases);
	if (r == 0 && leases->count)
		store_set_running(store, leases->v[0].id, true);
	return 0; /* the guest runs: a missing note is no reason to kill it */
}

/* What was plugged into the running domain only is not in its definition: it ends now. */
static void drop_transient(struct store *store, const struct vfctl_lease *lease)
{
	for (size_t i = 0; i < lease->vf_count; i++)
		if (lease->vfs[i].transient)
			store_remove_vf(store, lease->id, &lease->vfs[i].bdf);
}

static int release(struct vfctl_ctx *ctx, const struct vfctl_domain_intent *intent)
{
	_leases_ struct vfctl_leases *leases = NULL;
	_store_ struct store *store = NULL;
	const struct vfctl_lease *lease;
	int r;

	if (access(ctx->state_path, F_OK) < 0)
		return 0; /* nothing was ever leased */
	r = store_open(ctx, STORE_WRITE, &store);
	if (r == 0)
		r = store_read(store, intent->uuid, &leases);
	if (r < 0 || !leases->count)
		return r;
	lease = &leases->v[0];
	r = policy_restore(ctx, store, lease->vfs, lease->vf_count);
	if (r < 0) {
		/* What was there before is known as long as the lease lasts. */
		ctx_append(ctx, r, "; its VFs stay leased to %s; return them with: vfctl "
			"undefine %s", lease->domain_name, lease->domain_name);
	} else {
		drop_transient(store, lease);
		if (lease->transient) {
			r = identities_forget(ctx, lease->domain_uuid, true);
			return store_drop(store, lease->id) < 0 ? -EIO : r;
		}
	}
	return store_set_running(store, lease->id, false) < 0 ? -EIO : r;
}

/*
 * Operations that need work (docs/hooks.rst). migrate, restore and start come before or
 * after prepare, which does it all; stopped comes before libvirt gave the VFs back.
 */
static const struct {
	const char *operation;
	int (*run)(struct vfctl_ctx *ctx, const struct vfctl_domain_intent *intent);
	bool may_fail; /* a failure stops the guest's start */
} operations[] = {
	{"prepare", prepare, true},
	{"started", started, false},
	{"reconnect", started, false},
	{"release", release, false},
};

int vfctl_hook_qemu(struct vfctl_ctx *ctx, const char *const argv[4], const char *xml,
	size_t len)
{
	_free_ struct vfctl_domain_intent *intent = NULL;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		if (!str_eq(argv[1], operations[i].operation))
			continue;
		intent = calloc(1, sizeof(*intent));
		if (!intent)
			return ctx_oom(ctx);
		r = vfctl_domain_metadata_read(ctx, xml, len, intent);
		if (r == -ENOENT)
			return 0;
		if (r == 0)
			r = operations[i].run(ctx, intent);
		if (r < 0 && !operations[i].may_fail) {
			log_warn(ctx, "%s", vfctl_ctx_error(ctx));
			r = 0;
		}
		return r;
	}
	return 0;
}
