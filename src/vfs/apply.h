/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_APPLY_H
#define VFCTL_VFS_APPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "types/hostspec.h"
#include "types/inventory.h"
#include "types/pci.h"
#include "types/snapshot.h"
#include "types/tuning.h"
#include "vfctl/change.h"

struct vfctl_ctx;
struct vfctl_ids;

/** One entry of the list of PFs in host.yaml, compared with the host. */
struct vfctl_declared_pf {
	size_t index;			 /**< index of the entry in the declaration */
	const struct vfctl_pf_spec *spec; /**< owned by the declaration */
	char name[64];	/**< the name for messages; if the PF is not here, the name in the declaration */
	char address[VFCTL_BDF_TEXT]; /**< "" if no single PF of this host matches */
	int error;    /**< 0, or a negative errno: why nothing is done about it */
	char *message;  /**< the message of @ref error; NULL if there is none */
	struct vfctl_change *change; /**< a dry run, without steps if all is as declared; NULL
					  with an error, and for a PF that is not managed */
	/*
	 * Its driver or udev is not finished: there is no network device yet, or it is about to be
	 * renamed (the kernel does not rename a link that is up). At boot this state passes.
	 */
	bool settling;
	bool mistaken; /**< the error is in the declaration: it persists until that is changed */
	char *kept;   /**< VFs with differences that remain while the VF is in use, as text; or NULL */
};

/** One entry of host.yaml's list of VF-LAGs. */
struct vfctl_declared_lag {
	const struct vfctl_lag_spec *spec; /**< owned by the declaration */
	int error;    /**< 0, or why nothing is done about it */
	char *message;  /**< the message of @ref error; NULL if there is none */
	struct vfctl_change *change; /**< a dry run; NULL with an error */
};

struct vfctl_declared {
	struct vfctl_declared_pf *pfs; /**< in the order of the file */
	size_t count;
	/** A dry run for the host as a whole (kernel settings, subnet manager); NULL with an error. */
	struct vfctl_change *host;
	int host_error;	  /**< 0, or why nothing is done about it */
	char *host_text; /**< the message of @ref host_error; NULL if there is none */
	struct vfctl_declared_lag *lags; /**< in the order of the file */
	size_t lag_count;
	/** Network functions without SR-IOV, read if an entry without VFs may match one; or NULL. */
	struct vfctl_inventory *others;
};

/**
 * Compare the PFs that are declared with the host, using one snapshot of all PFs. Nothing is locked
 * or written. A problem with one PF (it is absent, a VF to be removed is in use, the count is above
 * its limit) is the error of its entry and does not affect the other entries.
 * @param ids  pools of the same declaration; NULL if there are none.
 * @param ret  freed with vfctl_declared_free().
 * @return 0; -EEXIST two entries match the same PF; -ENOMEM.
 */
int vfctl_declared_read(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec, struct vfctl_ids *ids, struct vfctl_declared **ret);
void vfctl_declared_free(struct vfctl_declared *declared);
DEFINE_FREEP(struct vfctl_declared, vfctl_declared_free)

/**
 * Plan to configure the PF of entry @p index as declared. The plan locks this PF only, so other
 * processes, or other contexts, may change other PFs at the same time.
 * @param address  the PF that matched when the declaration was compared (struct vfctl_declared_pf).
 * @return as vfctl_create_plan(), vfctl_destroy_plan() and vfctl_set_plan(); -ENOENT no PF of this
 * host matches; -EEXIST several match; -EAGAIN another PF than @p address matches now.
 */
int vfctl_apply_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, size_t index,
	const char *address, struct vfctl_ids *ids, struct vfctl_change **ret_change);

/**
 * Plan to combine the two PFs of entry @p index of the list of VF-LAGs into one port for their VFs.
 * Apply the PFs first: their switches must be in switchdev mode. Both PFs are locked.
 * @return 0, also if there is nothing to do; -EINVAL they are not two ports of one card, or differ
 * in a setting that the driver requires to be equal; -EBUSY a VF of one is in use, or a port is in
 * another bond; -EOPNOTSUPP the driver does not support VF-LAG; -ENODEV a PF has no network device
 * here.
 */
int vfctl_apply_lag_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, size_t index,
	struct vfctl_change **ret_change);

/**
 * Plan to set the huge pages, the kernel settings and the subnet manager of the host as declared.
 * @param ids  of @p spec; NULL: they are opened if they are needed.
 * @return 0, also if there is nothing to do; -EBUSY pages that are to be freed are in use; -ENOENT
 * the kernel has no such setting, or OpenSM is not installed; -EEXIST OpenSM's partitions belong to
 * the administrator.
 */
int vfctl_apply_host_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids, struct vfctl_change **ret_change);

/**
 * Plan to write the leased GUIDs and their P_Keys into the partitions of this host's OpenSM. Call
 * it after GUIDs or P_Keys changed, if spec->subnet.runs is VFCTL_SUBNET_HERE.
 * @param ids  as above.
 * @return 0, also if there is nothing to do; -EEXIST the file belongs to the administrator.
 */
int vfctl_partitions_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids, struct vfctl_change **ret_change);

/**
 * @return 0; -EACCES only root may read it; -ENODATA it has no such capability; or another errno.
 */
int vfctl_pf_pci_express_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vfctl_pci_express *ret);

/**
 * Adaptive moderation of the completion queues that kernel users create on a PF's RDMA device (NVMe
 * over Fabrics, NFS, SRP, iSER; not IPoIB, not programs).
 * @return 0; -ENODEV it has no RDMA device; -EOPNOTSUPP the kernel does not report it.
 */
int vfctl_pf_rdma_adaptive_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, bool *ret_on);

/**
 * The interrupt moderation of a PF: the current settings, the requested ones, and the driver's
 * nearest values.
 */
struct vfctl_pf_moderation {
	struct vfctl_coalesce now;
	struct vfctl_coalesce wanted; /**< mask 0: nothing is requested */
	struct vfctl_tuning_fit fit;  /**< for the requested settings; zeroed if there are none */
};

/**
 * @param pf    with a network device of this network namespace.
 * @param wanted  the requested settings; NULL: those that @p spec declares, which may be none.
 * @param ret_profile  the profile that the settings come from, owned by @p spec or static; NULL if
 *                     there is none. The pointer itself may be NULL.
 * @return 0; -ENODEV the PF has no network device here; -EOPNOTSUPP its driver has no
 * interrupt moderation to set; -ENOENT host.yaml names a profile that does not exist.
 */
int vfctl_pf_moderation_read(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_pf *pf, const struct vfctl_host_spec *spec,
	const struct vfctl_coalesce *wanted, struct vfctl_pf_moderation *ret,
	const struct vfctl_profile **ret_profile);

/**
 * Plan to set a PF's interrupt moderation now. The next vfctl_apply_plan() sets the values of
 * host.yaml again. If the PF already has these settings, the change has no steps.
 * @param pf  a name of the PF.
 * @param force  also if the change resets the PF while guests use its VFs.
 * @param ret_fit  what the driver makes of it; may be NULL.
 * @return 0; -ENOENT no such PF; -EOPNOTSUPP the driver takes nothing of what is wanted; -EBUSY the
 * change resets the PF, and guests use its VFs; as
 * vfctl_pf_moderation_read().
 */
int vfctl_tune_plan(struct vfctl_ctx *ctx, const char *pf, const struct vfctl_coalesce *wanted,
	bool force, bool dry_run, struct vfctl_tuning_fit *ret_fit, struct vfctl_change **ret_change);

#endif
