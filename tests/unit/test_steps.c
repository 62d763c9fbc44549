// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/steps.h"

/* Every call writes a letter, that of its operation's target: a-e apply, A-E revert. */
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
	if (letter == 'x')
		ctx->cancelled = 1;
	return strchr(fails, letter) ? ctx_fail(ctx, -EIO, "%c failed", letter) : 0;
}

static int apply(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	return call(ctx, ops->target[0]);
}

static int revert(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	return call(ctx, (char)(ops->target[0] - 'a' + 'A'));
}

/* libvirt did it, and the connection broke. */
static bool there;

static int observe(struct vfctl_ctx *ctx, const struct op *ops, size_t count, char **ret_texts)
{
	ret_texts[0] = strdup(there ? "there" : "");
	return 0;
}

static const struct op_type undoable = {.name = "undoable", .observe = observe, .apply = apply,
	.revert = revert};
static const struct op_type holds = {.name = "holds", .nature = OP_HOLDS, .observe = observe,
	.apply = apply, .revert = revert};
static const struct op_type final = {.name = "final", .nature = OP_COMMIT, .observe = observe,
	.apply = apply};

static void add(struct steps *steps, const struct op_type *type, const char *letter,
	const char *before)
{
	step_begin(steps, "row %s", letter);
	step_op(steps, type, "there", before, "%s", letter);
}

/* Rows a, b (nothing to take back), c; run with @failing; the words. */
static int run(const char *failing, bool cancelled_first, char message[256])
{
	_steps_ struct steps steps = {0};
	struct vfctl_ctx ctx = {.cancelled = cancelled_first};
	int r;

	trace[0] = '\0';
	there = false;
	snprintf(fails, sizeof(fails), "%s", failing);
	add(&steps, &undoable, "a", "");
	add(&steps, &undoable, "b", NULL);
	add(&steps, &undoable, "c", "");
	r = steps_run(&ctx, &steps, &(struct journal_entry){0});
	snprintf(message, 256, "%s", vfctl_ctx_error(&ctx));
	ctx_clear(&ctx);
	return r;
}

static void undo_goes_back_from_the_failed_row(void **state)
{
	static const struct {
		const char *failing;
		int result;
		const char *trace, *message;
	} cases[] = {
		{"", 0, "abc", ""},
		/* A failed row may be half done: its own undo runs too. */
		{"a", -EIO, "aA", "a failed"},
		{"b", -EIO, "abA", "b failed"},
		{"c", -EIO, "abcCA", "c failed"},
		/* An undo that fails does not keep the others from running. */
		{"cC", -ESTALE, "abcCA",
			"c failed; this could not be rolled back: row c (C failed)"},
		{"cCA", -ESTALE, "abcCA",
			"c failed; this could not be rolled back: row c (C failed), row a (A failed)"},
	};
	char message[256];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(run(cases[i].failing, false, message), cases[i].result);
		assert_string_equal(trace, cases[i].trace);
		assert_string_equal(message, cases[i].message);
	}
}

static void a_cancel_stops_between_rows(void **state)
{
	_steps_ struct steps steps = {0};
	struct vfctl_ctx ctx = {0};
	char message[256];

	assert_int_equal(run("", true, message), -EINTR);
	assert_string_equal(trace, "");
	trace[0] = '\0';
	add(&steps, &undoable, "a", "");
	add(&steps, &undoable, "x", NULL);
	add(&steps, &undoable, "c", "");
	assert_int_equal(steps_run(&ctx, &steps, &(struct journal_entry){0}), -EINTR);
	assert_string_equal(trace, "axA");
	ctx_clear(&ctx);
}

/* A lease stays as long as what came after it cannot be taken back. */
static void what_holds_stays_with_what_stays(void **state)
{
	for (int stuck = 0; stuck < 2; stuck++) {
		_steps_ struct steps steps = {0};
		struct vfctl_ctx ctx = {0};

		trace[0] = '\0';
		snprintf(fails, sizeof(fails), stuck ? "cB" : "c");
		add(&steps, &holds, "a", "");
		add(&steps, &undoable, "b", "");
		add(&steps, &undoable, "c", "");
		assert_int_equal(steps_run(&ctx, &steps, &(struct journal_entry){0}),
			stuck ? -ESTALE : -EIO);
		assert_string_equal(trace, stuck ? "abcCB" : "abcCBA");
		ctx_clear(&ctx);
	}
}

