// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state file is lost: libvirt's domains, and in each what vfctl wrote of it -> leases that
 * are not there, with their values of pools -> two steps for each domain at most.
 */
#include <errno.h>
#include <stdio.h>

#include "base/change.h"
#include "base/owner.h"
#include "change/recover.h"
#include "facts/domains.h"
#include "facts/snapshot.h"
#include "guest/guest.h"
#include "host/host.h"
#include "lease/identity.h"
#include "lease/lease.h"
#include "lease/lease_text.h"
#include "lease/ops.h"
#include "vfctl/recover.h"
#include "vfctl/workflow.h"

struct rebuild {
	struct vfctl_snapshot *snapshot;
	struct vfctl_host_model *model;
	struct vfctl_domain_info *domains;
	size_t domain_count;
	struct vfctl_lease *lost; /* as many at most; their names owned here */
	size_t lost_count;
};

static void rebuild_clear(struct rebuild *r)
{
	for (size_t i = 0; i < r->lost_count; i++) {
		lease_clear(&r->lost[i]);
		free(r->lost[i].domain_name);
	}
	free(r->lost);
	vfctl_domain_infos_free(r->domains, r->domain_count);
	vfctl_model_free(r->model);
	vfctl_snapshot_free(r->snapshot);
}
#define _rebuild_ _cleanup_(rebuild_clear)

/* ---- what is lost ---- */

/* QEMU's CPUs that are neither the guest's nor the host's: whole cores, shared or not. */
static void find_qemu_cpus(const struct vfctl_host_model *m, const struct vfctl_assignment *a,
	struct vfctl_cpuset *ret)
{
	for (size_t i = 0; i < m->topology->core_count; i++) {
		const struct vfctl_cpuset *core = &m->topology->cores[i].cpus;

		if (vfctl_cpuset_intersects(core, &a->emulator_cpus) &&
			!vfctl_cpuset_intersects(core, &a->held_cpus) &&
			!vfctl_cpuset_intersects(core, &m->reserved_cpus) &&
			!vfctl_cpuset_intersects(core, &m->shared_cpus))
			vfctl_cpuset_or(ret, core);
	}
}

/* One that vfctl only gave VFs: where it runs is not for us to say. */
static int fill(struct vfctl_ctx *ctx, const struct rebuild *b, const char *xml,
	const struct vfctl_domain_intent *intent, struct vfctl_lease *l)
{
	const struct vfctl_assignment nowhere = {.node = VFCTL_NODE_NONE};
	struct vfctl_assignment *a = NULL;
	int r = vfctl_domain_placement(ctx, xml, b->model->topology, &a);

	if (r < 0 && r != -EINVAL)
		return r;
	if (r == -EINVAL)
		ctx_clear(ctx);
	r = lease_fill(ctx, a ? a : &nowhere, intent->vfs, intent->vf_count, l);
	if (a)
		find_qemu_cpus(b->model, a, &l->qemu_cpus);
	vfctl_domain_placement_free(a);
	return r;
}

/* A clone has the metadata of the domain that it was made of, which holds that lease. */
static bool is_clone(struct vfctl_ctx *ctx, const struct rebuild *b,
	const struct vfctl_domain_info *domain, const char *lease_id)
{
	const struct vfctl_leases *leases = b->snapshot->leases;

	for (size_t i = 0; leases && i < leases->count; i++)
		if (str_eq(leases->v[i].id, lease_id)) {
			log_warn(ctx, "domain %s is a clone of domain %s, which holds its lease: "
				"nothing is leased to %s; to make it a guest of its own: vfctl "
				"undefine %s --force, then define", domain->name,
				leases->v[i].domain_name, domain->name, domain->name);
			return true;
		}
	return false;
}

static int look_at(struct vfctl_ctx *ctx, struct rebuild *b,
	const struct vfctl_domain_info *domain)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	struct vfctl_lease *l = &b->lost[b->lost_count];
	int r = intent ? vfctl_domain_metadata_read(ctx, domain->xml, strlen(domain->xml), intent)
		       : ctx_oom(ctx);

	if (r == -ENOENT || (r == 0 && vfctl_leases_find_uuid(b->snapshot->leases, domain->uuid))) {
		ctx_clear(ctx);
		return 0;
	}
	if (r < 0)
		return ctx_prefix(ctx, r, "domain %s", domain->name);
	if (is_clone(ctx, b, domain, intent->lease_id))
		return 0;
	*l = (struct vfctl_lease){.running = domain->active, .transient = !domain->persistent,
		.domain_name = strdup(domain->name)};
	b->lost_count++;
	if (!l->domain_name)
		return ctx_oom(ctx);
	str_copy(l->id, sizeof(l->id), intent->lease_id);
	str_copy(l->domain_uuid, sizeof(l->domain_uuid), domain->uuid);
	return fill(ctx, b, domain->xml, intent, l);
}

