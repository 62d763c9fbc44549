// SPDX-License-Identifier: GPL-2.0-or-later
/* Open everything that placing and defining guests needs, with one call. */
#include "facts/session.h"

#include "base/ctx.h"
#include "facts/hostfile.h"
#include "ids/pools.h"
#include "spec/host_yaml.h"

struct vfctl_session {
	struct vfctl_ctx *ctx;
	struct vfctl_host_spec *spec;
	struct vfctl_ids *ids;
	struct vfctl_hypervisor *hypervisor;
	struct vfctl_place_options place;
};

void vfctl_session_close(struct vfctl_session *session)
{
	if (!session)
		return;
	vfctl_hypervisor_close(session->hypervisor);
	vfctl_ids_close(session->ids);
	vfctl_host_spec_free(session->spec);
	free(session);
}

DEFINE_FREEP(struct vfctl_session, vfctl_session_close)

int session_open(struct vfctl_ctx *ctx, const struct session_options *options,
	struct vfctl_session **ret)
{
	static const struct session_options nothing = {0};
	_cleanup_(vfctl_session_closep) struct vfctl_session *s = calloc(1, sizeof(*s));
	const struct session_options *o = options ? options : &nothing;
	int r;

	if (!s)
		return ctx_oom(ctx);
	s->ctx = ctx;
	r = vfctl_host_ids_open(ctx, o->host_yaml, o->write, &s->spec, &s->ids);
	if (r == 0 && o->connect)
		r = o->connect(ctx, o->uri, &s->hypervisor);
	if (r < 0)
		return r;
	s->place = (struct vfctl_place_options){.hypervisor = s->hypervisor, .spec = s->spec,
		.ids = s->ids};
	*ret = steal(s);
	return 0;
}

struct vfctl_ctx *session_ctx(struct vfctl_session *session)
{
	return session->ctx;
}

struct vfctl_place_options *session_place(struct vfctl_session *session)
{
	return &session->place;
}

struct vfctl_ids *session_ids(struct vfctl_session *session)
{
	return session->ids;
}

struct vfctl_hypervisor *session_hypervisor(struct vfctl_session *session)
{
	return session->hypervisor;
}

const struct vfctl_host_spec *session_spec(const struct vfctl_session *session)
{
	return session->spec;
}
