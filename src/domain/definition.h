/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_DOMAIN_DEFINITION_H
#define VFCTL_DOMAIN_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/cleanup.h"
#include "base/vfattr.h"
#include "types/domain.h"
#include "types/placement.h"
#include "types/topology.h"

struct vfctl_ctx;

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

/**
 * Write the element with which libvirt finds a device of a running domain, to unplug it: with its
 * source, MAC, whole address in the guest and alias.
 * @param ret_xml  the caller frees it with free().
 * @return as vfctl_domain_device_xml().
 */
int vfctl_domain_unplug_xml(struct vfctl_ctx *ctx, const struct vfctl_domain_device *device,
	char **ret_xml);

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

/**
 * Find the best free PCIe port for a device of host node @p node: one below an expander of the
 * guest node whose memory is on @p node, or else one below no guest node, or else any. A device
 * without a node gets a port below no guest node.
 * @param node  VFCTL_NODE_NONE for a device without a node.
 * @return 0, or -ENOENT when no port is free.
 */
int vfctl_domain_find_port(const struct vfctl_parsed_domain *parsed, int node,
	struct vfctl_domain_port *ret);

#endif
