// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "../../vfctl/out.h"
#include "base/ctx.h"
#include "spec/doc.h"

static const struct {
	const char *raw, *shown, *json;
} texts[] = {
	{"plain", "plain", "plain"},
	{"", "-", ""},
	{"a\nb\tc", "a?b?c", "a\nb\tc"},
	{"\x1b[31mred\x7f", "?[31mred?", "\x1b[31mred\x7f"},
	{"quote\" back\\", "quote\" back\\", "quote\" back\\"},
	{"h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80", "h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80",
		"h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80"},
	/* C1 controls, alone (an 8-bit terminal obeys) and as UTF-8 */
	{"\x9b" "31m", "?31m", "\xef\xbf\xbd" "31m"},
	{"\xc2\x9b" "31m", "??31m", "\xef\xbf\xbd\xef\xbf\xbd" "31m"},
	/* no UTF-8: overlong, surrogate, beyond Unicode, cut short */
	{"\xc0\x80", "??", "\xef\xbf\xbd\xef\xbf\xbd"},
	{"\xed\xa0\x80", "???", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	{"\xf4\x90\x80\x80", "????", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	{"\xe2\x82", "??", "\xef\xbf\xbd\xef\xbf\xbd"},
};

#define COUNT (sizeof(texts) / sizeof(texts[0]))

static void json_reads_back(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct out *out = out_new(file);
	json_t *root;
	json_error_t error;

	out_open(out, NULL, '{');
	out_open(out, "texts", '[');
	for (size_t i = 0; i < COUNT; i++)
		out_str(out, NULL, texts[i].raw);
	json_close(out);
	out_open(out, "empty", '{');
	json_close(out);
	out_int(out, "least", INT64_MIN);
	out_bool(out, "yes", true);
	out_null(out, "nothing");
	out_str(out, "key\n\"", NULL);
	json_close(out);
	assert_true(out_close(out));
	fclose(file);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("%s in:\n%s", error.text, text);
	for (size_t i = 0; i < COUNT; i++)
		assert_string_equal(
			json_string_value(json_array_get(json_object_get(root, "texts"), i)),
			texts[i].json);
	assert_true(json_integer_value(json_object_get(root, "least")) == INT64_MIN);
	assert_true(json_is_true(json_object_get(root, "yes")));
	assert_true(json_is_null(json_object_get(root, "nothing")));
	assert_true(json_is_null(json_object_get(root, "key\n\"")));
	json_decref(root);
	free(text);
}

/* A reader of YAML 1.1 or 1.2 takes these for something else unless they are in quotes. */
static const char *const like_values[] = {"", "~", "null", "Null", "yes", "No", "ON", "y", "true", "0", "-1", "+1",
	"0x1f", "0b1", "1_000", "1.5", ".5", "1e3", ".inf", ".NaN", "52:54:00:12:34:56", "2025-01-01", "<<", "=", "- a", "#a"};

static void write_yaml(struct out *out)
{
	out_open(out, NULL, '{');
	out_open(out, "texts", '[');
	for (size_t i = 0; i < COUNT; i++)
		out_str(out, NULL, texts[i].raw);
	json_close(out);
	out_open(out, "like", '[');
	for (size_t i = 0; i < ARRAY_SIZE(like_values); i++)
		out_str(out, NULL, like_values[i]);
	json_close(out);
	out_open(out, "values", '{');
	out_int(out, "least", INT64_MIN);
	out_bool(out, "yes", true);
	out_null(out, "nothing");
	out_str(out, "word", "a: b, [c]");
	json_close(out);
	out_open(out, "empty", '[');
	json_close(out);
	json_close(out);
}

static void yaml_reads_back(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct out *out = out_new(file);
	struct doc_node *root = NULL;
	struct vfctl_ctx *ctx;

	assert_true(out_set_yaml(out));
	write_yaml(out);
	assert_true(out_close(out));
	fclose(file);
	assert_int_equal(vfctl_ctx_new(&ctx), 0);
	/* Only a document in which all text is printable is text for a terminal. */
	for (const char *p = text; *p; p++)
		assert_true(*p == '\n' || ((unsigned char)*p >= ' ' && *p != 0x7f));
	assert_null(strstr(text, "\xc2\x9b"));
	if (doc_parse(ctx, "out", strstr(text, "like:"), strlen(strstr(text, "like:")), 1 << 20, &root) < 0)
		fail_msg("%s in:\n%s", vfctl_ctx_error(ctx), text);
	for (size_t i = 0; i < ARRAY_SIZE(like_values); i++) {
		assert_string_equal(root->items[0]->items[i]->text, like_values[i]);
		assert_true(root->items[0]->items[i]->quoted);
	}
	doc_free(root);
	assert_non_null(strstr(text, "values:\n  least: -9223372036854775808\n  'yes': true\n  nothing: null\n"
		"  word: 'a: b, [c]'\nempty: []\n"));
	for (size_t i = 0; i < COUNT; i++)
		if (!strpbrk(texts[i].json, "\n\x1b\"") && !strstr(texts[i].json, "\xf0"))
			assert_non_null(strstr(text, texts[i].json));
	vfctl_ctx_free(ctx);
	free(text);
}

static void yaml_that_cannot_be_written_is_told(void **state)
{
	FILE *file = fopen("/dev/full", "w");
	struct out *out = out_new(file);

	setvbuf(file, NULL, _IONBF, 0);
	assert_true(out_set_yaml(out));
	write_yaml(out);
	assert_false(out_close(out));
	fclose(file);
}

static void tables_stay_aligned_and_clean(void **state)
{
	static const char *const headings[] = {"A", "B"};
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct out *out = out_new(file);
	const char *line;

	out_table(out, 0, headings, 2);
	for (size_t i = 0; i < COUNT; i++) {
		out_cell(out, "%s", texts[i].raw);
		out_cell(out, "%s", "|");
	}
	out_table_end(out);
	assert_true(out_close(out));
	fclose(file);
	line = strchr(text, '\n') + 1;
	for (size_t i = 0; i < COUNT; i++) {
		size_t len = strlen(texts[i].shown), columns = 0;
		const char *bar = strchr(line, '|');

		assert_memory_equal(line, texts[i].shown, len);
		for (const char *p = line; p < bar; p++)
			columns += ((unsigned char)*p & 0xc0) != 0x80;
		assert_int_equal(columns, strlen("quote\" back\\") + 2);
		line = strchr(line, '\n') + 1;
	}
	assert_string_equal(line, "");
	free(text);
}

/* Of a name, a number, an address, a note and nothing, each the first to give way. */
static void tables_give_way(void **state)
{
	static const char *const headings[] = {"NAME", "ID", "ADDRESS", "NOTE", "EMPTY"};
	static const char *const cells[] = {"web", "7", "0000:10:10.0", "one two three", ""};
	static const signed char give[] = {OUT_STAYS, 1, OUT_LATE, OUT_WRAPS_SOON, OUT_WRAPS};
	static const struct {
		unsigned width;
		const char *text;
	} cases[] = {
		{0, "NAME  ID  ADDRESS       NOTE           EMPTY\n"
		    "web   7   0000:10:10.0  one two three  -\n"},
		{44, "NAME  ID  ADDRESS       NOTE           EMPTY\n"
		     "web   7   0000:10:10.0  one two three  -\n"},
		{43, "NAME  ID  ADDRESS       NOTE\nweb   7   0000:10:10.0  one two three\n"},
		{36, "NAME  ADDRESS       NOTE\nweb   0000:10:10.0  one two three\n"},
		{30, "NAME  ADDRESS       NOTE\nweb   0000:10:10.0  one two\n"
		     "                    three\n"},
		{24, "NAME  NOTE\nweb   one two three\n"},
		{5, "NAME  NOTE\nweb   one\n      two\n      three\n"}, /* no word is cut */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t size;
		FILE *file = open_memstream(&text, &size);
		struct out *out = out_new(file);

		out_set_width(out, cases[i].width);
		out_table(out, 0, headings, 5);
		out_table_fit(out, give);
		for (size_t k = 0; k < 5; k++)
			out_cell(out, "%s", cells[k]);
		out_table_end(out);
		assert_true(out_close(out));
		fclose(file);
		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

static void lines_hold_one_line(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct out *out = out_new(file);

	out_line(out, "%s", "two\nlines");
	assert_true(out_close(out));
	fclose(file);
	assert_string_equal(text, "two?lines\n");
	free(text);
}

static void long_lines_are_folded(void **state)
{
	static const struct {
		unsigned width, indent;
		const char *line, *text;
	} cases[] = {
		{0, 4, "  a bb ccc dddd eeeee", "  a bb ccc dddd eeeee\n"},
		{80, 4, "  a bb ccc dddd eeeee", "  a bb ccc dddd eeeee\n"},
		{12, 4, "  a bb ccc dddd eeeee", "  a bb ccc\n    dddd\n    eeeee\n"},
		/* exactly as wide, and one column less */
		{21, 4, "  a bb ccc dddd eeeee", "  a bb ccc dddd eeeee\n"},
		{20, 4, "  a bb ccc dddd eeeee", "  a bb ccc dddd\n    eeeee\n"},
		{12, 4, "x longer-than-the-line a", "x longer-than-the-line\n    a\n"},
		/* The label stays with what it is of, lists are broken behind a comma. */
		{14, 8, "  cpus  0,2,4,6,8,10", "  cpus  0,2,4,\n        6,8,10\n"},
		/* Columns, not bytes. */
		{8, 2, "\xc3\xa9\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\xc3\xa9 e",
			"\xc3\xa9\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\xc3\xa9\n  e\n"},
		{12, 4, "", "\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t size;
		FILE *file = open_memstream(&text, &size);
		struct out *out = out_new(file);

		out_set_width(out, cases[i].width);
		out_fold(out, cases[i].indent, "%s", cases[i].line);
		assert_true(out_close(out));
		fclose(file);
		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

static void json_lines_are_lines(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct out *out = out_new(file);

	out_set_lines(out);
	for (int i = 0; i < 2; i++) {
		out_open(out, NULL, '{');
		out_int(out, "i", i);
		out_open(out, "list", '[');
		out_str(out, NULL, "a\nb");
		json_close(out);
		json_close(out);
	}
	assert_true(out_close(out));
	fclose(file);
	assert_string_equal(text, "{\"i\": 0, \"list\": [\"a\\u000ab\"]}\n"
		"{\"i\": 1, \"list\": [\"a\\u000ab\"]}\n");
	free(text);
}

/* The answer of a failure after an answer was begun, down to @depth, in a @root. */
static char *failed_answer(size_t depth, char root)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct out *out = out_new(file);

	if (depth > 0)
		out_open(out, NULL, root);
	if (depth > 1)
		out_open(out, root == '{' ? "rows" : NULL, '[');
	if (depth > 2)
		out_str(out, NULL, "one");
	out_error(out, "no \"room\"\n", "ENOSPC", 1);
	/* The caller goes on shutting what it opened, and may fail again. */
	json_close(out);
	out_error(out, "again", "EIO", 1);
	assert_true(out_close(out));
	fclose(file);
	return text;
}

static void an_error_ends_the_answer(void **state)
{
	for (size_t depth = 0; depth < 4; depth++)
		for (const char *root = "{["; *root; root++) {
			char *text = failed_answer(depth, *root);
			json_t *answer = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *error;

			assert_non_null(answer);
			error = json_object_get(json_is_array(answer)
				? json_array_get(answer, json_array_size(answer) - 1) : answer, "error");
			assert_string_equal(json_string_value(json_object_get(error, "message")),
				"no \"room\"\n");
			assert_string_equal(json_string_value(json_object_get(error, "code")), "ENOSPC");
			assert_int_equal(json_integer_value(json_object_get(error, "status")), 1);
			json_decref(answer);
			free(text);
		}
}

static void a_full_disk_is_told(void **state)
{
	FILE *file = fopen("/dev/full", "w");
	struct out *out = out_new(file);

	out_line(out, "lost");
	assert_false(out_close(out));
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_reads_back),
		cmocka_unit_test(yaml_reads_back),
		cmocka_unit_test(yaml_that_cannot_be_written_is_told),
		cmocka_unit_test(tables_stay_aligned_and_clean),
		cmocka_unit_test(tables_give_way),
		cmocka_unit_test(lines_hold_one_line),
		cmocka_unit_test(long_lines_are_folded),
		cmocka_unit_test(json_lines_are_lines),
		cmocka_unit_test(an_error_ends_the_answer),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
