// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#define NAME_BYTES 32

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

size_t name_distance(const char *a, const char *b)
{
	size_t row[NAME_BYTES + 1], n = strlen(b);

	if (strlen(a) > NAME_BYTES || n > NAME_BYTES)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t above = row[j + 1];

			row[j + 1] = least(above + 1, row[j] + 1, corner + (a[i] != b[j]));
			corner = above;
		}
	}
	return row[n];
}

struct nearest nearest_to(const char *name)
{
	return (struct nearest){.name = name, .distance = strlen(name) / 3 + 2};
}

void nearest_offer(struct nearest *search, const char *candidate)
{
	size_t d = name_distance(search->name, candidate);

	if (d == search->distance && search->best)
		search->tied = true;
	if (d >= search->distance)
		return;
	search->tied = false;
	search->distance = d;
	search->best = candidate;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool differs_in_digits(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !(is_digit(*a) && is_digit(*b)))
			return false;
	return !a[strspn(a, "0123456789")] && !b[strspn(b, "0123456789")];
}

void nearest_offer_name(struct nearest *search, const char *candidate)
{
	if (!differs_in_digits(search->name, candidate))
		nearest_offer(search, candidate);
}

const char *nearest_only(const struct nearest *search)
{
	return search->tied || search->distance * 2 > strlen(search->name) ? NULL : search->best;
}
