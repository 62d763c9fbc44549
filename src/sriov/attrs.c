// SPDX-License-Identifier: GPL-2.0-or-later
#include "sriov/attrs.h"

#include <errno.h>
#include <stdio.h>

#include "base/vfattr.h"
#include "host/host.h"
#include "infiniband/vf.h"
#include "netlink/link.h"
#include "pci/device.h"
#include "pci/vectors.h"
#include "sriov/bound.h"
#include "sriov/eswitch.h"

#define RETRY_MS 100

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

/* The members that are equal; an untagged frame has no protocol. */
static uint32_t same_values(const struct vfctl_vf_attrs *change, const struct vfctl_vf_attrs *now)
{
	return attrs_same(change, now) | (change->vlan || now->vlan ? 0 : VFCTL_ATTR_VLAN_PROTO);
}

void attrs_drop_equal(struct vfctl_vf_attrs *change, const struct vfctl_vf_attrs *now)
{
	uint32_t same = same_values(change, now), group;
	const char *name;

	for (uint32_t rest = change->mask; rest; rest &= ~group) {
		group = attrs_group(rest, &name);
		/* Attributes that the kernel sets together are dropped together. */
		if ((same & group) == group)
			change->mask &= ~(group & now->mask);
	}
}

/* ---- writing ---- */

static size_t add_rows(const struct vf_attr_change *change, uint32_t bits, struct nl_vf_set *rows)
{
	uint32_t rest = change->attrs.mask & bits & attrs_with(VFCTL_ATTR_FROM_LINK);
	const char *name;
	size_t n = 0;

	for (; rest; rest &= ~rows[n++].bits) {
		uint32_t group = attrs_group(rest, &name);

		rows[n] = (struct nl_vf_set){.vf = change->vf, .bits = group, .attrs = change->attrs,
			.optional = !(group & ~change->optional)};
	}
	return n;
}

static const char *guid_hint(int error)
{
	if (error == -EOPNOTSUPP)
		return "; only the IPoIB device of an InfiniBand PF accepts VF GUIDs (this PF is "
		       "Ethernet, or its driver is too old)";
	if (error == -EPERM)
		return "; it needs root, and a function that manages the ports of its VFs";
	return "";
}

static const char *hint_of(const struct nl_vf_set *row, const struct vfctl_pf *pf)
{
	if (row->bits & VFCTL_ATTR_GUIDS)
		return guid_hint(row->error);
	if (row->error == -EOPNOTSUPP && pf->eswitch == VFCTL_ESWITCH_SWITCHDEV)
		return "; in switchdev mode set it on the VF's representor (bridge vlan, tc), or return "
		       "the PF to legacy mode";
	if (row->error == -EOPNOTSUPP)
		return "; this driver cannot set it";
	if (row->error == -EPERM)
		return "; it needs root, and the PF must be the eswitch manager";
	if (row->error == -EPROTONOSUPPORT && row->bits & VFCTL_ATTR_VLAN)
		return "; this driver does not support that VLAN protocol";
	if (row->error == -EINVAL && row->bits & VFCTL_ATTR_RATE)
		return pf->carrier ? "; the rate must not exceed the link speed, and some drivers "
				     "support no minimum rate"
				   : "; a rate needs a link, and this PF has none";
	return "";
}

static int fail_row(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct nl_vf_set *row)
{
	char name[VFCTL_BDF_TEXT];
	const char *group;

	attrs_group(row->bits, &group);
	return ctx_fail(ctx, row->error, "set %s of %s/%u: the kernel (driver %s) rejected it: %s "
		"(%s)%s%s%s", group, vfctl_pf_name(pf, name), row->vf,
		pf->driver[0] ? pf->driver : "none", errno_name(row->error),
		strerror(-row->error), row->text[0] ? ": " : "", row->text, hint_of(row, pf));
}

static bool is_passing(int error)
{
	return error == -EAGAIN || error == -EBUSY;
}

/* Log it once for each attribute of the PF. */
static void note_refused(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct nl_vf_set *row,
	uint32_t *io_refused)
{
	char name[VFCTL_BDF_TEXT];
	const char *group;

	if (row->bits & *io_refused)
		return;
	*io_refused |= row->bits;
	attrs_group(row->bits, &group);
	log_warn(ctx, "%s/%u: the driver %s cannot set %s to its safe default; the VF keeps its present "
		"value", vfctl_pf_name(pf, name), row->vf, pf->driver, group);
}

