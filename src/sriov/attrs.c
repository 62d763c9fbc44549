// SPDX-License-Identifier: GPL-2.0-or-later
#include "sriov/attrs.h"

#include <errno.h>
#include <stdio.h>

#include "host/host.h"
#include "infiniband/vf.h"
#include "netlink/link.h"
#include "pci/device.h"
#include "pci/vectors.h"
#include "sriov/bound.h"
#include "sriov/eswitch.h"

#define RETRIES 20
#define RETRY_MS 100

/* Attributes by the class in which the kernel takes them. */
static const struct attr_class {
	uint32_t bits;
	const char *name;
} attr_classes[] = {
	{VFCTL_ATTR_VLAN, "vlan"},
	{VFCTL_ATTR_MAC, "mac"},
	{VFCTL_ATTR_RATE, "rate"},
	{VFCTL_ATTR_SPOOFCHK, "spoofchk"},
	{VFCTL_ATTR_TRUST, "trust"},
	{VFCTL_ATTR_LINK_STATE, "link-state"},
	{VFCTL_ATTR_QUERY_RSS, "query-rss"},
	{VFCTL_ATTR_NODE_GUID, "node GUID"},
	{VFCTL_ATTR_PORT_GUID, "port GUID"},
};

#define NETLINK_BITS                                                                     \
	(VFCTL_ATTR_MAC | VFCTL_ATTR_VLAN | VFCTL_ATTR_RATE | VFCTL_ATTR_SPOOFCHK |      \
		VFCTL_ATTR_TRUST | VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_QUERY_RSS |        \
		VFCTL_ATTR_GUIDS)

static const char *class_name(uint32_t bits)
{
	for (size_t i = 0; i < ARRAY_SIZE(attr_classes); i++)
		if (attr_classes[i].bits & bits)
			return attr_classes[i].name;
	return "attributes";
}

struct vfctl_vf_attrs attrs_before(const struct vfctl_vf_attrs *now,
	const struct vfctl_vf_attrs *change)
{
	struct vfctl_vf_attrs before = *now;

	before.mask &= change->mask;
	return before;
}

void attrs_complete(struct vfctl_vf_attrs *change, const struct vfctl_vf_attrs *now)
{
	if (change->mask & VFCTL_ATTR_VLAN) {
		if (!(change->mask & VFCTL_ATTR_VLAN_QOS))
			change->qos = 0;
		if (!(change->mask & VFCTL_ATTR_VLAN_PROTO))
			change->proto = VFCTL_VLAN_8021Q;
		change->mask |= VFCTL_ATTR_VLAN;
	}
	if (change->mask & VFCTL_ATTR_RATE) {
		if (!(change->mask & VFCTL_ATTR_MIN_RATE))
			change->min_rate_mbps = now ? now->min_rate_mbps : 0;
		if (!(change->mask & VFCTL_ATTR_MAX_RATE))
			change->max_rate_mbps = now ? now->max_rate_mbps : 0;
		change->mask |= VFCTL_ATTR_RATE;
	}
}

void attrs_drop_equal(struct vfctl_vf_attrs *change, const struct vfctl_vf_attrs *now)
{
	uint32_t same = 0;

	if (!memcmp(&change->mac, &now->mac, sizeof(now->mac)))
		same |= VFCTL_ATTR_MAC;
	if (change->vlan == now->vlan && change->qos == now->qos &&
		(!change->vlan || change->proto == now->proto))
		same |= VFCTL_ATTR_VLAN;
	if (change->min_rate_mbps == now->min_rate_mbps &&
		change->max_rate_mbps == now->max_rate_mbps)
		same |= VFCTL_ATTR_RATE;
	if (change->spoofchk == now->spoofchk)
		same |= VFCTL_ATTR_SPOOFCHK;
	if (change->trust == now->trust)
		same |= VFCTL_ATTR_TRUST;
	if (change->link_state == now->link_state)
		same |= VFCTL_ATTR_LINK_STATE;
	if (change->query_rss == now->query_rss)
		same |= VFCTL_ATTR_QUERY_RSS;
	if (change->node_guid == now->node_guid)
		same |= VFCTL_ATTR_NODE_GUID;
	if (change->port_guid == now->port_guid)
		same |= VFCTL_ATTR_PORT_GUID;
	if (change->pkey == now->pkey)
		same |= VFCTL_ATTR_PKEY;
	change->mask &= ~(same & now->mask);
}

