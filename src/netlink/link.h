/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_LINK_H
#define VFCTL_NETLINK_LINK_H

#include "base/vfattr.h"
#include "netlink/nl.h"

#define NL_NAME 16
#define NL_ALTNAME 128
#define NL_ADDRESS 32

/* A network device, without its VFs. */
struct nl_link {
	int ifindex;
	char name[NL_NAME];
	char **altnames; /* NULL, or a list */
	uint8_t address[NL_ADDRESS];
	uint8_t address_len;
	struct vfctl_mac permanent; /* MAC of the card, whatever its present address is; zero: not known */
	uint16_t type; /* ARPHRD_ */
	bool up;       /* administratively */
	bool carrier;
	uint32_t mtu;
	int master; /* index of the bridge, bond, team or OVS datapath of which it is a port; 0: none */
	int lower;  /* index of the device that a macvtap, macvlan, ipvlan or VLAN is on; 0: none */
	bool xdp;   /* an XDP program receives its packets */
};

struct nl_links {
	struct nl_link *v;
	size_t count;
};

/*
 * Read all network devices of this network namespace. VF data is not requested: with many VFs the
 * list of VFs exceeds the 64 KiB of a netlink attribute.
 */
int nl_links_read(struct vfctl_ctx *ctx, struct nl_links *ret_links);
void nl_links_free(struct nl_links *links);
/*
 * The device of a message of nl_is_link(); false: out of memory. strv_free() its altnames. It must
 * be zeroed before.
 */
bool nl_link_parse(const struct nlmsghdr *m, struct nl_link *link);
/* Read one of them, by any of its names; -ENODEV: no device has that name. */
int nl_link_read(struct vfctl_ctx *ctx, const char *name, struct nl_links *ret_link);

/* The attributes of one VF that the kernel reports, by mask. */
struct nl_vf {
	uint32_t vf;
	struct vfctl_vf_attrs attrs; /* a GUID of 0 was never set */
};

struct nl_vfs {
	struct nl_vf *v; /* ascending by vf; an index may be missing */
	size_t count;
	uint32_t num_vf; /* number of VFs of the device according to the kernel */
	struct vfctl_mac permanent; /* of the PF, as in struct nl_link */
};

/*
 * Read all VFs of one PF with one request, however many there are: the kernel's list attribute has
 * a 16-bit length, which wraps past 64 KiB (334 Ethernet or 277 InfiniBand VFs). The message
 * nevertheless contains all VFs, which are read one after the other.
 * @return 0; -ENODEV; -EOPNOTSUPP a capture that lacks them; -EBADMSG if the list is not valid.
 */
int nl_vfs_read(struct vfctl_ctx *ctx, int ifindex, struct nl_vfs *ret_vfs);
void nl_vfs_free(struct nl_vfs *vfs);
/* The VF with that index, or NULL. */
const struct nl_vf *nl_vfs_find(const struct nl_vfs *vfs, uint32_t vf);

/*
 * One class of attributes of one VF. @bits is one class: MAC, VLAN, RATE, SPOOFCHK, ... Node and
 * port GUID are separate classes: if one IFLA_VF_INFO contains both, the kernel sets the first one,
 * ignores the other and reports success (do_setvfinfo() returns from its node GUID branch).
 */
struct nl_vf_set {
	uint32_t vf;
	uint32_t bits;
	struct vfctl_vf_attrs attrs;
	bool optional;  /* for the caller: the driver may refuse it */
	int error;      /* out */
	char text[160]; /* result: the kernel's message, or "" */
};

/*
 * Write attributes, each in a message of its own so that each has its own errno (in one message the
 * kernel stops at the first failure and does not say which), many messages in one datagram. Every
 * row is tried; the results are in the rows.
 * @return 0 if the kernel answered all rows.
 */
int nl_vfs_write(struct vfctl_ctx *ctx, int ifindex, struct nl_vf_set *rows, size_t count);

/*
 * Make a device a port of another (a bridge, a bond); @master 0: of none. The context's message
 * contains the kernel's.
 */
int nl_link_set_master(struct vfctl_ctx *ctx, int ifindex, int master);

#endif
