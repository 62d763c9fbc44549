// SPDX-License-Identifier: GPL-2.0-or-later
/* The MACs and GUIDs of new VFs: stable, and unique on this host. */
#include "types/find.h"
#include "vfs/create.h"

#include <errno.h>
#include <time.h>

#include "base/vfattr.h"
#include "drivers/driver.h"
#include "ids/live.h"
#include "infiniband/vf.h"
#include "sriov/holder.h"
#include "sriov/ops.h"

const struct vfctl_vf_attrs *create_asked(const struct create *c, uint32_t vf)
{
	for (size_t i = 0; i < c->options->range_count; i++)
		if (vf >= c->options->ranges[i].first && vf <= c->options->ranges[i].last)
			return &c->options->ranges[i].attrs;
	return NULL;
}

/* A value that is allocated here, or that the caller stated, must not have another owner. */
static int keep_clear(struct vfctl_ctx *ctx, struct create *c, uint32_t vf,
	const struct vfctl_vf_attrs *attrs)
{
	return live_add_vf(ctx, &c->facts.live, c->pf, vf, attrs);
}

static int change_mac(struct vfctl_ctx *ctx, struct create *c, struct vf_attr_change *change)
{
	uint64_t mac;
	int r = identity_derive(ctx, &c->facts, c->rows, NULL, VFCTL_ID_MAC, c->pf, change->vf, &mac);

	if (r < 0)
		return r;
	change->attrs.mask = VFCTL_ATTR_MAC;
	change->attrs.mac = mac_of_number(mac);
	return 0;
}

/*
 * Set the link policy too: mlx5 keeps that of an earlier VF while its driver is loaded, and the
 * firmware's default may be Down (autotest/tp-libvirt PR 1547). One value for node and port: a VF
 * has one port (sriovnet and the operators do the same).
 */
static int change_guid(struct vfctl_ctx *ctx, struct create *c, struct vf_attr_change *change)
{
	uint64_t guid = c->guids ? c->guids[change->vf] : 0;
	int r = c->guids ? 0 : identity_derive(ctx, &c->facts, c->rows, NULL, VFCTL_ID_GUID,
		c->pf, change->vf, &guid);

	if (r < 0)
		return r;
	change->rebind = true;
	change->attrs = (struct vfctl_vf_attrs){.mask = VFCTL_ATTR_GUIDS | VFCTL_ATTR_LINK_STATE |
		c->keys, .pkey = c->pkey, .link_state = VFCTL_LINK_STATE_AUTO};
	change->attrs.node_guid = change->attrs.port_guid = guid;
	change->attrs.mask &= ~c->lacks;
	return 0;
}

static int change_identity(struct vfctl_ctx *ctx, struct create *c, uint32_t vf,
	const struct vfctl_bdf *bdf)
{
	const struct vfctl_vf_attrs *asked = create_asked(c, vf);
	struct vf_attr_change *change = &c->changes[c->change_count];
	int r;

	*change = (struct vf_attr_change){.vf = vf};
	if (bdf)
		change->bdf = *bdf;
	r = c->pf->infiniband ? change_guid(ctx, c, change) : change_mac(ctx, c, change);
	if (r < 0)
		return r;
	if (asked)
		attrs_copy(&change->attrs, asked, change->attrs.mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS));
	c->change_count++;
	return keep_clear(ctx, c, vf, &change->attrs);
}

/* It is known that it was never set: the create was interrupted, or the driver sets none. */
bool create_lacks_identity(const struct vfctl_vf *vf)
{
	const struct vfctl_vf_attrs *a = &vf->attrs;

	if (vf_is_busy(vf))
		return false;
	return (a->mask & VFCTL_ATTR_MAC && vfctl_mac_is_zero(&a->mac)) ||
		(a->mask & VFCTL_ATTR_PORT_GUID && vfctl_guid_fault(a->port_guid)) ||
		(a->mask & VFCTL_ATTR_NODE_GUID && vfctl_guid_fault(a->node_guid));
}

static bool needs_identities(const struct create *c)
{
	bool needs = c->anew;

	for (uint32_t i = 0; i < c->pf->num_vfs && !needs; i++)
		needs = create_lacks_identity(&c->pf->vfs[i]);
	return needs;
}

/*
 * Checked before anything is written: the driver must accept GUIDs, and there must be a GUID to
 * derive from.
 */
