/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_DOMAIN_DOMAIN_H
#define VFCTL_DOMAIN_DOMAIN_H

#include "domain/xml.h"
#include "vfctl/domain.h"

/* Our element: <vfctl:guest lease=""><vfctl:vf pf="" index="" bdf="" .../></vfctl:guest>
 */
#define METADATA_PREFIX "vfctl"
#define METADATA_GUEST "guest"
#define METADATA_VF "vf"

/* intent.c: one VF as attributes; shared by writer and both readers. */
int intent_vf_attr(struct vfctl_ctx *ctx, struct vfctl_domain_vf *vf, uint32_t *given,
	const char *name, const char *value);
/* All that a VF needs was given and fits together. */
int intent_vf_check(
	struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vf, uint32_t given);
bool lease_id_valid(const char *id);
const char *form_name(enum vfctl_vf_form form);

/* metadata.c */
void metadata_write(struct xml_node *domain, const char *lease_id,
	const struct vfctl_domain_vf *vfs, size_t count);

/* pci.c: what of the guest's PCI is in use. */
struct pci_map {
	bool controller[256];   /* PCI controller indexes */
	bool root_slot[32];     /* slots of bus 0 with any function in use */
	struct vfctl_bdf *used; /* all guest addresses */
	size_t used_count;
	unsigned slot;     /* where ports are being added */
	unsigned function; /* 8: the slot is full */
};

int pci_map_init(struct vfctl_ctx *ctx, struct pci_map *map, const char *file,
	struct xml_node *devices);
void pci_map_clear(struct pci_map *map);
/*
 * Add a root port at an explicit address of bus 0. @ret_bus is its controller's index.
 * -ENOSPC when slots or numbers run out.
 */
int pci_add_port(struct vfctl_ctx *ctx, struct pci_map *map, struct xml_node *devices,
	uint8_t *ret_bus);
/* A PCI <address> of a device or, inside <source>, of the host; -EINVAL with words. */
int pci_read_address(struct vfctl_ctx *ctx, const char *file, struct xml_node *address,
	struct vfctl_bdf *ret);
void pci_write_address(struct xml_node *parent, const struct vfctl_bdf *bdf);
/* The element's guest address: 1 when it has one. */
int pci_guest_address(struct vfctl_ctx *ctx, const char *file, struct xml_node *device,
	struct vfctl_bdf *ret);
/* The host address of a PCI hostdev or a hostdev interface: 1 when it is one. */
int pci_source_address(struct vfctl_ctx *ctx, const char *file, struct xml_node *device,
	struct vfctl_bdf *ret);

/* device.c */
int device_check(struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vf);
bool device_is_interface(const struct vfctl_domain_vf *vf);
void device_write(struct xml_node *parent, const struct vfctl_domain_vf *vf, uint8_t bus);

/* Versions in which libvirt learnt an element; older ones drop or refuse it. */
#define SINCE_CPU_MAXIMUM 7001000
#define SINCE_ALLOCATION_THREADS 8002000
#define SINCE_MAXPHYSADDR 8007000

/* Distances of ACPI's SLIT. */
enum { DISTANCE_LOCAL = 10, DISTANCE_UNREACHABLE = 255 };

/* assignment.c */
int assignment_check(struct vfctl_ctx *ctx, const struct vfctl_domain_request *request);
/* Some vCPU shares its CPUs with other guests. */
bool assignment_shares(const struct vfctl_assignment *a);
/* The placement of this VF and its guest cell, or NULL when the planner did not choose it. */
const struct vfctl_free_vf *assignment_vf(const struct vfctl_assignment *a,
	const struct vfctl_bdf *bdf, uint32_t *ret_cell);

/* render_*.c: each completes its part of the domain. */
struct render {
	struct vfctl_ctx *ctx;
	const struct vfctl_domain_request *request;
	const struct vfctl_guest *guest;
	const struct vfctl_assignment *assignment;
	const char *file; /* the template's name */
	uint64_t version; /* of libvirt */
	bool kvm;
	struct xml_node *domain;
	struct xml_node *devices;
};

/* The child of <domain>, made before <devices> when the template has none. */
struct xml_node *render_section(struct render *r, const char *name);
/* The child of @parent, made when it has none; *@ret_new says which. */
struct xml_node *render_child(struct xml_node *parent, const char *name, bool *ret_new);
/*
 * Remove the children with these names. What replaces them goes before the returned
 * element, or last when that is NULL: rendering our own output changes no order.
 */
struct xml_node *render_take_out(
	struct xml_node *parent, const char *const *names, size_t count);
/* A CPU or node list as an attribute. */
void render_set_list(
	struct xml_node *node, const char *attr, const struct vfctl_cpuset *set);
int render_cpu(struct render *r);
void render_cells(struct render *r, struct xml_node *cpu);
void render_memory(struct render *r);
void render_pins(struct render *r);
int render_devices(struct render *r);

#endif
