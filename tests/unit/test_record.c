// SPDX-License-Identifier: GPL-2.0-or-later
/* A record of every kind of member: read, refused, written, freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/record_json.h"
#include "placement/model/host_model.h"

static struct vfctl_ctx *ctx;

enum colour { COLOUR_UNKNOWN, COLOUR_RED, COLOUR_BLUE };

struct leaf {
	char *text;
	uint32_t number;
};

struct behind {
	struct leaf *leaves;
	size_t leaf_count;
	struct vfctl_cpuset cpus;
};

struct sample {
	struct behind *behind;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	int node;
	uint64_t unknown;
	bool flag;
	enum colour colour;
	char *text;
	char chars[6];
	char uuid[37];
	char **texts;
	struct vfctl_cpuset cpus;
	struct vfctl_bdf address;
	struct leaf *leaves;
	size_t leaf_count;
	struct leaf array[3];
	size_t array_count;
	int own;
};

static const char *colour_word(int value)
{
	static const char *const words[] = {NULL, "red", "blue"};

	return words[value];
}

/* A number that is written as "n=5"; null is -7. */
static int read_own(struct record_reading *r, const struct json *value, void *at)
{
	int *number = at;

	if (json_kind(value) == JSON_KIND_NULL) {
		*number = -7;
		return 0;
	}
	if (!json_text(value) || sscanf(json_text(value), "n=%d", number) != 1)
		return record_bad(r, "it is not of the form n=5");
	return 0;
}

static void write_own(struct record_writing *w, const void *at)
{
	const int *number = at;

	buf_printf(w->out, "\"n=%d\"", *number);
}

static const struct record_own own = {read_own, write_own};

#define LEAF(member) RECORD_AT(struct leaf, member)
static const struct record_row leaf_rows[] = {
	{"text", "a text", RECORD_TEXT, RECORD_REQUIRED, LEAF(text)},
	{"number", "a number", RECORD_NUMBER, RECORD_OPTIONAL, LEAF(number), .max = 9},
};
static const struct record leaf_record = {RECORD(struct leaf, leaf_rows)};

#define AT(member) RECORD_AT(struct sample, member)
#define BEHIND .via = offsetof(struct sample, behind) + 1
static const struct record_row sample_rows[] = {
	{"version", "2", RECORD_VERSION, RECORD_REQUIRED, .max = 2},
	{"u8", "a number", RECORD_NUMBER, 0, AT(u8), .max = 200},
	{"u16", "a number", RECORD_NUMBER, 0, AT(u16), .max = UINT16_MAX},
	{"u32", "a number", RECORD_NUMBER, 0, AT(u32), .max = UINT32_MAX},
	{"u64", "a number", RECORD_NUMBER, 0, AT(u64), .max = INT64_MAX},
	{"node", "a number or null", RECORD_NUMBER, RECORD_NULLABLE, AT(node), .max = 9},
	{"unknown", "a number or null", RECORD_NUMBER, RECORD_NULLABLE, AT(unknown), .max = 9},
	{"flag", "a flag", RECORD_FLAG, 0, AT(flag)},
	{"colour", "a word", RECORD_WORD, RECORD_NULLABLE, AT(colour), .word = colour_word,
		.max = COLOUR_BLUE},
	{"text", "a text", RECORD_TEXT, RECORD_NULLABLE, AT(text)},
	{"chars", "a text", RECORD_CHARS, 0, AT(chars)},
	{"uuid", "a UUID", RECORD_UUID, 0, AT(uuid)},
	{"texts", "texts", RECORD_TEXTS, 0, AT(texts), .max = 2},
	{"cpus", "CPUs", RECORD_CPUS, 0, AT(cpus)},
	{"address", "an address", RECORD_ADDRESS, 0, AT(address)},
	{"leaves", "a list", RECORD_LIST, 0, RECORD_ENTRIES(struct sample, leaves, leaf_count),
		.inner = &leaf_record},
	{"array", "an array", RECORD_ARRAY, 0, RECORD_ENTRIES(struct sample, array, array_count),
		.max = 3, .inner = &leaf_record},
	{"own", "an own form", RECORD_OWN, RECORD_NULLABLE, AT(own), .own = &own},
	{"far", "a list elsewhere", RECORD_LIST, 0, BEHIND,
		RECORD_ENTRIES(struct behind, leaves, leaf_count), .inner = &leaf_record},
	{"far_cpus", "CPUs elsewhere", RECORD_CPUS, 0, BEHIND, RECORD_AT(struct behind, cpus)},
};
static const struct record sample_record = {RECORD(struct sample, sample_rows)};

