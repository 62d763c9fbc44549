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
	out_shut(out);
	out_open(out, "empty", '{');
	out_shut(out);
	out_int(out, "least", INT64_MIN);
	out_bool(out, "yes", true);
	out_null(out, "nothing");
	out_str(out, "key\n\"", NULL);
	out_shut(out);
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
		cmocka_unit_test(tables_stay_aligned_and_clean),
		cmocka_unit_test(lines_hold_one_line),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
