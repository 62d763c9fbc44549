// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>

#include "domain/domain.h"

/* Put the device on its own root port, so that libvirt does not use a spare one for it. */
static int place_render_device(struct render *r, struct pci_map *map, struct xml_node *device)
{
	uint8_t bus;
	int error = pci_take_port(
		r->ctx, map, r->devices, 0, render_ports_kept(r), &bus);

	if (error == 0)
		pci_write_address(device, &(struct vfctl_bdf){.bus = bus});
	return error;
}

static bool target_taken(const struct xml_node *devices, const char *name)
{
	xml_each(disk, devices, "disk") if (xml_get_is(xml_child(disk, "target"), "dev",
						    name)) return true;
	return false;
}

/* vda .. vdz, vdaa ..: the first name without a disk. */
static void free_target(const struct xml_node *devices, const char *prefix, char name[8])
{
	for (unsigned n = 0;; n++) {
		if (n < 26)
			snprintf(name, 8, "%s%c", prefix, 'a' + n);
		else
			snprintf(name, 8, "%s%c%c", prefix, 'a' + (n / 26 - 1) % 26,
				'a' + n % 26);
		if (!target_taken(devices, name))
			return;
	}
}

/* Whether the template has a disk of the same image: it is not changed. */
static bool has_disk(const struct xml_node *devices, const struct vfctl_guest_disk *disk)
{
	const char *attr = disk->block ? "dev" : "file";

	xml_each(other, devices, "disk")
	{
		if (xml_get_is(xml_child(other, "source"), attr, disk->source))
			return true;
	}
	return false;
}

static int add_disk(struct render *r, struct pci_map *map, size_t number)
{
	const struct vfctl_guest_disk *disk = &r->guest->disks[number];
	bool virtio = str_eq(disk->bus, "virtio");
	bool direct = str_eq(disk->cache, "none") || str_eq(disk->cache, "directsync");
	struct xml_node *node, *driver, *target;
	char name[8];

	if (has_disk(r->devices, disk))
		return 0;
	free_target(r->devices, virtio ? "vd" : "sd", name);
	node = xml_add(r->devices, "disk");
	xml_set(node, "type", disk->block ? "block" : "file");
	xml_set(node, "device", "disk");
	driver = xml_add(node, "driver");
	xml_set(driver, "name", "qemu");
	xml_set(driver, "type", disk->format == VFCTL_DISK_RAW ? "raw" : "qcow2");
	xml_set(driver, "cache", disk->cache);
	/* Linux AIO works only without the page cache. */
	if (direct)
		xml_set(driver, "io", "native");
	if (virtio && r->guest->iothreads)
		xml_setf(driver, "iothread", "%zu", number % r->guest->iothreads + 1);
	xml_set(xml_add(node, "source"), disk->block ? "dev" : "file", disk->source);
	target = xml_add(node, "target");
	xml_set(target, "dev", name);
	xml_set(target, "bus", disk->bus);
	if (disk->readonly)
		xml_add(node, "readonly");
	return virtio ? place_render_device(r, map, node) : 0;
}

/* Add devices that libvirt would add by default, or that every guest of vfctl should have. */
static int add_basics(struct render *r, struct pci_map *map)
{
	struct xml_node *node, *backend;
	bool added;

	if (r->guest->console && !xml_child(r->devices, "serial") &&
		!xml_child(r->devices, "console")) {
		node = xml_add(r->devices, "serial");
		xml_set(node, "type", "pty");
		xml_set(xml_add(node, "target"), "port", "0");
		node = xml_add(r->devices, "console");
		xml_set(node, "type", "pty");
		node = xml_add(node, "target");
		xml_set(node, "type", "serial");
		xml_set(node, "port", "0");
	}
	if (r->guest->xml.rng == VFCTL_CHOICE_OFF)
		return 0;
	node = render_child(r->devices, "rng", &added);
	if (!added)
		return 0;
	xml_set(node, "model", "virtio");
	backend = xml_add(node, "backend");
	xml_set(backend, "model", "random");
	xml_set_text(backend, "/dev/urandom");
	return place_render_device(r, map, node);
}

