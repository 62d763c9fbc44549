// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Add a VF to a domain, remove it or change its attributes, in vfctl's metadata and in the devices.
 */
#include <errno.h>

#include "domain/definition.h"
#include "domain/domain.h"

/* libvirt gives the VF of an <interface> MAC and VLAN itself, after the hook. */
static void change_interface(struct xml_node *node, const struct vfctl_vf_attrs *attrs)
{
	char text[VFCTL_MAC_TEXT];
	bool fresh;

	if (attrs->mask & VFCTL_ATTR_MAC)
		xml_set(render_child(node, "mac", &fresh), "address",
			vfctl_mac_format(&attrs->mac, text));
	if (!(attrs->mask & VFCTL_ATTR_VLAN_ID))
		return;
	xml_remove_children(node, "vlan");
	if (attrs->vlan)
		xml_setf(xml_add(xml_add(node, "vlan"), "tag"), "id", "%u", attrs->vlan);
}

static int change_devices(struct vfctl_ctx *ctx, struct xml_node *devices,
	const struct vfctl_bdf *bdf, const struct vfctl_vf_attrs *attrs)
{
	xml_each(node, devices, "interface") {
		struct vfctl_bdf source;
		int r = pci_source_address(ctx, "domain", node, &source);

		if (r < 0)
			return r;
		if (r == 1 && vfctl_bdf_compare(&source, bdf) == 0)
			change_interface(node, attrs);
	}
	return 0;
}

int vfctl_domain_change_vf(struct vfctl_ctx *ctx, const char *text,
	const struct vfctl_bdf *bdf, const struct vfctl_vf_attrs *attrs, char **ret_xml)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	struct xml_node *vf;
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;
	int r = xml_parse_domain(ctx, "domain", text, &xml);

	if (r < 0)
		return r;
	vf = metadata_vf(xml_root(xml), bdf);
	/* If the VLAN tag is removed, these are removed too. */
	if (vf && attrs->mask & VFCTL_ATTR_VLAN_ID && !attrs->vlan) {
		xml_unset(vf, "qos");
		xml_unset(vf, "proto");
	}
	while (vf && vfctl_vf_attrs_next(attrs, &i, &key, value))
		xml_set(vf, key, value);
	r = change_devices(ctx, xml_child(xml_root(xml), "devices"), bdf, attrs);
	return r < 0 ? r : xml_print(ctx, xml, ret_xml);
}

int vfctl_domain_add_device(struct vfctl_ctx *ctx, const char *text,
	const struct vfctl_domain_vf *vf, uint8_t guest_bus, char **ret_xml)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	struct xml_node *devices;
	int r = device_check(ctx, vf);

	if (r == 0)
		r = xml_parse_domain(ctx, "domain", text, &xml);
	if (r < 0)
		return r;
	devices = xml_child(xml_root(xml), "devices");
	device_write(devices ? devices : order_add(xml_root(xml), "devices"), vf, guest_bus,
		&(struct device_style){0});
	return xml_print(ctx, xml, ret_xml);
}

/* 1: there was one. */
static int remove_all(struct vfctl_ctx *ctx, struct xml_node *devices, const char *element,
	const struct vfctl_bdf *bdf)
{
	struct xml_node *next;
	int found = 0;

	for (struct xml_node *node = xml_child(devices, element); node; node = next) {
		struct vfctl_bdf source;
		int r = pci_source_address(ctx, "domain", node, &source);

		if (r < 0)
			return r;
		next = xml_next(node, element);
		if (r == 0 || vfctl_bdf_compare(&source, bdf))
			continue;
		xml_remove(node);
		found = 1;
	}
	return found;
}

int vfctl_domain_remove_device(struct vfctl_ctx *ctx, const char *text,
	const struct vfctl_bdf *bdf, char **ret_xml)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	struct xml_node *devices;
	char name[VFCTL_BDF_TEXT];
	int r = xml_parse_domain(ctx, "domain", text, &xml), interfaces, others;

	if (r < 0)
		return r;
	devices = xml_child(xml_root(xml), "devices");
	interfaces = remove_all(ctx, devices, "interface", bdf);
	others = interfaces < 0 ? interfaces : remove_all(ctx, devices, "hostdev", bdf);
	if (others < 0)
		return others;
	if (!interfaces && !others)
		return ctx_fail(ctx, -ENOENT, "domain: VF %s is not one of its devices",
			vfctl_bdf_format(bdf, name));
	return xml_print(ctx, xml, ret_xml);
}
