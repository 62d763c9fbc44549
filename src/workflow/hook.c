// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The libvirt hook: domain XML on stdin and what the domain leased -> what it may have ->
 * policy written and read back; at release everything returned. libvirt is never called: it
 * waits for us (docs/architecture.md). The PFs' locks are held meanwhile: prepare ends well only
 * if the policy is on the VFs, and nobody else changes it until release.
 */
#include <errno.h>
#include <stdio.h>

#include "base/vfattr.h"
#include "host/host.h"
#include "pci/device.h"
#include "vfctl/workflow.h"
#include "workflow/grant.h"
#include "workflow/identity.h"
#include "workflow/policy.h"
#include "workflow/run.h"
#include "workflow/snapshot.h"
#include "workflow/values.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

static void leases_freep(struct vfctl_leases **leases)
{
	vfctl_leases_free(*leases);
}
#define _leases_ _cleanup_(leases_freep)

struct hook {
	struct vfctl_ctx *ctx;
	const struct vfctl_host_spec *spec;
	struct vfctl_domain_intent intent;
	struct grant grant;
	bool starts; /* libvirt prepared it before */
};

static bool lease_has(const struct vfctl_lease *lease, const struct vfctl_bdf *vf)
{
	for (size_t i = 0; lease && i < lease->vf_count; i++)
		if (vfctl_bdf_compare(&lease->vfs[i].bdf, vf) == 0)
			return true;
	return false;
}

/* ---- the lease of this run ---- */

static struct vfctl_lease_vf lease_vf_of(const struct vfctl_domain_vf *vf)
{
	return (struct vfctl_lease_vf){.bdf = vf->bdf, .pf = vf->pf, .index = vf->index,
		.has_intent = true, .intent = vf->attrs};
}

/* A domain that was not defined with vfctl, but may have what it asks for. */
static int take_transient(struct hook *h, struct store *store)
{
	struct vfctl_lease_vf vfs[VFCTL_GUEST_VFS_MAX];
	struct vfctl_lease lease = {.domain_name = h->intent.name, .transient = true,
		.node = VFCTL_NODE_NONE, .vfs = vfs, .vf_count = h->grant.count};

	/* The UUID, not the id in the XML: a copied XML must not share the original's. */
	str_copy(lease.id, sizeof(lease.id), h->intent.uuid);
	str_copy(lease.domain_uuid, sizeof(lease.domain_uuid), h->intent.uuid);
	for (size_t i = 0; i < h->grant.count; i++)
		vfs[i] = lease_vf_of(&h->grant.vfs[i]);
	return store_take(store, &lease);
}

static int complete_lease(struct hook *h, struct store *store, const struct vfctl_lease *lease)
{
	int r = 0;

	for (size_t i = 0; i < h->grant.count && r == 0; i++) {
		struct vfctl_lease_vf vf = lease_vf_of(&h->grant.vfs[i]);

		vf.transient = true; /* it asks anew at the next start */
		if (h->grant.sources[i] == GRANT_FOREIGN)
			r = store_add_vf(store, lease->id, &vf);
		else if (h->grant.sources[i] == GRANT_OLD_LEASE)
			r = store_set_intent(store, &vf.bdf, &vf.intent);
	}
	return r;
}

static int begin(struct hook *h, struct store *store, const struct vfctl_lease *lease)
{
	const char *id = lease ? lease->id : h->intent.uuid;
	char boot[VFCTL_UUID_TEXT];
	int r = lease ? complete_lease(h, store, lease) : take_transient(h, store);

	boot_id_read(h->ctx, boot);
	return r < 0 ? r : store_begin_run(store, id, h->intent.name, boot);
}

static bool was_running(const struct hook *h, const struct vfctl_lease *lease)
{
	char boot[VFCTL_UUID_TEXT];

	boot_id_read(h->ctx, boot);
	return lease->running && !is_of_earlier_boot(lease, boot);
}

/* The start is stopped: what this call leased is free again. */
static void unbegin(struct hook *h, struct store *store, const struct vfctl_lease *lease)
{
	_free_ char *words = steal(h->ctx->error);

	if (!lease) {
		identities_forget(h->ctx, h->intent.uuid, false);
		store_drop(store, h->intent.uuid);
	}
	for (size_t i = 0; lease && i < h->grant.count; i++)
		if (!lease_has(lease, &h->grant.vfs[i].bdf))
			store_remove_vf(store, lease->id, &h->grant.vfs[i].bdf);
	if (lease && !was_running(h, lease))
		store_end_run(store, lease->id);
	ctx_fail(h->ctx, 0, "%s", words ? words : "");
}

/* ---- prepare ---- */