/* libvirt rejects several balloons, so remove all that may return memory. */
static void remove_balloons(struct render *r)
{
	struct xml_node *next, *balloon = xml_child(r->devices, "memballoon");

	for (; balloon; balloon = next) {
		next = xml_next(balloon, "memballoon");
		if (!xml_get_is(balloon, "model", "none"))
			xml_remove(balloon);
	}
}

static void render_balloon(struct render *r)
{
	enum vfctl_choice choice = r->guest->xml.balloon;
	bool virtio = choice == VFCTL_CHOICE_ON && !r->request->vf_count;
	struct xml_node *balloon = xml_child(r->devices, "memballoon");

	/* Memory that a VF may write to cannot be returned to the host. */
	if (balloon && (choice != VFCTL_CHOICE_AUTO || r->request->vf_count)) {
		if (virtio && !xml_get_is(balloon, "model", "none"))
			return;
		remove_balloons(r);
		balloon = xml_child(r->devices, "memballoon");
	}
	if (!balloon)
		balloon = xml_add(r->devices, "memballoon");
	if (virtio)
		xml_set(balloon, "model", "virtio");
	else if (!xml_get(balloon, "model"))
		xml_set(balloon, "model", "none");
}

/* A PCI controller or a PCI device of the host, which no USB address makes a USB device. */
static bool is_pci(const struct xml_node *device)
{
	return xml_get_is(device, "type", str_eq(xml_name(device), "interface") ? "hostdev" : "pci");
}

static bool uses_usb(const struct xml_node *devices)
{
	xml_each(device, devices, NULL)
	{
		const char *name = xml_name(device);

		if (xml_get_is(device, "model", "none") || is_pci(device))
			continue;
		if ((str_eq(name, "controller") && xml_get_is(device, "type", "usb")) ||
			xml_get_is(device, "bus", "usb") ||
			xml_get_is(device, "type", "usb") ||
			xml_get_is(xml_child(device, "target"), "bus", "usb") ||
			xml_get_is(xml_child(device, "address"), "type", "usb") ||
			str_eq(name, "graphics") || str_eq(name, "redirdev") ||
			str_eq(name, "hub") || str_eq(name, "smartcard"))
			return true;
	}
	return false;
}

static int render_usb(struct render *r)
{
	enum vfctl_choice choice = r->guest->xml.usb;
	struct xml_node *controller;

	/* An element from a former rendering. */
	xml_each(old, r->devices, "controller")
	{
		if (choice == VFCTL_CHOICE_ON && xml_get_is(old, "type", "usb") &&
			xml_get_is(old, "model", "none")) {
			xml_set(old, "model", "qemu-xhci");
			return 0;
		}
	}
	if (uses_usb(r->devices)) {
		if (choice != VFCTL_CHOICE_OFF)
			return 0;
		return ctx_fail(r->ctx, -EINVAL,
			"%s: the template uses USB, but xml.usb is off; remove USB there, or set "
			"xml.usb: on",
			r->file);
	}
	controller = xml_child(r->devices, "controller");
	while (controller && !xml_get_is(controller, "type", "usb"))
		controller = xml_next(controller, "controller");
	if (controller)
		return 0;
	controller = xml_add(r->devices, "controller");
	xml_set(controller, "type", "usb");
	xml_set(controller, "model",
		choice == VFCTL_CHOICE_ON ? "qemu-xhci" : "none");
	return 0;
}

/*
 * Caching mode, because VFIO must see what the guest maps. More than 255 vCPUs need interrupts in
 * extended mode.
 */
static void render_iommu(struct render *r)
{
	struct xml_node *iommu, *driver;
	bool added;

	if (r->guest->xml.iommu == VFCTL_CHOICE_OFF)
		xml_remove_children(r->devices, "iommu");
	if (!render_wants_iommu(r))
		return;
	iommu = render_child(r->devices, "iommu", &added);
	if (!added && r->guest->xml.iommu == VFCTL_CHOICE_AUTO &&
		!xml_get_is(iommu, "model", "intel"))
		return;
	xml_set(iommu, "model", "intel");
	driver = render_child(iommu, "driver", NULL);
	xml_set(driver, "intremap", "on");
	xml_set(driver, "caching_mode", "on");
	if (r->guest->vcpus > VFCTL_VCPUS_WITHOUT_IOMMU)
		xml_set(driver, "eim", "on");
}

