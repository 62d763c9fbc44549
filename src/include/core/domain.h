/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_DOMAIN_H
#define VFCTL_CORE_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/guest.h"
#include "core/placement.h"
#include "core/types.h"
#include "core/vfattr.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vfctl_ctx;

/** XML namespace of vfctl's element in <metadata>. It is part of the format and never changes. */
#define VFCTL_METADATA_NS "urn:vfctl:domain:1"
/** A larger domain XML or template is rejected, bytes. */
#define VFCTL_DOMAIN_XML_MAX (16 * 1024 * 1024)
/** The hook's reader rejects a larger domain, bytes. */
#define VFCTL_DOMAIN_STREAM_MAX (64 * 1024 * 1024)
#define VFCTL_LEASE_ID_MAX 64 /**< bytes: letters, digits, '-', '_', '.', ':' */
/**
 * PCI host devices the readers accept in one domain. libvirt has no limit; QEMU starts far fewer.
 */
#define VFCTL_DOMAIN_DEVICES_MAX 4096

/** Oldest supported libvirt: 7.0.0, in the form of virConnectGetLibVersion(). */
#define VFCTL_LIBVIRT_OLDEST 7000000

/** One VF of a guest: which one, and the policy that the hook gives it. */
struct vfctl_domain_vf {
	struct vfctl_bdf bdf;
	struct vfctl_bdf pf;
	uint32_t index;
	bool infiniband; /**< always <hostdev>: libvirt would send it a 6-byte MAC and
			    fail */
	enum vfctl_vf_form form;
	struct vfctl_vf_attrs attrs;
	/** Number of the guest's bond of which the VF is a port (its ports have one MAC); 0: none. */
	uint32_t bond;
};

/**
 * The addresses that a guest's address space must hold, and the width that the host offers. 0: not
 * known.
 */
struct vfctl_address_space {
	unsigned cpu_bits;   /**< width of physical addresses on the host */
	unsigned iommu_bits; /**< width of the addresses that its narrowest IOMMU translates */
	uint64_t bar_bytes;  /**< 64-bit BARs of all devices of the guest together */
};

struct vfctl_domain_request {
	/** A domain XML to complete, and its name for messages. NULL: a minimal one. */
	const char *template_text;
	const char *template_name;
	const struct vfctl_guest *guest;
	const struct vfctl_assignment *assignment;
	const char *lease_id;
	const struct vfctl_domain_vf *vfs;
	size_t vf_count; /**< 0 .. VFCTL_GUEST_VFS_MAX */
	/**
	 * Distances between the guest's cells, row-major, ACPI SLIT values 10 .. 255: see
	 * vfctl_domain_cell_distances(). NULL: the XML has no distances.
	 */
	const unsigned *cell_distances;
	/** Version of the target libvirt, 11003000 for 11.3.0; 0: VFCTL_LIBVIRT_OLDEST. */
	uint64_t libvirt_version;
	struct vfctl_address_space address;
};

/**
 * Write the domain XML of a placed guest. The placement replaces the corresponding parts of the
 * template (name, memory, CPUs, pins, NUMA, vfctl's metadata); the rest of the template is kept.
 * Every VF gets its own PCIe root port, with explicit addresses that the template does not use. The
 * spare ports follow. docs/reference/domain-xml.md explains each element.
 *
 * @param ret_xml  receives the text; the caller frees it with free().
 * @return 0; -EINVAL for a template that is not domain XML or cannot be completed, for a refused
 * assignment, or for a VF whose form cannot express its policy; -E2BIG above VFCTL_DOMAIN_XML_MAX;
 * -EEXIST when the template already contains one of the VFs; -ENOSPC when PCI slots or controller
 * numbers run out; -ENOPKG without libxml2; -ENOMEM.
 */
int vfctl_domain_render(struct vfctl_ctx *ctx, const struct vfctl_domain_request *request,
	char **ret_xml);

/**
 * The address space that a guest's firmware has for the 64-bit BARs of its devices.
 * @param bits  width of the guest's physical addresses, 32 .. 52.
 * @return bytes: for UEFI an eighth of the address space (edk2 before 2026-08), for other firmware
 * all that memory does not use.
 */
uint64_t vfctl_domain_bar_room(bool uefi, unsigned bits, uint64_t memory_bytes);

