/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_TRIAL_H
#define VFCTL_HOST_TRIAL_H

#include <stdbool.h>

struct vfctl_ctx;

/*
 * The lock of `vfctl try`: there is at most one, and another process finds it. The file of the lock
 * has its process ID while it waits for an answer, and afterwards the outcome.
 */

/** Begin. @return 0; -EBUSY: another one waits. */
int vfctl_trial_open(struct vfctl_ctx *ctx, int *ret_lock);
/** From now on vfctl_trial_confirm() finds this process, which must expect SIGUSR1. */
void vfctl_trial_ask(int lock);
/** Record the outcome and unlock. */
void vfctl_trial_close(int lock, bool kept);
/**
 * Confirm the one that waits (SIGUSR1), and wait for its end.
 * @param ret_kept  false: its changes were rolled back nevertheless.
 * @return 0; -ESRCH: none waits.
 */
int vfctl_trial_confirm(struct vfctl_ctx *ctx, bool *ret_kept);

#endif
