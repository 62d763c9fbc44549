// SPDX-License-Identifier: GPL-2.0-or-later
#include "sriov/attrs.h"

#include <errno.h>
#include <stdio.h>

#include "host/host.h"
#include "netlink/link.h"
#include "pci/device.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
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
};

static const char *class_name(uint32_t bits)
{
	for (size_t i = 0; i < ARRAY_SIZE(attr_classes); i++)
		if (attr_classes[i].bits & bits)
			return attr_classes[i].name;
	return "attributes";
}

struct vfctl_vf_attrs attrs_before(const struct vfctl_vf_attrs *now,
	const struct vfctl_vf_attrs *wish)
{
	struct vfctl_vf_attrs before = *now;

	before.mask &= wish->mask;
	return before;
}

void attrs_complete(struct vfctl_vf_attrs *wish, const struct vfctl_vf_attrs *now)
{
	if (wish->mask & VFCTL_ATTR_VLAN) {
		if (!(wish->mask & VFCTL_ATTR_VLAN_QOS))
			wish->qos = 0;
		if (!(wish->mask & VFCTL_ATTR_VLAN_PROTO))
			wish->proto = VFCTL_VLAN_8021Q;
		wish->mask |= VFCTL_ATTR_VLAN;
	}
	if (wish->mask & VFCTL_ATTR_RATE) {
		if (!(wish->mask & VFCTL_ATTR_MIN_RATE))
			wish->min_rate_mbps = now ? now->min_rate_mbps : 0;
		if (!(wish->mask & VFCTL_ATTR_MAX_RATE))
			wish->max_rate_mbps = now ? now->max_rate_mbps : 0;
		wish->mask |= VFCTL_ATTR_RATE;
	}
}

void attrs_drop_equal(struct vfctl_vf_attrs *wish, const struct vfctl_vf_attrs *now)
{
	uint32_t same = 0;

	if (!memcmp(&wish->mac, &now->mac, sizeof(now->mac)))
		same |= VFCTL_ATTR_MAC;
	if (wish->vlan == now->vlan && wish->qos == now->qos &&
		(!wish->vlan || wish->proto == now->proto))
		same |= VFCTL_ATTR_VLAN;
	if (wish->min_rate_mbps == now->min_rate_mbps &&
		wish->max_rate_mbps == now->max_rate_mbps)
		same |= VFCTL_ATTR_RATE;
	if (wish->spoofchk == now->spoofchk)
		same |= VFCTL_ATTR_SPOOFCHK;
	if (wish->trust == now->trust)
		same |= VFCTL_ATTR_TRUST;
	if (wish->link_state == now->link_state)
		same |= VFCTL_ATTR_LINK_STATE;
	wish->mask &= ~(same & now->mask);
}

/* ---- writing ---- */

static size_t add_rows(const struct vf_wish *wish, struct nl_vf_set *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attr_classes); i++)
		if (wish->attrs.mask & attr_classes[i].bits)
			rows[n++] = (struct nl_vf_set){.vf = wish->vf,
				.bits = attr_classes[i].bits, .attrs = wish->attrs};
	return n;
}

static const char *hint_of(const struct nl_vf_set *row, const struct vfctl_pf *pf)
{
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

static int write_msix(struct vfctl_ctx *ctx, const struct vf_wish *wish)
{
	char text[12];
	int r;

	snprintf(text, sizeof(text), "%u", wish->attrs.msix);
	r = host_write(ctx, text, PCI_SYSFS "%s/sriov_vf_msix_count", TEXT(&wish->bdf));
	if (r == -EBUSY)
		return ctx_append(ctx, r, "; the VF must have no driver for this");
	if (r == -EOPNOTSUPP || r == -ENOENT)
		return ctx_append(ctx, r, "; the PF's driver cannot set it");
	return r;
}

/* ---- reading back ---- */

static bool mac_differs(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b)
{
	return memcmp(&a->mac, &b->mac, sizeof(a->mac)) != 0;
}

/* The first class in which what was read differs from what was wished; NULL: none. */
static const char *difference(const struct vfctl_vf_attrs *wish,
	const struct vfctl_vf_attrs *now)
{
	uint32_t both = wish->mask & now->mask;

	if (both & VFCTL_ATTR_MAC && mac_differs(wish, now))
		return "mac";
	if (both & VFCTL_ATTR_VLAN_ID && (wish->vlan != now->vlan || wish->qos != now->qos))
		return "vlan";
	if (both & VFCTL_ATTR_VLAN_ID && wish->vlan && wish->proto != now->proto)
		return "proto";
	if (both & VFCTL_ATTR_MAX_RATE && (wish->max_rate_mbps != now->max_rate_mbps ||
		wish->min_rate_mbps != now->min_rate_mbps))
		return "rate";
	if (both & VFCTL_ATTR_SPOOFCHK && wish->spoofchk != now->spoofchk)
		return "spoofchk";
	if (both & VFCTL_ATTR_TRUST && wish->trust != now->trust)
		return "trust";
	if (both & VFCTL_ATTR_LINK_STATE && wish->link_state != now->link_state)
		return "link-state";
	return NULL;
}

static int verify(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_wish *wishes, size_t count)
{
	_cleanup_(nl_vfs_free) struct nl_vfs now = {0};
	char name[VFCTL_BDF_TEXT];
	int r = nl_vfs_read(ctx, pf->ifindex, &now);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		const struct nl_vf *vf = nl_vfs_find(&now, wishes[i].vf);
		const char *what = vf ? difference(&wishes[i].attrs, &vf->attrs) : "presence";

		if (what)
			return ctx_fail(ctx, -EIO, "%s/%u: the kernel accepted %s but reports another "
				"value; the driver %s did not apply it", vfctl_pf_name(pf, name),
				wishes[i].vf, what, pf->driver);
	}
	return 0;
}