/** The width of a domain's physical addresses. */
struct vfctl_domain_address {
	bool uefi;	  /**< its firmware is UEFI; else SeaBIOS, or it boots a kernel directly */
	bool passthrough; /**< all bits of the host, or @ref limit if that is not 0 */
	unsigned bits;	  /**< else this width: QEMU's 40 unless the domain states it */
	unsigned limit;
	bool iommufd; /**< at least one device requests it */
};
/** @return 0; -EINVAL it is not domain XML; -ENOPKG without libxml2; -ENOMEM. */
int vfctl_domain_address_read(struct vfctl_ctx *ctx, const char *xml,
	struct vfctl_domain_address *ret);

/**
 * The host's distances between the nodes that the guest's cells are on.
 * @param ret_distances  cell_count * cell_count values; free() them.
 * @return 0; -EINVAL when the host lacks one of the nodes; -ENOMEM.
 */
int vfctl_domain_cell_distances(struct vfctl_ctx *ctx,
	const struct vfctl_assignment *assignment, const struct vfctl_topology *topology,
	unsigned **ret_distances);

/**
 * The file of a template: @p name itself if it contains '/', else dir/name.xml.
 * @param dir  NULL: the directory of the package.
 * @param ret_path  the caller frees it with free().
 * @return 0; -EINVAL for an empty name or one with a leading '.'; -ENOMEM.
 */
int vfctl_domain_template_path(
	struct vfctl_ctx *ctx, const char *dir, const char *name, char **ret_path);

/**
 * Write only the element of one VF, for an attach.
 * @param guest_bus  bus of a free root port (its controller's index), or 0: libvirt chooses.
 * @param ret_xml  the caller frees it with free().
 * @return as vfctl_domain_render().
 */
int vfctl_domain_device_xml(struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vf,
	uint8_t guest_bus, uint64_t libvirt_version, char **ret_xml);

/** The VLAN of an interface that is not within 0 .. VFCTL_VLAN_MAX: a trunk. */
#define VFCTL_INTENT_VLAN_ODD 0xffff

/** A host PCI device in <devices>, and the values that libvirt itself sets on it. */
struct vfctl_intent_device {
	struct vfctl_bdf bdf;
	bool interface; /**< <interface>: libvirt sets MAC and VLAN; <hostdev>: nothing */
	bool has_mac;
	struct vfctl_mac mac;
	uint16_t vlan; /**< 0: libvirt removes the VLAN */
	unsigned line; /**< of its address in the XML */
};

/** A way of naming a host device other than by its PCI address in <hostdev> or <interface>. */
enum vfctl_reference_form {
	VFCTL_REFERENCE_MACVTAP, /**< <interface type='direct'>: name of a network device */
	VFCTL_REFERENCE_VDPA,	 /**< <interface type='vdpa'>, vhostdev= of QEMU: path of a device node */
	VFCTL_REFERENCE_QEMU,	 /**< arguments of <qemu:commandline>: PCI address */
	VFCTL_REFERENCE_NETWORK, /**< <interface type='network'>: name of a libvirt network */
};

/** A device that a domain names in one of these ways. */
struct vfctl_reference {
	enum vfctl_reference_form form;
	unsigned line;	   /**< of the XML */
	struct vfctl_bdf bdf; /**< only for VFCTL_REFERENCE_QEMU */
	char name[256];	   /**< for the other forms */
};
/** References that the readers accept in one domain. */
#define VFCTL_REFERENCES_MAX 64

/** The parts of a domain that the hook needs. A plain value of fixed size: nothing to free. */
struct vfctl_domain_intent {
	char name[256];
	char uuid[37]; /**< lower case; empty if the XML has none */
	char lease_id[VFCTL_LEASE_ID_MAX + 1]; /**< empty: it has no metadata of vfctl */
	struct vfctl_domain_vf vfs[VFCTL_GUEST_VFS_MAX];
	size_t vf_count;
	/**
	 * The tuning that it requests from the host. If it cannot be read, nothing is requested and
	 * a warning is logged: the start does not fail.
	 */
	struct vfctl_guest_tuning tuning;
	bool tuning_damaged;
	/** CPUs of QEMU's own threads (<cputune><emulatorpin>); empty: not stated. */
	struct vfctl_cpuset emulator_cpus;
	struct vfctl_reference references[VFCTL_REFERENCES_MAX];
	size_t reference_count;
	/**
	 * Host PCI devices in <devices>: hostdevs and hostdev interfaces, VFs or not, and VFs from
	 * a libvirt network if the XML names them.
	 */
	struct vfctl_intent_device devices[VFCTL_DOMAIN_DEVICES_MAX];
	size_t device_count;
};

