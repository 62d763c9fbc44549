// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/parse.h"
#include "domain/domain.h"

/*
 * Slots of bus 0 for vfctl's ports: 0 and 0x1f belong to q35 itself; libvirt uses 1 for the first
 * video card, and 0x1a to 0x1e for USB, sound and the bridge for conventional PCI.
 */
#define SLOT_FIRST 0x02
#define SLOT_LAST 0x19

static int read_field(
	const struct xml_node *address, const char *name, uint64_t max, uint64_t *ret)
{
	const char *text = xml_get(address, name);
	uint64_t value = 0;
	int r = 0;

	if (text)
		r = parse_any_base(text, max, &value);
	if (r == 0)
		*ret = value;
	return r;
}

int pci_read_address(struct vfctl_ctx *ctx, const char *file, struct xml_node *address,
	struct vfctl_bdf *ret)
{
	static const struct {
		const char *name;
		uint64_t max;
	} fields[] = {
		{"domain", UINT32_MAX}, {"bus", 255}, {"slot", 31}, {"function", 7}};
	uint64_t value[ARRAY_SIZE(fields)] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (read_field(address, fields[i].name, fields[i].max, &value[i]) < 0)
			return ctx_fail(ctx, -EINVAL,
				"%s:%u: PCI address: %s='%.32s' is not a %s", file,
				xml_line(address), fields[i].name,
				xml_get(address, fields[i].name), fields[i].name);
	*ret = (struct vfctl_bdf){
		.domain = (uint32_t)value[0],
		.bus = (uint8_t)value[1],
		.slot = (uint8_t)value[2],
		.function = (uint8_t)value[3],
	};
	return 0;
}

void pci_write_address(struct xml_node *parent, const struct vfctl_bdf *bdf)
{
	struct xml_node *address = xml_child(parent, "address");

	if (!address)
		address = xml_add(parent, "address");
	/* In the schema the address of a <hostdev>'s source has no type. */
	if (!str_eq(xml_name(parent), "source") ||
		str_eq(xml_name(xml_parent(parent)), "interface"))
		xml_set(address, "type", "pci");
	xml_setf(address, "domain", "0x%04x", bdf->domain);
	xml_setf(address, "bus", "0x%02x", bdf->bus);
	xml_setf(address, "slot", "0x%02x", bdf->slot);
	xml_setf(address, "function", "0x%x", bdf->function);
}

int pci_guest_address(struct vfctl_ctx *ctx, const char *file, struct xml_node *device,
	struct vfctl_bdf *ret)
{
	int r;

	xml_each(address, device, "address")
	{
		/* <address type='pci'/> alone only requests any PCI address. */
		if (!xml_get_is(address, "type", "pci") || !xml_get(address, "slot"))
			continue;
		r = pci_read_address(ctx, file, address, ret);
		return r < 0 ? r : 1;
	}
	return 0;
}

int pci_source_address(struct vfctl_ctx *ctx, const char *file, struct xml_node *device,
	struct vfctl_bdf *ret)
{
	bool hostdev = str_eq(xml_name(device), "hostdev") &&
		       xml_get_is(device, "type", "pci") &&
		       !xml_get_is(device, "mode", "capabilities");
	bool interface = str_eq(xml_name(device), "interface") &&
			 xml_get_is(device, "type", "hostdev");
	struct xml_node *address = xml_child(xml_child(device, "source"), "address");
	int r;

	if ((!hostdev && !interface) || !address)
		return 0;
	r = pci_read_address(ctx, file, address, ret);
	return r < 0 ? r : 1;
}

static enum pci_kind kind_of(const char *model)
{
	static const struct {
		const char *model;
		enum pci_kind kind;
	} kinds[] = {{"pcie-root", PCI_ROOT}, {"pci-root", PCI_ROOT},
		{"pcie-expander-bus", PCI_EXPANDER}, {"pci-expander-bus", PCI_EXPANDER},
		{"pcie-root-port", PCI_PORT}, {"pcie-switch-downstream-port", PCI_DOWNSTREAM}};

	for (size_t i = 0; model && i < ARRAY_SIZE(kinds); i++)
		if (str_eq(kinds[i].model, model))
			return kinds[i].kind;
	return PCI_OTHER;
}