/* ---- reading ---- */

static int read_text(const char *text, const struct record *record, void *object)
{
	_json_doc_ struct json *root = NULL;
	struct record_reading r = {.ctx = ctx};

	if (json_read(ctx, "f", text, strlen(text), &root) < 0)
		fail_msg("%s: %s", text, vfctl_ctx_error(ctx));
	return record_read(&r, record, root, object);
}

static int read_sample(const char *text, struct sample *ret)
{
	*ret = (struct sample){.behind = calloc(1, sizeof(*ret->behind))};
	assert_non_null(ret->behind);
	return read_text(text, &sample_record, ret);
}

/* What is behind a pointer is not the record's: its owner frees it. */
static void clear_sample(struct sample *s)
{
	for (size_t i = 0; i < s->behind->leaf_count; i++)
		record_clear(&leaf_record, &s->behind->leaves[i]);
	free(s->behind->leaves);
	free(s->behind);
	record_clear(&sample_record, s);
}

static void assert_written(const struct record *record, const void *object, const char *text)
{
	_buf_ struct buf out = {0};

	record_write(&out, record, object);
	assert_false(out.failed);
	assert_string_equal(out.data, text);
}

static const char whole[] =
	"{\"version\": 2, \"u8\": 200, \"u16\": 65535, \"u32\": 4294967295, "
	"\"u64\": 9223372036854775807, \"node\": 9, \"unknown\": 0, \"flag\": true, "
	"\"colour\": \"blue\", \"text\": \"\xc3\xa9 \\\"\", \"chars\": \"abcde\", "
	"\"uuid\": \"6a1c2f3e-0000-4000-8000-000000000001\", \"texts\": [\"a\", \"\"], "
	"\"cpus\": \"0-3,8\", \"address\": \"0000:3b:00.1\", "
	"\"leaves\": [{\"text\": \"x\", \"number\": 9}, {\"text\": \"y\"}, {\"text\": \"z\"}], "
	"\"array\": [{\"text\": \"1\"}, {\"text\": \"2\"}, {\"text\": \"3\"}], \"own\": \"n=5\", "
	"\"far\": [{\"text\": \"w\", \"number\": 1}], \"far_cpus\": \"4\"}";

static void each_kind_is_read_and_written(void **state)
{
	struct sample s;

	assert_int_equal(read_sample(whole, &s), 0);
	assert_int_equal(s.u8, 200);
	assert_int_equal(s.u16, UINT16_MAX);
	assert_true(s.u32 == UINT32_MAX && s.u64 == INT64_MAX);
	assert_int_equal(s.node, 9);
	assert_true(s.unknown == 0 && s.flag);
	assert_int_equal(s.colour, COLOUR_BLUE);
	assert_string_equal(s.text, "\xc3\xa9 \"");
	assert_string_equal(s.chars, "abcde");
	assert_string_equal(s.uuid, "6a1c2f3e-0000-4000-8000-000000000001");
	assert_string_equal(s.texts[1], "");
	assert_null(s.texts[2]);
	assert_int_equal(vfctl_cpuset_count(&s.cpus), 5);
	assert_int_equal(s.address.bus, 0x3b);
	assert_int_equal(s.leaf_count, 3);
	assert_int_equal(s.leaves[0].number, 9);
	assert_string_equal(s.leaves[2].text, "z");
	assert_int_equal(s.array_count, 3);
	assert_string_equal(s.array[2].text, "3");
	assert_int_equal(s.own, 5);
	assert_string_equal(s.behind->leaves[0].text, "w");
	assert_true(vfctl_cpuset_has(&s.behind->cpus, 4));
	assert_written(&sample_record, &s, whole);
	clear_sample(&s);
}

/* What is missing is null where it may be null, else zero. */
static void what_is_missing_is_null_or_zero(void **state)
{
	static const char *const texts[] = {"{\"version\": 2}",
		"{\"version\": 2, \"node\": null, \"unknown\": null, \"colour\": null, "
		"\"text\": null, \"own\": null}"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct sample s;

		assert_int_equal(read_sample(texts[i], &s), 0);
		assert_int_equal(s.node, -1);
		assert_true(s.unknown == UINT64_MAX);
		assert_int_equal(s.own, -7);
		assert_null(s.text);
		assert_written(&sample_record, &s, "{\"version\": 2, \"u8\": 0, \"u16\": 0, "
			"\"u32\": 0, \"u64\": 0, \"node\": null, \"unknown\": null, "
			"\"flag\": false, \"colour\": null, \"text\": null, \"chars\": \"\", "
			"\"uuid\": \"\", \"texts\": [], \"cpus\": \"\", "
			"\"address\": \"0000:00:00.0\", \"leaves\": [], \"array\": [], "
			"\"own\": \"n=-7\", \"far\": [], \"far_cpus\": \"\"}");
		clear_sample(&s);
	}
}

