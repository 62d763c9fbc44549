// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The libvirt hook. At prepare it decides from the domain XML on standard input and from the lease
 * what the domain may have, writes its policy and reads it back; at release it restores everything.
 * It never calls libvirt, which waits for the hook (docs/dev/architecture.md). It holds the locks
 * of the PFs: prepare succeeds only if the policy is on the VFs, and no other vfctl changes it
 * until release.
 */
#include <errno.h>
#include <stdio.h>

#include "base/json.h"
#include "change/pf_locks.h"
#include "domain/definition.h"
#include "facts/snapshot/references.h"
#include "hook/grant.h"
#include "hook/hook.h"
#include "host/host.h"
#include "ids/values.h"
#include "lease/guest_run.h"
#include "lease/guest_tuning.h"
#include "lease/lease.h"
#include "lease/policy.h"
#include "lease/saved_image.h"
#include "pci/device.h"
#include "sriov/live_guids.h"
#include "state/leases.h"
#include "state/store.h"
#include "types/find.h"

struct vfctl_hook {
	struct vfctl_ctx *ctx;
	const struct operation *operation; /* NULL: it needs no work */
	const struct vfctl_host_spec *spec;
	struct vfctl_domain_intent intent;
	struct grant grant;
	bool starts; /* libvirt prepared it before */
	struct store *store; /* set once there is work to do: opened once for all of it */
};

/* libvirt is waiting: the merge of the log is left to the next process while the log is short. */
static int open_store(struct vfctl_hook *h)
{
	int r = h->store ? 0 : store_open(h->ctx, STORE_WRITE, &h->store);

	if (r == 0)
		store_leave_log(h->store);
	return r;
}

/* ---- the run, as operations ---- */

static int add_vf_step(struct vfctl_hook *h, const struct vfctl_domain_vf *vf, struct steps *steps)
{
	_free_ char *json = json_of_attrs(&vf->attrs);
	_free_ char *want = json ? str_format("%s/%u %s", TEXT(&vf->pf), vf->index, json) : NULL;

	if (!want)
		return ctx_oom(h->ctx);
	step_begin(steps, "record that the domain has VF %s, with these values", TEXT(&vf->bdf));
	step_op(steps, &op_run_vf, want, NULL, "%s/%s", h->intent.uuid, TEXT(&vf->bdf));
	return 0;
}

/* Plan the domain's new lease. A domain that is at "start" was prepared before, and has it. */
static int plan_lease(struct vfctl_hook *h, const struct vfctl_lease *lease, const bool *note,
	struct steps *steps)
{
	_free_ char *want = str_format("%s %s", lease ? lease->id : h->intent.uuid,
		h->intent.name);
	int r = want ? 0 : ctx_oom(h->ctx);

	if (!lease || !lease->running)
		step_add_op(steps, &op_run, want, "", h->intent.uuid, "domain %s runs%s",
			h->intent.name, lease ? "" : ", with a lease for this run");
	for (size_t i = 0; i < h->grant.count && r == 0; i++)
		if (note[i] || h->grant.sources[i] != GRANT_LEASE)
			r = add_vf_step(h, &h->grant.vfs[i], steps);
	return r;
}

/* ---- prepare ---- */

static bool is_leased_to(const struct vfctl_leases *leases, const struct vfctl_bdf *vf,
	const char *uuid)
{
	const struct vfctl_lease *lease = vfctl_leases_find_vf(leases, vf);

	return lease && str_eq(lease->domain_uuid, uuid);
}

/* A VF of the domain that is neither in its metadata nor leased to it; NULL if it has none. */
static const struct vfctl_bdf *find_other_vf(struct vfctl_ctx *ctx,
	const struct vfctl_domain_intent *intent, const struct vfctl_leases *leases)
{
	for (size_t i = 0; i < intent->device_count; i++) {
		const struct vfctl_bdf *bdf = &intent->devices[i].bdf;

		if (!find_intent_vf(intent, bdf) && !is_leased_to(leases, bdf, intent->uuid) &&
			pci_has(ctx, bdf, "physfn"))
			return bdf;
	}
	return NULL;
}

/*
 * The metadata names a VF that the definition does not have. An administrator removed the device,
 * and the domain starts without it, as with libvirt alone. Or the domain comes from another host,
 * whose VF had another address (virsh migrate --xml): the policy in the metadata is then for no VF
 * of this host.
 */
