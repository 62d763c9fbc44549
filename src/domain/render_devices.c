// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "domain/domain.h"

/* Put the device on a root port of its own, so that libvirt takes no spare one for it. */
static int place(struct render *r, struct pci_map *map, struct xml_node *device)
{
	uint8_t bus;
	int error = pci_add_port(r->ctx, map, r->devices, &bus);

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

/* vda .. vdz, vdaa ..: the first name that no disk has. */
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

static int add_disk(struct render *r, struct pci_map *map, size_t number)
{
	const struct vfctl_guest_disk *disk = &r->guest->disks[number];
	bool virtio = str_eq(disk->bus, "virtio");
	bool direct = str_eq(disk->cache, "none") || str_eq(disk->cache, "directsync");
	struct xml_node *node, *driver, *target;
	char name[8];

	free_target(r->devices, virtio ? "vd" : "sd", name);
	node = xml_add(r->devices, "disk");
	xml_set(node, "type", disk->block ? "block" : "file");
	xml_set(node, "device", "disk");
	driver = xml_add(node, "driver");
	xml_set(driver, "name", "qemu");
	xml_set(driver, "type", disk->format == VFCTL_DISK_RAW ? "raw" : "qcow2");
	xml_set(driver, "cache", disk->cache);
	/* Linux AIO works only past the page cache. */
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
	return virtio ? place(r, map, node) : 0;
}

/* What libvirt would add unasked, or what a guest of ours should have. */
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
	node = render_child(r->devices, "rng", &added);
	if (!added)
		return 0;
	xml_set(node, "model", "virtio");
	backend = xml_add(node, "backend");
	xml_set(backend, "model", "random");
	xml_set_text(backend, "/dev/urandom");
	return place(r, map, node);
}

static void render_balloon(struct render *r)
{
	struct xml_node *balloon = xml_child(r->devices, "memballoon");

	/* Pages that a VF may write cannot be given back. */
	if (balloon && r->request->vf_count && !xml_get_is(balloon, "model", "none")) {
		xml_remove(balloon);
		balloon = NULL;
	}
	if (!balloon)
		xml_set(xml_add(r->devices, "memballoon"), "model", "none");
}

static bool uses_usb(const struct xml_node *devices)
{
	xml_each(device, devices, NULL)
	{
		const char *name = xml_name(device);

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

static void render_usb(struct render *r)
{
	struct xml_node *controller;

	if (uses_usb(r->devices))
		return;
	controller = xml_add(r->devices, "controller");
	xml_set(controller, "type", "usb");
	xml_set(controller, "model", "none");
}

static void render_root(struct render *r, struct pci_map *map)
{
	struct xml_node *root;

	if (map->controller[0])
		xml_each(c, r->devices,
			"controller") if (xml_get_is(c, "type", "pci") &&
					  xml_get_is(c, "index", "0")) return;
	root = xml_add(r->devices, "controller");
	xml_set(root, "type", "pci");
	xml_set(root, "index", "0");
	xml_set(root, "model", "pcie-root");
	map->controller[0] = true;
}

/* Does libvirt give this device of the template a root port when it defines the guest? */
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

static int refuse_taken(struct render *r)
{
	char text[VFCTL_BDF_TEXT];

	xml_each(device, r->devices, NULL)
	{
		struct vfctl_bdf bdf;
		int error = pci_source_address(r->ctx, r->file, device, &bdf);

		if (error < 0)
			return error;
		for (size_t i = 0; error > 0 && i < r->request->vf_count; i++)
			if (vfctl_bdf_compare(&bdf, &r->request->vfs[i].bdf) == 0)
				return ctx_fail(r->ctx, -EEXIST,
					"%s:%u: the template holds VF %s already; remove "
					"it there",
					r->file, xml_line(device),
					vfctl_bdf_format(&bdf, text));
	}
	for (size_t i = 0; i < r->request->vf_count; i++)
		for (size_t k = 0; k < i; k++)
			if (vfctl_bdf_compare(&r->request->vfs[i].bdf,
				    &r->request->vfs[k].bdf) == 0)
				return ctx_fail(r->ctx, -EEXIST,
					"%s: VF %s is given twice", r->guest->name,
					vfctl_bdf_format(&r->request->vfs[i].bdf, text));
	return 0;
}

static int add_vfs(struct render *r, struct pci_map *map)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < r->request->vf_count; i++) {
		uint8_t bus;

		error = pci_add_port(r->ctx, map, r->devices, &bus);
		if (error == 0)
			device_write(r->devices, &r->request->vfs[i], bus);
	}
	return error;
}

static int fill_devices(struct render *r, struct pci_map *map)
{
	uint32_t free_ports;
	uint8_t bus;
	int error = 0;

	render_balloon(r);
	render_usb(r);
	free_ports = r->guest->spare_ports + count_port_takers(r->devices);
	render_root(r, map);
	/* VFs first: their buses stay the same when disks come and go. */
	error = add_vfs(r, map);
	for (size_t i = 0; error == 0 && i < r->guest->disk_count; i++)
		error = add_disk(r, map, i);
	if (error == 0)
		error = add_basics(r, map);
	while (error == 0 && free_ports-- > 0)
		error = pci_add_port(r->ctx, map, r->devices, &bus);
	return error;
}

int render_devices(struct render *r)
{
	_cleanup_(pci_map_clear) struct pci_map map = {0};
	int error = refuse_taken(r);

	if (error == 0)
		error = pci_map_init(r->ctx, &map, r->file, r->devices);
	if (error == 0)
		error = fill_devices(r, &map);
	return error;
}
