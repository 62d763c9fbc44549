// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/address.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "base/util.h"

/*
 * One field of an address: @min..@max hex digits at @*p, up to @max_value, then @end, which is
 * skipped unless it is the terminating NUL.
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

/* Convert libvirt's name of an address, "pci_0000_3b_00_2", to the kernel's form. */
static bool spell_address(const char *text, char ret[VFCTL_BDF_TEXT])
{
	char *last;

	if (!str_starts(text, "pci_") || !str_copy(ret, VFCTL_BDF_TEXT, text + strlen("pci_")))
		return false;
	for (char *p = ret; *p; p++)
		if (*p == '_')
			*p = ':';
		else if (!isxdigit((unsigned char)*p))
			return false;
	last = strrchr(ret, ':');
	if (last)
		*last = '.';
	return last;
}

int vfctl_bdf_parse(const char *text, struct vfctl_bdf *ret_bdf)
{
	uint64_t domain = 0, bus, slot, function;
	char address[VFCTL_BDF_TEXT];
	const char *first, *p = spell_address(text, address) ? address : text;

	first = strchr(p, ':');
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

/* ---- GUIDs ---- */

/*
 * Hex digits in groups of @group, with @separator between the groups: the number of digits, or -1.
 */
static int count_digits(const char *text, int group, char separator, uint64_t *ret)
{
	uint64_t value = 0;
	int digits = 0;

	for (const char *p = text; *p; p++) {
		if (digits && digits % group == 0 && separator) {
			if (*p != separator)
				return -1;
			p++;
		}
		if (!isxdigit((unsigned char)*p))
			return -1;
		value = value << 4 | (uint64_t)(isdigit((unsigned char)*p)
				? *p - '0' : (*p | 0x20) - 'a' + 10);
		digits++;
	}
	*ret = value;
	return separator && digits % group ? -1 : digits;
}

/* NULL and the value, or the reason why the text is not valid. */
static const char *read_guid(const char *text, uint64_t *ret)
{
	bool prefixed = text[0] == '0' && (text[1] | 0x20) == 'x';
	const char *body = prefixed ? text + 2 : text;
	size_t first = strcspn(body, ":-");
	char separator = body[first];
	int digits = -1;

	if (!text[0])
		return "is empty; a GUID has 8 bytes";
	if (prefixed || !separator)
		digits = separator ? -1 : count_digits(body, 16, '\0', ret);
	else if (first == 2 || (first == 4 && separator == ':'))
		digits = count_digits(body, (int)first, separator, ret);
	if (digits == 16)
		return NULL;
	/* ibnetdiscover and others drop leading zeros after 0x. */
	if (prefixed && digits > 0 && digits < 16 && body[0] != '0')
		return NULL;
	if (digits == 12)
		return "is 6 bytes, a MAC; a GUID has 8";
	if (digits == 40)
		return "is 20 bytes, an IPoIB address; its GUID is the last 8";
	if (digits >= 0)
		return digits < 16 ? "is too short; a GUID has 8 bytes, 16 hex digits"
				   : "is too long; a GUID has 8 bytes, 16 hex digits";
	return "is not a GUID; write 8 bytes in hex, such as 02:00:c9:00:00:00:00:01 or "
	       "0x0200c90000000001";
}

int vfctl_guid_parse(const char *text, uint64_t *ret_guid)
{
	uint64_t guid;

	if (read_guid(text, &guid))
		return -EINVAL;
	*ret_guid = guid;
	return 0;
}

const char *vfctl_guid_parse_fault(const char *text)
{
	uint64_t guid;

	return read_guid(text, &guid);
}

const char *vfctl_guid_fault(uint64_t guid)
{
	if (guid == 0)
		return "is zero, which means not set: the port would never come up";
	if (guid == UINT64_MAX)
		return "is all ones, which means delete to mlx4";
	if (guid >> 56 & 1)
		return "has the group bit set (its first byte is odd), so it cannot be the "
			"address of a port";
	return NULL;
}

uint64_t vfctl_guid_derive(uint64_t own, uint16_t number)
{
	uint64_t oui = own >> 40 | 0x020000, tail = own & 0xffffff;

	return (oui & ~UINT64_C(0x010000)) << 40 | tail << 16 | number;
}

/* ---- P_Keys ---- */

int vfctl_pkey_parse(const char *text, uint16_t *ret_pkey)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	char number[8];
	uint64_t value;

	if (len < 3 || len >= sizeof(number) || text[0] != '0' || (text[1] | 0x20) != 'x')
		return -EINVAL;
	memcpy(number, text, len);
	number[len] = '\0';
	if (parse_hex(number + 2, VFCTL_PKEY_FULL - 1, &value) < 0 || value == 0)
		return -EINVAL;
	if (colon && !str_eq(colon, ":full") && !str_eq(colon, ":limited"))
		return -EINVAL;
	*ret_pkey = (uint16_t)(value | (colon && colon[1] == 'l' ? 0 : VFCTL_PKEY_FULL));
	return 0;
}

char *vfctl_pkey_format(uint16_t pkey, char buf[VFCTL_PKEY_TEXT])
{
	snprintf(buf, VFCTL_PKEY_TEXT, "0x%04x:%s", pkey & (VFCTL_PKEY_FULL - 1u),
		pkey & VFCTL_PKEY_FULL ? "full" : "limited");
	return buf;
}
