// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/report.h"
#include "bench/svg.h"

#include <math.h>
#include <stdio.h>

#define WIDTH 720.0
#define LEFT 84.0
#define RIGHT 700.0
#define TOP 16.0

void html_put(struct buf *out, const char *text)
{
	for (; text && *text; text++) {
		const char *entity = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;"
			: *text == '"' ? "&quot;" : *text == '\'' ? "&#39;" : NULL;

		if (entity)
			buf_puts(out, entity);
		else if ((unsigned char)*text >= ' ' || *text == '\n' || *text == '\t')
			buf_add(out, text, 1);
	}
}

/* ---- axes ---- */

struct axis {
	double low, high; /* values at @from and @to */
	double from, to;  /* pixels */
	bool log;
};

static double at_px(const struct axis *a, double value)
{
	double part = a->log ? log(value / a->low) / log(a->high / a->low)
		: (value - a->low) / (a->high - a->low);

	part = part < 0 || isnan(part) ? 0 : part > 1 ? 1 : part;
	return a->from + part * (a->to - a->from);
}

/* A little room at both ends; never empty. */
static struct axis axis_of(double low, double high, bool log, double from, double to)
{
	double room;

	if (log) {
		low = low > 0 ? low : 1e-3;
		high = high > low ? high : low;
		room = fmax(pow(high / low, 0.06), 1.1);
		return (struct axis){low / room, high * room, from, to, true};
	}
	room = high > low ? (high - low) * 0.06 : fabs(high) * 0.1 + 1e-9;
	return (struct axis){low == 0 ? 0 : low - room, high + room, from, to, false};
}

/* 1, 2 or 5 times a power of ten. */
static double step_of(double range, unsigned count)
{
	double rough = range / count, power = pow(10, floor(log10(rough)));
	double part = rough / power;

	return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

#define TICKS_MAX 14

/* As few digits as tell them apart: "500 us", "2.5 Gbit/s". */
static const char *tick_text(double value, const char *unit, double like, char text[VFCTL_BENCH_TEXT])
{
	char *end, *zero;

	vfctl_bench_value(value, unit, like, text);
	end = text + strcspn(text, " ");
	zero = end;
	while (memchr(text, '.', (size_t)(zero - text)) && zero > text && strchr("0.", zero[-1])) {
		zero--;
		if (*zero == '.')
			break;
	}
	memmove(zero, end, strlen(end) + 1);
	return text;
}

static size_t linear_ticks(const struct axis *a, double ticks[TICKS_MAX])
{
	double step = step_of(a->high - a->low, fabs(a->to - a->from) > 300 ? 6 : 5);
	size_t count = 0;

	for (double v = ceil(a->low / step) * step; v <= a->high && count < TICKS_MAX; v += step)
		ticks[count++] = fabs(v) < step / 1e6 ? 0 : v;
	return count;
}

/* Powers of ten, and 2 and 5 of them where there is room. */
static size_t log_ticks(const struct axis *a, double ticks[TICKS_MAX])
{
	static const double parts[] = {1, 2, 5};
	double decades = log10(a->high / a->low);
	size_t count = 0, each = decades < 3 ? 3 : 1;
	int every = (int)ceil(decades / 10);

	if (decades < 0.8)
		return linear_ticks(a, ticks);
	for (int d = (int)floor(log10(a->low)); d <= (int)ceil(log10(a->high)); d += every < 1 ? 1 : every)
		for (size_t i = 0; i < each && count < TICKS_MAX; i++) {
			double v = parts[i] * pow(10, d);

			if (v >= a->low && v <= a->high)
				ticks[count++] = v;
		}
	return count;
}

static size_t ticks_of(const struct axis *a, double ticks[TICKS_MAX])
{
	return a->log ? log_ticks(a, ticks) : linear_ticks(a, ticks);
}

static void tick_y(struct buf *out, double y, const char *text)
{
	buf_printf(out, "<path class=\"g\" d=\"M%.0f %.1fH%.0f\"/><text class=\"e\" x=\"%.0f\" y=\"%.1f\">%s"
		"</text>", LEFT, y, RIGHT, LEFT - 8, y + 4, text);
}

static void tick_x(struct buf *out, double x, double bottom, const char *text)
{
	buf_printf(out, "<path class=\"g\" d=\"M%.1f %.0fV%.0f\"/><text class=\"m\" x=\"%.1f\" y=\"%.0f\">%s"
		"</text>", x, TOP, bottom, x, bottom + 18, text);
}

static void axis_y(struct buf *out, const struct axis *a, const char *unit)
{
	double ticks[TICKS_MAX];
	size_t count = ticks_of(a, ticks);
	char text[VFCTL_BENCH_TEXT];

	for (size_t i = 0; i < count; i++)
		tick_y(out, at_px(a, ticks[i]), tick_text(ticks[i], unit,
			a->log ? ticks[i] : a->high, text));
}

static void axis_x(struct buf *out, const struct axis *a, const char *unit, double bottom)
{
	double ticks[TICKS_MAX];
	size_t count = ticks_of(a, ticks);
	char text[VFCTL_BENCH_TEXT];

	for (size_t i = 0; i < count; i++)
		tick_x(out, at_px(a, ticks[i]), bottom, tick_text(ticks[i], unit,
			a->log ? ticks[i] : a->high, text));
}

/* ---- frame ---- */

static void open_figure(struct buf *out, unsigned id, double height, const char *title,
	const char *said)
{
	buf_printf(out, "<figure><svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"t%u d%u\">"
		"<title id=\"t%u\">", WIDTH, height, id, id, id);
	html_put(out, title);
	buf_printf(out, "</title><desc id=\"d%u\">", id);
	html_put(out, said);
	buf_puts(out, "</desc>");
}

static void marker(struct buf *out, size_t k, double x, double y)
{
	switch (k / SVG_COLOURS % 2 * 2 + k % 4) {
	case 0:
		buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", x, y);
		break;
	case 1:
		buf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\"/>", x - 3.5, y - 3.5);
		break;
	case 2:
		buf_printf(out, "<path d=\"M%.1f %.1fl5 5-5 5-5-5z\"/>", x, y - 5);
		break;
	default:
		buf_printf(out, "<path d=\"M%.1f %.1fl5 9h-10z\"/>", x, y - 5.5);
		break;
	}
}

