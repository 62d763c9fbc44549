// SPDX-License-Identifier: GPL-2.0-or-later
/* A report as one page: the answer first, then the pictures and tables, then the conditions. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/ctx.h"
#include "bench/report.h"
#include "bench/svg.h"

static const char style[] =
	":root{--bg:#fff;--fg:#1b1f24;--soft:#57606a;--line:#d8dee4;--card:#f6f8fa;--good:#116329;"
	"--bad:#a40e26;--warn:#7d4e00}"
	".c0{--c:#0072b2}.c1{--c:#d55e00}.c2{--c:#009e73}.c3{--c:#b0579a}.c4{--c:#9a6700}.c5{--c:#2b8fc9}"
	".c6{--c:#6e7781}.c7{--c:#8b1a1a}"
	"@media screen and (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#9aa4af;"
	"--line:#30363d;--card:#161b22;--good:#56d364;--bad:#ff8182;--warn:#e3b341}"
	".c0{--c:#58a6ff}.c1{--c:#ff9e64}.c2{--c:#3fd2a3}.c3{--c:#e29bd0}.c4{--c:#e3b341}.c5{--c:#8fd0ff}"
	".c6{--c:#a9b1ba}.c7{--c:#ff7b72}}"
	"*{box-sizing:border-box}body{background:var(--bg);color:var(--fg);margin:0 auto;padding:2rem 1.2rem "
	"4rem;max-width:60rem;font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',"
	"'DejaVu Sans',sans-serif}"
	"h1{font-size:1.1rem;font-weight:600;color:var(--soft);margin:0}"
	"h2{font-size:1.35rem;margin:3rem 0 .8rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}"
	"h3{font-size:1.02rem;margin:1.8rem 0 .5rem}"
	".meta{color:var(--soft);margin:.1rem 0 1.4rem}"
	".answer{background:var(--card);border:1px solid var(--line);border-left:6px solid var(--soft);"
	"border-radius:8px;padding:1.1rem 1.4rem}.answer.good{border-left-color:var(--good)}"
	".answer.bad{border-left-color:var(--bad)}"
	".answer.good,.answer.bad,.answer.quiet{color:var(--fg)}"
	".answer p{font-size:1.5rem;line-height:1.3;font-weight:650;margin:0}"
	".answer ul{margin:.8rem 0 0;padding-left:1.2rem}.answer li{margin:.2rem 0}"
	".flag{border:1px solid var(--warn);color:var(--warn);border-radius:8px;padding:.6rem "
	"1rem;margin:1rem 0}"
	"figure{margin:1.2rem 0 1.8rem;break-inside:avoid}figure>svg{width:100%;height:auto;display:block;"
	"background:var(--bg);overflow:visible}"
	"figcaption{color:var(--soft);font-size:.88rem;margin-top:.3rem}"
	"svg text{font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}"
	"svg .e{text-anchor:end}svg .m{text-anchor:middle}svg .v{fill:var(--fg)}"
	"svg .v.good{fill:var(--good);font-weight:650}svg .v.bad{fill:var(--bad);font-weight:650}"
	"svg .g{stroke:var(--line);fill:none}svg .l{stroke:var(--c);stroke-width:2;fill:none;"
	"stroke-linejoin:round}svg .dash{stroke-dasharray:5 4;stroke-width:1.5}"
	"svg .b{fill:var(--c);opacity:.13}svg g[class^=c]>circle,svg g[class^=c]>rect,"
	"svg g[class^=c]>path:not([class]),.legend svg>*:not(.l){fill:var(--c)}"
	"svg .dot{opacity:.55}svg .i{stroke:var(--c);stroke-width:5;opacity:.35}"
	"svg .med{stroke:var(--c);stroke-width:3}"
	".legend{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.3rem;margin:.4rem 0 .2rem;padding:0;"
	"font-size:.9rem}.legend svg{width:26px;height:12px;margin-right:.45rem}"
	".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem;"
	"font-variant-numeric:tabular-nums;margin:.4rem 0 1rem}"
	"th{text-align:left;color:var(--soft);font-weight:600;border-bottom:2px solid var(--line)}"
	"th,td{padding:.3rem .7rem .3rem 0;vertical-align:top}td{border-bottom:1px solid var(--line)}"
	".n{text-align:right;white-space:nowrap}.n+td:not(.n),.n+th:not(.n){padding-left:.6rem}"
	"tr.first td{border-top:2px solid var(--line)}"
	"td.best{font-weight:700}.good{color:var(--good)}.bad{color:var(--bad)}.quiet{color:var(--soft)}"
	".chip{white-space:nowrap}.chip.good::before{content:'\\25B2 '}.chip.bad::before{content:'\\25BC '}"
	"code,pre{font:.86rem/1.5 ui-monospace,'DejaVu Sans Mono',monospace}pre{background:var(--card);"
	"border:1px solid var(--line);border-radius:6px;padding:.8rem;overflow-x:auto;white-space:pre-wrap;"
	"overflow-wrap:anywhere}dt{font-weight:600}dd{margin:0 0 .5rem}"
	"@media print{body{max-width:none;padding:0;font-size:11pt}h2{break-after:avoid}"
	"tr,figure,.answer{break-inside:avoid}.scroll{overflow:visible}}";

/* ---- small parts ---- */

