/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VERBS_APPLY_LAG_H
#define VFCTL_VERBS_APPLY_LAG_H

#include "command.h"
#include "vfs/apply.h"
#include "workers.h"

/* Fill in the outcomes if nothing is done about them. */
void lags_as_found(const struct vfctl_declared *d, struct outcome *ret);
/*
 * Apply each VF-LAG, after the PFs: the steps are planned again, because the modes of their
 * switches may have changed. @pfs_changed: a PF was changed.
 */
void apply_lags(struct invocation *in, const struct vfctl_host_spec *spec,
	const struct vfctl_declared *d, bool pfs_changed, struct outcome *ret);
/* Print the outcome of each, one line each. */
void tell_lags(struct invocation *in, const struct vfctl_declared *d,
	const struct outcome *outcomes);
#endif
