/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_GUEST_H
#define VFCTL_TYPES_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vfattr.h"
#include "types/placement.h"
#include "types/tuning.h"
#include "vfctl/guest.h"

struct doc_node;

/** A larger guest.yaml is rejected, bytes. */
#define VFCTL_GUEST_FILE_MAX (1024 * 1024)
#define VFCTL_GUEST_NAME_MAX 200 /**< bytes; libvirt uses it in file names */
#define VFCTL_GUEST_DISKS_MAX 64
#define VFCTL_SPARE_PORTS_MAX 16

enum vfctl_virtualization {
	VFCTL_VIRTUALIZATION_KVM,
	VFCTL_VIRTUALIZATION_QEMU, /**< TCG: for tests on machines without /dev/kvm */
};

/** How a VF appears in the domain XML. */
enum vfctl_vf_form {
	VFCTL_FORM_AUTO, /**< interface for an Ethernet VF whose policy it can express, else hostdev */
	VFCTL_FORM_INTERFACE, /**< <interface type='hostdev'>: libvirt sets MAC and VLAN
			       */
	VFCTL_FORM_HOSTDEV,   /**< <hostdev>: vfctl's hook sets everything */
};

enum vfctl_disk_format {
	VFCTL_DISK_QCOW2,
	VFCTL_DISK_RAW,
};

struct vfctl_guest_disk {
	char *source; /**< absolute path of an image file or a block device */
	bool block;
	enum vfctl_disk_format format; /**< qcow2 for a file, raw for a block device */
	char *bus;                     /**< virtio, scsi, sata */
	char *cache; /**< none, writeback, writethrough, directsync, unsafe */
	bool readonly;
};

/**
 * The identities that a VF gets from pools and partitions (host.yaml), as the operator wrote them.
 */
struct vfctl_identity_want {
	char *guid_pool; /**< NULL: the first GUID pool */
	char *mac_pool;	 /**< NULL: the first MAC pool */
	char *pkey;	 /**< a partition's name or a number, see vfctl_host_spec_pkey() */
};

enum vfctl_vf_fabric {
	VFCTL_VF_FABRIC_ANY, /**< that of the named PF; if none is named, preferably Ethernet */
	VFCTL_VF_FABRIC_ETHERNET,
	VFCTL_VF_FABRIC_INFINIBAND,
};

/** Mode of IPoIB in the guest (Documentation/infiniband/ipoib.rst of the kernel). */
enum vfctl_ipoib_mode {
	VFCTL_IPOIB_UNSTATED,
	VFCTL_IPOIB_DATAGRAM,  /**< MTU up to that of the link less 4: 2044 or 4092 */
	VFCTL_IPOIB_CONNECTED, /**< MTU up to 65520 */
};

/** Some VFs with the same policy. */
struct vfctl_guest_vf {
	char *pf;       /**< name as the operator wrote it; NULL: any PF */
	enum vfctl_vf_fabric fabric;
	struct vfctl_identity_want identity;
	uint32_t count; /**< 1 .. VFCTL_GUEST_VFS_MAX */
	/**
	 * Without VFCTL_ATTR_MAC (InfiniBand: without the GUIDs) vfctl assigns them. spoofchk and
	 * trust are set.
	 */
	struct vfctl_vf_attrs attrs;
	enum vfctl_vf_form form;
	uint32_t port; /**< physical port of its card, from 1; 0: any */
	uint32_t mtu;  /**< MTU that the guest will use, and that the PF must have at least; 0: any */
	enum vfctl_ipoib_mode ipoib_mode; /**< used by vfctl_guest_half_make() only */
	int cell;      /**< VFCTL_CELL_ANY, VFCTL_CELL_EACH, or a cell's number */
	enum vfctl_affinity affinity;
	char *anti_affinity_name; /**< NULL: none */
	uint32_t anti_affinity; /**< entries with the same number get different PFs; 0: no such rule */
	/**
	 * Ports of the bond of that name in the guest: they have one MAC. The reader gives them one
	 * @ref anti_affinity. NULL: none.
	 */
	char *bond;
	char *at; /**< "FILE:LINE:COLUMN" of its entry, for messages about this VF */
};

/** A choice that follows from the rest of the guest unless the file sets it. */
enum vfctl_choice {
	VFCTL_CHOICE_AUTO,
	VFCTL_CHOICE_ON,
	VFCTL_CHOICE_OFF,
};

/** The caches that the guest sees: <cpu><cache>. */
enum vfctl_cpu_cache {
	VFCTL_CPU_CACHE_AUTO, /**< passthrough with host-passthrough, else nothing */
	VFCTL_CPU_CACHE_PASSTHROUGH,
	VFCTL_CPU_CACHE_EMULATE,
	VFCTL_CPU_CACHE_DISABLE,
	VFCTL_CPU_CACHE_NONE, /**< QEMU's default */
};