static int check_intent(struct vfctl_ctx *ctx, const struct vfctl_domain_intent *intent)
{
	const struct vfctl_domain_vf *vf = vfctl_domain_intent_missing(intent);

	if (!intent->uuid[0] && (intent->lease_id[0] || intent->device_count))
		return ctx_fail(ctx, -EINVAL, "the domain XML has no UUID");
	if (vf)
		return ctx_fail(ctx, -EINVAL, "the metadata names VF %s but the domain has no such "
			"device; remove it with: vfctl detach %s --vf %s --config", TEXT(&vf->bdf),
			intent->name, TEXT(&vf->bdf));
	return 0;
}

/* The values that were granted are live on no other function of this host. */
static int check_values(struct hook *h, const struct vfctl_leases *leases)
{
	struct value_facts facts = {.leases = leases, .changing = h->grant.vfs,
		.changing_count = h->grant.count};
	uint32_t mask = 0;
	int r = 0;

	for (size_t i = 0; i < h->grant.count; i++)
		mask |= h->grant.vfs[i].attrs.mask;
	if (mask & VFCTL_ATTR_MAC)
		r = live_macs_read(h->ctx, &facts.live);
	if (r == 0 && mask & VFCTL_ATTR_GUIDS)
		r = live_guids_add(h->ctx, &facts.live);
	if (r == 0)
		r = values_check_all(h->ctx, &facts, h->intent.uuid, h->grant.vfs, h->grant.count);
	live_values_clear(&facts.live);
	return r;
}

/* With the locks held. A failure leaves all as it was. */
static int prepare_vfs(struct hook *h, struct store *store, const struct vfctl_leases *leases)
{
	const struct grant_facts facts = {h->spec, &h->intent, leases};
	const struct vfctl_lease *lease = grant_lease(&facts);
	int r = grant_decide(h->ctx, &facts, &h->grant);

	if (r < 0)
		return r;
	/* It runs guarded, though it has no VF yet: one may be plugged into it. */
	if (!h->grant.count)
		return lease ? begin(h, store, lease) : 0;
	r = check_values(h, leases);
	if (r == 0)
		r = identities_confirm(h->ctx, &h->intent, h->grant.vfs, h->grant.count);
	if (r < 0)
		return r;
	r = begin(h, store, lease);
	if (r == 0)
		r = policy_apply(h->ctx, store, h->grant.vfs, h->grant.count);
	/* What was there is known as long as the lease lasts: release tries again. */
	if (r < 0 && r != -ESTALE)
		unbegin(h, store, lease);
	return r;
}

static int lock_pfs(struct hook *h, const struct vfctl_leases *leases, struct pf_locks *locks)
{
	const struct vfctl_lease *own = vfctl_leases_find_uuid(leases, h->intent.uuid);
	int r = 0;

	/* What is no PF fails later, with words; a lock of any name would stay for ever. */
	for (size_t i = 0; i < h->intent.vf_count && r == 0; i++)
		if (pci_has(h->ctx, &h->intent.vfs[i].pf, "sriov_totalvfs"))
			r = pf_locks_add(h->ctx, locks, &h->intent.vfs[i].pf);
	for (size_t i = 0; own && i < own->vf_count && r == 0; i++)
		r = pf_locks_add(h->ctx, locks, &own->vfs[i].pf);
	return r < 0 ? r : pf_locks_take(h->ctx, locks);
}

/*
 * Something is left that was for a run alone, and that was never released: the host went down,
 * or the hook was killed. libvirt prepares no domain that runs; at its start this run has its
 * VFs already.
 */
static bool is_stale(const struct hook *h, const struct vfctl_lease *lease)
{
	bool stale = lease->transient || (lease->running && !was_running(h, lease));

	for (size_t i = 0; i < lease->vf_count && !h->starts; i++)
		stale |= lease->vfs[i].transient;
	return stale;
}

static int end_stale(struct hook *h, struct store *store, struct vfctl_leases **io)
{
	const struct vfctl_lease *own = vfctl_leases_find_uuid(*io, h->intent.uuid);
	int r = 0;

	if (!own || !is_stale(h, own))
		return 0;
	r = run_end(h->ctx, store, own);
	if (r < 0)
		return r;
	vfctl_leases_free(*io);
	*io = NULL;
	return store_read(store, NULL, io);
}

static int prepare_locked(struct hook *h)
{
	_leases_ struct vfctl_leases *leases = NULL;
	_store_ struct store *store = NULL;
	int r = store_open(h->ctx, STORE_WRITE, &store);

	if (r == 0)
		r = store_read(store, NULL, &leases);
	if (r == 0)
		r = end_stale(h, store, &leases);
	return r < 0 ? r : prepare_vfs(h, store, leases);
}