/* Move the rows that failed only temporarily to the front; other failures end the attempts. */
static int keep_passing(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct nl_vf_set *rows, size_t *count, uint32_t *io_refused)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		if (rows[i].error == 0)
			continue;
		if (rows[i].error == -EOPNOTSUPP && rows[i].optional) {
			note_refused(ctx, pf, &rows[i], io_refused);
			continue;
		}
		if (!is_passing(rows[i].error))
			return fail_row(ctx, pf, &rows[i]);
		rows[kept++] = rows[i];
	}
	*count = kept;
	return 0;
}

static int write_rows(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct nl_vf_set *rows, size_t count, uint32_t *io_refused)
{
	unsigned waited = 0;

	while (count) {
		int r = nl_vfs_write(ctx, pf->ifindex, rows, count);

		if (r == 0)
			r = keep_passing(ctx, pf, rows, &count, io_refused);
		if (r < 0)
			return r;
		if (count && !host_wait_ms(ctx, RETRY_MS, &waited))
			return fail_row(ctx, pf, &rows[0]);
	}
	return 0;
}

static int write_msix(struct vfctl_ctx *ctx, const struct vf_attr_change *change)
{
	unsigned now = pci_vectors(ctx, &change->bdf);
	char text[12];
	int r;

	/*
	 * The VF already has this number, and perhaps a driver, because of which the kernel would
	 * refuse the write.
	 */
	if (now && now == change->attrs.msix)
		return 0;
	snprintf(text, sizeof(text), "%u", change->attrs.msix);
	r = host_write(ctx, text, PCI_SYSFS "%s/sriov_vf_msix_count", TEXT(&change->bdf));
	if (r == -EBUSY)
		return ctx_append(ctx, r, "; the VF must be unbound from its driver first");
	if (r == -EOPNOTSUPP || r == -ENOENT)
		return ctx_append(ctx, r, "; the PF's driver cannot set it");
	if (r < 0 || !change->attrs.msix)
		return r;
	now = pci_vectors(ctx, &change->bdf);
	if (!now || now == change->attrs.msix)
		return 0;
	return ctx_fail(ctx, -EIO, "VF %s: the kernel accepted %s vectors, but its MSI-X capability has "
		"%u",
		TEXT(&change->bdf), text, now);
}

static bool has_more(struct vfctl_ctx *ctx, const struct vf_attr_change *change)
{
	return change->attrs.msix && pci_vectors(ctx, &change->bdf) > change->attrs.msix;
}

/* First those that get fewer, because the VFs of a card share its vectors. */
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
				return ctx_append(ctx, -ESTALE, "; this could not be rolled back: the "
					"VFs before it have their new number of vectors");
			lost |= !known; /* the previous value is lost and cannot be restored */
		}
	return r;
}

/* ---- reading back ---- */

/* The first group in which the value read back differs from the requested one; NULL: none. */
static const char *difference(const struct vfctl_vf_attrs *change, const struct vfctl_vf_attrs *now,
	uint32_t except)
{
	uint32_t differs = change->mask & now->mask & ~same_values(change, now) & ~except;
	const char *group;

	attrs_group(differs, &group);
	return differs ? group : NULL;
}

static bool asks_for(const struct vf_attr_change *changes, size_t count, uint32_t bits)
{
	for (size_t i = 0; i < count; i++)
		if (changes[i].attrs.mask & bits)
			return true;
	return false;
}

/* The present values of the PF's VFs: the kernel's answer, and further values of its driver. */
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

/* False: the kernel does not have this VF. */
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

