/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_DOMAIN_DOMAIN_H
#define VFCTL_DOMAIN_DOMAIN_H

#include "domain/xml.h"
#include "types/domain.h"

/* vfctl's element: <vfctl:guest lease=""><vfctl:vf pf="" index="" bdf="" .../></vfctl:guest> */
#define METADATA_PREFIX "vfctl"
#define METADATA_GUEST "guest"
#define METADATA_VF "vf"
#define METADATA_TUNING "tuning" /* tuning.c */
#define METADATA_SPEC "said" /* JSON: the guest's file, see facts/guest_spec.h */
#define METADATA_TEMPLATE "template" /* and the hash of its template's text */

/* parsed_text.c: numbers and lists as libvirt writes them. */
int parsed_fail(struct vfctl_ctx *ctx, const struct xml_node *node, const char *value);
/* Convert @number from the node's unit to bytes. */
int parsed_bytes(struct vfctl_ctx *ctx, const struct xml_node *node, const char *number,
	uint64_t *ret);
/* Add the list in the attribute, if there is one. */
int parsed_list(struct vfctl_ctx *ctx, const struct xml_node *node, const char *attr,
	struct vfctl_cpuset *io);

/*
 * A part of @parsed could not be read (@r, with the message in @ctx): a lenient reader records that
 * in @unread, continues without it and returns 0; otherwise returns @r.
 */
int parsed_skip(struct vfctl_ctx *ctx, struct vfctl_parsed_domain *parsed, int r);

/*
 * vfctl_domain_read() of a domain that another program may have defined: a value that cannot be
 * read is left out and recorded in @unread of the struct. -EINVAL only if it is not domain XML at
 * all.
 */
int domain_read_known(struct vfctl_ctx *ctx, const char *xml, struct vfctl_parsed_domain **ret);

/*
 * The stream's reader for a survey of all domains: *@ret has what could be read, devices first.
 * *@ret_unread (free it) describes what could not, NULL if all could. The only failure is -ENOMEM.
 */
int domain_intent_read_known(struct vfctl_ctx *ctx, const char *xml, size_t len,
	struct vfctl_domain_intent *ret, char **ret_unread);

/* qemu_arg.c: a host device in an argument of QEMU. */
struct qemu_device {
	struct vfctl_bdf bdf;
	char path[64]; /* of a vDPA device; "": it is @bdf */
};
/*
 * 1: the value of a -device, -netdev or -drive names a host device, in QEMU's own form or as JSON;
 * 0: it names none; -EINVAL: its address cannot be read.
 */
int qemu_arg_device(const char *value, struct qemu_device *ret);

/* parsed_numa.c, parsed_pins.c */
int parsed_read_cells(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_parsed_domain *parsed);
int parsed_read_pins(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_parsed_domain *parsed);
/* address.c, memlock.c: of a <domain>. */
void parsed_read_address(const struct xml_node *domain, struct vfctl_domain_address *ret);
int parsed_read_memlock(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_memlock *ret);

/* intent.c: one VF as attributes; shared by writer and both readers. */
int intent_vf_attr(struct vfctl_ctx *ctx, struct vfctl_domain_vf *vf, uint32_t *given,
	const char *name, const char *value);
/* Check that everything that a VF needs was given and is consistent. */
int intent_vf_check(
	struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vf, uint32_t given);
/* tuning.c: nothing is written for a guest without requests. */
void tuning_write(struct xml_node *guest, const struct vfctl_guest_tuning *tuning);
/* False: there is no such attribute, or its value is not valid. */
bool tuning_attr(struct vfctl_guest_tuning *tuning, const char *name, const char *value);
bool lease_id_valid(const char *id);
const char *form_name(enum vfctl_vf_form form);

/*
 * merge3.c: a definition that vfctl changed from @before to @written, and its present state @now.
 * Other programs may have changed it since; their changes are kept.
 */
/*
 * Remove the effects of that change on the VFs from @now, in vfctl's metadata and in the devices.
 * *@ret_xml is NULL if there are none; it is @before itself if nothing else was changed
 * (@ret_others false).
 */
