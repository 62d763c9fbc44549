// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events that wake vfctl monitor: those of the kernel, in a network namespace of this test, and of
 * files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/context.h"
#include "base/util.h"
#include "monitor/watch.h"
#include "sim.h"

#define SOON_MS 5000  /* it comes at once; this is for a machine that is busy */
#define NEVER_MS 300

static char dir[64];

static void put_file(const char *name, const char *text)
{
	_free_ char *path = str_format("%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void make_dir(const char *name)
{
	_free_ char *path = str_format("%s/%s", dir, name);

	assert_int_equal(mkdir(path, 0755), 0);
}

static struct vfctl_ctx *new_ctx(bool simulated)
{
	_free_ char *state = str_format("%s/lib/state.db", dir);
	struct vfctl_ctx *ctx;
	struct host *h;

	assert_int_equal(vfctl_ctx_new(&ctx), 0);
	assert_int_equal(vfctl_ctx_set_state_path(ctx, state), 0);
	if (simulated) {
		assert_int_equal(sim_host_new(dir, &h), 0);
		host_set(ctx, h);
	}
	return ctx;
}

static unsigned wait_for(struct vfctl_ctx *ctx, struct vfctl_watch *w, int ms)
{
	unsigned what = 99;

	assert_int_equal(vfctl_watch_wait(ctx, w, -1, ms, &what), 0);
	return what;
}

static void files_wake_when_they_are_written(void **state)
{
	struct vfctl_ctx *ctx = new_ctx(true);
	struct vfctl_watch *w;

	assert_int_equal(vfctl_watch_open(ctx, NULL, &w), 0);
	assert_int_equal(wait_for(ctx, w, NEVER_MS), 0);
	/* None of the directories is there to begin with. */
	make_dir("lib");
	put_file("lib/state.db", "a");
	assert_int_equal(wait_for(ctx, w, SOON_MS), VFCTL_WATCH_FILES);
	put_file("lib/state.db-wal", "a");
	assert_int_equal(wait_for(ctx, w, SOON_MS), VFCTL_WATCH_FILES);
	/* What readers do to SQLite's files is not a change. */
	put_file("lib/state.db-shm", "a");
	put_file("lib/other", "a");
	assert_int_equal(wait_for(ctx, w, NEVER_MS), 0);
	make_dir("etc");
	make_dir("etc/vfctl");
	put_file("etc/vfctl/host.yaml", "a");
	assert_int_equal(wait_for(ctx, w, SOON_MS), VFCTL_WATCH_FILES);
	make_dir("etc/libvirt");
	make_dir("etc/libvirt/qemu");
	assert_int_equal(wait_for(ctx, w, SOON_MS), VFCTL_WATCH_FILES);
	put_file("etc/libvirt/qemu/web.xml", "a");
	assert_int_equal(wait_for(ctx, w, SOON_MS), VFCTL_WATCH_FILES);
	vfctl_watch_close(w);
	vfctl_ctx_free(ctx);
}

static void a_descriptor_ends_the_wait(void **state)
{
	struct vfctl_ctx *ctx = new_ctx(true);
	int stop = eventfd(1, EFD_CLOEXEC);
	struct vfctl_watch *w;
	unsigned what = 99;

	assert_int_equal(vfctl_watch_open(ctx, NULL, &w), 0);
	assert_int_equal(vfctl_watch_wait(ctx, w, stop, -1, &what), -EINTR);
	assert_int_equal(what, 99);
	close(stop);
	vfctl_watch_close(w);
	vfctl_ctx_free(ctx);
}

/* ---- the running kernel ---- */

static void switch_lo(unsigned times)
{
	struct ifreq lo = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (unsigned i = 0; i < times; i++) {
		lo.ifr_flags = i % 2 ? 0 : IFF_UP;
		assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &lo), 0);
	}
	close(fd);
}

static void the_kernel_wakes_and_says_when_events_are_lost(void **state)
{
	struct vfctl_ctx *ctx;
	struct vfctl_watch *w;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 && unshare(CLONE_NEWNET) < 0) {
		print_message("no network namespace can be had here: %s\n", strerror(errno));
		skip();
	}
	ctx = new_ctx(false);
	assert_int_equal(vfctl_watch_open(ctx, NULL, &w), 0);
	assert_int_equal(wait_for(ctx, w, NEVER_MS) & VFCTL_WATCH_KERNEL, 0);
	switch_lo(1);
	assert_int_equal(wait_for(ctx, w, SOON_MS), VFCTL_WATCH_KERNEL);
	switch_lo(20000); /* more than a socket keeps for us */
	assert_int_equal(wait_for(ctx, w, SOON_MS), VFCTL_WATCH_KERNEL | VFCTL_WATCH_LOST);
	switch_lo(1);
	assert_int_equal(wait_for(ctx, w, SOON_MS), VFCTL_WATCH_KERNEL);
	vfctl_watch_close(w);
	vfctl_ctx_free(ctx);
}

/* ---- systemd's journal ---- */

static void the_journal_gets_fields(void **state)
{
	static const char *const fields[] = {"MESSAGE=a b", "VFCTL_WORDS=two\nlines"};
	static const char wanted[] = "MESSAGE=a b\nVFCTL_WORDS\n\x09\0\0\0\0\0\0\0two\nlines\n";
	struct sockaddr_un journal = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct vfctl_ctx *ctx = new_ctx(true);
	char entry[256];

	assert_int_equal(vfctl_journal_send(ctx, fields, 2), -ENOENT);
	make_dir("run");
	make_dir("run/systemd");
	make_dir("run/systemd/journal");
	snprintf(journal.sun_path, sizeof(journal.sun_path), "%s/run/systemd/journal/socket", dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&journal, sizeof(journal)), 0);
	assert_int_equal(vfctl_journal_send(ctx, fields, 2), 0);
	assert_int_equal(recv(fd, entry, sizeof(entry), 0), (ssize_t)sizeof(wanted) - 1);
	assert_memory_equal(entry, wanted, sizeof(wanted) - 1);
	close(fd);
	vfctl_ctx_free(ctx);
}

static int setup(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/vfctl-watch-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	make_dir(".sim");
	return 0;
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *place)
{
	return remove(path);
}

static int teardown(void **state)
{
	return nftw(dir, drop, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_wake_when_they_are_written, setup, teardown),
		cmocka_unit_test_setup_teardown(a_descriptor_ends_the_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(the_journal_gets_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(the_kernel_wakes_and_says_when_events_are_lost, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
