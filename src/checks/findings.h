/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHECKS_FINDINGS_H
#define VFCTL_CHECKS_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "types/hostspec.h"
#include "types/snapshot.h"

struct vfctl_ctx;

#define VFCTL_BRIDGE_REMEDY "systemctl enable --now vfctl-bridge"
/**
 * Whether host.yaml declares bridge: for a PF, and vfctl monitor --bridge does not run.
 * @param spec  host.yaml; NULL: none.
 * @param ret   the message, freed by the caller; NULL: it runs, is not declared, or that is not
 *              known.
 * @return 0; -ENOMEM.
 */
int vfctl_bridge_missing(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, char **ret);
/** How a lease, or what host.yaml declares, and the host disagree. */
enum vfctl_finding_kind {
	VFCTL_FINDING_GONE,    /**< libvirt does not have its domain any more */
	VFCTL_FINDING_RENAMED, /**< its domain has another name in libvirt; corrected automatically */
	VFCTL_FINDING_ABSENT,  /**< a VF of it does not exist: none were created, or its PF is absent */
	VFCTL_FINDING_TAKEN,   /**< a VF of it is now used elsewhere */
	VFCTL_FINDING_DROPPED, /**< its domain's definition no longer contains a VF of it */
	VFCTL_FINDING_CLAIMED, /**< another domain's definition contains a VF of it; usually a clone */
	VFCTL_FINDING_EXPOSED, /**< a VF of it is not isolated; host.yaml does not accept that */
	VFCTL_FINDING_OTHER_PF, /**< its PF moved, and another PF has its former address */
	VFCTL_FINDING_RESERVED, /**< it holds CPUs that host.yaml reserves for the host, or lets
				     guests share */
	VFCTL_FINDING_UNGUARDED, /**< it runs, and a VF differs from its lease: the hook was not run */
	VFCTL_FINDING_NO_MONITOR, /**< host.yaml declares bridge:, and the monitor does not run */
	/* Notes: information, without a disagreement. */
	VFCTL_FINDING_UNLEASED, /**< a domain has VFs that are not leased */
	VFCTL_FINDING_ACCEPTED, /**< a VF of it is not isolated, and host.yaml accepts that */
	VFCTL_FINDING_LEFT, /**< a VF that is neither in use nor leased is to be cleaned */
	VFCTL_FINDING_TRUSTED,	/**< it may have trust on, or the spoof check off, for a VF */
	VFCTL_FINDING_UNREAD,	/**< a domain's definition can be read only in part */
};

struct vfctl_finding {
	enum vfctl_finding_kind kind;
	bool note; /**< information only, no disagreement */
	char domain[128];	  /**< domain of the lease; for UNLEASED the domain with the VFs */
	char vf[VFCTL_BDF_TEXT];  /**< address of the VF concerned, or "" */
	char *message;  /**< the finding */
	char *remedy; /**< the remedy */
};

struct vfctl_findings {
	struct vfctl_finding *v;
	size_t count;
	char *unread; /**< what could not be read, as text; NULL: nothing */
};

/**
 * Compare the leases with libvirt's domains and the present VFs. Nothing is changed. libvirt's
 * files are read, without a connection to libvirt.
 * @param snapshot  of all PFs; the VFs that vfctl_snapshot_mark_left() marked are reported.
 * @param spec  declaration of this host, or NULL: then VFs that are not isolated, and reserved
 * CPUs, are not reported.
 * @param ret  freed with vfctl_findings_free().
 * @return 0; -EACCES the leases cannot be read; -ENOMEM.
 */
int vfctl_findings_read(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec, struct vfctl_findings **ret);
void vfctl_findings_free(struct vfctl_findings *findings);
DEFINE_FREEP(struct vfctl_findings, vfctl_findings_free)
/**
 * "gone", "renamed", "absent", "taken", "dropped", "claimed", "exposed", "other-pf", "reserved",
 * "unguarded", "no-monitor"; for notes "unleased", "accepted", "left", "trusted", "unread".
 */
const char *vfctl_finding_name(enum vfctl_finding_kind kind);

#endif
