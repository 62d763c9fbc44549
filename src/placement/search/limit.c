// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/search/search.h"

#include <time.h>

uint64_t search_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool limit_reached(struct limit *limit)
{
	limit->reached |= *limit->cancelled || search_now_ms() >= limit->deadline_ms;
	return limit->reached;
}
