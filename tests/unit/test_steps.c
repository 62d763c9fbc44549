// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/steps.h"

/* Every call writes a letter: a-e apply, v verify, A-E undo. */
static char trace[64];
static char fails[8]; /* the letters that fail */

static void put(char letter)
{
	size_t n = strlen(trace);

	trace[n] = letter;
	trace[n + 1] = '\0';
}

static int call(struct vfctl_ctx *ctx, char letter)
{
	put(letter);
	return strchr(fails, letter) ? ctx_fail(ctx, -EIO, "%c failed", letter) : 0;
}

static int apply(struct vfctl_ctx *ctx, void *data)
{
	return call(ctx, *(const char *)data);
}

static int verify(struct vfctl_ctx *ctx, void *data)
{
	return call(ctx, 'v');
}

static int undo(struct vfctl_ctx *ctx, void *data)
{
	return call(ctx, (char)(*(const char *)data - 'a' + 'A'));
}

static int cancel(struct vfctl_ctx *ctx, void *data)
{
	put('x');
	ctx->cancelled = 1;
	return 0;
}

/* Rows a, b (no undo), c (verified); run with @failing; the words. */
static int run(const char *failing, bool cancelled_first, char words[256])
{
	struct step rows[] = {{.apply = apply, .undo = undo, .data = "a"},
		{.apply = apply, .data = "b"},
		{.apply = apply, .verify = verify, .undo = undo, .data = "c"}};
	_steps_ struct steps steps = {0};
	struct vfctl_ctx ctx = {.cancelled = cancelled_first};
	int r;

	trace[0] = '\0';
	snprintf(fails, sizeof(fails), "%s", failing);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		steps_add(&steps, &rows[i], "row %c", *(const char *)rows[i].data);
	r = steps_run(&ctx, &steps);
	snprintf(words, 256, "%s", vfctl_ctx_error(&ctx));
	ctx_clear(&ctx);
	return r;
}

static void undo_goes_back_from_the_failed_row(void **state)
{
	static const struct {
		const char *failing;
		int result;
		const char *trace, *words;
	} cases[] = {
		{"", 0, "abcv", ""},
		/* A failed row may be half done: its own undo runs too. */
		{"a", -EIO, "aA", "a failed"},
		{"b", -EIO, "abA", "b failed"},
		{"c", -EIO, "abcCA", "c failed"},
		{"v", -EIO, "abcvCA", "v failed"},
		/* An undo that fails does not keep the others from running. */
		{"vC", -ESTALE, "abcvCA",
			"v failed; and this could not be undone: row c (C failed)"},
		{"vCA", -ESTALE, "abcvCA",
			"v failed; and this could not be undone: row c (C failed), row a (A failed)"},
	};
	char words[256];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(run(cases[i].failing, false, words), cases[i].result);
		assert_string_equal(trace, cases[i].trace);
		assert_string_equal(words, cases[i].words);
	}
}

static void a_cancel_stops_between_rows(void **state)
{
	struct step rows[] = {{.apply = apply, .undo = undo, .data = "a"}, {.apply = cancel},
		{.apply = apply, .undo = undo, .data = "c"}};
	_steps_ struct steps steps = {0};
	struct vfctl_ctx ctx = {0};
	char words[256];

	assert_int_equal(run("", true, words), -EINTR);
	assert_string_equal(trace, "");
	trace[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		steps_add(&steps, &rows[i], "row %zu", i);
	assert_int_equal(steps_run(&ctx, &steps), -EINTR);
	assert_string_equal(trace, "axA");
	ctx_clear(&ctx);
}

/* ---- arrays that grow ---- */

/* An allocation that cannot be had returns NULL under the sanitizer too. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void arrays_keep_what_they_hold_and_zero_the_rest(void **state)
{
	uint32_t *v = NULL;

	for (uint32_t i = 0; i < 1000; i++) {
		assert_true(array_grow(v, i));
		assert_int_equal(v[i], 0);
		v[i] = i + 1;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(v[i], i + 1);
	free(v);
	v = NULL;
	assert_true(array_grow(v, 0));
	assert_true(array_grow(v, 0));
	v[0] = 7;
	assert_true(array_grow(v, 1));
	assert_int_equal(v[0], 7);
	/* What cannot be had leaves the array alone. */
	assert_false(array_grow_((void **)&v, SIZE_MAX / 8 + 1, sizeof(*v)));
	assert_int_equal(v[0], 7);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(undo_goes_back_from_the_failed_row),
		cmocka_unit_test(a_cancel_stops_between_rows),
		cmocka_unit_test(arrays_keep_what_they_hold_and_zero_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
