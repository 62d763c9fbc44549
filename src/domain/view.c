// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "domain/domain.h"

#define FILE_NAME "domain"

void vfctl_domain_view_free(struct vfctl_domain_view *view)
{
	if (!view)
		return;
	free(view->name);
	free(view->uuid);
	free(view->cells);
	free(view->vcpu_pins);
	free(view->distances);
	free(view->devices);
	free(view->controllers);
	free(view->guest_addresses);
	free(view);
}

static void free_view(struct vfctl_domain_view **view)
{
	vfctl_domain_view_free(*view);
}

static int read_memory(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_domain_view *view)
{
	const struct xml_node *memory = xml_child(domain, "memory");
	const struct xml_node *huge, *page;
	const char *text;
	char buf[64];
	int r = 0;

	text = xml_text(memory, buf, sizeof(buf));
	if (text)
		r = view_bytes(ctx, memory, text, &view->memory_bytes);
	huge = xml_child(xml_child(domain, "memoryBacking"), "hugepages");
	page = xml_child(huge, "page");
	view->hugepages = huge != NULL;
	text = xml_get(page, "size");
	if (r == 0 && text)
		r = view_bytes(ctx, page, text, &view->page_bytes);
	return r;
}

/* Pins of one kind; @ret_count receives how many there are. */
static int read_pins(struct vfctl_ctx *ctx, const struct xml_node *tune, const char *name,
	struct vfctl_cpuset *io, size_t *ret_count)
{
	size_t count = 0;
	int r = 0;

	xml_each(pin, tune, name)
	{
		count++;
		r = view_list(ctx, pin, "cpuset", io);
		if (r < 0)
			return r;
	}
	*ret_count = count;
	return 0;
}

static int read_tune(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_domain_view *view)
{
	const struct xml_node *tune = xml_child(domain, "cputune");
	const struct xml_node *vcpu = xml_child(domain, "vcpu");
	struct vfctl_cpuset all = {0};
	size_t vcpu_pins = 0, pins;
	const char *text;
	char buf[32];
	int r;

	text = xml_text(vcpu, buf, sizeof(buf));
	view->vcpus = 1;
	if (text && parse_u32(text, 1, VFCTL_CPU_MAX * 4, &view->vcpus) < 0)
		return view_fail(ctx, vcpu, text);
	r = view_list(ctx, vcpu, "cpuset", &all);
	if (r == 0)
		r = read_pins(ctx, tune, "vcpupin", &view->vcpu_cpus, &vcpu_pins);
	if (r == 0)
		r = read_pins(ctx, tune, "emulatorpin", &view->emulator_cpus, &pins);
	if (r == 0)
		r = read_pins(ctx, tune, "iothreadpin", &view->iothread_cpus, &pins);
	/* Threads without a pin of their own run where <vcpu> says. */
	if (vcpu_pins < view->vcpus)
		vfctl_cpuset_or(&view->vcpu_cpus, &all);
	if (r == 0 && vfctl_cpuset_empty(&view->emulator_cpus))
		view->emulator_cpus = all;
	return r;
}

/* A MAC that is none is libvirt's to complain of: the view goes without. */
static void read_mac(const struct xml_node *device, struct vfctl_domain_device *item)
{
	const struct xml_node *mac = xml_child(device, "mac");
	const char *text = mac ? xml_get(mac, "address") : NULL;

	item->has_mac = text && vfctl_mac_parse(text, &item->mac) == 0;
}

/* One that does not fit is no driver's name. */
static void read_model(const struct xml_node *device, struct vfctl_domain_device *item)
{
	const char *text = xml_get(xml_child(device, "driver"), "model");

	if (text)
		str_copy(item->model, sizeof(item->model), text);
}

static int add_device(
	struct vfctl_ctx *ctx, struct xml_node *device, struct vfctl_domain_view *view)
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
	if (view->device_count == VFCTL_DOMAIN_DEVICES_MAX)
		return ctx_fail(ctx, -E2BIG, FILE_NAME ":%u: more than %d host devices",
			xml_line(device), VFCTL_DOMAIN_DEVICES_MAX);
	if (!array_grow(view->devices, view->device_count))
		return ctx_oom(ctx);
	view->devices[view->device_count++] = item;
	return 0;
}

static int add_controller(
	struct vfctl_ctx *ctx, struct xml_node *device, struct vfctl_domain_view *view)
{
	struct vfctl_domain_controller item = {0};
	const char *index = xml_get(device, "index"), *model = xml_get(device, "model");

	if (!str_eq(xml_name(device), "controller") ||
		!xml_get_is(device, "type", "pci") || !index)
		return 0;
	if (parse_u32(index, 0, PCI_BUSES - 1, &item.index) < 0)
		return view_fail(ctx, device, index);
	if (model && !str_copy(item.model, sizeof(item.model), model))
		return view_fail(ctx, device, model);
	if (!array_grow(view->controllers, view->controller_count))
		return ctx_oom(ctx);
	view->controllers[view->controller_count++] = item;
	return 0;
}

