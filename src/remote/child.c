// SPDX-License-Identifier: GPL-2.0-or-later
#include "remote/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_MS 10000 /* from SIGTERM to SIGKILL */

/* Runs in the child. Returns if the command cannot be run. */
static void become_child(char *const argv[], const int fds[3], pid_t parent)
{
	sigset_t none;

	setsid();
	/* If this process is killed with SIGKILL, its child ends too. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) {
		errno = ESRCH;
		return;
	}
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			return;
	/*
	 * In the C locale, numbers have a decimal point, and messages are those that the parsers
	 * expect.
	 */
	setenv("LC_ALL", "C", 1);
	execvp(argv[0], argv);
}

int child_start(struct child *c, char *const argv[], int in, int out, int err)
{
	/* Use numbers above 2, so that no dup2() overwrites one of them. */
	int fds[3] = {fcntl(in, F_DUPFD_CLOEXEC, 3), fcntl(out, F_DUPFD_CLOEXEC, 3),
		fcntl(err, F_DUPFD_CLOEXEC, 3)};
	int report[2], error = 0;
	pid_t self = getpid();

	*c = (struct child){.pidfd = -1};
	if (fds[0] < 0 || fds[1] < 0 || fds[2] < 0 || pipe2(report, O_CLOEXEC) < 0) {
		error = errno;
		for (int i = 0; i < 3; i++)
			if (fds[i] >= 0)
				close(fds[i]);
		return -error;
	}
	c->pid = fork();
	if (c->pid == 0) {
		become_child(argv, fds, self);
		error = errno;
		_exit(write(report[1], &error, sizeof(error)) < 0 ? 126 : 127);
	}
	error = c->pid < 0 ? errno : 0;
	close(report[1]);
	/* The pipe closes with exec; otherwise errno is sent through it. */
	if (!error && read(report[0], &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(report[0]);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	if (c->pid > 0 && !error) {
		c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
		error = c->pidfd < 0 ? errno : 0;
	}
	if (error && c->pid > 0) {
		kill(-c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	if (error)
		c->pid = 0;
	return -error;
}

/*
 * Processes that it started may outlive it in its group: kill them while the group's number is
 * still its own.
 */
static void reap(struct child *c)
{
	int status = 0;

	kill(-c->pid, SIGKILL);
	if (waitpid(c->pid, &status, 0) < 0)
		status = 127 << 8;
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	c->ended = true;
	close(c->pidfd);
}

int child_wait(struct child *c, int timeout_ms)
{
	struct pollfd event = {.fd = c->pidfd, .events = POLLIN};
	int n;

	if (c->ended || !c->pid)
		return 1;
	n = poll(&event, 1, timeout_ms);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n == 0)
		return 0;
	reap(c);
	return 1;
}

void child_stop(struct child *c)
{
	if (!c->pid || c->ended)
		return;
	kill(-c->pid, SIGTERM);
	if (child_wait(c, GRACE_MS) == 1)
		return;
	kill(-c->pid, SIGKILL);
	reap(c);
}
