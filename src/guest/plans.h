/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_PLANS_H
#define VFCTL_GUEST_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/vfattr.h"
#include "facts/model/place.h"
#include "types/domain.h"
#include "types/guest.h"
#include "types/hostspec.h"
#include "types/hypervisor.h"
#include "types/placement.h"
#include "vfctl/change.h"
#include "vfctl/guest.h"

struct vfctl_ctx;
struct vfctl_ids;

/** A guest with its placement on this host: the plan, and the VFs that it would get. */
struct vfctl_placement;

/** The requests of guests in the planner's form. Strings belong to the guests. */
struct vfctl_requests {
	struct vfctl_request *v;
	size_t count;
};

/**
 * Convert guests to requests for the planner. The PFs that they name are looked up in the model.
 * @param guests  borrowed for as long as the result lives.
 * @param ret  free it with vfctl_requests_free().
 * @return 0; -ENOENT the model has no such PF; -EINVAL it belongs to another fabric; -ENOMEM.
 */
int vfctl_requests_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	struct vfctl_guest *const *guests, size_t count, struct vfctl_requests **ret);
/** NULL is allowed. */
void vfctl_requests_free(struct vfctl_requests *requests);
DEFINE_FREEP(struct vfctl_requests, vfctl_requests_free)

/**
 * Fill in the requests of vfctl's guests among the occupants of @p model (wants, pinned, changing),
 * and leave out VFs that they have only for the present run. The metadata of their domains contains
 * the requests. If it has none, or they cannot be read (a warning), they stay unknown.
 * @param hypervisor  the hypervisor with the domains; NULL: nothing is filled in.
 * @return 0; -ENOMEM; or an error of its list().
 */
int vfctl_model_read_words(struct vfctl_ctx *ctx, struct vfctl_host_model *model,
	struct vfctl_hypervisor *hypervisor);

/**
 * Whether this host has what the guest needs besides its placement: /dev/kvm, and its disk images.
 * vfctl_define_plan() checks this for a new guest. A capture, and a libvirt on another host (@p
 * hypervisor), are not checked.
 * @return 0; -ENODEV no KVM; -ENOENT a disk; the message has the remedy.
 */
int vfctl_guest_check_host(struct vfctl_ctx *ctx, const struct vfctl_guest *guest,
	const struct vfctl_hypervisor *hypervisor);

/**
 * Find where a guest would run: read the host and its users, then plan. Nothing changes.
 * @param guest  borrowed for as long as the result lives; given a UUID if it has none.
 * @param ret_placed  also given when the guest does not fit (look at the assignment);
 *                    freed with vfctl_placement_free().
 * @return 0; -ENOENT a PF that the guest names does not exist; -EINVAL; -EACCES the leases cannot
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
/** The whole plan, with what is proven about it. Owned by @p placed. */
const struct vfctl_plan *vfctl_placement_plan(const struct vfctl_placement *placed);
/** The host model of the plan. Owned by @p placed. */
const struct vfctl_host_model *vfctl_placement_model(const struct vfctl_placement *placed);
/**
 * The domain XML of a placed guest, see vfctl_domain_render().
 * @param template_text  NULL: the minimal built-in one.
 */
int vfctl_placement_xml(struct vfctl_ctx *ctx, const struct vfctl_placement *placed,
	const char *template_text, const char *template_name, uint64_t libvirt_version,
	char **ret_xml);

/**
 * Plan to lease the resources that the guest needs and to define it in libvirt. A domain that is
 * already defined is changed to match the guest's file. It keeps its UUID, and its identities and
 * place if the file permits that (docs/reference/guest-yaml.md). If it matches already, the change
 * has no steps.
 * @return as vfctl_place(); -EEXIST libvirt has a domain of that name or UUID that vfctl did not
 * define, that another program changed, or that differs in something that cannot be changed in an
 * existing domain (the message says what); -EBUSY it runs, or ran, without the hook; -ENOSPC the
 * guest does not fit (the message says what is short and what would help).
 */
int vfctl_define_plan(struct vfctl_ctx *ctx, struct vfctl_guest *guest,
	const struct vfctl_place_options *options, const char *template_text,
	const char *template_name, bool dry_run, struct vfctl_change **ret_change);

/**
 * Plan to carry out the move that vfctl_plan_rebalance() proposes for a guest of vfctl's. It keeps
 * its UUID, MACs, GUIDs and the leased values of its VFs. If it runs, its definition changes, and
 * it moves when it is stopped and started. If no move is proposed for it, the change has no steps.
 * @param domain   name or UUID.
 * @param options  as for vfctl_define_plan().
 * @return as vfctl_define_plan(); -ENOENT no such domain; -EEXIST vfctl did not define it, another
 * program changed it, or the request of its file is not known; -ENOSPC the request does not fit in
 * the new place.
 */
