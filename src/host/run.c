// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define LINE_KEPT 400  /* length of the last line that is kept */
#define GRACE_MS 10000 /* from SIGTERM to SIGKILL */

struct run {
	struct vfctl_ctx *ctx;
	const char *program;
	pid_t pid;
	int output;     /* its output; -1: all writers have closed it */
	int pidfd;
	int64_t end_ms;
	char line[LINE_KEPT + 1], last[LINE_KEPT + 1];
	size_t len;
};

/*
 * Runs in the child, where only async-signal-safe calls are permitted. Returns if the command
 * cannot be run.
 */
static void become_command(char *const argv[], int output)
{
	static char *const environment[] = {
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL};
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	setsid();
	/* Ignored signals stay ignored after exec: a program does not expect that. */
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
		dup2(output, STDERR_FILENO) < 0 || chdir("/") < 0)
		return;
	execve(argv[0], argv, environment);
}

/*
 * All descriptors of vfctl close on exec, so @report closes when the command runs; otherwise errno
 * is sent through it.
 */
static int start_command(struct run *r, char *const argv[], int output)
{
	int report[2], error = 0;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	r->pid = fork();
	if (r->pid == 0) {
		become_command(argv, output);
		error = errno;
		if (write(report[1], &error, sizeof(error)) < 0)
			_exit(126);
		_exit(127);
	}
	close(report[1]);
	if (r->pid < 0) {
		error = errno;
	} else {
		ssize_t n;

		do
			n = read(report[0], &error, sizeof(error));
		while (n < 0 && errno == EINTR);
		if (n != sizeof(error))
			error = 0;
		else
			waitpid(r->pid, NULL, 0);
	}
	close(report[0]);
	return -error;
}

static void end_line(struct run *r)
{
	r->line[r->len] = '\0';
	str_rstrip(r->line);
	if (r->line[0])
		memcpy(r->last, r->line, sizeof(r->last));
	r->len = 0;
}

static void keep_command(struct run *r, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\n')
			end_line(r);
		else if (r->len < LINE_KEPT)
			r->line[r->len++] = text[i] ? text[i] : '?';
}

/* Read what is available now; false at the end of the output. */
static bool drain_command(struct run *r)
{
	char some[4096];
	ssize_t n;

	while ((n = read(r->output, some, sizeof(some))) > 0)
		keep_command(r, some, (size_t)n);
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/*
 * Wait until the command has ended: processes that it started may live on and hold the pipe, as
 * daemons do.
 */
static int watch_command(struct run *r)
{
	struct pollfd events[2] = {{.fd = r->pidfd, .events = POLLIN},
		{.fd = r->output, .events = POLLIN}};

	while (!(events[0].revents & POLLIN)) {
		int64_t left = r->end_ms - now_ms();
		int n = left <= 0 ? 0 : poll(events, 2, left > INT32_MAX ? INT32_MAX : (int)left);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -ETIMEDOUT;
		if (events[1].revents && !drain_command(r))
			events[1].fd = -1;
	}
	drain_command(r);
	end_line(r);
	return 0;
}

/*
 * It leads its session, so the group includes everything that it started and that did not leave the
 * group.
 */
static void stop_command(struct run *r)
{
	struct pollfd event = {.fd = r->pidfd, .events = POLLIN};

	kill(-r->pid, SIGTERM);
	poll(&event, 1, GRACE_MS);
	kill(-r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
}

static int judge_command(struct run *r, int status)
{
	_free_ char *how = NULL;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	how = WIFEXITED(status) ? str_format("ended with status %d", WEXITSTATUS(status))
				: str_format("was killed by signal %d", WTERMSIG(status));
	return ctx_fail(r->ctx, -EIO, "%s %s%s%s", r->program, how ? how : "failed",
		r->last[0] ? ": " : "", r->last);
}

static int finish_command(struct run *r, unsigned timeout_ms)
{
	int status, error;

	r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
	error = r->pidfd < 0 ? -errno : watch_command(r);
	if (error < 0) {
		stop_command(r);
		if (error == -ETIMEDOUT)
			return ctx_fail(r->ctx, error, "%s took longer than %u.%u s and was killed",
				r->program, timeout_ms / 1000, timeout_ms % 1000 / 100);
		return ctx_fail(r->ctx, error, "watch %s: %s", r->program, strerror(-error));
	}
	while (waitpid(r->pid, &status, 0) < 0)
		if (errno != EINTR)
			return ctx_fail(r->ctx, -errno, "wait for %s: %s", r->program,
				strerror(errno));
	return judge_command(r, status);
}

int host_run(struct vfctl_ctx *ctx, char *const argv[], unsigned timeout_ms,
	char **ret_last)
{
	struct run r = {.ctx = ctx, .program = argv[0], .pidfd = -1,
		.end_ms = now_ms() + timeout_ms};
	_close_ int output = -1, pidfd = -1;
	int ends[2], error;
	char *last;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return ctx_fail(ctx, -errno, "run %s: %s", argv[0], strerror(errno));
	r.output = output = ends[0];
	fcntl(output, F_SETFL, O_NONBLOCK);
	error = start_command(&r, argv, ends[1]);
	close(ends[1]);
	if (error < 0)
		return ctx_fail(ctx, error, "run %s: %s", argv[0], strerror(-error));
	error = finish_command(&r, timeout_ms);
	pidfd = r.pidfd;
	if (error < 0)
		return error;
	last = strdup(r.last);
	if (!last)
		return ctx_oom(ctx);
	*ret_last = last;
	return 0;
}
