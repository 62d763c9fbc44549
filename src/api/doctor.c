// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfctl/doctor.h"

#include <errno.h>

#include "api/asked.h"
#include "facts/session.h"
#include "lease/clean.h"
#include "monitor/doctor.h"

struct vfctl_doctor {
	struct vfctl_snapshot *snapshot;
	struct vfctl_doctor_report *report;
};

int vfctl_doctor_run(struct vfctl_session *session, const char *subject, struct vfctl_doctor **ret)
{
	const struct vfctl_doctor_options how = {.spec = session_spec(session), .subject = subject};
	struct vfctl_doctor *doctor = calloc(1, sizeof(*doctor));
	struct vfctl_ctx *ctx = session_ctx(session);
	int r;

	if (!doctor)
		return ctx_oom(ctx);
	r = vfctl_snapshot_read(ctx, NULL, &doctor->snapshot);
	if (r == 0) {
		vfctl_snapshot_mark_left(ctx, doctor->snapshot, how.spec);
		r = vfctl_doctor_examine(ctx, doctor->snapshot, &how, &doctor->report);
	}
	if (r < 0)
		vfctl_doctor_free(doctor);
	else
		*ret = doctor;
	return r;
}

void vfctl_doctor_free(struct vfctl_doctor *doctor)
{
	if (!doctor)
		return;
	vfctl_doctor_report_free(doctor->report);
	vfctl_snapshot_free(doctor->snapshot);
	free(doctor);
}

const char *vfctl_doctor_get(const struct vfctl_doctor *doctor, size_t index, const char *key)
{
	const struct vfctl_issue *a =
		index < doctor->report->count ? &doctor->report->v[index] : NULL;

	if (!a)
		return NULL;
	if (str_eq(key, "check"))
		return a->check;
	if (str_eq(key, "severity"))
		return vfctl_severity_name(a->severity);
	if (str_eq(key, "subject"))
		return a->subject;
	if (str_eq(key, "what"))
		return a->what;
	if (str_eq(key, "evidence"))
		return a->evidence;
	if (str_eq(key, "cause"))
		return a->cause;
	if (str_eq(key, "remedy"))
		return a->remedy;
	return str_eq(key, "fix") && a->fix != VFCTL_FIX_NONE ? "on" : NULL;
}

const char *vfctl_doctor_gap(const struct vfctl_doctor *doctor, size_t index, const char **ret_why)
{
	const struct vfctl_doctor_report *d = doctor->report;

	if (index >= d->unexamined_count)
		return NULL;
	if (ret_why)
		*ret_why = d->unexamined[index].why;
	return d->unexamined[index].check;
}

int vfctl_plan_fix(struct vfctl_session *session, const struct vfctl_doctor *doctor, size_t index,
	bool dry_run, struct vfctl_change **ret)
{
	struct vfctl_ctx *ctx = session_ctx(session);
	struct vfctl_change *change = NULL;
	int r;

	if (index >= doctor->report->count)
		return ctx_usage_error(ctx, -ENOENT, "finding %zu does not exist", index);
	r = vfctl_doctor_fix_plan(ctx, &doctor->report->v[index], dry_run, &change);
	return plan_made(r, dry_run, change, ret);
}