/**
 * Read the intent of a domain from its XML. The reader works on a stream and within limits, because
 * the input may be hostile. It rejects a DOCTYPE, so there are no entities to expand.
 * @param xml  @p len bytes; need not be NUL-terminated.
 * @return 0; -ENOENT when the domain has no metadata of vfctl; -EINVAL if it is not complete domain
 * XML or that metadata is damaged; -E2BIG above VFCTL_DOMAIN_STREAM_MAX or for more VFs or devices
 * than the struct holds; -ENOMEM.
 */
int vfctl_domain_metadata_read(struct vfctl_ctx *ctx, const char *xml, size_t len,
	struct vfctl_domain_intent *ret);

/**
 * Read the intent of any domain. Without vfctl's metadata, lease_id is empty and there are no VFs,
 * but name, UUID and devices are filled in.
 * @param skip_metadata  ignore <metadata>, so that nothing in it can cause a failure.
 */
int vfctl_domain_intent_read(struct vfctl_ctx *ctx, const char *xml, size_t len,
	bool skip_metadata, struct vfctl_domain_intent *ret);

/**
 * A quick check without parsing. False if the XML names no host devices; a libvirt network does not
 * count.
 */
bool vfctl_domain_may_have_devices(const char *xml, size_t len);
/** The device at this host address, or NULL. */
const struct vfctl_intent_device *vfctl_domain_intent_device(
	const struct vfctl_domain_intent *intent, const struct vfctl_bdf *vf);

/** The first VF of the intent that is missing in <devices>; NULL if none is. */
const struct vfctl_domain_vf *vfctl_domain_intent_missing(
	const struct vfctl_domain_intent *intent);

/**
 * Add a VF to the intent in a domain XML, or replace the one at the same address.
 * @param lease_id  used if the domain has no intent yet; otherwise its lease id is kept.
 * @param ret_xml  the whole domain; the caller frees it with free().
 * @return as vfctl_domain_render(); -ENOSPC above VFCTL_GUEST_VFS_MAX VFs.
 */
int vfctl_domain_metadata_add_vf(struct vfctl_ctx *ctx, const char *xml,
	const char *lease_id, const struct vfctl_domain_vf *vf, char **ret_xml);

/**
 * Remove a VF from the intent in a domain XML; the element is removed with its last VF.
 * @return as vfctl_domain_render(); -ENOENT when the intent does not contain the VF.
 */
int vfctl_domain_metadata_remove_vf(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_bdf *bdf, char **ret_xml);

/**
 * Change attributes of a VF in a domain XML: in vfctl's metadata, if the VF is there, and in its
 * <interface>, from which libvirt takes MAC and VLAN. Attributes that @p attrs does not contain are
 * kept.
 * @param ret_xml  the whole domain; the caller frees it with free().
 * @return as vfctl_domain_render().
 */
int vfctl_domain_change_vf(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_bdf *bdf, const struct vfctl_vf_attrs *attrs, char **ret_xml);

/**
 * Add a VF to the devices of a domain XML, as vfctl_domain_device_xml() writes it. The metadata is
 * not changed: see vfctl_domain_metadata_add_vf().
 * @param guest_bus  index of its controller; 0: libvirt chooses.
 * @param ret_xml  the whole domain; the caller frees it with free().
 * @return as vfctl_domain_render().
 */
int vfctl_domain_add_device(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_domain_vf *vf, uint8_t guest_bus, char **ret_xml);

/**
 * Remove the device at a host address from a domain XML.
 * @param ret_xml  the whole domain; the caller frees it with free().
 * @return as vfctl_domain_render(); -ENOENT when the domain has no such device.
 */
int vfctl_domain_remove_device(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_bdf *bdf, char **ret_xml);

