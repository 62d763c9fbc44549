// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	if (!*text)
		return -EINVAL;
	for (const char *p = text; *p; p++)
		if (!isdigit((unsigned char)*p))
			return -EINVAL;
	for (const char *p = text; *p; p++)
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	if (value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *ret)
{
	uint64_t value;
	int r = parse_u64(text, min, max, &value);

	if (r == 0)
		*ret = (uint32_t)value;
	return r;
}

int parse_seconds(const char *text, uint32_t min, uint32_t max, uint32_t *ret)
{
	static const struct {
		const char *name;
		uint32_t seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
	size_t len = strspn(text, "0123456789");
	uint32_t seconds = 0, count;
	char digits[16];
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (str_eq(text + len, units[i].name))
			seconds = units[i].seconds;
	if (!seconds)
		return -EINVAL;
	if (len >= sizeof(digits))
		return -ERANGE;
	snprintf(digits, sizeof(digits), "%.*s", (int)len, text);
	r = parse_u32(digits, 0, max / seconds, &count);
	if (r == 0 && count * seconds < min)
		r = -ERANGE;
	if (r == 0)
		*ret = count * seconds;
	return r;
}

int parse_u16(const char *text, uint16_t min, uint16_t max, uint16_t *ret)
{
	uint64_t value;
	int r = parse_u64(text, min, max, &value);

	if (r == 0)
		*ret = (uint16_t)value;
	return r;
}

int parse_int(const char *text, int min, int max, int *ret)
{
	bool minus = *text == '-';
	uint64_t value;
	int64_t number;
	int r;

	r = parse_u64(text + minus, 0, INT32_MAX, &value);
	if (r < 0)
		return r;
	number = minus ? -(int64_t)value : (int64_t)value;
	if (number < min || number > max)
		return -ERANGE;
	*ret = (int)number;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int parse_hex(const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		int digit = hex_digit(*text);

		if (digit < 0)
			return -EINVAL;
		if (value >> 60)
			return -ERANGE;
		value = value << 4 | (uint64_t)digit;
	}
	if (value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

static int parse_octal(const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	for (; *text; text++) {
		if (*text < '0' || *text > '7')
			return -EINVAL;
		if (value >> 61)
			return -ERANGE;
		value = value << 3 | (uint64_t)(*text - '0');
	}
	if (value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int parse_any_base(const char *text, uint64_t max, uint64_t *ret)
{
	if (text[0] != '0')
		return parse_u64(text, 0, max, ret);
	if (text[1] == 'x' || text[1] == 'X')
		return parse_hex(text, max, ret);
	return parse_octal(text, max, ret);
}

int parse_bool(const char *text, bool *ret)
{
	static const char *const message[][2] = {
		{"off", "on"}, {"no", "yes"}, {"false", "true"}, {"0", "1"}};

	for (size_t i = 0; i < ARRAY_SIZE(message); i++)
		for (int value = 0; value < 2; value++)
			if (str_eq(text, message[i][value])) {
				*ret = value;
				return 0;
			}
	return -EINVAL;
}

int parse_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	size_t digits = strspn(text, "0123456789");
	const char *suffix = text + digits;
	char number[24];
	uint64_t value;
	int r, shift = 0;

	if (!digits)
		return -EINVAL;
	if (digits >= sizeof(number))
		return -ERANGE;
	memcpy(number, text, digits);
	number[digits] = '\0';
	r = parse_u64(number, 0, UINT64_MAX, &value);
	if (r < 0)
		return r;
	if (*suffix) {
		const char *unit = strchr(units, *suffix);

		if (!unit || (suffix[1] && !str_eq(suffix + 1, "iB")))
			return -EINVAL;
		shift = 10 * (int)(unit - units + 1);
	}
	if (shift && value >> (64 - shift))
		return -ERANGE;
	*ret_bytes = value << shift;
	return 0;
}

/*
 * The number of bytes of the sequence that starts with @c, and the least code point that it may
 * encode.
 */
static int utf8_sequence(unsigned char c, uint32_t *ret_bits, uint32_t *ret_least)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800},
		{0xf8, 0xf0, 0x10000}};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if ((c & forms[i].mask) == forms[i].lead) {
			*ret_bits = c & (unsigned char)~forms[i].mask;
			*ret_least = forms[i].least;
			return (int)i + 1;
		}
	return 0;
}

bool utf8_valid(const char *text, uint64_t len)
{
	for (uint64_t i = 0; i < len;) {
		uint32_t point, least;
		int bytes = utf8_sequence((unsigned char)text[i], &point, &least);

		if (bytes == 0 || (uint64_t)bytes > len - i)
			return false;
		for (int k = 1; k < bytes; k++) {
			unsigned char c = (unsigned char)text[i + (uint64_t)k];

			if ((c & 0xc0) != 0x80)
				return false;
			point = point << 6 | (c & 0x3f);
		}
		if (point < least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
			return false;
		i += (uint64_t)bytes;
	}
	return true;
}

char *size_text(uint64_t bytes, char buf[SIZE_TEXT])
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	const uint64_t mib = UINT64_C(1) << 20, gib = UINT64_C(1) << 30;
	size_t unit = 0;

	if (bytes >= gib && bytes % mib) {
		snprintf(buf, SIZE_TEXT, "%" PRIu64 ".%" PRIu64 " GiB", bytes / gib, bytes % gib * 10 / gib);
		return buf;
	}
	while (bytes && bytes % 1024 == 0 && unit + 1 < ARRAY_SIZE(units)) {
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, SIZE_TEXT, "%" PRIu64 " %s", bytes, units[unit]);
	return buf;
}

bool uuid_valid(const char *text)
{
	bool varied = false;
	size_t i;

	for (i = 0; text[i]; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
		varied |= !dash && text[i] != text[0];
	}
	return i == 36 && varied;
}

bool libvirt_net_is(const char *name, const char *netdev)
{
	size_t bytes = 0;

	if (strncmp(name, "net_", 4) != 0)
		return false;
	for (name += 4; *netdev; name++, netdev++)
		if (*name != (isalnum((unsigned char)*netdev) ? *netdev : '_'))
			return false;
	for (; name[0] == '_' && isxdigit((unsigned char)name[1]) && isxdigit((unsigned char)name[2]);
		name += 3)
		bytes++;
	return !*name && bytes >= 6;
}
