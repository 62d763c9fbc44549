/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_STATS_GSL_H
#define VFCTL_BENCH_STATS_GSL_H

#include "base/ctx.h"

/* The functions of GSL. The first call of gsl_bind() loads it, and must precede the others. */
int gsl_bind(struct vfctl_ctx *ctx);
double gsl_normal_tail(double z);	    /* P(Z > z) */
double gsl_normal_quantile(double p);	    /* z of P(Z <= z) = p */
double gsl_t_tail(double t, double freedom); /* P(T > t) */
double gsl_t_quantile(double p, double freedom); /* t of P(T > t) = p */

/* MT19937. */
struct gsl_random;
struct gsl_random *gsl_random_new(uint64_t seed); /* NULL if memory is exhausted */
size_t gsl_random_below(struct gsl_random *random, size_t limit);
void gsl_random_free(struct gsl_random *random);

#endif