static void close_figure(struct buf *out, const struct vfctl_bench_report *r, const char *caption,
	bool legend)
{
	buf_puts(out, "</svg>");
	if (legend)
		buf_puts(out, "<ul class=\"legend\">");
	for (size_t k = 0; legend && k < r->configuration_count; k++) {
		buf_printf(out, "<li><svg viewBox=\"0 0 26 12\" aria-hidden=\"true\" class=\"c%zu\"><path "
			"class=\"l\" d=\"M0 6H26\"/>", k % SVG_COLOURS);
		marker(out, k, 13, 6);
		buf_puts(out, "</svg>");
		html_put(out, r->configurations[k].name);
		buf_puts(out, "</li>");
	}
	buf_puts(out, legend ? "</ul><figcaption>" : "<figcaption>");
	html_put(out, caption);
	buf_puts(out, "</figcaption></figure>\n");
}

/* ---- curves over size or threads ---- */

#define POINTS_MAX 64
#define CURVE_HEIGHT 340.0
#define CURVE_BOTTOM 296.0

struct point {
	double x, y, low, high;
};

static double x_of(const struct vfctl_bench_cell *cell, enum svg_over over)
{
	return (double)(over == SVG_OVER_SIZE ? cell->size : cell->threads);
}

/* One cell for each x: other parameters must not vary. */
bool svg_can_plot(const struct vfctl_bench_report *r, const char *test, enum svg_over over)
{
	double seen[POINTS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < r->cell_count; i++) {
		double x = x_of(&r->cells[i], over);

		if (!str_eq(r->cells[i].test, test))
			continue;
		if (x <= 0 || count == POINTS_MAX)
			return false;
		for (size_t k = 0; k < count; k++)
			if (seen[k] == x)
				return false;
		seen[count++] = x;
	}
	return count > 1;
}

static int by_x(const void *a, const void *b)
{
	double x = ((const struct point *)a)->x, y = ((const struct point *)b)->x;

	return (x > y) - (x < y);
}

