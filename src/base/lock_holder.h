/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_LOCK_HOLDER_H
#define VFCTL_BASE_LOCK_HOLDER_H

#include <stdbool.h>

/*
 * The process that holds a lock on that file now: "process 123 (vfctl create ens1 4)", followed by
 * " and 2 others" if several share it. A process that has ended may have left a write to the kernel
 * in a child: the text then mentions it. NULL: no holder is visible, because the kernel
 * (/proc/locks) hides the processes of other containers. @alone: only a holder of an exclusive
 * lock.
 */
char *lock_holder(const char *path, bool alone);

#endif
