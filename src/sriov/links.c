// SPDX-License-Identifier: GPL-2.0-or-later
#include "sriov/links.h"

#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "host/host.h"
#include "pci/device.h"

/* The indexes for which there is a link, in numerical order. */
static int list_indexes(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, struct vfctl_vf **io_vfs,
	uint32_t *io_count)
{
	_strv_ char **names = NULL;
	char text[VFCTL_BDF_TEXT];
	int r = host_try_list(ctx, &names, PCI_SYSFS "%s", vfctl_bdf_format(pf, text));

	if (r < 0)
		return ctx_fail(ctx, r, "list %s: %s", text, strerror(-r));
	for (size_t i = 0; names[i]; i++) {
		struct vfctl_vf vf = {.numa_node = VFCTL_NODE_NONE, .iommu_group = -1};

		if (!str_starts(names[i], "virtfn") ||
			parse_u32(names[i] + strlen("virtfn"), 0, UINT16_MAX, &vf.index) < 0)
			continue;
		if (!array_grow(*io_vfs, *io_count))
			return ctx_oom(ctx);
		(*io_vfs)[(*io_count)++] = vf;
	}
	return 0;
}

/* @ret_there: false if it was removed since the directory was listed. */
static int read_link(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, struct vfctl_vf *vf,
	bool *ret_there)
{
	char name[32], text[VFCTL_BDF_TEXT];
	int r;

	snprintf(name, sizeof(name), "virtfn%u", vf->index);
	r = pci_link_function(ctx, pf, name, &vf->bdf);
	*ret_there = r == 0;
	if (r < 0 && r != -ENOENT)
		return ctx_fail(ctx, r, "read %s of %s: %s", name, vfctl_bdf_format(pf, text),
			strerror(-r));
	return 0;
}

static uint32_t routing_id(const struct vfctl_bdf *bdf)
{
	return (uint32_t)bdf->bus << 8 | (uint32_t)bdf->slot << 3 | bdf->function;
}

static struct vfctl_bdf of_routing_id(const struct vfctl_bdf *pf, uint32_t id)
{
	return (struct vfctl_bdf){.domain = pf->domain, .bus = (uint8_t)(id >> 8),
		.slot = id >> 3 & 31, .function = id & 7};
}

/*
 * The addresses of a PF's VFs are in equal steps (SR-IOV specification 3.3.9 and 3.3.10, First VF
 * Offset and VF Stride): if the first two links and the last one agree with that, the links between
 * need not be read. -EAGAIN: they have to be.
 */
static int step_through(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, struct vfctl_vf *vfs,
	uint32_t count)
{
	const uint32_t known[] = {0, 1, count - 1};
	uint32_t first, step;

	if (count <= ARRAY_SIZE(known))
		return -EAGAIN;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		bool there;
		int r = read_link(ctx, pf, &vfs[known[i]], &there);

		if (r < 0 || !there)
			return r < 0 ? r : -EAGAIN;
	}
	first = routing_id(&vfs[0].bdf);
	step = routing_id(&vfs[1].bdf) - first;
	if (vfs[0].index != 0 || vfs[1].index != 1 || vfs[0].bdf.domain != pf->domain ||
		vfs[count - 1].bdf.domain != pf->domain ||
		first + step * vfs[count - 1].index != routing_id(&vfs[count - 1].bdf))
		return -EAGAIN;
	for (uint32_t i = 2; i < count; i++)
		vfs[i].bdf = of_routing_id(pf, first + step * vfs[i].index);
	return 0;
}

static int read_all(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, struct vfctl_vf *vfs,
	uint32_t *io_count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *io_count; i++) {
		bool there;
		int r = read_link(ctx, pf, &vfs[i], &there);

		if (r < 0)
			return r;
		if (there)
			vfs[kept++] = vfs[i];
	}
	*io_count = kept;
	return 0;
}

/*
 * VFs are those with a virtfnN link: sriov_numvfs may be wrong after a driver failed, and reading
 * it waits for the lock that a writer holds.
 */
int links_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, struct vfctl_vf **ret_vfs,
	uint32_t *ret_count)
{
	_free_ struct vfctl_vf *vfs = NULL;
	uint32_t count = 0;
	int r = list_indexes(ctx, pf, &vfs, &count);

	if (r == 0)
		r = step_through(ctx, pf, vfs, count);
	if (r == -EAGAIN)
		r = read_all(ctx, pf, vfs, &count);
	if (r < 0)
		return r;
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
