/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_OUTER_H
#define VFCTL_BENCH_OUTER_H

#include "bench/run.h"

void bench_outers_free(struct bench_outer *outers, size_t count);
/*
 * If endpoint @of is a virtio interface of a guest of this host, and the plan changes its MTU: find
 * its tap device and the bridge.
 */
int bench_find_outers(struct bench *b, size_t of);
int bench_outer_steps(const struct bench *b, struct steps *s);
/* Give the devices of endpoint @of that MTU. */
int bench_set_outers(struct bench *b, size_t of, const char *mtu);

#endif
