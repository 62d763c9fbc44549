// SPDX-License-Identifier: GPL-2.0-or-later
/* Settings worth trying in a search, from the interface's driver and its present settings. */
#include <errno.h>

#include "base/parse.h"
#include "bench/measure.h"
#include "host/host.h"
#include "netlink/ethtool.h"
#include "tuning/fit.h"

#define ARPHRD_INFINIBAND_TEXT "32" /* linux/if_arp.h */

static int read_driver(struct vfctl_ctx *ctx, const char *device, char **ret)
{
	/* A virtual interface has none, and the table has no row for it. */
	if (host_try_link_name(ctx, ret, "/sys/class/net/%s/device/driver", device) < 0)
		*ret = strdup("");
	return *ret ? 0 : ctx_oom(ctx);
}

static bool is_infiniband(struct vfctl_ctx *ctx, const char *device)
{
	_free_ char *type = NULL;

	return host_try_read(ctx, &type, "/sys/class/net/%s/type", device) == 0 &&
		str_eq(type, ARPHRD_INFINIBAND_TEXT);
}

static int read_now(struct vfctl_ctx *ctx, const char *device, struct vfctl_coalesce *ret)
{
	struct nl_coalesce row = {0};
	_free_ char *index = NULL;
	uint32_t number = 0;
	int r = host_try_read(ctx, &index, "/sys/class/net/%s/ifindex", device);

	if (r == 0)
		r = parse_u32(index, 1, INT32_MAX, &number);
	if (r < 0)
		return ctx_fail(ctx, -ENODEV, "network device %s not found, so the settings worth "
			"trying with its driver are unknown; name them with --try, such as --try "
			"rx-usecs=0", device);
	row.ifindex = (int)number;
	r = nl_coalesce_read(ctx, &row, 1);
	if (r < 0)
		return r;
	if (row.error < 0)
		return ctx_fail(ctx, row.error, "%s has no interrupt moderation to set: %s. Name "
			"settings to try with --try, such as --try mtu=9000", device,
			row.text[0] ? row.text : strerror(-row.error));
	*ret = row.values;
	return 0;
}

int vfctl_search_settings(struct vfctl_ctx *ctx, const char *device,
	struct vfctl_coalesce *ret_settings, size_t *ret_count)
{
	struct vfctl_coalesce now = {0};
	_free_ char *driver = NULL;
	int r = read_now(ctx, device, &now);

	if (r == 0)
		r = read_driver(ctx, device, &driver);
	if (r < 0)
		return r;
	*ret_count = vfctl_tuning_candidates(driver, is_infiniband(ctx, device), &now, ret_settings);
	if (!*ret_count)
		return ctx_fail(ctx, -EOPNOTSUPP, "no interrupt moderation of %s other than the present "
			"one is worth trying; name settings with --try", device);
	return 0;
}
