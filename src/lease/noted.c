// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Record values that this host already uses: live, leased, or in the definition of a domain without
 * a lease.
 */
#include "lease/noted.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "facts/snapshot/domains.h"
#include "facts/snapshot/snapshot.h"
#include "ids/give.h"
#include "ids/live.h"
#include "ids/pools.h"
#include "lease/lease.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "types/find.h"

/* Values in the definitions of other domains that have no lease. */
static int look_at_domains(struct identities *io)
{
	static const struct vfctl_pf nowhere = {.netdev = ""};
	_cleanup_(known_domains_freep) struct known_domains *domains = NULL;
	int r = known_domains_read(io->ctx, &domains);

	for (size_t i = 0; r == 0 && i < domains->count; i++) {
		const struct known_domain *d = &domains->v[i];

		if (str_eq(d->uuid, io->owner.domain_uuid) ||
			(io->facts.leases && vfctl_leases_find_uuid(io->facts.leases, d->uuid)))
			continue;
		for (size_t k = 0; r == 0 && k < d->value_count; k++) {
			size_t before = io->facts.live.count;

			r = live_add_vf(io->ctx, &io->facts.live, &nowhere, LIVE_IN_DOMAIN, &d->values[k]);
			for (; before < io->facts.live.count; before++)
				snprintf(io->facts.live.v[before].name, sizeof(io->facts.live.v->name),
					"%.63s", d->name);
		}
	}
	return r;
}

int identities_look(struct identities *io, const struct vfctl_inventory *inventory,
	const struct vfctl_leases *leases)
{
	int r;

	io->facts.leases = leases;
	live_values_clear(&io->facts.live);
	r = live_from_inventory(io->ctx, inventory, &io->facts.live);
	/* A change has pools that quarantine these values: identities_note_live(). */
	return r < 0 || io->claim ? r : look_at_domains(io);
}

/* ---- live values ---- */

static int note_one(struct vfctl_ctx *ctx, struct vfctl_ids *ids, enum vfctl_id_kind kind,
	uint64_t value, const struct vfctl_id_owner *owner, const char *where)
{
	char text[VFCTL_ID_TEXT];
	struct vfctl_id id;
	int r;

	if (!value || !vfctl_ids_pool_of(ids, kind, value))
		return 0;
	r = vfctl_ids_find(ids, kind, value, &id);
	if (r != -ENOENT)
		return r < 0 ? r : 0;
	r = vfctl_ids_quarantine(ids, kind, value, owner, where);
	if (r == 1)
		log_warn(ctx, "%s is in use (%s) but not allocated from the pool: it is "
			"quarantined", vfctl_id_format(kind, value, text), where);
	return r < 0 ? r : 0;
}

static int note_attrs(struct vfctl_ctx *ctx, struct vfctl_ids *ids,
	const struct vfctl_vf_attrs *a, const struct vfctl_id_owner *owner, const char *where)
{
	int r = 0;

	if (a->mask & VFCTL_ATTR_PORT_GUID)
		r = note_one(ctx, ids, VFCTL_ID_GUID, a->port_guid, owner, where);
	if (r == 0 && a->mask & VFCTL_ATTR_NODE_GUID)
		r = note_one(ctx, ids, VFCTL_ID_GUID, a->node_guid, owner, where);
	if (r == 0 && a->mask & VFCTL_ATTR_MAC)
		r = note_one(ctx, ids, VFCTL_ID_MAC, mac_number(&a->mac), owner, where);
	return r;
}

static int note_pf(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const struct vfctl_pf *pf)
{
	char name[VFCTL_BDF_TEXT], where[64];
	int r;

	snprintf(where, sizeof(where), "PF %s", vfctl_pf_name(pf, name));
	r = note_one(ctx, ids, VFCTL_ID_GUID, pf->guid, NULL, where);
	if (r == 0)
		r = note_one(ctx, ids, VFCTL_ID_MAC, mac_number(&pf->mac), NULL, where);
	for (uint32_t k = 0; pf->vfs && k < pf->num_vfs && r == 0; k++) {
		snprintf(where, sizeof(where), "VF %s/%u", vfctl_pf_name(pf, name),
			pf->vfs[k].index);
		r = note_attrs(ctx, ids, &pf->vfs[k].attrs, NULL, where);
	}
	return r;
}

/* The values of a domain that is off are not live, but belong to it. */
static int note_lease(struct vfctl_ctx *ctx, struct vfctl_ids *ids,
	const struct vfctl_lease *lease)
{
	char where[64];
	int r = 0;

	snprintf(where, sizeof(where), "lease of domain %.40s", lease->domain_name);
	for (size_t i = 0; i < lease->vf_count && r == 0; i++)
		r = note_attrs(ctx, ids, &lease->vfs[i].intent, NULL, where);
	return r;
}

