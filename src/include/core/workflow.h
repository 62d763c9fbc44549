/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_WORKFLOW_H
#define VFCTL_CORE_WORKFLOW_H

#include "core/change.h"
#include "core/cleanup.h"
#include "core/domain.h"
#include "core/guest.h"
#include "core/hostspec.h"
#include "core/hypervisor.h"
#include "core/placement.h"
#include "core/snapshot.h"
#include "vfctl/guest.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The host's declaration and its pools, ready for use: host.yaml read, pools that derive from
 * a PF's GUID told that GUID, the store opened.
 * @param path   see vfctl_host_spec_read().
 * @param write  see vfctl_ids_open().
 * @param ret_ids  NULL when host.yaml declares no pool and no partition.
 * @return as those two. Free the pools first, then the spec.
 */
int vfctl_host_ids_open(struct vfctl_ctx *ctx, const char *path, bool write,
	struct vfctl_host_spec **ret_spec, struct vfctl_ids **ret_ids);

/** A guest with its place on this host: the answer, and the VFs it would get. */
struct vfctl_placement;

struct vfctl_place_options {
	/** Whose domains count as well; NULL: only our own leases are known. */
	struct vfctl_hypervisor *hypervisor;
	/** The host's own, besides those of @ref spec (or of isolcpus): --reserve. */
	struct vfctl_cpuset reserved_cpus;
	/** What host.yaml keeps for the host and lets guests share; NULL: nothing. */
	const struct vfctl_host_spec *spec;
	struct vfctl_ids *ids; /**< pools of GUIDs and MACs; NULL: none */
	/** A place is told even when the fleet's pools cannot be reached, without the
	 * identities (logged); otherwise that is a failure. */
	bool without_identities;
	/** Of vfctl_rebuild_plan(): an administrator looked at the metadata of all domains, and it may
	 * grant what it asks for. Otherwise it gets the safe defaults. */
	bool trust_metadata;
};

/**
 * The host as the planner sees it: its topology, what is the host's own, PFs, free VFs, and
 * who holds what (our leases; with a hypervisor, the domains we did not make as well).
 *
 * The host's own CPUs: those that host.yaml states; when it states none and the kernel
 * isolates some (isolcpus=), all others that are not shared. options->reserved_cpus adds.
 *
 * @param snapshot  must hold the leases.
 * @param ret_model  freed with vfctl_model_free().
 * @return 0; -EINVAL CPUs are stated that are not there, or both reserved and shared;
 * -ENOPKG, as vfctl_topology_load().
 */
int vfctl_model_read(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const struct vfctl_place_options *options, struct vfctl_host_model **ret_model);

/** What guests ask, as the planner takes it. Strings belong to the guests. */
struct vfctl_requests {
	struct vfctl_request *v;
	size_t count;
};

/**
 * Guests in the planner's terms: the PFs they name are looked up in the model.
 * @param guests  borrowed for as long as the result lives.
 * @param ret  free it with vfctl_requests_free().
 * @return 0; -ENOENT the model has no such PF; -EINVAL it is of another fabric; -ENOMEM.
 */
int vfctl_requests_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	struct vfctl_guest *const *guests, size_t count, struct vfctl_requests **ret);
/** NULL is allowed. */
void vfctl_requests_free(struct vfctl_requests *requests);
DEFINE_FREEP(struct vfctl_requests, vfctl_requests_free)

/**
 * Fill in what vfctl's guests among the occupants of @p model asked for (wants, pinned, changing), and
 * leave out VFs that they have for the run that goes on alone: what
 * their files said is in the metadata of their domains. Of one that says nothing, or nothing that can be
 * read (a warning), it stays unknown.
 * @param hypervisor  that knows the domains; NULL: nothing is filled in.
 * @return 0; -ENOMEM; what its list() returns.
 */
int vfctl_model_read_words(struct vfctl_ctx *ctx, struct vfctl_host_model *model,
	struct vfctl_hypervisor *hypervisor);

enum vfctl_picture {
	VFCTL_PICTURE_SVG,
	VFCTL_PICTURE_PNG,
};

/**
 * Draw the machine, with a colour for each guest, through hwloc's lstopo.
 * @param path  of the machine this runs on; the picture is there whole, or what was before.
 * @return 0; -ENOPKG lstopo is not installed; -EIO it failed, -ETIMEDOUT; what the file
 * could not be written for.
 */
