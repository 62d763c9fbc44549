// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs in a guest, with an agent that answers as qemu-ga does, and as it should not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "remote/place.h"
#include "remote/settings.h"
#include "change/recover.h"

#define MORE "{\"return\":{\"exited\":false}}"

static struct vfctl_ctx *ctx;
static const char *started, *state; /* answers to guest-exec and guest-exec-status; NULL: fails */
static unsigned polls_left; /* so often it has not ended */
static char asked[2048], killed[256], last[256];

#define KILLER "{\"return\":{\"pid\":88}}"

static int answer(struct vfctl_ctx *c, struct vfctl_hypervisor *self, const char *name,
	const char *command, unsigned timeout_s, char **ret)
{
	bool is_state = strstr(command, "\"guest-exec-status\"") != NULL;
	const char *text = is_state ? state : started;

	assert_string_equal(name, "web");
	if (is_state && polls_left && polls_left--)
		text = MORE;
	else if (strstr(command, "\"kill\""))
		snprintf(killed, sizeof(killed), "%s", command);
	else if (!is_state)
		snprintf(asked, sizeof(asked), "%s", command);
	snprintf(last, sizeof(last), "%s", command);
	if (!is_state && *killed)
		text = KILLER;
	/* A program that was killed has ended at the next poll. */
	if (is_state && *killed)
		text = "{\"return\":{\"exited\":true,\"signal\":15}}";
	if (!text)
		return ctx_fail(c, -EOPNOTSUPP, "the guest agent is not connected");
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

static struct vfctl_hypervisor hypervisor = {.agent = answer};
static struct endpoint end = {.name = (char *)"client", .where = ENDPOINT_GUEST, .at = (char *)"web"};

static struct place place_with(const char *to_start, const char *to_state, unsigned polls)
{
	struct place p;

	started = to_start;
	state = to_state;
	polls_left = polls;
	*asked = *killed = '\0';
	ctx_clear(ctx);
	assert_int_equal(place_open(ctx, &end, &hypervisor, &p), 0);
	return p;
}

#define STARTED "{\"return\":{\"pid\":77}}"
static char *const argv[] = {(char *)"sockperf", (char *)"--version", NULL};

static void output_is_read_when_it_has_ended(void **unused)
{
	struct place p = place_with(STARTED, "{\"return\":{\"exited\":true,\"exitcode\":3,"
					     "\"out-data\":\"dG9vayA1Cg==\",\"err-data\":\"b2gK\"}}",
		2);
	_cleanup_(place_output_clear) struct place_output o = {0};

	assert_int_equal(place_run(&p, argv, "in", 5000, &o), 0);
	assert_int_equal(o.status, 3);
	assert_memory_equal(o.out.data, "took 5\n", o.out.len);
	assert_memory_equal(o.err.data, "oh\n", o.err.len);
	/* Left behind, it is ended in the guest; who may be slow, and is given four times as long. */
	assert_non_null(strstr(asked, "\"path\":\"timeout\",\"arg\":[\"20\",\"sockperf\",\"--version\"]"));
	assert_non_null(strstr(asked, "\"input-data\":\"aW4=\""));
}

static void a_signal_is_told_as_a_shell_does(void **unused)
{
	struct place p = place_with(STARTED, "{\"return\":{\"exited\":true,\"signal\":9}}", 0);
	_cleanup_(place_output_clear) struct place_output o = {0};

	assert_int_equal(place_run(&p, argv, NULL, 5000, &o), 0);
	assert_int_equal(o.status, 137);
	assert_int_equal(o.out.len, 0);
}

static void expect(int error, const char *message, const char *to_start, const char *to_state)
{
	struct place p = place_with(to_start, to_state, 0);
	_cleanup_(place_output_clear) struct place_output o = {0};

	assert_int_equal(place_run(&p, argv, NULL, 300, &o), error);
	if (!strstr(vfctl_ctx_error(ctx), message))
		fail_msg("%s", vfctl_ctx_error(ctx));
}

static void what_goes_wrong_has_text(void **unused)
{
	expect(-EOPNOTSUPP, "not connected", NULL, MORE);
	expect(-EOPNOTSUPP, "not connected", STARTED, NULL);
	expect(-EBADMSG, "returned no process ID", "{\"return\":{}}", MORE);
	expect(-EBADMSG, "returned no process ID", "{\"return\":{\"pid\":-1}}", MORE);
	expect(-EBADMSG, "whether process 77 ended", STARTED, "{\"error\":{}}");
	expect(-EBADMSG, "whether process 77 ended", STARTED, "[]");
	expect(-EBADMSG, "guest agent's answer", STARTED, "{\"return");
	expect(-ETIMEDOUT, "did not end within", STARTED, MORE);
	expect(-EFBIG, "this program printed more", STARTED,
		"{\"return\":{\"exited\":true,\"exitcode\":0,\"out-data\":\"dG9v\",\"out-truncated\":true}}");
	/* As timeout(1) says that there is no such program. */
	expect(-ENOENT, "sockperf cannot be run on guest web", STARTED,
		"{\"return\":{\"exited\":true,\"exitcode\":127}}");
}

static char *files[2];

static struct place_job *start(struct place *p)
{
	struct place_job *job = NULL;

	assert_int_equal(place_start(p, argv, 2500, files[0], files[1], &job), 0);
	return job;
}

static void holds(const char *path, const char *text)
{
	char some[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, some, sizeof(some) - 1), (ssize_t)strlen(text));
	assert_string_equal(some, text);
	close(fd);
}