/* ---- writing ---- */

static size_t add_rows(const struct vf_attr_change *change, uint32_t bits, struct nl_vf_set *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attr_classes); i++)
		if (change->attrs.mask & bits & attr_classes[i].bits)
			rows[n++] = (struct nl_vf_set){.vf = change->vf,
				.bits = attr_classes[i].bits, .attrs = change->attrs};
	return n;
}

static const char *guid_hint(int error)
{
	if (error == -EOPNOTSUPP)
		return "; VF GUIDs are taken by the IPoIB device of an InfiniBand PF alone (is "
		       "this one Ethernet, or its driver too old?)";
	if (error == -EPERM)
		return "; are you root, and does this function manage its VFs' ports?";
	return "";
}

static const char *hint_of(const struct nl_vf_set *row, const struct vfctl_pf *pf)
{
	if (row->bits & VFCTL_ATTR_GUIDS)
		return guid_hint(row->error);
	if (row->error == -EOPNOTSUPP && pf->eswitch == VFCTL_ESWITCH_SWITCHDEV)
		return "; in switchdev mode that is for the VF's representor on this host to do (bridge "
		       "vlan, tc), or the PF goes back to legacy mode";
	if (row->error == -EOPNOTSUPP)
		return "; this driver cannot set it";
	if (row->error == -EPERM)
		return "; are you root, and is the PF the e-switch manager?";
	if (row->error == -EPROTONOSUPPORT && row->bits & VFCTL_ATTR_VLAN)
		return "; this driver has no such VLAN protocol";
	if (row->error == -EINVAL && row->bits & VFCTL_ATTR_RATE)
		return pf->carrier ? "; the rate must not exceed the link's, and some drivers "
				     "have no minimum rate"
				   : "; a rate needs a link, and this PF has none";
	return "";
}

static int fail_row(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct nl_vf_set *row)
{
	char name[VFCTL_BDF_TEXT];

	return ctx_fail(ctx, row->error, "set %s of %s/%u: the kernel (driver %s) refused: "
		"%s (%s)%s%s%s", class_name(row->bits), vfctl_pf_name(pf, name), row->vf,
		pf->driver[0] ? pf->driver : "none", errno_name(row->error),
		strerror(-row->error), row->text[0] ? ": " : "", row->text, hint_of(row, pf));
}

static bool is_passing(int error)
{
	return error == -EAGAIN || error == -EBUSY;
}

/* Move the rows that failed only for the moment to the front; others end the try. */
static int keep_passing(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct nl_vf_set *rows, size_t *count)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		if (rows[i].error == 0)
			continue;
		if (!is_passing(rows[i].error))
			return fail_row(ctx, pf, &rows[i]);
		rows[kept++] = rows[i];
	}
	*count = kept;
	return 0;
}

static int write_rows(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct nl_vf_set *rows, size_t count)
{
	for (int tries = 0; count; tries++) {
		int r = nl_vfs_write(ctx, pf->ifindex, rows, count);

		if (r == 0)
			r = keep_passing(ctx, pf, rows, &count);
		if (r < 0)
			return r;
		if (count && tries == RETRIES)
			return fail_row(ctx, pf, &rows[0]);
		if (count)
			host_sleep_ms(ctx, RETRY_MS);
	}
	return 0;
}

static int write_msix(struct vfctl_ctx *ctx, const struct vf_attr_change *change)
{
	unsigned now = pci_vectors(ctx, &change->bdf);
	char text[12];
	int r;

	/* So many already, perhaps with a driver by now, which would keep the kernel from it. */
	if (now && now == change->attrs.msix)
		return 0;
	snprintf(text, sizeof(text), "%u", change->attrs.msix);
	r = host_write(ctx, text, PCI_SYSFS "%s/sriov_vf_msix_count", TEXT(&change->bdf));
	if (r == -EBUSY)
		return ctx_append(ctx, r, "; the VF must have no driver for this");
	if (r == -EOPNOTSUPP || r == -ENOENT)
		return ctx_append(ctx, r, "; the PF's driver cannot set it");
	if (r < 0 || !change->attrs.msix)
		return r;
	now = pci_vectors(ctx, &change->bdf);
	if (!now || now == change->attrs.msix)
		return 0;
	return ctx_fail(ctx, -EIO, "VF %s: the kernel accepted %s vectors, and its MSI-X capability has %u",
		TEXT(&change->bdf), text, now);
}