static void element(struct buf *out, const char *tag, const char *text)
{
	buf_printf(out, "<%s>", tag);
	html_put(out, text);
	buf_printf(out, "</%.*s>", (int)strcspn(tag, " "), tag);
}

static void cell_text(struct buf *out, const char *class, const char *text)
{
	buf_printf(out, "<td class=\"%s\">", class);
	html_put(out, text);
	buf_puts(out, "</td>");
}

static const char *word_of(enum vfctl_bench_verdict verdict)
{
	return verdict == VFCTL_BENCH_BETTER ? "good" : verdict == VFCTL_BENCH_WORSE ? "bad" : "quiet";
}

/* ---- the answer ---- */

static void put_answer(struct buf *out, const struct vfctl_bench_report *r)
{
	const char *tone = r->comparison ? r->worse ? "bad" : r->better ? "good" : "quiet"
		: r->advice_count && str_starts(r->advice[0], "Use ") ? "good" : "quiet";

	buf_puts(out, "<header>");
	element(out, "h1", r->name);
	buf_puts(out, "<p class=\"meta\">");
	html_put(out, r->created ? r->created : "");
	buf_printf(out, "%s%u of %u runs made%s", r->created ? " \xC2\xB7 " : "", r->made,
		r->planned > r->made ? r->planned : r->made, "");
	if (r->failed)
		buf_printf(out, ", %u failed", r->failed);
	buf_printf(out, "</p></header>\n<section class=\"answer %s\" aria-label=\"The answer\">", tone);
	for (size_t i = 0; i < r->advice_count; i++) {
		if (i == 1)
			buf_puts(out, "<ul>");
		element(out, i ? "li" : "p", r->advice[i]);
	}
	buf_puts(out, r->advice_count > 1 ? "</ul></section>\n" : "</section>\n");
	if (r->emulated)
		buf_puts(out, "<p class=\"flag\">Measured on emulated hardware. Which setting is better "
			"counts; how fast it is says nothing about a real card.</p>\n");
	for (size_t i = 0; i < r->note_count; i++)
		element(out, "p class=\"flag\"", r->notes[i]);
}

/* ---- tables ---- */

static void number_cell(struct buf *out, const char *class, double value, const char *unit, double like)
{
	char text[VFCTL_BENCH_TEXT];

	cell_text(out, class, vfctl_bench_value(value, unit, like, text));
}

static void verdict_cell(struct buf *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_column *c)
{
	const struct vfctl_bench_difference *d = &c->difference;
	char few[96];

	snprintf(few, sizeof(few), "too few trials: %zu, at least %u", d->pairs, d->trials_needed);
	buf_printf(out, "<td><span class=\"chip %s\">", word_of(d->verdict));
	html_put(out, c->configuration == r->baseline ? "baseline" : !c->goal.trials ? "failed"
		: d->trials_needed ? few : vfctl_bench_verdict_name(d->verdict));
	buf_puts(out, "</span></td>");
}

