// SPDX-License-Identifier: GPL-2.0-or-later
/* VFs with a driver of this host: check that it has read the VF's identity. */
#include "sriov/bound.h"

#include <errno.h>

#include "host/host.h"
#include "infiniband/vf.h"
#include "pci/device.h"

#define MAC_TRIES 20
#define MAC_WAIT_MS 500

/* The VF's own view after its driver has probed, which is what the fabric sees. */
static int read_bound(struct vfctl_ctx *ctx, const struct vf_attr_change *change,
	struct ib_identity *ret)
{
	int r = ib_identity_read(ctx, &change->bdf, ret);

	if (r != -ENOENT)
		return r;
	log_warn(ctx, "VF %u is bound, but its GUIDs cannot be read: %s", change->vf,
		vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return r;
}

int bound_check_guids(struct vfctl_ctx *ctx, const struct vf_attr_change *change)
{
	const struct vfctl_vf_attrs *a = &change->attrs;
	struct ib_identity id;
	int r = read_bound(ctx, change, &id);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if ((a->mask & VFCTL_ATTR_NODE_GUID && id.node_guid != a->node_guid) ||
		(a->mask & VFCTL_ATTR_PORT_GUID && id.port_guid != a->port_guid))
		return ctx_fail(ctx, -EIO, "VF %u is bound, but its device %s has another GUID than the "
			"one set", change->vf, id.device);
	return 0;
}

/*
 * Bind it through the override, so that autoprobe need not be on, and restore the override
 * afterwards. 1: bound again; 0: it has no driver of this host.
 */
static int bind_again(struct vfctl_ctx *ctx, const struct vf_attr_change *change)
{
	char driver[PCI_DRIVER_NAME], override[PCI_DRIVER_NAME];
	int r = pci_driver(ctx, &change->bdf, driver);

	if (r < 0 || !driver[0] || pci_driver_is_vfio(driver))
		return r;
	r = pci_override(ctx, &change->bdf, override);
	if (r == 0)
		r = pci_unbind(ctx, &change->bdf);
	if (r == 0)
		r = pci_bind(ctx, &change->bdf, driver);
	if (r == 0)
		r = pci_set_override(ctx, &change->bdf, override);
	return r < 0 ? r : 1;
}

int bound_check_roce(struct vfctl_ctx *ctx, const struct vf_attr_change *change)
{
	struct ib_identity id;
	int r = read_bound(ctx, change, &id);

	if (r == 0 && !id.node_guid) {
		r = bind_again(ctx, change);
		if (r >= 0)
			r = read_bound(ctx, change, &id);
		if (r == 0 && !id.node_guid)
			return ctx_fail(ctx, -EIO, "VF %u: the node GUID of %s stays zero, so RDMA does "
				"not work on it (check its MAC)", change->vf, id.device);
	}
	return r == -ENOENT ? 0 : r;
}

int bound_rebind(struct vfctl_ctx *ctx, const struct vf_attr_change *change)
{
	int r = bind_again(ctx, change);

	if (r == 1)
		r = bound_check_guids(ctx, change);
	return r < 0 ? ctx_prefix(ctx, r, "bind VF %u again so that its GUID takes effect",
		change->vf) : 0;
}

/* ---- MACs ---- */

/* The MAC of the VF's network device; -ENOENT if it has none (yet). */
static int read_mac(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct vfctl_mac *ret)
{
	_strv_ char **names = NULL;
	_free_ char *text = NULL, *dir = NULL;
	int r = pci_netdevs(ctx, bdf, &names, &dir);

	if (r == 0 && !names[0])
		r = -ENOENT;
	if (r == 0)
		r = host_try_read(ctx, &text, "%s/%s/address", dir, names[0]);
	return r < 0 ? r : vfctl_mac_parse(text, ret);
}

static bool shows(struct vfctl_ctx *ctx, const struct vf_attr_change *change, struct vfctl_mac *ret)
{
	int r = read_mac(ctx, &change->bdf, ret);

	/* Another namespace has it, or the driver creates none: there is nothing to compare. */
	return r < 0 || !memcmp(ret, &change->attrs.mac, sizeof(*ret));
}

int bound_check_mac(struct vfctl_ctx *ctx, const struct vf_attr_change *change)
{
	char is[VFCTL_MAC_TEXT], shall[VFCTL_MAC_TEXT];
	struct vfctl_mac mac;

	for (int tries = 0; !shows(ctx, change, &mac); tries++) {
		int r;

		if (tries == MAC_TRIES || ctx->cancelled)
			return ctx_fail(ctx, -EIO, "VF %u: its network device has the MAC %s, which its "
				"driver made up, not %s: the PF did not answer it (set the PF's network "
				"device up; see dmesg)", change->vf, vfctl_mac_format(&mac, is),
				vfctl_mac_format(&change->attrs.mac, shall));
		log_debug(ctx, "VF %u did not get its MAC; binding it once more", change->vf);
		ctx_progress(ctx, "waiting for the driver of VF %u to show its MAC", change->vf);
		host_sleep_ms(ctx, MAC_WAIT_MS);
		r = bind_again(ctx, change);
		if (r < 0)
			return r;
	}
	return 0;
}

/* @driver: the one that it is bound to; "": none, the override names it. */
static int bind_to(struct vfctl_ctx *ctx, const struct vf_attr_change *change, const char *driver,
	const char *override)
{
	int r = driver[0] ? pci_set_override(ctx, &change->bdf, driver) : 0;

	if (r == 0 && driver[0])
		r = pci_unbind(ctx, &change->bdf);
	if (r == 0)
		r = pci_bind(ctx, &change->bdf, driver[0] ? driver : override);
	/* libvirt leaves none either. */
	if (r == 0)
		r = pci_set_override(ctx, &change->bdf, "");
	return r < 0 ? ctx_prefix(ctx, r, "bind VF %s again, so that its network device has its former "
		"MAC",
		TEXT(&change->bdf)) : 0;
}

int bound_refresh_mac(struct vfctl_ctx *ctx, const struct vf_attr_change *change)
{
	char driver[PCI_DRIVER_NAME], override[PCI_DRIVER_NAME], is[VFCTL_MAC_TEXT];
	struct vfctl_mac mac;
	bool right;
	int r = pci_driver(ctx, &change->bdf, driver);

	if (r == 0)
		r = pci_override(ctx, &change->bdf, override);
	if (r < 0 || pci_driver_is_vfio(driver) || pci_driver_is_vfio(override) ||
		(!driver[0] && !override[0]))
		return r;
	r = read_mac(ctx, &change->bdf, &mac);
	if (r < 0 && r != -ENOENT) /* -ENOENT: it has no network device here */
		return ctx_fail(ctx, r, "the MAC of the network device of VF %s cannot be read: %s",
			TEXT(&change->bdf), strerror(-r));
	right = r < 0 || !memcmp(&mac, &change->attrs.mac, sizeof(mac));
	ctx_clear(ctx);
	if (right && !override[0])
		return 0;
	r = bind_to(ctx, change, right ? "" : driver, override);
	if (r == 0 && !shows(ctx, change, &mac))
		log_warn(ctx, "VF %s: its driver gave its network device the MAC %s, not its former one; "
			"bind it again: echo %s >/sys/bus/pci/drivers/%s/unbind; echo %s "
			">/sys/bus/pci/drivers_probe", TEXT(&change->bdf), vfctl_mac_format(&mac, is),
			TEXT(&change->bdf), driver[0] ? driver : override, TEXT(&change->bdf));
	return r;
}
