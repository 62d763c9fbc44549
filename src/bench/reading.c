// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/reading.h"

#include <errno.h>
#include <math.h>

#include "bench/parser.h"
#include "bench/stats.h"

/* ---- tools ---- */

static const struct parser_kind *const kinds[BENCH_TOOLS] = {
	[BENCH_PERFTEST] = &perftest_output, [BENCH_IPERF3] = &iperf3_output,
	[BENCH_IPERF2] = &iperf2_output, [BENCH_SOCKPERF] = &sockperf_output,
	[BENCH_QPERF] = &qperf_output, [BENCH_NETPERF] = &netperf_output, [BENCH_OSU] = &osu_output,
	[BENCH_COMMAND] = &command_output,
};

const struct parser_kind *parser_kind_of(enum bench_tool tool)
{
	return kinds[tool];
}

const char *bench_tool_name(enum bench_tool tool)
{
	return tool < BENCH_TOOLS ? kinds[tool]->name : "unknown";
}

int bench_tool_parse(const char *name, enum bench_tool *ret)
{
	for (unsigned i = 0; i < BENCH_TOOLS; i++) {
		bool found = str_eq(kinds[i]->name, name);

		for (size_t k = 0; k < ARRAY_SIZE(kinds[i]->programs) && kinds[i]->programs[k]; k++)
			found |= str_starts(name, kinds[i]->programs[k]);
		if (found) {
			*ret = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* ---- a reading ---- */

static const struct {
	const char *name, *unit;
} units[] = {{"samples", ""}, {"throughput", "bit/s"}, {"throughput_sent", "bit/s"},
	{"throughput_reverse", "bit/s"}, {"retransmits", ""}, {"message_rate", "1/s"},
	{"operations", "1/s"}, {"loss", "%"}, {"out_of_order", ""}, {"cpu_local", "%"},
	{"cpu_remote", "%"}};

/* All other metrics are times. */
static const char *unit_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (str_eq(units[i].name, name))
			return units[i].unit;
	return str_starts(name, "throughput_p") ? "bit/s" : "us";
}

const struct bench_metric *bench_metric_find(const struct bench_metric *metrics, size_t count,
	const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(metrics[i].name, name))
			return &metrics[i];
	return NULL;
}

void bench_reading_free(struct bench_reading *reading)
{
	for (size_t i = 0; reading && i < reading->row_count; i++) {
		free(reading->rows[i].metrics);
		free(reading->rows[i].samples);
	}
	if (reading)
		free(reading->rows);
	free(reading);
}

bool bench_reading_keep(struct bench_reading *reading, uint64_t size)
{
	size_t kept = 0;

	while (kept < reading->row_count && reading->rows[kept].size != size)
		kept++;
	if (kept == reading->row_count)
		return false;
	for (size_t i = 0; i < reading->row_count; i++)
		if (i != kept) {
			free(reading->rows[i].metrics);
			free(reading->rows[i].samples);
		}
	reading->rows[0] = reading->rows[kept];
	reading->row_count = 1;
	return true;
}

int row_put(struct bench_row *row, const char *name, const char *unit, double value,
	bool from_samples)
{
	size_t i = 0;

	while (i < row->metric_count && !str_eq(row->metrics[i].name, name))
		i++;
	if (i == row->metric_count) {
		if (!array_grow(row->metrics, row->metric_count))
			return -ENOMEM;
		row->metric_count++;
	}
	row->metrics[i] = (struct bench_metric){.value = value, .from_samples = from_samples};
	str_copy(row->metrics[i].name, sizeof(row->metrics[i].name), name);
	str_copy(row->metrics[i].unit, sizeof(row->metrics[i].unit), unit ? unit : unit_of(name));
	return 0;
}

int row_from_samples(struct bench_row *row)
{
	struct sample_summary s;
	int r = sample_summary(row->samples, row->sample_count, &s);
	const struct {
		const char *name;
		double value;
	} figures[] = {{"min", s.min}, {"mean", s.mean}, {"p50", s.p50}, {"p90", s.p90},
		{"p95", s.p95}, {"p99", s.p99}, {"p99_9", s.p99_9}, {"max", s.max},
		{"stdev", s.stdev}, {"samples", (double)row->sample_count}};

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(figures); i++)
		/* A single sample has no deviation. */
		if (isfinite(figures[i].value))
			r = row_put(row, figures[i].name, NULL, figures[i].value, true);
	return r;
}