/* Of @metric, or of the goal (NULL), with the range of trials or the interval as its band. */
static size_t points_of(const struct vfctl_bench_report *r, const char *test, enum svg_over over,
	size_t configuration, const char *metric, struct point points[POINTS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < r->cell_count && count < POINTS_MAX; i++) {
		const struct vfctl_bench_column *c = &r->cells[i].columns[configuration];
		const struct vfctl_bench_summary *s = metric ? bench_summary_of(c, metric) : &c->goal;

		if (!str_eq(r->cells[i].test, test) || !s || !s->trials)
			continue;
		points[count++] = (struct point){x_of(&r->cells[i], over), s->median, s->min, s->max};
	}
	qsort(points, count, sizeof(*points), by_x);
	return count;
}

static void widen_svg(double *low, double *high, double value)
{
	if (isfinite(value)) {
		*low = fmin(*low, value);
		*high = fmax(*high, value);
	}
}

/* The tail beside a time that is none. */
static const char *second_metric(const struct vfctl_bench_report *r, const struct vfctl_bench_cell *cell)
{
	for (size_t k = 0; k < r->configuration_count; k++)
		if (str_eq(cell->unit, "us") && !str_eq(cell->goal, "p99") &&
			bench_summary_of(&cell->columns[k], "p99"))
			return "p99";
	return NULL;
}

static void put_curve(struct buf *out, const struct axis *x, const struct axis *y,
	const struct point *points, size_t count, const char *class)
{
	buf_printf(out, "<path class=\"%s\" d=\"", class);
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%c%.1f %.1f", i ? 'L' : 'M', at_px(x, points[i].x), at_px(y, points[i].y));
	buf_puts(out, "\"/>");
}

static void put_band(struct buf *out, const struct axis *x, const struct axis *y,
	const struct point *points, size_t count)
{
	buf_puts(out, "<path class=\"b\" d=\"");
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%c%.1f %.1f", i ? 'L' : 'M', at_px(x, points[i].x),
			at_px(y, points[i].high));
	for (size_t i = count; i-- > 0;)
		buf_printf(out, "L%.1f %.1f", at_px(x, points[i].x), at_px(y, points[i].low));
	buf_puts(out, "z\"/>");
}

static void put_series(struct buf *out, const struct vfctl_bench_report *r, const char *test,
	enum svg_over over, const struct axis *x, const struct axis *y, const char *second)
{
	struct point points[POINTS_MAX];

	for (size_t k = 0; k < r->configuration_count; k++) {
		size_t count = points_of(r, test, over, k, NULL, points);

		buf_printf(out, "<g class=\"c%zu\">", k % SVG_COLOURS);
		if (count)
			put_band(out, x, y, points, count);
		if (count)
			put_curve(out, x, y, points, count, "l");
		for (size_t i = 0; i < count; i++)
			marker(out, k, at_px(x, points[i].x), at_px(y, points[i].y));
		count = second ? points_of(r, test, over, k, second, points) : 0;
		if (count)
			put_curve(out, x, y, points, count, "l dash");
		buf_puts(out, "</g>");
	}
}

static const char *size_text(double size, char text[32])
{
	static const char *const units[] = {"", "K", "M", "G"};
	size_t unit = 0;

	while (size >= 1024 && fmod(size, 1024) == 0 && unit + 1 < ARRAY_SIZE(units)) {
		size /= 1024;
		unit++;
	}
	snprintf(text, 32, "%.0f%s", size, units[unit]);
	return text;
}

static const struct vfctl_bench_cell *first_of(const struct vfctl_bench_report *r, const char *test)
{
	for (size_t i = 0; i < r->cell_count; i++)
		if (str_eq(r->cells[i].test, test))
			return &r->cells[i];
	return NULL;
}

/* Labels stand at the measured places, where they do not run into each other. */
static void mark_x(struct buf *out, const struct vfctl_bench_report *r, const char *test,
	enum svg_over over, const struct axis *x)
{
	double marks[POINTS_MAX], last = -100;
	struct point sorted[POINTS_MAX];
	size_t count = 0;
	char text[32];

