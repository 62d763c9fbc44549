// SPDX-License-Identifier: GPL-2.0-or-later
/* Which setting to use, and how certain that is, as sentences. */
#include <math.h>
#include <stdio.h>

#include "bench/report.h"

struct tally {
	size_t better, worse, same, too_few, compared;
	double p;	/* the largest adjusted p-value of those that differ */
	double logs;	/* logarithms of ratios, such that a negative one is better */
	size_t ratios;
	double changes; /* logarithms of the changes that are shown; NAN: one is not defined */
	bool mixed;	/* in some tests higher is better, in others lower */
};

/* @at: the number of the baseline. */
static struct tally tally_of(const struct vfctl_bench_report *r, size_t at, size_t configuration)
{
	struct tally t = {0};

	for (size_t i = 0; i < r->cell_count; i++) {
		const struct vfctl_bench_cell *cell = &r->cells[i];
		const struct vfctl_bench_column *c = &cell->columns[configuration];
		const struct vfctl_bench_column *base = &cell->columns[r->baselines[at]];
		const struct vfctl_bench_difference *d = &c->differences[at];
		double ratio = base->goal.trials && c->goal.trials ? c->goal.median / base->goal.median : NAN;

		if (isfinite(ratio) && ratio > 0) {
			t.logs += cell->higher_is_better ? -log(ratio) : log(ratio);
			t.ratios++;
		}
		if (d->verdict == VFCTL_BENCH_NOT_COMPARED)
			continue;
		t.compared++;
		t.changes += log1p(d->relative);
		t.mixed |= cell->higher_is_better != r->cells[0].higher_is_better;
		t.better += d->verdict == VFCTL_BENCH_BETTER;
		t.worse += d->verdict == VFCTL_BENCH_WORSE;
		t.same += d->verdict == VFCTL_BENCH_NO_DIFFERENCE;
		t.too_few += d->verdict == VFCTL_BENCH_TOO_FEW;
		if (d->verdict >= VFCTL_BENCH_BETTER)
			t.p = fmax(t.p, d->p_adjusted);
	}
	return t;
}

static const char *cells_word(size_t count)
{
	return count == 1 ? "cell" : "cells";
}

/* "better in 7 of 9 cells, worse in 1, no difference shown in 1", "no difference shown" */
static void put_counts(struct buf *out, const struct tally *t)
{
	const struct {
		size_t count;
		enum vfctl_bench_verdict verdict;
	} rows[] = {{t->better, VFCTL_BENCH_BETTER}, {t->worse, VFCTL_BENCH_WORSE},
		{t->same, VFCTL_BENCH_NO_DIFFERENCE}, {t->too_few, VFCTL_BENCH_TOO_FEW}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!rows[i].count)
			continue;
		buf_printf(out, "%s%s", out->len ? ", " : "", vfctl_bench_verdict_name(rows[i].verdict));
		if (t->compared == 1)
			continue;
		buf_printf(out, " in %zu", rows[i].count);
		if (rows[i].count == t->compared && rows[i].verdict < VFCTL_BENCH_BETTER)
			buf_puts(out, " cells");
		else if (out->len && !memchr(out->data, ',', out->len))
			buf_printf(out, " of %zu cells", t->compared);
	}
}

/* As put_counts(), and ", on average -3.1 % (p at most 0.003)" */
static char *tell_tally(const struct tally *t)
{
	_buf_ struct buf out = {0};
	char p[VFCTL_BENCH_TEXT], change[VFCTL_BENCH_TEXT];

	put_counts(&out, t);
	if (!t->better && !t->worse)
		return buf_steal(&out);
	if (isfinite(t->changes) && !t->mixed)
		buf_printf(&out, ", %s%s", t->compared > 1 ? "on average " : "",
			vfctl_bench_relative(expm1(t->changes / (double)t->compared), change));
	vfctl_bench_p(t->p, p);
	buf_printf(&out, " (p %s%s)", p[0] == '<' ? "" : t->better + t->worse > 1 ? "at most " : "= ", p);
	return buf_steal(&out);
}

static int advise_each(struct vfctl_ctx *ctx, struct report *r, size_t at)
{
	const struct vfctl_bench_report *s = &r->shown;
	int error = 0;

	for (size_t k = 0; k < s->configuration_count && error == 0; k++) {
		struct tally t = tally_of(s, at, k);
		_free_ char *message = NULL;

		if (k == s->baselines[at] || bench_is_mirror(s, at, k) || !t.compared)
			continue;
		message = tell_tally(&t);
		if (!message)
			return ctx_oom(ctx);
		error = report_advice(ctx, r, str_format("%s against %s: %s.", s->configurations[k].name,
			s->configurations[s->baselines[at]].name, message));
	}
	return error;
}

/*
 * Find the recommended one: never worse, and better somewhere; of several the one with the largest
 * lead.
 */
static size_t find_winner(const struct vfctl_bench_report *s)
{
	size_t winner = s->baseline;
	double least = 0;

	for (size_t k = 0; k < s->configuration_count; k++) {
		struct tally t = tally_of(s, 0, k);
		double mean = t.ratios ? t.logs / (double)t.ratios : 0;

		if (k != s->baseline && t.better && !t.worse && mean < least) {
			least = mean;
			winner = k;
		}
	}
	return winner;
}

static bool is_mixed(const struct vfctl_bench_report *s)
{
	for (size_t k = 0; k < s->configuration_count; k++) {
		struct tally t = tally_of(s, 0, k);

		if (t.better && t.worse)
			return true;
	}
	return false;
}

/*
 * Whether in some cell the intervals of the winner and of @k do not overlap: then the two differ.
 */
