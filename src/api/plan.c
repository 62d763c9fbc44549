// SPDX-License-Identifier: GPL-2.0-or-later
/* A plan for each verb, with its options as strings. */
#include "vfctl/plan.h"

#include <errno.h>

#include "api/asked.h"
#include "facts/session.h"
#include "guest/plans.h"
#include "hook/hook.h"
#include "ids/pools.h"
#include "spec/host_yaml.h"
#include "vfs/apply.h"
#include "vfs/plans.h"

/* Identities and vectors belong to one VF, but create gives all new VFs the same attributes. */
#define NOT_FOR_ALL (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS | VFCTL_ATTR_MSIX)

/* For plans that need libvirt: -EINVAL if the session is not connected to it. */
static int need_libvirt(struct vfctl_session *session, struct vfctl_hypervisor **ret)
{
	*ret = session_hypervisor(session);
	return *ret ? 0 : ctx_usage_error(session_ctx(session), -EINVAL, "the session is not connected to "
		"libvirt; open it with the option libvirt=system");
}

/* ---- the host ---- */

int vfctl_plan_create(struct vfctl_session *session, const char *pf, uint32_t count,
	const char *const options[], bool dry_run, struct vfctl_change **ret)
{
	struct vfctl_create_options how = {.count = count, .ids = session_ids(session)};
	struct vfctl_vf_range range = {.last = count ? count - 1 : 0};
	struct vfctl_ctx *ctx = session_ctx(session);
	struct vfctl_change *change = NULL;
	struct asked asked;
	int r = asked_read(ctx, CALL_CREATE, options, &asked);

	if (r == 0 && asked.attrs.mask & NOT_FOR_ALL)
		r = ctx_usage_error(ctx, -EINVAL,
			"new VFs cannot all have one MAC, GUID or number of vectors; "
						  "set it for each VF afterwards");
	if (r == 0 && asked.pkey)
		r = vfctl_host_spec_pkey(ctx, session_spec(session), asked.pkey, &how.pkey);
	if (r < 0)
		return r;
	how.driver = (enum vfctl_vf_driver)asked.driver;
	how.keep_identities = asked.keep_identities;
	how.guid_pool = asked.guid_pool;
	how.despite = asked.ignore_definitions;
	range.attrs = asked.attrs;
	how.ranges = asked.attrs.mask ? &range : NULL;
	how.range_count = asked.attrs.mask ? 1 : 0;
	r = vfctl_create_plan(ctx, pf, &how, dry_run, &change);
	return plan_made(r, dry_run, change, ret);
}

int vfctl_plan_destroy(struct vfctl_session *session, const char *pf, const char *const options[],
	bool dry_run, struct vfctl_change **ret)
{
	struct vfctl_ctx *ctx = session_ctx(session);
	struct vfctl_change *change = NULL;
	struct asked asked;
	int r = asked_read(ctx, CALL_DESTROY, options, &asked);

	if (r == 0)
		r = vfctl_destroy_plan(ctx, session_ids(session), pf, asked.ignore_definitions, dry_run,
			&change);
	return plan_made(r, dry_run, change, ret);
}

/* Plan the same attributes for each VF. */
static int set_items(struct vfctl_session *session, const char *const vfs[],
	const struct asked *asked,
	bool dry_run, struct vfctl_change **ret)
{
	const struct vfctl_set_options how = {.live = asked->live, .config = asked->config,
		.hypervisor = session_hypervisor(session)};
	_free_ struct vfctl_set_item *items = NULL;
	struct vfctl_ctx *ctx = session_ctx(session);
	size_t count = 0;

	while (vfs[count])
		count++;
	if (!count || !asked->attrs.mask)
		return ctx_usage_error(ctx, -EINVAL, "%s", count ? "name an attribute"
			: "name a VF");
	if (count > 1 && asked->attrs.mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS))
		return ctx_usage_error(ctx, -EINVAL, "one MAC or GUID cannot be given to %zu VFs", count);
	items = calloc(count, sizeof(*items));
	if (!items)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++)
		items[i] = (struct vfctl_set_item){.vf = vfs[i], .attrs = asked->attrs};
	return vfctl_set_plan(ctx, items, count, &how, dry_run, ret);
}