/* @refused: attributes that the driver does not support. */
static int verify(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct ib_guid_ops *way, const struct vf_attr_change *changes, size_t count,
	uint32_t refused)
{
	_cleanup_(now_clear) struct now now = {.way = way};
	char name[VFCTL_BDF_TEXT];
	int r = 0;

	if (asks_for(changes, count, attrs_with(VFCTL_ATTR_FROM_LINK) & ~way->takes))
		r = now_read(ctx, pf, &now);
	for (size_t i = 0; i < count && r == 0; i++) {
		struct vfctl_vf_attrs has;
		const char *what;

		if (!(changes[i].attrs.mask & ~(uint32_t)VFCTL_ATTR_MSIX))
			continue;
		if (!now_of(ctx, pf, &now, changes[i].vf, &has))
			return ctx_fail(ctx, -EIO, "%s/%u: the kernel accepted it but does not report "
				"this VF, which may have been "
				"removed", vfctl_pf_name(pf, name), changes[i].vf);
		what = difference(&changes[i].attrs, &has, refused & changes[i].optional);
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
		return ctx_fail(ctx, -EOPNOTSUPP, "%s has no IPoIB network device, through which the "
			"GUIDs of its VFs are set; load the module: modprobe ib_ipoib (the device need "
			"not be up)", vfctl_pf_name(pf, name));
	return ctx_fail(ctx, -EOPNOTSUPP, "%s has no network device here, so the attributes of its VFs "
		"cannot be set (check its driver)", vfctl_pf_name(pf, name));
}

static int write_netlink(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct ib_guid_ops *way, const struct vf_attr_change *changes, size_t count,
	uint32_t *io_refused)
{
	_free_ struct nl_vf_set *rows = calloc(count * ATTRS_MAX, sizeof(*rows));
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
	return write_rows(ctx, pf, rows, n, io_refused);
}

static int check_known(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct ib_guid_ops *way, const struct vf_attr_change *changes, size_t count)
{
	char name[VFCTL_BDF_TEXT];

	if (asks_for(changes, count, way->lacks & VFCTL_ATTR_NODE_GUID))
		return ctx_fail(ctx, -EOPNOTSUPP, "the node GUIDs of the VFs of %s cannot be set on "
			"their own (%s); set port-guid", vfctl_pf_name(pf, name), pf->driver);
	if (asks_for(changes, count, way->lacks))
		return ctx_fail(ctx, -EOPNOTSUPP, "the VFs of %s have no link policy of their own "
			"(%s)", vfctl_pf_name(pf, name), pf->driver);
	return 0;
}

int attrs_check(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count)
{
	const struct ib_guid_ops *way = ib_guid_ops_of(ctx, pf);
	uint32_t by_link = attrs_with(VFCTL_ATTR_FROM_LINK) & ~way->takes;
	int r = check_known(ctx, pf, way, changes, count);

	if (r == 0 && !pf->ifindex && asks_for(changes, count, by_link))
		return fail_no_netdev(ctx, pf);
	return r;
}

/* Write the attributes that the driver accepts through its own files. */
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

/* One line for each VF: old and new values. New VFs have no old ones. */
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
		attrs_put(&from, &before, UINT32_MAX);
		attrs_put(&to, &changes[i].attrs, UINT32_MAX);
		if (to.len)
			ctx_audit(ctx, "VF %s/%u set to %s; before: %s", vfctl_pf_name(pf, name),
				changes[i].vf, to.data, from.len ? from.data : "not known");
	}
}

int attrs_write(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count)
{
	const struct ib_guid_ops *way = ib_guid_ops_of(ctx, pf);
	uint32_t refused = 0;
	int r = host_check_writable(ctx);

	if (r == 0)
		r = check_known(ctx, pf, way, changes, count);
	if (r == 0 && count)
		r = write_netlink(ctx, pf, way, changes, count, &refused);
	if (r == 0 && has_devlink_rates(pf) && asks_for(changes, count, VFCTL_ATTR_RATE))
		r = eswitch_rates_write(ctx, pf, changes, count);
	if (r == 0)
		r = write_by_way(ctx, pf, way, changes, count);
	if (r == 0)
		r = verify(ctx, pf, way, changes, count, refused);
	if (r == 0)
		audit(ctx, pf, changes, count);
	/* This comes last: the previous value may be unknown, so that it cannot be restored. */
	if (r == 0)
		r = write_vectors(ctx, changes, count);
	for (size_t i = 0; i < count && r == 0; i++)
		if (changes[i].rebind && !way->live && changes[i].attrs.mask & VFCTL_ATTR_GUIDS)
			r = bound_rebind(ctx, &changes[i]);
	return r;
}

/* The identities that were never set. */
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
			log_warn(ctx, "VF %u keeps the GUID of its last guest: the driver does not "
				"accept zero", zero.vf);
		ctx_clear(ctx);
	}
	return 0;
}

int attrs_restore(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vf_attr_change *changes,
	size_t count)
{
	_cleanup_(now_clear) struct now now = {.way = ib_guid_ops_of(ctx, pf)};
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
