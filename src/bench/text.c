// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"

struct span span_of(const char *text)
{
	return (struct span){text, text + strlen(text)};
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

bool span_line(struct span *io_rest, struct span *ret)
{
	const char *end;

	if (io_rest->p == io_rest->end)
		return false;
	end = memchr(io_rest->p, '\n', span_len(*io_rest));
	*ret = (struct span){io_rest->p, end ? end : io_rest->end};
	io_rest->p = end ? end + 1 : io_rest->end;
	while (ret->end > ret->p && ret->end[-1] == '\r')
		ret->end--;
	return true;
}

bool span_word(struct span *io_rest, struct span *ret)
{
	const char *p = io_rest->p;

	while (p < io_rest->end && is_blank(*p))
		p++;
	ret->p = p;
	while (p < io_rest->end && !is_blank(*p))
		p++;
	ret->end = io_rest->p = p;
	return ret->p < ret->end;
}

/* There is no field after a separator at the end of the text: *@ret is then empty. */
bool span_field(struct span *io_rest, char separator, struct span *ret)
{
	const char *end;

	*ret = (struct span){io_rest->p, io_rest->p};
	if (io_rest->p == io_rest->end)
		return false;
	end = memchr(io_rest->p, separator, span_len(*io_rest));
	*ret = span_trim((struct span){io_rest->p, end ? end : io_rest->end});
	io_rest->p = end ? end + 1 : io_rest->end;
	return true;
}

struct span span_trim(struct span s)
{
	while (s.p < s.end && is_blank(*s.p))
		s.p++;
	while (s.end > s.p && is_blank(s.end[-1]))
		s.end--;
	return s;
}

bool span_is(struct span s, const char *text)
{
	size_t len = strlen(text);

	return span_len(s) == len && memcmp(s.p, text, len) == 0;
}

bool span_starts(struct span s, const char *prefix)
{
	size_t len = strlen(prefix);

	return span_len(s) >= len && memcmp(s.p, prefix, len) == 0;
}

const char *span_find(struct span s, const char *text)
{
	return span_len(s) ? memmem(s.p, span_len(s), text, strlen(text)) : NULL;
}

const char *span_find_word(struct span s, const char *text)
{
	size_t len = strlen(text);

	for (const char *p = s.p; (size_t)(s.end - p) >= len; p++)
		if (strncasecmp(p, text, len) == 0)
			return p;
	return NULL;
}

struct span span_after(struct span s, const char *text)
{
	const char *found = span_find(s, text);

	return (struct span){found ? found + strlen(text) : s.end, s.end};
}

void span_copy(struct span s, char *dst, size_t size)
{
	size_t len = span_len(s) < size ? span_len(s) : size - 1;

	if (len)
		memcpy(dst, s.p, len);
	dst[len] = '\0';
}

/* ---- numbers ---- */

#define POWERS 23   /* powers of ten that a double represents exactly */
#define DIGITS_MAX 15 /* number of digits of integers that it represents exactly */

static const double powers[POWERS] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Plain digits with a point: both operands of the division are exact, so the result is the double
 * nearest to the text, as with strtod().
 */
static bool read_plain(struct span s, double *ret)
{
	uint64_t digits = 0;
	unsigned count = 0, behind = 0;
	bool point = false, negative = s.p < s.end && *s.p == '-';
	const char *p = s.p + negative;

	for (; p < s.end; p++) {
		if (is_digit(*p)) {
			digits = digits * 10 + (uint64_t)(*p - '0');
			behind += point;
			if (++count > DIGITS_MAX)
				return false;
		} else if (*p == '.' && !point) {
			point = true;
		} else {
			return false;
		}
	}
	if (!count)
		return false;
	*ret = (double)digits / powers[behind];
	if (negative)
		*ret = -*ret;
	return true;
}

/* Use the C locale, whatever the program's locale is. */
static int read_any(const char *text, double *ret)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
	char *end;
	double value;

	if (!c)
		return -ENOMEM;
	value = strtod_l(text, &end, c);
	freelocale(c);
	if (end == text || *end)
		return -EBADMSG;
	if (!isfinite(value))
		return -ERANGE;
	*ret = value;
	return 0;
}

static bool is_group(const char *p)
{
	return is_digit(p[0]) && is_digit(p[1]) && is_digit(p[2]) && !is_digit(p[3]);
}

/* Remove the commas, or change the only one to a point. */
static int settle_commas(char *text)
{
	char *first = strchr(text, ','), *last = strrchr(text, ','), *out = text;
	bool groups = true;

	if (!first)
		return 0;
	for (char *c = first; c; c = strchr(c + 1, ','))
		groups &= is_group(c + 1) && c > text;
	if (!groups && (first != last || strchr(text, '.')))
		return -EBADMSG;
	if (groups && first == last && !strchr(text, '.') && first - text <= 3 &&
		!str_starts(text, "0,"))
		return -ENOTUNIQ;
	if (!groups || (first == last && !strchr(text, '.'))) {
		*first = '.';
		return 0;
	}
	for (const char *in = text; *in; in++)
		if (*in != ',')
			*out++ = *in;
	*out = '\0';
	return 0;
}

int number_read(struct span s, double *ret)
{
	char text[64];
	int r;

	if (read_plain(s, ret))
		return 0;
	if (span_len(s) >= sizeof(text) || !span_len(s))
		return -EBADMSG;
	span_copy(s, text, sizeof(text));
	/* strtod() also accepts hexadecimal numbers and leading spaces. */
	if (strlen(text) != span_len(s) || strpbrk(text, "xX \t"))
		return -EBADMSG;
	r = settle_commas(text);
	return r < 0 ? r : read_any(text, ret);
}

bool number_whole(struct span s, uint64_t *ret)
{
	uint64_t value = 0;

	for (const char *p = s.p; p < s.end; p++) {
		if (!is_digit(*p) || value > (UINT64_MAX - 9) / 10)
			return false;
		value = value * 10 + (uint64_t)(*p - '0');
	}
	if (s.p == s.end)
		return false;
	*ret = value;
	return true;
}
