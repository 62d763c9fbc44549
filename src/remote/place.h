/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_REMOTE_PLACE_H
#define VFCTL_REMOTE_PLACE_H

#include "base/buf.h"
#include "base/ctx.h"
#include "remote/endpoint.h"
#include "core/hypervisor.h"

/*
 * Where programs are run: this host, a network namespace of it, a host reached by ssh, a guest by
 * its agent. What is started there is ended with this process, whatever ends that: programs of this
 * host by the kernel (PR_SET_PDEATHSIG), those of an ssh by the end of their standard input,
 * those of a guest by timeout(1).
 */
struct place {
	const struct endpoint *end;
	struct vfctl_ctx *ctx;
	struct vfctl_hypervisor *hypervisor; /* for guests; not owned */
	char *control; /* directory of ssh's connection; NULL: none was made */
};

int place_open(struct vfctl_ctx *ctx, const struct endpoint *end,
	struct vfctl_hypervisor *hypervisor, struct place *ret);
void place_close(struct place *p);
/* "namespace wire-a", "host root@node2", "this host". */
const char *place_describe(const struct place *p, char buf[300]);

struct place_output {
	struct buf out, err;
	int status; /* of its exit; 128 + N: ended by signal N */
};
void place_output_clear(struct place_output *o);
/* The first line that says something, of its errors or else of its output; "" none. Cut at @size. */
void place_output_words(const struct place_output *o, char *buf, size_t size);

/*
 * Run a program to its end. @input (NULL: nothing) is its standard input.
 * @return 0 whatever its status; -ENOENT there is no such program; -ETIMEDOUT; -EINTR cancelled;
 * -ECONNREFUSED the place cannot be reached; all with words.
 */
int place_run(struct place *p, char *const argv[], const char *input, unsigned timeout_ms,
	struct place_output *ret);

/* A program that goes on. */
struct place_job;
/* Its output goes to two files, which are made new. */
int place_start(struct place *p, char *const argv[], unsigned life_ms, const char *out_path,
	const char *err_path, struct place_job **ret);
/* Has it ended? With its status as in struct place_output. Below 0: it cannot be told. */
int place_job_ended(struct place_job *job, int *ret_status);
/*
 * Wait for its end, at most @timeout_ms. As place_job_ended(), or -ETIMEDOUT, -EINTR. @other (may be
 * NULL) is looked at meanwhile: its end ends the wait 5 s later, with -EPIPE.
 */
int place_job_wait(struct place_job *job, unsigned timeout_ms, struct place_job *other,
	int *ret_status);
/* End it, if it has not ended, and all it started. NULL is allowed. */
void place_job_stop(struct place_job *job);

#endif
