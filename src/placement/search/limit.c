// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/search/search.h"

bool limit_reached(struct limit *limit)
{
	limit->reached |= *limit->cancelled || (uint64_t)now_ms() >= limit->deadline_ms;
	return limit->reached;
}
