// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/parse.h"
#include "domain/definition.h"
#include "domain/domain.h"

#define FILE_NAME "domain"

void vfctl_parsed_domain_free(struct vfctl_parsed_domain *parsed)
{
	if (!parsed)
		return;
	free(parsed->name);
	free(parsed->uuid);
	free(parsed->cells);
	free(parsed->vcpu_pins);
	free(parsed->iothread_pins);
	free(parsed->distances);
	free(parsed->devices);
	free(parsed->controllers);
	free(parsed->guest_addresses);
	free(parsed->unread);
	free(parsed);
}

static int read_memory(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_parsed_domain *parsed)
{
	const struct xml_node *memory = xml_child(domain, "memory");
	const struct xml_node *huge, *page;
	const char *text;
	char buf[64];
	int r = 0;

	text = xml_text(memory, buf, sizeof(buf));
	if (text)
		r = parsed_skip(ctx, parsed,
			parsed_bytes(ctx, memory, text, &parsed->memory_bytes));
	huge = xml_child(xml_child(domain, "memoryBacking"), "hugepages");
	page = xml_child(huge, "page");
	parsed->hugepages = huge != NULL;
	text = xml_get(page, "size");
	if (r == 0 && text)
		r = parsed_skip(ctx, parsed, parsed_bytes(ctx, page, text, &parsed->page_bytes));
	return r;
}

/* libvirt accepts more vCPUs than any machine type supports. */
static int read_vcpus(struct vfctl_ctx *ctx, const struct xml_node *vcpu,
	struct vfctl_parsed_domain *parsed)
{
	char buf[32];
	const char *text = xml_text(vcpu, buf, sizeof(buf));

	parsed->vcpus = 1;
	if (!text || parse_u32(text, 1, VFCTL_CPU_MAX * 4, &parsed->vcpus) == 0)
		return 0;
	parsed->vcpus = VFCTL_CPU_MAX;
	return parsed_skip(ctx, parsed, parsed_fail(ctx, vcpu, text));
}

/* A value that is not a number counts as no I/O thread. */
static void read_iothreads(const struct xml_node *domain, struct vfctl_parsed_domain *parsed)
{
	char buf[32];
	const char *text = xml_text(xml_child(domain, "iothreads"), buf, sizeof(buf));

	if (text && parse_u32(text, 0, UINT32_MAX, &parsed->iothreads) < 0)
		parsed->iothreads = 0;
}

/* A MAC that is not valid is left out: libvirt reports it. */
static void read_mac(const struct xml_node *device, struct vfctl_domain_device *item)
{
	const struct xml_node *mac = xml_child(device, "mac");
	const char *text = mac ? xml_get(mac, "address") : NULL;

	item->has_mac = text && vfctl_mac_parse(text, &item->mac) == 0;
}

/* A longer name cannot be a driver's name. */
static void read_model(const struct xml_node *device, struct vfctl_domain_device *item)
{
	const char *text = xml_get(xml_child(device, "driver"), "model");

	if (text)
		str_copy(item->model, sizeof(item->model), text);
}

static void read_alias(const struct xml_node *device, struct vfctl_domain_device *item)
{
	const char *text = xml_get(xml_child(device, "alias"), "name");

	if (text)
		str_copy(item->alias, sizeof(item->alias), text);
}

static int add_device(
	struct vfctl_ctx *ctx, struct xml_node *device, struct vfctl_parsed_domain *parsed)
{
	struct vfctl_domain_device item = {0};
	int r = pci_source_address(ctx, FILE_NAME, device, &item.source);

