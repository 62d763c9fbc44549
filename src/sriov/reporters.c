// SPDX-License-Identifier: GPL-2.0-or-later
/* devlink's health reporters of a PF (Documentation/networking/devlink/devlink-health.rst). */
#include <errno.h>

#include "base/ctx.h"
#include "netlink/devlink.h"
#include "sriov/reporters.h"

static struct vfctl_pf_reporter *find_reporter(struct vfctl_pf_reporter *v, size_t count,
	const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(v[i].name, name))
			return &v[i];
	return NULL;
}

/* A driver with several ports has a "tx" for each (mlx5: of the uplink and of each representor). */
static size_t join_reporter(const struct nl_reporters *all, struct vfctl_pf_reporter *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct nl_reporter *r = &all->v[i];
		struct vfctl_pf_reporter *one = find_reporter(ret, count, r->name);

		if (!one) {
			one = &ret[count++];
			str_copy(one->name, sizeof(one->name), r->name);
		}
		one->error |= r->error;
		one->errors += r->errors;
		one->recoveries += r->recoveries;
	}
	return count;
}

int vfctl_pf_reporters_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vfctl_pf_reporter **ret_reporters, size_t *ret_count)
{
	_cleanup_(nl_reporters_free) struct nl_reporters all = {0};
	char text[VFCTL_BDF_TEXT];
	const struct nl_devlink device = {"pci", vfctl_bdf_format(&pf->bdf, text)};
	struct vfctl_pf_reporter *v = NULL;
	int r = nl_reporters_read(ctx, &device, &all);

	/* Since 6.6 the kernel returns this for a driver that does not support devlink. */
	r = ctx_ignore_error(ctx, r, -ENODEV);
	if (r == 0 && all.count) {
		v = calloc(all.count, sizeof(*v));
		r = v ? 0 : ctx_oom(ctx);
	}
	if (r < 0)
		return r;
	*ret_count = v ? join_reporter(&all, v) : 0;
	*ret_reporters = v;
	return 0;
}
