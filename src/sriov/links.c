// SPDX-License-Identifier: GPL-2.0-or-later
#include "sriov/links.h"

#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "host/host.h"
#include "pci/device.h"

/*
 * VFs are what the virtfnN links say: sriov_numvfs may stay wrong after a failed driver,
 * and reading it waits for the lock that a writer holds. Links sort as text in the
 * directory (0, 1, 10, 2); host_try_list() sorts them by number.
 */
int links_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, struct vfctl_vf **ret_vfs,
	uint32_t *ret_count)
{
	_strv_ char **names = NULL;
	_free_ struct vfctl_vf *vfs = NULL;
	char text[VFCTL_BDF_TEXT];
	uint32_t count = 0;
	int r;

	r = host_try_list(ctx, &names, PCI_SYSFS "%s", vfctl_bdf_format(pf, text));
	if (r < 0)
		return ctx_fail(ctx, r, "list %s: %s", text, strerror(-r));
	for (size_t i = 0; names[i]; i++) {
		struct vfctl_vf vf = {.numa_node = VFCTL_NODE_NONE, .iommu_group = -1};

		if (!str_starts(names[i], "virtfn") ||
			parse_u32(names[i] + strlen("virtfn"), 0, UINT16_MAX, &vf.index) < 0)
			continue;
		r = pci_link_function(ctx, pf, names[i], &vf.bdf);
		if (r == -ENOENT) /* removed since the directory was listed */
			continue;
		if (r < 0)
			return ctx_fail(ctx, r, "read %s of %s: %s", names[i], text, strerror(-r));
		if (!array_grow(vfs, count))
			return ctx_oom(ctx);
		vfs[count++] = vf;
	}
	*ret_vfs = steal(vfs);
	*ret_count = count;
	return 0;
}

uint32_t links_count(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf)
{
	char path[sizeof(PCI_SYSFS) + VFCTL_BDF_TEXT], text[VFCTL_BDF_TEXT];
	struct host *h = host_of(ctx);
	_strv_ char **names = NULL;
	uint32_t count = 0;

	snprintf(path, sizeof(path), PCI_SYSFS "%s", vfctl_bdf_format(pf, text));
	if (!h || h->ops->list(h, path, &names) < 0)
		return 0;
	for (size_t i = 0; names[i]; i++)
		count += str_starts(names[i], "virtfn");
	return count;
}
