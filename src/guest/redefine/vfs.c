// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The VFs of a guest that is defined again: match them with the entries, and find the new values of
 * each.
 */
#include <errno.h>

#include "base/vfattr.h"
#include "domain/definition.h"
#include "guest/redefine/redefine_op.h"
#include "ids/owner.h"
#include "ids/pools.h"
#include "lease/noted.h"
#include "sriov/inventory.h"
#include "types/find.h"

#define CLASS_NETWORK 0x02

/* ---- the requests of the file ---- */

static void add_slot(struct redefine_op *r, size_t entry, int cell)
{
	if (r->slot_count < VFCTL_GUEST_VFS_MAX)
		r->slots[r->slot_count++] = (struct slot){.entry = entry, .cell = cell, .has = -1};
}

static void make_slots(struct redefine_op *r)
{
	const struct vfctl_guest *g = r->q->guest;

	for (size_t i = 0; i < g->vf_count; i++) {
		const struct vfctl_guest_vf *want = &g->vfs[i];
		size_t cells = want->cell == VFCTL_CELL_EACH ? g->cell_count : 1;

		for (size_t c = 0; c < cells; c++)
			for (uint32_t n = 0; n < want->count; n++)
				add_slot(r, i, want->cell == VFCTL_CELL_EACH ? (int)c : want->cell);
	}
}

/* ---- the present VFs ---- */

const struct vfctl_lease_vf *redefine_leased(const struct redefine_op *r,
	const struct vfctl_bdf *vf)
{
	return find_leased_vf(r->lease, vf);
}

static int check_vf(struct vfctl_ctx *ctx, const struct redefine_op *r, const struct vfctl_bdf *vf)
{
	const char *name = r->q->info->name;

	if (!vfctl_domain_intent_device(&r->has.intent, vf) && !redefine_leased(r, vf))
		return ctx_fail(ctx, -EEXIST, "the metadata of domain %s names VF %s, which is neither "
			"a device of it nor leased to it; remove that: vfctl detach %s --vf %s", name,
			TEXT(vf), name, TEXT(vf));
	if (!vfctl_domain_intent_device(&r->has.intent, vf))
		return ctx_fail(ctx, -EEXIST, "VF %s was removed from the devices of domain %s; end its "
			"lease (vfctl detach %s --vf %s), or add the device again", TEXT(vf), name, name,
			TEXT(vf));
	if (!redefine_leased(r, vf))
		return ctx_fail(ctx, -EEXIST, "VF %s of domain %s is not leased to it; lease it with: "
			"vfctl attach %s --vf %s", TEXT(vf), name, name, TEXT(vf));
	return 0;
}

/*
 * Without its metadata a VF would look like one that left: its device and MAC would remain without
 * a lease.
 */
static int check_named(struct vfctl_ctx *ctx, const struct redefine_op *r)
{
	const char *name = r->q->info->name;

	for (size_t i = 0; i < r->lease->vf_count; i++) {
		const struct vfctl_lease_vf *vf = &r->lease->vfs[i];

		if (!vf->transient && !find_intent_vf(&r->has.intent, &vf->bdf) &&
			vfctl_domain_intent_device(&r->has.intent, &vf->bdf))
			return ctx_fail(ctx, -EEXIST, "vfctl's metadata of VF %s was removed from "
				"domain %s, which still has the VF; undo that (virsh edit %s), or "
				"define the domain again: vfctl undefine %s, then vfctl "
				"define", TEXT(&vf->bdf), name, name, name);
	}
	return 0;
}

/*
 * A VF's values are those of its lease: any user who may define domains may have written the
 * metadata.
 */
static void take_leased(struct redefine_op *r, struct vfctl_domain_vf *vf)
{
	const struct vfctl_lease_vf *row = redefine_leased(r, &vf->bdf);
	struct vfctl_vf_attrs said = vf->attrs;

	vf->pf = row->pf;
	vf->index = row->index;
	vf->attrs = row->intent;
	r->edited |= said.mask != row->intent.mask ||
		(attrs_equal(&said, &row->intent) & said.mask) != said.mask;
}