static const struct {
	const char *member, *message;
} faults[] = {
	{"\"version\": 1", "version: this vfctl reads version 2, not 1"},
	{"\"version\": -2", "version: this vfctl reads version 2, not -2"},
	{"\"version\": \"2\"", "version: it is a text; it must be a whole number"},
	{"\"u8\": 201", "u8: 201 is not 0 to 200"},
	{"\"u8\": -1", "u8: -1 is not 0 to 200"},
	{"\"u8\": 1.0", "u8: it is a fraction; it must be a whole number"},
	{"\"u8\": null", "u8: it is null; it must be a whole number"},
	{"\"u16\": 65536", "u16: 65536 is not 0 to 65535"},
	{"\"u32\": 4294967296", "u32: 4294967296 is not 0 to 4294967295"},
	{"\"u64\": -1", "u64: -1 is not 0 to 9223372036854775807"},
	{"\"node\": -1", "node: -1 is not 0 to 9"},
	{"\"unknown\": true", "unknown: it is true or false; it must be a whole number"},
	{"\"flag\": 1", "flag: it is a whole number; it must be true or false"},
	{"\"flag\": null", "flag: it is null; it must be true or false"},
	{"\"colour\": \"green\"", "colour: 'green' is not one of red, blue, or null"},
	{"\"colour\": 1", "colour: it is a whole number; it must be one of red, blue, or null"},
	{"\"text\": []", "text: it is a list; it must be a text"},
	{"\"chars\": \"abcdef\"", "chars: it has 6 bytes, more than 5"},
	{"\"chars\": null", "chars: it is null; it must be a text"},
	{"\"uuid\": \"6a1c2f3e\"", "uuid: '6a1c2f3e' is not a UUID"},
	{"\"texts\": \"a\"", "texts: it is a text; it must be a list"},
	{"\"texts\": [\"a\", 1]", "texts[1]: it is a whole number; it must be a text"},
	{"\"texts\": [\"a\", \"b\", \"c\"]", "texts: it has 3 entries, more than 2"},
	{"\"cpus\": \"1-\"", "cpus: '1-' is not a list of CPUs such as 0-3,8"},
	{"\"cpus\": \"4096\"", "cpus: '4096' has CPUs of 4096 or more"},
	{"\"cpus\": 1", "cpus: it is a whole number; it must be a text"},
	{"\"address\": \"3b:00\"", "address: '3b:00' is not a PCI address"},
	{"\"leaves\": {}", "leaves: it is an object; it must be a list"},
	{"\"leaves\": null", "leaves: it is null; it must be a list"},
	{"\"leaves\": [{\"text\": \"a\"}, 1]",
		"leaves[1]: it is a whole number; it must be an object"},
	{"\"leaves\": [{\"text\": \"a\"}, {}]", "leaves[1].text: the member is missing"},
	{"\"leaves\": [{\"text\": null}]", "leaves[0].text: it is null; it must be a text"},
	{"\"leaves\": [{\"text\": \"a\", \"number\": 10}]", "leaves[0].number: 10 is not 0 to 9"},
	{"\"leaves\": [{\"text\": \"a\", \"size\": 10}]",
		"leaves[0]: member 'size' does not exist; the members are text, number"},
	{"\"array\": [{\"text\": \"a\"}, {\"text\": \"b\"}, {\"text\": \"c\"}, {\"text\": \"d\"}]",
		"array: it has 4 entries, more than 3"},
	{"\"own\": 5", "own: it is not of the form n=5"},
	{"\"far\": [{\"text\": \"a\"}, {\"text\": 1}]",
		"far[1].text: it is a whole number; it must be a text"},
	{"\"far_cpus\": \"x\"", "far_cpus: 'x' is not a list of CPUs such as 0-3,8"},
	{"\"other\": 1", "member 'other' does not exist; the members are version, u8, "},
};

