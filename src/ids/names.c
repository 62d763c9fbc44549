// SPDX-License-Identifier: GPL-2.0-or-later
#include "ids/pools.h"

const char *vfctl_id_strategy_name(enum vfctl_id_strategy strategy)
{
	return strategy == VFCTL_ID_LOWEST ? "lowest" : "hash";
}

const char *vfctl_id_source_name(enum vfctl_id_source source)
{
	static const char *const names[] = {"ranges", "host", "mac"};

	return names[source];
}

const char *vfctl_id_state_name(enum vfctl_id_state state)
{
	static const char *const names[] = {"leased", "block", "resting", "quarantined"};

	return names[state];
}

const char *vfctl_id_kind_name(enum vfctl_id_kind kind)
{
	return kind == VFCTL_ID_GUID ? "guid" : "mac";
}