int domain_take_back(struct vfctl_ctx *ctx, const char *before, const char *written,
	const char *now,
	char **ret_xml, bool *ret_others);
/* 1: vfctl wrote or found everything in it; libvirt's own form of an element counts as vfctl's. */
int domain_is_as_written(struct vfctl_ctx *ctx, const char *before, const char *written,
	const char *now);

/* order.c: the order of elements that every libvirt accepts. */
/* Sort the children of a <domain> or a <hostdev>; those of one name keep their order. */
void order_sort(struct xml_node *parent);
/* Add a child in its place. */
struct xml_node *order_add(struct xml_node *parent, const char *name);

/* metadata.c */
/* vfctl's element, or NULL; create it; remove it, with a <metadata> that is then empty. */
struct xml_node *metadata_guest(struct xml_node *domain);
struct xml_node *metadata_make_guest(struct xml_node *domain, const char *lease_id);
void metadata_drop_guest(struct xml_node *domain);
void metadata_write(
	struct xml_node *domain, const struct vfctl_domain_request *request);
/* The VFs in a domain's metadata, with their places on the host. */
int metadata_places(struct vfctl_ctx *ctx, struct xml_node *domain,
	struct vfctl_free_vf **ret, size_t *ret_count);
int root_parse(const char *text, uint32_t *ret);
/* Do the same for a domain's XML. */
int metadata_read_places(struct vfctl_ctx *ctx, const char *xml, struct vfctl_free_vf **ret,
	size_t *ret_count);
/*
 * Remove the places of these VFs from the metadata: vfctl attach gave them. @ret_xml: the whole
 * domain.
 */
int metadata_forget_places(struct vfctl_ctx *ctx, const char *xml, const struct vfctl_bdf *vfs,
	size_t count, char **ret_xml);
/* Remove vfctl's metadata and keep everything else. @ret_xml: the whole domain. */
int metadata_remove(struct vfctl_ctx *ctx, const char *xml, char **ret_xml);

/* networks.c: names of the libvirt networks of the domain's interfaces, NULL-terminated. */
int domain_networks(struct vfctl_ctx *ctx, const char *xml, char ***ret_names);
/*
 * The devices of the host that a libvirt network gives to its domains. A network of another kind
 * has none.
 */
struct libvirt_network {
	bool hostdev;	   /* it gives VFs themselves, not macvtaps on them */
	char **pfs;	   /* names of network devices of PFs: it gives their VFs; NULL if none */
	char **interfaces; /* names of network devices, also dev= of <forward>; NULL if none */
	/*
	 * VFs by address. libvirt writes all addresses beside the PF into a network that is active, and
	 * ignores the PF if both are there.
	 */
	struct vfctl_bdf *functions;
	size_t function_count;
};
/* -EINVAL: it is not XML, or an address is not valid. */
int libvirt_network_read(struct vfctl_ctx *ctx, const char *xml, struct libvirt_network *ret);
void libvirt_network_clear(struct libvirt_network *network);
/*
 * Write the guest's file into vfctl's metadata. @template_hash: 0 if there is none. @ret_xml: the
 * whole domain.
 */
int metadata_set_spec(struct vfctl_ctx *ctx, const char *xml, const char *spec,
	uint64_t template_hash,
	char **ret_xml);
/* *ret is NULL if the metadata has none. */
int metadata_spec(struct vfctl_ctx *ctx, const char *xml, char **ret, uint64_t *ret_template_hash);
/* The element of that VF in the domain's metadata, or NULL. */
struct xml_node *metadata_vf(struct xml_node *domain, const struct vfctl_bdf *bdf);

#define PCI_BUSES 256
#define PCI_SLOTS 32
#define PCI_FUNCTIONS 8
#define BUS_NR_MAX 254 /* libvirt's limit for an expander */
#define ROOT_UNBOUND (VFCTL_ROOT_UNKNOWN - 1)

enum pci_kind {
	PCI_NOT_THERE,
	PCI_MENTIONED, /* only mentioned by an address: libvirt creates the controller */
	PCI_ROOT,
	PCI_EXPANDER, /* a PCI root with a guest node, of PCI Express or (i440fx) of PCI */
	PCI_PORT,     /* pcie-root-port */
	PCI_DOWNSTREAM, /* pcie-switch-downstream-port */
	PCI_OTHER,    /* bridges, upstream ports of switches */
};