static void comparison_row(struct buf *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, const struct vfctl_bench_column *c)
{
	char text[VFCTL_BENCH_TEXT], low[VFCTL_BENCH_TEXT], both[3 * VFCTL_BENCH_TEXT] = "-";
	double like = c->goal.median;

	buf_puts(out, c->configuration ? "<tr>" : "<tr class=\"first\">");
	cell_text(out, "", c->configuration ? "" : cell->varies);
	cell_text(out, "", r->configurations[c->configuration].name);
	buf_printf(out, "<td class=\"n\">%zu</td>", c->goal.trials);
	number_cell(out, c->best ? "n best" : "n", c->goal.trials ? like : NAN, cell->unit, like);
	if (c->goal.trials > 1)
		snprintf(both, sizeof(both), "%s to %s", vfctl_bench_value(c->goal.low, cell->unit,
			like, low),
			vfctl_bench_value(c->goal.high, cell->unit, like, text));
	cell_text(out, "n quiet", both);
	cell_text(out, "n", vfctl_bench_relative(c->difference.relative, text));
	cell_text(out, "n", vfctl_bench_p(c->difference.p_adjusted, text));
	verdict_cell(out, r, c);
	buf_puts(out, "</tr>\n");
}

static void comparison_table(struct buf *out, const struct vfctl_bench_report *r, const char *test)
{
	buf_printf(out, "<div class=\"scroll\"><table><thead><tr><th></th><th>configuration</th><th "
		"class=\"n\">trials</th><th class=\"n\">median</th><th class=\"n\">%g %% interval</th><th "
		"class=\"n\">change</th><th class=\"n\">p</th><th>verdict</th></tr></thead><tbody>\n",
		100 * (1 - r->alpha));
	for (size_t i = 0; i < r->cell_count; i++)
		for (size_t k = 0; str_eq(r->cells[i].test, test) && k < r->configuration_count; k++)
			if (r->cells[i].columns[k].goal.trials || r->cells[i].columns[k].failed)
				comparison_row(out, r, &r->cells[i], &r->cells[i].columns[k]);
	buf_puts(out, "</tbody></table></div>\n");
}

/* Medians with a column for each configuration: the shape of published tables. */
static void matrix_table(struct buf *out, const struct vfctl_bench_report *r, const char *test)
{
	buf_puts(out, "<h3>Medians</h3><div class=\"scroll\"><table><thead><tr><th></th>");
	for (size_t k = 0; k < r->configuration_count; k++)
		element(out, "th class=\"n\"", r->configurations[k].name);
	buf_puts(out, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < r->cell_count; i++) {
		const struct vfctl_bench_cell *cell = &r->cells[i];

		if (!str_eq(cell->test, test))
			continue;
		buf_puts(out, "<tr>");
		cell_text(out, "", cell->varies);
		for (size_t k = 0; k < r->configuration_count; k++) {
			const struct vfctl_bench_summary *s = &cell->columns[k].goal;

			number_cell(out, cell->columns[k].best ? "n best" : "n", s->trials ? s->median : NAN,
				cell->unit, s->median);
		}
		buf_puts(out, "</tr>\n");
	}
	buf_puts(out, "</tbody></table></div>\n");
}

static bool has_tail(const struct vfctl_bench_report *r, const char *test)
{
	for (size_t i = 0; i < r->cell_count; i++)
		for (size_t k = 0; str_eq(r->cells[i].test, test) && k < r->configuration_count; k++)
			if (bench_summary_of(&r->cells[i].columns[k], "p99") &&
				bench_summary_of(&r->cells[i].columns[k], "max"))
				return true;
	return false;
}

static void tail_row(struct buf *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, const struct vfctl_bench_column *c)
{
	static const char *const names[] = {"p50", "p99", "p99_9", "max"};
	const struct vfctl_bench_summary *max = bench_summary_of(c, "max"), *p99 = bench_summary_of(c, "p99");

	buf_puts(out, c->configuration ? "<tr>" : "<tr class=\"first\">");
	cell_text(out, "", c->configuration ? "" : cell->varies);
	cell_text(out, "", r->configurations[c->configuration].name);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct vfctl_bench_summary *s = bench_summary_of(c, names[i]);

		number_cell(out, "n", s ? s->median : NAN, "us", 1);
	}
	number_cell(out, "n", max ? max->max : NAN, "us", 1);
	cell_text(out, "quiet", !p99 ? "" : p99->from_samples ? "each sample" : "the tool's own");
	buf_puts(out, "</tr>\n");
}