int vfctl_move_plan(struct vfctl_ctx *ctx, const char *domain,
	const struct vfctl_place_options *options, bool dry_run, struct vfctl_change **ret_change);

/** The guest.yaml of a domain, which vfctl_define_plan() wrote into its metadata. */
struct vfctl_domain_file {
	char *name; /**< of the domain: it may have been renamed since */
	char uuid[37];
	char *text;   /**< YAML for an editor, without comments, with the present name */
	char *stored; /**< as the metadata has it */
	uint64_t template_hash;
};

/**
 * Read the guest.yaml of a domain.
 * @param domain  name or UUID.
 * @param recover  first roll back or finish what an interrupted change left.
 * @param ret  must be zeroed; free it with vfctl_domain_file_clear().
 * @return 0; -ENOENT no such domain; -EPERM vfctl did not define it, or its lease is lost; -EBADMSG
 * its metadata cannot be read as a guest; -EACCES the leases cannot be read.
 */
int vfctl_domain_file_read(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, bool recover, struct vfctl_domain_file *ret);
void vfctl_domain_file_clear(struct vfctl_domain_file *file);

/**
 * Plan to define that domain again with another file, as vfctl_define_plan() does.
 * @param before  as it was read: the domain keeps its name and UUID, and its template, which is not
 *                read again.
 * @param guest   the new file.
 * @return as vfctl_define_plan(); -EINVAL the file has another name or UUID; -EBUSY another process
 * has changed the file in the metadata, or the name of the domain, since it was read.
 */
int vfctl_edit_plan(struct vfctl_ctx *ctx, const struct vfctl_domain_file *before,
	struct vfctl_guest *guest, const struct vfctl_place_options *options, bool dry_run,
	struct vfctl_change **ret_change);

/** Guests that were placed together, for vfctl_batch_define_plan(). */
struct vfctl_batch;

/**
 * Place all guests that libvirt does not have yet, as one plan. Unless it is a dry run placements
 * on this host are locked until the batch is freed, so that the plan stays valid.
 * @param guests   borrowed for as long as the batch lives; given UUIDs when they are defined.
 * @param options  must have a hypervisor; its pointers are borrowed.
 * @param ret      also set if some do not fit; freed with vfctl_batch_free().
 * @return 0; or as vfctl_place(), with the name of the guest.
 */
int vfctl_batch_place(struct vfctl_ctx *ctx, struct vfctl_guest *const *guests, size_t count,
	const struct vfctl_place_options *options, bool dry_run, struct vfctl_batch **ret);
/** NULL is allowed. */
void vfctl_batch_free(struct vfctl_batch *batch);
DEFINE_FREEP(struct vfctl_batch, vfctl_batch_free)
/** Guest @p index in the order of definition, in which new guests come first. NULL past the end. */
const struct vfctl_guest *vfctl_batch_guest(const struct vfctl_batch *batch, size_t index);
/**
 * Plan to define guest @p index at its place in the plan, or to change one that libvirt already
 * has. Run the change before you plan the next one; each succeeds or is rolled back as a whole. If
 * the run returns -EAGAIN, plan this guest again.
 * @return as vfctl_define_plan().
 */
int vfctl_batch_define_plan(struct vfctl_ctx *ctx, struct vfctl_batch *batch, size_t index,
	const char *template_text, const char *template_name, struct vfctl_change **ret_change);

/**
 * Plan to rebuild a lost state file: lease to libvirt's domains again what vfctl wrote into their
 * definitions, that is VFs with their identities, CPUs, memory, and values of pools. Domains that
 * have a lease, and domains without resources of vfctl, are skipped. The values that VFs had before
 * their guest are lost: VFs of running domains keep the guest's policy when it stops. A core
 * dedicated to QEMU's threads is then shared with those of later guests. If a lease exists whose
 * domain libvirt does not have any more, it is transferred, with its values of this host's own
 * pools, to the domain whose metadata names it.
 * @param options  must have a hypervisor.
 * @return 0; -EINVAL without a hypervisor; or why libvirt did not answer. The run of the change
 * returns -EEXIST if two domains hold the same resource.
 */
int vfctl_rebuild_plan(struct vfctl_ctx *ctx, const struct vfctl_place_options *options,
	bool dry_run, struct vfctl_change **ret_change);

struct vfctl_undefine_options {
	struct vfctl_ids *ids; /**< pools that may contain its GUIDs and MACs; NULL if there are none */
	bool force;	       /**< also a domain that vfctl did not define */
	unsigned drop;	       /**< what else may be removed, VFCTL_DROP_ bits; 0: nothing */
};