static int look_at_all(struct vfctl_ctx *ctx, struct rebuild *b,
	const struct vfctl_place_options *options)
{
	int r = vfctl_snapshot_read(ctx, NULL, &b->snapshot);

	if (r == 0)
		r = snapshot_need_leases(ctx, b->snapshot);
	if (r == 0)
		r = vfctl_model_read(ctx, b->snapshot, options, &b->model);
	if (r == 0)
		r = options->hypervisor->list(ctx, options->hypervisor, &b->domains,
			&b->domain_count);
	if (r < 0)
		return r;
	b->lost = calloc(b->domain_count + 1, sizeof(*b->lost));
	if (!b->lost)
		return ctx_oom(ctx);
	for (size_t i = 0; i < b->domain_count && r == 0; i++)
		r = look_at(ctx, b, &b->domains[i]);
	return r;
}

/* ---- the steps ---- */

/* The GUID or MAC of one of its VFs, if a pool of ours may give it. */
static int add_value(struct vfctl_ctx *ctx, const struct vfctl_lease *l, size_t i,
	struct identities *io)
{
	const struct vfctl_vf_attrs *a = &l->vfs[i].intent;
	bool guid = a->mask & VFCTL_ATTR_PORT_GUID, mac = a->mask & VFCTL_ATTR_MAC;
	enum vfctl_id_kind kind = guid ? VFCTL_ID_GUID : VFCTL_ID_MAC;
	uint64_t value = guid ? a->port_guid : mac ? mac_number(&a->mac) : 0;
	char device[24];

	if (!value || !io->ids || !vfctl_ids_pool_of(io->ids, kind, value))
		return 0;
	snprintf(device, sizeof(device), "vf%zu", i);
	return identities_add(ctx, io, kind, value, device,
		a->mask & VFCTL_ATTR_PKEY ? a->pkey : 0);
}

static int add_steps(struct vfctl_ctx *ctx, const struct vfctl_lease *l, struct vfctl_ids *ids,
	struct vfctl_change *change)
{
	_identities_ struct identities io = {0};
	_free_ char *want = lease_to_text(l, NULL);
	char cpus[512];
	int r = want ? 0 : ctx_oom(ctx);

	identities_open(ctx, &io, ids, l->domain_uuid, l->domain_name, false);
	for (size_t i = 0; i < l->vf_count && r == 0; i++)
		r = add_value(ctx, l, i, &io);
	if (r == 0)
		r = identities_add_step(ctx, &io, change);
	vfctl_cpuset_format(&l->cpus, cpus, sizeof(cpus));
	step_add_op(&change->steps, &op_lease, want, "", l->domain_uuid,
		"lease %s%s%s%zu VF%s to domain %s again", cpus[0] ? "CPUs " : "", cpus,
		cpus[0] ? " and " : "", l->vf_count, l->vf_count == 1 ? "" : "s", l->domain_name);
	return r;
}

int vfctl_rebuild_plan(struct vfctl_ctx *ctx, const struct vfctl_place_options *options,
	bool dry_run, struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	_rebuild_ struct rebuild b = {0};
	int r = change_new(ctx, &change);

	if (r == 0 && !options->hypervisor)
		return ctx_fail(ctx, -EINVAL, "what guests hold is read from libvirt, which is not "
			"at hand");
	if (r == 0 && !dry_run)
		r = host_lock(ctx, HOST_LOCK_PLACEMENT, false, &change->placement_fd);
	if (r == 0)
		r = look_at_all(ctx, &b, options);
	if (r == 0)
		r = guest_journal(ctx, change, options->hypervisor, "recover --rebuild");
	for (size_t i = 0; i < b.lost_count && r == 0; i++)
		r = add_steps(ctx, &b.lost[i], options->ids, change);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
