// SPDX-License-Identifier: GPL-2.0-or-later
/* Run the checks one by one and collect their findings. */
#include "types/find.h"
#include "checks/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/util.h"
#include "checks/guest.h"
#include "host/host.h"

const char *vfctl_severity_name(enum vfctl_severity severity)
{
	static const char *const names[] = {[VFCTL_NOTE] = "note", [VFCTL_WARNING] = "warning",
		[VFCTL_PROBLEM] = "problem"};

	return names[severity];
}

const char *vfctl_presence_name(enum vfctl_presence presence)
{
	static const char *const names[] = {[VFCTL_PRESENT] = "ok", [VFCTL_MISSING] = "missing",
		[VFCTL_UNKNOWN] = "unknown"};

	return names[presence];
}

struct vfctl_issue *found(struct check_ctx *e, const char *subject, const char *evidence, ...)
{
	struct vfctl_doctor_report *d = e->report;
	struct vfctl_issue *a;
	va_list args;

	if (!array_grow(d->v, d->count)) {
		e->failed = true;
		return NULL;
	}
	a = &d->v[d->count++];
	*a = (struct vfctl_issue){.check = e->check->name, .severity = e->check->severity,
		.what = e->check->what, .cause = e->check->cause, .remedy = strdup(e->check->remedy)};
	str_copy(a->subject, sizeof(a->subject), subject);
	va_start(args, evidence);
	a->evidence = str_vformat(evidence, args);
	va_end(args);
	e->failed |= !a->remedy || !a->evidence;
	return e->failed ? NULL : a;
}

void set_remedy(struct check_ctx *e, struct vfctl_issue *a, const char *fmt, ...)
{
	va_list args;

	if (!a)
		return;
	free(a->remedy);
	va_start(args, fmt);
	a->remedy = str_vformat(fmt, args);
	va_end(args);
	e->failed |= !a->remedy;
}

void unknown(struct check_ctx *e, const char *why, ...)
{
	struct vfctl_doctor_report *d = e->report;
	va_list args;

	if (!array_grow(d->unexamined, d->unexamined_count)) {
		e->failed = true;
		return;
	}
	d->unexamined[d->unexamined_count].check = e->check->name;
	va_start(args, why);
	d->unexamined[d->unexamined_count].why = str_vformat(why, args);
	va_end(args);
	e->failed |= !d->unexamined[d->unexamined_count++].why;
}

bool is_taken(const struct vfctl_vf *vf)
{
	return vf->lease.name[0] || vf->holder.kind == VFCTL_HOLDER_DOMAIN ||
		vf->holder.kind == VFCTL_HOLDER_VFIO;
}

const char *pf_title(const struct vfctl_pf *pf, char buf[VFCTL_BDF_TEXT])
{
	return vfctl_pf_name(pf, buf);
}

const char *vf_title(const struct vfctl_pf *pf, const struct vfctl_vf *vf, char buf[VF_TITLE])
{
	char name[VFCTL_BDF_TEXT];

	snprintf(buf, VF_TITLE, "%s/%u", vfctl_pf_name(pf, name), vf->index);
	return buf;
}

const struct vfctl_vf_attrs *vf_intent(const struct check_ctx *e, const struct vfctl_vf *vf)
{
	const struct vfctl_lease_vf *leased = find_vf_in_leases(e->snapshot->leases, &vf->bdf);

	return leased ? &leased->intent : NULL;
}

void check_ctx_run(struct check_ctx *e, const struct check *checks)
{
	for (; checks->name && !e->failed; checks++) {
		e->check = checks;
		checks->run(e);
		ctx_clear(e->ctx);
		/* What could not be read here does not affect later decisions. */
		free(host_take_unread(e->ctx));
		e->report->checks++;
	}
}

void vfctl_doctor_report_free(struct vfctl_doctor_report *d)
{
	for (size_t i = 0; d && i < d->count; i++) {
		free(d->v[i].evidence);
		free(d->v[i].remedy);
	}
	for (size_t i = 0; d && i < d->unexamined_count; i++)
		free(d->unexamined[i].why);
	if (d) {
		free(d->v);
		free(d->unexamined);
		free(d->prerequisites);
	}
	free(d);
}
