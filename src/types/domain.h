/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_DOMAIN_H
#define VFCTL_TYPES_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/cpuset.h"
#include "base/vfattr.h"
#include "types/guest.h"
#include "types/hostspec.h"
#include "types/placement.h"
#include "types/tuning.h"

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

/** The width of a domain's physical addresses. */
struct vfctl_domain_address {
	bool uefi;	  /**< its firmware is UEFI; else SeaBIOS, or it boots a kernel directly */
	bool passthrough; /**< all bits of the host, or @ref limit if that is not 0 */
	unsigned bits;	  /**< else this width: QEMU's 40 unless the domain states it */
	unsigned limit;
	bool iommufd; /**< at least one device requests it */
};

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
	uint64_t hard_limit_bytes; /**< <memtune><hard_limit>; 0: no limit */
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
	int cell_want; /**< guest node that should be above it; -1: none */
	enum vfctl_port_locality locality;
};

#endif
