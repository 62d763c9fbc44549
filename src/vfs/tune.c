// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A PF's interrupt moderation: adapt the declared or requested settings to its driver, and plan one
 * step.
 */
#include "vfs/tune.h"

#include <errno.h>
#include <stdio.h>

#include "base/change.h"
#include "change/target.h"
#include "drivers/driver.h"
#include "host/host.h"
#include "lease/declared.h"
#include "netlink/rdma.h"
#include "pci/express.h"
#include "spec/host_yaml.h"
#include "sriov/holder.h"
#include "tuning/coalesce.h"
#include "tuning/fit.h"
#include "vfs/apply.h"

int moderation_wanted(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_pf_spec *pf, struct vfctl_coalesce *ret,
	const struct vfctl_profile **ret_profile)
{
	const struct vfctl_profile *profile = NULL;
	int r = pf->tuning.profile ? vfctl_profile_need(ctx, spec, pf->tuning.profile, &profile) : 0;

	if (r < 0)
		return r;
	*ret = profile ? profile->coalesce : (struct vfctl_coalesce){0};
	vfctl_coalesce_merge(ret, &pf->tuning.coalesce);
	if (ret_profile)
		*ret_profile = profile;
	return 0;
}

/*
 * The entry of host.yaml for this PF; NULL if there is none. Errors of other entries are ignored
 * here.
 */
static const struct vfctl_pf_spec *entry_of(struct vfctl_ctx *ctx,
	const struct vfctl_inventory *inventory, const struct vfctl_pf *pf,
	const struct vfctl_host_spec *spec)
{
	const struct vfctl_pf *found;

	for (size_t i = 0; spec && i < spec->pf_count; i++) {
		if (declared_find(ctx, inventory, &spec->pfs[i], &found) == 0 &&
			vfctl_bdf_compare(&found->bdf, &pf->bdf) == 0)
			return &spec->pfs[i];
		ctx_clear(ctx);
	}
	return NULL;
}

int vfctl_pf_moderation_read(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_pf *pf, const struct vfctl_host_spec *spec,
	const struct vfctl_coalesce *wanted, struct vfctl_pf_moderation *ret,
	const struct vfctl_profile **ret_profile)
{
	const struct vfctl_pf_spec *entry = wanted ? NULL : entry_of(ctx, inventory, pf, spec);
	const struct vfctl_profile *profile = NULL;
	struct vfctl_pf_moderation m = {0};
	int r = host_of(ctx)->ops->read_only ? ctx_fail(ctx, -EOPNOTSUPP, "a capture does not contain "
		"the interrupt moderation of its PFs") : coalesce_read(ctx, pf, &m.now);

	if (r == 0 && entry)
		r = moderation_wanted(ctx, spec, entry, &m.wanted, &profile);
	if (r < 0)
		return r;
	if (wanted)
		m.wanted = *wanted;
	vfctl_tuning_fit(pf->driver, pf->infiniband, &m.now, &m.wanted, &m.fit);
	*ret = m;
	if (ret_profile)
		*ret_profile = profile;
	return 0;
}

int vfctl_pf_pci_express_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vfctl_pci_express *ret)
{
	struct vfctl_pci_express e;
	int r = pci_express_read(ctx, &pf->bdf, &e);

	if (r < 0)
		return r;
	*ret = e;
	ret->larger_reads_help = driver_has(pf->driver, DRIVER_LARGE_READS);
	return 0;
}

int vfctl_pf_rdma_adaptive_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, bool *ret_on)
{
	return pf->rdma[0] ? nl_rdma_adaptive_read(ctx, pf->rdma, ret_on) : -ENODEV;
}

/* A VF that the host itself uses is not a guest's. */
static bool has_guest(const struct vfctl_vf *vf)
{
	return vf->lease.running || (vf_is_open(vf) && vf->holder.kind != VFCTL_HOLDER_HOST);
}

int moderation_check_reset(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_tuning_fit *fit)
{
	char buf[VFCTL_BDF_TEXT], user[256], others[64] = "";
	const char *name = vfctl_pf_name(pf, buf);
	const struct vfctl_vf *first = NULL;
	_free_ char *settings = NULL;
	uint32_t more = 0;

	for (uint32_t i = 0; fit->resets && i < pf->num_vfs; i++)
		if (has_guest(&pf->vfs[i])) {
			more += first != NULL;
			first = first ? first : &pf->vfs[i];
		}
	if (!first)
		return 0;
	settings = vfctl_coalesce_format(&fit->set);
	if (!settings)
		return ctx_oom(ctx);
	if (more)
		snprintf(others, sizeof(others), " (and %u more VF%s in use)", more,
			more == 1 ? " is" : "s are");
	return ctx_fail(ctx, -EBUSY, "driver %s would reset %s for this change, and each VF would lose "
		"its link for some seconds; %s/%u (%s) is %s%s; stop the guests first, or accept that: vfctl "
		"tune set %s %s --force", pf->driver, name, name, first->index, TEXT(&first->bdf),
		vf_describe_user(first, user, sizeof(user)), others, name, settings);
}

int vfctl_tune_plan(struct vfctl_ctx *ctx, const char *pf, const struct vfctl_coalesce *wanted,
	bool force, bool dry_run, struct vfctl_tuning_fit *ret_fit, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(target_clear) struct target t = NO_TARGET;
	const struct target_need need = {.dry_run = dry_run, .only = pf};
	struct vfctl_pf_moderation m;
	int r = target_open(ctx, pf, &need, &t);

	if (r == 0)
		r = vfctl_pf_moderation_read(ctx, t.snapshot->inventory, t.pf, NULL, wanted, &m, NULL);
	if (r == 0 && !m.fit.set.mask)
		r = ctx_fail(ctx, -EOPNOTSUPP, "driver %s of %s accepts none of these settings; for "
			"those that it has: vfctl tune show %s", t.pf->driver, pf, pf);
	if (r == 0 && !force)
		r = moderation_check_reset(ctx, t.pf, &m.fit);
	if (r == 0)
		r = change_new(ctx, &change);
	if (r == 0)
		r = coalesce_add_step(ctx, t.pf, &m.fit, &change->steps);
	if (r == 0)
		r = target_keep(ctx, change, &t, "tune %s", pf);
	if (r < 0)
		return r;
	if (ret_fit)
		*ret_fit = m.fit;
	*ret_change = steal(change);
	return 0;
}
