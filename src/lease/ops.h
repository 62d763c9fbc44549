/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_OPS_H
#define VFCTL_LEASE_OPS_H

#include "base/op.h"
#include "state/store.h"
#include "core/hypervisor.h"

/*
 * What is done for guests, as data. A domain's target is its UUID; that of one of its VFs is
 * "UUID/ADDRESS". "" as want or before: there is none. What is observed is the first word of
 * want or before (of a definition the first line): what follows is needed to get there.
 *
 * lease_ops.c
 * op_lease         domain  the id of its lease, and all that it is (lease/lease_text.h); before: the
 *                          same of a lease that this one replaces, whose domain did not run
 * op_unlease       domain  the same, ended: its VFs are what they were, and nobody's
 * op_lease_vf      VF      the id of the lease it is in, and with what; before also what it was
 *                          leased with until then
 * op_unlease_vf    VF      the same, ended
 * op_lease_domain  (lease) its domain, "UUID NAME": with the lease go its values of pools, all in one
 * op_policy        VF      "set": as its lease says; what was there before is in the run
 * op_unrun         domain  "": its run is over; before "left"
 * op_unlease and op_unrun have " running" behind before when the domain ran, op_unlease_vf " off"
 * when it did not; so have op_lease_shape, and op_redefine behind the line of before
 *
 * domain_ops.c
 * op_domain        domain  its XML in libvirt, which has none of that UUID before
 * op_undomain      domain  "": it is in libvirt no more; before "defined", and what goes with it
 * op_definition    domain  its devices, then its XML; before: the whole XML. Back goes what was done
 *                          to VFs alone: the rest may have been changed by others since
 * op_plugged       VF      "plugged": the running domain has it; then the device's XML
 *
 * set_ops.c
 * op_intent        VF      what it is leased with, as JSON
 * op_definition_vf VF      its attributes in the definition, as JSON; before: the whole XML. They
 *                          alone go back
 * op_run_had       VF      what it has, as JSON, and is given back when the run ends
 *
 * redefine_ops.c
 * op_lease_shape   domain  CPUs, memory and cells of its lease, as JSON. In a run's journal: before
 *                          is what it has when the run ends
 * op_shape_later   domain  the last; its want is that of the note's before
 * op_vf_leaves     VF      VF_LEAVES: it leaves the lease when the run that goes on ends;
 *                          VF_LEAVES_WITH_VALUES: and gives back what it has from pools
 * op_redefine      domain  what its definition says that matters here, in one line, then the XML;
 *                          before: the same. It goes back when nobody changed it since
 */
extern const struct op_type op_lease, op_unlease, op_lease_vf,
	op_unlease_vf, op_lease_domain,
	op_policy, op_unrun, op_domain, op_undomain, op_definition, op_plugged,
	op_intent, op_definition_vf, op_run_had, op_lease_shape, op_shape_later, op_vf_leaves,
	op_redefine;

#define OP_RUNNING " running"
#define OP_OFF " off"
#define VF_LEAVES "leaves"
#define VF_LEAVES_WITH_VALUES "leaves with its values"

void op_uuid(const struct op *op, char ret[VFCTL_UUID_TEXT]);
/* What libvirt says of its domain, or (@config) of its definition. 1; 0: libvirt does not know it. */
int op_ask_domain(struct vfctl_ctx *ctx, const struct op *op, bool config, struct vfctl_domain_info *ret);
static inline void domain_info_clear(struct vfctl_domain_info *info)
{
	vfctl_domain_info_clear(info);
}

/* -EBADMSG when the target is no VF of a domain. */
int op_vf(struct vfctl_ctx *ctx, const struct op *op, char ret_uuid[VFCTL_UUID_TEXT],
	struct vfctl_bdf *ret);
/* The VF in the lease of that domain, which is of @ret; NULL: it holds it no more. */
int op_leased_vf(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_leases **ret,
	const struct vfctl_lease_vf **ret_vf);

/*
 * The host devices of a domain's XML: "0000:11:10.0* 0000:11:10.2": '*' when our metadata knows
 * it. What only that knows is "no:0000:11:10.4*".
 */
int domain_devices(struct vfctl_ctx *ctx, const char *xml, char **ret_text);
/*
 * Of the definition @now goes back what led from @before to @written, of its VFs alone. @look_only: nothing
 * goes back, and the same warning is given.
 */
int definition_take_back(struct vfctl_ctx *ctx, const struct vfctl_domain_info *now, const char *before,
	const char *written, bool look_only);
/* Of op_redefine: the line and the XML. @off: the before of a domain that did not run. */
int redefine_text(struct vfctl_ctx *ctx, const char *xml, bool off, char **ret_text);
/* Before of op_undomain; NULL: out of memory. */
char *domain_drops(unsigned drop);

#endif