static void each_fault_names_its_member(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		bool version = strstr(faults[i].member, "version");
		_free_ char *text = str_format("{%s%s}", faults[i].member,
			version ? "" : ", \"version\": 2");
		const char *message = faults[i].message;
		struct sample s;
		int r = read_sample(text, &s);

		clear_sample(&s);
		if (r != -EINVAL)
			fail_msg("%s: %d", text, r);
		if (strncmp(vfctl_ctx_error(ctx), message, strlen(message)))
			fail_msg("%s: %s", text, vfctl_ctx_error(ctx));
	}
}

static void a_missing_member_is_named(void **state)
{
	struct sample s;

	assert_int_equal(read_sample("{}", &s), -EINVAL);
	assert_string_equal(vfctl_ctx_error(ctx), "version: the member is missing");
	clear_sample(&s);
	assert_int_equal(read_sample("[]", &s), -EINVAL);
	assert_string_equal(vfctl_ctx_error(ctx), "it is a list; it must be an object");
	clear_sample(&s);
}

/* A newer version may have written members that a loose record does not know. */
static void a_loose_record_ignores_unknown_members(void **state)
{
	static const char text[] = "{\"text\": \"a\", \"colour\": \"red\", \"number\": 10}";
	struct record loose = leaf_record;
	struct leaf leaf = {0};

	loose.loose = true;
	assert_int_equal(read_text(text, &leaf_record, &leaf), -EINVAL);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "member 'colour' does not exist"));
	assert_int_equal(read_text(text, &loose, &leaf), -EINVAL);
	assert_string_equal(vfctl_ctx_error(ctx), "number: 10 is not 0 to 9");
	record_clear(&loose, &leaf);
}

static void what_is_not_json_is_named(void **state)
{
	struct leaf leaf = {0};

	assert_int_equal(record_parse(ctx, "f", "{]", 2, &leaf_record, &leaf), -EBADMSG);
	assert_int_equal(strncmp(vfctl_ctx_error(ctx), "f:1:2: not JSON", 15), 0);
	assert_int_equal(record_parse(ctx, "f", "[]", 2, &leaf_record, &leaf), -EINVAL);
	assert_string_equal(vfctl_ctx_error(ctx), "it is a list; it must be an object");
}

/* A text of @len bytes as the member "text", and as an entry of a list. */
static int read_long(size_t len, bool in_list)
{
	_free_ char *text = str_format("{\"version\": 2, %s%0*d%s}",
		in_list ? "\"texts\": [\"" : "\"text\": \"", (int)len, 0, in_list ? "\"]" : "\"");
	struct sample s;
	int r = read_sample(text, &s);

	clear_sample(&s);
	return r;
}

static void texts_and_lists_have_bounds(void **state)
{
	_buf_ struct buf text = {0};
	struct sample s;

	for (int in_list = 0; in_list < 2; in_list++) {
		assert_int_equal(read_long(RECORD_TEXT_MAX, in_list), 0);
		assert_int_equal(read_long(RECORD_TEXT_MAX + 1, in_list), -EINVAL);
		assert_non_null(strstr(vfctl_ctx_error(ctx), ": it has 257 bytes, more than 256"));
	}
	buf_puts(&text, "{\"version\": 2, \"leaves\": [{\"text\": \"\"}");
	for (int i = 1; i < 65536; i++)
		buf_puts(&text, ",{\"text\":\"\"}");
	buf_puts(&text, "]}");
	assert_int_equal(read_sample(text.data, &s), 0);
	assert_int_equal(s.leaf_count, 65536);
	clear_sample(&s);
	text.len -= 2;
	buf_puts(&text, ",{\"text\":\"\"}]}");
	assert_int_equal(read_sample(text.data, &s), -EINVAL);
	assert_string_equal(vfctl_ctx_error(ctx), "leaves: it has 65537 entries, more than 65536");
	clear_sample(&s);
}

/* ---- writing ---- */

struct pair {
	struct leaf *a, *b;
	size_t a_count, b_count;
	uint16_t number;
	char *text;
	char chars[4];
	bool flag;
	struct vfctl_cpuset cpus;
};

#define PAIR(member) RECORD_AT(struct pair, member)
static const struct record_row pair_rows[] = {
	{"number", "a number", RECORD_NUMBER, RECORD_OPTIONAL, PAIR(number), .max = 9},
	{"text", "a text", RECORD_TEXT, RECORD_OPTIONAL, PAIR(text)},
	{"chars", "a text", RECORD_CHARS, RECORD_OPTIONAL, PAIR(chars)},
	{"flag", "a flag", RECORD_FLAG, RECORD_OPTIONAL, PAIR(flag)},
	{"cpus", "CPUs", RECORD_CPUS, RECORD_OPTIONAL, PAIR(cpus)},
	{"a", "a list", RECORD_LIST, 0, RECORD_ENTRIES(struct pair, a, a_count),
		.inner = &leaf_record},
	{"b", "a list", RECORD_LIST, RECORD_OPTIONAL, RECORD_ENTRIES(struct pair, b, b_count),
		.inner = &leaf_record, .lines = RECORD_HANGING},
};