	for (size_t i = 0; i < r->cell_count && count < POINTS_MAX; i++)
		if (str_eq(r->cells[i].test, test))
			sorted[count++].x = x_of(&r->cells[i], over);
	qsort(sorted, count, sizeof(*sorted), by_x);
	for (size_t i = 0; i < count; i++) {
		marks[i] = at_px(x, sorted[i].x);
		if (marks[i] - last < 34)
			continue;
		last = marks[i];
		tick_x(out, marks[i], CURVE_BOTTOM, size_text(sorted[i].x, text));
	}
	buf_printf(out, "<text class=\"m\" x=\"%.0f\" y=\"%.0f\">%s</text>", (LEFT + RIGHT) / 2,
		CURVE_BOTTOM + 38, over == SVG_OVER_SIZE ? "bytes of a message" : "threads");
}

void svg_curves(struct buf *out, const struct vfctl_bench_report *r, const char *test,
	enum svg_over over, unsigned id)
{
	const struct vfctl_bench_cell *cell = first_of(r, test);
	const char *second = second_metric(r, cell);
	double low = INFINITY, high = -INFINITY, from = INFINITY, to = -INFINITY;
	struct point points[POINTS_MAX];
	bool is_log = over == SVG_OVER_SIZE;
	struct axis x, y;
	char caption[320];

	for (size_t k = 0; k < r->configuration_count; k++)
		for (int pass = 0; pass < (second ? 2 : 1); pass++) {
			size_t count = points_of(r, test, over, k, pass ? second : NULL, points);

			for (size_t i = 0; i < count; i++) {
				widen_svg(&from, &to, points[i].x);
				widen_svg(&low, &high, points[i].y);
				widen_svg(&low, &high, pass ? points[i].y : points[i].low);
				widen_svg(&low, &high, pass ? points[i].y : points[i].high);
			}
		}
	if (!(from < to))
		return;
	is_log &= low > 0;
	x = axis_of(from, to, over == SVG_OVER_SIZE, LEFT, RIGHT);
	y = axis_of(is_log ? low : 0, high, is_log, CURVE_BOTTOM, TOP);
	snprintf(caption, sizeof(caption), "%s of %s over %s: median of the trials, shaded from the least to "
		"the greatest of them%s%s%s.", cell->goal, test,
		over == SVG_OVER_SIZE ? "message size" : "threads", second ? "; dashed: " : "",
		second ? second : "", is_log ? "; both axes are logarithmic" : "");
	open_figure(out, id, CURVE_HEIGHT, test, caption);
	axis_y(out, &y, cell->unit);
	mark_x(out, r, test, over, &x);
	put_series(out, r, test, over, &x, &y, second);
	close_figure(out, r, caption, true);
}

/* ---- samples ---- */

bool svg_has_samples(const struct vfctl_bench_report *r, const struct vfctl_bench_cell *cell)
{
	for (size_t k = 0; k < r->configuration_count; k++)
		if (cell->columns[k].bucket_count)
			return true;
	return false;
}

static double samples_of(const struct vfctl_bench_column *c)
{
	double sum = 0;

	for (size_t i = 0; i < c->bucket_count; i++)
		sum += (double)c->bucket_counts[i];
	return sum;
}

/* The values between which all but a share of the samples lie, of all configurations. */
static struct axis samples_axis(const struct vfctl_bench_report *r, const struct vfctl_bench_cell *cell,
	double left_out)
{
	double low = INFINITY, high = 0;

	for (size_t k = 0; k < r->configuration_count; k++) {
		const struct vfctl_bench_column *c = &cell->columns[k];
		double all = samples_of(c), sum = 0;

		for (size_t i = 0; i < c->bucket_count; i++) {
			double next = sum + (double)c->bucket_counts[i];

			if (c->bucket_counts[i] && next > all * left_out / 10)
				low = fmin(low, c->bucket_lows[i]);
			if (c->bucket_counts[i] && sum <= all * (1 - left_out))
				high = fmax(high, c->bucket_lows[i + 1]);
			sum = next;
		}
	}
	return axis_of(low, high, true, LEFT, RIGHT);
}

#define MERGED 1 /* buckets: 3 % wide */

static double share_at(const struct vfctl_bench_column *c, size_t i, double all)
{
	double sum = 0;

	for (size_t k = i; k < i + MERGED && k < c->bucket_count; k++)
		sum += (double)c->bucket_counts[k];
	return sum / all;
}