/* An entry of vfctl define states the VF's address on the host. */
static int read_attached(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	_free_ struct vfctl_free_vf *places = NULL;
	size_t count = 0;
	int e = metadata_read_places(ctx, r->q->info->xml, &places, &count);

	for (size_t i = 0; e == 0 && i < r->has.intent.vf_count; i++)
		for (size_t k = 0; k < count; k++)
			if (vfctl_bdf_compare(&places[k].bdf, &r->has.intent.vfs[i].bdf) == 0)
				r->attached[i] = places[k].node < 0 &&
					places[k].root == VFCTL_ROOT_UNKNOWN;
	return e;
}

/* ---- matching ---- */

/* @exact: it is as the entry requests; else it can be changed to that. */
static bool fits(struct vfctl_ctx *ctx, const struct redefine_op *r,
	const struct vfctl_guest_vf *want, const struct vfctl_domain_vf *have, bool exact)
{
	const struct vfctl_inventory *inv = r->placed->snapshot->inventory;
	const struct vfctl_pf *pf, *asked;
	struct vfctl_domain_vf as_asked;
	const struct vfctl_vf *vf;

	vf = vfctl_inventory_vf_at(inv, &have->bdf, &pf);
	if (!vf || (want->pf && (vfctl_inventory_find_pf(ctx, inv, want->pf, &asked) < 0 ||
			asked != pf)) ||
		(want->fabric != VFCTL_VF_FABRIC_ANY &&
			(want->fabric == VFCTL_VF_FABRIC_INFINIBAND) != pf->infiniband) ||
		(!want->pf && pf_is_another(pf, redefine_leased(r, &have->bdf)->port_id)))
		return false;
	guest_complete_vf(pf, vf, &want->attrs, want->form, &as_asked);
	return !exact || (as_asked.form == have->form &&
		!(as_asked.attrs.mask & ~attrs_equal(&as_asked.attrs, &have->attrs)));
}

/*
 * Entries may overlap, so this is a bipartite matching. One round: exact or not, for VFs of the
 * file or attached ones.
 */
struct round {
	bool fits[VFCTL_GUEST_VFS_MAX][VFCTL_GUEST_VFS_MAX];
	bool tried[VFCTL_GUEST_VFS_MAX];
	int slot_of[VFCTL_GUEST_VFS_MAX]; /* for each VF its slot; -1: none */
	size_t vf_count;
};

/*
 * First try a VF without a slot, so that VFs keep their order; else one whose slot can use another
 * VF.
 */
static bool find_one(struct round *m, int slot)
{
	for (size_t i = 0; i < m->vf_count; i++)
		if (m->fits[slot][i] && !m->tried[i] && m->slot_of[i] < 0) {
			m->slot_of[i] = slot;
			return true;
		}
	for (size_t i = 0; i < m->vf_count; i++) {
		if (!m->fits[slot][i] || m->tried[i])
			continue;
		m->tried[i] = true;
		if (find_one(m, m->slot_of[i])) {
			m->slot_of[i] = slot;
			return true;
		}
	}
	return false;
}

static void match_round(struct vfctl_ctx *ctx, struct redefine_op *r, struct round *m, bool exact,
	bool attached)
{
	m->vf_count = r->has.intent.vf_count;
	memset(m->fits, 0, sizeof(m->fits));
	memset(m->slot_of, 0xff, sizeof(m->slot_of));
	for (size_t s = 0; s < r->slot_count; s++) {
		if (r->slots[s].has >= 0)
			continue;
		for (size_t i = 0; i < m->vf_count; i++)
			m->fits[s][i] = !r->kept[i] && r->attached[i] == attached && fits(ctx, r,
				&r->q->guest->vfs[r->slots[s].entry], &r->has.intent.vfs[i], exact);
		memset(m->tried, 0, sizeof(m->tried));
		find_one(m, (int)s);
	}
	for (size_t i = 0; i < m->vf_count; i++)
		if (m->slot_of[i] >= 0) {
			r->slots[m->slot_of[i]].has = (int)i;
			r->kept[i] = true;
		}
}

static bool is_of_fabric(struct vfctl_ctx *ctx, const struct redefine_op *r,
	const struct vfctl_guest_vf *want, const struct vfctl_domain_vf *have)
{
	const struct vfctl_pf *pf;

	if (want->pf)
		return vfctl_inventory_find_pf(ctx, r->placed->snapshot->inventory, want->pf,
			&pf) == 0 && pf->infiniband == have->infiniband;
	return want->fabric == VFCTL_VF_FABRIC_ANY ||
		(want->fabric == VFCTL_VF_FABRIC_INFINIBAND) == have->infiniband;
}

