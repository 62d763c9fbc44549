/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_REMOTE_AGENT_H
#define VFCTL_REMOTE_AGENT_H

#include "base/buf.h"
#include "base/ctx.h"
#include "types/hypervisor.h"

/*
 * Run programs in a guest through its agent: guest-exec and guest-exec-status of qemu-ga (QEMU,
 * docs/interop/qemu-ga-ref). Statuses as in struct place_output.
 */
struct agent_job;
/*
 * It is stopped after @life_ms in any case (timeout(1) in the guest). Its output is available at
 * its end.
 */
int agent_start(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, const char *domain,
	char *const argv[], unsigned life_ms, const char *out_path, const char *err_path,
	struct agent_job **ret);
/* 1: it has ended, 0: not yet. */
int agent_poll(struct agent_job *job, int *ret_status);
/* Stop it, write its output to its files, and free it. NULL is allowed. */
void agent_stop(struct agent_job *job);
int agent_run(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, const char *domain,
	char *const argv[], const char *input, unsigned timeout_ms, struct buf *ret_out,
	struct buf *ret_err, int *ret_status);

#endif
