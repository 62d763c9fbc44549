/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_PARSE_H
#define VFCTL_BASE_PARSE_H

#include <stdbool.h>
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

/* Strict readers, like parse_u32(). */
int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret);
int parse_u16(const char *text, uint16_t min, uint16_t max, uint16_t *ret);
/* A decimal number with an optional minus, as the kernel prints one. */
int parse_int(const char *text, int min, int max, int *ret);
/* A hexadecimal number with or without 0x. */
int parse_hex(const char *text, uint64_t max, uint64_t *ret);
/* A number as strtoul() reads it in base 0: 0x1f, 31 or 037. */
int parse_any_base(const char *text, uint64_t max, uint64_t *ret);
/* Like vfctl_cpuset_parse(), but numbers that no CPU can have are left out instead of -ERANGE. */
struct vfctl_cpuset;
int cpuset_parse_clipped(const char *text, struct vfctl_cpuset *ret_set);
/* "on", "yes", "true", "1" and their opposites; nothing else. */
int parse_bool(const char *text, bool *ret);
/* "4096", "16KiB", "8GiB", "8G" (powers of 1024; K, M, G, T with or without iB). */
int parse_size(const char *text, uint64_t *ret_bytes);
/* Whether a UUID is 8-4-4-4-12 hex digits and not all equal, which libvirt rejects. */
bool uuid_valid(const char *text);
/* Whether the text is UTF-8 without overlong forms and surrogates. */
bool utf8_valid(const char *text, uint64_t len);
/*
 * Whether @name is libvirt's name for the network device @netdev: "net_ens1f0_52_54_00_12_34_56".
 * libvirt replaces all but letters and digits by '_' and appends the hardware address.
 */
bool libvirt_net_is(const char *name, const char *netdev);

#endif