/** A host PCI device of a domain. */
struct vfctl_domain_device {
	struct vfctl_bdf source;
	bool interface; /**< <interface type='hostdev'>, else <hostdev> */
	bool managed;   /**< libvirt binds it to vfio-pci and back */
	bool has_guest; /**< its address in the guest is stated */
	struct vfctl_bdf guest;
	bool has_mac; /**< an interface with a MAC */
	struct vfctl_mac mac;
	char alias[64]; /**< of a running domain, or the administrator's ("ua-..."); "": none */
	char model[32]; /**< the requested host driver (<driver model=''>); "": libvirt chooses */
};

/**
 * Write the element with which libvirt finds a device of a running domain, to unplug it: with its
 * source, MAC, whole address in the guest and alias.
 * @param ret_xml  the caller frees it with free().
 * @return as vfctl_domain_device_xml().
 */
int vfctl_domain_unplug_xml(struct vfctl_ctx *ctx, const struct vfctl_domain_device *device,
	char **ret_xml);

/** A PCI controller of a domain. */
struct vfctl_domain_controller {
	uint32_t index; /**< the number of the bus that it creates */
	char model[32]; /**< pcie-root-port, ...; empty when not stated */
	uint32_t users; /**< number of devices and controllers on its bus */
	uint32_t parent; /**< the bus that it is on; 0 if not stated */
	uint32_t bus_nr; /**< an expander's bus number in the guest; 0 if not stated */
	/**
	 * Guest NUMA node of the devices below it: that of the expander that it is, or is below.
	 * -1: none; the guest does not know where its devices are.
	 */
	int cell;
};

/** A NUMA cell of a domain: <cpu><numa><cell>, with its properties from other elements. */
struct vfctl_domain_cell {
	struct vfctl_cpuset vcpus; /**< by the guest's numbers */
	uint64_t memory_bytes;
	uint64_t page_bytes; /**< VFCTL_PAGES_BASE without huge pages or without a size */
	struct vfctl_cpuset memory_nodes; /**< nodes of the host; empty: not stated */
	bool memory_strict;
};

/** No limit, or a need without limit. */
#define VFCTL_MEMLOCK_UNLIMITED UINT64_MAX

/** The settings that decide how much memory a guest locks. */
struct vfctl_memlock {
	uint64_t memory_bytes;
	uint64_t hard_limit_bytes; /**< <memtune><hard_limit>; 0 if there is none */
	bool locked;		   /**< <memoryBacking><locked> */
	bool iommu;		   /**< it has a virtual IOMMU */
	uint32_t vfio_devices;	   /**< number of VFs and other VFIO devices */
	uint32_t others;	   /**< number of vDPA interfaces and NVMe disks */
};

/** The resources that a domain takes, regardless of the tool that defined it. Freed as a whole. */
struct vfctl_parsed_domain {
	char *name;
	char *uuid;            /**< NULL when not stated */
	uint32_t vcpus;        /**< maximum */
	uint64_t memory_bytes; /**< maximum */
	uint64_t page_bytes; /**< VFCTL_PAGES_BASE without huge pages or without a size */
	bool hugepages;
	struct vfctl_cpuset emulator_cpus; /**< empty: its threads may run anywhere */
	struct vfctl_cpuset iothread_cpus; /**< the union of @ref iothread_pins */
	struct vfctl_cpuset *iothread_pins; /**< one by one; that of I/O threads without one is last */
	size_t iothread_pin_count;
	uint32_t iothreads;    /**< I/O threads; 0 none */
	struct vfctl_cpuset memory_nodes; /**< numatune; empty: not stated */
	bool memory_strict;
	/** By id. A domain without cells has one here, with all its vCPUs and memory. */
	struct vfctl_domain_cell *cells;
	size_t cell_count; /**< 1 .. 256 */
	unsigned *distances; /**< as in a request; NULL if the domain states none */
	struct vfctl_cpuset *vcpu_pins; /**< per vCPU; empty: it may run anywhere */
	struct vfctl_domain_device *devices;
	size_t device_count;
	struct vfctl_domain_controller *controllers; /**< only PCI controllers, by index */
	size_t controller_count;
	struct vfctl_bdf *guest_addresses; /**< addresses in use, sorted */
	size_t guest_address_count;
	struct vfctl_domain_address address; /**< as vfctl_domain_address_read() */
	struct vfctl_memlock memlock;	     /**< as vfctl_domain_memlock_read() */
	bool lenient; /**< read for a survey of all domains: see @ref unread */
	/** If lenient: the first value that could not be read, with its line; it is left out. */
	char *unread;
};

