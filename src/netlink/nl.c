// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/nl.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>

#include "host/host.h"

#define DUMP_TRIES 20

struct nlmsghdr *nl_begin(struct nl_request *rq, uint16_t type, uint16_t flags, size_t room)
{
	size_t need = rq->len + NLMSG_ALIGN(NLMSG_HDRLEN + room);
	struct nlmsghdr *m;

	if (need > rq->room) {
		size_t bigger = need > rq->room * 2 ? need : rq->room * 2;
		char *data = realloc(rq->data, bigger);

		if (!data)
			return NULL;
		rq->data = data;
		rq->room = bigger;
	}
	memset(rq->data + rq->len, 0, need - rq->len);
	m = mnl_nlmsg_put_header(rq->data + rq->len);
	m->nlmsg_type = type;
	m->nlmsg_flags = NLM_F_REQUEST | flags;
	if ((flags & NLM_F_DUMP) != NLM_F_DUMP) /* NLM_F_EXCL is one bit of it */
		m->nlmsg_flags |= NLM_F_ACK;
	m->nlmsg_seq = ++rq->next_seq;
	return m;
}

void nl_end(struct nl_request *rq, struct nlmsghdr *m)
{
	rq->len += NLMSG_ALIGN(m->nlmsg_len);
}

void nl_request_free(struct nl_request *rq)
{
	free(rq->data);
	*rq = (struct nl_request){0};
}

/*
 * libmnl's own check treats lengths of 2^31 and more as negative, and its walk over attributes
 * continues to the next multiple of 4: a message may end before that.
 */
const struct nlmsghdr *nl_next(const struct buf *reply, size_t *at)
{
	size_t left = reply->len - *at;
	const struct nlmsghdr *m;

	if (left < sizeof(*m))
		return NULL;
	m = (const void *)(reply->data + *at);
	if (m->nlmsg_len < sizeof(*m) || m->nlmsg_len > left ||
		NLMSG_ALIGN((size_t)m->nlmsg_len) > left)
		return NULL;
	*at += NLMSG_ALIGN((size_t)m->nlmsg_len);
	return m;
}

/* A capture may contain any number; errno values end at 4095 (MAX_ERRNO). */
static int checked_error(int error)
{
	return error > 0 || error < -4095 ? -EBADMSG : error;
}

/* Read the text of the extended acknowledgement, if there is one. */
static void read_text(const struct nlmsghdr *m, struct nl_result *result)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(m);
	size_t skip = sizeof(*err);
	const struct nlattr *attr;

	if (!(m->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(m->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(err->msg.nlmsg_len) - NLMSG_HDRLEN;
	if (skip > mnl_nlmsg_get_payload_len(m))
		return;
	mnl_attr_for_each(attr, m, skip)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			snprintf(result->text, sizeof(result->text), "%.*s",
				(int)mnl_attr_get_payload_len(attr), mnl_attr_get_str(attr));
}

/* Handle one message; -EINTR requests the dump again. */
static int sort_message(const struct nlmsghdr *m, uint32_t count, struct nl_result *results)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(m);
	struct nl_result *result;

	if (m->nlmsg_flags & NLM_F_DUMP_INTR)
		return -EINTR;
	if (m->nlmsg_seq == 0 || m->nlmsg_seq > count)
		return 0;
	result = &results[m->nlmsg_seq - 1];
	if (m->nlmsg_type == NLMSG_ERROR && mnl_nlmsg_get_payload_len(m) >= sizeof(*err)) {
		result->error = checked_error(err->error);
		read_text(m, result);
	} else if (m->nlmsg_type == NLMSG_DONE && mnl_nlmsg_get_payload_len(m) >= sizeof(int)) {
		result->error = checked_error(*(const int *)mnl_nlmsg_get_payload(m));
	}
	return 0;
}

int nl_talk(struct vfctl_ctx *ctx, int protocol, const struct nl_request *rq,
	struct buf *ret_reply, struct nl_result *results)
{
	for (int tries = 0; tries < DUMP_TRIES; tries++) {
		const struct nlmsghdr *m;
		size_t at = 0;
		int r;

		buf_reset(ret_reply);
		for (uint32_t i = 0; i < rq->next_seq; i++)
			results[i] = (struct nl_result){.seq = i + 1};
		r = host_exchange(ctx, protocol, rq->data, rq->len, ret_reply);
		if (r < 0)
			return r;
		while (r == 0 && (m = nl_next(ret_reply, &at)))
			r = sort_message(m, rq->next_seq, results);
		if (r == 0 && at != ret_reply->len)
			return ctx_fail(ctx, -EBADMSG, "netlink: the answer is damaged: no message at "
				"byte %zu of %zu", at, ret_reply->len);
		if (r == 0)
			return 0;
	}
	return ctx_fail(ctx, -EAGAIN, "netlink: links changed during each of %d dumps; try "
		"again when the host is quieter", DUMP_TRIES);
}

void nl_put_getlink(struct nlmsghdr *m, int ifindex, uint32_t mask)
{
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(m, sizeof(*info));

	info->ifi_family = AF_UNSPEC;
	info->ifi_index = ifindex;
	mnl_attr_put_u32(m, IFLA_EXT_MASK, mask);
}

const void *nl_payload(const struct nlattr *attr, size_t size)
{
	return mnl_attr_get_payload_len(attr) >= size ? mnl_attr_get_payload(attr) : NULL;
}

void nl_read_mac(const struct nlattr *attr, struct vfctl_mac *ret)
{
	const struct vfctl_mac *mac = nl_payload(attr, sizeof(*mac));

	if (mac && mnl_attr_get_payload_len(attr) == sizeof(*mac))
		*ret = *mac;
}

bool nl_is_link(const struct nlmsghdr *m)
{
	return m->nlmsg_type == RTM_NEWLINK &&
		mnl_nlmsg_get_payload_len(m) >= sizeof(struct ifinfomsg);
}
