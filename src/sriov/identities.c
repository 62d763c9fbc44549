// SPDX-License-Identifier: GPL-2.0-or-later
/* The MACs and GUIDs of new VFs: stable, and nobody else's on this host. */
#include "sriov/create.h"

#include <errno.h>

#include "infiniband/vf.h"
#include "sriov/holder.h"

/* Not every driver has VF attributes (ena, nvme): then there is nothing to give. */
static int apply_identities(struct vfctl_ctx *ctx, void *data)
{
	struct create *c = data;
	int r = attrs_write(ctx, c->pf, c->wishes, c->wish_count);

	if (r == -EOPNOTSUPP && !c->pf->infiniband) {
		log_warn(ctx, "%s: the driver %s cannot set MACs; the VFs keep its own", c->name,
			c->pf->driver);
		ctx_clear(ctx);
		return 0;
	}
	return r;
}

/* VFs that were there before keep what they had; new ones go with the count. */
static int undo_identities(struct vfctl_ctx *ctx, void *data)
{
	struct create *c = data;
	_free_ struct vf_wish *before = calloc(c->wish_count, sizeof(*before));
	uint32_t n = 0;

	if (!before)
		return ctx_oom(ctx);
	for (uint32_t i = 0; i < c->wish_count; i++)
		for (uint32_t k = 0; k < c->pf->num_vfs; k++)
			if (c->pf->vfs[k].index == c->wishes[i].vf)
				before[n++] = (struct vf_wish){c->wishes[i].vf, c->wishes[i].bdf,
					attrs_before(&c->pf->vfs[k].attrs, &c->wishes[i].attrs), true};
	return n ? attrs_restore(ctx, c->pf, before, n) : 0;
}

static bool carries(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *wish)
{
	if (wish->mask & VFCTL_ATTR_MAC)
		return a->mask & VFCTL_ATTR_MAC && !memcmp(&a->mac, &wish->mac, sizeof(a->mac));
	return (a->mask & VFCTL_ATTR_PORT_GUID && a->port_guid == wish->port_guid) ||
		(a->mask & VFCTL_ATTR_NODE_GUID && a->node_guid == wish->port_guid);
}

/* Promised to a domain, be it off, for another VF than this. */
static bool is_leased(const struct create *c, uint32_t vf, const struct vfctl_vf_attrs *wish)
{
	for (size_t i = 0; c->leases && i < c->leases->count; i++)
		for (size_t k = 0; k < c->leases->v[i].vf_count; k++) {
			const struct vfctl_lease_vf *of = &c->leases->v[i].vfs[k];

			if ((of->index != vf || vfctl_bdf_compare(&of->pf, &c->pf->bdf)) &&
				(carries(&of->intent, wish) || carries(&of->saved, wish)))
				return true;
		}
	return false;
}

static bool mac_taken(const struct vfctl_inventory *inv, const struct create *c, uint32_t vf,
	const struct vfctl_mac *mac)
{
	const struct vfctl_vf_attrs wish = {.mask = VFCTL_ATTR_MAC, .mac = *mac};

	if (is_leased(c, vf, &wish))
		return true;
	for (size_t i = 0; i < inv->pf_count; i++)
		if (!memcmp(&inv->pfs[i].mac, mac, sizeof(*mac)))
			return true;
	for (uint32_t i = 0; i < c->wish_count; i++)
		if (!memcmp(&c->wishes[i].attrs.mac, mac, sizeof(*mac)))
			return true;
	for (size_t i = 0; i < inv->pf_count; i++)
		for (uint32_t k = 0; inv->pfs[i].vfs && k < inv->pfs[i].num_vfs; k++)
			if ((&inv->pfs[i] != c->pf || c->pf->num_vfs == c->count) &&
				!memcmp(&inv->pfs[i].vfs[k].attrs.mac, mac, sizeof(*mac)))
				return true;
	return false;
}

static void wish_mac(const struct vfctl_inventory *inv, struct create *c, uint32_t vf,
	const struct vfctl_bdf *bdf)
{
	struct vf_wish wish = {.vf = vf, .attrs.mask = VFCTL_ATTR_MAC};
	uint32_t salt = 0;

	if (bdf)
		wish.bdf = *bdf;
	do
		wish.attrs.mac = mac_derive(&c->pf->mac, vf, salt++);
	while (mac_taken(inv, c, vf, &wish.attrs.mac));
	c->wishes[c->wish_count++] = wish;
}

static bool guid_taken(const struct vfctl_inventory *inv, const struct create *c, uint32_t vf,
	uint64_t guid)
{
	const struct vfctl_vf_attrs wish = {.mask = VFCTL_ATTR_PORT_GUID, .port_guid = guid};

	if (is_leased(c, vf, &wish))
		return true;
	for (uint32_t i = 0; i < c->wish_count; i++)
		if (c->wishes[i].attrs.port_guid == guid)
			return true;
	for (size_t i = 0; i < inv->pf_count; i++) {
		if (inv->pfs[i].guid == guid)
			return true;
		for (uint32_t k = 0; inv->pfs[i].vfs && k < inv->pfs[i].num_vfs; k++)
			if ((&inv->pfs[i] != c->pf || c->pf->num_vfs == c->count) &&
				inv->pfs[i].vfs[k].attrs.port_guid == guid)
				return true;
	}
	return false;
}

