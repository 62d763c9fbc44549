/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_GUEST_H
#define VFCTL_CORE_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/placement.h"
#include "core/tuning.h"
#include "core/vfattr.h"
#include "vfctl/guest.h"

#ifdef __cplusplus
extern "C" {
#endif

DEFINE_FREEP(struct vfctl_guest, vfctl_guest_free)

struct doc_node;
struct vfctl_ctx;

/** A guest.yaml above this size is refused, bytes. */
#define VFCTL_GUEST_FILE_MAX (1024 * 1024)
#define VFCTL_GUEST_NAME_MAX 200 /**< bytes; libvirt makes file names of it */
#define VFCTL_GUEST_DISKS_MAX 64
#define VFCTL_SPARE_PORTS_MAX 16

enum vfctl_virtualization {
	VFCTL_VIRTUALIZATION_KVM,
	VFCTL_VIRTUALIZATION_QEMU, /**< TCG: for tests on machines without /dev/kvm */
};

/** How a VF appears in the domain XML. */
enum vfctl_vf_form {
	VFCTL_FORM_AUTO, /**< interface for Ethernet where it can say all, else hostdev */
	VFCTL_FORM_INTERFACE, /**< <interface type='hostdev'>: libvirt sets MAC and VLAN
			       */
	VFCTL_FORM_HOSTDEV,   /**< <hostdev>: our hook sets everything */
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

/** What a VF asks of pools and partitions (host.yaml), as the operator wrote it. */
struct vfctl_identity_want {
	char *guid_pool; /**< NULL: the first GUID pool there is */
	char *mac_pool;	 /**< NULL: the first MAC pool there is */
	char *pkey;	 /**< a partition's name or a number, see vfctl_host_spec_pkey() */
};

enum vfctl_vf_fabric {
	VFCTL_VF_FABRIC_ANY, /**< of the PF that is named; Ethernet first when none is */
	VFCTL_VF_FABRIC_ETHERNET,
	VFCTL_VF_FABRIC_INFINIBAND,
};

/** Some VFs with the same policy. */
struct vfctl_guest_vf {
	char *pf;       /**< name as the operator wrote it; NULL: any PF */
	enum vfctl_vf_fabric fabric;
	struct vfctl_identity_want identity;
	uint32_t count; /**< 1 .. VFCTL_GUEST_VFS_MAX */
	/** Without VFCTL_ATTR_MAC (InfiniBand: without the GUIDs) they are to be assigned.
	 * spoofchk and trust are set. */
	struct vfctl_vf_attrs attrs;
	enum vfctl_vf_form form;
	uint32_t port; /**< physical port of its card, from 1; 0 any */
	uint32_t mtu;  /**< that the guest will use; 0: no matter. The PF must have as much. */
	int cell;      /**< VFCTL_CELL_ANY, VFCTL_CELL_EACH, or a cell's number */
	enum vfctl_affinity affinity;
	char *apart_name; /**< NULL none */
	uint32_t apart; /**< entries of the same number: different PFs; 0 no matter */
	unsigned line; /**< in guest.yaml, for messages about this VF */
};

/** A choice that follows from the rest of the guest unless somebody makes it. */
enum vfctl_choice {
	VFCTL_CHOICE_AUTO,
	VFCTL_CHOICE_ON,
	VFCTL_CHOICE_OFF,
};

/** What the guest is told of the caches: <cpu><cache>. */
enum vfctl_cpu_cache {
	VFCTL_CPU_CACHE_AUTO, /**< passthrough with host-passthrough, else nothing */
	VFCTL_CPU_CACHE_PASSTHROUGH,
	VFCTL_CPU_CACHE_EMULATE,
	VFCTL_CPU_CACHE_DISABLE,
	VFCTL_CPU_CACHE_NONE, /**< QEMU's default */
};

/** Who emulates the I/O APIC: <features><ioapic>. */
enum vfctl_ioapic {
	VFCTL_IOAPIC_AUTO, /**< kvm; qemu with a virtual IOMMU */
	VFCTL_IOAPIC_KVM,
	VFCTL_IOAPIC_QEMU,
};

/** libvirt refuses more on q35 unless an IOMMU extends the interrupts. */
#define VFCTL_VCPUS_WITHOUT_IOMMU 255
#define VFCTL_EXPANDER_PORTS_DEFAULT 1
#define VFCTL_EXPANDER_PORTS_MAX 8

/**
 * The domain XML where the placement leaves a choice; docs/guest.md has the reason of each
 * default. AUTO leaves what a template says; ON and OFF replace it.
 */
struct vfctl_guest_xml {
	bool realtime;		    /**< vCPUs of their own CPUs under SCHED_FIFO */
	uint32_t realtime_priority; /**< 1 .. 99; 0: 1 */
	enum vfctl_choice nosharepages;
	enum vfctl_choice preallocate;	 /**< memory is touched before the start */
	enum vfctl_choice shared_memory; /**< memfd, mapped by vhost-user, virtiofs */
	enum vfctl_cpu_cache cpu_cache;
	enum vfctl_choice l3;	     /**< dies in the topology where L3 caches are shared */
	enum vfctl_choice distances; /**< between cells */
	enum vfctl_choice maxphysaddr;
	enum vfctl_choice migratable; /**< of host-passthrough */
	enum vfctl_ioapic ioapic;
	enum vfctl_choice hint_dedicated;
	enum vfctl_choice poll_control;
	enum vfctl_choice hidden; /**< the guest does not see that it runs on KVM */
	enum vfctl_choice hpet;
	enum vfctl_choice iommu;     /**< a virtual Intel IOMMU */
	enum vfctl_choice expanders; /**< VFs beneath PCI roots with their guest node */
	uint32_t expander_ports;     /**< free root ports beneath each, for hot plug */
	enum vfctl_choice rom_bar;   /**< of VFs */
	enum vfctl_choice iommufd;   /**< of VFs; libvirt 12.1, interfaces 12.2 */
	enum vfctl_choice balloon;   /**< not with VFs */
	enum vfctl_choice usb;
	enum vfctl_choice rng;
};

/** A guest.yaml. Strings are owned by the guest; NULL where the key is optional. */
struct vfctl_guest {
	char *name;
	char *uuid; /**< lower case with dashes, or NULL: libvirt makes one */
	char *title;
	char *description;
	uint32_t vcpus;
	uint32_t shared_vcpus; /**< of them, the last ones, on CPUs shared with others */
	enum vfctl_threads threads;
	uint32_t emulator_cores; /**< for QEMU's own threads; VFCTL_EMULATOR_AUTO */
	uint32_t iothreads;
	uint32_t iothread_cores; /**< 0: they share the emulator's cores */
	int node;		 /**< VFCTL_NODE_NONE: any */
	struct vfctl_cell_want *cells; /**< NULL: as many as needed, cells_max at most */
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
	char *template_name; /**< of a template, or a path when it holds '/'; NULL:
				built-in */
	char *kernel;        /**< absolute path, with initrd and cmdline optional */
	char *initrd;
	char *cmdline;
	bool console;         /**< a serial console */
	uint32_t spare_ports; /**< free PCIe root ports for hot plug, 0..16 */
	struct vfctl_guest_disk *disks;
	size_t disk_count;
	struct vfctl_guest_vf *vfs;
	size_t vf_count; /**< entries, not VFs: each has a count */
	struct vfctl_guest_xml xml;
	struct vfctl_guest_tuning tuning;
	struct doc_node *doc;	/**< its guest.yaml as it was given; NULL: it is from none */
	uint64_t template_hash; /**< of the text of its template; 0: it has none, or it is not known */
};

/**
 * A guest that says no more than these: everything else as a guest.yaml leaves it that does
 * not mention it. For programs that fill in the rest themselves; a zeroed struct is no guest
 * (it would ask for node 0, and for no huge pages).
 *
 * @param vcpus         1 .. VFCTL_VCPU_MAX
 * @param memory_bytes  a multiple of 1 MiB
 * @param ret  free it with vfctl_guest_free(): strings that are put into it must come from
 *             malloc().
 * @return 0; -EINVAL for a name, number or size that guest.yaml would refuse; -ENOMEM.
 */
int vfctl_guest_new(struct vfctl_ctx *ctx, const char *name, uint32_t vcpus,
	uint64_t memory_bytes, struct vfctl_guest **ret);

/**
 * One VF more, as an entry "- pf: PF" of guest.yaml asks for it.
 * @param pf      a PF's name, copied; NULL: any PF.
 * @param ret_vf  the entry, owned by the guest and valid until the next call; may be NULL.
 * @return 0; -E2BIG past VFCTL_GUEST_VFS_MAX; -ENOMEM.
 */
int vfctl_guest_add_vf(struct vfctl_ctx *ctx, struct vfctl_guest *guest, const char *pf,
	struct vfctl_guest_vf **ret_vf);

/** VFs the guest asks for in all. */
uint32_t vfctl_guest_vf_total(const struct vfctl_guest *guest);

/**
 * Is @p name safe as a domain name: 1 .. VFCTL_GUEST_NAME_MAX bytes of UTF-8 without '/',
 * control characters, white space at the ends or a '.' in front? (libvirt derives paths
 * of logs, state and sockets from it.)
 */
bool vfctl_guest_name_valid(const char *name);

#ifdef __cplusplus
}
#endif
#endif
