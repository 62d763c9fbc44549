// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VFs and their places in the guest: below an expander of their node, or below the main root if the
 * host does not know their node. The template may be a former output: then a VF keeps its place,
 * and free ports and expanders are used again.
 */
#include <errno.h>

#include "types/find.h"
#include "domain/domain.h"

/* The place of a VF: cell -1 is the main root. */
struct home {
	int cell;
	uint32_t root;
};

static struct home home_of(const struct render *r, const struct vfctl_domain_vf *vf)
{
	uint32_t cell = 0;
	const struct vfctl_free_vf *placed = assignment_vf(r->assignment, &vf->bdf, &cell);

	if (!placed || placed->node < 0 || r->guest->xml.expanders == VFCTL_CHOICE_OFF)
		return (struct home){.cell = -1};
	return (struct home){.cell = (int)cell, .root = placed->root};
}

static bool owns(const struct render *r, const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; i < r->owned_count; i++)
		if (vfctl_bdf_compare(&r->owned[i].bdf, bdf) == 0)
			return true;
	return false;
}

static const struct vfctl_domain_vf *find_request(
	const struct render *r, const struct vfctl_bdf *bdf)
{
	return find_domain_vf(r->request->vfs, r->request->vf_count, bdf);
}

/* ---- the contents of the template ---- */

int render_vfs_refuse(struct render *r)
{
	char text[VFCTL_BDF_TEXT];

	xml_each(device, r->devices, NULL)
	{
		struct vfctl_bdf bdf;
		int error = pci_source_address(r->ctx, r->file, device, &bdf);

		if (error < 0)
			return error;
		if (error > 0 && find_request(r, &bdf) &&
			!owns(r, &bdf))
			return ctx_fail(r->ctx, -EEXIST,
				"%s:%u: the template already has VF %s; remove it there",
				r->file, xml_line(device), vfctl_bdf_format(&bdf, text));
	}
	for (size_t i = 0; i < r->request->vf_count; i++)
		if (find_request(r, &r->request->vfs[i].bdf) != &r->request->vfs[i])
			return ctx_fail(r->ctx, -EEXIST, "%s: VF %s is given twice",
				r->guest->name,
				vfctl_bdf_format(&r->request->vfs[i].bdf, text));
	return 0;
}

/* 1: a VF in vfctl's metadata, which vfctl may move or remove. */
static int read_owned(
	struct render *r, struct xml_node *device, struct vfctl_bdf *ret_source)
{
	int error = pci_source_address(r->ctx, r->file, device, ret_source);

	if (error <= 0)
		return error;
	return owns(r, ret_source);
}

/* Remove VFs of the former placement, and a second element of the same VF. */
static int remove_old_vfs(struct render *r)
{
	struct xml_node *device = xml_child(r->devices, NULL), *next;
	struct vfctl_bdf seen[VFCTL_GUEST_VFS_MAX];
	size_t seen_count = 0;

	for (; device; device = next) {
		struct vfctl_bdf bdf;
		int error = read_owned(r, device, &bdf);

		next = xml_next(device, NULL);
		if (error < 0)
			return error;
		if (error == 0)
			continue;
		if (!find_request(r, &bdf) || bdf_list_has(seen, seen_count, &bdf))
			xml_remove(device);
		else
			seen[seen_count++] = bdf;
	}
	return 0;
}

/* An expander with anything except vfctl's VFs below it must not be changed. */
static int mark_foreign(struct render *r, struct pci_map *map)
{
	xml_each(device, r->devices, NULL)
	{
		struct vfctl_bdf guest, source;
		int error = pci_guest_address(r->ctx, r->file, device, &guest);

		if (error > 0 && !str_eq(xml_name(device), "controller")) {
			error = read_owned(r, device, &source);
			if (error == 0)
				map->bus[pci_top(map, guest.bus)].foreign = true;
		}
		if (error < 0)
			return error;
	}
	for (unsigned i = 1; i < PCI_BUSES; i++)
		if (map->bus[i].kind == PCI_OTHER || map->bus[i].kind == PCI_DOWNSTREAM ||
			map->bus[i].kind == PCI_MENTIONED ||
			xml_get_is(map->bus[i].node, "model", "pci-expander-bus"))
			map->bus[pci_top(map, (uint8_t)i)].foreign = true;
	return 0;
}