int vfctl_model_draw(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	enum vfctl_picture format, const char *path);

/**
 * Does this host have what the guest needs besides its place: /dev/kvm, and its disk images?
 * vfctl_define_plan() asks this of a guest that is new. Of a capture, and of a libvirt elsewhere
 * (@p hypervisor), nothing is asked.
 * @return 0; -ENODEV no KVM; -ENOENT a disk; the message has the remedy.
 */
int vfctl_guest_check_host(struct vfctl_ctx *ctx, const struct vfctl_guest *guest,
	const struct vfctl_hypervisor *hypervisor);

/**
 * Where a guest would run: snapshot of the host, what others hold, plan. Nothing changes.
 * @param guest  borrowed for as long as the result lives; given a UUID if it has none.
 * @param ret_placed  also given when the guest does not fit (look at the assignment);
 *                    freed with vfctl_placement_free().
 * @return 0; -ENOENT a PF the guest names is not here; -EINVAL; -EACCES the leases cannot
 * be read.
 */
int vfctl_place(struct vfctl_ctx *ctx, struct vfctl_guest *guest,
	const struct vfctl_place_options *options, struct vfctl_placement **ret_placed);
void vfctl_placement_free(struct vfctl_placement *placed);
DEFINE_FREEP(struct vfctl_placement, vfctl_placement_free)
/** The placement or the refusal, with reasons. Owned by @p placed. */
const struct vfctl_assignment *vfctl_placement_assignment(const struct vfctl_placement *placed);
/** The VFs with their final attributes (MACs assigned). Owned by @p placed. */
const struct vfctl_domain_vf *vfctl_placement_vfs(const struct vfctl_placement *placed,
	size_t *ret_count);
/** The whole answer, with what is proven of it. Owned by @p placed. */
const struct vfctl_plan *vfctl_placement_plan(const struct vfctl_placement *placed);
/** The host as it was planned on. Owned by @p placed. */
const struct vfctl_host_model *vfctl_placement_model(const struct vfctl_placement *placed);
/**
 * The domain XML of a placed guest, see vfctl_domain_render().
 * @param template_text  NULL: the built-in bare one.
 */
int vfctl_placement_xml(struct vfctl_ctx *ctx, const struct vfctl_placement *placed,
	const char *template_text, const char *template_name, uint64_t libvirt_version,
	char **ret_xml);

/**
 * Plan: lease what the guest needs and define it in libvirt. A domain that is defined already is
 * made what the guest's file asks, and keeps its UUID, identities and place where the file lets it
 * (docs/guest.md); when it is so already the change has no steps.
 * @return as vfctl_place(); -EEXIST libvirt has a domain of that name or UUID that is another's, was
 * changed by others, or differs in what is not changed in a domain that is there, the words saying
 * what; -EBUSY it runs, or ran, and the hook did not see that; -ENOSPC the guest does not fit, the
 * words saying what is short and what would make it fit.
 */
int vfctl_define_plan(struct vfctl_ctx *ctx, struct vfctl_guest *guest,
	const struct vfctl_place_options *options, const char *template_text,
	const char *template_name, bool dry_run, struct vfctl_change **ret_change);

/**
 * Plan: carry out the move that vfctl_plan_rebalance() proposes for a guest of vfctl's. It keeps its
 * UUID, MACs, GUIDs and what its VFs are leased with; while it runs its definition changes, and it
 * moves when it is stopped and started. Where no move is proposed for it the change has no steps.
 * @param domain   name or UUID.
 * @param options  as for vfctl_define_plan().
 * @return as vfctl_define_plan(); -ENOENT no such domain; -EEXIST it is not vfctl's, was changed by
 * others, or it is not known what its file asked for; -ENOSPC what its file asked for does not fit
 * where it would go.
 */
int vfctl_move_plan(struct vfctl_ctx *ctx, const char *domain,
	const struct vfctl_place_options *options, bool dry_run, struct vfctl_change **ret_change);

/** Guests that were placed together, for vfctl_batch_define_plan(). */
struct vfctl_batch;

/**
 * Place all guests that libvirt does not have yet, as one plan. Unless it is a dry run the host's
 * placements are locked until the batch is freed, so that the plan stays true.
 * @param guests   borrowed for as long as the batch lives; given UUIDs when they are defined.
 * @param options  with the hypervisor; what it points to is borrowed.
 * @param ret      also given when some do not fit; freed with vfctl_batch_free().
 * @return 0; as vfctl_place(), naming the guest.
 */
