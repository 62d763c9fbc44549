// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfctl/types.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "base/util.h"

/*
 * One field of an address: @min..@max hex digits at @*p, up to @max_value, then
 * @end (which is stepped over unless it is the terminating NUL).
 */
static bool hex_field(const char **p, unsigned min, unsigned max, char end,
	uint64_t max_value, uint64_t *ret)
{
	char digits[9];
	unsigned n = 0;

	while (n < max && isxdigit((unsigned char)(*p)[n])) {
		digits[n] = (*p)[n];
		n++;
	}
	digits[n] = '\0';
	if (n < min || (*p)[n] != end || parse_hex(digits, max_value, ret) < 0)
		return false;
	*p += n + (end != '\0');
	return true;
}

int vfctl_bdf_parse(const char *text, struct vfctl_bdf *ret_bdf)
{
	uint64_t domain = 0, bus, slot, function;
	const char *first = strchr(text, ':');
	const char *p = text;

	if (!first)
		return -EINVAL;
	if (strchr(first + 1, ':') && !hex_field(&p, 4, 8, ':', UINT32_MAX, &domain))
		return -EINVAL;
	if (!hex_field(&p, 2, 2, ':', 0xff, &bus) || !hex_field(&p, 2, 2, '.', 31, &slot) ||
		!hex_field(&p, 1, 1, '\0', 7, &function))
		return -EINVAL;
	*ret_bdf = (struct vfctl_bdf){
		.domain = (uint32_t)domain,
		.bus = (uint8_t)bus,
		.slot = (uint8_t)slot,
		.function = (uint8_t)function,
	};
	return 0;
}

char *vfctl_bdf_format(const struct vfctl_bdf *bdf, char buf[VFCTL_BDF_TEXT])
{
	snprintf(buf, VFCTL_BDF_TEXT, "%04x:%02x:%02x.%x", bdf->domain, bdf->bus,
		bdf->slot & 31u, bdf->function & 7u);
	return buf;
}

int vfctl_bdf_compare(const struct vfctl_bdf *a, const struct vfctl_bdf *b)
{
	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	if (a->bus != b->bus)
		return a->bus < b->bus ? -1 : 1;
	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return (int)a->function - (int)b->function;
}

int vfctl_mac_parse(const char *text, struct vfctl_mac *ret_mac)
{
	struct vfctl_mac mac;
	const char *p = text;
	char separator = '\0';

	if (strlen(text) == 17)
		separator = text[2];
	if (separator != ':' && separator != '-')
		return -EINVAL;
	for (int i = 0; i < 6; i++) {
		uint64_t byte;

		if (!hex_field(&p, 2, 2, i < 5 ? separator : '\0', 0xff, &byte))
			return -EINVAL;
		mac.byte[i] = (uint8_t)byte;
	}
	*ret_mac = mac;
	return 0;
}

char *vfctl_mac_format(const struct vfctl_mac *mac, char buf[VFCTL_MAC_TEXT])
{
	const uint8_t *b = mac->byte;

	snprintf(buf, VFCTL_MAC_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3],
		b[4], b[5]);
	return buf;
}

bool vfctl_mac_is_zero(const struct vfctl_mac *mac)
{
	static const struct vfctl_mac zero;

	return memcmp(mac, &zero, sizeof(zero)) == 0;
}

bool vfctl_mac_is_multicast(const struct vfctl_mac *mac)
{
	return mac->byte[0] & 1;
}

char *vfctl_guid_format(uint64_t guid, char buf[VFCTL_GUID_TEXT])
{
	char *p = buf;

	for (int shift = 56; shift >= 0; shift -= 8)
		p += sprintf(p, shift ? "%02x:" : "%02x", (unsigned)(guid >> shift) & 0xff);
	return buf;
}