static int check_missing(struct vfctl_ctx *ctx, const struct vfctl_domain_intent *intent,
	const struct vfctl_leases *leases, const struct vfctl_bdf *vf)
{
	const struct vfctl_bdf *other = find_other_vf(ctx, intent, leases);

	if (is_leased_to(leases, vf, intent->uuid))
		log_warn(ctx, "it starts without VF %s, which its definition no longer has; to end "
			"the lease of that VF: vfctl detach %s --vf %s", TEXT(vf), intent->name, TEXT(vf));
	else if (other)
		return ctx_fail(ctx, -EPERM, "the metadata of domain %s names VF %s, but its definition has "
			"VF %s, and neither is leased to it on this host; correct one of them (virsh "
			"edit), or define the guest here before a migration to this host: vfctl define",
			intent->name, TEXT(vf), TEXT(other));
	else if (!vfctl_leases_find_uuid(leases, intent->uuid))
		log_warn(ctx, "it starts without VF %s, which its metadata names but its definition does "
			"not have", TEXT(vf));
	return 0;
}

static int check_intent(struct vfctl_ctx *ctx, const struct vfctl_domain_intent *intent,
	const struct vfctl_leases *leases)
{
	int r = 0;

	if (!intent->uuid[0] && (intent->lease_id[0] || intent->device_count))
		return ctx_fail(ctx, -EINVAL, "the domain XML has no UUID");
	for (size_t i = 0; i < intent->vf_count && r == 0; i++)
		if (!vfctl_domain_intent_device(intent, &intent->vfs[i].bdf))
			r = check_missing(ctx, intent, leases, &intent->vfs[i].bdf);
	return r;
}

/* No other function of this host may have the granted values. */
static int check_values(struct vfctl_hook *h, const struct vfctl_leases *leases, bool *ret_note)
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
		r = values_check(h->ctx, ROAD_START, &facts, h->intent.uuid, h->grant.vfs,
			h->grant.count, ret_note);
	live_values_clear(&facts.live);
	return r;
}

/* libvirt sets the MACs of <interface> devices by itself: none may belong to another domain. */
static int check_plain(struct vfctl_hook *h, const struct grant_facts *facts)
{
	_free_ struct vfctl_domain_vf *vfs = NULL;
	struct value_facts values = {.leases = facts->leases};
	size_t count;
	int r = grant_list_plain(h->ctx, facts, &vfs, &count);

	if (r < 0 || !count)
		return r;
	/* At "start" libvirt has set them already: the ports of a bond then have one MAC. */
	values.changing = vfs;
	values.changing_count = count;
	r = live_macs_read(h->ctx, &values.live);
	if (r == 0)
		r = values_check(h->ctx, ROAD_START, &values, h->intent.uuid, vfs, count, NULL);
	live_values_clear(&values.live);
	if (r != -EEXIST || !facts->spec || !facts->spec->duplicate_macs_warn)
		return r;
	log_warn(h->ctx, "it starts although %s (host.yaml: duplicate-macs: warn)",
		vfctl_ctx_error(h->ctx));
	ctx_clear(h->ctx);
	return 0;
}

/*
 * Done once for each VF that was leased when the kernel did not tell the identification of its PF.
 * If it cannot be recorded now, the next start does it.
 */
static void note_ports(struct vfctl_hook *h, port_id_text *ports)
{
	for (size_t i = 0; i < h->grant.count; i++)
		if (ports[i][0] && store_set_port(h->store, &h->grant.vfs[i].bdf, ports[i]) < 0)
			ctx_clear(h->ctx);
}

/* Called with the locks. A failure leaves everything as it was. */
static int prepare_vfs(struct vfctl_hook *h, const struct vfctl_leases *leases)
{
	const struct grant_facts facts = {h->spec, &h->intent, leases};
	const struct vfctl_lease *lease = grant_lease(&facts);
	struct tuning_start tuning = {.spec = h->spec, .intent = &h->intent, .lease = lease,
		.vfs = h->grant.vfs, .lock = -1};
	bool note[VFCTL_GUEST_VFS_MAX] = {false};
	port_id_text ports[VFCTL_GUEST_VFS_MAX] = {""};
	_steps_ struct steps steps = {0};
	int r = grant_decide(h->ctx, &facts, &h->grant);

	/*
	 * A domain with a lease but without VFs has a run too, because a VF may be plugged in
	 * later.
	 */
	if (r < 0 || (!h->grant.count && !lease))
		return r;
	if (h->grant.count)
		r = check_values(h, leases, note);
	if (r == 0)
		r = plan_lease(h, lease, note, &steps);
	if (r == 0)
		r = policy_plan(h->ctx, leases, h->grant.vfs, h->grant.count, &steps, ports,
			h->starts ? h->intent.uuid : NULL);
	tuning.vf_count = h->grant.count;
	if (r == 0 && !h->starts)
		r = tuning_plan(h->ctx, &tuning, &steps);
	if (r == 0)
		r = run_add(h->ctx, h->intent.uuid, h->intent.name, &steps);
	if (r == 0)
		note_ports(h, ports);
	if (r == 0 && tuning.left_out.len)
		log_warn(h->ctx, "%s", tuning.left_out.data);
	buf_free(&tuning.left_out);
	close_fd(&tuning.lock);
	return r;
}