static int note_expander(struct vfctl_ctx *ctx, const char *file, struct xml_node *device,
	struct pci_bus *bus)
{
	struct xml_node *target = xml_child(device, "target");
	const char *number = xml_get(target, "busNr"), *text;
	uint32_t value = 0;
	char buf[16];

	if (number && parse_u32(number, 1, BUS_NR_MAX, &value) < 0)
		return ctx_fail(ctx, -EINVAL, "%s:%u: busNr '%.32s' is not 1 to %d", file,
			xml_line(device), number, BUS_NR_MAX);
	bus->bus_nr = value;
	text = xml_text(xml_child(target, "node"), buf, sizeof(buf));
	if (text && parse_u32(text, 0, VFCTL_CPU_MAX - 1, &value) < 0)
		return ctx_fail(ctx, -EINVAL, "%s:%u: <node> '%s' is not a guest node", file,
			xml_line(device), text);
	bus->cell = text ? (int)value : -1;
	return 0;
}

static int note_controller(struct vfctl_ctx *ctx, struct pci_map *map, const char *file,
	struct xml_node *device)
{
	const char *index = xml_get(device, "index");
	struct pci_bus *bus;
	uint32_t number;

	if (!str_eq(xml_name(device), "controller") ||
		!xml_get_is(device, "type", "pci"))
		return 0;
	map->unnumbered += !index;
	if (!index)
		return 0;
	if (parse_u32(index, 0, PCI_BUSES - 1, &number) < 0)
		return ctx_fail(ctx, -EINVAL,
			"%s:%u: controller index '%.32s' is not 0 to 255", file,
			xml_line(device), index);
	bus = &map->bus[number];
	bus->node = device;
	bus->kind = kind_of(xml_get(device, "model"));
	return bus->kind == PCI_EXPANDER ? note_expander(ctx, file, device, bus) : 0;
}

static int note_address(struct vfctl_ctx *ctx, struct pci_map *map, struct xml_node *device,
	const struct vfctl_bdf *bdf)
{
	struct pci_bus *bus = &map->bus[bdf->bus];
	uint32_t own;

	if (!array_grow(map->used, map->used_count))
		return ctx_oom(ctx);
	map->used[map->used_count++] = *bdf;
	bus->taken[bdf->slot % PCI_SLOTS] |= (uint8_t)(1u << bdf->function % PCI_FUNCTIONS);
	bus->users++;
	if (bus->kind == PCI_NOT_THERE)
		bus->kind = PCI_MENTIONED;
	if (str_eq(xml_name(device), "controller") && xml_get_is(device, "type", "pci") &&
		xml_get(device, "index") &&
		parse_u32(xml_get(device, "index"), 0, PCI_BUSES - 1, &own) == 0)
		map->bus[own].parent = bdf->bus;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	return vfctl_bdf_compare(a, b);
}

int pci_map_init(struct vfctl_ctx *ctx, struct pci_map *map, const char *file,
	struct xml_node *devices)
{
	int r = 0;

	for (size_t i = 0; i < PCI_BUSES; i++)
		map->bus[i] = (struct pci_bus){.slot = i ? 0 : SLOT_FIRST,
			.function = PCI_FUNCTIONS, .cell = -1, .root = ROOT_UNBOUND};
	xml_each(device, devices, NULL)
	{
		struct vfctl_bdf bdf;

		r = note_controller(ctx, map, file, device);
		if (r == 0)
			r = pci_guest_address(ctx, file, device, &bdf);
		if (r > 0)
			r = note_address(ctx, map, device, &bdf);
		if (r < 0)
			return r;
	}
	if (map->used_count)
		qsort(map->used, map->used_count, sizeof(*map->used), by_address);
	return 0;
}

int pci_check_twice(struct vfctl_ctx *ctx, const char *file, struct xml_node *devices)
{
	bool seen[PCI_BUSES] = {0};

	xml_each(device, devices, "controller")
	{
		uint32_t number;

		if (!xml_get_is(device, "type", "pci") || !xml_get(device, "index") ||
			parse_u32(xml_get(device, "index"), 0, PCI_BUSES - 1, &number) < 0)
			continue;
		if (seen[number])
			return ctx_fail(ctx, -EINVAL, "%s:%u: PCI controller %u exists twice; remove one of "
				"them or give it another index", file, xml_line(device), number);
		seen[number] = true;
	}
	return 0;
}

void pci_map_clear(struct pci_map *map)
{
	free(map->used);
	*map = (struct pci_map){0};
}

