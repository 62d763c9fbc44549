/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_FIT_H
#define VFCTL_TUNING_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "types/tuning.h"

/** "is so", "set", "nearest", "unused", "lacks"; never NULL. */
const char *vfctl_fit_name(enum vfctl_fit fit);

/**
 * Adapt requested settings to a driver. The function is pure: it reads nothing. The limits come
 * from each driver's source (docs/reference/drivers.md has the table).
 * @param driver  driver of the function, by its link in sysfs: "igb", "mlx5_core".
 * @param infiniband  its network device is IPoIB.
 * @param now  the kernel's answer (its mask: the settings that the driver has); NULL: not known,
 *             the table is used.
 */
void vfctl_tuning_fit(const char *driver, bool infiniband, const struct vfctl_coalesce *now,
	const struct vfctl_coalesce *wanted, struct vfctl_tuning_fit *ret);

/**
 * Settings that are worth measuring with a driver, from one interrupt per packet to a long window.
 * The present setting and duplicates are left out.
 * @return the number of settings; @p ret has space for VFCTL_CANDIDATES_MAX.
 */
#define VFCTL_CANDIDATES_MAX 16
size_t vfctl_tuning_candidates(const char *driver, bool infiniband,
	const struct vfctl_coalesce *now, struct vfctl_coalesce *ret);

#endif
