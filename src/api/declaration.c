// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The comparison of the host with host.yaml: an entry for the host, for each PF and for each
 * VF-LAG, in the order in which they are applied.
 */
#include <errno.h>

#include "api/asked.h"
#include "facts/session.h"
#include "vfctl/plan.h"
#include "vfs/apply.h"

struct vfctl_declaration {
	struct vfctl_snapshot *snapshot;
	struct vfctl_declared *declared;
};

int vfctl_declaration_read(struct vfctl_session *session, struct vfctl_declaration **ret)
{
	struct vfctl_declaration *d = calloc(1, sizeof(*d));
	struct vfctl_ctx *ctx = session_ctx(session);
	int r;

	if (!d)
		return ctx_oom(ctx);
	r = vfctl_snapshot_read(ctx, NULL, &d->snapshot);
	if (r == 0)
		r = vfctl_declared_read(ctx, d->snapshot, session_spec(session), session_ids(session),
			&d->declared);
	if (r < 0)
		vfctl_declaration_free(d);
	else
		*ret = d;
	return r;
}

void vfctl_declaration_free(struct vfctl_declaration *declaration)
{
	if (!declaration)
		return;
	vfctl_declared_free(declaration->declared);
	vfctl_snapshot_free(declaration->snapshot);
	free(declaration);
}

/* The PF or the VF-LAG of entry @index; both are NULL for the host. False past the last entry. */
static bool entry_at(const struct vfctl_declaration *d, size_t index,
	const struct vfctl_declared_pf **ret_pf, const struct vfctl_declared_lag **ret_lag)
{
	const struct vfctl_declared *all = d->declared;

	*ret_pf = index > 0 && index <= all->count ? &all->pfs[index - 1] : NULL;
	*ret_lag = index > all->count && index - all->count <= all->lag_count
		? &all->lags[index - all->count - 1] : NULL;
	return index == 0 || *ret_pf || *ret_lag;
}

static const char *pf_text(const struct vfctl_declared_pf *pf, const char *key)
{
	if (str_eq(key, "kind"))
		return "pf";
	if (str_eq(key, "name"))
		return pf->name;
	if (str_eq(key, "address"))
		return pf->address[0] ? pf->address : NULL;
	if (str_eq(key, "error"))
		return pf->message;
	return str_eq(key, "kept") ? pf->kept : NULL;
}

static const char *lag_text(const struct vfctl_declared_lag *lag, const char *key)
{
	if (str_eq(key, "kind"))
		return "lag";
	if (str_eq(key, "name"))
		return lag->spec->bond;
	return str_eq(key, "error") ? lag->message : NULL;
}

const char *vfctl_declaration_get(const struct vfctl_declaration *declaration, size_t index,
	const char *key)
{
	const struct vfctl_declared_pf *pf;
	const struct vfctl_declared_lag *lag;

	if (!entry_at(declaration, index, &pf, &lag))
		return NULL;
	if (pf)
		return pf_text(pf, key);
	if (lag)
		return lag_text(lag, key);
	if (str_eq(key, "kind") || str_eq(key, "name"))
		return "host";
	return str_eq(key, "error") ? declaration->declared->host_text : NULL;
}

const struct vfctl_change *vfctl_declaration_change(const struct vfctl_declaration *declaration,
	size_t index)
{
	const struct vfctl_declared_pf *pf;
	const struct vfctl_declared_lag *lag;

	if (!entry_at(declaration, index, &pf, &lag))
		return NULL;
	return pf ? pf->change : lag ? lag->change : declaration->declared->host;
}

int vfctl_plan_apply(struct vfctl_session *session, const struct vfctl_declaration *declaration,
	size_t index, struct vfctl_change **ret)
{
	const struct vfctl_host_spec *spec = session_spec(session);
	const struct vfctl_declared *all = declaration->declared;
	struct vfctl_ctx *ctx = session_ctx(session);
	const struct vfctl_declared_pf *pf;
	const struct vfctl_declared_lag *lag;

	if (!entry_at(declaration, index, &pf, &lag))
		return ctx_usage_error(ctx, -ENOENT, "host.yaml has no entry %zu", index);
	if (pf)
		return vfctl_apply_plan(ctx, spec, pf->index, pf->address, session_ids(session), ret);
	if (lag)
		return vfctl_apply_lag_plan(ctx, spec, (size_t)(lag - all->lags), ret);
	return vfctl_apply_host_plan(ctx, spec, session_ids(session), ret);
}
