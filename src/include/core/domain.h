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

/** Namespace of our element in <metadata>; part of the format, never changes. */
#define VFCTL_METADATA_NS "urn:vfctl:domain:1"
/** Domain XML and templates above this size are refused, bytes. */
#define VFCTL_DOMAIN_XML_MAX (16 * 1024 * 1024)
/** The hook's reader stops a domain above this size, bytes. */
#define VFCTL_DOMAIN_STREAM_MAX (64 * 1024 * 1024)
#define VFCTL_LEASE_ID_MAX 64 /**< bytes: letters, digits, '-', '_', '.', ':' */
/** PCI host devices the readers accept in one domain. libvirt has no limit; QEMU starts far fewer. */
#define VFCTL_DOMAIN_DEVICES_MAX 4096

/** Oldest libvirt that is written for: 7.0.0, in the form of virConnectGetLibVersion().
 */
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
};

/** What a guest's address space must hold, and how wide the host can make it. 0: not known. */
struct vfctl_address_space {
	unsigned cpu_bits;   /**< of physical addresses on the host */
	unsigned iommu_bits; /**< of addresses that its narrowest IOMMU translates */
	uint64_t bar_bytes;  /**< of 64-bit BARs of all devices that the guest is given */
};

struct vfctl_domain_request {
	/** A domain XML to complete, and its name for messages. NULL: a bare one. */
	const char *template_text;
	const char *template_name;
	const struct vfctl_guest *guest;
	const struct vfctl_assignment *assignment;
	const char *lease_id;
	const struct vfctl_domain_vf *vfs;
	size_t vf_count; /**< 0 .. VFCTL_GUEST_VFS_MAX */
	/** Distances between the guest's cells, row-major, ACPI SLIT values 10 .. 255: see
	 * vfctl_domain_cell_distances(). NULL: the guest is told none. */
	const unsigned *cell_distances;
	/** Version of the target, 11003000 for 11.3.0; 0: VFCTL_LIBVIRT_OLDEST. */
	uint64_t libvirt_version;
	struct vfctl_address_space address;
};

/**
 * Write the domain XML of a placed guest. What the placement decides replaces what the
 * template says of it (name, memory, CPUs, pins, NUMA, our metadata); all else of the
 * template stays. Every VF gets a PCIe root port of its own with explicit addresses that
 * collide with nothing in the template, then come the spare ports.
 * docs/domain-xml.md explains each element.
 *
 * @param ret_xml  receives the text; the caller frees it with free().
 * @return 0; -EINVAL for a template that is no domain XML or cannot be completed, for a
 * refused assignment, or for a VF whose form cannot carry its policy; -E2BIG above
 * VFCTL_DOMAIN_XML_MAX; -EEXIST when the template holds one of the VFs already; -ENOSPC
 * when PCI slots or controller numbers run out; -ENOPKG without libxml2; -ENOMEM.
 */
int vfctl_domain_render(struct vfctl_ctx *ctx, const struct vfctl_domain_request *request,
	char **ret_xml);

/**
 * What a guest's firmware has for the 64-bit BARs of its devices.
 * @param bits  of the guest's physical addresses, 32 .. 52.
 * @return bytes: an eighth of all for UEFI (edk2 before 2026-08), what memory leaves for others.
 */
uint64_t vfctl_domain_bar_room(bool uefi, unsigned bits, uint64_t memory_bytes);

/** How wide a domain's addresses are. */
struct vfctl_domain_address {
	bool uefi;	  /**< its firmware; else SeaBIOS, or a kernel that is booted by itself */
	bool passthrough; /**< all bits of the host, or @ref limit if that is not 0 */
	unsigned bits;	  /**< else these: QEMU's 40 unless the domain says */
	unsigned limit;
	bool iommufd; /**< some device asks for it */
};
/** @return 0; -EINVAL it is no domain XML; -ENOPKG without libxml2; -ENOMEM. */
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
 * The file of a template: a path when @p name holds '/', else dir/name.xml.
 * @param dir  NULL: where the package installed them.
 * @param ret_path  the caller frees it with free().
 * @return 0; -EINVAL for an empty name or one with a leading '.'; -ENOMEM.
 */
int vfctl_domain_template_path(
	struct vfctl_ctx *ctx, const char *dir, const char *name, char **ret_path);

/**
 * Write the element of one VF alone, for an attach.
 * @param guest_bus  bus of a free root port (its controller's index), or 0 to leave the
 * place to libvirt.
 * @param ret_xml  the caller frees it with free().
 * @return as vfctl_domain_render().
 */
