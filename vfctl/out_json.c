// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON, written as it comes. */
#include <inttypes.h>
#include <math.h>
#include <stdio_ext.h>
#include <stdlib.h>

#include "out_state.h"

/* How much of @text JSON takes as it is. */
static size_t plain_span(const char *text)
{
	size_t n = 0, len;

	while (text[n] && text[n] != '"' && text[n] != '\\' && (len = text_character(text + n)))
		n += len;
	return n;
}

static void put_string(FILE *file, const char *text)
{
	putc_unlocked('"', file);
	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t len = plain_span(text);

		if (len)
			fwrite_unlocked(text, 1, len, file);
		else if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else if (c < 0x80)
			fprintf(file, "\\u%04x", c);
		else
			fputs("\\ufffd", file); /* JSON is UTF-8 or it is not JSON */
		text += len ? len : 1;
	}
	putc_unlocked('"', file);
}

/* Listing thousands of VFs, printf() for each line's blanks is what takes the time. */
static void indent(const struct out *out)
{
	static const char blanks[] = "                                ";

	for (size_t left = out->lines ? 0 : 2 * out->depth, n; left; left -= n) {
		n = left < sizeof(blanks) - 1 ? left : sizeof(blanks) - 1;
		fwrite_unlocked(blanks, 1, n, out->file);
	}
}

static void begin_value(struct out *out, const char *key)
{
	out_begin(out);
	if (out->depth) {
		fputs_unlocked(out->filled[out->depth - 1] ? "," : "", out->file);
		if (!out->lines)
			putc_unlocked('\n', out->file);
		else if (out->filled[out->depth - 1])
			putc_unlocked(' ', out->file);
		out->filled[out->depth - 1] = true;
		indent(out);
	}
	if (key) {
		put_string(out->file, key);
		fputs_unlocked(": ", out->file);
	}
}

void out_set_lines(struct out *out)
{
	out->lines = true;
}

bool out_flush(struct out *out)
{
	return fflush(out->file) == 0 && !ferror(out->file);
}

void out_discard(struct out *out)
{
	__fpurge(out->file);
}

void out_open(struct out *out, const char *key, char bracket)
{
	begin_value(out, key);
	putc(bracket, out->file);
	if (out->depth == DEPTH_MAX)
		abort(); /* a programming error: nothing nests that deep */
	out->closing[out->depth] = bracket == '{' ? '}' : ']';
	out->filled[out->depth++] = false;
}

void out_shut(struct out *out)
{
	bool filled;

	if (!out->depth) /* out_error() ended it */
		return;
	filled = out->filled[--out->depth];
	if (filled && !out->lines) {
		putc('\n', out->file);
		indent(out);
	}
	putc(out->closing[out->depth], out->file);
	if (!out->depth)
		putc('\n', out->file);
	out->answered = !out->depth;
}

void out_str(struct out *out, const char *key, const char *value)
{
	begin_value(out, key);
	if (value)
		put_string(out->file, value);
	else
		fputs("null", out->file);
}

void out_int(struct out *out, const char *key, int64_t value)
{
	begin_value(out, key);
	fprintf(out->file, "%" PRId64, value);
}

void out_real(struct out *out, const char *key, double value)
{
	begin_value(out, key);
	if (isfinite(value))
		fprintf(out->file, "%.12g", value);
	else
		fputs("null", out->file);
}

void out_bool(struct out *out, const char *key, bool value)
{
	begin_value(out, key);
	fputs(value ? "true" : "false", out->file);
}

void out_null(struct out *out, const char *key)
{
	out_str(out, key, NULL);
}

void out_error(struct out *out, const char *message, const char *code, int status)
{
	if (out->answered)
		return;
	while (out->depth > 1)
		out_shut(out);
	if (!out->depth || out->closing[0] == ']')
		out_open(out, NULL, '{');
	out_open(out, "error", '{');
	out_str(out, "message", message);
	out_str(out, "code", code);
	out_int(out, "status", status);
	while (out->depth)
		out_shut(out);
}
