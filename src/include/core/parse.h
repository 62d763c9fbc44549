/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_PARSE_H
#define VFCTL_CORE_PARSE_H

#include <stdint.h>

/*
 * Strict: the whole text must be digits (no sign, space, base prefix or suffix). -EINVAL if it is
 * not a number, -ERANGE outside min..max.
 */
int parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *ret);
/* Seconds: "90", "90s", "30m" or "1h"; errors as parse_u32(), of the value in seconds. */
int parse_seconds(const char *text, uint32_t min, uint32_t max, uint32_t *ret);
#define SIZE_TEXT 32
/*
 * "8 GiB", "1536 MiB", "512 bytes": the largest unit in which @bytes is a whole number. From 1 GiB
 * on, what is not whole MiB is rounded down to a tenth ("31.4 GiB"), never up: it may be what is
 * free.
 */
char *size_text(uint64_t bytes, char buf[SIZE_TEXT]);
/* The ending of a noun after a number: "1 VF", "2 VFs". */
static inline const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif
