/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_DETECT_H
#define VFCTL_BENCH_DETECT_H

#include "bench/run.h"

/*
 * Tell how small a difference the planned trials can show, from the spread of the first ones.
 * @values has the result of each run of @b, in their order; NAN: not made, or failed. -ENOMEM.
 */
int detect_tell(struct bench *b, const double *values);
/* The trial after which to tell it: 5, fewer in a short plan; 0: never, as nothing is compared. */
unsigned detect_after(const struct bench *b);

#endif
