// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/stats_gsl.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_rng.h>

#include "base/dl.h"
#include "base/sonames.h"

#define SYMBOLS(each) \
	each(gsl_cdf_tdist_Q) each(gsl_cdf_tdist_Qinv) each(gsl_cdf_ugaussian_Pinv) \
	each(gsl_cdf_ugaussian_Q) each(gsl_rng_alloc) each(gsl_rng_free) each(gsl_rng_set) \
	each(gsl_rng_uniform_int) each(gsl_set_error_handler_off) each(gsl_rng_mt19937)
DL_SYMBOLS(symbols, SYMBOLS);

int gsl_bind(struct vfctl_ctx *ctx)
{
	/*
	 * GSL 2.7 and 2.8 have these functions with the same types: a build for Debian 12 runs on
	 * Debian 13, and vice versa.
	 */
	static const char *const sonames[] = {SONAME_GSL, "libgsl.so.27", "libgsl.so.28"};
	int r = -ENOPKG;

	for (size_t i = 0; i < ARRAY_SIZE(sonames) && r < 0; i++) {
		ctx_clear(ctx);
		r = dl_bind(ctx, sonames[i], symbols, ARRAY_SIZE(symbols));
	}
	if (r < 0)
		return ctx_prefix(ctx, r, "statistics need GSL (package libgsl27 or libgsl28)");
	sym_gsl_set_error_handler_off(); /* by default it aborts the program */
	return 0;
}

double gsl_normal_tail(double z)
{
	return sym_gsl_cdf_ugaussian_Q(z);
}

double gsl_normal_quantile(double p)
{
	return sym_gsl_cdf_ugaussian_Pinv(p);
}

double gsl_t_tail(double t, double freedom)
{
	return sym_gsl_cdf_tdist_Q(t, freedom);
}

double gsl_t_quantile(double p, double freedom)
{
	return sym_gsl_cdf_tdist_Qinv(p, freedom);
}

struct gsl_random *gsl_random_new(uint64_t seed)
{
	gsl_rng *rng = sym_gsl_rng_alloc(*sym_gsl_rng_mt19937);

	if (rng)
		sym_gsl_rng_set(rng, seed);
	return (struct gsl_random *)rng;
}

size_t gsl_random_below(struct gsl_random *random, size_t limit)
{
	return sym_gsl_rng_uniform_int((gsl_rng *)random, limit);
}

void gsl_random_free(struct gsl_random *random)
{
	if (random)
		sym_gsl_rng_free((gsl_rng *)random);
}
