/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MODERATION_H
#define MODERATION_H

#include <stdbool.h>
#include <stdint.h>

#define ATTRIBUTES 26 /* of ETHTOOL_MSG_COALESCE_SET, up to the CQE modes */

/* A call of a driver's set_coalesce(): what it has, and what the kernel asks for. */
struct moderation {
	uint32_t now[ATTRIBUTES];
	uint32_t want[ATTRIBUTES]; /* what it keeps, when it says yes */
	bool up;		   /* its interface is */
	bool lro;		   /* large receive offload is on */
	bool reset;		   /* it reset the PF */
};

struct sim_driver {
	const char *name;
	uint32_t has; /* 1 << attribute: supported_coalesce_params; 0: no set_coalesce() */
	uint32_t first[ATTRIBUTES]; /* as after a probe */
	int (*set)(struct moderation *m);
	bool late; /* a value is reported with the answer after the next */
};

/* NULL: it has no interrupt moderation. */
const struct sim_driver *sim_driver_find(const char *name, bool infiniband);

#endif