int vfctl_domain_device_xml(struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vf,
	uint8_t guest_bus, uint64_t libvirt_version, char **ret_xml);

/** A VLAN of an interface that is none of 0 .. VFCTL_VLAN_MAX: a trunk. */
#define VFCTL_INTENT_VLAN_ODD 0xffff

/** A host PCI device in <devices>, and what libvirt itself will set on it. */
struct vfctl_intent_device {
	struct vfctl_bdf bdf;
	bool interface; /**< <interface>: libvirt sets MAC and VLAN, else nothing */
	bool has_mac;
	struct vfctl_mac mac;
	uint16_t vlan; /**< 0: libvirt takes a tag away */
};

/** What the hook needs of a domain. A plain value of fixed size: nothing to free. */
struct vfctl_domain_intent {
	char name[256];
	char uuid[37]; /**< lower case; empty when the XML has none */
	char lease_id[VFCTL_LEASE_ID_MAX + 1]; /**< empty: it carries no metadata of ours */
	struct vfctl_domain_vf vfs[VFCTL_GUEST_VFS_MAX];
	size_t vf_count;
	/** What it asks of the host's tuning. Nothing when that cannot be read, and then it is
	 * said so: no start fails for it. */
	struct vfctl_guest_tuning tuning;
	bool tuning_damaged;
	/** CPUs of QEMU's own threads by <cputune><emulatorpin>; empty: not stated. */
	struct vfctl_cpuset emulator_cpus;
	/** Host PCI devices in <devices>: hostdevs and hostdev interfaces, VFs or not, and
	 * VFs that a libvirt network gave, where the XML says which. */
	struct vfctl_intent_device devices[VFCTL_DOMAIN_DEVICES_MAX];
	size_t device_count;
};

/**
 * Read the intent of a domain from its XML: a stream, with bounds, for hostile input.
 * A DOCTYPE is refused, so there are no entities to expand.
 * @param xml  @p len bytes; need not end in NUL.
 * @return 0; -ENOENT when the domain carries none of our metadata; -EINVAL when it is no
 * complete domain XML or our metadata is damaged; -E2BIG above VFCTL_DOMAIN_STREAM_MAX or
 * for more VFs or devices than the struct holds; -ENOMEM.
 */
int vfctl_domain_metadata_read(struct vfctl_ctx *ctx, const char *xml, size_t len,
	struct vfctl_domain_intent *ret);

/**
 * The same of any domain: one without our metadata has an empty lease_id and no VFs, but
 * its name, UUID and devices are there.
 * @param skip_metadata  do not look at <metadata>, so that nothing in it can fail.
 */
int vfctl_domain_intent_read(struct vfctl_ctx *ctx, const char *xml, size_t len,
	bool skip_metadata, struct vfctl_domain_intent *ret);

/** Without reading it: false for XML, as libvirt writes it, of a domain without host devices. */
bool vfctl_domain_may_have_devices(const char *xml, size_t len);
/** The device at this host address, or NULL. */
const struct vfctl_intent_device *vfctl_domain_intent_device(
	const struct vfctl_domain_intent *intent, const struct vfctl_bdf *vf);

/** First VF of the intent that <devices> lacks, or NULL when they agree. */
const struct vfctl_domain_vf *vfctl_domain_intent_missing(
	const struct vfctl_domain_intent *intent);

/**
 * Add a VF to the intent in a domain XML, or replace the one at the same address.
 * @param lease_id  used when the domain has no intent yet; otherwise its own is kept.
 * @param ret_xml  the whole domain; the caller frees it with free().
 * @return as vfctl_domain_render(); -ENOSPC above VFCTL_GUEST_VFS_MAX VFs.
 */
int vfctl_domain_metadata_add_vf(struct vfctl_ctx *ctx, const char *xml,
	const char *lease_id, const struct vfctl_domain_vf *vf, char **ret_xml);

/**
 * Remove a VF from the intent in a domain XML; the element goes with its last VF.
 * @return as vfctl_domain_render(); -ENOENT when the intent does not hold the VF.
 */
int vfctl_domain_metadata_remove_vf(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_bdf *bdf, char **ret_xml);

/**
 * Change attributes of a VF in a domain XML: in our metadata, where it stands there, and in
 * the <interface> that has it, for libvirt sets MAC and VLAN by that. What @p attrs does not
 * carry stays.
 * @param ret_xml  the whole domain; the caller frees it with free().
 * @return as vfctl_domain_render().
 */
