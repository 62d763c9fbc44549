// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cpuset.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "base/parse.h"

#define WORDS (VFCTL_CPU_MAX / 64)

/* @clip: return VFCTL_CPU_MAX, which no set can contain, for a number past the last CPU. */
static int read_number(const char **p, bool clip, unsigned *ret)
{
	unsigned value = 0;

	if (!isdigit((unsigned char)**p))
		return -EINVAL;
	for (; isdigit((unsigned char)**p); (*p)++) {
		value = value * 10 + (unsigned)(**p - '0');
		if (value < VFCTL_CPU_MAX)
			continue;
		if (!clip)
			return -ERANGE;
		value = VFCTL_CPU_MAX;
	}
	*ret = value;
	return 0;
}

static int parse(const char *text, bool clip, struct vfctl_cpuset *ret_set)
{
	struct vfctl_cpuset set = {0};
	const char *p = text;
	int r;

	while (isspace((unsigned char)*p))
		p++;
	while (*p && !isspace((unsigned char)*p)) {
		unsigned first, last;

		r = read_number(&p, clip, &first);
		if (r < 0)
			return r;
		last = first;
		if (*p == '-') {
			p++;
			r = read_number(&p, clip, &last);
			if (r < 0)
				return r;
		}
		if (last < first)
			return -EINVAL;
		for (unsigned cpu = first; cpu <= last; cpu++)
			vfctl_cpuset_add(&set, cpu);
		if (*p == ',' && isdigit((unsigned char)p[1]))
			p++;
		else
			break;
	}
	while (isspace((unsigned char)*p))
		p++;
	if (*p)
		return -EINVAL;
	*ret_set = set;
	return 0;
}

int vfctl_cpuset_parse(const char *text, struct vfctl_cpuset *ret_set)
{
	return parse(text, false, ret_set);
}

int cpuset_parse_clipped(const char *text, struct vfctl_cpuset *ret_set)
{
	return parse(text, true, ret_set);
}

size_t vfctl_cpuset_format(const struct vfctl_cpuset *set, char *buf, size_t size)
{
	size_t len = 0;

	if (size)
		buf[0] = '\0';
	for (int first = vfctl_cpuset_next(set, 0); first >= 0;) {
		int last = first, n;

		while (last + 1 < VFCTL_CPU_MAX && vfctl_cpuset_has(set, (unsigned)last + 1))
			last++;
		n = snprintf(len < size ? buf + len : NULL, len < size ? size - len : 0,
			last > first ? "%s%d-%d" : "%s%d", len ? "," : "", first, last);
		len += (size_t)n;
		first = last + 1 < VFCTL_CPU_MAX ? vfctl_cpuset_next(set, (unsigned)last + 1)
						 : -1;
	}
	return len;
}

void vfctl_cpuset_add(struct vfctl_cpuset *set, unsigned cpu)
{
	if (cpu < VFCTL_CPU_MAX)
		set->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

void vfctl_cpuset_remove(struct vfctl_cpuset *set, unsigned cpu)
{
	if (cpu < VFCTL_CPU_MAX)
		set->word[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
}

bool vfctl_cpuset_has(const struct vfctl_cpuset *set, unsigned cpu)
{
	return cpu < VFCTL_CPU_MAX && set->word[cpu / 64] >> cpu % 64 & 1;
}

bool vfctl_cpuset_empty(const struct vfctl_cpuset *set)
{
	return vfctl_cpuset_next(set, 0) < 0;
}

unsigned vfctl_cpuset_count(const struct vfctl_cpuset *set)
{
	unsigned n = 0;

	for (size_t i = 0; i < WORDS; i++)
		/*
		 * Nearly all words of a set are empty, and without -mpopcnt counting is a function
		 * call.
		 */
		if (set->word[i])
			n += (unsigned)__builtin_popcountll(set->word[i]);
	return n;
}

int vfctl_cpuset_next(const struct vfctl_cpuset *set, unsigned from)
{
	for (size_t i = from / 64; i < WORDS; i++) {
		uint64_t word = set->word[i];

		if (i == from / 64)
			word &= ~UINT64_C(0) << from % 64;
		if (word)
			return (int)(i * 64) + __builtin_ctzll(word);
	}
	return -1;
}

void vfctl_cpuset_or(struct vfctl_cpuset *a, const struct vfctl_cpuset *b)
{
	for (size_t i = 0; i < WORDS; i++)
		a->word[i] |= b->word[i];
}

void vfctl_cpuset_and(struct vfctl_cpuset *a, const struct vfctl_cpuset *b)
{
	for (size_t i = 0; i < WORDS; i++)
		a->word[i] &= b->word[i];
}

void vfctl_cpuset_andnot(struct vfctl_cpuset *a, const struct vfctl_cpuset *b)
{
	for (size_t i = 0; i < WORDS; i++)
		a->word[i] &= ~b->word[i];
}

bool vfctl_cpuset_intersects(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b)
{
	for (size_t i = 0; i < WORDS; i++)
		if (a->word[i] & b->word[i])
			return true;
	return false;
}

bool vfctl_cpuset_within(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b)
{
	for (size_t i = 0; i < WORDS; i++)
		if (a->word[i] & ~b->word[i])
			return false;
	return true;
}