static int lock_pfs(struct vfctl_hook *h, const struct vfctl_leases *leases, struct pf_locks *locks)
{
	const struct vfctl_lease *own = vfctl_leases_find_uuid(leases, h->intent.uuid);
	int r = 0;

	/*
	 * A device that is not a PF causes an error later; a lock with an arbitrary name would stay
	 * forever.
	 */
	for (size_t i = 0; i < h->intent.vf_count && r == 0; i++)
		if (pci_has(h->ctx, &h->intent.vfs[i].pf, "sriov_totalvfs"))
			r = pf_locks_add(h->ctx, locks, &h->intent.vfs[i].pf);
	for (size_t i = 0; own && i < own->vf_count && r == 0; i++)
		r = pf_locks_add(h->ctx, locks, &own->vfs[i].pf);
	return r < 0 ? r : pf_locks_take(h->ctx, locks);
}

static bool has_transient(const struct vfctl_lease *lease)
{
	bool some = lease && lease->transient;

	for (size_t i = 0; lease && i < lease->vf_count; i++)
		some |= lease->vfs[i].transient;
	return some;
}

/*
 * A run that was never released has effects left: the host crashed, or the hook was killed. libvirt
 * does not prepare a domain that runs; at "start" this run already has its VFs.
 */
static int end_stale(struct vfctl_hook *h, struct vfctl_leases **io)
{
	bool left = has_transient(vfctl_leases_find_uuid(*io, h->intent.uuid));
	enum run_state state;
	int r = run_look(h->ctx, h->intent.uuid, &state);

	if (r < 0 || (h->starts ? state == RUN_GOES_ON : state == RUN_NONE && !left))
		return r;
	r = run_end(h->ctx, h->intent.uuid);
	if (r < 0)
		return r;
	vfctl_leases_free(*io);
	*io = NULL;
	return store_read(h->store, NULL, io);
}

static int prepare_locked(struct vfctl_hook *h)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	int r = open_store(h);

	if (r == 0)
		r = store_read(h->store, NULL, &leases);
	if (r == 0)
		r = end_stale(h, &leases);
	return r < 0 ? r : prepare_vfs(h, leases);
}

static int prepare(struct vfctl_hook *h)
{
	struct grant_facts facts = {h->spec, &h->intent, NULL};
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	int r = h->intent.vf_count ? open_store(h) : 0;

	if (r == 0)
		r = vfctl_leases_read(h->ctx, &leases);
	if (r == 0)
		r = check_intent(h->ctx, &h->intent, leases);
	if (r < 0)
		return r;
	facts.leases = leases;
	r = grant_check_devices(h->ctx, &facts);
	if (r == 0)
		r = check_plain(h, &facts);
	if (r < 0 || (!h->intent.vf_count && !vfctl_leases_find_uuid(leases, h->intent.uuid)))
		return r;
	r = lock_pfs(h, leases, &locks);
	return r < 0 ? r : prepare_locked(h);
}

/*
 * At this point libvirt has chosen VFs from the pools of its networks, and set their MAC and VLAN;
 * QEMU does not run yet. A VF that is leased to the domain gets its policy now if it had none at
 * prepare. The other VFs were checked before, but may have been leased since.
 */
static int start(struct vfctl_hook *h)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	struct grant_facts facts = {h->spec, &h->intent, NULL};
	int r = vfctl_leases_read(h->ctx, &leases);

	if (r < 0)
		return r;
	h->starts = true;
	facts.leases = leases;
	r = grant_check_devices(h->ctx, &facts);
	if (r == 0)
		r = check_plain(h, &facts);
	if (r < 0 || !grant_lease(&facts))
		return r;
	r = open_store(h);
	if (r == 0)
		r = lock_pfs(h, leases, &locks);
	return r < 0 ? r : prepare_locked(h);
}

/* ---- reconnect and release ---- */

#define RETURN_WITH "; then reset its VFs with: vfctl release %s"

/* A restarted daemon finds the guest running. Correct a lease that says otherwise. */
static int reconnect(struct vfctl_hook *h)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease *own;
	int r = vfctl_leases_read(h->ctx, &leases);

	own = r == 0 ? vfctl_leases_find_uuid(leases, h->intent.uuid) : NULL;
	return own && own->running ? run_mark(h->ctx, own->domain_uuid, own->id, h->intent.name) : r;
}

/*
 * Uses the UUID: the present content of the metadata does not matter. libvirt calls this for each
 * domain that stops, and most of them never had a VF.
 */