static double highest_share(const struct vfctl_bench_report *r, const struct vfctl_bench_cell *cell)
{
	double high = 0;

	for (size_t k = 0; k < r->configuration_count; k++) {
		const struct vfctl_bench_column *c = &cell->columns[k];
		double all = samples_of(c);

		for (size_t i = 0; i < c->bucket_count; i += MERGED)
			high = fmax(high, share_at(c, i, all));
	}
	return high;
}

typedef void put_curve_fn(struct buf *out, const struct vfctl_bench_column *c, const struct axis *x,
	const struct axis *y);

/* One of each configuration that has samples, over the times below. */
static void put_curves(struct buf *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, put_curve_fn *put, const struct axis *x, const struct axis *y)
{
	axis_x(out, x, "us", CURVE_BOTTOM);
	for (size_t k = 0; k < r->configuration_count; k++) {
		if (!cell->columns[k].bucket_count)
			continue;
		buf_printf(out, "<g class=\"c%zu\">", k % SVG_COLOURS);
		put(out, &cell->columns[k], x, y);
		buf_puts(out, "</g>");
	}
}

static void put_shares(struct buf *out, const struct vfctl_bench_column *c, const struct axis *x,
	const struct axis *y)
{
	double all = samples_of(c), before = c->bucket_lows[0], end = before;
	_buf_ struct buf path = {0};

	buf_printf(&path, "M%.1f %.1f", at_px(x, before), at_px(y, 0));
	for (size_t i = 0; i < c->bucket_count; i += MERGED) {
		size_t next = i + MERGED < c->bucket_count ? i + MERGED : c->bucket_count;

		end = c->bucket_lows[next];
		buf_printf(&path, "L%.1f %.1f", at_px(x, sqrt(c->bucket_lows[i] * end)),
			at_px(y, share_at(c, i, all)));
	}
	buf_printf(&path, "L%.1f %.1f", at_px(x, end), at_px(y, 0));
	if (path.data)
		buf_printf(out, "<path class=\"b\" d=\"%s\"/><path class=\"l\" d=\"%s\"/>", path.data,
			path.data);
	out->failed |= path.failed;
}

static void cell_name(const struct vfctl_bench_cell *cell, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s", cell->test, *cell->parameters ? ", " : "", cell->parameters);
}

void svg_distribution(struct buf *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, unsigned id)
{
	struct axis x = samples_axis(r, cell, 0.002);
	struct axis y = {0, highest_share(r, cell) * 1.08, CURVE_BOTTOM, TOP, false};
	double ticks[TICKS_MAX];
	size_t count = linear_ticks(&y, ticks);
	char text[32], name[192], caption[400];

	cell_name(cell, name, sizeof(name));
	snprintf(caption, sizeof(caption), "How long single samples took (%s): the share of all samples in "
		"steps of 3 %%; the slowest 0.2 %% are in the next picture.", name);
	open_figure(out, id, CURVE_HEIGHT - 20, name, caption);
	for (size_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%.3g %%", 100 * ticks[i]);
		tick_y(out, at_px(&y, ticks[i]), text);
	}
	put_curves(out, r, cell, put_shares, &x, &y);
	close_figure(out, r, caption, true);
}

static void put_tail(struct buf *out, const struct vfctl_bench_column *c, const struct axis *x,
	const struct axis *y)
{
	double all = samples_of(c), left = all;

	buf_printf(out, "<path class=\"l\" d=\"M%.1f %.1f", at_px(x, c->bucket_lows[0]), at_px(y, 1));
	for (size_t i = 0; i < c->bucket_count; i++) {
		left -= (double)c->bucket_counts[i];
		if (left > 0)
			buf_printf(out, "L%.1f %.1f", at_px(x, c->bucket_lows[i + 1]), at_px(y, left / all));
		else if (c->bucket_counts[i])
			buf_printf(out, "L%.1f %.1f", at_px(x, c->bucket_lows[i + 1]), y->from);
	}
	buf_puts(out, "\"/>");
}