static bool has_more(struct vfctl_ctx *ctx, const struct vf_attr_change *change)
{
	return change->attrs.msix && pci_vectors(ctx, &change->bdf) > change->attrs.msix;
}

/* Those that get fewer first: the card has a number for all its VFs together. */
static int write_vectors(struct vfctl_ctx *ctx, const struct vf_attr_change *changes, size_t count)
{
	bool lost = false, known;
	int r = 0;

	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < count && r == 0; i++) {
			if (!(changes[i].attrs.mask & VFCTL_ATTR_MSIX) ||
				(turn == 0 && !has_more(ctx, &changes[i])))
				continue;
			known = pci_vectors(ctx, &changes[i].bdf);
			r = write_msix(ctx, &changes[i]);
			if (r < 0 && lost)
				return ctx_append(ctx, -ESTALE, "; and this could not be undone: the VFs "
					"before it have their new number of vectors");
			lost |= !known; /* what was there goes, and nobody can put it back */
		}
	return r;
}

/* ---- reading back ---- */

static bool mac_differs(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b)
{
	return memcmp(&a->mac, &b->mac, sizeof(a->mac)) != 0;
}

/* The first class in which what was read differs from what was wished; NULL: none. */
static const char *difference(const struct vfctl_vf_attrs *change,
	const struct vfctl_vf_attrs *now)
{
	uint32_t both = change->mask & now->mask;

	if (both & VFCTL_ATTR_MAC && mac_differs(change, now))
		return "mac";
	if (both & VFCTL_ATTR_VLAN_ID && (change->vlan != now->vlan || change->qos != now->qos))
		return "vlan";
	if (both & VFCTL_ATTR_VLAN_ID && change->vlan && change->proto != now->proto)
		return "proto";
	if (both & VFCTL_ATTR_MAX_RATE && (change->max_rate_mbps != now->max_rate_mbps ||
		change->min_rate_mbps != now->min_rate_mbps))
		return "rate";
	if (both & VFCTL_ATTR_SPOOFCHK && change->spoofchk != now->spoofchk)
		return "spoofchk";
	if (both & VFCTL_ATTR_TRUST && change->trust != now->trust)
		return "trust";
	if (both & VFCTL_ATTR_LINK_STATE && change->link_state != now->link_state)
		return "link-state";
	if (both & VFCTL_ATTR_QUERY_RSS && change->query_rss != now->query_rss)
		return "query-rss";
	if (both & VFCTL_ATTR_NODE_GUID && change->node_guid != now->node_guid)
		return "node GUID";
	if (both & VFCTL_ATTR_PORT_GUID && change->port_guid != now->port_guid)
		return "port GUID";
	if (both & VFCTL_ATTR_PKEY && change->pkey != now->pkey)
		return "P_Key";
	return NULL;
}

static bool asks_for(const struct vf_attr_change *changes, size_t count, uint32_t bits)
{
	for (size_t i = 0; i < count; i++)
		if (changes[i].attrs.mask & bits)
			return true;
	return false;
}

/* What the PF's VFs have now: the kernel's answer, and what else its driver tells. */
struct now {
	struct nl_vfs infos;
	struct eswitch_rates rates; /* in switchdev mode */
	const struct ib_guid_ops *way;
};

static void now_clear(struct now *now)
{
	nl_vfs_free(&now->infos);
	eswitch_rates_clear(&now->rates);
}
#define _now_ _cleanup_(now_clear)

static bool has_devlink_rates(const struct vfctl_pf *pf)
{
	return pf->eswitch == VFCTL_ESWITCH_SWITCHDEV;
}

static int now_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct now *now)
{
	int r = nl_vfs_read(ctx, pf->ifindex, &now->infos);

	if (r == 0 && has_devlink_rates(pf))
		r = eswitch_rates_read(ctx, &pf->bdf, &now->rates);
	return r;
}

