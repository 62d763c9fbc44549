/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FINDINGS_H
#define VFCTL_FINDINGS_H

#include "vfctl/snapshot.h"
#include "vfctl/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** In what a lease and the host do not agree. */
enum vfctl_finding_kind {
	VFCTL_FINDING_GONE,    /**< libvirt does not know its domain any more */
	VFCTL_FINDING_RENAMED, /**< libvirt calls its domain by another name; heals by itself */
	VFCTL_FINDING_ABSENT,  /**< a VF of it is not there: none were made, or its PF is gone */
	VFCTL_FINDING_TAKEN,   /**< somebody else has a VF of it now */
	VFCTL_FINDING_DROPPED, /**< its domain's definition has a VF of it no more */
	VFCTL_FINDING_CLAIMED, /**< another domain's definition has a VF of it: a clone, mostly */
	/** A domain has VFs that are leased to nobody: a hint, there is nothing to disagree. */
	VFCTL_FINDING_UNLEASED,
};

struct vfctl_finding {
	enum vfctl_finding_kind kind;
	char domain[128];	  /**< of the lease; UNLEASED: that has them */
	char vf[VFCTL_BDF_TEXT];  /**< ""; the address of the VF it is about */
	char *words;  /**< what is so */
	char *remedy; /**< what heals it */
};

struct vfctl_findings {
	struct vfctl_finding *v;
	size_t count;
	char *unread; /**< what could not be looked at, in words; NULL: nothing */
};

/**
 * Compare the leases with libvirt's domains and the VFs there are. Nothing is changed, and
 * libvirt is not called: its files are read.
 * @param snapshot  of all PFs.
 * @param ret  freed with vfctl_findings_free().
 * @return 0; -EACCES the leases cannot be read; -ENOMEM.
 */
int vfctl_findings_read(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	struct vfctl_findings **ret);
void vfctl_findings_free(struct vfctl_findings *findings);
/** "gone", "renamed", "absent", "taken", "dropped", "claimed", "unleased". */
const char *vfctl_finding_name(enum vfctl_finding_kind kind);

#ifdef __cplusplus
}
#endif
#endif