/**
 * Plan to undefine a domain and to release what it holds. After libvirt has removed the definition,
 * the change is finished instead of rolled back; a second call does what remains.
 * @param domain  name or UUID. If libvirt does not have the domain any more, its lease, or the rest
 *                of it, is ended. If there is neither, the change has no steps, and
 *                vfctl_change_nothing() names the reason.
 * @return 0; -EBUSY it runs; -EPERM it was not defined by vfctl.
 */
int vfctl_undefine_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_undefine_options *options, bool dry_run,
	struct vfctl_change **ret_change);

struct vfctl_attach_options {
	const char *pf; /**< any free VF of this PF; or NULL */
	const char *vf; /**< this VF; or NULL. Either pf or vf is given */
	struct vfctl_vf_attrs attrs;
	struct vfctl_identity_want identity; /**< strings borrowed */
	struct vfctl_ids *ids;		     /**< pools of GUIDs and MACs; NULL if there are none */
	const struct vfctl_host_spec *spec;  /**< declaration of this host; NULL: nothing is declared */
	enum vfctl_vf_form form;
	unsigned affect; /**< VFCTL_AFFECT_ bits; 0: live if it runs, config if persistent */
	uint32_t count;	 /**< number of VFs of the PF; 0: one */
	bool ensure;	 /**< count is the total: attach only as many as the domain still lacks */
	uint32_t ensure_mask; /**< attributes for which the VFs of the domain must agree with @ref attrs */
};

/**
 * Plan to give VFs to an existing domain, all or none: lease them, set and verify their identities,
 * then plug them in. With ensure, the change has no steps if the domain already has the VFs.
 * @return 0; -ENOENT; -EBUSY no VF is free, or the VF is held (the message names the holder);
 * -EEXIST with ensure, the domain has the VF with other attributes; -ENOSPC the domain has no free
 * PCIe root port; -EINVAL live for a domain that is off.
 */
int vfctl_attach_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_attach_options *options, bool dry_run,
	struct vfctl_change **ret_change);

/**
 * Plan to adopt a foreign domain: lease to it the VFs of its definition, with their present values;
 * MAC and VLAN of an <interface> come from the definition. Its devices are not changed, only
 * vfctl's metadata is added. It may be running. If all its VFs are already leased to it, the change
 * has no steps.
 * @param ids  pools that may contain its MACs and GUIDs; NULL if there are none.
 * @return 0; -ENOENT no such domain; -EBUSY a VF is leased to or used by another domain; -EINVAL it
 * is transient, or takes VFs from a libvirt network; -EEXIST its MAC or GUID has another owner.
 */
int vfctl_adopt_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, struct vfctl_ids *ids, bool dry_run, struct vfctl_change **ret_change);
/**
 * Plan to undo the adoption, also for a domain to which vfctl only attached VFs: end its lease and
 * remove vfctl's metadata. The domain stays defined with its devices. Without a lease the change
 * has no steps.
 * @return 0; -ENOENT no such domain; -EBUSY it runs; -EPERM vfctl defined it.
 */
int vfctl_adopt_end_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, struct vfctl_ids *ids, bool dry_run, struct vfctl_change **ret_change);

struct vfctl_detach_options {
	const char *vf; /**< PF/INDEX or address; NULL: the only VF that the domain has */
	struct vfctl_ids *ids; /**< pools that may contain its GUID or MAC; NULL if there are none */
	unsigned affect;
	unsigned timeout_ms; /**< time limit for the guest to release it; 0: 30 s */
};

/**
 * Plan to detach a VF from a domain: unplug it, wait until the guest has released it, restore it
 * and end its lease. If the domain does not have the VF, the change has no steps, and
 * vfctl_change_nothing() names the reason.
 * @return 0; -ENOENT no such domain or VF; -EINVAL live for a domain that is off, or no VF is named
 * and it has several.
 */
int vfctl_detach_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_detach_options *options, bool dry_run,
	struct vfctl_change **ret_change);

/**
 * Plan to restore the VFs of a domain that is off to their values before its last run, if the hook
 * could not do that (it was killed, or a device did not answer). The domain keeps its definition,
 * and also its lease unless that was made only for the run.
 * @param hypervisor  tells whether the domain runs or is being started; NULL: use libvirt's files
 *                    instead, for a host where libvirt does not answer.
 * @param domain  name or UUID. Without a lease the change has no steps.
 * @return 0; -EBUSY it is running.
 */
int vfctl_release_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, bool dry_run, struct vfctl_change **ret_change);

#endif
