/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_DOCTOR_H
#define LIBVFCTL_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "vfctl/change.h"
#include "vfctl/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Doctor: checks for known problems of SR-IOV hosts.
 */

/** The findings of one run of the checks. */
struct vfctl_doctor;

/**
 * Check the host for known problems, without changing anything. This works on captures and without
 * root privileges: vfctl_doctor_gap() lists what could not be checked.
 *
 * @param session  must outlive the result.
 * @param subject  name of a PF or domain, to check only what concerns it; NULL to check everything.
 * @param ret      receives the findings; free them with vfctl_doctor_free().
 * @return 0; -ENOENT: there is no such PF or domain.
 * @since 0.1
 */
int vfctl_doctor_run(struct vfctl_session *session, const char *subject, struct vfctl_doctor **ret);

/**
 * Free findings.
 *
 * @param doctor  may be NULL.
 * @since 0.1
 */
void vfctl_doctor_free(struct vfctl_doctor *doctor);

/**
 * A member of a finding, as a string. The most severe findings come first.
 *
 * | key | value |
 * |---|---|
 * | check | name of the check, "pcie-link"; docs/reference/doctor.md describes each |
 * | severity | "problem" (not working), "warning" (slow, or going to fail later) or "note" |
 * | subject | PF, VF, domain or file; "" for the host |
 * | what | what is wrong, as a sentence |
 * | evidence | what was read, and where |
 * | cause | why it is wrong |
 * | remedy | what to do |
 * | fix | "on": vfctl_plan_fix() can fix it |
 *
 * @param index  position of the finding, starting at 0.
 * @param key    one of the keys above.
 * @return a string owned by the findings; NULL past the last finding, and if the finding has no
 * such value.
 * @since 0.1
 */
const char *vfctl_doctor_get(const struct vfctl_doctor *doctor, size_t index, const char *key);

/**
 * The checks that could not be made, or only in part, one by one.
 *
 * @param index    position, starting at 0.
 * @param ret_why  receives the reason, owned by the findings; may be NULL.
 * @return the name of the check, static; NULL past the last one.
 * @since 0.1
 */
const char *vfctl_doctor_gap(const struct vfctl_doctor *doctor, size_t index, const char **ret_why);

/**
 * Plan to fix a finding.
 *
 * @param doctor   the findings of vfctl_doctor_run() with the same session.
 * @param index    position of the finding, starting at 0.
 * @param dry_run  see vfctl/plan.h.
 * @param ret      receives the change; free it with vfctl_change_free().
 * @return 0; -EOPNOTSUPP: vfctl has no fix for it: see its remedy; -ENOENT: there is no such
 * finding.
 * @since 0.1
 */
int vfctl_plan_fix(struct vfctl_session *session, const struct vfctl_doctor *doctor, size_t index,
	bool dry_run, struct vfctl_change **ret);

#ifdef __cplusplus
}
#endif
#endif