/* An entry that now requests another PF: the guest's MAC or GUID moves with it. */
static void match_moving(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	bool taken[VFCTL_GUEST_VFS_MAX] = {false};

	for (size_t s = 0; s < r->slot_count; s++)
		for (size_t i = 0; r->slots[s].has < 0 && i < r->has.intent.vf_count; i++) {
			if (r->kept[i] || taken[i] || r->attached[i] || !is_of_fabric(ctx, r,
				&r->q->guest->vfs[r->slots[s].entry], &r->has.intent.vfs[i]))
				continue;
			taken[i] = r->slots[s].moves = true;
			r->slots[s].has = (int)i;
		}
}

/* Another PF now has the address of the PF from which it was leased. */
static bool is_of_another(struct vfctl_ctx *ctx, const struct redefine_op *r,
	const struct vfctl_domain_vf *have, const struct vfctl_pf **ret_pf)
{
	return vfctl_inventory_vf_at(r->placed->snapshot->inventory, &have->bdf, ret_pf) &&
		pf_is_another(*ret_pf, redefine_leased(r, &have->bdf)->port_id);
}

const struct vfctl_pf *redefine_moved_pf(const struct redefine_op *r, const struct vfctl_bdf *vf)
{
	return inventory_find_port(r->placed->snapshot->inventory, redefine_leased(r, vf)->port_id);
}

/*
 * A network device that may be the one searched for, because its identification is not known; NULL:
 * none.
 */
static const struct vfctl_pf *untold_pf(const struct redefine_op *r)
{
	const struct vfctl_inventory *inv = r->placed->snapshot->inventory;

	for (size_t i = 0; i < inv->pf_count; i++)
		if (!inv->pfs[i].port_id[0] && inv->pfs[i].class_code >> 16 == CLASS_NETWORK)
			return &inv->pfs[i];
	return NULL;
}

static int fail_moved(struct vfctl_ctx *ctx, const struct redefine_op *r, const struct slot *slot,
	const struct vfctl_pf *now)
{
	const struct vfctl_guest_vf *want = &r->q->guest->vfs[slot->entry];
	const struct vfctl_bdf *vf = &r->has.intent.vfs[slot->has].bdf;
	const char *name = r->q->info->name, *unread = r->placed->snapshot->inventory->unread;
	const struct vfctl_pf *untold = untold_pf(r);

	if (now)
		return ctx_fail(ctx, -EEXIST, "%s: vfs: %s is not the PF of VF %s, which domain %s "
			"got: that PF is now %s (%s); write that into the file, or remove the VF "
			"first: vfctl detach %s --vf %s", want->at, want->pf, TEXT(vf), name,
			vfctl_pf_name(now, (char[VFCTL_BDF_TEXT]){0}), TEXT(&now->bdf), name, TEXT(vf));
	return ctx_fail(ctx, -EIO, "nothing is changed: another PF has the address of the PF from "
		"which domain %s got VF %s, and that PF may be %s (%s); repair that, or remove the VF "
		"first: vfctl detach %s --vf %s", name, TEXT(vf), untold ? TEXT(&untold->bdf) : "here",
		untold && untold->unread ? untold->unread : untold ? "it has no network device" : unread,
		name, TEXT(vf));
}

/*
 * A name may match another PF after buses were renumbered, and the author of the file may not be
 * aware of that. As long as the guest's previous PF exists, only an administrator may give the
 * guest the other one.
 */
static int check_named_pfs(struct vfctl_ctx *ctx, const struct redefine_op *r)
{
	for (size_t s = 0; s < r->slot_count; s++) {
		const struct slot *slot = &r->slots[s];
		const struct vfctl_domain_vf *have = slot->has < 0 ? NULL : &r->has.intent.vfs[slot->has];
		const struct vfctl_pf *now, *pf;

		if (!have || (slot->moves && r->q->guest->vfs[slot->entry].pf) ||
			!is_of_another(ctx, r, have, &pf))
			continue;
		now = redefine_moved_pf(r, &have->bdf);
		if (now ? !slot->moves : untold_pf(r) || r->placed->snapshot->inventory->unread)
			return fail_moved(ctx, r, slot, now);
	}
	ctx_clear(ctx);
	return 0;
}

