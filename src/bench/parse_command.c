// SPDX-License-Identifier: GPL-2.0-or-later
/* A command of the user, who states where its output has the number. */
#include <errno.h>
#include <regex.h>
#include <stdio.h>

#include "base/json.h"
#include "bench/parser.h"

static int put_value(struct parser *p, double value)
{
	struct bench_row *row = parser_row(p, 0);

	if (!row)
		return -ENOMEM;
	return row_put(row, "value", p->extract->unit ? p->extract->unit : "", value, false) < 0
		? ctx_oom(p->ctx) : 0;
}

/* ---- a regular expression ---- */

static int match_command_line(struct parser *p, const regex_t *regex, const char *text)
{
	regmatch_t m[2];
	double value;
	int r;

	if (regexec(regex, text, regex->re_nsub ? 2 : 1, m, 0) != 0)
		return ctx_fail(p->ctx, -EIO, "the output of the command has no match for '%s'",
			p->extract->regex);
	if (regex->re_nsub && m[1].rm_so < 0)
		return ctx_fail(p->ctx, -EIO, "the group of '%s' has no match", p->extract->regex);
	m[0] = regex->re_nsub ? m[1] : m[0];
	r = parser_number(p, span_trim((struct span){text + m[0].rm_so, text + m[0].rm_eo}), "value",
		&value);
	return r < 0 ? r : put_value(p, value);
}

static int by_regex(struct parser *p)
{
	_free_ char *text = strndup(p->text.p ? p->text.p : "", span_len(p->text));
	char message[128];
	regex_t regex;
	int r;

	if (!text)
		return ctx_oom(p->ctx);
	r = regcomp(&regex, p->extract->regex, REG_EXTENDED | REG_NEWLINE);
	if (r != 0) {
		regerror(r, &regex, message, sizeof(message));
		return ctx_fail(p->ctx, -EINVAL, "regular expression '%s': %s", p->extract->regex, message);
	}
	r = match_command_line(p, &regex, text);
	regfree(&regex);
	return r;
}

/* ---- a path ---- */

static int bad_path(struct parser *p)
{
	return ctx_fail(p->ctx, -EINVAL, "JSON path '%s' is not of the form a.b[0].c",
		p->extract->json_path);
}

/*
 * Follow one step: ".name" (the first without its point) or "[2]". NULL in *io: there is no such
 * value.
 */
static int walk_command_line(struct parser *p, const char **io_path, const struct json **io)
{
	const char *path = *io_path + (**io_path == '.');
	size_t len = strcspn(path, ".[");
	char name[128];
	uint64_t index;

	if (*path == '[') {
		const char *close = strchr(path, ']');

		if (!close || !number_whole((struct span){path + 1, close}, &index))
			return bad_path(p);
		*io = json_item(*io, index);
		*io_path = close + 1;
		return 0;
	}
	if (!len || len >= sizeof(name))
		return bad_path(p);
	snprintf(name, sizeof(name), "%.*s", (int)len, path);
	*io = json_member(*io, name);
	*io_path = path + len;
	return 0;
}

static int by_path(struct parser *p)
{
	_json_doc_ struct json *root = NULL;
	const char *path = p->extract->json_path, *text;
	const struct json *value;
	double number;
	int r = json_read_loose(p->ctx, "the command's output", p->text.p, span_len(p->text), &root);

	value = root;
	do {
		r = r < 0 ? r : walk_command_line(p, &path, &value);
	} while (r == 0 && *path);
	if (r < 0)
		return r;
	text = json_text(value);
	if (text)
		r = parser_number(p, span_trim(span_of(text)), p->extract->json_path, &number);
	else if (json_double(value, &number) < 0)
		r = ctx_fail(p->ctx, -EIO, "the command's output has no number at '%s'",
			p->extract->json_path);
	return r < 0 ? r : put_value(p, number);
}

static int parse_command(struct parser *p)
{
	if (!p->extract || !p->extract->regex == !p->extract->json_path)
		return ctx_usage_error(p->ctx, -EINVAL, "for the output of a command, give either a "
			"regular expression or a JSON path");
	return p->extract->regex ? by_regex(p) : by_path(p);
}

const struct parser_kind command_output = {.name = "command", .parse = parse_command};