int vfctl_domain_change_vf(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_bdf *bdf, const struct vfctl_vf_attrs *attrs, char **ret_xml);

/**
 * Put a VF among the devices of a domain XML, as vfctl_domain_device_xml() writes it. The intent
 * in its metadata is another matter: vfctl_domain_metadata_add_vf().
 * @param guest_bus  index of the controller it goes to; 0: where libvirt finds a place.
 * @param ret_xml  the whole domain; the caller frees it with free().
 * @return as vfctl_domain_render().
 */
int vfctl_domain_add_device(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_domain_vf *vf, uint8_t guest_bus, char **ret_xml);

/**
 * Take the device at a host address out of a domain XML.
 * @param ret_xml  the whole domain; the caller frees it with free().
 * @return as vfctl_domain_render(); -ENOENT when the domain has no such device.
 */
int vfctl_domain_remove_device(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_bdf *bdf, char **ret_xml);

/** A host PCI device that a domain holds. */
struct vfctl_domain_device {
	struct vfctl_bdf source;
	bool interface; /**< <interface type='hostdev'>, else <hostdev> */
	bool managed;   /**< libvirt binds it to vfio and back */
	bool has_guest; /**< the address in the guest is stated */
	struct vfctl_bdf guest;
	bool has_mac; /**< of an interface */
	struct vfctl_mac mac;
	char model[32]; /**< the driver that it wants on the host (<driver model=''>); "" libvirt's choice */
};

/** A PCI controller of a domain. */
struct vfctl_domain_controller {
	uint32_t index; /**< it makes the bus of this number */
	char model[32]; /**< pcie-root-port, ...; empty when not stated */
	uint32_t users; /**< devices and controllers on its bus */
	uint32_t parent; /**< bus it is on itself; 0 when not stated */
	uint32_t bus_nr; /**< of an expander: the guest's bus number; 0 not stated */
	/** Guest NUMA node of what is beneath it: that of the expander it is, or is beneath.
	 * -1: none, the guest does not know where its devices are. */
	int cell;
};

/** A NUMA cell of a domain: <cpu><numa><cell>, with what is said of it elsewhere. */
struct vfctl_domain_cell {
	struct vfctl_cpuset vcpus; /**< the guest's numbers */
	uint64_t memory_bytes;
	uint64_t page_bytes; /**< VFCTL_PAGES_BASE without huge pages or without a size */
	struct vfctl_cpuset memory_nodes; /**< of the host; empty: nothing is said */
	bool memory_strict;
};

/** No limit; also a need that has none. */
#define VFCTL_MEMLOCK_UNLIMITED UINT64_MAX

/** What decides how much memory a guest locks. */
struct vfctl_memlock {
	uint64_t memory_bytes;
	uint64_t hard_limit_bytes; /**< <memtune><hard_limit>; 0 none */
	bool locked;		   /**< <memoryBacking><locked> */
	bool iommu;		   /**< a virtual IOMMU */
	uint32_t vfio_devices;	   /**< VFs and other devices under VFIO */
	uint32_t others;	   /**< vDPA interfaces and NVMe disks */
};

/** The resources a domain takes, whoever wrote it. Freed as a whole. */
struct vfctl_parsed_domain {
	char *name;
	char *uuid;            /**< NULL when not stated */
	uint32_t vcpus;        /**< maximum */
	uint64_t memory_bytes; /**< maximum */
	uint64_t page_bytes; /**< VFCTL_PAGES_BASE without huge pages or without a size */
	bool hugepages;
	/** Pins: the union over all vCPUs (<vcpu cpuset=> where a vCPU has none). */
	struct vfctl_cpuset vcpu_cpus;
	struct vfctl_cpuset emulator_cpus;
	struct vfctl_cpuset iothread_cpus;
	uint32_t iothreads;    /**< I/O threads; 0 none */
	struct vfctl_cpuset memory_nodes; /**< numatune; empty: none stated */
	bool memory_strict;
	/** By id; a domain without cells has one, with all its vCPUs and memory. */
	struct vfctl_domain_cell *cells;
	size_t cell_count; /**< 1 .. 256 */
	unsigned *distances; /**< as of a request; NULL when the domain states none */
	struct vfctl_cpuset *vcpu_pins; /**< per vCPU; empty: it may run anywhere */
	struct vfctl_domain_device *devices;
	size_t device_count;
	struct vfctl_domain_controller *controllers; /**< PCI ones, by index */
	size_t controller_count;
	struct vfctl_bdf *guest_addresses; /**< in use, sorted */
	size_t guest_address_count;
	struct vfctl_domain_address address; /**< as vfctl_domain_address_read() */
	struct vfctl_memlock memlock;	     /**< as vfctl_domain_memlock_read() */
	bool lenient; /**< read for a survey of all domains: see @ref unread */
	/** Lenient: the first value that could not be read, with its line; it is left out. */
	char *unread;
};

