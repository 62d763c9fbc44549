// SPDX-License-Identifier: GPL-2.0-or-later
/* Interfaces that get a VF from a libvirt network, which chooses it at each start. */
#include "domain/domain.h"

int domain_networks(struct vfctl_ctx *ctx, const char *text, char ***ret_names)
{
	_strv_ char **names = calloc(1, sizeof(*names));
	_cleanup_(xml_freep) struct xml *xml = NULL;
	size_t count = 0;
	int r = names ? xml_parse_domain(ctx, "domain", text, &xml) : ctx_oom(ctx);

	if (r < 0)
		return r;
	xml_each(node, xml_child(xml_root(xml), "devices"), "interface") {
		const char *name = xml_get(xml_child(node, "source"), "network");
		char **more;

		if (!xml_get_is(node, "type", "network") || !name)
			continue;
		more = reallocarray(names, count + 2, sizeof(*names));
		if (!more)
			return ctx_oom(ctx);
		names = more;
		names[count] = strdup(name);
		names[count + 1] = NULL;
		if (!names[count++])
			return ctx_oom(ctx);
	}
	*ret_names = steal(names);
	return 0;
}

int network_is_pool(struct vfctl_ctx *ctx, const char *text)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = xml_parse(ctx, "network", text, strlen(text), &xml);

	return r < 0 ? r : xml_get_is(xml_child(xml_root(xml), "forward"), "mode", "hostdev");
}

int metadata_remove(struct vfctl_ctx *ctx, const char *text, char **ret_xml)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = xml_parse_domain(ctx, "domain", text, &xml);
	struct xml_node *metadata, *guest;

	if (r < 0)
		return r;
	metadata = xml_child(xml_root(xml), "metadata");
	while ((guest = xml_child_ns(metadata, VFCTL_METADATA_NS, METADATA_GUEST)))
		xml_remove(guest);
	if (metadata && !xml_has_children(metadata))
		xml_remove(metadata);
	return xml_print(ctx, xml, ret_xml);
}
