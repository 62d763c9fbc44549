// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An InfiniBand network device that takes VF GUIDs, for a machine without the hardware. What
 * is real is all above the driver: rtnetlink checks, splits and answers our messages as it
 * does for IPoIB of mlx5 (net/core/rtnetlink.c: do_setvfinfo(), rtnl_fill_vfinfo()).
 *
 *	insmod vfctl_ib.ko name=aib0 pf=0000:11:00.0	a device of that PF, with its VFs
 *	insmod vfctl_ib.ko name=bib0 vfs=1000		a device of its own, with so many
 *
 * refuse_port, refuse_node: the VF whose port (node) GUID is refused, -1 none. ignore_port:
 * the VF whose port GUID is accepted and forgotten.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/version.h>

#define VFS_MAX 4096

static char *name = "aib0";
module_param(name, charp, 0444);
static char *pf;
module_param(pf, charp, 0444);
static unsigned int vfs;
module_param(vfs, uint, 0444);
static int refuse_port = -1, refuse_node = -1, ignore_port = -1;
module_param(refuse_port, int, 0644);
module_param(refuse_node, int, 0644);
module_param(ignore_port, int, 0644);
/* How often the driver was called: to see what was not written. */
static unsigned int calls;
module_param(calls, uint, 0644);

static struct {
	u64 node, port;
	int link_state;
} state[VFS_MAX];

static struct net_device *netdev;
static struct pci_dev *parent;
static struct device *own;

static int count_own(struct device *dev)
{
	return vfs;
}

/* IFLA_NUM_VF and the list of VFs come from the bus of the device's parent. */
static struct bus_type own_bus = {
	.name = "vfctl_ib",
	.num_vf = count_own,
};

static bool is_vf(int vf)
{
	return vf >= 0 && vf < VFS_MAX && vf < dev_num_vf(netdev->dev.parent);
}

static int set_guid(struct net_device *dev, int vf, u64 guid, int type)
{
	calls++;
	if (!is_vf(vf))
		return -EINVAL;
	if (type == IFLA_VF_IB_NODE_GUID) {
		if (vf == refuse_node)
			return -EIO;
		state[vf].node = guid;
		return 0;
	}
	if (vf == refuse_port)
		return -EIO;
	if (vf != ignore_port)
		state[vf].port = guid;
	return 0;
}

static int get_guid(struct net_device *dev, int vf, struct ifla_vf_guid *node,
	struct ifla_vf_guid *port)
{
	if (!is_vf(vf))
		return -EINVAL;
	node->vf = port->vf = vf;
	node->guid = state[vf].node;
	port->guid = state[vf].port;
	return 0;
}

/* IPoIB reports its own address as every VF's (ipoib_get_vf_config()). */
static int get_config(struct net_device *dev, int vf, struct ifla_vf_info *info)
{
	if (!is_vf(vf))
		return -EINVAL;
	info->vf = vf;
	info->linkstate = state[vf].link_state;
	memcpy(info->mac, dev->dev_addr, dev->addr_len);
	return 0;
}

static int set_link_state(struct net_device *dev, int vf, int link_state)
{
	calls++;
	if (!is_vf(vf) || link_state > IFLA_VF_LINK_STATE_DISABLE)
		return -EINVAL;
	state[vf].link_state = link_state;
	return 0;
}

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops ops = {
	.ndo_start_xmit = drop,
	.ndo_set_vf_guid = set_guid,
	.ndo_get_vf_guid = get_guid,
	.ndo_get_vf_config = get_config,
	.ndo_set_vf_link_state = set_link_state,
};

static void setup(struct net_device *dev)
{
	static const u8 address[20] = {0x00, 0x00, 0x00, 0x48, 0xfe, 0x80, [12] = 0x00, 0x02,
		0xc9, 0x03, 0x00, 0x1a, 0xb0, 0x01};

	dev->netdev_ops = &ops;
	dev->type = ARPHRD_INFINIBAND;
	dev->addr_len = sizeof(address);
	dev->mtu = 2044;
	dev->max_mtu = 4092;
	dev->tx_queue_len = 256;
	dev_addr_set(dev, address);
	memset(dev->broadcast, 0xff, dev->addr_len);
}

static int find_parent(void)
{
	unsigned int domain, bus, slot, function;

	if (!pf) {
		int r = bus_register(&own_bus);

		if (r)
			return r;
		own = kzalloc(sizeof(*own), GFP_KERNEL);
		if (!own)
			return -ENOMEM;
		device_initialize(own);
		own->bus = &own_bus;
		own->release = (void (*)(struct device *))kfree;
		dev_set_name(own, "vfctl_ib0");
		return device_add(own);
	}
	if (sscanf(pf, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
		return -EINVAL;
	parent = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
	return parent ? 0 : -ENODEV;
}

static void drop_parent(void)
{
	if (parent)
		pci_dev_put(parent);
	if (own) {
		device_unregister(own);
		bus_unregister(&own_bus);
	}
}

static int __init start(void)
{
	int r = vfs > VFS_MAX ? -ERANGE : find_parent();

	if (r)
		return r;
	/* A name of its own making is kept by udev. */
	netdev = alloc_netdev(0, name, NET_NAME_USER, setup);
	if (netdev) {
		SET_NETDEV_DEV(netdev, parent ? &parent->dev : own);
		r = register_netdev(netdev);
	}
	if (netdev && !r)
		return 0;
	if (netdev)
		free_netdev(netdev);
	drop_parent();
	return netdev ? r : -ENOMEM;
}

static void __exit stop(void)
{
	unregister_netdev(netdev);
	free_netdev(netdev);
	drop_parent();
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("VF GUIDs without InfiniBand hardware");
