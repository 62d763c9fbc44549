// SPDX-License-Identifier: GPL-2.0-or-later
/* A PF's interrupt moderation: what is declared or asked for -> what its driver takes -> one step. */
#include "vfs/tune.h"

#include <errno.h>

#include "change/target.h"
#include "drivers/driver.h"
#include "host/host.h"
#include "lease/declared.h"
#include "netlink/rdma.h"
#include "pci/express.h"
#include "tuning/coalesce.h"
#include "core/apply.h"

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

/* The entry of host.yaml that means this PF; NULL none. What is wrong with others is others' matter. */
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
	int r = host_of(ctx)->ops->read_only ? ctx_fail(ctx, -EOPNOTSUPP, "a capture does not hold the "
		"interrupt moderation of its PFs") : coalesce_read(ctx, pf, &m.now);

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

int vfctl_tune_plan(struct vfctl_ctx *ctx, const char *pf, const struct vfctl_coalesce *wanted,
	bool dry_run, struct vfctl_tuning_fit *ret_fit, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(target_clear) struct target t = NO_TARGET;
	const struct target_need need = {.dry_run = dry_run, .only = pf};
	struct vfctl_pf_moderation m;
	int r = target_open(ctx, pf, &need, &t);

	if (r == 0)
		r = vfctl_pf_moderation_read(ctx, t.snapshot->inventory, t.pf, NULL, wanted, &m, NULL);
	if (r == 0 && !m.fit.set.mask)
		r = ctx_fail(ctx, -EOPNOTSUPP, "the driver %s of %s takes nothing of what is asked for; "
			"vfctl tune show %s says what it has", t.pf->driver, pf, pf);
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