/* A PCI controller, by its index, which is the number of the bus that it creates. */
struct pci_bus {
	struct xml_node *node;
	enum pci_kind kind;
	uint8_t parent;		   /* the bus that it is on */
	uint8_t taken[PCI_SLOTS]; /* for each slot: bits of the functions in use */
	unsigned users;		   /* number of addresses in use on it */
	unsigned slot, function;   /* where ports are being added */
	unsigned bus_nr;	   /* of an expander: bus number in the guest; 0 if not stated */
	int cell;		   /* of an expander: guest node; -1 if not stated */
	bool foreign;		   /* of an expander: devices other than vfctl's VFs are below it */
	uint32_t root;		   /* of an expander: PCI root of the host, or ROOT_UNBOUND */
};

/* pci.c: the guest's PCI addresses in use. */
struct pci_map {
	struct pci_bus bus[PCI_BUSES];
	struct vfctl_bdf *used; /* all guest addresses, sorted */
	size_t used_count;
	unsigned unnumbered; /* number of controllers to which libvirt will give an index */
};

/*
 * Two controllers with one index: libvirt rejects them (virDomainDefRejectDuplicateControllers()).
 */
int pci_check_twice(struct vfctl_ctx *ctx, const char *file, struct xml_node *devices);
int pci_map_init(struct vfctl_ctx *ctx, struct pci_map *map, const char *file,
	struct xml_node *devices);
void pci_map_clear(struct pci_map *map);
/*
 * Add a root port at an explicit address of bus @parent. @ret_bus is its controller's index.
 * -ENOSPC if no slot or number is left.
 */
int pci_add_port(struct vfctl_ctx *ctx, struct pci_map *map, struct xml_node *devices,
	uint8_t parent, uint8_t *ret_bus);
/* The root bus or expander above @bus; @bus itself if it is one. */
uint8_t pci_top(const struct pci_map *map, uint8_t bus);
bool pci_port_is_free(const struct pci_map *map, unsigned bus);
/* Number of free root ports directly below @parent. */
unsigned pci_free_ports(const struct pci_map *map, uint8_t parent);
/*
 * Get a root port below @parent for a device: a free one if there are more than @keep_free, else a
 * new one.
 */
int pci_take_port(struct vfctl_ctx *ctx, struct pci_map *map, struct xml_node *devices,
	uint8_t parent, unsigned keep_free, uint8_t *ret_bus);
/* The first number without a controller; -ENOSPC. */
int pci_free_index(struct vfctl_ctx *ctx, const struct pci_map *map, uint8_t *ret_index);
/* The next empty slot of @bus; -ENOSPC. */
int pci_free_slot(struct vfctl_ctx *ctx, const struct pci_map *map, uint8_t bus,
	unsigned *ret_slot);

/* expander.c: PCI roots for the guest's nodes. */
int expander_add(struct vfctl_ctx *ctx, struct pci_map *map, struct xml_node *devices,
	int cell, uint32_t root, uint8_t *ret_bus);
/* Assign bus numbers to every expander for everything below it; -ENOSPC, -EINVAL. */
int expanders_number(struct vfctl_ctx *ctx, struct pci_map *map, const char *file);

/* Read a PCI <address> of a device or, inside <source>, of the host; -EINVAL with a message. */
int pci_read_address(struct vfctl_ctx *ctx, const char *file, struct xml_node *address,
	struct vfctl_bdf *ret);
void pci_write_address(struct xml_node *parent, const struct vfctl_bdf *bdf);
/* Read the element's guest address: 1 if it has one. */
int pci_guest_address(struct vfctl_ctx *ctx, const char *file, struct xml_node *device,
	struct vfctl_bdf *ret);
/* Read the host address of a PCI hostdev or a hostdev interface: 1 if it is one. */
int pci_source_address(struct vfctl_ctx *ctx, const char *file, struct xml_node *device,
	struct vfctl_bdf *ret);

