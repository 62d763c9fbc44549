/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VERBS_MONITOR_BRIDGE_H
#define VFCTL_VERBS_MONITOR_BRIDGE_H

#include "command.h"

/*
 * vfctl monitor --bridge. @stop_fd: an epoll descriptor that becomes readable at a signal; @lines
 * and
 * @seconds: 0: no limit. @return the exit status.
 */
int monitor_bridge(struct invocation *in, int stop_fd, uint32_t lines, unsigned seconds);
extern const struct member answer_bridge_line[];

#endif