static int release(struct vfctl_hook *h)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(pf_locks_clear) struct pf_locks locks = {.count = 0};
	bool has_vfs = vfctl_hook_interest(h->ctx, h) == VFCTL_HOOK_SRIOV;
	int r = vfctl_leases_read(h->ctx, &leases);

	if (r < 0 && !has_vfs)
		return r;

	if (r == 0 && !vfctl_leases_find_uuid(leases, h->intent.uuid))
		return 0;
	if (r == 0)
		r = open_store(h);
	if (r == 0)
		r = lock_pfs(h, leases, &locks);
	if (r < 0)
		return ctx_append(h->ctx, r, RETURN_WITH, h->intent.name);
	return run_end(h->ctx, h->intent.uuid);
}

/* ---- the domains that concern vfctl ---- */

static bool has_leased_vfs(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;

	if (vfctl_leases_read(ctx, &leases) < 0)
		return false;
	for (size_t i = 0; i < leases->count; i++)
		for (size_t k = 0; k < leases->v[i].vf_count; k++)
			if (vfctl_bdf_compare(&leases->v[i].vfs[k].pf, pf) == 0)
				return true;
	return false;
}

/*
 * A device that is absent may be a leased VF that was removed. Many GPUs and SSDs have the
 * capability and no VFs: as long as none of them is leased, files that cannot be read must not stop
 * their guest.
 */
static bool is_sriov(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	if (pci_has(ctx, bdf, "sriov_totalvfs"))
		return pci_has(ctx, bdf, "virtfn0") || has_leased_vfs(ctx, bdf);
	return pci_has(ctx, bdf, "physfn") || !pci_has(ctx, bdf, "class");
}

static enum vfctl_hook_interest interest_in(struct vfctl_ctx *ctx,
	const struct vfctl_domain_intent *intent)
{
	bool some = intent->device_count > 0;

	if (intent->lease_id[0] || intent->vf_count)
		return VFCTL_HOOK_SRIOV;
	for (size_t i = 0; i < intent->device_count; i++)
		if (is_sriov(ctx, &intent->devices[i].bdf))
			return VFCTL_HOOK_SRIOV;
	for (size_t i = 0; i < intent->reference_count; i++) {
		struct vfctl_bdf bdf;

		if (reference_function(ctx, &intent->references[i], &bdf) < 0)
			continue;
		if (is_sriov(ctx, &bdf))
			return VFCTL_HOOK_SRIOV;
		some = true;
	}
	return some ? VFCTL_HOOK_DEVICES : VFCTL_HOOK_NOTHING;
}

/*
 * Operations that need work (docs/dev/architecture.md). migrate and restore precede prepare, which
 * does everything; stopped comes before libvirt has returned the VFs.
 */
static const struct operation {
	const char *name;
	int (*run)(struct vfctl_hook *h);
	bool may_fail; /* a failure makes the guest's start fail */
	bool reads_metadata;
} operations[] = {
	{"prepare", prepare, true, true},
	{"start", start, true, true},
	{"reconnect", reconnect, false, false},
	{"release", release, false, false},
};

int vfctl_hook_begin(struct vfctl_ctx *ctx, const char *const argv[4], const char *xml, size_t len,
	struct vfctl_hook **ret)
{
	struct vfctl_hook *h = calloc(1, sizeof(*h));
	int r = 0;

	if (!h)
		return ctx_oom(ctx);
	h->ctx = ctx;
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (str_eq(argv[1], operations[i].name))
			h->operation = &operations[i];
	if (h->operation)
		r = vfctl_domain_intent_read(ctx, xml, len, !h->operation->reads_metadata, &h->intent);
	if (r < 0)
		free(h);
	else
		*ret = h;
	return r;
}

enum vfctl_hook_interest vfctl_hook_interest(struct vfctl_ctx *ctx, const struct vfctl_hook *h)
{
	enum vfctl_hook_interest interest = interest_in(ctx, &h->intent);

	ctx_clear(ctx);
	free(host_take_unread(ctx)); /* what matters is read again */
	return interest;
}

int vfctl_hook_run(struct vfctl_hook *h, const struct vfctl_host_spec *spec)
{
	int r;

	if (!h->operation)
		return 0;
	h->spec = spec;
	r = h->operation->run(h);
	if (h->operation->may_fail)
		r = saved_image_explain(h->ctx, r, h->intent.name);
	store_close(h->store);
	h->store = NULL;
	if (r < 0 && !h->operation->may_fail) {
		log_warn(h->ctx, "%s", vfctl_ctx_error(h->ctx));
		r = 0;
	}
	return r;
}

void vfctl_hook_free(struct vfctl_hook *h)
{
	free(h);
}