static int check_guids(struct vfctl_ctx *ctx, struct create *c)
{
	const struct ib_guid_ops *way = ib_guid_ops_of(ctx, c->pf);

	c->lacks = way->lacks;
	c->keys = c->pkey ? way->takes & VFCTL_ATTR_PKEY : 0;
	if (!(way->takes & VFCTL_ATTR_PORT_GUID) && !c->pf->ifindex)
		return ctx_fail(ctx, -EOPNOTSUPP, "%s has no IPoIB network device, through which the "
			"GUIDs of its VFs are set; run: modprobe ib_ipoib (or, for VFs without GUIDs, "
			"use --keep-identities)", c->name);
	if (c->pkey && !c->guids && !c->keys)
		return ctx_usage_error(ctx, -EINVAL, "a P_Key is recorded with a GUID of a pool: name a "
			"pool with --guid-pool, or declare one that derives from %s (derive: host)", c->name);
	if (!c->pf->guid && !c->guids)
		return ctx_fail(ctx, -ENODATA, "the port GUID of %s cannot be read, so no GUIDs can be "
			"derived for its VFs; name a pool with --guid-pool", c->name);
	return 0;
}

/* Read the live values, without those of VFs that this creation removes. */
static int read_live(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct create *c, struct live_values *ret)
{
	int r = live_from_inventory(ctx, inv, ret);

	if (r == 0 && c->anew)
		live_drop_vfs_of(ret, &c->pf->bdf);
	return r;
}

/* All new VFs get one, and those present ones that have none. */
int create_plan_identities(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	struct create *c)
{
	const struct vfctl_pf *pf = c->pf;
	int r = pf->infiniband && needs_identities(c) ? check_guids(ctx, c) : 0;

	if (r == 0)
		r = read_live(ctx, inv, c, &c->facts.live);
	for (size_t i = 0; r == 0 && i < c->options->range_count; i++)
		r = keep_clear(ctx, c, c->options->ranges[i].first, &c->options->ranges[i].attrs);
	if (r == 0)
		c->changes = calloc(c->count, sizeof(*c->changes));
	if (r == 0 && !c->changes)
		r = ctx_oom(ctx);
	c->facts.now = (int64_t)time(NULL);
	for (uint32_t i = 0; r == 0 && i < c->count; i++) {
		if (c->anew)
			r = change_identity(ctx, c, i, NULL);
		else if (create_lacks_identity(&pf->vfs[i]))
			r = change_identity(ctx, c, pf->vfs[i].index, &pf->vfs[i].bdf);
	}
	live_values_clear(&c->facts.live);
	return r;
}

static void identity_text(const struct create *c, const struct vf_attr_change *change,
	char text[VFCTL_GUID_TEXT])
{
	if (c->pf->infiniband)
		vfctl_guid_format(change->attrs.port_guid, text);
	else
		vfctl_mac_format(&change->attrs.mac, text);
}

/* Record the present values of a VF for the roll-back; a new one has none. */
static void add_identity_op(const struct create *c, const struct vf_attr_change *change,
	struct steps *steps)
{
	const struct vfctl_vf *vf = c->anew ? NULL
		: find_vf_number(c->pf->vfs, c->pf->num_vfs, change->vf);
	const struct vfctl_vf_attrs had = vf ? attrs_before(&vf->attrs, &change->attrs)
		: (struct vfctl_vf_attrs){0};

	step_attrs_op(steps, &op_vf_identity, &change->attrs, vf ? &had : NULL, "%s/%u",
		TEXT(&c->pf->bdf), change->vf);
}

void create_add_identity_step(struct vfctl_ctx *ctx, const struct create *c, struct steps *steps)
{
	const char *what = c->pf->infiniband ? "GUID" : "MAC";
	char first[VFCTL_GUID_TEXT], last[VFCTL_GUID_TEXT];
	const struct driver *driver = driver_vf_attrs(c->pf);
	const struct vf_attr_change *end;

	if (!c->change_count)
		return;
	if (!c->pf->infiniband && driver && driver->vf_lacks & VFCTL_ATTR_MAC) {
		log_warn(ctx, "%s: driver %s cannot set MACs; the VFs keep those of the driver", c->name,
			c->pf->driver);
		return;
	}
	end = &c->changes[c->change_count - 1];
	identity_text(c, &c->changes[0], first);
	identity_text(c, end, last);
	if (c->change_count == 1)
		step_begin(steps, "%s: give VF %u the %s %s", c->name, end->vf, what, first);
	else
		step_begin(steps, "%s: give VFs %u to %u their %ss (%s .. %s)", c->name,
			c->changes[0].vf, end->vf, what, first, last);
	for (uint32_t i = 0; i < c->change_count; i++)
		add_identity_op(c, &c->changes[i], steps);
}