static int write_netlink(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_wish *wishes, size_t count)
{
	_free_ struct nl_vf_set *rows = calloc(count * ARRAY_SIZE(attr_classes), sizeof(*rows));
	char name[VFCTL_BDF_TEXT];
	size_t n = 0;
	int r;

	if (!rows)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++)
		n += add_rows(&wishes[i], rows + n);
	if (!n)
		return 0;
	if (!pf->ifindex)
		return ctx_fail(ctx, -EOPNOTSUPP, "%s has no network device here, so its VFs' "
			"attributes cannot be set (is its driver bound?)",
			vfctl_pf_name(pf, name));
	r = write_rows(ctx, pf, rows, n);
	return r < 0 ? r : verify(ctx, pf, wishes, count);
}

int attrs_write(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_wish *wishes, size_t count)
{
	bool written = false;
	int r = host_check_writable(ctx);

	if (r == 0 && count)
		r = write_netlink(ctx, pf, wishes, count);
	/* Last: what was there cannot be read, so it cannot be put back. */
	for (size_t i = 0; i < count && r == 0; i++) {
		if (!(wishes[i].attrs.mask & VFCTL_ATTR_MSIX))
			continue;
		r = write_msix(ctx, &wishes[i]);
		if (r < 0 && written)
			return ctx_append(ctx, -ESTALE, "; and this could not be undone: the VFs "
				"before it have their new number of vectors");
		written = true;
	}
	return r;
}

static int write_zero_macs(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vf_wish *wishes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct vf_wish zero = wishes[i];
		int r;

		if (!(zero.attrs.mask & VFCTL_ATTR_MAC) || !vfctl_mac_is_zero(&zero.attrs.mac))
			continue;
		wishes[i].attrs.mask &= ~(uint32_t)VFCTL_ATTR_MAC;
		zero.attrs.mask = VFCTL_ATTR_MAC;
		r = attrs_write(ctx, pf, &zero, 1);
		if (r == -EINVAL || r == -EADDRNOTAVAIL)
			ctx_clear(ctx);
		else if (r < 0)
			return r;
	}
	return 0;
}

int attrs_restore(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vf_wish *wishes,
	size_t count)
{
	_cleanup_(nl_vfs_free) struct nl_vfs now = {0};
	int r = pf->ifindex ? nl_vfs_read(ctx, pf->ifindex, &now) : 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct nl_vf *vf = nl_vfs_find(&now, wishes[i].vf);

		if (vf)
			attrs_drop_equal(&wishes[i].attrs, &vf->attrs);
	}
	if (r == 0)
		r = write_zero_macs(ctx, pf, wishes, count);
	return r < 0 ? r : attrs_write(ctx, pf, wishes, count);
}

/* ---- MACs ---- */

/* FNV-1a: well mixed, and the same on every machine and in every version. */
static uint64_t mix(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

struct vfctl_mac mac_derive(const struct vfctl_mac *pf_mac, uint32_t vf, uint32_t salt)
{
	uint8_t tail[8] = {(uint8_t)vf, (uint8_t)(vf >> 8), (uint8_t)(vf >> 16),
		(uint8_t)(vf >> 24), (uint8_t)salt, (uint8_t)(salt >> 8),
		(uint8_t)(salt >> 16), (uint8_t)(salt >> 24)};
	uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), pf_mac->byte, 6);
	struct vfctl_mac mac;

	hash = mix(hash, tail, sizeof(tail));
	hash ^= hash >> 32;
	for (int i = 0; i < 6; i++)
		mac.byte[i] = (uint8_t)(hash >> (8 * i));
	/* Unicast and locally administered (IEEE 802, 8.2.2). */
	mac.byte[0] = (uint8_t)((mac.byte[0] & 0xfcu) | 2);
	return mac;
}
