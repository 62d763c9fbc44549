// SPDX-License-Identifier: GPL-2.0-or-later
#include "ids/values.h"

#include <errno.h>
#include <time.h>

#include "ids/store.h"

static const unsigned accepted[] = {
	[ROAD_GUEST] = VALUE_FREE | VALUE_OWN | VALUE_RESERVE, /* the claim takes it from there */
	[ROAD_ADOPT] = VALUE_FREE | VALUE_OWN | VALUE_RESERVE | VALUE_QUARANTINED,
	[ROAD_SET] = VALUE_FREE | VALUE_OWN,
	/* Found live without an owner, probably on this VF: it is not given to another owner. */
	[ROAD_START] = VALUE_FREE | VALUE_OWN | VALUE_RESERVE | VALUE_COOLING | VALUE_QUARANTINED,
};

struct check {
	struct vfctl_ctx *ctx;
	enum value_check road;
	struct value_facts facts;
	struct value_rows rows;
	const char *domain_uuid;
	struct vfctl_id row; /* the row to which facts points */
};

static void close_check(struct check *c)
{
	value_rows_close(&c->rows);
}

/* ---- the store of identities ---- */

static int look_up(const struct value_rows *rows, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret)
{
	struct id_store *store = rows->store;
	int r = store->ops->find(store, kind, value, ret);

	if (r == -ENOENT)
		ctx_clear(store->ctx);
	return r;
}

int value_rows_open(struct vfctl_ctx *ctx, struct value_rows *ret)
{
	struct id_store *store = NULL;
	int r = id_store_open(ctx, false, &store);

	*ret = (struct value_rows){.find = r == 0 ? look_up : NULL, .store = store};
	return r;
}

void value_rows_close(struct value_rows *rows)
{
	struct id_store *store = rows->store;

	if (store)
		store->ops->close(store);
	*rows = (struct value_rows){0};
}

static int find_row(struct check *c, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *row)
{
	int r = c->rows.find ? c->rows.find(&c->rows, kind, value, row) : -ENOENT;

	/* Stored in @c, because the facts outlive the caller's variables. */
	c->row = r == 0 ? *row : (struct vfctl_id){0};
	c->facts.row = r == 0 ? &c->row : NULL;
	return r == -ENOENT ? 0 : r;
}

/* ---- checking values ---- */

/* Values that a domain already has say by themselves which of its VFs are ports of a bond. */
static bool may_bond(enum value_check road, const struct vfctl_domain_vf *vf)
{
	return vf->bond || road == ROAD_START || road == ROAD_ADOPT;
}

static int check_value(struct check *c, const struct vfctl_domain_vf *vf,
	enum vfctl_id_kind kind, uint64_t value, bool *ret_note)
{
	const struct value_claim claim = {.kind = kind, .value = value,
		.domain_uuid = c->domain_uuid, .pf = &vf->pf, .vf = vf->index,
		.bond = may_bond(c->road, vf)};
	struct value_answer answer;
	struct vfctl_id row;
	int r = value ? find_row(c, kind, value, &row) : 0;

	if (r < 0 || !value)
		return r;
	answer = value_ask(&c->facts, &claim);
	if (!(answer.verdict & accepted[c->road]))
		return value_fail(c->ctx, &claim, &answer, c->facts.now);
	if (ret_note && kind == VFCTL_ID_GUID && c->facts.row)
		*ret_note |= row.state == VFCTL_ID_RESTING || row.state == VFCTL_ID_BLOCK;
	return 0;
}

static int check_vf(struct check *c, const struct vfctl_domain_vf *vf, bool *ret_note)
{
	const struct vfctl_vf_attrs *a = &vf->attrs;
	int r = 0;

	if (a->mask & VFCTL_ATTR_MAC)
		r = check_value(c, vf, VFCTL_ID_MAC, mac_number(&a->mac), NULL);
	if (r == 0 && a->mask & VFCTL_ATTR_PORT_GUID)
		r = check_value(c, vf, VFCTL_ID_GUID, a->port_guid, ret_note);
	if (r == 0 && a->mask & VFCTL_ATTR_NODE_GUID &&
		!(a->mask & VFCTL_ATTR_PORT_GUID && a->port_guid == a->node_guid))
		r = check_value(c, vf, VFCTL_ID_GUID, a->node_guid, NULL);
	return r;
}

