/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_OPS_H
#define VFCTL_LEASE_OPS_H

#include "base/op.h"
#include "state/store.h"
#include "types/hypervisor.h"
#include "types/lease.h"

/*
 * The operations for guests, as data. The target of a domain is its UUID; that of one of its VFs is
 * "UUID/ADDRESS". "" as want or before: there is none. What is observed is the first word of want
 * or before (of a definition the first line): what follows is needed to get there.
 *
 * lease_ops.c
 * op_lease         domain  the id of its lease, and all that it is (lease/lease_text.h); before:
 * the
 *                          same of a lease that this one replaces, whose domain did not run
 * op_unlease       domain  the same, ended: its VFs are not changed, and are not leased
 * op_lease_vf      VF      the id of the lease it is in, and with what; before also what it was
 *                          leased with until then
 * op_unlease_vf    VF      the same, ended
 * op_lease_domain  (lease) its domain, "UUID NAME": with the lease go its values of pools, all in
 * one
 * op_policy        VF      "set": as its lease says; the previous policy is recorded in the run
 * op_end_run         domain  "": its run is over; before "left"
 * op_unlease and op_end_run have " running" behind before when the domain ran, op_unlease_vf " off"
 * when it did not; so have op_lease_shape, and op_redefine behind the line of before
 *
 * domain_ops.c
 * op_domain        domain  its XML in libvirt, which has none of that UUID before
 * op_undefine      domain  "": it is no longer in libvirt; before "defined", and what goes with it
 * op_definition    domain  its devices, then its XML; before: the whole XML. A roll-back restores
 *                          only what concerns VFs: other programs may have changed the rest
 * op_plugged       VF      "plugged": the running domain has it; then the device's XML
 *
 * set_ops.c
 * op_intent        VF      what it is leased with, as JSON
 * op_definition_vf VF      its attributes in the definition, as JSON; before: the whole XML. Only
 *                          these are rolled back
 * op_run_had       VF      its present values, as JSON, which are restored when the run ends
 *
 * redefine_ops.c
 * op_lease_shape   domain  CPUs, memory and cells of its lease, as JSON. In a run's journal: before
 *                          is what it has when the run ends
 * op_shape_later   domain  the last; its want is that of the note's before
 * op_vf_leaves     VF      VF_LEAVES: it leaves the lease when the run that goes on ends;
 *                          VF_LEAVES_WITH_VALUES: and its values of pools are released
 * op_redefine      domain  what its definition says that matters here, in one line, then the XML;
 *                          before: the same. It is rolled back if no other program changed it
 */
extern const struct op_type op_lease, op_unlease, op_lease_vf,
	op_unlease_vf, op_lease_domain,
	op_policy, op_end_run, op_domain, op_undefine, op_definition, op_plugged,
	op_intent, op_definition_vf, op_run_had, op_lease_shape, op_shape_later, op_vf_leaves,
	op_redefine;

#define OP_RUNNING " running"
#define OP_OFF " off"
#define VF_LEAVES "leaves"
#define VF_LEAVES_WITH_VALUES "leaves with its values"

void op_uuid(const struct op *op, char ret[VFCTL_UUID_TEXT]);
/*
 * The state of its domain in libvirt, or (@config) its definition. 1: libvirt has it; 0: it has
 * not.
 */
int op_ask_domain(struct vfctl_ctx *ctx, const struct op *op, bool config,
	struct vfctl_domain_info *ret);
static inline void domain_info_clear(struct vfctl_domain_info *info)
{
	vfctl_domain_info_clear(info);
}

/* -EBADMSG if the target is not a VF of a domain. */
int op_vf(struct vfctl_ctx *ctx, const struct op *op, char ret_uuid[VFCTL_UUID_TEXT],
	struct vfctl_bdf *ret);
/* Find the VF in the lease of that domain, which is in @ret; NULL: it is no longer leased to it. */
int op_leased_vf(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_leases **ret,
	const struct vfctl_lease_vf **ret_vf);

/*
 * The host devices of a domain's XML: "0000:11:10.0* 0000:11:10.2"; '*' means that vfctl's metadata
 * contains it. A device that is only in the metadata is "no:0000:11:10.4*".
 */
int domain_devices(struct vfctl_ctx *ctx, const char *xml, char **ret_text);
/*
 * Undo in the definition @now what changed from @before to @written, for its VFs only. @look_only:
 * change nothing, but give the same warning.
 */
int definition_take_back(struct vfctl_ctx *ctx, const struct vfctl_domain_info *now,
	const char *before,
	const char *written, bool look_only);
/* The text of op_redefine: the line and the XML. @off: the before of a domain that did not run. */
int redefine_text(struct vfctl_ctx *ctx, const char *xml, bool off, char **ret_text);
/* The before of op_undefine; NULL if memory is exhausted. */
char *domain_drops(unsigned drop);

#endif
