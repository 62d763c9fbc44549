/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_MONITOR_DOCTOR_H
#define VFCTL_MONITOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "checks/doctor.h"
#include "types/snapshot.h"
#include "vfctl/change.h"

struct vfctl_ctx;

/** @return false past the end. */
bool vfctl_check_at(size_t index, struct vfctl_check *ret);

/**
 * Check the host for known problems of SR-IOV hosts. Nothing is changed. Works on captures, and
 * without root privileges: the result lists what cannot be read.
 * @param snapshot  of all PFs.
 * @param options  NULL: same as zeroed; borrowed during the call.
 * @param ret  freed with vfctl_doctor_report_free().
 * @return 0; -ENOENT no such PF or domain; -ENOMEM.
 */
int vfctl_doctor_examine(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct vfctl_doctor_options *options, struct vfctl_doctor_report **ret);

/**
 * Plan the fix of one issue.
 * @return 0; -EOPNOTSUPP it has no fix; or why the change cannot be planned.
 */
int vfctl_doctor_fix_plan(struct vfctl_ctx *ctx, const struct vfctl_issue *issue, bool dry_run,
	struct vfctl_change **ret_change);

/**
 * The directory of node_exporter's textfile collector: the one of the running node_exporter
 * (--collector.textfile.directory), or else a usual one that exists.
 * @param ret  freed by the caller.
 * @return 0; -ENOENT no such directory was found; the message has a remedy; -ENOMEM.
 */
int vfctl_textfile_directory(struct vfctl_ctx *ctx, char **ret);

#endif
