/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_LINK_H
#define VFCTL_NETLINK_LINK_H

#include "netlink/nl.h"
#include "core/vfattr.h"

#define NL_NAME 16
#define NL_ADDRESS 32

/* A network device, without its VFs. */
struct nl_link {
	int ifindex;
	char name[NL_NAME];
	char **altnames; /* NULL or a list */
	uint8_t address[NL_ADDRESS];
	uint8_t address_len;
	struct vfctl_mac permanent; /* of the card, whatever address it has now; zero: not known */
	uint16_t type; /* ARPHRD_ */
	bool up;       /* administratively */
	bool carrier;
	uint32_t mtu;
};

struct nl_links {
	struct nl_link *v;
	size_t count;
};

/*
 * All network devices of this network namespace. VF data is not asked for: with many
 * VFs it makes the answer overflow (facts: rtnetlink, 64 KiB lists).
 */
int nl_links_read(struct vfctl_ctx *ctx, struct nl_links *ret_links);
void nl_links_free(struct nl_links *links);
/* One of them; -ENODEV: there is none of that name. */
int nl_link_read(struct vfctl_ctx *ctx, const char *name, struct nl_links *ret_link);

/* What the kernel reports of one VF; the mask says which members it did report. */
struct nl_vf {
	uint32_t vf;
	struct vfctl_vf_attrs attrs; /* a GUID of 0 is one that was never set */
};

struct nl_vfs {
	struct nl_vf *v; /* ascending by vf; an index may be missing */
	size_t count;
	uint32_t num_vf; /* VFs the kernel says the device has */
	struct vfctl_mac permanent; /* of the PF, as in struct nl_link */
};

/*
 * The VFs of one PF in one request, any number of them: the kernel's list attribute has a
 * 16-bit length that wraps past 64 KiB (334 Ethernet or 277 InfiniBand VFs), but the VFs
 * stand in the message all the same and are read by walking them.
 * @return 0; -ENODEV; -EOPNOTSUPP on a capture without it; -EBADMSG when the list makes
 * no sense.
 */
int nl_vfs_read(struct vfctl_ctx *ctx, int ifindex, struct nl_vfs *ret_vfs);
void nl_vfs_free(struct nl_vfs *vfs);
/* The VF with that index, or NULL. */
const struct nl_vf *nl_vfs_find(const struct nl_vfs *vfs, uint32_t vf);

/*
 * One attribute class of one VF. @bits is one class: MAC, VLAN, RATE, SPOOFCHK, ... Node and
 * port GUID are two: of two in one IFLA_VF_INFO the kernel takes the first, drops the other
 * and reports success (do_setvfinfo() returns from its node GUID branch).
 */
struct nl_vf_set {
	uint32_t vf;
	uint32_t bits;
	struct vfctl_vf_attrs attrs;
	int error;      /* out */
	char text[160]; /* out: the kernel's words, or "" */
};

/*
 * Write attributes, each in a message of its own so that each has its own errno (in one
 * message the kernel stops at the first failure and does not say which), many messages
 * in one datagram. Every row is tried; the outcomes are in the rows.
 * @return 0 when the kernel answered all rows.
 */
int nl_vfs_write(struct vfctl_ctx *ctx, int ifindex, struct nl_vf_set *rows, size_t count);

/*
 * Make a device a port of another (a bridge, a bond); @master 0: of none. The kernel's words are in
 * the context's.
 */
int nl_link_set_master(struct vfctl_ctx *ctx, int ifindex, int master);

#endif