/* libvirt accepts no other controller 0 for q35; it gives this model to one without. */
static int render_root(struct render *r, struct pci_map *map)
{
	struct xml_node *root = map->bus[0].node;
	const char *model = xml_get(root, "model");

	if (model && !str_eq(model, "pcie-root"))
		return ctx_fail(r->ctx, -EINVAL,
			"%s:%u: PCI controller 0 has the model '%.64s'; q35 needs pcie-root: "
			"remove the controller",
			r->file, xml_line(root), model);
	if (root)
		return 0;
	root = xml_add(r->devices, "controller");
	xml_set(root, "type", "pci");
	xml_set(root, "index", "0");
	xml_set(root, "model", "pcie-root");
	map->bus[0].node = root;
	map->bus[0].kind = PCI_ROOT;
	return 0;
}

/* Whether libvirt assigns a root port to this device of the template when it defines the guest. */
static bool takes_a_port(struct xml_node *device)
{
	static const struct {
		const char *name, *attr, *value; /* attr NULL: always */
	} kinds[] = {
		{"controller", "type", "scsi"}, {"controller", "type", "virtio-serial"},
		{"controller", "type", "usb"}, {"interface", NULL, NULL},
		{"rng", NULL, NULL}, {"filesystem", NULL, NULL}, {"vsock", NULL, NULL},
		{"crypto", NULL, NULL}, {"input", "bus", "virtio"},
		{"hostdev", "type", "pci"}, {"memballoon", NULL, NULL},
		{"channel", NULL, NULL}, /* its virtio-serial controller */
	};

	if (xml_child(device, "address") && !str_eq(xml_name(device), "channel"))
		return false;
	if (xml_get_is(device, "model", "none"))
		return false;
	if (str_eq(xml_name(device), "disk"))
		return xml_get_is(xml_child(device, "target"), "bus", "virtio");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_eq(kinds[i].name, xml_name(device)) &&
			(!kinds[i].attr ||
				xml_get_is(device, kinds[i].attr, kinds[i].value)))
			return true;
	return false;
}

static uint32_t count_port_takers(const struct xml_node *devices)
{
	bool serial = false;
	uint32_t n = 0;

	xml_each(device, devices, NULL)
	{
		bool of_serial = str_eq(xml_name(device), "channel") ||
				 xml_get_is(device, "type", "virtio-serial");

		if (!takes_a_port(device) || (of_serial && serial))
			continue;
		serial |= of_serial;
		n++;
	}
	return n;
}

static int fill_devices(struct render *r, struct pci_map *map)
{
	int error;

	if (r->guest->xml.rng == VFCTL_CHOICE_OFF)
		xml_remove_children(r->devices, "rng");
	render_balloon(r);
	render_iommu(r);
	render_device_refs(r);
	error = render_usb(r);
	if (error == 0)
		error = render_root(r, map);
	if (error < 0)
		return error;
	/* All devices of the template that go are gone. */
	r->port_takers = count_port_takers(r->devices);
	/* VFs first: their buses stay the same if disks are added or removed. */
	error = render_vfs(r, map);
	for (size_t i = 0; error == 0 && i < r->guest->disk_count; i++)
		error = add_disk(r, map, i);
	if (error == 0)
		error = add_basics(r, map);
	if (error == 0)
		error = render_spare_ports(r, map);
	return error < 0 ? error : expanders_number(r->ctx, map, r->file);
}

int render_devices(struct render *r)
{
	_free_ struct pci_map *map = calloc(1, sizeof(*map));
	int error;

	if (!map)
		return ctx_oom(r->ctx);
	error = render_vfs_refuse(r);
	if (error == 0)
		error = render_vfs_clean(r, map);
	if (error == 0)
		error = fill_devices(r, map);
	pci_map_clear(map);
	return error;
}
