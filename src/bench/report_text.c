// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/report.h"

#include <math.h>
#include <stdio.h>

#include "base/util.h"

const char *vfctl_bench_verdict_name(enum vfctl_bench_verdict verdict)
{
	static const char *const names[] = {[VFCTL_BENCH_NOT_COMPARED] = "not compared",
		[VFCTL_BENCH_TOO_FEW] = "too few trials",
		[VFCTL_BENCH_NO_DIFFERENCE] = "no difference shown",
		[VFCTL_BENCH_DIFFERS] = "differs", [VFCTL_BENCH_BETTER] = "better",
		[VFCTL_BENCH_WORSE] = "worse"};

	return verdict < ARRAY_SIZE(names) ? names[verdict] : "unknown";
}

const char *bench_check_word(enum bench_check_state state)
{
	static const char *const message[] = {[BENCH_CHECK_OK] = "ok", [BENCH_CHECK_WARN] = "warn",
		[BENCH_CHECK_FAIL] = "fail"};

	return message[state];
}

/* Four significant digits, all digits before the point, and no exponent for moderate values. */
#define DIGITS_TEXT 24

static void put_digits(double value, char buf[DIGITS_TEXT])
{
	int before = value == 0 ? 1 : (int)floor(log10(fabs(value))) + 1;
	int behind = before > 3 ? 0 : before < -4 ? -1 : 4 - (before < 1 ? 1 : before);

	if (before > 9 || behind < 0)
		snprintf(buf, DIGITS_TEXT, "%.3g", value);
	else
		snprintf(buf, DIGITS_TEXT, "%.*f", behind > 2 ? 2 + (before < 1) : behind, value);
}

const char *vfctl_bench_value(double value, const char *unit, double like,
	char buf[VFCTL_BENCH_TEXT])
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T"};
	char digits[DIGITS_TEXT];
	size_t step = 0;

	if (!isfinite(value)) {
		snprintf(buf, VFCTL_BENCH_TEXT, "-");
		return buf;
	}
	if (str_eq(unit, "bit/s") || str_eq(unit, "1/s"))
		for (; step + 1 < ARRAY_SIZE(prefixes) && fabs(like) >= 1000; step++, like /= 1000)
			value /= 1000;
	put_digits(value, digits);
	snprintf(buf, VFCTL_BENCH_TEXT, "%s%s%s%s", digits, *unit ? " " : "",
		str_eq(unit, "1/s") ? prefixes[step] : "",
		str_eq(unit, "1/s") && step ? "/s" : *unit && !str_eq(unit, "bit/s") ? unit : "");
	if (str_eq(unit, "bit/s"))
		snprintf(buf, VFCTL_BENCH_TEXT, "%s %sbit/s", digits, prefixes[step]);
	return buf;
}

const char *vfctl_bench_p(double p, char buf[VFCTL_BENCH_TEXT])
{
	if (isnan(p))
		snprintf(buf, VFCTL_BENCH_TEXT, "-");
	else if (p < 0.001)
		snprintf(buf, VFCTL_BENCH_TEXT, "< 0.001");
	else
		snprintf(buf, VFCTL_BENCH_TEXT, "%.3f", p);
	return buf;
}

const char *vfctl_bench_about(double share, char buf[VFCTL_BENCH_TEXT])
{
	if (isfinite(share))
		snprintf(buf, VFCTL_BENCH_TEXT, share < 0.0995 ? "%.2g %%" : "%.0f %%", 100 * share);
	else
		snprintf(buf, VFCTL_BENCH_TEXT, "-");
	return buf;
}

const char *vfctl_bench_relative(double relative, char buf[VFCTL_BENCH_TEXT])
{
	if (isfinite(relative))
		snprintf(buf, VFCTL_BENCH_TEXT, fabs(relative) < 10 ? "%+.1f %%" : "%+.0f %%",
			100 * relative);
	else
		snprintf(buf, VFCTL_BENCH_TEXT, "-");
	return buf;
}

const struct vfctl_bench_summary *bench_summary_of(const struct vfctl_bench_column *c,
	const char *metric)
{
	for (size_t i = 0; i < c->metric_count; i++)
		if (str_eq(c->metrics[i].metric, metric))
			return &c->metrics[i];
	return NULL;
}

bool bench_is_baseline(const struct vfctl_bench_report *r, size_t configuration)
{
	return bench_is_mirror(r, r->baseline_count, configuration);
}

bool bench_is_mirror(const struct vfctl_bench_report *r, size_t at, size_t configuration)
{
	for (size_t i = 0; i < at; i++)
		if (r->baselines[i] == configuration)
			return true;
	return false;
}

bool bench_first_of_test(const struct vfctl_bench_report *r, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (str_eq(r->cells[i].test, r->cells[at].test))
			return false;
	return true;
}
