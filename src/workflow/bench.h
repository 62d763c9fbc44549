/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_BENCH_H
#define VFCTL_WORKFLOW_BENCH_H

/* Locks of interfaces that are measured begin so: no change of a PF waits for one. */
#define BENCH_LOCK "bench-"

#endif