static int check_twins(struct vfctl_ctx *ctx, const struct vfctl_domain_vf *a,
	const struct vfctl_domain_vf *b, enum value_check road)
{
	const struct vfctl_vf_attrs *of = &a->attrs;
	enum vfctl_id_kind kind = VFCTL_ID_GUID;
	uint64_t value = 0;
	bool apart = vfctl_bdf_compare(&a->pf, &b->pf) != 0;
	char text[VFCTL_ID_TEXT];

	if (of->mask & VFCTL_ATTR_MAC && attrs_carry(&b->attrs, VFCTL_ID_MAC,
		mac_number(&of->mac)) && !(apart && may_bond(road, a) && may_bond(road, b))) {
		kind = VFCTL_ID_MAC;
		value = mac_number(&of->mac);
	} else if (of->mask & VFCTL_ATTR_PORT_GUID && attrs_carry(&b->attrs, kind,
		of->port_guid)) {
		value = of->port_guid;
	} else if (of->mask & VFCTL_ATTR_NODE_GUID && attrs_carry(&b->attrs, kind,
		of->node_guid)) {
		value = of->node_guid;
	}
	if (!value)
		return 0;
	return ctx_fail(ctx, -EEXIST, "VFs %s and %s would both have %s; give one of them another%s",
		TEXT(&a->bdf), TEXT(&b->bdf), vfctl_id_format(kind, value, text),
		kind == VFCTL_ID_MAC && apart && road == ROAD_GUEST ?
		", or declare them as ports of a bond in the guest (bond: in guest.yaml)" : "");
}

int values_check_twins(struct vfctl_ctx *ctx, enum value_check road,
	const struct vfctl_domain_vf *vfs, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		for (size_t k = 0; k < i && r == 0; k++)
			r = check_twins(ctx, &vfs[i], &vfs[k], road);
	return r;
}

static bool has_values(const struct vfctl_domain_vf *vfs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (vfs[i].attrs.mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS))
			return true;
	return false;
}

int values_check(struct vfctl_ctx *ctx, enum value_check road, const struct value_facts *facts,
	const char *domain_uuid, const struct vfctl_domain_vf *vfs, size_t count,
	bool *ret_note)
{
	_cleanup_(close_check) struct check c = {ctx, road, *facts, {0}, domain_uuid, {0}};
	int r = has_values(vfs, count) ? value_rows_open(ctx, &c.rows) : 0;

	c.facts.now = (int64_t)time(NULL);
	for (size_t i = 0; i < count && r == 0; i++)
		r = check_vf(&c, &vfs[i], ret_note ? &ret_note[i] : NULL);
	return r < 0 ? r : values_check_twins(ctx, road, vfs, count);
}

/* ---- values that were not requested ---- */

int values_check_guest(struct vfctl_ctx *ctx, enum value_check road,
	const struct vfctl_snapshot *snapshot, const char *domain_uuid,
	const struct vfctl_domain_vf *vfs, size_t count)
{
	struct value_facts facts = {.leases = snapshot->leases, .changing = vfs, .changing_count = count};
	int r = live_from_inventory(ctx, snapshot->inventory, &facts.live);

	if (r == 0)
		r = values_check(ctx, road, &facts, domain_uuid, vfs, count, NULL);
	live_values_clear(&facts.live);
	return r;
}

int values_choose(struct vfctl_ctx *ctx, const struct value_facts *facts, const char *domain_uuid,
	enum vfctl_id_kind kind, uint64_t own, const struct vfctl_pf *pf, uint32_t vf,
	uint64_t *ret)
{
	const struct value_claim claim = {.kind = kind, .value = own, .domain_uuid = domain_uuid,
		.pf = &pf->bdf, .vf = vf};
	_cleanup_(close_check) struct check c = {ctx, ROAD_GUEST, *facts, {0}, domain_uuid, {0}};
	struct vfctl_id row;
	int r = value_rows_open(ctx, &c.rows);

	c.facts.now = (int64_t)time(NULL);
	if (r == 0 && own)
		r = find_row(&c, kind, own, &row);
	if (r < 0)
		return r;
	if (own && value_ask(&c.facts, &claim).verdict & accepted[ROAD_GUEST]) {
		*ret = own;
		return 0;
	}
	return identity_derive(ctx, &c.facts, &c.rows, domain_uuid, kind, pf, vf, ret);
}

int values_renew(struct vfctl_ctx *ctx, const struct value_facts *facts, uint32_t mask,
	const struct vfctl_pf *pf, uint32_t vf, struct vfctl_vf_attrs *io)
{
	uint64_t mac = 0, guid = 0;
	int r = 0;

	if (mask & VFCTL_ATTR_MAC)
		r = values_choose(ctx, facts, NULL, VFCTL_ID_MAC, 0, pf, vf, &mac);
	if (r == 0 && mask & VFCTL_ATTR_GUIDS)
		r = values_choose(ctx, facts, NULL, VFCTL_ID_GUID, 0, pf, vf, &guid);
	if (r < 0)
		return r;
	if (mask & VFCTL_ATTR_MAC)
		io->mac = mac_of_number(mac);
	if (mask & VFCTL_ATTR_GUIDS) /* a VF has one port: the same value for both GUIDs */
		io->node_guid = io->port_guid = guid;
	io->mask |= mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS);
	return 0;
}