/*
 * The link policy as well: mlx5 keeps that of an earlier VF while its driver is loaded, and a
 * firmware may begin with Down (autotest/tp-libvirt PR 1547).
 * One value for node and port: a VF has one port (sriovnet and the operators do the same).
 * Numbers begin at 1 and, past those of the VFs, go on where one is taken.
 */
static void wish_guid(const struct vfctl_inventory *inv, struct create *c, uint32_t vf,
	const struct vfctl_bdf *bdf)
{
	struct vf_wish wish = {.vf = vf, .rebind = true, .attrs = {
		.mask = VFCTL_ATTR_GUIDS | VFCTL_ATTR_LINK_STATE | c->keys, .pkey = c->pkey,
		.link_state = VFCTL_LINK_STATE_AUTO}};
	uint64_t guid = c->guids ? c->guids[vf] : vfctl_guid_derive(c->pf->guid,
		(uint16_t)(vf + 1));

	for (uint32_t next = c->pf->total_vfs + 1; !c->guids && next < UINT16_MAX &&
		guid_taken(inv, c, vf, guid); next++)
		guid = vfctl_guid_derive(c->pf->guid, (uint16_t)next);
	if (bdf)
		wish.bdf = *bdf;
	wish.attrs.node_guid = wish.attrs.port_guid = guid;
	wish.attrs.mask &= ~c->lacks;
	c->wishes[c->wish_count++] = wish;
}

static void wish_identity(const struct vfctl_inventory *inv, struct create *c, uint32_t vf,
	const struct vfctl_bdf *bdf)
{
	if (c->pf->infiniband)
		wish_guid(inv, c, vf, bdf);
	else
		wish_mac(inv, c, vf, bdf);
}

/* Known, and never set: a create cut short, or a driver that gives none. */
static bool has_none(const struct vfctl_vf *vf)
{
	const struct vfctl_vf_attrs *a = &vf->attrs;

	return (a->mask & VFCTL_ATTR_MAC && vfctl_mac_is_zero(&a->mac)) ||
		(a->mask & VFCTL_ATTR_PORT_GUID && vfctl_guid_fault(a->port_guid)) ||
		(a->mask & VFCTL_ATTR_NODE_GUID && vfctl_guid_fault(a->node_guid));
}

/* GUIDs need a way to the driver and something to derive from: before anything is written. */
static int check_guids(struct vfctl_ctx *ctx, struct create *c)
{
	const struct ib_vf_way *way = ib_vf_way_of(ctx, c->pf);

	c->lacks = way->lacks;
	c->keys = c->pkey ? way->takes & VFCTL_ATTR_PKEY : 0;
	c->live = way->live;
	if (!(way->takes & VFCTL_ATTR_PORT_GUID) && !c->pf->ifindex)
		return ctx_fail(ctx, -EOPNOTSUPP, "%s has no IPoIB network device, and its VFs' "
			"GUIDs are set through that: modprobe ib_ipoib (or, for VFs without GUIDs, "
			"--keep-identities)", c->name);
	if (c->pkey && !c->guids && !c->keys)
		return ctx_fail(ctx, -EINVAL, "a P_Key is noted with a GUID of a pool: name one with "
			"--guid-pool, or declare one that derives from %s (derive: host)", c->name);
	if (!c->pf->guid && !c->guids)
		return ctx_fail(ctx, -ENODATA, "the GUID of %s's own port cannot be read, so none "
			"can be derived for its VFs; name a pool with --guid-pool", c->name);
	return 0;
}

/* New VFs all get one; of present ones those that have none. */
int create_plan_identities(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	struct create *c)
{
	const struct vfctl_pf *pf = c->pf;
	int r = pf->infiniband ? check_guids(ctx, c) : 0;

	if (r < 0)
		return r;
	c->wishes = calloc(c->count, sizeof(*c->wishes));
	if (!c->wishes)
		return ctx_oom(ctx);
	for (uint32_t i = 0; i < c->count; i++) {
		if (pf->num_vfs != c->count)
			wish_identity(inv, c, i, NULL);
		else if (has_none(&pf->vfs[i]) && !vf_is_busy(&pf->vfs[i]))
			wish_identity(inv, c, pf->vfs[i].index, &pf->vfs[i].bdf);
	}
	return 0;
}

static void identity_text(const struct create *c, const struct vf_wish *wish,
	char text[VFCTL_GUID_TEXT])
{
	if (c->pf->infiniband)
		vfctl_guid_format(wish->attrs.port_guid, text);
	else
		vfctl_mac_format(&wish->attrs.mac, text);
}

void create_add_identity_step(struct create *c, struct steps *steps)
{
	struct step row = {.apply = apply_identities, .data = c};
	const char *what = c->pf->infiniband ? "GUID" : "MAC";
	char first[VFCTL_GUID_TEXT], last[VFCTL_GUID_TEXT];
	const struct vf_wish *end;

	if (!c->wish_count)
		return;
	if (c->pf->num_vfs == c->count)
		row.undo = undo_identities;
	end = &c->wishes[c->wish_count - 1];
	identity_text(c, &c->wishes[0], first);
	identity_text(c, end, last);
	if (c->wish_count == 1)
		steps_add(steps, &row, "%s: give VF %u the %s %s", c->name, end->vf, what, first);
	else
		steps_add(steps, &row, "%s: give VFs %u to %u their %ss (%s .. %s)", c->name,
			c->wishes[0].vf, end->vf, what, first, last);
}