/**
 * Read the resources that a domain takes.
 * @param ret  free it with vfctl_parsed_domain_free().
 * @return 0; -EINVAL if it is not domain XML or a value in it is not valid; -E2BIG above
 * VFCTL_DOMAIN_XML_MAX or VFCTL_DOMAIN_DEVICES_MAX; -ENOPKG without libxml2; -ENOMEM.
 */
int vfctl_domain_read(
	struct vfctl_ctx *ctx, const char *xml, struct vfctl_parsed_domain **ret);

/** NULL is allowed. */
void vfctl_parsed_domain_free(struct vfctl_parsed_domain *parsed);
DEFINE_FREEP(struct vfctl_parsed_domain, vfctl_parsed_domain_free)

/**
 * The placement that a domain XML states: the reverse of vfctl_domain_render(). With that XML as
 * the template, this assignment, the VFs of its metadata and the same guest, rendering gives the
 * same XML again.
 *
 * held_cpus contains the cores of the vCPUs that do not share their CPUs; the XML does not say
 * whether the emulator's CPUs belong to the guest. l3_groups is the number of dies. If the metadata
 * does not state the node of a VF (it was attached), the node is that of its guest cell, or none.
 *
 * @param topology  tells the node of each CPU; NULL: the node of the cell's memory is used.
 * @param ret  free it with vfctl_domain_placement_free().
 * @return 0; -EINVAL also for a domain whose vCPUs are not pinned in a form that an assignment can
 * express; else as vfctl_domain_read().
 */
int vfctl_domain_placement(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_topology *topology, struct vfctl_assignment **ret);
/** NULL is allowed. */
void vfctl_domain_placement_free(struct vfctl_assignment *assignment);

/**
 * The limit of locked memory that libvirt sets for a guest, bytes: the hard limit if there is one;
 * no limit for locked memory; otherwise 1 GiB plus the memory, counted once for all VFIO devices
 * or, with a virtual IOMMU and since libvirt 8.7, once for each of them; 0 if nothing is locked.
 * Source: qemuDomainGetMemLockLimitBytes() of libvirt's qemu_domain.c.
 * @param libvirt_version  version of the target; 0: the newest.
 */
uint64_t vfctl_domain_memlock_need(
	const struct vfctl_memlock *guest, uint64_t libvirt_version);

/**
 * Read it from a domain XML.
 * @return 0; -EINVAL if it is not domain XML or a size in it is not valid; -E2BIG, -ENOPKG,
 * -ENOMEM as vfctl_domain_read().
 */
int vfctl_domain_memlock_read(
	struct vfctl_ctx *ctx, const char *xml, struct vfctl_memlock *ret);

/**
 * Compare a need with the hard limit of a libvirt daemon that cannot raise it.
 * @param name  name of the domain, for the warning.
 * @param ret_warning  NULL if it fits, else a line of text; the caller frees it.
 * @return 0 or -ENOMEM.
 */
int vfctl_domain_memlock_judge(struct vfctl_ctx *ctx, const char *name, uint64_t need,
	uint64_t limit, char **ret_warning);

/** What the guest learns about a device's NUMA node; the best first. */
enum vfctl_port_locality {
	VFCTL_LOCALITY_LOCAL,   /**< its node, or the device has no node */
	VFCTL_LOCALITY_UNKNOWN, /**< nothing: the port is below no node */
	VFCTL_LOCALITY_WRONG,   /**< another node */
};

/** A free PCIe root port, or downstream port of a switch. */
struct vfctl_domain_port {
	uint8_t bus;
	int cell;      /**< guest node above it, or -1 */
	int cell_want; /**< guest node that should be above it; -1 if there is none */
	enum vfctl_port_locality locality;
};

/**
 * Find the best free PCIe port for a device of host node @p node: one below an expander of the
 * guest node whose memory is on @p node, or else one below no guest node, or else any. A device
 * without a node gets a port below no guest node.
 * @param node  VFCTL_NODE_NONE for a device without a node.
 * @return 0, or -ENOENT when no port is free.
 */
int vfctl_domain_find_port(const struct vfctl_parsed_domain *parsed, int node,
	struct vfctl_domain_port *ret);

#ifdef __cplusplus
}
#endif
#endif
