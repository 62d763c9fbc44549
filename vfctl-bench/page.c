// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report as one HTML page: report.html with the report in it, as text for browsers without
 * JavaScript and as JSON for its script. Names come from untrusted plans and results, so neither
 * text may end the element in which it is.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report_html.h" /* generated from report.html */
#include "verbs.h"

/* Escape HTML; control characters are omitted. */
static void put_html(FILE *to, const char *text)
{
	for (; *text; text++) {
		const char *entity = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;"
			: *text == '"' ? "&quot;" : *text == '\'' ? "&#39;" : NULL;

		if (entity)
			fputs(entity, to);
		else if ((unsigned char)*text >= ' ' || *text == '\n' || *text == '\t')
			putc(*text, to);
	}
}

/* These characters occur only in strings, where JSON can escape them. */
static void put_script_json(FILE *to, const char *json)
{
	for (; *json; json++)
		if (*json == '<' || *json == '>' || *json == '&')
			fprintf(to, "\\u%04x", *json);
		else
			putc(*json, to);
}

static int put_report(FILE *to, const struct vfctl_bench_report *r)
{
	_free_ char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);
	struct out *out = memory ? out_new(memory) : NULL;
	bool good = out != NULL;

	if (out) {
		out_set_lines(out);
		bench_put_report(out, r, true);
		good = out_close(out);
	}
	if (memory)
		good &= fclose(memory) == 0;
	if (good)
		put_script_json(to, text);
	return good ? 0 : -ENOMEM;
}

static int put_page(struct vfctl_ctx *ctx, FILE *to, const struct vfctl_bench_report *r)
{
	static const char *const marks[] = {"@NAME@", "@TEXT@", "@REPORT@"};
	const char *rest = report_html;
	_free_ char *text = NULL;
	int error = vfctl_bench_markdown(ctx, r, &text);

	for (size_t i = 0; i < ARRAY_SIZE(marks) && error == 0; i++) {
		const char *at = strstr(rest, marks[i]);

		fwrite(rest, 1, (size_t)(at - rest), to);
		rest = at + strlen(marks[i]);
		if (i == 2)
			error = put_report(to, r);
		else
			put_html(to, i ? text : r->name);
	}
	fputs(rest, to);
	return error;
}

int bench_make_page(struct vfctl_ctx *ctx, const struct vfctl_bench_report *report, char **ret_text)
{
	_free_ char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int error = to ? put_page(ctx, to, report) : -ENOMEM;

	if (to && fclose(to) != 0)
		error = -ENOMEM;
	if (error == 0)
		*ret_text = steal(text);
	return error;
}
