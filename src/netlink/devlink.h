/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_DEVLINK_H
#define VFCTL_NETLINK_DEVLINK_H

#include "netlink/link.h"
#include "netlink/nl.h"

/*
 * Of devlink what an SR-IOV host needs (Documentation/networking/devlink/). All calls return 0, or
 * with words: -ENODEV the driver of the device is not in devlink; -EOPNOTSUPP it knows nothing of the
 * kind, or the kernel has no devlink; -EPERM (modes alone) not root; or what the kernel said. A
 * driver may send words with a success as well: those are no failure (ice does at each mode).
 */

/* "pci", "0000:08:00.0" */
struct nl_devlink {
	const char *bus, *device;
};

/* ---- eswitch mode ---- */

/* The numbers are the kernel's; INACTIVE is newer than Debian 12's header. */
enum nl_eswitch_mode {
	NL_ESWITCH_LEGACY,
	NL_ESWITCH_SWITCHDEV,
	NL_ESWITCH_SWITCHDEV_INACTIVE,
};

int nl_eswitch_read(struct vfctl_ctx *ctx, const struct nl_devlink *device, uint16_t *ret_mode);
int nl_eswitch_write(struct vfctl_ctx *ctx, const struct nl_devlink *device, uint16_t mode);

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
	bool external; /* of another host's functions, on a DPU */
	uint32_t controller;
	uint16_t pf, vf; /* which function it stands for, as its flavour has them */
	uint32_t sf;
	int ifindex;	       /* its network device, the representor; 0: none here */
	char netdev[NL_NAME];
	uint8_t address[NL_ADDRESS]; /* the function's own */
	uint8_t address_len;	     /* 0: the driver does not tell */
	bool has_state;		     /* SFs have */
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
/* Bytes a second; mlx5 and netdevsim take whole Mbit/s alone. */
#define NL_RATE_MBPS UINT64_C(125000)

enum { NL_RATE_MAX = 1 << 0, NL_RATE_SHARE = 1 << 1 };

/* What a port (a leaf), or a group of them (a node), may send. */
struct nl_rate {
	uint32_t port;		 /* of a leaf */
	char node[NL_RATE_NAME]; /* of a node its name; "" of a leaf */
	char parent[NL_RATE_NAME];
	uint64_t tx_max, tx_share; /* 0: no limit, nothing assured */
	/* Of a write: which are set; the outcome, and the kernel's words or "". */
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
/* In as few datagrams as may be; every row is tried. @return 0 when the kernel answered all. */
int nl_rates_write(struct vfctl_ctx *ctx, const struct nl_devlink *device, struct nl_rate *rows,
	size_t count);

/* ---- health ---- */

struct nl_reporter {
	char name[32]; /* "fw", "tx" */
	bool error;    /* in an error that it has not recovered from */
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
