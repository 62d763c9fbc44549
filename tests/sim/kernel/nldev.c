// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RDMA devices by netlink: RDMA_NLDEV_CMD_GET and _SET as nldev.c answers them, as far as adaptive
 * moderation goes. .sim/rdma-adaptive/DEVICE: "on"; .sim/rdma-adaptive-refused: what is set is refused;
 * -forgotten: accepted and not kept; -unknown: a kernel before 5.4.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "sim.h"

#define TYPE(op) RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_##op)

static bool told(struct host *h, const char *what)
{
	_free_ char *text = sim_get(h, "/.sim/rdma-adaptive-%s", what);

	return text != NULL;
}

static void put_attr(struct buf *b, uint16_t type, const void *data, size_t len)
{
	struct nlattr attr = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type};

	buf_add(b, &attr, sizeof(attr));
	buf_add(b, data, len);
	buf_add(b, "\0\0\0", NLA_ALIGN(len) - len);
}

static void put_device(struct host *h, const struct nlmsghdr *rq, uint32_t index, const char *name,
	struct buf *reply)
{
	_free_ char *on = sim_get(h, "/.sim/rdma-adaptive/%s", name);
	struct nlmsghdr head = {.nlmsg_type = TYPE(GET), .nlmsg_flags = NLM_F_MULTI,
		.nlmsg_seq = rq->nlmsg_seq};
	_buf_ struct buf attrs = {0};
	uint8_t dim = on && str_starts(on, "on");

	put_attr(&attrs, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	put_attr(&attrs, RDMA_NLDEV_ATTR_DEV_NAME, name, strlen(name) + 1);
	if (!told(h, "unknown"))
		put_attr(&attrs, RDMA_NLDEV_ATTR_DEV_DIM, &dim, 1);
	head.nlmsg_len = (uint32_t)(sizeof(head) + attrs.len);
	buf_add(reply, &head, sizeof(head));
	buf_add(reply, attrs.data, attrs.len);
}

static int set(struct host *h, const struct nlmsghdr *rq, const struct sim_pf *pfs, size_t count)
{
	const struct nlattr *index = NLMSG_DATA(rq), *dim;
	uint32_t n;

	if (rq->nlmsg_len < NLMSG_LENGTH(2 * (NLA_HDRLEN + 4)))
		return -EINVAL;
	dim = (const void *)((const char *)index + NLA_ALIGN(index->nla_len));
	if (index->nla_type != RDMA_NLDEV_ATTR_DEV_INDEX || dim->nla_type != RDMA_NLDEV_ATTR_DEV_DIM)
		return -EINVAL;
	memcpy(&n, index + 1, sizeof(n));
	if (n == 0 || n > count || !pfs[n - 1].rdma[0])
		return -EINVAL;
	if (told(h, "refused"))
		return -EPERM;
	if (told(h, "forgotten"))
		return 0;
	return sim_put(h, *(const uint8_t *)(dim + 1) ? "on\n" : "off\n", "/.sim/rdma-adaptive/%s",
		pfs[n - 1].rdma);
}

int sim_nldev(struct host *h, const struct nlmsghdr *rq, struct buf *reply)
{
	struct nlmsghdr done = {.nlmsg_len = NLMSG_LENGTH(4), .nlmsg_type = NLMSG_DONE,
		.nlmsg_flags = NLM_F_MULTI, .nlmsg_seq = rq->nlmsg_seq};
	struct sim_pf pfs[SIM_PFS_MAX];
	size_t count = sim_pfs_read(h, pfs);
	int zero = 0;

	if (rq->nlmsg_type == TYPE(SET))
		return set(h, rq, pfs, count);
	if (rq->nlmsg_type != TYPE(GET) || (rq->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		if (pfs[i].rdma[0])
			put_device(h, rq, (uint32_t)i + 1, pfs[i].rdma, reply);
	buf_add(reply, &done, sizeof(done));
	buf_add(reply, &zero, 4);
	return 0;
}
