/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_REMOTE_CHILD_H
#define VFCTL_REMOTE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* A process of this host, leader of a session of its own, which the kernel ends with us. */
struct child {
	pid_t pid; /* 0: none */
	int pidfd;
	int status; /* as in struct place_output, once it has ended */
	bool ended;
};

/* The three descriptors stay the caller's. 0, or the errno of execvp(3) as -ENOENT and so on. */
int child_start(struct child *c, char *const argv[], int in, int out, int err);
/* Wait at most @timeout_ms: 1 it has ended, 0 not yet, or an error. */
int child_wait(struct child *c, int timeout_ms);
/* SIGTERM to all of its session's first group, SIGKILL a second later. */
void child_stop(struct child *c);

#endif
