/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_FINDINGS_H
#define VFCTL_CORE_FINDINGS_H

#include "core/cleanup.h"
#include "core/hostspec.h"
#include "core/snapshot.h"
#include "core/types.h"

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
	VFCTL_FINDING_EXPOSED, /**< a VF of it is not kept apart, and host.yaml does not accept that */
	VFCTL_FINDING_OTHER_PF, /**< its PF is elsewhere, and another has the address of that */
	VFCTL_FINDING_RESERVED, /**< it holds CPUs that host.yaml keeps for the host, or lets guests share */
	VFCTL_FINDING_UNGUARDED, /**< it runs, and a VF differs from its lease: the hook was not run */
	/* Notes: what is to be known, while nothing disagrees. */
	VFCTL_FINDING_UNLEASED, /**< a domain has VFs that are leased to nobody */
	VFCTL_FINDING_ACCEPTED, /**< a VF of it is not kept apart, and host.yaml accepts that */
	VFCTL_FINDING_LEFT, /**< a VF that nobody has is to be cleaned; of no domain */
	VFCTL_FINDING_TRUSTED,	/**< it may have trust on, or the spoof check off, of a VF */
	VFCTL_FINDING_UNREAD,	/**< a domain's definition can be read in part only */
};

struct vfctl_finding {
	enum vfctl_finding_kind kind;
	bool note; /**< nothing disagrees */
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
 * @param snapshot  of all PFs; what vfctl_snapshot_mark_left() marked is told.
 * @param spec  what this host declares, or NULL: then nothing is said of VFs that are not kept apart,
 * and of reserved CPUs.
 * @param ret  freed with vfctl_findings_free().
 * @return 0; -EACCES the leases cannot be read; -ENOMEM.
 */
int vfctl_findings_read(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec, struct vfctl_findings **ret);
void vfctl_findings_free(struct vfctl_findings *findings);
DEFINE_FREEP(struct vfctl_findings, vfctl_findings_free)
/** "gone", "renamed", "absent", "taken", "dropped", "claimed", "exposed", "other-pf", "reserved",
 * "unguarded"; of notes "unleased", "accepted", "left", "trusted", "unread". */
const char *vfctl_finding_name(enum vfctl_finding_kind kind);

#ifdef __cplusplus
}
#endif
#endif