/* False: the kernel knows no such VF. */
static bool now_of(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, const struct now *now,
	uint32_t vf, struct vfctl_vf_attrs *ret)
{
	const struct nl_vf *info = nl_vfs_find(&now->infos, vf);

	*ret = info ? info->attrs : (struct vfctl_vf_attrs){0};
	if (has_devlink_rates(pf))
		eswitch_rates_of(&now->rates, vf, ret);
	if (now->way->read)
		now->way->read(ctx, pf, vf, ret);
	return info || ret->mask;
}

static int verify(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct ib_guid_ops *way, const struct vf_attr_change *changes, size_t count)
{
	_now_ struct now now = {.way = way};
	char name[VFCTL_BDF_TEXT];
	int r = 0;

	if (asks_for(changes, count, NETLINK_BITS & ~way->takes))
		r = now_read(ctx, pf, &now);
	for (size_t i = 0; i < count && r == 0; i++) {
		struct vfctl_vf_attrs has;
		const char *what;

		if (!(changes[i].attrs.mask & ~(uint32_t)VFCTL_ATTR_MSIX))
			continue;
		if (!now_of(ctx, pf, &now, changes[i].vf, &has))
			return ctx_fail(ctx, -EIO, "%s/%u: the kernel accepted it, and reports nothing of "
				"this VF; is it still there?", vfctl_pf_name(pf, name), changes[i].vf);
		what = difference(&changes[i].attrs, &has);
		if (what)
			r = ctx_fail(ctx, -EIO, "%s/%u: the kernel accepted %s but reports another "
				"value; the driver %s did not apply it", vfctl_pf_name(pf, name),
				changes[i].vf, what, pf->driver);
	}
	return r;
}

static int fail_no_netdev(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	char name[VFCTL_BDF_TEXT];

	if (pf->infiniband)
		return ctx_fail(ctx, -EOPNOTSUPP, "%s has no IPoIB network device, and its VFs' "
			"GUIDs are set through that; load the module: modprobe ib_ipoib (the "
			"device need not be up)", vfctl_pf_name(pf, name));
	return ctx_fail(ctx, -EOPNOTSUPP, "%s has no network device here, so its VFs' attributes "
		"cannot be set (is its driver bound?)", vfctl_pf_name(pf, name));
}

static int write_netlink(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct ib_guid_ops *way, const struct vf_attr_change *changes, size_t count)
{
	_free_ struct nl_vf_set *rows = calloc(count * ARRAY_SIZE(attr_classes), sizeof(*rows));
	const uint32_t others = has_devlink_rates(pf) ? VFCTL_ATTR_RATE : 0;
	size_t n = 0;

	if (!rows)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++)
		n += add_rows(&changes[i], ~way->takes & ~others, rows + n);
	if (!n)
		return 0;
	if (!pf->ifindex)
		return fail_no_netdev(ctx, pf);
	return write_rows(ctx, pf, rows, n);
}

static int check_known(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct ib_guid_ops *way, const struct vf_attr_change *changes, size_t count)
{
	char name[VFCTL_BDF_TEXT];

	if (asks_for(changes, count, way->lacks & VFCTL_ATTR_NODE_GUID))
		return ctx_fail(ctx, -EOPNOTSUPP, "the VFs of %s have no node GUID of their own to "
			"set (%s); give them a port-guid", vfctl_pf_name(pf, name), pf->driver);
	if (asks_for(changes, count, way->lacks))
		return ctx_fail(ctx, -EOPNOTSUPP, "the VFs of %s have no link policy of their own "
			"(%s)", vfctl_pf_name(pf, name), pf->driver);
	return 0;
}

int attrs_check(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count)
{
	const struct ib_guid_ops *way = ib_guid_ops_of(ctx, pf);
	int r = check_known(ctx, pf, way, changes, count);

	if (r == 0 && !pf->ifindex && asks_for(changes, count, NETLINK_BITS & ~way->takes))
		return fail_no_netdev(ctx, pf);
	return r;
}