static void tail_table(struct buf *out, const struct vfctl_bench_report *r, const char *test)
{
	buf_puts(out, "<h3>Tail</h3><div class=\"scroll\"><table><thead><tr><th></th><th>configuration</th>"
		"<th class=\"n\">50 %</th><th class=\"n\">99 %</th><th class=\"n\">99.9 %</th><th "
		"class=\"n\">maximum</th><th class=\"n\">greatest maximum</th><th>percentiles from</th></tr>"
		"</thead><tbody>\n");
	for (size_t i = 0; i < r->cell_count; i++)
		for (size_t k = 0; str_eq(r->cells[i].test, test) && k < r->configuration_count; k++)
			if (r->cells[i].columns[k].metric_count)
				tail_row(out, r, &r->cells[i], &r->cells[i].columns[k]);
	buf_puts(out, "</tbody></table></div><p class=\"quiet\">Medians over the trials, but for the "
		"greatest maximum of them all.</p>\n");
}

/* ---- a test ---- */

#define PICTURED_CELLS 6

static bool has_trials(const struct vfctl_bench_report *r, const struct vfctl_bench_cell *cell)
{
	for (size_t k = 0; k < r->configuration_count; k++)
		if (cell->columns[k].goal.trials)
			return true;
	return false;
}

static void put_pictures(struct buf *out, const struct vfctl_bench_report *r, const char *test,
	unsigned *io_id)
{
	bool sizes = svg_can_plot(r, test, SVG_OVER_SIZE), sampled = false;
	bool threads = svg_can_plot(r, test, SVG_OVER_THREADS);
	size_t cells = 0, most = sizes || threads ? 1 : PICTURED_CELLS;

	if (sizes)
		svg_curves(out, r, test, SVG_OVER_SIZE, ++*io_id);
	if (threads)
		svg_curves(out, r, test, SVG_OVER_THREADS, ++*io_id);
	for (size_t i = 0; i < r->cell_count && cells < most; i++) {
		if (!str_eq(r->cells[i].test, test) || !has_trials(r, &r->cells[i]))
			continue;
		cells++;
		svg_trials(out, r, &r->cells[i], ++*io_id);
		if (sampled || !svg_has_samples(r, &r->cells[i]))
			continue;
		sampled = true; /* of the first cell: all of them would fill a book */
		svg_distribution(out, r, &r->cells[i], ++*io_id);
		svg_tail(out, r, &r->cells[i], ++*io_id);
	}
}

static void put_test(struct buf *out, const struct vfctl_bench_report *r, size_t first,
	unsigned *io_id)
{
	const struct vfctl_bench_cell *cell = &r->cells[first];
	size_t cells = 0;

	for (size_t i = first; i < r->cell_count; i++)
		cells += str_eq(r->cells[i].test, cell->test);
	buf_puts(out, "<section><h2>");
	html_put(out, cell->test);
	buf_puts(out, "</h2><p class=\"quiet\">");
	if (cell->tool) {
		html_put(out, cell->tool);
		buf_puts(out, ", ");
	}
	html_put(out, cell->goal);
	buf_printf(out, "; %s is better</p>\n", cell->higher_is_better ? "higher" : "lower");
	put_pictures(out, r, cell->test, io_id);
	buf_puts(out, "<h3>Comparison</h3>");
	comparison_table(out, r, cell->test);
	if (cells > 1 && r->configuration_count > 1)
		matrix_table(out, r, cell->test);
	if (has_tail(r, cell->test))
		tail_table(out, r, cell->test);
	buf_puts(out, "</section>\n");
}

/* ---- conditions ---- */

static void put_configurations(struct buf *out, const struct vfctl_bench_report *r)
{
	buf_puts(out, "<h3>Configurations</h3><table><tbody>\n");
	for (size_t k = 0; k < r->configuration_count; k++) {
		const struct vfctl_bench_configuration *c = &r->configurations[k];

		buf_puts(out, "<tr>");
		cell_text(out, "", c->name);
		buf_puts(out, "<td>");
		for (size_t i = 0; i < c->setting_count; i++) {
			buf_puts(out, i ? ", <code>" : "<code>");
			html_put(out, c->settings[i].name);
			buf_puts(out, "=");
			html_put(out, c->settings[i].value);
			buf_puts(out, "</code>");
		}
		buf_puts(out, k == r->baseline ? " <span class=\"quiet\">baseline</span></td></tr>\n"
			: "</td></tr>\n");
	}
	buf_puts(out, "</tbody></table>\n");
}