int vfctl_batch_place(struct vfctl_ctx *ctx, struct vfctl_guest *const *guests, size_t count,
	const struct vfctl_place_options *options, bool dry_run, struct vfctl_batch **ret);
/** NULL is allowed. */
void vfctl_batch_free(struct vfctl_batch *batch);
DEFINE_FREEP(struct vfctl_batch, vfctl_batch_free)
/** Guest @p index in the order of definition: those that are new first. NULL past the end. */
const struct vfctl_guest *vfctl_batch_guest(const struct vfctl_batch *batch, size_t index);
/**
 * Plan: define guest @p index at its place in the plan, or change one that libvirt has already.
 * Run it before the next is planned; each is all or nothing. When that gives -EAGAIN, plan it again.
 * @return as vfctl_define_plan().
 */
int vfctl_batch_define_plan(struct vfctl_ctx *ctx, struct vfctl_batch *batch, size_t index,
	const char *template_text, const char *template_name, struct vfctl_change **ret_change);

/**
 * Plan: lease to libvirt's domains again what vfctl wrote into them, when the state file was
 * lost: VFs with their identities, CPUs, memory, and their values of pools. Domains that have
 * a lease, and such as vfctl gave nothing, are passed over. What VFs had before a guest got
 * them is lost: those of running domains keep the guest's policy when it stops. A core that
 * QEMU's threads had for themselves is then shared with those of next guests. A lease that is there, of a
 * domain that libvirt does not know any more, goes to the domain whose metadata names it, with its values of
 * this host's own pools.
 * @param options  with the hypervisor.
 * @return 0; -EINVAL without a hypervisor; what prevents libvirt's answer; the change's run
 * gives -EEXIST when two domains hold the same.
 */
int vfctl_rebuild_plan(struct vfctl_ctx *ctx, const struct vfctl_place_options *options,
	bool dry_run, struct vfctl_change **ret_change);

struct vfctl_undefine_options {
	struct vfctl_ids *ids; /**< pools it may have GUIDs and MACs from; NULL: none */
	bool force;	       /**< also a domain that vfctl did not define */
	unsigned drop;	       /**< what may be lost with it, VFCTL_DROP_ bits; 0 nothing */
};

/**
 * Plan: undefine a domain and give back what it held. Once libvirt has dropped the
 * definition the change goes forward; called again it does what was left.
 * @param domain  name or UUID. Of a domain that libvirt does not know any more the lease, or
 *                what is left of one, is ended; where there is nothing of that name the change
 *                has no steps, and vfctl_change_nothing() says so.
 * @return 0; -EBUSY it runs; -EPERM it was not defined by vfctl.
 */
int vfctl_undefine_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_undefine_options *options, bool dry_run,
	struct vfctl_change **ret_change);

/**
 * Mark (to_clean) the VFs of @p snapshot that nobody has, that no driver of this host has, and that
 * have what host.yaml does not declare for them: trust on, a VLAN, rate limits, or the MAC that a
 * domain's lease says of another VF. Nothing is marked where it is not known who has what, nor on PFs
 * that are not managed.
 * @param spec  what this host declares; NULL: nothing.
 */
void vfctl_snapshot_mark_left(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec);
/**
 * Plan: each of those VFs is reset, where the kernel offers that, and has what host.yaml declares for
 * it, or safe defaults. define and attach do the same to a VF before they hand it out. Without such
 * VFs the change has no steps.
 * @param spec  what this host declares; NULL: nothing.
 * @return 0; -EACCES it is not known who has what; -EROFS.
 */
int vfctl_clean_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool dry_run,
	struct vfctl_change **ret_change);

struct vfctl_attach_options {
	const char *pf; /**< any free VF of it; or NULL */
	const char *vf; /**< this VF; or NULL. One of the two is given */
	struct vfctl_vf_attrs attrs;
	struct vfctl_identity_want identity; /**< strings borrowed */
	struct vfctl_ids *ids;		     /**< pools of GUIDs and MACs; NULL: none */
	const struct vfctl_host_spec *spec;  /**< what this host declares; NULL: nothing */
	enum vfctl_vf_form form;
	unsigned affect; /**< VFCTL_AFFECT_ bits; 0: live if it runs, config if persistent */
	uint32_t count;	 /**< VFs of the PF; 0: one */
	bool ensure;	 /**< so many in all: only those that the domain has not are attached */
	uint32_t ensure_mask; /**< which attributes those that it has must have as in @ref attrs */
};

