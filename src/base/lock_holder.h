/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_LOCK_HOLDER_H
#define VFCTL_BASE_LOCK_HOLDER_H

#include <stdbool.h>

/*
 * Who has a lock on that file at this moment: "process 123 (vfctl create ens1 4)", with " and 2
 * others" behind it where several share it. A process that has ended may have left a write to
 * the kernel behind, in a child: that is said. NULL: nobody that can be seen from here, as the
 * kernel (/proc/locks) hides those of other containers. @alone: only who has it for itself.
 */
char *lock_holder(const char *path, bool alone);

#endif
