// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forwarding tables: RTM_GETNEIGH, RTM_NEWNEIGH and RTM_DELNEIGH of AF_BRIDGE, as rtnl_fdb_dump() and
 * ndo_dflt_fdb_add() answer them. .sim/bridge: "BRIDGE PORT MAC LOCAL" lines, indexes of interfaces;
 * .sim/fdb/INDEX: MACs of the device's own table, a line each. .sim/fdb-error/INDEX: "MAC ERRNO", which
 * the device refuses to add or remove.
 */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "sim.h"


static void put_entry(struct buf *b, const struct nlmsghdr *rq, int ifindex, int master, bool local,
	const struct vfctl_mac *mac)
{
	struct nlmsghdr head = {.nlmsg_type = RTM_NEWNEIGH, .nlmsg_flags = NLM_F_MULTI,
		.nlmsg_seq = rq->nlmsg_seq};
	struct ndmsg nd = {.ndm_family = AF_BRIDGE, .ndm_ifindex = ifindex,
		.ndm_state = master && !local ? NUD_REACHABLE : NUD_PERMANENT,
		.ndm_flags = master ? NTF_MASTER : NTF_SELF};
	struct nlattr address = {.nla_len = NLA_HDRLEN + 6, .nla_type = NDA_LLADDR};
	struct nlattr bridge = {.nla_len = NLA_HDRLEN + 4, .nla_type = NDA_MASTER};

	head.nlmsg_len = (uint32_t)(sizeof(head) + sizeof(nd) + NLA_HDRLEN + 8 + (master ? NLA_HDRLEN + 4 : 0));
	buf_add(b, &head, sizeof(head));
	buf_add(b, &nd, sizeof(nd));
	buf_add(b, &address, sizeof(address));
	buf_add(b, mac->byte, 6);
	buf_add(b, "\0", 2);
	if (master) {
		buf_add(b, &bridge, sizeof(bridge));
		buf_add(b, &master, 4);
	}
}

static void dump(struct host *h, const struct nlmsghdr *rq, struct buf *reply)
{
	_free_ char *bridges = sim_get(h, "/.sim/bridge");
	struct nlmsghdr done = {.nlmsg_len = NLMSG_LENGTH(4), .nlmsg_type = NLMSG_DONE,
		.nlmsg_flags = NLM_F_MULTI, .nlmsg_seq = rq->nlmsg_seq};
	_strv_ char **tables = NULL;
	int master, port, local, used, zero = 0;
	char text[32];
	struct vfctl_mac mac;

	for (const char *at = bridges; at && sscanf(at, "%d %d %31s %d\n%n", &master, &port, text, &local,
			&used) == 4; at += used)
		if (vfctl_mac_parse(text, &mac) == 0)
			put_entry(reply, rq, port, master, local, &mac);
	if (files_list(h, "/.sim/fdb", &tables) < 0)
		tables = NULL;
	for (size_t i = 0; tables && tables[i]; i++) {
		_free_ char *own = sim_get(h, "/.sim/fdb/%s", tables[i]);

		for (const char *at = own; at && sscanf(at, "%31s\n%n", text, &used) == 1; at += used)
			if (vfctl_mac_parse(text, &mac) == 0)
				put_entry(reply, rq, atoi(tables[i]), 0, false, &mac);
	}
	buf_add(reply, &done, sizeof(done));
	buf_add(reply, &zero, 4);
}

/* ixgbe_ndo_fdb_add(): netdev_uc_count() against the free entries of 128, without its own. */
static bool is_full(struct host *h, int ifindex, size_t count)
{
	_free_ char *driver = NULL;
	struct sim_pf pf;
	char path[64], bdf[VFCTL_BDF_TEXT];

	if (sim_pf_read_index(h, (unsigned)ifindex, &pf) < 0)
		return false;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", vfctl_bdf_format(&pf.bdf, bdf));
	return files_readlink(h, path, &driver) == 0 && strstr(driver, "/ixgbe") &&
		count >= 127 - pf.num_vfs;
}

static int refusal(struct host *h, int ifindex, const char *mac)
{
	_free_ char *text = sim_get(h, "/.sim/fdb-error/%d", ifindex);
	char refused[32];
	int error;

	return text && sscanf(text, "%31s %d", refused, &error) == 2 && str_eq(refused, mac) ? -error : 0;
}

static int set(struct host *h, const struct nlmsghdr *rq)
{
	const struct ndmsg *nd = NLMSG_DATA(rq);
	const struct nlattr *attr = (const void *)(nd + 1);
	_buf_ struct buf rest = {0};
	_free_ char *own = NULL;
	char text[VFCTL_MAC_TEXT], line[32];
	struct vfctl_mac mac;
	bool there = false;
	size_t count = 0;
	int used;

	if (rq->nlmsg_len < NLMSG_LENGTH(sizeof(*nd) + NLA_HDRLEN + 6) || attr->nla_type != NDA_LLADDR ||
		!(nd->ndm_flags & NTF_SELF))
		return -EINVAL;
	memcpy(mac.byte, attr + 1, 6);
	vfctl_mac_format(&mac, text);
	own = sim_get(h, "/.sim/fdb/%d", nd->ndm_ifindex);
	for (const char *at = own; at && sscanf(at, "%31s\n%n", line, &used) == 1; at += used) {
		count++;
		if (str_eq(line, text))
			there = true;
		else
			buf_printf(&rest, "%s\n", line);
	}
	if (there == (rq->nlmsg_type == RTM_NEWNEIGH))
		return there ? -EEXIST : -ENOENT;
	if (!there && is_full(h, nd->ndm_ifindex, count))
		return -ENOMEM;
	if (refusal(h, nd->ndm_ifindex, text) < 0)
		return refusal(h, nd->ndm_ifindex, text);
	if (!there)
		buf_printf(&rest, "%s\n", text);
	return sim_put(h, rest.data ? rest.data : "", "/.sim/fdb/%d", nd->ndm_ifindex);
}

int sim_neigh(struct host *h, const struct nlmsghdr *rq, struct buf *reply)
{
	if (rq->nlmsg_type != RTM_GETNEIGH)
		return set(h, rq);
	dump(h, rq, reply);
	return 0;
}
