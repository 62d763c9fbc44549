// SPDX-License-Identifier: GPL-2.0-or-later
/* The checks of doctor: each has a name of its own, and docs/reference/checks.md says when it speaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/doctor.h"

#define CHECKS_MAX 200

static char *read_document(void)
{
	char *text = calloc(1, 1 << 20);
	FILE *file = fopen(VFCTL_SOURCE_DIR "/docs/reference/checks.md", "re");

	assert_non_null(text);
	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	return text;
}

static void test_documented(void **state)
{
	struct vfctl_check check, other;
	char *text = read_document();

	for (size_t i = 0; vfctl_check_at(i, &check); i++) {
		char quoted[64];

		snprintf(quoted, sizeof(quoted), "`%s`", check.name);
		if (!strstr(text, quoted))
			fail_msg("docs/reference/checks.md has no row of %s", check.name);
		for (size_t k = 0; k < i && vfctl_check_at(k, &other); k++)
			assert_string_not_equal(check.name, other.name);
		assert_true(i < CHECKS_MAX);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
