// SPDX-License-Identifier: GPL-2.0-or-later
/* A tree in memory answers as the kernel does for one on a disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <cmocka.h>

#include "capture/image.h"

static struct image im;

static void file(const char *path, const char *text)
{
	assert_int_equal(image_add(&im, IMAGE_FILE, path, text, strlen(text)), 0);
}

static void link_to(const char *path, const char *target)
{
	assert_int_equal(image_add(&im, IMAGE_LINK, path, target, strlen(target)), 0);
}

static int set_up(void **state)
{
	file("sys/b/two", "2");
	file("./sys//a/one/", "1");
	file("sys/a-b", "between");
	file("sys/a\1b", "before all letters");
	file("sys/a/.hidden", "");
	link_to("sys/class", "a");
	link_to("sys/up", "../../../../sys/b");
	link_to("sys/absolute", "/sys/b/two");
	link_to("sys/self", "self");
	link_to("sys/round", "round/x");
	link_to("sys/nothing", "");
	file("sys/b/two", "3"); /* the last one stays */
	assert_int_equal(image_add(&im, IMAGE_DIR, "sys/empty", "", 0), 0);
	return image_sort(&im);
}

static int tear_down(void **state)
{
	image_clear(&im);
	return 0;
}

static void files_are_read_through_links(void **state)
{
	static const struct {
		const char *path, *text;
		int r;
	} cases[] = {
		{"/sys/a/one", "1", 0},
		{"sys/a/../b/./two", "3", 0},
		{"/../../sys/b/two", "3", 0},
		{"/sys/class/one", "1", 0},
		{"/sys/up/two", "3", 0},
		{"/sys/up/../a-b", "between", 0},
		{"/sys/absolute", "3", 0},
		{"/sys/a", NULL, -EISDIR},
		{"/sys/class", NULL, -EISDIR},
		{"/sys/a/one/x", NULL, -ENOTDIR},
		{"/sys/a/one/", NULL, -ENOTDIR},
		{"/sys/absolute/x", NULL, -ENOTDIR},
		{"/sys/a/on", NULL, -ENOENT},
		{"/sys/a/onee", NULL, -ENOENT},
		{"/sys/self", NULL, -ELOOP},
		{"/sys/round", NULL, -ELOOP},
		{"/sys/nothing", NULL, -ENOENT},
		{"/", NULL, -EISDIR},
		{"", NULL, -EISDIR},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_buf_ struct buf text = {0};

		assert_int_equal(image_read(&im, cases[i].path, &text), cases[i].r);
		if (cases[i].text)
			assert_string_equal(text.data, cases[i].text);
	}
}

static void links_are_told_from_the_rest(void **state)
{
	char *target;

	assert_int_equal(image_readlink(&im, "/sys/class", &target), 0);
	assert_string_equal(target, "a");
	free(target);
	assert_int_equal(image_readlink(&im, "/sys/class/../class", &target), 0);
	free(target);
	assert_int_equal(image_readlink(&im, "/sys/self", &target), 0);
	free(target);
	assert_int_equal(image_readlink(&im, "/sys/class/", &target), -EINVAL);
	assert_int_equal(image_readlink(&im, "/sys/a", &target), -EINVAL);
	assert_int_equal(image_readlink(&im, "/sys/a/one", &target), -EINVAL);
	assert_int_equal(image_readlink(&im, "/sys/x", &target), -ENOENT);
}

static void names(const char *path, const char *want)
{
	_strv_ char **list = NULL;
	_buf_ struct buf all = {0};

	assert_int_equal(image_list(&im, path, &list), 0);
	buf_puts(&all, "");
	for (size_t i = 0; list[i]; i++)
		buf_printf(&all, "%s%s", i ? " " : "", list[i]);
	assert_string_equal(all.data, want);
}

static void directories_are_listed(void **state)
{
	char **list = NULL;

	names("/", "sys");
	names("/sys", "a a\1b a-b absolute b class empty nothing round self up");
	names("/sys/a", "one");
	names("/sys/class", "one");
	names("/sys/up", "two");
	names("/sys/empty", "");
	assert_int_equal(image_list(&im, "/sys/a/one", &list), -ENOTDIR);
	assert_int_equal(image_list(&im, "/sys/c", &list), -ENOENT);
	assert_int_equal(image_list(&im, "/sys/self", &list), -ELOOP);
}

static void bad_paths_and_sizes_are_refused(void **state)
{
	static char huge[IMAGE_FILE_MAX + 1];
	char longest[PATH_MAX + 1];
	struct image other = {0};

	memset(longest, 'n', PATH_MAX);
	longest[PATH_MAX] = '\0';
	assert_int_equal(image_add(&other, IMAGE_FILE, "a/../b", "", 0), -EINVAL);
	assert_int_equal(image_add(&other, IMAGE_FILE, "..", "", 0), -EINVAL);
	assert_int_equal(image_add(&other, IMAGE_FILE, "/./", "", 0), -EINVAL);
	assert_int_equal(image_add(&other, IMAGE_FILE, "", "", 0), -EINVAL);
	assert_int_equal(image_add(&other, IMAGE_FILE, longest, "", 0), -ENAMETOOLONG);
	assert_int_equal(image_add(&other, IMAGE_FILE, "a", huge, sizeof(huge)), -EFBIG);
	for (size_t i = 0; i < IMAGE_BYTES_MAX / IMAGE_FILE_MAX - 1; i++)
		assert_int_equal(image_add(&other, IMAGE_FILE, "a", huge, IMAGE_FILE_MAX), 0);
	assert_int_equal(image_add(&other, IMAGE_FILE, "a", huge, IMAGE_FILE_MAX), -E2BIG);
	assert_int_equal(image_sort(&other), 0);
	assert_int_equal(other.count, 1);
	image_clear(&other);
}

/* Links that multiply: each leads twice through the one before. */
static void a_path_cannot_grow_without_end(void **state)
{
	struct image other = {0};
	_buf_ struct buf text = {0};
	char name[16], target[64];

	assert_int_equal(image_add(&other, IMAGE_LINK, "l0", ".", 1), 0);
	for (int i = 1; i < 30; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		snprintf(target, sizeof(target), "l%d/l%d", i - 1, i - 1);
		assert_int_equal(image_add(&other, IMAGE_LINK, name, target, strlen(target)), 0);
	}
	assert_int_equal(image_sort(&other), 0);
	assert_int_equal(image_read(&other, "/l29", &text), -ELOOP);
	image_clear(&other);
}

static void a_directory_on_top_is_stepped_into(void **state)
{
	struct image other = {0};
	_buf_ struct buf text = {0};

	assert_int_equal(image_add(&other, IMAGE_FILE, "host/sys/x", "1", 1), 0);
	assert_int_equal(image_add(&other, IMAGE_FILE, "host2/sys/x", "2", 1), 0);
	assert_int_equal(image_add(&other, IMAGE_FILE, "README", "", 0), 0);
	assert_int_equal(image_sort(&other), 0);
	image_descend(&other, "host");
	assert_int_equal(other.count, 1);
	assert_int_equal(image_read(&other, "/sys/x", &text), 0);
	assert_string_equal(text.data, "1");
	image_clear(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read_through_links),
		cmocka_unit_test(links_are_told_from_the_rest),
		cmocka_unit_test(directories_are_listed),
		cmocka_unit_test(bad_paths_and_sizes_are_refused),
		cmocka_unit_test(a_path_cannot_grow_without_end),
		cmocka_unit_test(a_directory_on_top_is_stepped_into),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