/* Past what cannot be taken back all the rest is tried. */
static void from_the_point_of_no_return_it_goes_on(void **state)
{
	_steps_ struct steps steps = {0};
	struct vfctl_ctx ctx = {0};

	trace[0] = '\0';
	there = false;
	snprintf(fails, sizeof(fails), "c");
	add(&steps, &undoable, "a", "");
	add(&steps, &final, "b", "");
	add(&steps, &final, "c", "");
	add(&steps, &final, "d", "");
	assert_int_equal(steps_run(&ctx, &steps, &(struct journal_entry){0}), -ESTALE);
	assert_string_equal(trace, "abcd");
	assert_string_equal(vfctl_ctx_error(&ctx), "c failed; the steps before it are done "
		"and stay; still to do: row c");
	ctx_clear(&ctx);
}

/* ---- arrays that grow ---- */

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
	/* A failed allocation does not change the array. */
	assert_false(array_grow_((void **)&v, SIZE_MAX / 8 + 1, sizeof(*v)));
	assert_int_equal(v[0], 7);
	free(v);
}

/* And what is only for when all is done waits. */
static void a_value_stays_with_what_could_not_be_returned(void **state)
{
	static const struct op_type last = {.name = "last", .nature = OP_COMMIT, .after_all = true,
		.observe = observe, .apply = apply};
	_steps_ struct steps steps = {0};
	struct vfctl_ctx ctx = {0};

	trace[0] = '\0';
	there = false;
	snprintf(fails, sizeof(fails), "b");
	add(&steps, &final, "a", "");
	add(&steps, &final, "b", "");
	add(&steps, &last, "c", "");
	assert_int_equal(steps_run(&ctx, &steps, &(struct journal_entry){0}), -ESTALE);
	assert_string_equal(trace, "ab");
	assert_string_equal(vfctl_ctx_error(&ctx), "b failed; the steps before it are done "
		"and stay; still to do: row b, row c");
	ctx_clear(&ctx);
}

/* Else a failure of b would leave a, which cannot be taken back, without it. */
static void what_cannot_be_taken_back_comes_last(void **state)
{
	_steps_ struct steps steps = {0};
	struct vfctl_ctx ctx = {0};

	trace[0] = fails[0] = '\0';
	add(&steps, &final, "a", "");
	add(&steps, &undoable, "b", "");
	assert_int_equal(steps_run(&ctx, &steps, &(struct journal_entry){0}), -EINVAL);
	assert_string_equal(trace, "");
	ctx_clear(&ctx);
}

static void a_lost_answer_is_looked_up(void **state)
{
	for (int done = 0; done < 2; done++) {
		_steps_ struct steps steps = {0};
		struct vfctl_ctx ctx = {0};

		trace[0] = '\0';
		snprintf(fails, sizeof(fails), "b");
		there = done;
		add(&steps, &undoable, "a", "");
		add(&steps, &final, "b", "");
		assert_int_equal(steps_run(&ctx, &steps, &(struct journal_entry){0}),
			done ? 0 : -EIO);
		assert_string_equal(trace, done ? "ab" : "abA");
		ctx_clear(&ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_taken_back_comes_last),
		cmocka_unit_test(a_lost_answer_is_looked_up),
		cmocka_unit_test(undo_goes_back_from_the_failed_row),
		cmocka_unit_test(a_cancel_stops_between_rows),
		cmocka_unit_test(what_holds_stays_with_what_stays),
		cmocka_unit_test(from_the_point_of_no_return_it_goes_on),
		cmocka_unit_test(a_value_stays_with_what_could_not_be_returned),
		cmocka_unit_test(arrays_keep_what_they_hold_and_zero_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
