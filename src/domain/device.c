// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "domain/definition.h"
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

/* What other programs wrote into an element that vfctl rewrites stays. */
static struct xml_node *child_of(struct xml_node *node, const char *name)
{
	struct xml_node *child = xml_child(node, name);

	return child ? child : xml_add(node, name);
}

static void write_managed(struct xml_node *node)
{
	if (!xml_get(node, "managed"))
		xml_set(node, "managed", "yes");
}

static void write_driver(struct xml_node *node, const struct device_style *style)
{
	struct xml_node *driver = child_of(node, "driver");

	xml_set(driver, "name", "vfio");
	if (style->iommufd)
		xml_set(driver, "iommufd", "yes");
	else
		xml_unset(driver, "iommufd");
}

/* Without <vlan> libvirt removes the tag that the hook has just set. */
static void write_vlan(struct xml_node *node, const struct vfctl_vf_attrs *attrs)
{
	struct xml_node *vlan, *tag;

	if (!(attrs->mask & VFCTL_ATTR_VLAN_ID) || !attrs->vlan) {
		xml_remove_children(node, "vlan");
		return;
	}
	vlan = child_of(node, "vlan");
	tag = child_of(vlan, "tag");
	while (xml_next(tag, "tag"))
		xml_remove(xml_next(tag, "tag"));
	xml_setf(tag, "id", "%u", attrs->vlan);
}

static void write_interface(struct xml_node *node, const struct vfctl_domain_vf *vf,
	const struct device_style *style)
{
	char text[VFCTL_MAC_TEXT];

	xml_set(node, "type", "hostdev");
	write_managed(node);
	xml_set(child_of(node, "mac"), "address", vfctl_mac_format(&vf->attrs.mac, text));
	write_driver(node, style);
	pci_write_address(child_of(node, "source"), &vf->bdf);
	write_vlan(node, &vf->attrs);
}

static void write_hostdev(struct xml_node *node, const struct vfctl_domain_vf *vf,
	const struct device_style *style)
{
	xml_set(node, "mode", "subsystem");
	xml_set(node, "type", "pci");
	write_managed(node);
	write_driver(node, style);
	pci_write_address(child_of(node, "source"), &vf->bdf);
}

/*
 * With the option ROM, each boot would scan it for a network boot that is rarely used. An
 * administrator who names a file wants it.
 */
static void write_rom(struct xml_node *node, const struct device_style *style)
{
	struct xml_node *rom = child_of(node, "rom");

	if (!xml_get(rom, "file"))
		xml_set(rom, "bar", style->rom_bar ? "on" : "off");
}

/* @guest NULL: libvirt chooses the address. */
static void fill_device(struct xml_node *node, const struct vfctl_domain_vf *vf,
	const struct vfctl_bdf *guest, const struct device_style *style)
{
	if (device_is_interface(vf))
		write_interface(node, vf, style);
	else
		write_hostdev(node, vf, style);
	write_rom(node, style);
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

/* Elements that <interface> and <hostdev> have in common. */
static void copy_common(struct xml_node *to, const struct xml_node *from)
{
	static const char *const common[] = {
		"driver", "rom", "boot", "alias", "acpi", "teaming", "address"};

	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		if (xml_child(from, common[i]))
			xml_add_copy(to, xml_child(from, common[i]));
	if (xml_get(from, "managed"))
		xml_set(to, "managed", xml_get(from, "managed"));
}

void device_rewrite(struct xml_node *node, const struct vfctl_domain_vf *vf,
	const struct vfctl_bdf *guest, const struct device_style *style)
{
	struct xml_node *old = node;

	if (!str_eq(xml_name(node), element_of(vf))) {
		node = xml_add_before(xml_parent(old), old, element_of(vf));
		copy_common(node, old);
	}
	fill_device(node, vf, guest, style);
	if (node != old)
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

int vfctl_domain_unplug_xml(struct vfctl_ctx *ctx, const struct vfctl_domain_device *device,
	char **ret_xml)
{
	struct vfctl_domain_vf vf = {.bdf = device->source,
		.form = device->interface ? VFCTL_FORM_INTERFACE : VFCTL_FORM_HOSTDEV,
		.attrs = {.mask = device->has_mac ? VFCTL_ATTR_MAC : 0u, .mac = device->mac}};
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = xml_new(ctx, element_of(&vf), &xml);

	if (r < 0)
		return r;
	fill_device(xml_root(xml), &vf, device->has_guest ? &device->guest : NULL,
		&(struct device_style){0});
	if (device->alias[0])
		xml_set(xml_add(xml_root(xml), "alias"), "name", device->alias);
	order_sort(xml_root(xml));
	return xml_print(ctx, xml, ret_xml);
}