/** The emulator of the I/O APIC: <features><ioapic>. */
enum vfctl_ioapic {
	VFCTL_IOAPIC_AUTO, /**< kvm; qemu with a virtual IOMMU */
	VFCTL_IOAPIC_KVM,
	VFCTL_IOAPIC_QEMU,
};

/** libvirt's limit for q35, unless an IOMMU with extended interrupt mode is present. */
#define VFCTL_VCPUS_WITHOUT_IOMMU 255
#define VFCTL_EXPANDER_PORTS_DEFAULT 1
#define VFCTL_EXPANDER_PORTS_MAX 8

/**
 * Settings of the domain XML that the placement leaves open; docs/reference/guest-yaml.md gives the
 * reason of each default. AUTO keeps what the template states; ON and OFF replace it.
 */
struct vfctl_guest_xml {
	bool realtime;		    /**< vCPUs on dedicated CPUs run under SCHED_FIFO */
	uint32_t realtime_priority; /**< 1 .. 99; 0: 1 */
	enum vfctl_choice nosharepages;
	enum vfctl_choice preallocate;	 /**< allocate all memory before the start */
	enum vfctl_choice shared_memory; /**< memfd, mapped as shared: vhost-user, virtiofs */
	enum vfctl_cpu_cache cpu_cache;
	enum vfctl_choice l3;	     /**< dies in the topology where L3 caches are shared */
	enum vfctl_choice distances; /**< distances between cells */
	enum vfctl_choice maxphysaddr;
	enum vfctl_choice migratable; /**< attribute of host-passthrough */
	enum vfctl_ioapic ioapic;
	enum vfctl_choice hint_dedicated;
	enum vfctl_choice poll_control;
	enum vfctl_choice hidden; /**< the guest does not see that it runs on KVM */
	enum vfctl_choice hpet;
	enum vfctl_choice iommu;     /**< a virtual Intel IOMMU */
	enum vfctl_choice expanders; /**< VFs below PCI roots of their guest node */
	uint32_t expander_ports;     /**< free root ports below each expander, for hot plug */
	enum vfctl_choice rom_bar;   /**< ROM BAR of VFs */
	enum vfctl_choice iommufd;   /**< iommufd for VFs; libvirt 12.1, interfaces 12.2 */
	enum vfctl_choice balloon;   /**< not with VFs */
	enum vfctl_choice usb;
	enum vfctl_choice rng;
};

/** A guest.yaml. Strings are owned by the guest; NULL where the key is optional. */
struct vfctl_guest {
	char *name;
	char *uuid; /**< lower case with dashes, or NULL: libvirt generates one */
	char *title;
	char *description;
	uint32_t vcpus;
	uint32_t shared_vcpus; /**< how many of them, the last ones, run on shared CPUs */
	enum vfctl_threads threads;
	uint32_t emulator_cores; /**< for QEMU's own threads; VFCTL_EMULATOR_AUTO */
	uint32_t iothreads;
	uint32_t iothread_cores; /**< 0: they share the emulator's cores */
	int node;		 /**< VFCTL_NODE_NONE: any */
	struct vfctl_cell_want *cells; /**< NULL: as many as needed, at most cells_max */
	size_t cell_count;
	uint32_t cells_max; /**< 0: no limit */
	enum vfctl_affinity memory_affinity; /**< REQUIRED or PREFERRED */
	bool whole_node, whole_l3;
	unsigned max_distance; /**< ACPI SLIT; 0 no limit */
	uint64_t memory_bytes; /**< a multiple of 1 MiB */
	uint64_t page_bytes;   /**< VFCTL_PAGES_AUTO, VFCTL_PAGES_BASE, 2 MiB or 1 GiB */
	bool locked;           /**< memory stays in RAM (never swapped) */
	enum vfctl_virtualization virtualization;
	char *machine;
	char *cpu; /**< host-passthrough, host-model, maximum, or a model's name */
	bool pmu;
	char *template_name; /**< name of a template, or a path if it contains '/'; NULL: built-in */
	char *kernel;        /**< absolute path; initrd and cmdline are optional */
	char *initrd;
	char *cmdline;
	bool console;         /**< a serial console */
	uint32_t spare_ports; /**< free PCIe root ports for hot plug, 0..16 */
	struct vfctl_guest_disk *disks;
	size_t disk_count;
	struct vfctl_guest_vf *vfs;
	size_t vf_count; /**< number of entries, not of VFs: each entry has a count */
	struct vfctl_guest_xml xml;
	struct vfctl_guest_tuning tuning;
	char *tuning_at; /**< "FILE:LINE:COLUMN" of tuning:; NULL: the file has none */
	struct doc_node *doc;	/**< its guest.yaml as it was read; NULL: it does not come from a file */
	uint64_t template_hash; /**< of the text of its template; 0: none, or not known */
};

/**
 * Whether @p name is safe as a domain name: 1 .. VFCTL_GUEST_NAME_MAX bytes of UTF-8 without '/',
 * control characters, white space at the ends or a '.' in front. (libvirt derives paths of logs,
 * state files and sockets from it.)
 */
bool vfctl_guest_name_valid(const char *name);

#endif