int vfctl_plan_set(struct vfctl_session *session, const char *const vfs[],
	const char *const options[], bool dry_run, struct vfctl_change **ret)
{
	struct vfctl_change *change = NULL;
	struct vfctl_hypervisor *hypervisor = NULL;
	struct asked asked;
	int r = asked_read(session_ctx(session), CALL_SET, options, &asked);

	if (r == 0 && asked.config)
		r = need_libvirt(session, &hypervisor);
	if (r == 0)
		r = set_items(session, vfs, &asked, dry_run, &change);
	return plan_made(r, dry_run, change, ret);
}

int vfctl_plan_tune(struct vfctl_session *session, const char *pf, const char *const options[],
	bool dry_run, struct vfctl_change **ret)
{
	struct vfctl_ctx *ctx = session_ctx(session);
	const struct vfctl_profile *profile = NULL;
	struct vfctl_change *change = NULL;
	struct vfctl_coalesce wanted = {0};
	struct asked asked;
	int r = asked_read(ctx, CALL_TUNE, options, &asked);

	if (r == 0 && asked.profile)
		r = vfctl_profile_need(ctx, session_spec(session), asked.profile, &profile);
	if (r < 0)
		return r;
	if (profile)
		wanted = profile->coalesce;
	vfctl_coalesce_merge(&wanted, &asked.coalesce);
	if (!wanted.mask)
		return ctx_usage_error(ctx, -EINVAL, "%s; name settings, such as rx-usecs=0", profile
			? "the profile has no settings for a driver"
			: "neither a profile nor a setting is given");
	r = vfctl_tune_plan(ctx, pf, &wanted, asked.force, dry_run, NULL, &change);
	return plan_made(r, dry_run, change, ret);
}

int vfctl_plan_hook(struct vfctl_session *session, bool install, struct vfctl_change **ret)
{
	struct vfctl_ctx *ctx = session_ctx(session);

	return install ? vfctl_hook_install_plan(ctx, NULL, ret) : vfctl_hook_remove_plan(ctx, ret);
}

/* ---- guests ---- */

/* Begin the plan of a guest: read its options and get the connection to libvirt. */
static int guest_begin(struct vfctl_session *session, enum api_call call,
	const char *const options[],
	struct asked *ret_asked, struct vfctl_hypervisor **ret_hypervisor)
{
	int r = asked_read(session_ctx(session), call, options, ret_asked);

	return r < 0 ? r : need_libvirt(session, ret_hypervisor);
}

int vfctl_plan_define(struct vfctl_session *session, struct vfctl_guest *guest,
	const char *const options[], bool dry_run, struct vfctl_change **ret)
{
	struct vfctl_ctx *ctx = session_ctx(session);
	_free_ char *text = NULL, *path = NULL;
	struct vfctl_change *change = NULL;
	struct vfctl_hypervisor *hypervisor = NULL;
	struct asked asked;
	int r = guest_begin(session, CALL_DEFINE, options, &asked, &hypervisor);

	if (r == 0)
		r = template_read(ctx,
			asked.template_name ? asked.template_name : guest->template_name, &text, &path);
	if (r == 0)
		r = vfctl_define_plan(ctx, guest, session_place(session), text, path, dry_run, &change);
	return plan_made(r, dry_run, change, ret);
}

int vfctl_plan_undefine(struct vfctl_session *session, const char *domain,
	const char *const options[], bool dry_run, struct vfctl_change **ret)
{
	struct vfctl_undefine_options how = {.ids = session_ids(session)};
	struct vfctl_ctx *ctx = session_ctx(session);
	struct vfctl_hypervisor *hypervisor = NULL;
	struct vfctl_change *change = NULL;
	struct asked asked;
	int r = guest_begin(session, CALL_UNDEFINE, options, &asked, &hypervisor);

	if (r < 0)
		return r;
	how.force = asked.force;
	how.drop = (asked.nvram ? VFCTL_DROP_NVRAM : 0u) |
		(asked.managed_save ? VFCTL_DROP_MANAGED_SAVE : 0u) |
		(asked.snapshots_metadata ? VFCTL_DROP_SNAPSHOTS : 0u);
	r = vfctl_undefine_plan(ctx, hypervisor, domain, &how, dry_run, &change);
	return plan_made(r, dry_run, change, ret);
}

static unsigned affect_of(const struct asked *asked)
{
	return (asked->live ? VFCTL_AFFECT_LIVE : 0u) | (asked->config ? VFCTL_AFFECT_CONFIG : 0u);
}

static int attach_options(struct vfctl_session *session, const struct asked *asked,
	struct vfctl_attach_options *ret)
{
	struct vfctl_ctx *ctx = session_ctx(session);

