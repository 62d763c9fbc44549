// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of host.yaml for network functions without SR-IOV. */
#include "vfs/apply_other.h"

#include <errno.h>

#include "change/recover.h"
#include "host/host.h"
#include "lease/declared.h"
#include "sriov/inventory.h"

int other_find(struct vfctl_ctx *ctx, struct vfctl_declared *all, const struct vfctl_inventory *pfs,
	const struct vfctl_pf_spec *spec, const struct vfctl_pf **ret_pf)
{
	char name[VFCTL_BDF_TEXT];
	int r = all->others ? 0 : inventory_read_others(ctx, &all->others);

	if (r == 0)
		r = declared_find(ctx, all->others, spec, ret_pf);
	if (r == -ENOENT) /* its message names the PFs */
		return declared_find(ctx, pfs, spec, ret_pf);
	if (r == 0 && spec->counted)
		return ctx_fail(ctx, -EOPNOTSUPP, "%s has no SR-IOV, so it has no VFs; enable SR-IOV in its "
			"firmware and in the BIOS, or remove count: from its entry in host.yaml",
			vfctl_pf_name(*ret_pf, name));
	return r;
}

int other_open(struct vfctl_ctx *ctx, const struct vfctl_pf_spec *spec, const char *address,
	struct target *t, struct vfctl_inventory **ret_own)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *own = NULL;
	struct vfctl_bdf bdf;
	int r = host_check_writable(ctx);

	if (r == 0 && vfctl_bdf_parse(address, &bdf) < 0)
		r = ctx_fail(ctx, -EINVAL, "%s is not a PCI address", address);
	if (r == 0)
		r = host_lock(ctx, HOST_LOCK_PLACEMENT, true, &t->placement_fd);
	if (r == 0)
		r = recover_lock_with(ctx, NULL, address, &t->lock_fd);
	if (r == 0)
		r = vfctl_snapshot_read(ctx, "", &t->snapshot);
	if (r == 0)
		r = inventory_read_pf(ctx, &bdf, &own);
	if (r == 0 && declared_find(ctx, own, spec, &t->pf) < 0)
		r = ctx_fail(ctx, -EAGAIN, "the names of the network devices changed meanwhile (before: %s); "
			"repeat the command", address);
	if (r == 0)
		*ret_own = steal(own);
	return r;
}