	if (r <= 0)
		return r;
	item.interface = str_eq(xml_name(device), "interface");
	item.managed = xml_get_is(device, "managed", "yes");
	r = pci_guest_address(ctx, FILE_NAME, device, &item.guest);
	if (r < 0)
		return r;
	item.has_guest = r > 0;
	read_mac(device, &item);
	read_model(device, &item);
	read_alias(device, &item);
	if (parsed->device_count == VFCTL_DOMAIN_DEVICES_MAX)
		return ctx_fail(ctx, -E2BIG, FILE_NAME ":%u: more than %d host devices",
			xml_line(device), VFCTL_DOMAIN_DEVICES_MAX);
	if (!array_grow(parsed->devices, parsed->device_count))
		return ctx_oom(ctx);
	parsed->devices[parsed->device_count++] = item;
	return 0;
}

static int add_controller(
	struct vfctl_ctx *ctx, struct xml_node *device, struct vfctl_parsed_domain *parsed)
{
	struct vfctl_domain_controller item = {0};
	const char *index = xml_get(device, "index"), *model = xml_get(device, "model");

	if (!str_eq(xml_name(device), "controller") ||
		!xml_get_is(device, "type", "pci") || !index)
		return 0;
	if (parse_u32(index, 0, PCI_BUSES - 1, &item.index) < 0)
		return parsed_fail(ctx, device, index);
	if (model && !str_copy(item.model, sizeof(item.model), model))
		return parsed_fail(ctx, device, model);
	if (!array_grow(parsed->controllers, parsed->controller_count))
		return ctx_oom(ctx);
	parsed->controllers[parsed->controller_count++] = item;
	return 0;
}

