/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_DRIVER_H
#define VFCTL_TUNING_DRIVER_H

#include "vfctl/tuning.h"

/* Legal values of a setting: @low to @high in steps; the list ends with a step of 0. */
struct tuning_range {
	uint32_t low, high, step;
};

struct tuning_limit {
	enum vfctl_coalesce_key key;
	const struct tuning_range *ranges; /* values that are times or counts */
	const uint32_t *modes; /* values that mean something else; ends with 0, or NULL */
};

/* What a driver takes: supported_coalesce_params and set_coalesce() of its ethtool_ops. */
struct tuning_driver {
	const char *name; /* as the driver link in sysfs */
	uint32_t keys;	  /* VFCTL_COALESCE_BIT() of each */
	const struct tuning_limit *limits; /* ends with no ranges; what is not in it has none */
	uint32_t dynamic; /* rx-usecs of this value: it follows the load; 0: it has no such */
	bool paired;	  /* rx-usecs speaks for both when a queue pair shares a vector: tx is refused */
	const char *warning; /* of what happens besides when something of it is set */
};

/* NULL: not in the table. @infiniband: of its IPoIB device. */
const struct tuning_driver *tuning_driver_find(const char *name, bool infiniband);
/* Is the value one that the driver takes? */
bool tuning_driver_takes(const struct tuning_driver *d, enum vfctl_coalesce_key key, uint32_t value);
/* The time or count nearest to @value; of two the lower. */
uint32_t tuning_driver_nearest(const struct tuning_driver *d, enum vfctl_coalesce_key key,
	uint32_t value);

#endif
