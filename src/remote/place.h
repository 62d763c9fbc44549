/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_REMOTE_PLACE_H
#define VFCTL_REMOTE_PLACE_H

#include "base/buf.h"
#include "base/ctx.h"
#include "remote/endpoint.h"
#include "types/hypervisor.h"

/*
 * A place where programs run: this host, one of its network namespaces, a host over ssh, or a guest
 * through its agent. Programs that are started there end with this process, for whatever reason it
 * ends: programs of this host by the kernel (PR_SET_PDEATHSIG), those of an ssh by the end of their
 * standard input, those of a guest by timeout(1).
 */
struct place {
	const struct endpoint *end;
	struct vfctl_ctx *ctx;
	struct vfctl_hypervisor *hypervisor; /* for guests; not owned */
	char *control; /* directory of ssh's connection; NULL: there is none */
};

int place_open(struct vfctl_ctx *ctx, const struct endpoint *end,
	struct vfctl_hypervisor *hypervisor, struct place *ret);
void place_close(struct place *p);
/* "namespace wire-a", "host root@node2", "this host". */
const char *place_describe(const struct place *p, char buf[300]);

struct place_output {
	struct buf out, err;
	int status; /* exit status; 128 + N: killed by signal N */
};
void place_output_clear(struct place_output *o);
/*
 * The first line of its errors, or else of its output, that is not empty; "" if there is none.
 * Truncated to @size.
 */
void place_output_text(const struct place_output *o, char *buf, size_t size);

/*
 * Run a program to its end. @input (NULL: nothing) is its standard input.
 * @return 0 whatever its status; -ENOENT there is no such program; -ETIMEDOUT; -EINTR cancelled;
 * -ECONNREFUSED the place cannot be reached; all with a message.
 */
int place_run(struct place *p, char *const argv[], const char *input, unsigned timeout_ms,
	struct place_output *ret);

/* A program that is running. */
struct place_job;
/* Its output goes to two files, which are created. */
int place_start(struct place *p, char *const argv[], unsigned life_ms, const char *out_path,
	const char *err_path, struct place_job **ret);
/*
 * Whether it has ended, with its status as in struct place_output. Negative: that cannot be
 * determined.
 */
int place_job_ended(struct place_job *job, int *ret_status);
/*
 * Wait for its end, at most @timeout_ms. Returns as place_job_ended(), or -ETIMEDOUT, -EINTR. 5 s
 * after the end of @other (may be NULL) the wait ends with -EPIPE.
 */
int place_job_wait(struct place_job *job, unsigned timeout_ms, struct place_job *other,
	int *ret_status);
/* Stop it with all processes that it started, if it has not ended. NULL is allowed. */
void place_job_stop(struct place_job *job);

#endif