static int by_index(const void *a, const void *b)
{
	const struct vfctl_domain_controller *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

/* Complete the controllers with what the addresses imply. */
static void fill_controllers(struct vfctl_parsed_domain *parsed, const struct pci_map *map)
{
	for (size_t i = 0; i < parsed->controller_count; i++) {
		struct vfctl_domain_controller *c = &parsed->controllers[i];
		const struct pci_bus *bus = &map->bus[c->index];

		c->users = bus->users;
		c->parent = bus->parent;
		c->bus_nr = bus->bus_nr;
		c->cell = map->bus[pci_top(map, (uint8_t)c->index)].cell;
	}
}

static int read_pci(
	struct vfctl_ctx *ctx, struct xml_node *devices, struct vfctl_parsed_domain *parsed)
{
	_free_ struct pci_map *map = calloc(1, sizeof(*map));
	int r;

	if (!map)
		return ctx_oom(ctx);
	r = pci_map_init(ctx, map, FILE_NAME, devices);
	if (r == 0) {
		parsed->guest_addresses = steal(map->used);
		parsed->guest_address_count = map->used_count;
		fill_controllers(parsed, map);
	}
	pci_map_clear(map);
	return r;
}

static int read_devices(
	struct vfctl_ctx *ctx, struct xml_node *domain, struct vfctl_parsed_domain *parsed)
{
	struct xml_node *devices = xml_child(domain, "devices");
	int r = 0;

	xml_each(device, devices, NULL)
	{
		r = parsed_skip(ctx, parsed, add_device(ctx, device, parsed));
		if (r == 0)
			r = parsed_skip(ctx, parsed, add_controller(ctx, device, parsed));
		if (r < 0)
			return r;
	}
	if (parsed->controller_count)
		qsort(parsed->controllers, parsed->controller_count,
			sizeof(*parsed->controllers), by_index);
	return parsed_skip(ctx, parsed, read_pci(ctx, devices, parsed));
}

static int read_text(struct vfctl_ctx *ctx, const struct xml_node *node, char **ret)
{
	char buf[1024];
	const char *text = xml_text(node, buf, sizeof(buf));

	if (node && !text)
		return parsed_fail(ctx, node, "(too long)");
	if (!text)
		return 0;
	*ret = strdup(text);
	return *ret ? 0 : ctx_oom(ctx);
}

static int read_parts(struct vfctl_ctx *ctx, struct xml_node *domain,
	struct vfctl_parsed_domain *parsed)
{
	int r = parsed_skip(ctx, parsed, read_text(ctx, xml_child(domain, "name"), &parsed->name));

	if (r == 0)
		r = parsed_skip(ctx, parsed, read_text(ctx, xml_child(domain, "uuid"), &parsed->uuid));
	if (r == 0)
		r = read_memory(ctx, domain, parsed);
	if (r == 0)
		r = read_vcpus(ctx, xml_child(domain, "vcpu"), parsed);
	if (r == 0)
		read_iothreads(domain, parsed);
	if (r == 0)
		r = parsed_read_pins(ctx, domain, parsed);
	if (r == 0)
		r = parsed_read_cells(ctx, domain, parsed);
	if (r == 0)
		r = read_devices(ctx, domain, parsed);
	if (r == 0)
		r = parsed_skip(ctx, parsed, parsed_read_memlock(ctx, domain, &parsed->memlock));
	return r;
}

static int read_domain(struct vfctl_ctx *ctx, const char *text, bool lenient,
	struct vfctl_parsed_domain **ret)
{
	_cleanup_(vfctl_parsed_domain_freep) struct vfctl_parsed_domain *parsed = NULL;
	_cleanup_(xml_freep) struct xml *xml = NULL;
	struct xml_node *domain;
	int r = xml_parse_domain(ctx, FILE_NAME, text, &xml);

	if (r < 0)
		return r;
	parsed = calloc(1, sizeof(*parsed));
	if (!parsed)
		return ctx_oom(ctx);
	parsed->lenient = lenient;
	domain = xml_root(xml);
	r = read_parts(ctx, domain, parsed);
	if (r < 0)
		return r;
	parsed_read_address(domain, &parsed->address);
	if (!parsed->name && !lenient)
		return ctx_fail(ctx, -EINVAL, FILE_NAME ":%u: <domain> lacks <name>",
			xml_line(domain));
	*ret = steal(parsed);
	return 0;
}

int vfctl_domain_read(
	struct vfctl_ctx *ctx, const char *text, struct vfctl_parsed_domain **ret)
{
	return read_domain(ctx, text, false, ret);
}

int domain_read_known(struct vfctl_ctx *ctx, const char *text, struct vfctl_parsed_domain **ret)
{
	return read_domain(ctx, text, true, ret);
}

static bool cell_has_node(const struct vfctl_parsed_domain *parsed, int cell, int node)
{
	return cell >= 0 && (size_t)cell < parsed->cell_count && node >= 0 &&
	       vfctl_cpuset_has(&parsed->cells[cell].memory_nodes, (unsigned)node);
}

static int cell_of_node(const struct vfctl_parsed_domain *parsed, int node)
{
	for (size_t i = 0; i < parsed->cell_count; i++)
		if (cell_has_node(parsed, (int)i, node))
			return (int)i;
	return -1;
}

static enum vfctl_port_locality locality_of(
	const struct vfctl_parsed_domain *parsed, int cell, int node)
{
	if (node < 0 ? cell < 0 : cell_has_node(parsed, cell, node))
		return VFCTL_LOCALITY_LOCAL;
	return cell < 0 ? VFCTL_LOCALITY_UNKNOWN : VFCTL_LOCALITY_WRONG;
}

static bool is_port(const struct vfctl_domain_controller *c)
{
	return c->index && (str_eq(c->model, "pcie-root-port") ||
		str_eq(c->model, "pcie-switch-downstream-port"));
}

int vfctl_domain_find_port(const struct vfctl_parsed_domain *parsed, int node,
	struct vfctl_domain_port *ret)
{
	struct vfctl_domain_port best = {0};

	for (size_t i = 0; i < parsed->controller_count; i++) {
		const struct vfctl_domain_controller *c = &parsed->controllers[i];
		enum vfctl_port_locality locality = locality_of(parsed, c->cell, node);

		if (!is_port(c) || c->users ||
			(best.bus && locality >= best.locality))
			continue;
		best = (struct vfctl_domain_port){.bus = (uint8_t)c->index,
			.cell = c->cell, .locality = locality};
	}
	if (!best.bus)
		return -ENOENT;
	best.cell_want = cell_of_node(parsed, node);
	*ret = best;
	return 0;
}
