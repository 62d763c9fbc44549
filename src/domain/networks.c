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

void libvirt_network_clear(struct libvirt_network *network)
{
	strv_free(network->pfs);
	strv_free(network->interfaces);
	free(network->functions);
	*network = (struct libvirt_network){0};
}

static int add_name(struct vfctl_ctx *ctx, char ***io, const char *name)
{
	size_t count = *io ? strv_len(*io) : 0;

	if (!name)
		return 0;
	if (!array_grow(*io, count) || !array_grow(*io, count + 1))
		return ctx_oom(ctx);
	(*io)[count] = strdup(name);
	if (!(*io)[count])
		return ctx_oom(ctx);
	(*io)[count + 1] = NULL;
	return 0;
}

static int add_function(struct vfctl_ctx *ctx, struct libvirt_network *network,
	struct xml_node *address)
{
	if (!array_grow(network->functions, network->function_count))
		return ctx_oom(ctx);
	return pci_read_address(ctx, "network", address,
		&network->functions[network->function_count++]);
}

static int read_forward(struct vfctl_ctx *ctx, const struct xml_node *forward,
	struct libvirt_network *network)
{
	/* The short form of one <interface>: libvirt writes both. */
	int r = add_name(ctx, &network->interfaces, xml_get(forward, "dev"));

	for (struct xml_node *c = xml_child(forward, NULL); c && r == 0; c = xml_next(c, NULL)) {
		if (str_eq(xml_name(c), "pf"))
			r = add_name(ctx, &network->pfs, xml_get(c, "dev"));
		else if (str_eq(xml_name(c), "interface"))
			r = add_name(ctx, &network->interfaces, xml_get(c, "dev"));
		else if (str_eq(xml_name(c), "address"))
			r = add_function(ctx, network, c);
	}
	return r;
}

/* libvirt gives a VF itself (hostdev), or a macvtap on its network device (the other modes). */
static bool is_pool_mode(const char *mode)
{
	static const char *const modes[] = {"hostdev", "passthrough", "private", "vepa", "bridge"};

	for (size_t i = 0; mode && i < ARRAY_SIZE(modes); i++)
		if (str_eq(modes[i], mode))
			return true;
	return false;
}

int libvirt_network_read(struct vfctl_ctx *ctx, const char *text, struct libvirt_network *ret)
{
	_cleanup_(libvirt_network_clear) struct libvirt_network network = {0};
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = xml_parse(ctx, "network", text, strlen(text), &xml);
	const struct xml_node *root = r == 0 ? xml_root(xml) : NULL, *forward;

	if (root && str_eq(xml_name(root), "networkstatus"))
		root = xml_child(root, "network");
	forward = xml_child(root, "forward");
	if (r == 0 && forward && is_pool_mode(xml_get(forward, "mode")))
		r = read_forward(ctx, forward, &network);
	if (r < 0)
		return r;
	network.hostdev = xml_get_is(forward, "mode", "hostdev");
	*ret = network;
	network = (struct libvirt_network){0};
	return 0;
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
