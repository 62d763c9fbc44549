// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "domain/domain.h"

/* For a hostdev interface, libvirt's <vlan> supports only a tag. */
static bool vlan_is_plain(const struct vfctl_vf_attrs *attrs)
{
	return !(attrs->mask & VFCTL_ATTR_VLAN) ||
	       (attrs->qos == 0 && attrs->proto == VFCTL_VLAN_8021Q);
}

bool device_is_interface(const struct vfctl_domain_vf *vf)
{
	if (vf->form != VFCTL_FORM_AUTO)
		return vf->form == VFCTL_FORM_INTERFACE;
	return !vf->infiniband && vf->attrs.mask & VFCTL_ATTR_MAC &&
	       vlan_is_plain(&vf->attrs);
}

int device_check(struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vf)
{
	const char *wrong = NULL;
	char text[VFCTL_BDF_TEXT];
	int r;

	vfctl_bdf_format(&vf->bdf, text);
	if ((unsigned)vf->form > VFCTL_FORM_HOSTDEV)
		wrong = "its form must be auto, interface or hostdev";
	else if (vf->form != VFCTL_FORM_INTERFACE)
		wrong = NULL;
	else if (vf->infiniband)
		wrong = "an InfiniBand VF cannot be an interface (libvirt would send it "
			"an "
			"Ethernet address and fail); use form hostdev or auto";
	else if (!(vf->attrs.mask & VFCTL_ATTR_MAC))
		wrong = "as an interface it needs a MAC address (libvirt would choose another one at "
			"each start); assign one or use form hostdev";
	else if (!vlan_is_plain(&vf->attrs))
		wrong = "libvirt's <interface> does not support qos or 802.1ad; use form hostdev or auto";
	if (wrong)
		return ctx_fail(ctx, -EINVAL, "VF %s: %s", text, wrong);
	r = vfctl_vf_attrs_check(ctx, &vf->attrs);
	return r < 0 ? ctx_prefix(ctx, r, "VF %s", text) : 0;
}

static void write_driver(struct xml_node *node, const struct device_style *style)
{
	struct xml_node *driver = xml_add(node, "driver");

	xml_set(driver, "name", "vfio");
	if (style->iommufd)
		xml_set(driver, "iommufd", "yes");
}

static void write_interface(struct xml_node *node, const struct vfctl_domain_vf *vf,
	const struct device_style *style)
{
	char text[VFCTL_MAC_TEXT];

	xml_set(node, "type", "hostdev");
	xml_set(node, "managed", "yes");
	xml_set(xml_add(node, "mac"), "address", vfctl_mac_format(&vf->attrs.mac, text));
	write_driver(node, style);
	pci_write_address(xml_add(node, "source"), &vf->bdf);
	/* Without <vlan> libvirt removes the tag that the hook has just set. */
	if (vf->attrs.mask & VFCTL_ATTR_VLAN_ID && vf->attrs.vlan)
		xml_setf(xml_add(xml_add(node, "vlan"), "tag"), "id", "%u",
			vf->attrs.vlan);
}

static void write_hostdev(struct xml_node *node, const struct vfctl_domain_vf *vf,
	const struct device_style *style)
{
	xml_set(node, "mode", "subsystem");
	xml_set(node, "type", "pci");
	xml_set(node, "managed", "yes");
	write_driver(node, style);
	pci_write_address(xml_add(node, "source"), &vf->bdf);
}

/* @guest NULL: libvirt chooses the address. */
static void fill_device(struct xml_node *node, const struct vfctl_domain_vf *vf,
	const struct vfctl_bdf *guest, const struct device_style *style)
{
	if (device_is_interface(vf))
		write_interface(node, vf, style);
	else
		write_hostdev(node, vf, style);
	/* With the option ROM, each boot would scan it for a network boot that is rarely used. */
	xml_set(xml_add(node, "rom"), "bar", style->rom_bar ? "on" : "off");
	if (guest)
		pci_write_address(node, guest);
	order_sort(node);
}

static const char *element_of(const struct vfctl_domain_vf *vf)
{
	return device_is_interface(vf) ? "interface" : "hostdev";
}

void device_write(struct xml_node *parent, const struct vfctl_domain_vf *vf, uint8_t bus,
	const struct device_style *style)
{
	fill_device(xml_add(parent, element_of(vf)), vf, &(struct vfctl_bdf){.bus = bus}, style);
}

/* Keep what fill_device() does not write of an element that is rewritten. */
static void keep_others(struct xml_node *node)
{
	static const char *const ours[] = {
		"mac", "driver", "source", "vlan", "rom", "address"};

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		xml_remove_children(node, ours[i]);
}

void device_rewrite(struct xml_node *node, const struct vfctl_domain_vf *vf,
	const struct vfctl_bdf *guest, const struct device_style *style)
{
	struct xml_node *old = node;

	if (str_eq(xml_name(node), element_of(vf))) {
		keep_others(node);
		fill_device(node, vf, guest, style);
		return;
	}
	node = xml_add_before(xml_parent(old), old, element_of(vf));
	fill_device(node, vf, guest, style);
	xml_remove(old);
}

int vfctl_domain_device_xml(struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vf,
	uint8_t guest_bus, uint64_t libvirt_version, char **ret_xml)
{
	const struct vfctl_bdf guest = {.bus = guest_bus};
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = device_check(ctx, vf);

	if (r == 0)
		r = xml_new(ctx, element_of(vf), &xml);
	if (r < 0)
		return r;
	fill_device(xml_root(xml), vf, guest_bus ? &guest : NULL, &(struct device_style){0});
	return xml_print(ctx, xml, ret_xml);
}
