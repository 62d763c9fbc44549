// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON, written at once; or YAML. */
#include <inttypes.h>
#include <math.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "out_state.h"
#include "spec/yaml.h"

/* The number of bytes of @text that JSON contains unchanged. */
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
			fputs("\\ufffd", file); /* JSON must be UTF-8 */
		text += len ? len : 1;
	}
	putc_unlocked('"', file);
}

/* ---- YAML ---- */

static bool write_yaml(void *data, const char *text, size_t len)
{
	return fwrite(text, 1, len, ((struct out *)data)->file) == len;
}

bool out_set_yaml(struct out *out)
{
	out->yaml = vfctl_yaml_new(write_yaml, out);
	return out->yaml;
}

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* YAML must be UTF-8 too. The writer escapes control characters. */
static void put_yaml(struct out *out, const char *text)
{
	_free_ char *clean = malloc(strlen(REPLACEMENT) * strlen(text) + 1);
	char *end = clean;

	while (clean && *text) {
		size_t span = plain_span(text), len = span ? span : 1;
		bool valid = span || (unsigned char)*text < 0x80;

		end = valid ? mempcpy(end, text, len) : mempcpy(end, REPLACEMENT, strlen(REPLACEMENT));
		text += len;
	}
	if (!clean) {
		out->failed = true;
		return;
	}
	*end = '\0';
	vfctl_yaml_text(out->yaml, clean);
}

/* ---- values ---- */

/*
 * When thousands of VFs are listed, printf() for each line's indentation would take most of the
 * time.
 */
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
	if (out->yaml) {
		if (key)
			put_yaml(out, key);
		return;
	}
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
	if (out->depth == DEPTH_MAX)
		abort(); /* a programming error: nothing is nested so deeply */
	out->closing[out->depth] = bracket == '{' ? '}' : ']';
	if (out->get_count) {
		out->keys[out->depth++] = key;
		return;
	}
	begin_value(out, key);
	if (out->yaml)
		vfctl_yaml_open(out->yaml, bracket);
	else
		putc(bracket, out->file);
	out->filled[out->depth++] = false;
}

void json_close(struct out *out)
{
	bool filled;

	if (!out->depth) /* out_error() has ended it */
		return;
	if (out->get_count) {
		get_close(out);
		out->answered = !out->depth;
		return;
	}
	if (out->yaml) {
		vfctl_yaml_close(out->yaml);
		out->answered = !--out->depth;
		return;
	}
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

/* A number, true, false or null. */
static void put_word(struct out *out, const char *word)
{
	if (out->yaml)
		vfctl_yaml_value(out->yaml, word);
	else
		fputs_unlocked(word, out->file);
}

void out_str(struct out *out, const char *key, const char *value)
{
	if (out->get_count) {
		get_value(out, key, value);
		return;
	}
	begin_value(out, key);
	if (out->yaml && value)
		put_yaml(out, value);
	else if (value)
		put_string(out->file, value);
	else
		put_word(out, "null");
}

/* Print a number or a boolean; NULL: null. */
static void put_plain(struct out *out, const char *key, const char *value)
{
	if (out->get_count) {
		get_value(out, key, value);
		return;
	}
	begin_value(out, key);
	put_word(out, value ? value : "null");
}

void out_int(struct out *out, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put_plain(out, key, text);
}

void out_real(struct out *out, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.12g", value);
	put_plain(out, key, isfinite(value) ? text : NULL);
}

void out_bool(struct out *out, const char *key, bool value)
{
	put_plain(out, key, value ? "true" : "false");
}

void out_null(struct out *out, const char *key)
{
	out_str(out, key, NULL);
}

void out_error(struct out *out, const char *message, const char *code, int status)
{
	if (out->answered || out->get_count)
		return;
	while (out->depth > 1)
		json_close(out);
	if (!out->depth || out->closing[0] == ']')
		out_open(out, NULL, '{');
	out_open(out, "error", '{');
	out_str(out, "message", message);
	out_str(out, "code", code);
	out_int(out, "status", status);
	while (out->depth)
		json_close(out);
}