/* What the driver takes through files of its own. */
static int write_by_way(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct ib_guid_ops *way, const struct vf_attr_change *changes, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		if (changes[i].attrs.mask & way->takes)
			r = way->write(ctx, pf, changes[i].vf, &changes[i].attrs);
	return r;
}

/* ---- the audit ---- */

static void put_attrs(struct buf *text, const struct vfctl_vf_attrs *attrs)
{
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	while (vfctl_vf_attrs_next(attrs, &i, &key, value))
		buf_printf(text, "%s%s=%s", text->len ? " " : "", key, value);
}

/* A line for each VF: from what, to what. New VFs had nothing. */
static void audit(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count)
{
	char name[VFCTL_BDF_TEXT];

	for (size_t i = 0; i < count; i++) {
		struct vfctl_vf_attrs before = {0};
		_buf_ struct buf from = {0}, to = {0};

		for (uint32_t k = 0; pf->vfs && k < pf->num_vfs; k++)
			if (pf->vfs[k].index == changes[i].vf)
				before = attrs_before(&pf->vfs[k].attrs, &changes[i].attrs);
		put_attrs(&from, &before);
		put_attrs(&to, &changes[i].attrs);
		if (to.len)
			ctx_audit(ctx, "VF %s/%u set to %s; before: %s", vfctl_pf_name(pf, name),
				changes[i].vf, to.data, from.len ? from.data : "not known");
	}
}

int attrs_write(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count)
{
	const struct ib_guid_ops *way = ib_guid_ops_of(ctx, pf);
	int r = host_check_writable(ctx);

	if (r == 0)
		r = check_known(ctx, pf, way, changes, count);
	if (r == 0 && count)
		r = write_netlink(ctx, pf, way, changes, count);
	if (r == 0 && has_devlink_rates(pf) && asks_for(changes, count, VFCTL_ATTR_RATE))
		r = eswitch_rates_write(ctx, pf, changes, count);
	if (r == 0)
		r = write_by_way(ctx, pf, way, changes, count);
	if (r == 0)
		r = verify(ctx, pf, way, changes, count);
	if (r == 0)
		audit(ctx, pf, changes, count);
	/* Last: what was there may not be known, so that it cannot be put back. */
	if (r == 0)
		r = write_vectors(ctx, changes, count);
	for (size_t i = 0; i < count && r == 0; i++)
		if (changes[i].rebind && !way->live && changes[i].attrs.mask & VFCTL_ATTR_GUIDS)
			r = bound_rebind(ctx, &changes[i]);
	return r;
}

/* Identities that were never set. */
static uint32_t zeros_of(const struct vfctl_vf_attrs *a)
{
	uint32_t bits = 0;

	if (vfctl_mac_is_zero(&a->mac))
		bits |= VFCTL_ATTR_MAC;
	if (!a->node_guid)
		bits |= VFCTL_ATTR_NODE_GUID;
	if (!a->port_guid)
		bits |= VFCTL_ATTR_PORT_GUID;
	return bits & a->mask;
}

static int write_zeros(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vf_attr_change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct vf_attr_change zero = changes[i];
		int r;

		zero.attrs.mask = zeros_of(&zero.attrs);
		if (!zero.attrs.mask)
			continue;
		changes[i].attrs.mask &= ~zero.attrs.mask;
		r = attrs_write(ctx, pf, &zero, 1);
		if (r < 0 && r != -EINVAL && r != -EADDRNOTAVAIL)
			return r;
		if (r < 0 && zero.attrs.mask & VFCTL_ATTR_GUIDS)
			log_warn(ctx, "VF %u keeps the GUID of its last guest: the driver takes no "
				"zero", zero.vf);
		ctx_clear(ctx);
	}
	return 0;
}

int attrs_restore(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vf_attr_change *changes,
	size_t count)
{
	_now_ struct now now = {.way = ib_guid_ops_of(ctx, pf)};
	int r = pf->ifindex ? now_read(ctx, pf, &now) : 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		struct vfctl_vf_attrs has;

		if (now_of(ctx, pf, &now, changes[i].vf, &has))
			attrs_drop_equal(&changes[i].attrs, &has);
	}
	if (r == 0)
		r = write_zeros(ctx, pf, changes, count);
	return r < 0 ? r : attrs_write(ctx, pf, changes, count);
}
