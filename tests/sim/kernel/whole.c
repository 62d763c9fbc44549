// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many processes on one simulated kernel: it does one thing at a time, and what it began it
 * brings to its end. With $SIM_WHOLE a child does the work, so that a process which is killed
 * leaves no half system call behind, as with a real kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "sim.h"

static _Noreturn void work_alone(struct host *h, sim_work work, void *data, int out)
{
	_buf_ struct buf reply = {0};
	int r;

	setsid(); /* a signal to the group of its parent is not for it */
	r = work(h, data, &reply);
	for (size_t at = 0; at < reply.len;) {
		ssize_t n = write(out, reply.data + at, reply.len - at);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	_exit(-r & 0xff);
}

static int in_child(struct host *h, sim_work work, void *data, struct buf *ret_reply)
{
	char block[4096];
	int ends[2], status;
	pid_t pid;
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		work_alone(h, work, data, ends[1]);
	close(ends[1]);
	while (pid > 0 && ((n = read(ends[0], block, sizeof(block))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			buf_add(ret_reply, block, (size_t)n);
	close(ends[0]);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

int sim_whole(struct host *h, sim_work work, void *data, struct buf *ret_reply)
{
	_free_ char *dir = str_format("%s/.sim", h->root);
	_close_ int lock = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	while (lock >= 0 && flock(lock, LOCK_EX) < 0 && errno == EINTR)
		;
	return getenv("SIM_WHOLE") ? in_child(h, work, data, ret_reply)
				   : work(h, data, ret_reply);
}
