// SPDX-License-Identifier: GPL-2.0-or-later
#include "infiniband/gid.h"

#include <errno.h>

#include "base/util.h"

#define HALF 19 /* "fe80:0000:0000:0000" */

int gid_parse(const char *text, uint64_t *ret_prefix, uint64_t *ret_guid)
{
	char half[HALF + 1];
	uint64_t prefix, guid;

	if (strlen(text) != 2 * HALF + 1 || text[HALF] != ':')
		return -EINVAL;
	memcpy(half, text, HALF);
	half[HALF] = '\0';
	if (vfctl_guid_parse(half, &prefix) < 0 || vfctl_guid_parse(text + HALF + 1, &guid) < 0)
		return -EINVAL;
	*ret_prefix = prefix;
	*ret_guid = guid;
	return 0;
}
