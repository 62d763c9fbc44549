/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_INFINIBAND_GID_H
#define VFCTL_INFINIBAND_GID_H

#include <stdint.h>

/*
 * Read a GID as sysfs prints it, eight groups of four hex digits: the subnet prefix and the port
 * GUID (IBTA 4.1.1). -EINVAL for anything else.
 */
int gid_parse(const char *text, uint64_t *ret_prefix, uint64_t *ret_guid);
static inline int gid_parse_guid(const char *text, uint64_t *ret_guid)
{
	uint64_t prefix;

	return gid_parse(text, &prefix, ret_guid);
}

#endif
