// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfctl/recover.h"

#include <errno.h>

#include "api/asked.h"
#include "facts/session.h"
#include "guest/plans.h"
#include "lease/clean.h"
#include "lease/recover.h"
#include "libvirt/connect.h"

static int connect_system(struct vfctl_ctx *ctx, struct vfctl_hypervisor **ret)
{
	return vfctl_libvirt_open(ctx, NULL, ret);
}

int vfctl_recover_open_changes(struct vfctl_session *session, const char *const options[],
	struct vfctl_recovery **ret)
{
	struct vfctl_recover_options how = {
		.connect = session_hypervisor(session) ? connect_system : NULL};
	struct vfctl_ctx *ctx = session_ctx(session);
	struct asked asked;
	int r = asked_read(ctx, CALL_RECOVER, options, &asked);

	if (r < 0)
		return r;
	how.dry_run = asked.dry_run;
	how.accept = asked.accept;
	return vfctl_recover(ctx, &how, ret);
}

static const char *outcome_name(enum vfctl_recovered outcome)
{
	static const char *const names[] = {
		[VFCTL_RECOVERED_GOES_ON] = "goes-on",
		[VFCTL_RECOVERED_DONE] = "done",
		[VFCTL_RECOVERED_UNDONE] = "undone",
		[VFCTL_RECOVERED_REBOOTED] = "rebooted",
		[VFCTL_RECOVERED_ACCEPTED] = "accepted",
		[VFCTL_RECOVERED_FAILED] = "failed",
		[VFCTL_RECOVERED_UNPLUGGED] = "unplugged",
		[VFCTL_RECOVERED_FINISHED] = "finished",
		[VFCTL_RECOVERED_WAITS] = "waits",
	};

	return (size_t)outcome < ARRAY_SIZE(names) ? names[outcome] : "unknown";
}

const char *vfctl_recovery_get(const struct vfctl_recovery *recovery, size_t index, const char *key)
{
	const struct vfctl_recovered_change *change;

	if (index >= recovery->count)
		return NULL;
	change = &recovery->changes[index];
	if (str_eq(key, "story"))
		return change->story;
	if (str_eq(key, "outcome"))
		return outcome_name(change->outcome);
	return str_eq(key, "error") ? change->error : NULL;
}

int vfctl_plan_clean(struct vfctl_session *session, bool dry_run, struct vfctl_change **ret)
{
	struct vfctl_change *change = NULL;
	int r = vfctl_clean_plan(session_ctx(session), session_spec(session), dry_run, &change);

	return plan_made(r, dry_run, change, ret);
}

int vfctl_plan_rebuild(struct vfctl_session *session, const char *const options[], bool dry_run,
	struct vfctl_change **ret)
{
	struct vfctl_place_options how = *session_place(session);
	struct vfctl_ctx *ctx = session_ctx(session);
	struct vfctl_change *change = NULL;
	struct asked asked;
	int r = asked_read(ctx, CALL_REBUILD, options, &asked);

	if (r == 0 && !how.hypervisor)
		r = ctx_usage_error(ctx, -EINVAL, "the session is not connected to libvirt; open it with the "
			"option libvirt=system");
	if (r < 0)
		return r;
	how.trust_metadata = asked.trust_metadata;
	r = vfctl_rebuild_plan(ctx, &how, dry_run, &change);
	return plan_made(r, dry_run, change, ret);
}