static void put_checks(struct buf *out, const struct vfctl_bench_report *r)
{
	if (!r->check_count)
		return;
	buf_puts(out, "<h3>Checks before the first run</h3><table><tbody>\n");
	for (size_t i = 0; i < r->check_count; i++) {
		bool ok = str_eq(r->checks[i].state, "ok");

		buf_puts(out, "<tr>");
		cell_text(out, ok ? "good" : "bad", r->checks[i].state);
		cell_text(out, "", r->checks[i].name);
		cell_text(out, "quiet", r->checks[i].text);
		buf_puts(out, "</tr>\n");
	}
	buf_puts(out, "</tbody></table>\n");
}

static void put_host(struct buf *out, const struct vfctl_bench_report *r)
{
	if (r->host_count)
		buf_puts(out, "<h3>Host</h3><table><tbody>\n");
	for (size_t i = 0; i < r->host_count; i++) {
		buf_puts(out, "<tr>");
		cell_text(out, "", r->host[i].name);
		cell_text(out, "", r->host[i].value);
		buf_puts(out, "</tr>\n");
	}
	buf_puts(out, r->host_count ? "</tbody></table>\n" : "");
	if (r->tool_count)
		buf_puts(out, "<h3>Tools</h3><table><tbody>\n");
	for (size_t i = 0; i < r->tool_count; i++) {
		buf_puts(out, "<tr>");
		cell_text(out, "", r->tools[i].name);
		cell_text(out, "", r->tools[i].version);
		cell_text(out, "quiet", r->tools[i].endpoint);
		buf_puts(out, "</tr>\n");
	}
	buf_puts(out, r->tool_count ? "</tbody></table>\n" : "");
}

static bool any_paired(const struct vfctl_bench_report *r)
{
	for (size_t i = 0; i < r->cell_count; i++)
		for (size_t k = 0; k < r->configuration_count; k++)
			if (r->cells[i].columns[k].difference.paired)
				return true;
	return false;
}

static void put_method(struct buf *out, const struct vfctl_bench_report *r)
{
	buf_printf(out, "<h3>How it was judged</h3><p>The unit is the trial, not the sample. Intervals of "
		"medians are %g %% bootstrap intervals (10,000 resamples). Differences are tested with %s, "
		"over %zu comparisons corrected after Holm; a difference is told when p is below %g and its "
		"size is at least %g %%. The change is the Hodges-Lehmann shift beside the baseline's "
		"median. Seed %" PRIu64 "%s%s.</p>\n", 100 * (1 - r->alpha), any_paired(r)
			? "Wilcoxon's signed ranks, for the trials were made in turns"
			: "Mann and Whitney's rank sums, for the trials were not made in turns",
		r->comparisons, r->alpha, 100 * r->noise, r->seed, r->vfctl ? "; vfctl " : "",
		r->vfctl ? r->vfctl : "");
}

static void put_commands(struct buf *out, const struct vfctl_bench_report *r)
{
	if (!r->command_count)
		return;
	buf_puts(out, "<h3>Commands</h3><pre>");
	for (size_t i = 0; i < r->command_count; i++) {
		html_put(out, r->commands[i]);
		buf_puts(out, "\n");
	}
	buf_puts(out, "</pre>\n");
}

int vfctl_bench_html(struct vfctl_ctx *ctx, const struct vfctl_bench_report *report, char **ret_text)
{
	_buf_ struct buf out = {0};
	unsigned id = 0;

	buf_puts(&out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
		"name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta "
		"name=\"color-scheme\" content=\"light dark\"><title>");
	html_put(&out, report->name);
	buf_puts(&out, "</title><style>");
	buf_puts(&out, style);
	buf_puts(&out, "</style></head><body>\n");
	put_answer(&out, report);
	buf_puts(&out, "<main>\n");
	for (size_t i = 0; i < report->cell_count; i++)
		if (bench_first_of_test(report, i))
			put_test(&out, report, i, &id);
	buf_puts(&out, "</main>\n<section><h2>Conditions</h2>\n");
	put_method(&out, report);
	if (!report->comparison)
		put_configurations(&out, report);
	put_host(&out, report);
	put_checks(&out, report);
	put_commands(&out, report);
	buf_puts(&out, "</section></body></html>\n");
	*ret_text = buf_steal(&out);
	return *ret_text ? 0 : ctx_oom(ctx);
}
