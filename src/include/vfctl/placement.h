/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_PLACEMENT_H
#define LIBVFCTL_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vfctl/context.h"
#include "vfctl/guest.h"
#include "vfctl/host.h"
#include "vfctl/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Placement: the NUMA nodes, CPUs, memory and VFs that guests would get, and why. Nothing is
 * changed. A guest that does not fit is not an error of the call: check vfctl_assignment_refusal().
 */

/** The result of placing guests: an assignment for each. */
struct vfctl_placed;
/** The placement of one guest, or its refusal. */
struct vfctl_assignment;

/** Why a guest is not placed. @since 0.1 */
enum vfctl_refusal {
	VFCTL_REFUSAL_NONE,   /**< it is placed */
	VFCTL_REFUSAL_VFS,    /**< not enough VFs */
	VFCTL_REFUSAL_CPUS,   /**< not enough CPUs */
	VFCTL_REFUSAL_MEMORY, /**< not enough memory or huge pages */
	VFCTL_REFUSAL_OTHERS, /**< it would fit without the other guests of the call */
};

/**
 * Find where a guest would run on the session's host, beside the guests that are there.
 *
 * @param session  must outlive the result.
 * @param guest    must outlive the result; it is given a UUID if it has none.
 * @param ret      receives the result, also if the guest does not fit; free it with
 *                 vfctl_placed_free().
 * @return 0; -ENOENT: a PF that the guest names does not exist; -EINVAL: that PF belongs to another
 * fabric; -EACCES: the leases cannot be read; -ENOPKG: hwloc is not installed.
 * @since 0.1
 */
int vfctl_place_guest(struct vfctl_session *session, struct vfctl_guest *guest,
	struct vfctl_placed **ret);

/**
 * Find where guests would run on a model, placed together. The result is the same on every machine.
 *
 * @param model   must outlive the result.
 * @param guests  @p count guests, which are placed together; they must outlive the result.
 * @param count   number of guests, 1 or more.
 * @param ret     receives the result; free it with vfctl_placed_free().
 * @return 0; -ENOENT: the model has no such PF; -EINVAL: the model contradicts itself, or a PF
 * belongs to another fabric; -EINTR: vfctl_ctx_cancel() was called.
 * @since 0.1
 */
int vfctl_place_on_model(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	struct vfctl_guest *const guests[], size_t count, struct vfctl_placed **ret);

/**
 * Free a result with its assignments.
 *
 * @param placed  may be NULL.
 * @since 0.1
 */
void vfctl_placed_free(struct vfctl_placed *placed);

/**
 * The assignments, one for each guest, in the order of the call.
 *
 * @param index  position, starting at 0.
 * @return the assignment, owned by @p placed; NULL past the last guest.
 * @since 0.1
 */
const struct vfctl_assignment *vfctl_placed_assignment(const struct vfctl_placed *placed,
	size_t index);

/**
 * Whether it is proven that no other placement is better (docs/explanation/placement.md defines
 * better). False if the search ended at its limit.
 *
 * @return true if it is proven.
 * @since 0.1
 */
bool vfctl_placed_is_proven(const struct vfctl_placed *placed);

/**
 * Whether a guest is placed, and if not, what is short.
 *
 * @return one of the refusals; new releases may add refusals.
 * @since 0.1
 */
enum vfctl_refusal vfctl_assignment_refusal(const struct vfctl_assignment *assignment);

/**
 * The name of a refusal.
 *
 * @return "none", "VFs", "CPUs", "memory" or "others", static; "unknown" for anything else.
 * @since 0.1
 */
const char *vfctl_refusal_name(enum vfctl_refusal refusal);

/**
 * The NUMA node of a guest; for a guest with several NUMA cells, the node of the first one.
 *
 * @return the kernel's number; VFCTL_NODE_NONE if the guest is refused.
 * @since 0.1
 */
int vfctl_assignment_node(const struct vfctl_assignment *assignment);

/**
 * Whether the memory and the VFs of a guest are all on the nodes of its CPUs.
 *
 * @return true if they are; false if the guest is refused.
 * @since 0.1
 */
bool vfctl_assignment_is_local(const struct vfctl_assignment *assignment);

/**
 * A member of an assignment by its key, as a string.
 *
 * | key | value |
 * |---|---|
 * | cpus | all CPUs that the guest holds, siblings included: "0-3,8" |
 * | vcpus | host CPU of each vCPU, in order: "2,10,3,11"; "-" for a vCPU on shared CPUs |
 * | emulator-cpus, iothread-cpus | CPUs of QEMU's own threads; of the I/O threads |
 * | nodes, memory-nodes | NUMA node of the CPUs, and of the memory, of each cell: "0,1" |
 * | memory-bytes | memory of all cells, bytes |
 * | page-bytes | size of its pages, bytes; 0: base pages |
 * | distance | the distance that the planner minimized (docs/explanation/placement.md) |
 *
 * @param key   one of the keys above.
 * @param buf   receives the text, cut to @p size - 1 bytes if it is longer; may be NULL if size is
 *              0.
 * @param size  bytes of @p buf.
 * @return the length of the whole text in bytes; -ENODATA: the guest is refused, or it has no such
 * value; -ENOENT: there is no such key.
 * @since 0.1
 */
int vfctl_assignment_get(const struct vfctl_assignment *assignment, const char *key, char *buf,
	size_t size);

/**
 * The PCI addresses of the VFs that a guest gets, in the order of its guest.yaml.
 *
 * @param index  position, starting at 0.
 * @param buf    VFCTL_BDF_TEXT bytes, receives the address.
 * @return @p buf; NULL past the last VF.
 * @since 0.1
 */
char *vfctl_assignment_vf(const struct vfctl_assignment *assignment, size_t index,
	char buf[VFCTL_BDF_TEXT]);

/**
 * The reasons of an assignment, one by one: what was chosen and why, or what is short on which node
 * and what would help.
 *
 * @param index     position, starting at 0.
 * @param ret_kind  receives the kind; may be NULL.
 * @return one sentence, owned by the assignment; NULL past the last reason.
 * @since 0.1
 */
const char *vfctl_assignment_reason(const struct vfctl_assignment *assignment, size_t index,
	enum vfctl_reason_kind *ret_kind);

#ifdef __cplusplus
}
#endif
#endif