static int by_index(const void *a, const void *b)
{
	const struct vfctl_domain_controller *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

/* What the addresses say of the controllers. */
static void fill_controllers(struct vfctl_domain_view *view, const struct pci_map *map)
{
	for (size_t i = 0; i < view->controller_count; i++) {
		struct vfctl_domain_controller *c = &view->controllers[i];
		const struct pci_bus *bus = &map->bus[c->index];

		c->users = bus->users;
		c->parent = bus->parent;
		c->bus_nr = bus->bus_nr;
		c->cell = map->bus[pci_top(map, (uint8_t)c->index)].cell;
	}
}

static int read_pci(
	struct vfctl_ctx *ctx, struct xml_node *devices, struct vfctl_domain_view *view)
{
	_free_ struct pci_map *map = calloc(1, sizeof(*map));
	int r;

	if (!map)
		return ctx_oom(ctx);
	r = pci_map_init(ctx, map, FILE_NAME, devices);
	if (r == 0) {
		view->guest_addresses = steal(map->used);
		view->guest_address_count = map->used_count;
		fill_controllers(view, map);
	}
	pci_map_clear(map);
	return r;
}

static int read_devices(
	struct vfctl_ctx *ctx, struct xml_node *domain, struct vfctl_domain_view *view)
{
	struct xml_node *devices = xml_child(domain, "devices");
	int r = 0;

	xml_each(device, devices, NULL)
	{
		r = add_device(ctx, device, view);
		if (r == 0)
			r = add_controller(ctx, device, view);
		if (r < 0)
			return r;
	}
	if (view->controller_count)
		qsort(view->controllers, view->controller_count,
			sizeof(*view->controllers), by_index);
	return read_pci(ctx, devices, view);
}

static int read_text(struct vfctl_ctx *ctx, const struct xml_node *node, char **ret)
{
	char buf[1024];
	const char *text = xml_text(node, buf, sizeof(buf));

	if (node && !text)
		return view_fail(ctx, node, "(too long)");
	if (!text)
		return 0;
	*ret = strdup(text);
	return *ret ? 0 : ctx_oom(ctx);
}

int vfctl_domain_read(
	struct vfctl_ctx *ctx, const char *text, struct vfctl_domain_view **ret)
{
	_cleanup_(free_view) struct vfctl_domain_view *view = NULL;
	_xml_ struct xml *xml = NULL;
	struct xml_node *domain;
	int r = xml_parse_domain(ctx, FILE_NAME, text, &xml);

	if (r < 0)
		return r;
	view = calloc(1, sizeof(*view));
	if (!view)
		return ctx_oom(ctx);
	domain = xml_root(xml);
	r = read_text(ctx, xml_child(domain, "name"), &view->name);
	if (r == 0)
		r = read_text(ctx, xml_child(domain, "uuid"), &view->uuid);
	if (r == 0)
		r = read_memory(ctx, domain, view);
	if (r == 0)
		r = read_tune(ctx, domain, view);
	if (r == 0)
		r = view_read_pins(ctx, domain, view);
	if (r == 0)
		r = view_read_cells(ctx, domain, view);
	if (r == 0)
		r = read_devices(ctx, domain, view);
	if (r == 0)
		r = view_read_memlock(ctx, domain, &view->memlock);
	if (r < 0)
		return r;
	view_read_address(domain, &view->address);
	if (!view->name)
		return ctx_fail(ctx, -EINVAL, FILE_NAME ":%u: <domain> lacks <name>",
			xml_line(domain));
	*ret = steal(view);
	return 0;
}

static bool cell_has_node(const struct vfctl_domain_view *view, int cell, int node)
{
	return cell >= 0 && (size_t)cell < view->cell_count && node >= 0 &&
	       vfctl_cpuset_has(&view->cells[cell].memory_nodes, (unsigned)node);
}

static int cell_of_node(const struct vfctl_domain_view *view, int node)
{
	for (size_t i = 0; i < view->cell_count; i++)
		if (cell_has_node(view, (int)i, node))
			return (int)i;
	return -1;
}

static enum vfctl_port_locality locality_of(
	const struct vfctl_domain_view *view, int cell, int node)
{
	if (node < 0 ? cell < 0 : cell_has_node(view, cell, node))
		return VFCTL_LOCALITY_LOCAL;
	return cell < 0 ? VFCTL_LOCALITY_UNKNOWN : VFCTL_LOCALITY_WRONG;
}

int vfctl_domain_find_port(const struct vfctl_domain_view *view, int node,
	struct vfctl_domain_port *ret)
{
	struct vfctl_domain_port best = {0};

	for (size_t i = 0; i < view->controller_count; i++) {
		const struct vfctl_domain_controller *c = &view->controllers[i];
		enum vfctl_port_locality locality = locality_of(view, c->cell, node);

		if (!str_eq(c->model, "pcie-root-port") || c->users || !c->index ||
			(best.bus && locality >= best.locality))
			continue;
		best = (struct vfctl_domain_port){.bus = (uint8_t)c->index,
			.cell = c->cell, .locality = locality};
	}
	if (!best.bus)
		return -ENOENT;
	best.cell_want = cell_of_node(view, node);
	*ret = best;
	return 0;
}
