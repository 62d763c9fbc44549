// SPDX-License-Identifier: GPL-2.0-or-later
/* The running kernel's table, as far as it can be tried anywhere: writes that never end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "host/host.h"

/* A write to a FIFO without a reader blocks in the kernel, like one to a device that hangs. */
static void a_child_left_behind_holds_no_pipe_of_its_parent(void **state)
{
	char dir[] = "/tmp/vfctl-test-XXXXXX", path[64], some;
	struct pollfd event;
	struct host *h;
	int ends[2], reader;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pipe(ends), 0); /* handed down by a shell: it does not close on exec */
	assert_int_equal(real_host_new(&h), 0);
	assert_int_equal(h->ops->write(h, path, "1", 200), -ETIMEDOUT);
	close(ends[1]);
	event = (struct pollfd){.fd = ends[0], .events = POLLIN};
	assert_int_equal(poll(&event, 1, 1000), 1); /* the end: we were the last to hold it */
	assert_int_equal(read(ends[0], &some, 1), 0);
	/* It still is at it, and ends once it can. */
	reader = open(path, O_RDONLY);
	assert_int_equal(read(reader, &some, 1), 1);
	close(reader);
	close(ends[0]);
	h->ops->free(h);
	remove(path);
	remove(dir);
}

static void keep_doing(void *data, const char *text)
{
	snprintf(data, VFCTL_PROGRESS_SIZE, "%s", text);
}

static void a_budget_bounds_every_write_and_lock(void **state)
{
	char dir[] = "/tmp/vfctl-test-XXXXXX", path[64], doing[VFCTL_PROGRESS_SIZE] = "";
	struct vfctl_ctx *ctx;
	int reader;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(vfctl_ctx_new(&ctx), 0);
	vfctl_ctx_set_progress(ctx, keep_doing, doing);
	vfctl_ctx_set_deadline_ms(ctx, 300);
	assert_int_equal(host_write(ctx, "1", "%s", path), -ETIMEDOUT);
	assert_non_null(strstr(doing, path));
	assert_int_equal(ctx_time_left(ctx, 5000), 0);
	reader = open(path, O_RDONLY);
	close(reader);
	vfctl_ctx_free(ctx);
	remove(path);
	remove(dir);
}

/* To open a FIFO that nobody writes blocks, as the read of a file does whose lock somebody has. */
static void a_read_that_may_hang_is_given_up(void **state)
{
	char dir[] = "/tmp/vfctl-test-XXXXXX", path[64];
	_buf_ struct buf text = {0};
	struct vfctl_ctx *ctx;
	char *read = NULL;
	struct host *h;
	FILE *file;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(real_host_new(&h), 0);
	assert_int_equal(h->ops->read_slow(h, path, 200, &text), -ETIMEDOUT);
	assert_int_equal(text.len, 0);
	remove(path);
	assert_int_equal(h->ops->read_slow(h, path, 60000, &text), -ENOENT);
	h->ops->free(h);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("2048\n", file);
	fclose(file);
	assert_int_equal(vfctl_ctx_new(&ctx), 0);
	assert_int_equal(host_try_read_slow(ctx, &read, "%s", path), 0);
	assert_string_equal(read, "2048");
	free(read);
	vfctl_ctx_free(ctx);
	remove(path);
	remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_left_behind_holds_no_pipe_of_its_parent),
		cmocka_unit_test(a_budget_bounds_every_write_and_lock),
		cmocka_unit_test(a_read_that_may_hang_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