	if (!asked->pf == !asked->vf)
		return ctx_usage_error(ctx, -EINVAL, "name a VF: pf=PF (any free VF of it) or "
			"vf=PF/INDEX");
	if (asked->count && asked->vf)
		return ctx_usage_error(ctx, -EINVAL, "count is for VFs of a PF, not for a VF that is named");
	if (asked->count > 1 && asked->attrs.mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS))
		return ctx_usage_error(ctx, -EINVAL, "one MAC or GUID cannot be given to %u VFs",
			asked->count);
	*ret = (struct vfctl_attach_options){.pf = asked->pf, .vf = asked->vf, .attrs = asked->attrs,
		.identity = {.guid_pool = (char *)asked->guid_pool, .mac_pool = (char *)asked->mac_pool,
			.pkey = (char *)asked->pkey},
		.ids = session_ids(session), .spec = session_spec(session),
		.form = (enum vfctl_vf_form)asked->form, .affect = affect_of(asked), .count = asked->count,
		.ensure = asked->ensure, .ensure_mask = asked->attrs.mask};
	/* Use the safe defaults, as guest.yaml does. */
	if (!(asked->attrs.mask & VFCTL_ATTR_SPOOFCHK))
		ret->attrs.spoofchk = true;
	ret->attrs.mask |= VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST;
	return 0;
}

int vfctl_plan_attach(struct vfctl_session *session, const char *domain,
	const char *const options[], bool dry_run, struct vfctl_change **ret)
{
	struct vfctl_ctx *ctx = session_ctx(session);
	struct vfctl_hypervisor *hypervisor = NULL;
	struct vfctl_attach_options how;
	struct vfctl_change *change = NULL;
	struct asked asked;
	int r = guest_begin(session, CALL_ATTACH, options, &asked, &hypervisor);

	if (r == 0)
		r = attach_options(session, &asked, &how);
	if (r == 0)
		r = vfctl_attach_plan(ctx, hypervisor, domain, &how, dry_run, &change);
	return plan_made(r, dry_run, change, ret);
}

int vfctl_plan_detach(struct vfctl_session *session, const char *domain,
	const char *const options[], bool dry_run, struct vfctl_change **ret)
{
	struct vfctl_detach_options how = {.ids = session_ids(session)};
	struct vfctl_ctx *ctx = session_ctx(session);
	struct vfctl_hypervisor *hypervisor = NULL;
	struct vfctl_change *change = NULL;
	struct asked asked;
	int r = guest_begin(session, CALL_DETACH, options, &asked, &hypervisor);

	if (r < 0)
		return r;
	how.vf = asked.vf;
	how.affect = affect_of(&asked);
	how.timeout_ms = asked.wait_s * 1000;
	r = vfctl_detach_plan(ctx, hypervisor, domain, &how, dry_run, &change);
	return plan_made(r, dry_run, change, ret);
}

int vfctl_plan_move(struct vfctl_session *session, const char *domain, bool dry_run,
	struct vfctl_change **ret)
{
	struct vfctl_hypervisor *hypervisor = NULL;
	struct vfctl_change *change = NULL;
	int r = need_libvirt(session, &hypervisor);

	if (r == 0)
		r = vfctl_move_plan(session_ctx(session), domain, session_place(session), dry_run, &change);
	return plan_made(r, dry_run, change, ret);
}

int vfctl_plan_adopt(struct vfctl_session *session, const char *domain,
	const char *const options[], bool dry_run, struct vfctl_change **ret)
{
	struct vfctl_ctx *ctx = session_ctx(session);
	struct vfctl_ids *ids = session_ids(session);
	struct vfctl_hypervisor *hypervisor = NULL;
	struct vfctl_change *change = NULL;
	struct asked asked;
	int r = guest_begin(session, CALL_ADOPT, options, &asked, &hypervisor);

	if (r == 0)
		r = asked.undo ? vfctl_adopt_end_plan(ctx, hypervisor, domain, ids, dry_run, &change)
			       : vfctl_adopt_plan(ctx, hypervisor, domain, ids, dry_run, &change);
	return plan_made(r, dry_run, change, ret);
}

int vfctl_plan_release(struct vfctl_session *session, const char *domain, bool dry_run,
	struct vfctl_change **ret)
{
	struct vfctl_change *change = NULL;
	int r = vfctl_release_plan(session_ctx(session), session_hypervisor(session), domain, dry_run,
		&change);

	return plan_made(r, dry_run, change, ret);
}
