/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHECKS_FINDINGS_H
#define VFCTL_CHECKS_FINDINGS_H

#include "checks/doctor.h"
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

/**
 * Compare the leases, and what host.yaml declares, with libvirt's domains and the present VFs.
 * Nothing is changed. libvirt's files are read, without a connection to libvirt.
 * @param snapshot  of all PFs; the VFs that vfctl_snapshot_mark_left() marked are reported.
 * @param spec  declaration of this host, or NULL: then VFs that are not isolated, and reserved
 * CPUs, are not reported.
 * @param ret  freed with vfctl_doctor_report_free(). Issues that are more than a note are
 * differences. What could not be read is in @ref vfctl_doctor_report.unexamined.
 * @return 0; -EACCES the leases cannot be read; -ENOMEM.
 */
int vfctl_findings_read(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec, struct vfctl_doctor_report **ret);

#endif
