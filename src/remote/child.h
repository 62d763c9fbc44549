/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_REMOTE_CHILD_H
#define VFCTL_REMOTE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * A process of this host that leads its own session, and that the kernel kills when this process
 * ends.
 */
struct child {
	pid_t pid; /* 0 if there is none */
	int pidfd;
	int status; /* as in struct place_output, once it has ended */
	bool ended;
};

/*
 * The three descriptors still belong to the caller. Returns 0, or the errno of execvp(3) such as
 * -ENOENT.
 */
int child_start(struct child *c, char *const argv[], int in, int out, int err);
/* Wait at most @timeout_ms: 1: it has ended, 0: not yet, or an error. */
int child_wait(struct child *c, int timeout_ms);
/* Send SIGTERM to its process group, and SIGKILL a second later. */
void child_stop(struct child *c);

#endif