void svg_tail(struct buf *out, const struct vfctl_bench_report *r, const struct vfctl_bench_cell *cell,
	unsigned id)
{
	struct axis x = samples_axis(r, cell, 0), y = {1, 1, CURVE_BOTTOM, TOP, true};
	char text[32], name[192], caption[320];
	double most = 1;

	for (size_t k = 0; k < r->configuration_count; k++)
		most = fmax(most, samples_of(&cell->columns[k]));
	y.low = pow(10, -ceil(log10(fmax(most, 10))));
	cell_name(cell, name, sizeof(name));
	snprintf(caption, sizeof(caption), "The tail (%s): the share of samples that took longer than the "
		"time below; both axes are logarithmic.", name);
	open_figure(out, id, CURVE_HEIGHT - 20, name, caption);
	for (double share = 1; share >= y.low * 0.99; share /= 10) {
		snprintf(text, sizeof(text), "%.6g %%", 100 * share);
		tick_y(out, at_px(&y, share), text);
	}
	put_curves(out, r, cell, put_tail, &x, &y);
	close_figure(out, r, caption, true);
}

/* ---- trials ---- */

#define ROW 34.0
#define NAMES 170.0
#define VERDICTS 540.0

static struct axis trials_axis(const struct vfctl_bench_report *r, const struct vfctl_bench_cell *cell)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t k = 0; k < r->configuration_count; k++)
		for (size_t i = 0; i < cell->columns[k].goal.trials; i++)
			widen_svg(&low, &high, cell->columns[k].values[i]);
	return axis_of(low, high, low > 0 && high > 6 * low, NAMES, VERDICTS - 20);
}

static const char *verdict_words(const struct vfctl_bench_report *r, const struct vfctl_bench_column *c,
	char text[96])
{
	char relative[VFCTL_BENCH_TEXT];

	if (c->configuration == r->baseline)
		return r->comparison ? "" : "baseline";
	if (!c->goal.trials)
		return "failed";
	if (c->difference.trials_needed)
		return "too few trials";
	if (c->difference.verdict == VFCTL_BENCH_NO_DIFFERENCE)
		return "no difference shown";
	vfctl_bench_relative(c->difference.relative, relative);
	snprintf(text, 96, "%s, %s", vfctl_bench_verdict_name(c->difference.verdict), relative);
	return text;
}

static void trials_row(struct buf *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, const struct vfctl_bench_column *c, const struct axis *x)
{
	double y = TOP + ROW * ((double)c->configuration + 0.5);
	static const char *const classes[] = {"", "", " good", " bad"};
	char text[96];

	buf_printf(out, "<text class=\"e\" x=\"%.0f\" y=\"%.1f\">", NAMES - 14, y + 4);
	html_put(out, r->configurations[c->configuration].name);
	buf_printf(out, "</text><g class=\"c%zu\">", c->configuration % SVG_COLOURS);
	for (size_t i = 0; i < c->goal.trials; i++)
		buf_printf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\"/>",
			at_px(x, c->values[i]), y + (double)(i * 5 % 7) * 2 - 6);
	if (c->goal.trials > 1)
		buf_printf(out, "<path class=\"i\" d=\"M%.1f %.1fH%.1f\"/>", at_px(x, c->goal.low), y,
			at_px(x, c->goal.high));
	if (c->goal.trials)
		buf_printf(out, "<path class=\"med\" d=\"M%.1f %.1fV%.1f\"/>",
			at_px(x, c->goal.median), y - 11,
			y + 11);
	buf_printf(out, "</g><text class=\"v%s\" x=\"%.0f\" y=\"%.1f\">", classes[c->difference.verdict],
		VERDICTS, y + 4);
	html_put(out, verdict_words(r, c, text));
	buf_puts(out, "</text>");
}

void svg_trials(struct buf *out, const struct vfctl_bench_report *r, const struct vfctl_bench_cell *cell,
	unsigned id)
{
	double bottom = TOP + ROW * (double)r->configuration_count;
	struct axis x = trials_axis(r, cell);
	char name[192], caption[400];

	if (!isfinite(x.low) || !isfinite(x.high))
		return;
	cell_name(cell, name, sizeof(name));
	snprintf(caption, sizeof(caption), "%s, %s: each dot is a trial, the line its "
		"configuration's median, "
		"the bar the %g %% interval of that. %s is better.", name, cell->goal, 100 * (1 - r->alpha),
		cell->higher_is_better ? "Right" : "Left");
	open_figure(out, id, bottom + 34, name, caption);
	axis_x(out, &x, cell->unit, bottom);
	for (size_t k = 0; k < r->configuration_count; k++)
		trials_row(out, r, cell, &cell->columns[k], &x);
	close_figure(out, r, caption, false);
}