static void lines_break_as_the_record_says(void **state)
{
	struct record record = {RECORD(struct pair, pair_rows)};
	struct leaf leaves[] = {{.text = (char *)"x", .number = 1}, {.text = (char *)"y"}};
	struct pair p = {0};

	assert_written(&record, &p, "{\"a\": []}");
	record.lines = RECORD_COMPACT;
	assert_written(&record, &p, "{\"a\":[]}");
	record.lines = RECORD_TALL;
	assert_written(&record, &p, "{\n\t\"a\": []\n}");

	p = (struct pair){.a = leaves, .a_count = 2, .b = leaves, .b_count = 2, .number = 3,
		.text = (char *)"", .chars = "c", .flag = true};
	vfctl_cpuset_add(&p.cpus, 2);
	assert_written(&record, &p, "{\n\t\"number\": 3,\n\t\"text\": \"\",\n\t\"chars\": \"c\","
		"\n\t\"flag\": true,\n\t\"cpus\": \"2\","
		"\n\t\"a\": [\n\t\t{\"text\": \"x\", \"number\": 1},"
		"\n\t\t{\"text\": \"y\"}\n\t],\n\t\"b\": [{\"text\": \"x\", \"number\": 1},"
		"\n\t\t{\"text\": \"y\"}]\n}");
	record.lines = RECORD_FLAT;
	p.b_count = 0;
	assert_written(&record, &p, "{\"number\": 3, \"text\": \"\", \"chars\": \"c\", "
		"\"flag\": true, \"cpus\": \"2\", \"a\": [{\"text\": \"x\", \"number\": 1}, "
		"{\"text\": \"y\"}]}");
}

/* ---- rows ---- */

/* The size of a member of that kind; 0: any. */
static size_t size_of(enum record_kind kind)
{
	static const size_t sizes[] = {[RECORD_FLAG] = sizeof(bool), [RECORD_WORD] = sizeof(int),
		[RECORD_TEXT] = sizeof(char *), [RECORD_UUID] = 37,
		[RECORD_TEXTS] = sizeof(char **), [RECORD_CPUS] = sizeof(struct vfctl_cpuset),
		[RECORD_ADDRESS] = sizeof(struct vfctl_bdf), [RECORD_OWN] = 0};

	return sizes[kind];
}

static bool is_number_size(size_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* No compiler compares the kind of a row with the type of its member. */
static void check_rows(const struct record *record)
{
	for (size_t i = 0; i < record->row_count; i++) {
		const struct record_row *row = &record->rows[i];
		size_t size = size_of(row->kind);
		bool list = row->kind == RECORD_LIST || row->kind == RECORD_ARRAY;

		print_message("%s\n", row->name);
		assert_non_null(row->help);
		if (size)
			assert_int_equal(row->size, size);
		if (row->kind == RECORD_NUMBER) {
			assert_true(is_number_size(row->size) && row->max);
			assert_true(row->max <= UINT64_MAX >> (64 - 8 * row->size));
		}
		if (row->kind == RECORD_WORD)
			assert_non_null(row->word((int)row->max));
		assert_true(!row->inner == !list && !row->own == (row->kind != RECORD_OWN));
		assert_true(row->via || row->offset + row->size <= record->size);
		if (row->inner)
			check_rows(row->inner);
	}
}

static void each_row_of_the_model_fits_its_member(void **state)
{
	check_rows(&vfctl_model_record);
}

static int set_up(void **state)
{
	return vfctl_ctx_new(&ctx);
}

static int tear_down(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_read_and_written),
		cmocka_unit_test(what_is_missing_is_null_or_zero),
		cmocka_unit_test(each_fault_names_its_member),
		cmocka_unit_test(a_missing_member_is_named),
		cmocka_unit_test(a_loose_record_ignores_unknown_members),
		cmocka_unit_test(what_is_not_json_is_named),
		cmocka_unit_test(texts_and_lists_have_bounds),
		cmocka_unit_test(lines_break_as_the_record_says),
		cmocka_unit_test(each_row_of_the_model_fits_its_member),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
