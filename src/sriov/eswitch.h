/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_ESWITCH_H
#define VFCTL_SRIOV_ESWITCH_H

#include "base/steps.h"
#include "netlink/devlink.h"
#include "sriov/attrs.h"
#include "core/inventory.h"

/*
 * The mode of a PF's switch. Not root, or a capture without it: UNKNOWN; a driver without modes: NONE.
 * @return 0; what the kernel said otherwise.
 */
int eswitch_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, enum vfctl_eswitch *ret);

/* "legacy" or "switchdev" to the mode; false: neither. */
bool eswitch_parse(const char *word, enum vfctl_eswitch *ret);

/* The number of a mode that can be set. */
uint16_t eswitch_number(enum vfctl_eswitch mode);

/*
 * Fill in the representors of a PF's VFs: the network devices with its phys_switch_id whose
 * phys_port_name is "pfNvfM". Names are udev's and may be anything.
 */
void representors_read(struct vfctl_ctx *ctx, struct vfctl_pf *pf);
/* ---- what VFs may send, in switchdev mode ---- */

struct eswitch_rates {
	struct nl_ports ports;
	struct nl_rates rates;
};

/* A driver that has no rates there: none. */
int eswitch_rates_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, struct eswitch_rates *ret);
void eswitch_rates_clear(struct eswitch_rates *rates);
/* Those of one VF in place of what rtnetlink said; not known: the mask then lacks them. */
void eswitch_rates_of(const struct eswitch_rates *rates, uint32_t vf, struct vfctl_vf_attrs *io);
/* Both rates of each change that names one. */
int eswitch_rates_write(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count);

#endif
