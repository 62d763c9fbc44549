// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PCI expander buses: each is a separate PCI root with a NUMA node, from which the guest's kernel
 * learns the node of a VF.
 *
 * Firmware numbers buses in the order in which it finds them. The main root is 0, followed by the
 * buses below it; an expander has a given number, followed by the buses below it. QEMU rejects two
 * roots with the same number, but accepts overlapping ranges, and the guest then loses devices. So
 * each expander gets a range for all its buses, from 255 down; the buses of the main root use the
 * low numbers.
 */
#include <errno.h>

#include "domain/domain.h"

#define ROOM_NONE (-1)
/* Numbers reserved above those of the main root, for controllers that libvirt adds on its own. */
#define MAIN_RESERVE 4

int expander_add(struct vfctl_ctx *ctx, struct pci_map *map, struct xml_node *devices,
	int cell, uint32_t root, uint8_t *ret_bus)
{
	struct xml_node *node, *target;
	unsigned slot = 0;
	uint8_t index = 0;
	int r = pci_free_index(ctx, map, &index);

	if (r == 0)
		r = pci_free_slot(ctx, map, 0, &slot);
	if (r < 0)
		return r;
	node = xml_add(devices, "controller");
	xml_set(node, "type", "pci");
	xml_setf(node, "index", "%u", index);
	xml_set(node, "model", "pcie-expander-bus");
	target = xml_add(node, "target");
	xml_set_textf(xml_add(target, "node"), "%d", cell);
	pci_write_address(node, &(struct vfctl_bdf){.slot = (uint8_t)slot});
	map->bus[0].taken[slot] = UINT8_MAX;
	map->bus[0].users++;
	map->bus[index].node = node;
	map->bus[index].kind = PCI_EXPANDER;
	map->bus[index].cell = cell;
	map->bus[index].root = root;
	*ret_bus = index;
	return 0;
}

/* Number of buses of a root: its own, and one for each controller below it. */
static unsigned buses_of(const struct pci_map *map, unsigned root)
{
	unsigned n = root ? 1 : 1 + map->unnumbered;

	for (unsigned i = 1; i < PCI_BUSES; i++)
		n += map->bus[i].kind != PCI_NOT_THERE && map->bus[i].kind != PCI_EXPANDER &&
		     pci_top(map, (uint8_t)i) == root;
	return n;
}

static bool is_room(const bool *taken, unsigned from, unsigned count)
{
	if (from + count > PCI_BUSES)
		return false;
	for (unsigned i = from; i < from + count; i++)
		if (taken[i])
			return false;
	return true;
}

static void take_expander(bool *taken, unsigned from, unsigned count)
{
	memset(taken + from, true, count * sizeof(*taken));
}

/* Find the highest free range. */
static int find_room(const bool *taken, unsigned count)
{
	for (int from = BUS_NR_MAX; from > 0; from--)
		if (is_room(taken, (unsigned)from, count))
			return from;
	return ROOM_NONE;
}

static void set_number(struct pci_bus *bus, unsigned number)
{
	bus->bus_nr = number;
	xml_setf(render_child(bus->node, "target", NULL), "busNr", "%u", number);
}

/* Existing numbers are kept: first those of foreign expanders, which vfctl must not change. */
static int keep_numbers(struct vfctl_ctx *ctx, struct pci_map *map, const char *file,
	bool foreign, bool *taken)
{
	for (unsigned i = 1; i < PCI_BUSES; i++) {
		struct pci_bus *bus = &map->bus[i];
		unsigned count;

		if (bus->kind != PCI_EXPANDER || bus->foreign != foreign || !bus->bus_nr)
			continue;
		count = buses_of(map, i);
		if (is_room(taken, bus->bus_nr, count))
			take_expander(taken, bus->bus_nr, count);
		else if (foreign)
			return ctx_fail(ctx, -EINVAL,
				"%s:%u: PCI controller %u: buses %u to %u overlap those of other PCI "
				"roots; give it another busNr",
				file, xml_line(bus->node), i, bus->bus_nr,
				bus->bus_nr + count - 1);
		else
			bus->bus_nr = 0;
	}
	return 0;
}

int expanders_number(struct vfctl_ctx *ctx, struct pci_map *map, const char *file)
{
	bool taken[PCI_BUSES] = {0};
	unsigned main_buses = buses_of(map, 0);
	int r;

	take_expander(taken, 0, main_buses < PCI_BUSES ? main_buses : PCI_BUSES);
	r = keep_numbers(ctx, map, file, true, taken);
	if (r == 0)
		r = keep_numbers(ctx, map, file, false, taken);
	if (r < 0)
		return r;
	take_expander(taken, 0, main_buses + MAIN_RESERVE < PCI_BUSES ? main_buses + MAIN_RESERVE
							     : PCI_BUSES);
	for (unsigned i = 1; i < PCI_BUSES; i++) {
		struct pci_bus *bus = &map->bus[i];
		unsigned count;
		int from;

		if (bus->kind != PCI_EXPANDER || bus->bus_nr)
			continue;
		count = buses_of(map, i);
		from = find_room(taken, count);
		if (from == ROOM_NONE)
			return ctx_fail(ctx, -ENOSPC,
				"domain: another PCI root needs %u consecutive PCI bus numbers, which "
				"are not free; use fewer VFs or spare ports, or set xml.expanders: off",
				count);
		set_number(bus, (unsigned)from);
		take_expander(taken, (unsigned)from, count);
	}
	return 0;
}