static void a_job_writes_its_files_and_runs_on_its_cpus(void **unused)
{
	struct place p = place_with(STARTED, "{\"return\":{\"exited\":true,\"exitcode\":0,"
					     "\"out-data\":\"dG9vayA1Cg==\"}}",
		1);
	struct place_job *job;
	int status = -1;

	end.cpus = (char *)"2-3";
	job = start(&p);
	end.cpus = NULL;
	assert_non_null(strstr(asked, "\"timeout\",\"arg\":[\"3\",\"taskset\",\"-c\",\"2-3\",\"sockperf\""));
	holds(files[0], "");
	assert_int_equal(place_job_wait(job, 5000, NULL, &status), 0);
	assert_int_equal(status, 0);
	holds(files[0], "took 5\n");
	holds(files[1], "");
	place_job_stop(job);
	assert_string_equal(killed, "");
}

static void a_job_that_goes_on_is_ended(void **unused)
{
	struct place p = place_with(STARTED, MORE, 0);
	struct place_job *job = start(&p);
	int status = -1;

	assert_int_equal(place_job_wait(job, 200, NULL, &status), -ETIMEDOUT);
	place_job_stop(job);
	assert_non_null(strstr(killed, "[\"-TERM\",\"77\"]"));
	/* The last request is the exit status of kill itself, so that the agent forgets it. */
	assert_non_null(strstr(last, "\"guest-exec-status\",\"arguments\":{\"pid\":88}"));
}

static void output_without_room_is_an_error(void **unused)
{
	struct place p = place_with(STARTED, "{\"return\":{\"exited\":true,\"exitcode\":0,"
					     "\"out-data\":\"dG9vayA1Cg==\"}}",
		0);
	const struct rlimit none = {0, RLIM_INFINITY};
	struct place_job *job = NULL;
	struct rlimit before;
	int status = -1;

	getrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(place_start(&p, argv, 2500, files[0], files[1], &job), 0);
	setrlimit(RLIMIT_FSIZE, &none);
	assert_int_equal(place_job_wait(job, 5000, NULL, &status), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);
	place_job_stop(job);
}

/* If another kind of file has that name, it is neither written nor removed. */
static void output_is_a_plain_file(void **unused)
{
	struct place p = place_with(STARTED, "{\"return\":{\"exited\":true,\"exitcode\":0,"
					     "\"out-data\":\"dG9vayA1Cg==\"}}",
		0);
	struct place_job *job = NULL;
	struct stat st;

	unlink(files[0]);
	assert_int_equal(mkfifo(files[0], 0600), 0);
	assert_int_equal(place_start(&p, argv, 2500, files[0], files[1], &job), -EMEDIUMTYPE);
	assert_int_equal(stat(files[0], &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	unlink(files[0]);
}

static void a_program_here_that_hangs_is_said(void **unused)
{
	static const struct endpoint here = {.name = (char *)"here"};
	char *const hang[] = {(char *)"sleep", (char *)"1000", NULL};
	_cleanup_(place_output_clear) struct place_output o = {0};
	struct place p;

	ctx_clear(ctx);
	assert_int_equal(place_open(ctx, &here, NULL, &p), 0);
	assert_int_equal(place_run(&p, hang, NULL, 200, &o), -ETIMEDOUT);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "sleep did not end within"));
}

/* vfctl recover connects to libvirt for what needs it, and for nothing else. */
static void what_was_set_in_a_guest_asks_libvirt(void **unused)
{
	struct op op = {.type = &op_bench_settings, .target = (char *)"guest:web/eth0"};
	struct open_change change = {.ops = &op, .op_count = 1};

	assert_true(recover_asks_libvirt(&change));
	op.target = (char *)"netns:web/eth0";
	assert_false(recover_asks_libvirt(&change));
}

static int open_all(void **unused)
{
	char dir[] = "/tmp/bench-agent-XXXXXX";

	if (!mkdtemp(dir) || vfctl_ctx_new(&ctx) < 0)
		return -1;
	return asprintf(&files[0], "%s/out", dir) < 0 || asprintf(&files[1], "%s/err", dir) < 0;
}

static int close_all(void **unused)
{
	for (size_t i = 0; i < 2; i++)
		unlink(files[i]);
	*strrchr(files[0], '/') = '\0';
	rmdir(files[0]);
	free(files[0]);
	free(files[1]);
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_is_read_when_it_has_ended),
		cmocka_unit_test(a_signal_is_told_as_a_shell_does),
		cmocka_unit_test(what_goes_wrong_has_text),
		cmocka_unit_test(a_job_writes_its_files_and_runs_on_its_cpus),
		cmocka_unit_test(a_job_that_goes_on_is_ended),
		cmocka_unit_test(output_without_room_is_an_error),
		cmocka_unit_test(output_is_a_plain_file),
		cmocka_unit_test(what_was_set_in_a_guest_asks_libvirt),
		cmocka_unit_test(a_program_here_that_hangs_is_said),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
