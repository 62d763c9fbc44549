/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_APPLY_H
#define VFCTL_CORE_APPLY_H

#include "core/change.h"
#include "core/cleanup.h"
#include "core/hostspec.h"
#include "core/snapshot.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One entry of host.yaml's list of PFs, against the host as it is. */
struct vfctl_declared_pf {
	size_t index;			 /**< of the entry in the declaration */
	const struct vfctl_pf_spec *spec; /**< owned by the declaration */
	char name[64];	/**< as a person calls it; of one that is not there: what it is known by */
	char address[VFCTL_BDF_TEXT]; /**< "": no one PF of this host is meant */
	int error;    /**< 0; else why nothing is done about it, a negative errno */
	char *words;  /**< the same in words; NULL */
	struct vfctl_change *change; /**< a dry run's, without steps when all is as declared;
					NULL with an error, and for a PF that is not managed */
	/*
	 * Its driver or udev is still at it: no network device yet, or one that is to get another
	 * name (which the kernel refuses of a link that is up). At boot that passes.
	 */
	bool settling;
	bool mistaken; /**< the error is one of the declaration: it comes again until that is changed */
	char *kept;   /**< what differs and stays so while a guest has it, in words; or NULL */
};

/** One entry of host.yaml's list of VF-LAGs. */
struct vfctl_declared_lag {
	const struct vfctl_lag_spec *spec; /**< owned by the declaration */
	int error;    /**< 0; else why nothing is done about it */
	char *words;  /**< the same in words; NULL */
	struct vfctl_change *change; /**< a dry run's; NULL with an error */
};

struct vfctl_declared {
	struct vfctl_declared_pf *pfs; /**< in the order of the file */
	size_t count;
	/** Of the host as a whole (hugepages, kernel): a dry run's; NULL with an error. */
	struct vfctl_change *host;
	int host_error;	  /**< 0; else why nothing is done about it */
	char *host_words; /**< the same in words; NULL */
	struct vfctl_declared_lag *lags; /**< in the order of the file */
	size_t lag_count;
};

/**
 * Compare the PFs that are declared with the host, all from one look at it (of all PFs). Nothing
 * is locked or written. What cannot be for one PF (it is not there, a VF that would have to go is in
 * use, a count above its limit) is that PF's error, and keeps no other from its own.
 * @param ids  pools of the same declaration; NULL none.
 * @param ret  freed with vfctl_declared_free().
 * @return 0; -EEXIST two entries mean one PF; -ENOMEM.
 */
int vfctl_declared_read(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec, struct vfctl_ids *ids, struct vfctl_declared **ret);
void vfctl_declared_free(struct vfctl_declared *declared);
DEFINE_FREEP(struct vfctl_declared, vfctl_declared_free)

/**
 * Plan: the PF of entry @p index is as declared. It is locked; PFs may be changed at the same
 * time by different processes, or with different contexts.
 * @param address  of the PF that was meant when it was looked at (struct vfctl_declared_pf).
 * @return as vfctl_create_plan(), vfctl_destroy_plan() and vfctl_set_plan(); -ENOENT no PF of
 * this host is meant; -EEXIST several are; -EAGAIN another one than @p address is by now.
 */
int vfctl_apply_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, size_t index,
	const char *address, struct vfctl_ids *ids, struct vfctl_change **ret_change);

/**
 * Plan: the two PFs of entry @p index of the list of VF-LAGs are one port for their VFs. After the PFs
 * themselves: their switches must be in switchdev mode. Both are locked.
 * @return 0, also when nothing is to be done; -EINVAL they are not two ports of one card, or differ in
 * what the driver wants alike; -EBUSY somebody has a VF of one, or a port is in another bond;
 * -EOPNOTSUPP the driver knows no VF-LAG; -ENODEV a PF has no network device here.
 */
int vfctl_apply_lag_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, size_t index,
	struct vfctl_change **ret_change);

/**
 * Plan: pages and kernel settings of the host are as declared.
 * @return 0, also when nothing is to be done; -EBUSY pages that would have to go are in use; -ENOENT
 * the kernel has no such setting.
 */
int vfctl_apply_host_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_change **ret_change);

/** What a PF's PCI Express capability is set to. */
struct vfctl_pci_express {
	unsigned max_read_request_bytes; /**< 128 .. 16384: the most that it reads at once */
	unsigned max_payload_bytes;	 /**< likewise: the most in one packet of a write */
	bool larger_reads_help; /**< with its driver larger reads may help large messages */
	bool relaxed_ordering; /**< its writes may pass each other; VFs follow their PF */
};

/** @return 0; -EACCES only root may read it; -ENODATA it has no such capability, or the errno. */
int vfctl_pf_pci_express_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vfctl_pci_express *ret);

/**
 * Adaptive moderation of the completion queues that the kernel's own users make on a PF's RDMA
 * device (NVMe over Fabrics, NFS, SRP, iSER; neither IPoIB nor programs).
 * @return 0; -ENODEV it has no RDMA device; -EOPNOTSUPP the kernel does not tell.
 */
int vfctl_pf_rdma_adaptive_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, bool *ret_on);

/** The interrupt moderation of a PF: what is set, what is wanted, what its driver makes of it. */
struct vfctl_pf_moderation {
	struct vfctl_coalesce now;
	struct vfctl_coalesce wanted; /**< mask 0: nothing is */
	struct vfctl_tuning_fit fit;  /**< of what is wanted; zeroed without */
};

/**
 * @param pf    with a network device of this network namespace.
 * @param wanted  what is asked of the PF; NULL: what @p spec declares for it, be it nothing.
 * @param ret_profile  the profile that it comes from, owned by @p spec or static; NULL: of none.
 *                     The pointer itself may be NULL.
 * @return 0; -ENODEV the PF has no network device here; -EOPNOTSUPP its driver has no
 * interrupt moderation to set; -ENOENT host.yaml names a profile that there is not.
 */
int vfctl_pf_moderation_read(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_pf *pf, const struct vfctl_host_spec *spec,
	const struct vfctl_coalesce *wanted, struct vfctl_pf_moderation *ret,
	const struct vfctl_profile **ret_profile);

/**
 * Plan to set a PF's interrupt moderation now; what host.yaml declares for it comes back with the
 * next vfctl_apply_plan(). Nothing is to be done when it is so already.
 * @param pf  a name of the PF.
 * @param ret_fit  what the driver makes of it; may be NULL.
 * @return 0; -ENOENT no such PF; -EOPNOTSUPP the driver takes nothing of what is wanted; as
 * vfctl_pf_moderation_read().
 */
int vfctl_tune_plan(struct vfctl_ctx *ctx, const char *pf, const struct vfctl_coalesce *wanted,
	bool dry_run, struct vfctl_tuning_fit *ret_fit, struct vfctl_change **ret_change);

#ifdef __cplusplus
}
#endif
#endif
