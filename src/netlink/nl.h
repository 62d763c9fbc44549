/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_NL_H
#define VFCTL_NETLINK_NL_H

#include <stdint.h>

#include "base/buf.h"
#include "base/ctx.h"

struct nlmsghdr;
struct nlattr;
struct vfctl_mac;

/* One request message under construction, or several in a row for one datagram. */
struct nl_request {
	char *data;
	size_t len;
	size_t room;
	uint32_t next_seq; /* the first message has number 1 */
};

/*
 * Begin a message of at most @room bytes; NULL if memory is exhausted. NLM_F_ACK is added to every
 * message except dumps, so that each gets its own answer. Finish with nl_end().
 */
struct nlmsghdr *nl_begin(struct nl_request *rq, uint16_t type, uint16_t flags, size_t room);
void nl_end(struct nl_request *rq, struct nlmsghdr *m);
void nl_request_free(struct nl_request *rq);

/* One answer: the errno for message @seq, and the kernel's message ("" if there is none). */
struct nl_result {
	uint32_t seq;
	int error;
	char text[160];
};

/*
 * Send the messages of @rq. Answers other than acknowledgements are stored in @ret_reply; the
 * results in @results, indexed by seq - 1 (one for each message of @rq). An interrupted dump is
 * requested again, a bounded number of times.
 * @return 0 if every request was answered, also with an error; -EBADMSG if the answer does not
 * consist of whole messages, as in a damaged capture.
 */
int nl_talk(struct vfctl_ctx *ctx, int protocol, const struct nl_request *rq,
	struct buf *ret_reply, struct nl_result *results);

/*
 * The messages of an answer, one by one: start with @at 0; NULL after the last one, or if what
 * follows is not a whole message (then @at is not at the end).
 */
const struct nlmsghdr *nl_next(const struct buf *reply, size_t *at);

/* The attribute's data; NULL if it has fewer than @size bytes. */
const void *nl_payload(const struct nlattr *attr, size_t size);
/* Read a MAC; what has another length is left out. */
void nl_read_mac(const struct nlattr *attr, struct vfctl_mac *ret);
/* Whether it describes a network device. */
bool nl_is_link(const struct nlmsghdr *m);
/* The header of RTM_GETLINK for one device or for all (0); @mask: RTEXT_FILTER_*. */
void nl_put_getlink(struct nlmsghdr *m, int ifindex, uint32_t mask);

#endif