/* Its lease is lost, or vfctl never made one: at its start it gets the values of its definition. */
static int note_domain(struct vfctl_ctx *ctx, struct vfctl_ids *ids,
	const struct known_domain *domain)
{
	struct vfctl_id_owner owner = {0};
	char where[64];
	int r = 0;

	str_copy(owner.domain_uuid, sizeof(owner.domain_uuid), domain->uuid);
	str_copy(owner.domain_name, sizeof(owner.domain_name), domain->name);
	snprintf(where, sizeof(where), "definition of domain %.40s", domain->name);
	for (size_t i = 0; i < domain->value_count && r == 0; i++)
		r = note_attrs(ctx, ids, &domain->values[i], &owner, where);
	return r;
}

static int note_domains(struct vfctl_ctx *ctx, struct vfctl_ids *ids,
	const struct vfctl_leases *leases)
{
	_cleanup_(known_domains_freep) struct known_domains *domains = NULL;
	int r = known_domains_read(ctx, &domains);

	for (size_t i = 0; r == 0 && i < domains->count; i++)
		if (!leases || !vfctl_leases_find_uuid(leases, domains->v[i].uuid))
			r = note_domain(ctx, ids, &domains->v[i]);
	return r;
}

int identities_note_live(struct vfctl_ctx *ctx, struct vfctl_ids *ids,
	const struct vfctl_inventory *inventory, const struct vfctl_leases *leases)
{
	int r = note_domains(ctx, ids, leases);

	for (size_t i = 0; i < inventory->pf_count && r == 0; i++)
		r = note_pf(ctx, ids, &inventory->pfs[i]);
	for (size_t i = 0; leases && i < leases->count && r == 0; i++)
		r = note_lease(ctx, ids, &leases->v[i]);
	return r;
}

int vfctl_ids_note_host(struct vfctl_ctx *ctx, struct vfctl_ids *ids)
{
	struct vfctl_snapshot *s = NULL;
	int r = vfctl_snapshot_read(ctx, NULL, &s);

	if (r == 0)
		r = snapshot_need_leases(ctx, s);
	if (r == 0)
		r = identities_note_live(ctx, ids, s->inventory, s->leases);
	vfctl_snapshot_free(s);
	return r;
}

/* Whether the value belongs to another domain by its lease, or by its definition without one. */
static bool is_anothers(const struct value_answer *answer, const struct vfctl_id_owner *owner)
{
	if (answer->lease)
		return !str_eq(answer->lease->domain_uuid, owner->domain_uuid);
	return answer->live != NULL;
}

/*
 * A VF that is in use or leased may be that of the domain; a VF of the host may be the one meant.
 */
static bool may_be_owners(const struct vfctl_inventory *inv, const struct live_value *row,
	const struct vfctl_id_owner *owner)
{
	const struct vfctl_pf *pf = find_pf_at(inv, &row->pf);
	const struct vfctl_vf *vf = NULL;

	if (pf && row->vf != LIVE_OF_PF)
		vf = find_vf_number(pf->vfs, pf->num_vfs, row->vf);
	return vf && (!owner->domain_uuid[0] || vf_is_busy(vf) || vf->lease.name[0]);
}

/* The values of PFs and of VFs that another owner has or may get. */
static int look_at_functions(struct identities *io, const struct vfctl_inventory *inv)
{
	struct live_values *live = &io->facts.live;
	int r = live_from_inventory(io->ctx, inv, live);
	size_t n = 0;

	for (size_t i = 0; i < live->count; i++)
		if (!may_be_owners(inv, &live->v[i], &io->owner))
			live->v[n++] = live->v[i];
	live->count = n;
	return r;
}

int vfctl_ids_check_host(struct vfctl_ctx *ctx, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner)
{
	struct value_claim claim = {.kind = kind, .value = value, .domain_uuid = owner->domain_uuid};
	struct identities io = {.ctx = ctx, .owner = *owner};
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *s = NULL;
	struct value_answer answer;
	int r = vfctl_snapshot_read(ctx, NULL, &s);

	if (r == 0)
		r = snapshot_need_leases(ctx, s);
	if (r == 0)
		io.facts.leases = s->leases;
	if (r == 0)
		r = look_at_functions(&io, s->inventory);
	if (r == 0)
		r = look_at_domains(&io);
	if (r == 0) {
		answer = value_ask(&io.facts, &claim);
		if (is_anothers(&answer, owner))
			r = value_fail(ctx, &claim, &answer, time(NULL));
	}
	io.facts.leases = NULL;
	identities_clear(&io);
	return r;
}