/**
 * Read what a domain takes.
 * @param ret  free it with vfctl_parsed_domain_free().
 * @return 0; -EINVAL when it is no domain XML or a value in it is none; -E2BIG above
 * VFCTL_DOMAIN_XML_MAX or VFCTL_DOMAIN_DEVICES_MAX; -ENOPKG without libxml2; -ENOMEM.
 */
int vfctl_domain_read(
	struct vfctl_ctx *ctx, const char *xml, struct vfctl_parsed_domain **ret);

/** NULL is allowed. */
void vfctl_parsed_domain_free(struct vfctl_parsed_domain *parsed);
DEFINE_FREEP(struct vfctl_parsed_domain, vfctl_parsed_domain_free)

/**
 * The placement that a domain XML states: what vfctl_domain_render() turned into it. With
 * that XML as the template, this assignment, the VFs of its metadata and the same guest,
 * rendering gives the same XML again.
 *
 * held_cpus has the cores of the vCPUs that have their CPUs alone; the XML does not say
 * whether the emulator's CPUs are the guest's. l3_groups are the dies. A VF whose node the
 * metadata does not say (it was attached) has that of its guest cell, or none.
 *
 * @param topology  to know the node of a CPU; NULL: that of the cell's memory.
 * @param ret  free it with vfctl_domain_placement_free().
 * @return 0; -EINVAL also for a domain whose vCPUs are not pinned in the form that an
 * assignment can say; else as vfctl_domain_read().
 */
int vfctl_domain_placement(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_topology *topology, struct vfctl_assignment **ret);
/** NULL is allowed. */
void vfctl_domain_placement_free(struct vfctl_assignment *assignment);

/**
 * The limit of locked memory that libvirt sets for a guest, bytes: the hard limit where
 * there is one; none for locked memory; else 1 GiB and the memory, once for all VFIO devices
 * or, behind a virtual IOMMU and from libvirt 8.7 on, once for each; 0 when nothing is
 * locked. Source: qemuDomainGetMemLockLimitBytes() of libvirt's qemu_domain.c.
 * @param libvirt_version  of the target; 0: the newest.
 */
uint64_t vfctl_domain_memlock_need(
	const struct vfctl_memlock *guest, uint64_t libvirt_version);

/**
 * What a domain XML says of it.
 * @return 0; -EINVAL when it is no domain XML or a size in it is none; -E2BIG, -ENOPKG,
 * -ENOMEM as vfctl_domain_read().
 */
int vfctl_domain_memlock_read(
	struct vfctl_ctx *ctx, const char *xml, struct vfctl_memlock *ret);

/**
 * Hold a need against the hard limit of a libvirt daemon that cannot raise it.
 * @param name  of the domain, for the words.
 * @param ret_warning  NULL when it fits, else one line for people; the caller frees it.
 * @return 0 or -ENOMEM.
 */
int vfctl_domain_memlock_judge(struct vfctl_ctx *ctx, const char *name, uint64_t need,
	uint64_t limit, char **ret_warning);

/** What the guest will know of a device's NUMA node; the best first. */
enum vfctl_port_locality {
	VFCTL_LOCALITY_LOCAL,   /**< its node, or the device has none */
	VFCTL_LOCALITY_UNKNOWN, /**< nothing: the port is beneath no node */
	VFCTL_LOCALITY_WRONG,   /**< another node */
};

/** A free PCIe root port. */
struct vfctl_domain_port {
	uint8_t bus;
	int cell;      /**< guest node it is beneath, or -1 */
	int cell_want; /**< guest node it should be beneath, or -1 when there is none */
	enum vfctl_port_locality locality;
};

/**
 * The free PCIe root port that suits a device of host node @p node best: beneath an
 * expander of the guest node whose memory is there, else beneath no guest node, else any.
 * A device of no node goes beneath no guest node.
 * @param node  VFCTL_NODE_NONE for none.
 * @return 0, or -ENOENT when no port is free.
 */
int vfctl_domain_find_port(const struct vfctl_parsed_domain *parsed, int node,
	struct vfctl_domain_port *ret);

#ifdef __cplusplus
}
#endif
#endif