int redefine_match(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	_free_ struct round *m = calloc(1, sizeof(*m));
	int e = m ? read_attached(ctx, r) : ctx_oom(ctx);

	for (size_t i = 0; e == 0 && i < r->has.intent.vf_count; i++)
		e = check_vf(ctx, r, &r->has.intent.vfs[i].bdf);
	if (e == 0)
		e = check_named(ctx, r);
	if (e < 0)
		return e;
	for (size_t i = 0; i < r->has.intent.vf_count; i++)
		take_leased(r, &r->has.intent.vfs[i]);
	make_slots(r);
	for (int attached = 0; attached < 2; attached++) {
		match_round(ctx, r, m, true, attached);
		match_round(ctx, r, m, false, attached);
	}
	match_moving(ctx, r);
	/* The file need not contain attached VFs. */
	for (size_t i = 0; i < r->has.intent.vf_count; i++)
		r->kept[i] |= r->attached[i];
	ctx_clear(ctx);
	return check_named_pfs(ctx, r);
}

bool redefine_vfs_differ(struct vfctl_ctx *ctx, const struct redefine_op *r)
{
	const struct vfctl_pf *pf;
	bool differ = false;

	for (size_t i = 0; i < r->has.intent.vf_count; i++)
		differ |= !r->kept[i];
	for (size_t s = 0; s < r->slot_count; s++)
		differ |= r->slots[s].has < 0 || r->slots[s].moves || !fits(ctx, r,
			&r->q->guest->vfs[r->slots[s].entry], &r->has.intent.vfs[r->slots[s].has], true) ||
			is_of_another(ctx, r, &r->has.intent.vfs[r->slots[s].has], &pf);
	ctx_clear(ctx);
	return differ;
}

/* ---- the new values of each ---- */

/* Spoof check and trust are always set; identities stay with the domain. */
#define ASKED_BY_FILE \
	(attrs_with(VFCTL_ATTR_HAS_DEFAULT) & ~(VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST))

/* The request of the file, for any VF, when the domain was defined. */
static uint32_t asked_before(const struct redefine_op *r)
{
	uint32_t mask = 0;

	for (size_t i = 0; r->has.asked && i < r->has.asked->vf_count; i++)
		mask |= r->has.asked->vfs[i].attrs.mask;
	return mask & ASKED_BY_FILE;
}

/* Values that the file never contained are kept, except those that an earlier file contained. */
static void keep_others(const struct redefine_op *r, const struct vfctl_vf_attrs *has,
	struct vfctl_vf_attrs *io)
{
	uint32_t stay = has->mask & ~io->mask;

	if (!r->q->to)
		stay &= ~asked_before(r);
	attrs_copy(io, has, stay);
	/* Priority and protocol belong to a VLAN tag. */
	if (!(io->mask & VFCTL_ATTR_VLAN_ID) || !io->vlan)
		io->mask &= ~(uint32_t)(VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_VLAN_PROTO);
}

/* The name under which the domain has the value that @asked requests; else a new one. */
static int name_device(struct vfctl_ctx *ctx, const struct redefine_op *r,
	const struct vfctl_vf_attrs *asked, char device[16])
{
	bool guid = asked->mask & VFCTL_ATTR_PORT_GUID;
	struct vfctl_ids *ids = r->q->options->ids;
	struct vfctl_id id;
	int e = -ENOENT;

	if (ids && (guid || asked->mask & VFCTL_ATTR_MAC))
		e = vfctl_ids_find(ids, guid ? VFCTL_ID_GUID : VFCTL_ID_MAC,
			guid ? asked->port_guid : mac_number(&asked->mac), &id);
	if (e < 0 && e != -ENOENT)
		return e;
	ctx_clear(ctx);
	if (e == 0 && str_eq(id.owner.domain_uuid, r->q->info->uuid)) {
		str_copy(device, 16, id.owner.device);
		return 0;
	}
	return identities_new_device(ctx, &r->placed->identities, device);
}

static int new_identity(struct vfctl_ctx *ctx, struct redefine_op *r,
	const struct vfctl_guest_vf *want, const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	struct vfctl_domain_vf *out)
{
	char device[16];
	int e = name_device(ctx, r, &out->attrs, device);

	if (e == 0)
		e = guest_give_identity(ctx, &r->placed->identities, &want->identity, pf, vf, device,
			out);
	return e < 0 ? ctx_prefix(ctx, e, "%s: vfs", want->at) : 0;
}