static void remove_expander(struct render *r, struct pci_map *map, unsigned number)
{
	for (unsigned i = 1; i < PCI_BUSES; i++) {
		struct xml_node *device = xml_child(r->devices, NULL), *next;

		if (i == number || map->bus[i].kind != PCI_PORT ||
			pci_top(map, (uint8_t)i) != number)
			continue;
		/* vfctl's VFs below it are placed again. */
		for (; device; device = next) {
			struct vfctl_bdf guest;

			next = xml_next(device, NULL);
			if (pci_guest_address(r->ctx, r->file, device, &guest) > 0 &&
				guest.bus == i)
				xml_remove(device);
		}
		xml_remove(map->bus[i].node);
	}
	xml_remove(map->bus[number].node);
}

/* An expander of a missing guest node: libvirt would refuse to start the guest. */
static int remove_stale_expanders(struct render *r, struct pci_map *map)
{
	for (unsigned i = 1; i < PCI_BUSES; i++) {
		struct pci_bus *bus = &map->bus[i];

		if (bus->kind != PCI_EXPANDER ||
			bus->cell < (int)r->assignment->cell_count)
			continue;
		if (bus->foreign)
			return ctx_fail(r->ctx, -EINVAL,
				"%s:%u: PCI controller %u is on guest node %d, but the guest has %zu "
				"nodes; move its devices or change its <node>",
				r->file, xml_line(bus->node), i, bus->cell,
				r->assignment->cell_count);
		remove_expander(r, map, i);
	}
	return 0;
}

int render_vfs_clean(struct render *r, struct pci_map *map)
{
	int error = pci_check_twice(r->ctx, r->file, r->devices);

	if (error == 0)
		error = remove_old_vfs(r);
	if (error == 0)
		error = pci_map_init(r->ctx, map, r->file, r->devices);
	if (error == 0)
		error = mark_foreign(r, map);
	if (error == 0)
		error = remove_stale_expanders(r, map);
	if (error < 0)
		return error;
	pci_map_clear(map);
	error = pci_map_init(r->ctx, map, r->file, r->devices);
	return error < 0 ? error : mark_foreign(r, map);
}

/* ---- the places of VFs ---- */

/* A requested VF and its present element. */
struct kept {
	struct xml_node *device; /* NULL: it has none, or none with its own place */
	struct vfctl_bdf guest;
	struct home home;
};

static bool place_is_home(const struct pci_map *map, const struct kept *kept)
{
	const struct pci_bus *top = &map->bus[pci_top(map, kept->guest.bus)];

	if (map->bus[kept->guest.bus].kind != PCI_PORT &&
		map->bus[kept->guest.bus].kind != PCI_DOWNSTREAM)
		return false;
	if (kept->home.cell < 0)
		return top->kind != PCI_EXPANDER;
	return top->kind == PCI_EXPANDER && top->cell == kept->home.cell &&
	       (top->root == ROOT_UNBOUND || top->root == kept->home.root);
}

static int find_kept(struct render *r, const struct vfctl_domain_vf *vf, struct kept *ret)
{
	xml_each(device, r->devices, NULL)
	{
		struct vfctl_bdf source;
		int error = read_owned(r, device, &source);

		if (error < 0)
			return error;
		if (error == 0 || vfctl_bdf_compare(&source, &vf->bdf) != 0)
			continue;
		ret->device = device;
		error = pci_guest_address(r->ctx, r->file, device, &ret->guest);
		if (error < 0)
			return error;
	}
	return 0;
}

