// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfctl/session.h"

#include <errno.h>

#include "api/asked.h"
#include "base/change.h"
#include "facts/hostfile.h"
#include "facts/session.h"
#include "guest/plans.h"
#include "libvirt/connect.h"
#include "vfs/apply.h"

int vfctl_session_open(struct vfctl_ctx *ctx, const char *const options[],
	struct vfctl_session **ret)
{
	struct session_options how = {0};
	struct vfctl_session *session;
	struct asked asked;
	int r = asked_read(ctx, CALL_SESSION, options, &asked);

	if (r < 0)
		return r;
	how.host_yaml = asked.host_yaml;
	how.write = asked.write;
	if (asked.libvirt && !str_eq(asked.libvirt, "none")) {
		how.connect = vfctl_libvirt_open;
		how.uri = str_eq(asked.libvirt, "system") ? NULL : asked.libvirt;
	}
	r = session_open(ctx, &how, &session);
	if (r < 0)
		return r;
	session_place(session)->reserved_cpus = asked.reserve;
	*ret = session;
	return 0;
}

static int write_partitions(struct vfctl_session *session)
{
	const struct vfctl_host_spec *spec = session_spec(session);
	struct vfctl_ctx *ctx = session_ctx(session);
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = 0;

	if (spec && spec->subnet.runs == VFCTL_SUBNET_HERE)
		r = vfctl_partitions_plan(ctx, spec, session_ids(session), &change);
	return r < 0 || !change ? r : vfctl_change_run(ctx, change);
}

int vfctl_session_after_change(struct vfctl_session *session, char **ret_said)
{
	_free_ char *said = NULL;
	int r = write_partitions(session);

	if (r == 0)
		r = vfctl_host_spec_after_change(session_ctx(session), session_spec(session), &said);
	if (r >= 0 && ret_said)
		*ret_said = said ? steal(said) : strdup("");
	return r;
}

int vfctl_session_model(struct vfctl_session *session, struct vfctl_host_model **ret)
{
	struct vfctl_ctx *ctx = session_ctx(session);
	struct vfctl_host_model *model = NULL;
	struct vfctl_snapshot *snapshot = NULL;
	int r = vfctl_snapshot_read(ctx, NULL, &snapshot);

	if (r == 0 && snapshot->leases_error)
		r = ctx_fail(ctx, -EACCES, "the leases cannot be read: %s", snapshot->leases_error);
	if (r == 0)
		r = vfctl_model_read(ctx, snapshot, session_place(session), &model);
	if (r == 0)
		r = vfctl_model_read_words(ctx, model, session_hypervisor(session));
	vfctl_snapshot_free(snapshot);
	if (r < 0)
		vfctl_model_free(model);
	else
		*ret = model;
	return r;
}
