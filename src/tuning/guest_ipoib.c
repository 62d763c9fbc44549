// SPDX-License-Identifier: GPL-2.0-or-later
/* Mode and MTU of a guest's IPoIB interfaces, for udev and for the programs that set them again. */
#include "tuning/guest_half.h"

#include "base/buf.h"

static const char *const modes[] = {
	[VFCTL_IPOIB_UNSTATED] = NULL,
	[VFCTL_IPOIB_DATAGRAM] = "datagram",
	[VFCTL_IPOIB_CONNECTED] = "connected",
};

/* The mode comes first: it determines which MTU the kernel accepts (ipoib_change_mtu()). */
char *guest_ipoib_rule(const struct vfctl_guest_half_vf *vf)
{
	_buf_ struct buf b = {0};

	if (!vf->infiniband || !vf->ipoib_mode)
		return strdup("");
	buf_printf(&b, "ACTION==\"add\", SUBSYSTEM==\"net\", ATTR{type}==\"32\", ATTR{mode}=\"%s\"",
		modes[vf->ipoib_mode]);
	if (vf->mtu)
		buf_printf(&b, ", ATTR{mtu}=\"%u\"", vf->mtu);
	buf_puts(&b, "\n");
	return buf_steal(&b);
}

/* systemd.network(5), [IPoIB]: systemd 250 and newer. */
static void put_networkd(struct buf *b, const struct vfctl_guest_half_vf *vf)
{
	buf_puts(b, "[Match]\nType=infiniband\n");
	if (vf->mtu)
		buf_printf(b, "\n[Link]\nMTUBytes=%u\n", vf->mtu);
	if (vf->ipoib_mode)
		buf_printf(b, "\n[IPoIB]\nMode=%s\n", modes[vf->ipoib_mode]);
	buf_puts(b, "\n[Network]\nDHCP=yes\n");
}

/* nm-settings-keyfile(5). transport-mode is required; multi-connect=3: for all such interfaces. */
static void put_network_manager(struct buf *b, const struct vfctl_guest_half_vf *vf)
{
	buf_printf(b, "[connection]\nid=vfctl-ipoib\ntype=infiniband\nmulti-connect=3\n\n[infiniband]\n"
		      "transport-mode=%s\n", vf->ipoib_mode ? modes[vf->ipoib_mode] : "datagram");
	if (vf->mtu)
		buf_printf(b, "mtu=%u\n", vf->mtu);
	buf_puts(b, "\n[ipv4]\nmethod=auto\n\n[ipv6]\nmethod=auto\n");
}

/* netplan-yaml(5): infiniband-mode since 0.105. The names of IPoIB interfaces begin with "ib". */
static void put_netplan(struct buf *b, const struct vfctl_guest_half_vf *vf)
{
	buf_puts(b, "network:\n  version: 2\n  ethernets:\n    vfctl-ipoib:\n      match: {name: 'ib*'}\n");
	if (vf->ipoib_mode)
		buf_printf(b, "      infiniband-mode: %s\n", modes[vf->ipoib_mode]);
	if (vf->mtu)
		buf_printf(b, "      mtu: %u\n", vf->mtu);
	buf_puts(b, "      dhcp4: true\n");
}

bool guest_ipoib_file(enum vfctl_guest_network network, const struct vfctl_guest_half_vf *vf,
	struct vfctl_guest_file *ret)
{
	static const struct {
		const char *path;
		void (*put)(struct buf *b, const struct vfctl_guest_half_vf *vf);
		bool secret;
	} files[] = {
		[VFCTL_NETWORK_ANY] = {NULL, NULL, false},
		[VFCTL_NETWORK_NETWORKD] = {"/etc/systemd/network/10-vfctl-ipoib.network", put_networkd,
			false},
		[VFCTL_NETWORK_MANAGER] = {"/etc/NetworkManager/system-connections/vfctl-ipoib.nmconnection",
			put_network_manager, true},
		[VFCTL_NETWORK_NETPLAN] = {"/etc/netplan/60-vfctl-ipoib.yaml", put_netplan, true},
	};
	_buf_ struct buf b = {0};

	*ret = (struct vfctl_guest_file){.secret = files[network].secret};
	if (!files[network].put || !vf->infiniband || (!vf->ipoib_mode && !vf->mtu))
		return true;
	buf_puts(&b, "# Made by vfctl tune guest. Made again, it is replaced. It takes addresses by DHCP.\n");
	files[network].put(&b, vf);
	ret->path = strdup(files[network].path);
	ret->text = buf_steal(&b);
	return ret->path && ret->text;
}