static int keep_places(struct render *r, struct pci_map *map, struct kept *kept)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < r->request->vf_count; i++) {
		struct kept *k = &kept[i];

		k->home = home_of(r, &r->request->vfs[i]);
		error = find_kept(r, &r->request->vfs[i], k);
		if (error < 0 || !k->device)
			continue;
		if (place_is_home(map, k)) {
			if (k->home.cell >= 0)
				map->bus[pci_top(map, k->guest.bus)].root = k->home.root;
			continue;
		}
		if (map->bus[k->guest.bus].users)
			map->bus[k->guest.bus].users--;
		xml_remove(steal(k->device));
	}
	return error;
}

/* Find the expander of this host root and guest cell; an unused one is bound to it. */
static int find_expander(
	struct render *r, struct pci_map *map, const struct home *home, uint8_t *ret_bus)
{
	unsigned found = 0;

	for (unsigned i = 1; i < PCI_BUSES; i++) {
		const struct pci_bus *bus = &map->bus[i];

		if (bus->kind != PCI_EXPANDER || bus->cell != home->cell || bus->foreign)
			continue;
		if (bus->root == home->root) {
			*ret_bus = (uint8_t)i;
			return 0;
		}
		if (bus->root == ROOT_UNBOUND && !found)
			found = i;
	}
	if (!found)
		return expander_add(
			r->ctx, map, r->devices, home->cell, home->root, ret_bus);
	map->bus[found].root = home->root;
	*ret_bus = (uint8_t)found;
	return 0;
}

unsigned render_ports_kept(const struct render *r)
{
	return r->guest->spare_ports + r->port_takers;
}

static int place_vf(struct render *r, struct pci_map *map, const struct vfctl_domain_vf *vf,
	const struct kept *kept)
{
	unsigned keep = render_ports_kept(r);
	uint8_t parent = 0, bus = 0;
	int error = 0;

	if (kept->device) {
		device_rewrite(kept->device, vf, &kept->guest, &r->style);
		return 0;
	}
	if (kept->home.cell >= 0) {
		keep = r->guest->xml.expander_ports;
		error = find_expander(r, map, &kept->home, &parent);
	}
	if (error == 0)
		error = pci_take_port(r->ctx, map, r->devices, parent, keep, &bus);
	if (error == 0)
		device_write(r->devices, vf, bus, &r->style);
	return error;
}

int render_vfs(struct render *r, struct pci_map *map)
{
	_free_ struct kept *kept = calloc(r->request->vf_count + 1, sizeof(*kept));
	int error;

	if (!kept)
		return ctx_oom(r->ctx);
	error = keep_places(r, map, kept);
	for (size_t i = 0; error == 0 && i < r->request->vf_count; i++)
		error = place_vf(r, map, &r->request->vfs[i], &kept[i]);
	return error;
}

static int fill_up(struct render *r, struct pci_map *map, uint8_t parent, unsigned wanted)
{
	unsigned have = pci_free_ports(map, parent);
	int error = 0;
	uint8_t bus;

	for (; error == 0 && have < wanted; have++)
		error = pci_add_port(r->ctx, map, r->devices, parent, &bus);
	return error;
}

/*
 * Ports of the main root come first: libvirt gives a device without an address the free port with
 * the lowest number, and the ports of a node are for its VFs.
 */
int render_spare_ports(struct render *r, struct pci_map *map)
{
	int error = fill_up(r, map, 0, render_ports_kept(r));

	if (r->guest->xml.expanders == VFCTL_CHOICE_OFF)
		return error;
	for (unsigned i = 1; error == 0 && i < PCI_BUSES; i++)
		if (map->bus[i].kind == PCI_EXPANDER && !map->bus[i].foreign)
			error = fill_up(
				r, map, (uint8_t)i, r->guest->xml.expander_ports);
	return error;
}
