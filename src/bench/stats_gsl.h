/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_STATS_GSL_H
#define VFCTL_BENCH_STATS_GSL_H

#include "base/ctx.h"

/* What GSL does for us; it is loaded by the first call of gsl_bind(), which stands before all. */
int gsl_bind(struct vfctl_ctx *ctx);
double gsl_normal_tail(double z);	    /* P(Z > z) */
double gsl_normal_quantile(double p);	    /* z of P(Z <= z) = p */
double gsl_t_tail(double t, double freedom); /* P(T > t) */

/* MT19937. */
struct gsl_random;
struct gsl_random *gsl_random_new(uint64_t seed); /* NULL: out of memory */
size_t gsl_random_below(struct gsl_random *random, size_t limit);
void gsl_random_free(struct gsl_random *random);

#endif