/* The VF has left a bond: its MAC stays with another port, so it needs one of its own. */
static bool left_bond(const struct redefine_op *r, const struct vfctl_domain_vf *has,
	const struct vfctl_domain_vf *out)
{
	const struct vfctl_placement *p = r->placed;

	for (size_t i = 0; !out->bond && has->attrs.mask & VFCTL_ATTR_MAC && i < p->vf_count; i++)
		if (attrs_carry(&p->vfs[i].attrs, VFCTL_ID_MAC, mac_number(&has->attrs.mac)))
			return !(out->attrs.mask & VFCTL_ATTR_MAC);
	return false;
}

static int fill_slot(struct vfctl_ctx *ctx, struct redefine_op *r, const struct slot *s,
	const struct vfctl_bdf *bdf, struct vfctl_domain_vf *out)
{
	const struct vfctl_guest_vf *want = &r->q->guest->vfs[s->entry];
	const struct vfctl_domain_vf *has = s->has < 0 ? NULL : &r->has.intent.vfs[s->has];
	const uint32_t identity = VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	int shares, e = vfctl_inventory_find_vf(ctx, r->placed->snapshot->inventory, TEXT(bdf), &pf, &vf);

	if (e < 0)
		return e;
	if (pf->unread)
		return ctx_fail(ctx, -EIO, "nothing is changed: %s", pf->unread);
	e = guest_check_mtu(ctx, want, pf);
	if (e < 0)
		return e;
	guest_complete_vf(pf, vf, &want->attrs, want->form, out);
	shares = guest_share_mac(ctx, r->placed, want, out);
	if (shares < 0)
		return shares;
	if (!has)
		return shares ? 0 : new_identity(ctx, r, want, pf, vf, out);
	if (left_bond(r, has, out) || (!shares && out->attrs.mask & identity &&
		out->attrs.mask & identity & ~attrs_equal(&out->attrs, &has->attrs)))
		e = new_identity(ctx, r, want, pf, vf, out);
	keep_others(r, &has->attrs, &out->attrs);
	/* A new VF gets the same link state. */
	if (out->infiniband && !(out->attrs.mask & VFCTL_ATTR_LINK_STATE)) {
		out->attrs.mask |= VFCTL_ATTR_LINK_STATE;
		out->attrs.link_state = VFCTL_LINK_STATE_AUTO;
	}
	return e;
}

/* The domain's own VF if it is kept or, if its entry moves to another PF, the VF of the plan. */
int redefine_fill_vfs(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	const struct vfctl_place_options *o = r->q->options;
	const struct vfctl_assignment *a = vfctl_placement_assignment(r->placed);
	struct vfctl_placement *p = r->placed;
	int e = 0;

	/* Allocate space also for the VFs that leave it. */
	p->vfs = calloc(r->slot_count + r->has.intent.vf_count + r->lease->vf_count + 1, sizeof(*p->vfs));
	if (!p->vfs)
		return ctx_oom(ctx);
	identities_open(ctx, &p->identities, o->ids, r->q->info->uuid, r->q->guest->name,
		!r->q->dry_run);
	e = identities_look(&p->identities, p->snapshot->inventory, p->snapshot->leases);
	if (e == 0 && o->ids && !r->q->dry_run)
		e = identities_note_live(ctx, o->ids, p->snapshot->inventory, p->snapshot->leases);
	for (size_t s = 0; e == 0 && s < r->slot_count; s++) {
		const struct slot *slot = &r->slots[s];

		e = fill_slot(ctx, r, slot, slot->has < 0 || r->place ? &a->vfs[s].bdf
			: &r->has.intent.vfs[slot->has].bdf, &p->vfs[p->vf_count]);
		p->vf_count += e == 0;
	}
	for (size_t i = 0; e == 0 && i < r->has.intent.vf_count; i++) {
		bool answers = false;

		for (size_t s = 0; s < r->slot_count; s++)
			answers |= r->slots[s].has == (int)i;
		if (r->attached[i] && !answers)
			p->vfs[p->vf_count++] = r->has.intent.vfs[i];
	}
	return e;
}
