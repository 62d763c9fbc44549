/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_DEVLINK_H
#define VFCTL_NETLINK_DEVLINK_H

#include "netlink/link.h"
#include "netlink/nl.h"

/*
 * The parts of devlink that an SR-IOV host needs (Documentation/networking/devlink/). All calls
 * return 0, or with a message: -ENODEV the driver of the device does not use devlink; -EOPNOTSUPP
 * the driver does not support it, or the kernel has no devlink; -EPERM (only for modes) not root;
 * or the kernel's errno. A driver may also send a message on success, which is not a failure (ice
 * does for each mode).
 */

/* "pci", "0000:08:00.0" */
struct nl_devlink {
	const char *bus, *device;
};

/* ---- eswitch mode ---- */

/* The kernel's numbers; INACTIVE is newer than Debian 12's header. */
enum nl_eswitch_mode {
	NL_ESWITCH_LEGACY,
	NL_ESWITCH_SWITCHDEV,
	NL_ESWITCH_SWITCHDEV_INACTIVE,
};

int nl_eswitch_read(struct vfctl_ctx *ctx, const struct nl_devlink *device, uint16_t *ret_mode);
int nl_eswitch_write(struct vfctl_ctx *ctx, const struct nl_devlink *device, uint16_t mode);

/* ---- parameters ---- */

/*
 * A parameter with a number of 32 bits, such as max_macs, as it is now in use (for a parameter of
 * the driver's start: what devlink reload would use). -EOPNOTSUPP, -EINVAL or -ENODEV: the driver
 * has no such parameter.
 */
int nl_param_read(struct vfctl_ctx *ctx, const struct nl_devlink *device, const char *name,
	uint32_t *ret);

/* ---- ports ---- */

enum nl_flavour {
	NL_FLAVOUR_PHYSICAL = 0,
	NL_FLAVOUR_PCI_PF = 3,
	NL_FLAVOUR_PCI_VF = 4,
	NL_FLAVOUR_VIRTUAL = 5,
	NL_FLAVOUR_PCI_SF = 7,
	NL_FLAVOUR_UNKNOWN = UINT16_MAX,
};

struct nl_port {
	uint32_t index;
	uint16_t flavour;
	bool external; /* belongs to another host's functions, on a DPU */
	uint32_t controller;
	uint16_t pf, vf; /* the function that it represents, depending on its flavour */
	uint32_t sf;
	int ifindex;	       /* its network device, the representor; 0: none here */
	char netdev[NL_NAME];
	uint8_t address[NL_ADDRESS]; /* address of the function itself */
	uint8_t address_len;	     /* 0: the driver does not report it */
	bool has_state;		     /* only SFs have one */
	bool active, attached;
};

struct nl_ports {
	struct nl_port *v;
	size_t count;
};

int nl_ports_read(struct vfctl_ctx *ctx, const struct nl_devlink *device, struct nl_ports *ret);
void nl_ports_free(struct nl_ports *ports);
/* The port of a VF of this host; NULL: there is none. */
const struct nl_port *nl_ports_find_vf(const struct nl_ports *ports, uint32_t vf);

/* ---- rates ---- */

#define NL_RATE_NAME 64
/* Bytes per second; mlx5 and netdevsim accept only whole Mbit/s. */
#define NL_RATE_MBPS UINT64_C(125000)

enum { NL_RATE_MAX = 1 << 0, NL_RATE_SHARE = 1 << 1 };

/* The rates of a port (a leaf), or of a group of ports (a node). */
struct nl_rate {
	uint32_t port;		 /* port of a leaf */
	char node[NL_RATE_NAME]; /* name of a node; "" for a leaf */
	char parent[NL_RATE_NAME];
	uint64_t tx_max, tx_share; /* 0: no limit, no guarantee */
	/* For a write: the members that are set; the result, and the kernel's message or "". */
	uint32_t bits;
	int error;
	char text[160];
};

struct nl_rates {
	struct nl_rate *v;
	size_t count;
};

int nl_rates_read(struct vfctl_ctx *ctx, const struct nl_devlink *device, struct nl_rates *ret);
void nl_rates_free(struct nl_rates *rates);
/*
 * Write the rows in as few datagrams as possible; every row is tried. @return 0 if the kernel
 * answered all of them.
 */
int nl_rates_write(struct vfctl_ctx *ctx, const struct nl_devlink *device, struct nl_rate *rows,
	size_t count);

/* ---- health ---- */

struct nl_reporter {
	char name[32]; /* "fw", "tx" */
	bool error;    /* in an error from which it has not recovered */
	uint64_t errors, recoveries;
};

struct nl_reporters {
	struct nl_reporter *v;
	size_t count;
};

int nl_reporters_read(struct vfctl_ctx *ctx, const struct nl_devlink *device,
	struct nl_reporters *ret);
void nl_reporters_free(struct nl_reporters *reporters);

#endif