static bool told_apart(const struct vfctl_bench_report *s, size_t winner, size_t k)
{
	for (size_t i = 0; i < s->cell_count; i++) {
		const struct vfctl_bench_summary *a = &s->cells[i].columns[winner].goal;
		const struct vfctl_bench_summary *b = &s->cells[i].columns[k].goal;
		bool anti_affinity = a->trials && b->trials && (a->high < b->low || b->high < a->low);

		if (anti_affinity && fabs(a->median - b->median) >= s->noise * fabs(b->median))
			return true;
	}
	return false;
}

static char *equals_of(const struct vfctl_bench_report *s, size_t winner)
{
	_buf_ struct buf out = {0};

	buf_puts(&out, "");
	for (size_t k = 0; k < s->configuration_count; k++) {
		if (k == winner || told_apart(s, winner, k) || !tally_of(s, 0, k).ratios)
			continue;
		buf_printf(&out, "%s%s", out.len ? ", " : "", s->configurations[k].name);
	}
	return buf_steal(&out);
}

static bool any_too_few(const struct vfctl_bench_report *s, unsigned *ret_needed,
	size_t *ret_fewest)
{
	*ret_needed = 0;
	*ret_fewest = SIZE_MAX;
	for (size_t i = 0; i < s->cell_count; i++)
		for (size_t n = 0; n < s->configuration_count * s->baseline_count; n++) {
			const struct vfctl_bench_column *c = &s->cells[i].columns[n / s->baseline_count];
			const struct vfctl_bench_difference *d = &c->differences[n % s->baseline_count];

			if (!d->trials_needed)
				continue;
			*ret_needed = d->trials_needed > *ret_needed ? d->trials_needed : *ret_needed;
			*ret_fewest = d->pairs < *ret_fewest ? d->pairs : *ret_fewest;
		}
	return *ret_needed;
}

static char *tell_verdict(const struct vfctl_bench_report *s, size_t winner, bool few)
{
	const char *base = s->configurations[s->baseline].name;

	if (s->comparison)
		return s->worse ? str_format("It became worse in %zu of %zu %s%s.", s->worse, s->comparisons,
				cells_word(s->comparisons), s->better ? ", and better in others" : "")
			: s->better ? str_format("It became better in %zu of %zu %s, and worse in "
				"none.", s->better,
				s->comparisons, cells_word(s->comparisons))
			: s->differing ? str_format("Before and after differ in %zu of %zu %s; whether "
				"the change is the reason is unknown.", s->differing, s->comparisons,
				cells_word(s->comparisons))
			: few ? strdup("Too few trials to say whether it became better or worse.")
			: strdup("No difference is shown between before and after.");
	if (s->configuration_count < 2)
		return strdup("Only one configuration was measured, so there is nothing to compare.");
	if (!s->comparisons)
		return strdup("No conclusion yet: no two configurations have a successful trial in the "
			"same cell.");
	if (winner != s->baseline)
		return str_format("Use %s.", s->configurations[winner].name);
	if (is_mixed(s))
		return str_format("It depends on the workload: no configuration is better than %s "
			"everywhere. "
			"Choose by the cell that is like yours.", base);
	if (s->worse)
		return str_format("Keep %s: no other configuration is shown to be better.", base);
	if (few && s->quick)
		return strdup("A quick run shows that everything works; it gives no verdict.");
	if (few)
		return strdup("Too few trials to say which configuration to use.");
	return str_format("No configuration is shown to be better or worse than %s: keep the present "
		"one.",
		base);
}

static int advise_equals(struct vfctl_ctx *ctx, struct report *r, size_t winner)
{
	const struct vfctl_bench_report *s = &r->shown;
	_free_ char *equals = equals_of(s, winner);

	if (!equals)
		return ctx_oom(ctx);
	if (!*equals || s->comparison || s->configuration_count < 3)
		return 0;
	return report_advice(ctx, r, str_format("Equally good as far as this measurement shows: %s (no "
		"difference from %s in any cell).", equals, s->configurations[winner].name));
}

static int advise_detectable(struct vfctl_ctx *ctx, struct report *r)
{
	const struct vfctl_bench_report *s = &r->shown;
	const struct vfctl_bench_cell *worst = &s->cells[s->detectable_cell];
	char about[VFCTL_BENCH_TEXT], most[VFCTL_BENCH_TEXT];

	if (!isfinite(s->detectable_median))
		return 0;
	vfctl_bench_about(s->detectable_median, about);
	if (s->comparisons == 1)
		return report_advice(ctx, r, str_format("These trials can show a difference of about %s "
			"(80 %% power).", about));
	return report_advice(ctx, r, str_format("These trials can show differences of about %s (80 %% "
		"power, median of %zu comparisons); the least sensitive comparison is %s in "
		"%s%s%s: about %s.",
		about, s->comparisons, s->configurations[s->detectable_configuration].name, worst->test,
		*worst->parameters ? " " : "", worst->parameters,
		vfctl_bench_about(s->detectable_worst, most)));
}

int report_advise(struct vfctl_ctx *ctx, struct report *r)
{
	const struct vfctl_bench_report *s = &r->shown;
	size_t winner = find_winner(s), fewest;
	unsigned needed;
	bool few = any_too_few(s, &needed, &fewest);
	int error = report_advice(ctx, r, tell_verdict(s, winner, few));

	for (size_t at = 0; at < s->baseline_count && error == 0 && !s->comparison; at++)
		error = advise_each(ctx, r, at);
	if (error == 0 && s->comparisons && !few)
		error = advise_equals(ctx, r, winner);
	if (error == 0 && s->comparisons && !few)
		error = advise_detectable(ctx, r);
	if (error == 0 && few)
		error = report_advice(ctx, r, str_format("Too few trials: %zu; at least %u are needed "
			"for %g %%.", fewest, needed, 100 * (1 - s->alpha)));
	return error;
}