/**
 * Plan: give an existing domain VFs: lease, identity set and verified, then libvirt; all or none.
 * To ensure what it has already the change has no steps.
 * @return 0; -ENOENT; -EBUSY no free VF, or the VF is held (the words say by whom); -EEXIST to ensure
 * a VF that it has with other attributes;
 * -ENOSPC the domain has no free PCIe root port; -EINVAL --live for one that is off.
 */
int vfctl_attach_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_attach_options *options, bool dry_run,
	struct vfctl_change **ret_change);

/**
 * Plan: lease to a domain that others wrote the VFs that its definition has, with what they have
 * now; an <interface> says MAC and VLAN. Its devices are not changed, only our metadata is added.
 * It may run. Where all its VFs are leased to it the change has no steps.
 * @param ids  pools that its MACs and GUIDs may be of; NULL: none.
 * @return 0; -ENOENT no such domain; -EBUSY a VF is leased to, or used by, another; -EINVAL it is
 * transient, or takes VFs of a network of libvirt's; -EEXIST another has its MAC or GUID.
 */
int vfctl_adopt_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, struct vfctl_ids *ids, bool dry_run, struct vfctl_change **ret_change);
/**
 * Plan: the way back, also of a domain that vfctl only attached VFs to: its lease is ended, our
 * metadata is taken out, and it stays defined with its devices. Without a lease there are no steps.
 * @return 0; -ENOENT no such domain; -EBUSY it runs; -EPERM vfctl defined it.
 */
int vfctl_adopt_end_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, struct vfctl_ids *ids, bool dry_run, struct vfctl_change **ret_change);

struct vfctl_detach_options {
	const char *vf; /**< PF/INDEX or address; NULL: the only one it has */
	struct vfctl_ids *ids; /**< pools it may have a GUID or MAC from; NULL: none */
	unsigned affect;
	unsigned timeout_ms; /**< wait for the guest to let go; 0: 30 s */
};

/**
 * Plan: take a VF from a domain, wait until it is gone, restore and release it. Of a VF that the
 * domain does not have the change has no steps, and vfctl_change_nothing() says so.
 * @return 0; -ENOENT no such domain or VF; -EINVAL --live of one that is off, or no VF is named and
 * it has several.
 */
int vfctl_detach_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_detach_options *options, bool dry_run,
	struct vfctl_change **ret_change);

/**
 * What the libvirt hook does for one call.
 * @param argv  object, operation, sub-operation, extra (libvirt's four arguments).
 * @param xml   what libvirt wrote to standard input; need not end in NUL.
 * @param spec  host.yaml, which says what domains may ask for; NULL: nothing beyond their
 *              leases.
 * @return 0, or a negative errno that shall stop the operation, with words.
 */
int vfctl_hook_qemu(struct vfctl_ctx *ctx, const char *const argv[4], const char *xml,
	size_t len, const struct vfctl_host_spec *spec);

/**
 * Plan: give the VFs of a domain that is off what they had before its last run, when the
 * hook could not (it was killed, a device did not answer). Its definition stays, and so does
 * its lease, unless a start took it for the run alone.
 * @param hypervisor  tells whether the domain runs or is being started; NULL: by libvirt's files
 *                    alone, for a host where it does not answer.
 * @param domain  name or UUID; of one that holds no lease the change has no steps.
 * @return 0; -EBUSY it is running.
 */
int vfctl_release_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, bool dry_run, struct vfctl_change **ret_change);

/**
 * Before a value is given by hand: what VFs, leases and definitions of this host have of the pools is
 * set aside there, as create, define and attach do.
 * @return 0; -EACCES leases or domains cannot be read; as vfctl_ids_take().
 */
int vfctl_ids_note_host(struct vfctl_ctx *ctx, struct vfctl_ids *ids);
/**
 * Whether a lease, or the definition of a domain without one, gives that value to another owner, in a
 * pool or not.
 * @return 0 none does; -EEXIST with its name; -EACCES the leases cannot be read.
 */
int vfctl_ids_check_host(struct vfctl_ctx *ctx, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner);

#ifdef __cplusplus
}
#endif
#endif
