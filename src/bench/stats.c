// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/stats.h"

#include <errno.h>
#include <math.h>

/* ---- order ---- */

#define FEW 64
#define DIGIT_BITS 11
#define DIGITS 6 /* with 11 bits each for 64 bits */

static void sort_few(double *v, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		double value = v[i];
		size_t k = i;

		for (; k > 0 && v[k - 1] > value; k--)
			v[k] = v[k - 1];
		v[k] = value;
	}
}

/*
 * Bits that sort like the values: of negative values all bits are inverted, of others the sign bit.
 */
static uint64_t key_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits ^ (bits >> 63 ? UINT64_MAX : (uint64_t)1 << 63);
}

static double value_of(uint64_t key)
{
	uint64_t bits = key ^ (key >> 63 ? (uint64_t)1 << 63 : UINT64_MAX);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Sort by one digit: false if it is the same in all values, and nothing was moved. */
static bool sort_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned digit)
{
	uint32_t starts[1 << DIGIT_BITS] = {0};
	uint64_t mask = ARRAY_SIZE(starts) - 1;
	unsigned shift = digit * DIGIT_BITS;
	uint32_t next = 0;

	for (size_t i = 0; i < count; i++)
		starts[from[i] >> shift & mask]++;
	if (starts[from[0] >> shift & mask] == count)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		uint32_t here = starts[i];

		starts[i] = next;
		next += here;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i] >> shift & mask]++] = from[i];
	return true;
}

int sort_doubles(double *v, size_t count)
{
	_free_ uint64_t *room = NULL;
	uint64_t *from, *to;

	if (count <= FEW) {
		sort_few(v, count);
		return 0;
	}
	room = count < UINT32_MAX ? reallocarray(NULL, count, 2 * sizeof(*room)) : NULL;
	if (!room)
		return -ENOMEM;
	from = room;
	to = room + count;
	for (size_t i = 0; i < count; i++)
		from[i] = key_of(v[i]);
	for (unsigned digit = 0; digit < DIGITS; digit++)
		if (sort_digit(from, to, count, digit)) {
			uint64_t *other = from;

			from = to;
			to = other;
		}
	for (size_t i = 0; i < count; i++)
		v[i] = value_of(from[i]);
	return 0;
}

double quantile_sorted(const double *sorted, size_t count, double p)
{
	double rank = (double)(count - 1) * p, part = rank - floor(rank);
	size_t low = (size_t)rank;

	if (!count)
		return NAN;
	/* Between two equal values, rounding must not change the result. */
	if (part <= 0 || low + 1 >= count || sorted[low] == sorted[low + 1])
		return sorted[low];
	/*
	 * This is not low + part * (high - low), because the difference of two huge values is inf.
	 */
	return (1 - part) * sorted[low] + part * sorted[low + 1];
}

static double *sorted_copy(const double *v, size_t count)
{
	double *copy = reallocarray(NULL, count ? count : 1, sizeof(*copy));

	if (!copy)
		return NULL;
	if (count)
		memcpy(copy, v, count * sizeof(*copy));
	if (sort_doubles(copy, count) < 0) {
		free(copy);
		return NULL;
	}
	return copy;
}

double median_of(const double *v, size_t count)
{
	_free_ double *sorted = sorted_copy(v, count);

	return sorted ? quantile_sorted(sorted, count, 0.5) : NAN;
}

/* ---- the samples of one run ---- */

/* Each value is divided before it is added, because the sum of huge values may overflow. */
static double mean_of(const double *v, size_t count)
{
	double mean = 0, rest = 0;

	for (size_t i = 0; i < count; i++)
		mean += v[i] / (double)count;
	if (!isfinite(mean))
		return mean;
	for (size_t i = 0; i < count; i++)
		rest += (v[i] - mean) / (double)count;
	return mean + rest;
}

static double deviation_of(const double *v, size_t count, double mean)
{
	double largest = 0, sum = 0;

	if (count < 2)
		return NAN;
	for (size_t i = 0; i < count; i++)
		largest = fmax(largest, fabs(v[i] - mean));
	if (largest == 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		double part = (v[i] - mean) / largest;

		sum += part * part;
	}
	return largest * sqrt(sum / (double)(count - 1));
}

int sample_summary(const double *v, size_t count, struct sample_summary *ret)
{
	_free_ double *sorted = sorted_copy(v, count);

	if (!sorted)
		return -ENOMEM;
	if (!count || !isfinite(sorted[0]) || !isfinite(sorted[count - 1]))
		return -EDOM;
	*ret = (struct sample_summary){.min = sorted[0], .max = sorted[count - 1],
		.mean = mean_of(v, count), .p50 = quantile_sorted(sorted, count, 0.5),
		.p90 = quantile_sorted(sorted, count, 0.9), .p95 = quantile_sorted(sorted, count, 0.95),
		.p99 = quantile_sorted(sorted, count, 0.99),
		.p99_9 = quantile_sorted(sorted, count, 0.999)};
	ret->stdev = deviation_of(v, count, ret->mean);
	return 0;
}