/* device.c */
int device_check(struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vf);
bool device_is_interface(const struct vfctl_domain_vf *vf);
/* The form of VFs where guest.yaml leaves it open. */
struct device_style {
	bool rom_bar;
	bool iommufd;
};

void device_write(struct xml_node *parent, const struct vfctl_domain_vf *vf, uint8_t bus,
	const struct device_style *style);
/* Rewrite the element of a VF, at its present address. */
void device_rewrite(struct xml_node *node, const struct vfctl_domain_vf *vf,
	const struct vfctl_bdf *guest, const struct device_style *style);

/* Versions in which libvirt introduced an element; older ones ignore or reject it. */
#define SINCE_CPU_MAXIMUM 7001000
#define SINCE_ALLOCATION_THREADS 8002000
#define SINCE_MAXPHYSADDR 8007000
#define SINCE_MAXPHYSADDR_LIMIT 9003000
#define SINCE_IOMMUFD 12001000
/* 12.1 crashed when an interface with iommufd was plugged in. */
#define SINCE_IOMMUFD_INTERFACE 12002000

/* Distances of the ACPI SLIT. */
enum { DISTANCE_LOCAL = 10, DISTANCE_UNREACHABLE = 255 };

/* assignment.c */
int assignment_check(struct vfctl_ctx *ctx, const struct vfctl_domain_request *request);
/* Whether some vCPU shares its CPUs with other guests, or with QEMU's own threads. */
bool assignment_shares(const struct vfctl_assignment *a);
/* The placement of this VF and its guest cell, or NULL if the planner did not choose it. */
const struct vfctl_free_vf *assignment_vf(const struct vfctl_assignment *a,
	const struct vfctl_bdf *bdf, uint32_t *ret_cell);

/* render_*.c: each file completes a part of the domain. */
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
	struct vfctl_free_vf *owned; /* VFs in the template's own metadata */
	size_t owned_count;
	struct device_style style;
	uint32_t port_takers; /* number of devices of the template that libvirt will place */
};

/* The child of <domain>; it is created in its place if the template has none. */
struct xml_node *render_section(struct render *r, const char *name);
/* The child of @parent, created if it has none; *@ret_new tells whether it was. */
struct xml_node *render_child(struct xml_node *parent, const char *name, bool *ret_new);
/*
 * Remove the children with these names. Insert their replacement before the returned element, or
 * last if that is NULL: then rendering a former output keeps the order.
 */
struct xml_node *render_take_out(
	struct xml_node *parent, const char *const *names, size_t count);
/*
 * An element with one attribute: @on or @off (NULL: no such element) if the file sets it, else the
 * template's value, else @standard (NULL: nothing).
 */
struct message {
	const char *on, *off, *standard;
};
void render_choice(struct xml_node *parent, const char *name, const char *attr,
	enum vfctl_choice choice, const struct message *message);
/* Whether the guest gets a virtual IOMMU: it was requested, or its vCPUs need one. */
bool render_wants_iommu(const struct render *r);
/* Whether the target's libvirt supports what was requested; -EINVAL with a message if not. */
int render_check_version(struct render *r);
/* A CPU or node list as an attribute. */
void render_set_list(
	struct xml_node *node, const char *attr, const struct vfctl_cpuset *set);
int render_cpu(struct render *r);
/* <maxphysaddr>: enough for the memory and the BARs of the guest's devices. */
void render_address(struct render *r, struct xml_node *cpu, bool host);
void render_cells(struct render *r, struct xml_node *cpu);
void render_memory(struct render *r);
void render_pins(struct render *r);
/* render_refs.c: of vCPUs, I/O threads and cells that the guest lacks. */
void render_tune_refs(struct render *r, struct xml_node *tune);
void render_device_refs(struct render *r);
int render_devices(struct render *r);
/* render_vfs.c */
int render_vfs_refuse(struct render *r);
/* Remove what remains of the template's former placement: its VFs and expanders. */
int render_vfs_clean(struct render *r, struct pci_map *map);
int render_vfs(struct render *r, struct pci_map *map);
int render_spare_ports(struct render *r, struct pci_map *map);
/* Number of free root ports that must remain below the main root. */
unsigned render_ports_kept(const struct render *r);

#endif