static int prepare(struct hook *h)
{
	struct grant_facts facts = {h->spec, &h->intent, NULL};
	_leases_ struct vfctl_leases *leases = NULL;
	_pf_locks_ struct pf_locks locks = {.count = 0};
	_store_ struct store *store = NULL; /* for all that follows: opened once */
	int r = check_intent(h->ctx, &h->intent);

	if (r == 0 && h->intent.vf_count)
		r = store_open(h->ctx, STORE_WRITE, &store);

	if (r == 0)
		r = vfctl_leases_read(h->ctx, &leases);
	if (r < 0)
		return r;
	facts.leases = leases;
	r = grant_check_devices(h->ctx, &facts);
	if (r < 0 || (!h->intent.vf_count && !vfctl_leases_find_uuid(leases, h->intent.uuid)))
		return r;
	r = lock_pfs(h, leases, &locks);
	return r < 0 ? r : prepare_locked(h);
}

/*
 * By now libvirt has chosen the VFs that it gives from a network's pool, and set their MAC and
 * VLAN; QEMU does not run yet. A VF that is leased to the domain gets its policy now if it
 * had none at prepare; the others were looked at before, but may have been leased since.
 */
static int start(struct hook *h)
{
	_leases_ struct vfctl_leases *leases = NULL;
	_pf_locks_ struct pf_locks locks = {.count = 0};
	struct grant_facts facts = {h->spec, &h->intent, NULL};
	int r = vfctl_leases_read(h->ctx, &leases);

	if (r < 0)
		return r;
	h->starts = true;
	facts.leases = leases;
	r = grant_check_devices(h->ctx, &facts);
	if (r < 0 || !grant_lease(&facts))
		return r;
	r = lock_pfs(h, leases, &locks);
	return r < 0 ? r : prepare_locked(h);
}

/* ---- the rest of a run ---- */

#define RETURN_WITH "; what it may hold is returned with: vfctl release %s"

/* A daemon that starts again finds the guest running: so does a lease that says otherwise. */
static int reconnect(struct hook *h)
{
	_leases_ struct vfctl_leases *leases = NULL;
	_store_ struct store *store = NULL;
	char boot[VFCTL_UUID_TEXT];
	int r;

	if (access(h->ctx->state_path, F_OK) < 0)
		return 0; /* nothing was ever leased */
	r = store_open(h->ctx, STORE_WRITE, &store);
	if (r == 0)
		r = store_read(store, h->intent.uuid, &leases);
	if (r < 0 || !leases->count || !leases->v[0].running)
		return r;
	boot_id_read(h->ctx, boot);
	return store_begin_run(store, leases->v[0].id, h->intent.name, boot);
}

static int release_locked(struct hook *h)
{
	_leases_ struct vfctl_leases *leases = NULL;
	_store_ struct store *store = NULL;
	int r = store_open(h->ctx, STORE_WRITE, &store);

	if (r == 0)
		r = store_read(store, h->intent.uuid, &leases);
	if (r < 0)
		return ctx_append(h->ctx, r, RETURN_WITH, h->intent.name);
	return leases->count ? run_end(h->ctx, store, &leases->v[0]) : 0;
}

/* By the UUID: what the metadata says by now is no matter. */
static int release(struct hook *h)
{
	_leases_ struct vfctl_leases *leases = NULL;
	_pf_locks_ struct pf_locks locks = {.count = 0};
	int r = vfctl_leases_read(h->ctx, &leases);

	if (r == 0 && !vfctl_leases_find_uuid(leases, h->intent.uuid))
		return 0;
	if (r == 0)
		r = lock_pfs(h, leases, &locks);
	if (r < 0)
		return ctx_append(h->ctx, r, RETURN_WITH, h->intent.name);
	return release_locked(h);
}

/*
 * Operations that need work (docs/architecture.md). migrate and restore come before prepare,
 * which does it all; stopped comes before libvirt gave the VFs back.
 */
static const struct {
	const char *operation;
	int (*run)(struct hook *h);
	bool may_fail; /* a failure stops the guest's start */
	bool reads_metadata;
} operations[] = {
	{"prepare", prepare, true, true},
	{"start", start, true, true},
	{"reconnect", reconnect, false, false},
	{"release", release, false, false},
};

int vfctl_hook_qemu(struct vfctl_ctx *ctx, const char *const argv[4], const char *xml,
	size_t len, const struct vfctl_host_spec *spec)
{
	_free_ struct hook *h = calloc(1, sizeof(*h));
	int r = 0;

	if (!h)
		return ctx_oom(ctx);
	h->ctx = ctx;
	h->spec = spec;
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		if (!str_eq(argv[1], operations[i].operation))
			continue;
		r = vfctl_domain_intent_read(ctx, xml, len, !operations[i].reads_metadata,
			&h->intent);
		if (r == 0)
			r = operations[i].run(h);
		if (r < 0 && !operations[i].may_fail) {
			log_warn(ctx, "%s", vfctl_ctx_error(ctx));
			r = 0;
		}
	}
	return r;
}
