// SPDX-License-Identifier: GPL-2.0-or-later
/* RDMA_NLDEV_CMD_GET and _SET (include/uapi/rdma/rdma_netlink.h). */
#include "netlink/rdma.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#define ROOM 64
#define TYPE(op) RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_##op)
#define DIM_UNKNOWN (-1)

struct found {
	bool there;
	uint32_t index;
	int dim; /* 0, 1, DIM_UNKNOWN */
};

static bool is_named(const struct nlattr *attr, const char *device)
{
	const char *name = mnl_attr_get_payload(attr);
	size_t len = mnl_attr_get_payload_len(attr);

	return strnlen(name, len) == strlen(device) && !strncmp(name, device, len);
}

static void look_at(const struct nlmsghdr *m, const char *device, struct found *io)
{
	struct found f = {.dim = DIM_UNKNOWN};
	const struct nlattr *attr;

	mnl_attr_for_each(attr, m, 0) {
		size_t len = mnl_attr_get_payload_len(attr);

		switch (mnl_attr_get_type(attr)) {
		case RDMA_NLDEV_ATTR_DEV_INDEX:
			f.index = len >= sizeof(uint32_t) ? mnl_attr_get_u32(attr) : 0;
			break;
		case RDMA_NLDEV_ATTR_DEV_NAME:
			f.there = is_named(attr, device);
			break;
		case RDMA_NLDEV_ATTR_DEV_DIM:
			f.dim = len >= 1 ? mnl_attr_get_u8(attr) != 0 : DIM_UNKNOWN;
			break;
		}
	}
	if (f.there)
		*io = f;
}

static int unsupported(struct vfctl_ctx *ctx)
{
	return ctx_fail(ctx, -EOPNOTSUPP, "this kernel does not report the adaptive moderation of RDMA "
		"devices (it needs Linux 5.4 with ib_core loaded)");
}

static int find_rdma(struct vfctl_ctx *ctx, const char *device, struct found *ret)
{
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	_buf_ struct buf reply = {0};
	struct nlmsghdr *dump = nl_begin(&rq, TYPE(GET), NLM_F_DUMP, ROOM);
	struct found f = {.dim = DIM_UNKNOWN};
	const struct nlmsghdr *m;
	struct nl_result result;
	size_t at = 0;
	int r;

	if (!dump)
		return ctx_oom(ctx);
	nl_end(&rq, dump);
	r = nl_talk(ctx, NETLINK_RDMA, &rq, &reply, &result);
	if (r == -EPROTONOSUPPORT || (r == 0 && (result.error == -EINVAL || result.error == -EOPNOTSUPP)))
		return unsupported(ctx);
	if (r < 0 || result.error < 0)
		return r < 0 ? r : ctx_fail(ctx, result.error, "read the RDMA devices: %s",
			strerror(-result.error));
	while ((m = nl_next(&reply, &at)))
		if (m->nlmsg_type == TYPE(GET))
			look_at(m, device, &f);
	if (!f.there)
		return ctx_fail(ctx, -ENODEV, "the kernel has no RDMA device %s", device);
	*ret = f;
	return f.dim == DIM_UNKNOWN ? unsupported(ctx) : 0;
}

int nl_rdma_adaptive_read(struct vfctl_ctx *ctx, const char *device, bool *ret_on)
{
	struct found f;
	int r = find_rdma(ctx, device, &f);

	if (r == 0)
		*ret_on = f.dim;
	return r;
}

int nl_rdma_adaptive_write(struct vfctl_ctx *ctx, const char *device, bool on)
{
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	_buf_ struct buf reply = {0};
	struct nl_result result;
	struct nlmsghdr *m;
	struct found f;
	int r = find_rdma(ctx, device, &f);

	if (r < 0)
		return r;
	m = nl_begin(&rq, TYPE(SET), 0, ROOM);
	if (!m)
		return ctx_oom(ctx);
	mnl_attr_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, f.index);
	mnl_attr_put_u8(m, RDMA_NLDEV_ATTR_DEV_DIM, on);
	nl_end(&rq, m);
	r = nl_talk(ctx, NETLINK_RDMA, &rq, &reply, &result);
	if (r < 0 || result.error == 0)
		return r;
	return ctx_fail(ctx, result.error, "%s: set adaptive moderation %s: %s", device, on ? "on" : "off",
		result.text[0] ? result.text : strerror(-result.error));
}