/* ---- functions for all parsers ---- */

struct bench_row *parser_row(struct parser *p, uint64_t size)
{
	struct bench_reading *reading = p->reading;

	for (size_t i = 0; i < reading->row_count; i++)
		if (reading->rows[i].size == size)
			return &reading->rows[i];
	if (!array_grow(reading->rows, reading->row_count)) {
		ctx_oom(p->ctx);
		return NULL;
	}
	reading->rows[reading->row_count].size = size;
	return &reading->rows[reading->row_count++];
}

/* A count may be 0; a time or a rate of 0 is an error. */
static bool may_be_zero(const char *name)
{
	static const char *const names[] = {"retransmits", "jitter", "loss", "out_of_order", "cpu_local",
		"cpu_remote"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

int parser_metric(struct parser *p, struct bench_row *row, const char *name, double value)
{
	const struct bench_metric *had = bench_metric_find(row->metrics, row->metric_count, name);
	char where[PARSER_WHERE];
	int r;

	if (!isfinite(value))
		return ctx_fail(p->ctx, -EIO, "%s: %sits %s is not finite", p->tool,
			parser_where(p, where), name);
	if (value < 0 || (str_eq(name, "loss") && value > 100))
		return ctx_fail(p->ctx, -EIO, "%s: %sits %s is %g, which is not possible", p->tool,
			parser_where(p, where), name, value);
	if (value == 0 && !may_be_zero(name))
		return ctx_fail(p->ctx, -EIO, "%s: %sits %s is 0; nothing was measured", p->tool,
			parser_where(p, where), name);
	if (had)
		return parser_second_run(p, p->at);
	r = row_put(row, name, NULL, value, false);
	return r < 0 ? ctx_oom(p->ctx) : 0;
}

int parser_sample(struct parser *p, double **samples, size_t *count, double value)
{
	if (value < 0)
		return ctx_fail(p->ctx, -EIO, "%s: sample %zu is below 0; the clock is not reliable",
			p->tool, *count + 1);
	if (!array_grow(*samples, *count))
		return ctx_oom(p->ctx);
	(*samples)[(*count)++] = value;
	return 0;
}

int parser_number(struct parser *p, struct span text, const char *what, double *ret)
{
	int r = number_read(text, ret), len = span_len(text) > 40 ? 40 : (int)span_len(text);
	char where[PARSER_WHERE];

	switch (r) {
	case 0:
		return 0;
	case -ERANGE:
		return ctx_fail(p->ctx, -EIO, "%s: %sits %s is '%.*s'; nothing was measured", p->tool,
			parser_where(p, where), what, len, text.p);
	case -ENOTUNIQ:
		return ctx_fail(p->ctx, -EBADMSG, "%s: %sits %s, '%.*s', is ambiguous; run the tool with "
			"LC_ALL=C", p->tool, parser_where(p, where), what, len, text.p);
	case -ENOMEM:
		return ctx_oom(p->ctx);
	default:
		return ctx_fail(p->ctx, -EBADMSG, "%s: %sits %s is not a number: '%.*s'", p->tool,
			parser_where(p, where), what, len, text.p);
	}
}

static bool tells_of_error(struct span line)
{
	static const char *const message[] = {"error", "fail", "couldn't", "can't", "cannot", "unable",
		"refused", "not found", "not enough", "timed out", "timeout", "unreachable", "are you sure"};

	for (size_t i = 0; i < ARRAY_SIZE(message); i++)
		if (span_find_word(line, message[i]))
			return true;
	return false;
}

/* A horizontal line, or an empty one: it holds no message. */
static bool is_separator(struct span line)
{
	for (; line.p < line.end; line.p++)
		if (!strchr("-=*#", *line.p))
			return false;
	return true;
}

#define WORDS_MAX 300

int parser_failed(struct parser *p)
{
	struct span rest = p->text, line, last = {0}, told = {0};
	int len;

	while (span_line(&rest, &line)) {
		line = span_trim(line);
		if (!span_len(line))
			continue;
		if (!is_separator(line))
			last = line;
		if (!told.p && tells_of_error(line))
			told = line;
	}
	if (!told.p)
		told = last;
	if (!told.p)
		return ctx_fail(p->ctx, -EIO, "%s printed nothing", p->tool);
	len = span_len(told) > WORDS_MAX ? WORDS_MAX : (int)span_len(told);
	return ctx_fail(p->ctx, -EIO, "%s measured nothing: %.*s", p->tool, len, told.p);
}

/* ---- columns ---- */

static const struct column_name *column_at(struct span s, const struct column_name *known,
	size_t known_count)
{
	for (size_t i = 0; i < known_count; i++)
		if (span_starts(s, known[i].text))
			return &known[i];
	return NULL;
}

void columns_find(struct span header, const struct column_name *known, size_t known_count,
	struct columns *ret)
{
	*ret = (struct columns){0};
	while (header.p < header.end && ret->count < PARSER_COLUMNS) {
		const struct column_name *found = column_at(header, known, known_count);

		if (found)
			ret->v[ret->count++] = found;
		header.p += found ? strlen(found->text) : 1;
	}
}

/*
 * If the first of two columns is wide, perftest prints no space between them ("2465.901216.65"): a
 * word with two points is split two digits after the first point.
 */
static bool take_figure(struct span *io_rest, struct span *ret)
{
	const char *point, *second;

	if (!span_word(io_rest, ret))
		return false;
	point = memchr(ret->p, '.', span_len(*ret));
	second = point ? memchr(point + 1, '.', (size_t)(ret->end - point - 1)) : NULL;
	if (second && second - point > 3)
		ret->end = io_rest->p = point + 3;
	return true;
}

static int column_value(struct parser *p, const struct column_name *column, struct span text,
	struct bench_row *row)
{
	struct figure figure;
	int r;

	if (!row || !column->metric || str_eq(column->metric, "size") || str_eq(column->metric, "text"))
		return 0;
	r = parser_figure(p, text, column->text, column->factor ? column->factor : 1, &figure);
	if (r < 0)
		return r;
	if (!str_starts(column->metric, "throughput"))
		return parser_metric(p, row, column->metric, figure.value);
	return parser_put_figure(p, row, column->metric, &figure, NULL);
}

/*
 * Small messages are many: where their throughput has too few digits, their rate still has enough.
 */
static int throughput_of_messages(struct parser *p, struct bench_row *row)
{
	const struct bench_metric *rate = bench_metric_find(row->metrics, row->metric_count,
		"message_rate");

	if (!rate || !row->size || bench_metric_find(row->metrics, row->metric_count, "throughput"))
		return 0;
	return parser_metric(p, row, "throughput", 8 * rate->value * (double)row->size);
}

static bool has_decimals(struct span figure, unsigned decimals)
{
	const char *point = span_len(figure) ? memchr(figure.p, '.', span_len(figure)) : NULL;

	return decimals && point && (size_t)(figure.end - point - 1) == decimals;
}

int columns_row(struct parser *p, const struct columns *columns, struct span line,
	struct bench_row **ret_row)
{
	struct span figures[PARSER_COLUMNS + 1] = {0}, rest = line;
	struct bench_row *row;
	uint64_t size = 0;
	size_t count = 0;
	int r = 0;

	while (count <= columns->count && take_figure(&rest, &figures[count]))
		count++;
	if (!count || !has_decimals(figures[count - 1], columns->decimals))
		r = parser_check_line(p, line);
	if (r < 0)
		return r;
	if (count != columns->count)
		return ctx_fail(p->ctx, -EBADMSG, "%s: a line has %s figures than its header names: '%.*s'",
			p->tool, count < columns->count ? "fewer" : "more",
			span_len(line) > 60 ? 60 : (int)span_len(line), line.p);
	for (size_t i = 0; i < count; i++)
		if (columns->v[i]->metric && str_eq(columns->v[i]->metric, "size") &&
			!number_whole(figures[i], &size))
			return ctx_fail(p->ctx, -EBADMSG, "%s: a size is not a whole number: '%.*s'", p->tool,
				(int)span_len(figures[i]) & 63, figures[i].p);
	row = parser_row(p, size);
	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++)
		r = column_value(p, columns->v[i], figures[i], row);
	if (r == 0)
		r = throughput_of_messages(p, row);
	if (ret_row)
		*ret_row = row;
	return r;
}

bool unit_bits(struct span unit, double kilo_of_bytes, double *ret_factor)
{
	static const char prefixes[] = "KMGT";
	const char *prefix;
	double factor = 1, kilo = 1000;

	if (!span_len(unit))
		return false;
	prefix = strchr(prefixes, *unit.p == 'k' ? 'K' : *unit.p);
	if (prefix)
		unit.p++;
	if (unit.p < unit.end && *unit.p == 'i') {
		kilo_of_bytes = 1024;
		unit.p++;
	}
	if (span_starts(unit, "Byte") || span_starts(unit, "byte") || span_starts(unit, "B/")) {
		factor = 8;
		kilo = kilo_of_bytes;
	} else if (!span_starts(unit, "bit") && !span_starts(unit, "b/")) {
		return false;
	}
	for (const char *c = prefixes; prefix && c <= prefix; c++)
		factor *= kilo;
	*ret_factor = factor;
	return true;
}

/* ---- parsing ---- */

/* A row whose figures were all left out. */
static void drop_empty_rows(struct bench_reading *reading)
{
	size_t kept = 0;

	for (size_t i = 0; i < reading->row_count; i++)
		if (reading->rows[i].metric_count || reading->rows[i].sample_count)
			reading->rows[kept++] = reading->rows[i];
	reading->row_count = kept;
}

static int check_reading(struct parser *p)
{
	size_t figures = 0;

	drop_empty_rows(p->reading);

	for (size_t i = 0; i < p->reading->row_count; i++) {
		struct bench_row *row = &p->reading->rows[i];

		if (row->sample_count && row_from_samples(row) < 0)
			return ctx_oom(p->ctx);
		figures += row->metric_count;
	}
	if (!figures && p->vague)
		return ctx_fail(p->ctx, -EBADMSG, "%s: its figures have so few digits that they can be wrong "
			"by more than 5 %%; measure larger messages", p->tool);
	return figures ? 0 : parser_failed(p);
}

int bench_parse(struct vfctl_ctx *ctx, enum bench_tool tool, const struct bench_extract *extract,
	const char *text, size_t len, struct bench_reading **ret)
{
	_cleanup_(bench_reading_freep) struct bench_reading *reading = calloc(1, sizeof(*reading));
	struct parser p = {.ctx = ctx, .tool = bench_tool_name(tool), .kind = kinds[tool],
		.extract = extract, .text = {text, text + len}, .reading = reading};
	int r;

	if (!reading)
		return ctx_oom(ctx);
	r = p.kind->parse(&p);
	if (r == 0)
		r = check_reading(&p);
	/* The tool's own error explains more than what is missing because of it. */
	if ((r == 0 || r == -EBADMSG) && parser_own_error(&p) < 0)
		r = -EIO;
	if (r < 0)
		return r;
	*ret = steal(reading);
	return 0;
}