uint8_t pci_top(const struct pci_map *map, uint8_t bus)
{
	/* In hostile XML controllers may be below each other. */
	for (unsigned depth = 0; depth < PCI_BUSES; depth++) {
		if (!bus || map->bus[bus].kind == PCI_EXPANDER)
			return bus;
		bus = map->bus[bus].parent;
	}
	return 0;
}

bool pci_port_is_free(const struct pci_map *map, unsigned bus)
{
	return map->bus[bus].kind == PCI_PORT && !map->bus[bus].users && bus;
}

unsigned pci_free_ports(const struct pci_map *map, uint8_t parent)
{
	unsigned n = 0;

	for (unsigned i = 1; i < PCI_BUSES; i++)
		n += pci_port_is_free(map, i) && map->bus[i].parent == parent;
	return n;
}

int pci_free_index(struct vfctl_ctx *ctx, const struct pci_map *map, uint8_t *ret_index)
{
	for (unsigned i = 1; i < PCI_BUSES; i++)
		if (map->bus[i].kind == PCI_NOT_THERE) {
			*ret_index = (uint8_t)i;
			return 0;
		}
	return ctx_fail(ctx, -ENOSPC,
		"domain: all 255 PCI controller numbers are taken; remove some devices");
}

int pci_free_slot(struct vfctl_ctx *ctx, const struct pci_map *map, uint8_t bus,
	unsigned *ret_slot)
{
	unsigned first = bus ? 0 : SLOT_FIRST, last = bus ? PCI_SLOTS - 1 : SLOT_LAST;

	for (unsigned slot = first; slot <= last; slot++)
		if (!map->bus[bus].taken[slot]) {
			*ret_slot = slot;
			return 0;
		}
	return ctx_fail(ctx, -ENOSPC,
		"domain: bus %u has no free PCI slot for another root port; remove devices with "
		"addresses there, or use fewer VFs or spare ports",
		bus);
}

/* Place the controller that creates bus @index at the next function of its parent. */
static int place_port(struct vfctl_ctx *ctx, struct pci_map *map, uint8_t parent,
	struct xml_node *port)
{
	struct pci_bus *bus = &map->bus[parent];
	struct xml_node *address;
	int r = 0;

	if (bus->function == PCI_FUNCTIONS) {
		r = pci_free_slot(ctx, map, parent, &bus->slot);
		if (r < 0)
			return r;
		bus->function = 0;
	}
	pci_write_address(port, &(struct vfctl_bdf){.bus = parent,
					.slot = (uint8_t)bus->slot,
					.function = (uint8_t)bus->function});
	address = xml_child(port, "address");
	if (bus->function == 0)
		xml_set(address, "multifunction", "on");
	bus->taken[bus->slot] |= (uint8_t)(1u << bus->function++);
	bus->users++;
	return 0;
}

int pci_add_port(struct vfctl_ctx *ctx, struct pci_map *map, struct xml_node *devices,
	uint8_t parent, uint8_t *ret_bus)
{
	struct xml_node *port;
	uint8_t index = 0;
	int r = pci_free_index(ctx, map, &index);

	if (r < 0)
		return r;
	port = xml_add(devices, "controller");
	xml_set(port, "type", "pci");
	xml_setf(port, "index", "%u", index);
	xml_set(port, "model", "pcie-root-port");
	r = place_port(ctx, map, parent, port);
	if (r < 0)
		return r;
	map->bus[index].node = port;
	map->bus[index].kind = PCI_PORT;
	map->bus[index].parent = parent;
	*ret_bus = index;
	return 0;
}

int pci_take_port(struct vfctl_ctx *ctx, struct pci_map *map, struct xml_node *devices,
	uint8_t parent, unsigned keep_free, uint8_t *ret_bus)
{
	unsigned bus = PCI_BUSES;
	uint8_t added = 0;
	int r = 0;

	if (pci_free_ports(map, parent) > keep_free)
		for (bus = 1; bus < PCI_BUSES; bus++)
			if (pci_port_is_free(map, bus) && map->bus[bus].parent == parent)
				break;
	if (bus == PCI_BUSES) {
		r = pci_add_port(ctx, map, devices, parent, &added);
		bus = added;
	}
	if (r < 0)
		return r;
	map->bus[bus].users++;
	*ret_bus = (uint8_t)bus;
	return 0;
}
