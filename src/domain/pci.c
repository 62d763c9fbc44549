// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/parse.h"
#include "domain/domain.h"

/*
 * Slots of bus 0 for our ports: 0 and 0x1f belong to q35 itself, 1 is where libvirt puts
 * the first video card, 0x1a to 0x1e where it puts USB, sound and the bridge for
 * conventional PCI.
 */
#define SLOT_FIRST 0x02
#define SLOT_LAST 0x19
#define FUNCTIONS 8

static int read_field(
	const struct xml_node *address, const char *name, uint64_t max, uint64_t *ret)
{
	const char *text = xml_get(address, name);
	uint64_t value = 0;
	int r = 0;

	if (text)
		r = str_starts(text, "0x") || str_starts(text, "0X")
			    ? parse_hex(text, max, &value)
			    : parse_u64(text, 0, max, &value);
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
				"%s:%u: PCI address: %s='%.32s' is no %s", file,
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
	struct xml_node *address = xml_add(parent, "address");

	/* The address of a <hostdev>'s source has no type in the schema. */
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
		/* <address type='pci'/> alone only asks for some PCI address. */
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

static int note_controller(struct vfctl_ctx *ctx, struct pci_map *map, const char *file,
	struct xml_node *device)
{
	const char *index = xml_get(device, "index");
	uint32_t number;

	if (!str_eq(xml_name(device), "controller") ||
		!xml_get_is(device, "type", "pci") || !index)
		return 0;
	if (parse_u32(index, 0, 255, &number) < 0)
		return ctx_fail(ctx, -EINVAL,
			"%s:%u: controller index '%.32s' is not 0 to 255", file,
			xml_line(device), index);
	map->controller[number] = true;
	return 0;
}

static int note_address(
	struct vfctl_ctx *ctx, struct pci_map *map, const struct vfctl_bdf *bdf)
{
	if (!array_grow(map->used, map->used_count))
		return ctx_oom(ctx);
	map->used[map->used_count++] = *bdf;
	/* libvirt makes the controller of a bus that is only mentioned. */
	map->controller[bdf->bus] = true;
	if (bdf->bus == 0)
		map->root_slot[bdf->slot & 31] = true;
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

	map->slot = SLOT_FIRST - 1;
	map->function = FUNCTIONS;
	xml_each(device, devices, NULL)
	{
		struct vfctl_bdf bdf;

		r = note_controller(ctx, map, file, device);
		if (r == 0)
			r = pci_guest_address(ctx, file, device, &bdf);
		if (r > 0)
			r = note_address(ctx, map, &bdf);
		if (r < 0)
			return r;
	}
	if (map->used_count)
		qsort(map->used, map->used_count, sizeof(*map->used), by_address);
	return 0;
}

void pci_map_clear(struct pci_map *map)
{
	free(map->used);
	*map = (struct pci_map){0};
}

static int next_slot(struct vfctl_ctx *ctx, struct pci_map *map)
{
	do {
		map->slot++;
	} while (map->slot <= SLOT_LAST && map->root_slot[map->slot]);
	map->function = 0;
	if (map->slot > SLOT_LAST)
		return ctx_fail(ctx, -ENOSPC,
			"domain: no PCI slot is left for another root port; "
			"remove devices with addresses on bus 0");
	return 0;
}

int pci_add_port(struct vfctl_ctx *ctx, struct pci_map *map, struct xml_node *devices,
	uint8_t *ret_bus)
{
	struct xml_node *port, *address;
	unsigned index = 1;
	int r = 0;

	while (index < 256 && map->controller[index])
		index++;
	if (index == 256)
		return ctx_fail(ctx, -ENOSPC,
			"domain: all 255 PCI controller numbers are taken; remove some "
			"devices");
	if (map->function == FUNCTIONS)
		r = next_slot(ctx, map);
	if (r < 0)
		return r;
	port = xml_add(devices, "controller");
	xml_set(port, "type", "pci");
	xml_setf(port, "index", "%u", index);
	xml_set(port, "model", "pcie-root-port");
	pci_write_address(port, &(struct vfctl_bdf){.slot = (uint8_t)map->slot,
					.function = (uint8_t)map->function});
	address = xml_child(port, "address");
	if (map->function == 0)
		xml_set(address, "multifunction", "on");
	map->function++;
	map->controller[index] = true;
	*ret_bus = (uint8_t)index;
	return 0;
}
