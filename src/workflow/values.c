// SPDX-License-Identifier: GPL-2.0-or-later
#include "workflow/values.h"

#include <errno.h>

#include "base/ctx.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

/* One value of a VF that somebody wants. */
struct claim {
	enum vfctl_id_kind kind;
	uint64_t value;
	const char *domain_uuid;
	const struct vfctl_domain_vf *vf;
};

static bool carries(const struct vfctl_vf_attrs *a, const struct claim *c)
{
	if (c->kind == VFCTL_ID_MAC)
		return a->mask & VFCTL_ATTR_MAC && mac_number(&a->mac) == c->value;
	return (a->mask & VFCTL_ATTR_PORT_GUID && a->port_guid == c->value) ||
		(a->mask & VFCTL_ATTR_NODE_GUID && a->node_guid == c->value);
}

/* It loses that value by the same change: it gets another of that kind. */
static bool is_changing(const struct value_facts *f, const struct live_value *row)
{
	uint32_t bits = row->kind == VFCTL_ID_MAC ? VFCTL_ATTR_MAC : VFCTL_ATTR_GUIDS;

	for (size_t i = 0; i < f->changing_count; i++)
		if (f->changing[i].index == row->vf &&
			vfctl_bdf_compare(&f->changing[i].pf, &row->pf) == 0)
			return (f->changing[i].attrs.mask & bits) == bits;
	return false;
}

static int check_live(struct vfctl_ctx *ctx, const struct value_facts *f,
	const struct claim *c)
{
	char text[VFCTL_ID_TEXT];

	for (size_t i = 0; i < f->live.count; i++) {
		const struct live_value *row = &f->live.v[i];

		if (row->kind != c->kind || row->value != c->value)
			continue;
		vfctl_id_format(c->kind, c->value, text);
		if (row->vf == LIVE_OF_PF)
			return ctx_fail(ctx, -EEXIST, "%s is the PF %s's own; choose another", text,
				row->name);
		if ((row->vf == c->vf->index &&
			    vfctl_bdf_compare(&row->pf, &c->vf->pf) == 0) ||
			is_changing(f, row))
			continue;
		return ctx_fail(ctx, -EEXIST, "%s is on %s/%u already; choose another, or give "
			"that VF another: vfctl set %s/%u %s=...", text, row->name, row->vf,
			row->name, row->vf, c->kind == VFCTL_ID_MAC ? "mac" : "guid");
	}
	return 0;
}

static int check_leased(struct vfctl_ctx *ctx, const struct vfctl_lease *l,
	const struct vfctl_lease_vf *of, const struct claim *c)
{
	bool same_vf = vfctl_bdf_compare(&of->bdf, &c->vf->bdf) == 0;
	char text[VFCTL_ID_TEXT];

	if (of->has_intent && carries(&of->intent, c) &&
		!(same_vf && str_eq(l->domain_uuid, c->domain_uuid)))
		return ctx_fail(ctx, -EEXIST, "%s is leased to domain %s, for VF %s; choose "
			"another", vfctl_id_format(c->kind, c->value, text), l->domain_name,
			TEXT(&of->bdf));
	if (!same_vf && carries(&of->saved, c))
		return ctx_fail(ctx, -EEXIST, "%s is the own %s of VF %s, which has it again when "
			"domain %s ends; choose another",
			vfctl_id_format(c->kind, c->value, text),
			c->kind == VFCTL_ID_MAC ? "MAC" : "GUID", TEXT(&of->bdf), l->domain_name);
	return 0;
}

/* Who has it by lease comes first: that says more than where it is live. */
static int check_one(struct vfctl_ctx *ctx, const struct value_facts *f,
	const struct claim *c)
{
	int r = 0;

	for (size_t i = 0; f->leases && i < f->leases->count && r == 0; i++)
		for (size_t k = 0; k < f->leases->v[i].vf_count && r == 0; k++)
			r = check_leased(ctx, &f->leases->v[i], &f->leases->v[i].vfs[k], c);
	return r < 0 ? r : check_live(ctx, f, c);
}

int values_check(struct vfctl_ctx *ctx, const struct value_facts *facts,
	const char *domain_uuid, const struct vfctl_domain_vf *vf)
{
	const struct vfctl_vf_attrs *a = &vf->attrs;
	struct claim c = {VFCTL_ID_MAC, mac_number(&a->mac), domain_uuid, vf};
	int r = 0;

	if (a->mask & VFCTL_ATTR_MAC && c.value)
		r = check_one(ctx, facts, &c);
	c.kind = VFCTL_ID_GUID;
	c.value = a->port_guid;
	if (r == 0 && a->mask & VFCTL_ATTR_PORT_GUID && c.value)
		r = check_one(ctx, facts, &c);
	c.value = a->node_guid;
	if (r == 0 && a->mask & VFCTL_ATTR_NODE_GUID && c.value &&
		!(a->mask & VFCTL_ATTR_PORT_GUID && a->port_guid == a->node_guid))
		r = check_one(ctx, facts, &c);
	return r;
}

static int check_twins(struct vfctl_ctx *ctx, const struct vfctl_domain_vf *a,
	const struct vfctl_domain_vf *b)
{
	const struct claim mac = {VFCTL_ID_MAC, mac_number(&a->attrs.mac), "", a};
	const struct claim port = {VFCTL_ID_GUID, a->attrs.port_guid, "", a};
	const struct claim node = {VFCTL_ID_GUID, a->attrs.node_guid, "", a};
	const struct claim *both = NULL;
	char text[VFCTL_ID_TEXT];

	if (a->attrs.mask & VFCTL_ATTR_MAC && mac.value && carries(&b->attrs, &mac))
		both = &mac;
	else if (a->attrs.mask & VFCTL_ATTR_PORT_GUID && port.value && carries(&b->attrs, &port))
		both = &port;
	else if (a->attrs.mask & VFCTL_ATTR_NODE_GUID && node.value && carries(&b->attrs, &node))
		both = &node;
	if (!both)
		return 0;
	return ctx_fail(ctx, -EEXIST, "VFs %s and %s would both have %s; give one of them another",
		TEXT(&a->bdf), TEXT(&b->bdf), vfctl_id_format(both->kind, both->value, text));
}

int values_check_all(struct vfctl_ctx *ctx, const struct value_facts *facts,
	const char *domain_uuid, const struct vfctl_domain_vf *vfs, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		r = values_check(ctx, facts, domain_uuid, &vfs[i]);
		for (size_t k = 0; k < i && r == 0; k++)
			r = check_twins(ctx, &vfs[i], &vfs[k]);
	}
	return r;
}
