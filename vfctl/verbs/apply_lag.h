/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VERBS_APPLY_LAG_H
#define VFCTL_VERBS_APPLY_LAG_H

#include "command.h"
#include "vfctl/apply.h"
#include "workers.h"

/* How it went with one VF-LAG. */
struct lag_outcome {
	struct outcome o;
	bool changed;
};

/*
 * Make each as declared, after the PFs: what is to be done is planned anew, for the modes of their
 * switches may have changed. @pfs_changed: some PF has.
 */
void apply_lags(struct invocation *in, const struct vfctl_host_spec *spec,
	const struct vfctl_declared *d, bool pfs_changed, struct lag_outcome *ret);
void lag_outcomes_free(struct lag_outcome *outcomes, size_t count);
/* What became of each: lines, or in JSON the member "lags" of an object that is open. */
void tell_lags(struct invocation *in, const struct vfctl_declared *d, const struct lag_outcome *outcomes);
/* The same of what would be done; @key: "changed" or "drift". */
void print_lag_differences(struct invocation *in, const struct vfctl_declared *d, const char *key);

#endif
