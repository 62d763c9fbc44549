/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_ESWITCH_H
#define VFCTL_SRIOV_ESWITCH_H

#include "base/steps.h"
#include "netlink/devlink.h"
#include "sriov/attrs.h"

/*
 * The mode of a PF's switch. UNKNOWN without root privileges or on a capture that lacks it; NONE if
 * the driver has no modes. @return 0; otherwise the kernel's errno.
 */
int eswitch_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, enum vfctl_eswitch *ret);

/* Convert "legacy" or "switchdev" to the mode; false for other words. */
bool eswitch_parse(const char *word, enum vfctl_eswitch *ret);

/* devlink's number of a mode that can be set. */
uint16_t eswitch_number(enum vfctl_eswitch mode);

/*
 * Fill in the representors of a PF's VFs: the network devices with its phys_switch_id whose
 * phys_port_name is "pfNvfM". udev chooses their names, which may be anything.
 */
void representors_read(struct vfctl_ctx *ctx, struct vfctl_pf *pf);
/* ---- rates of VFs in switchdev mode ---- */

struct eswitch_rates {
	struct nl_ports ports;
	struct nl_rates rates;
};

/* If the driver does not support rates there, there are none. */
int eswitch_rates_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf,
	struct eswitch_rates *ret);
void eswitch_rates_clear(struct eswitch_rates *rates);
/*
 * The rates of one VF, instead of those that rtnetlink reported; if they are unknown, the mask
 * lacks them.
 */
void eswitch_rates_of(const struct eswitch_rates *rates, uint32_t vf, struct vfctl_vf_attrs *io);
/* Write both rates for each change that contains one. */
int eswitch_rates_write(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count);

#endif
