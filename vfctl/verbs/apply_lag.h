/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VERBS_APPLY_LAG_H
#define VFCTL_VERBS_APPLY_LAG_H

#include "command.h"
#include "core/apply.h"
#include "workers.h"

/*
 * Make each as declared, after the PFs: what is to be done is planned anew, for the modes of their
 * switches may have changed. @pfs_changed: some PF has.
 */
void apply_lags(struct invocation *in, const struct vfctl_host_spec *spec,
	const struct vfctl_declared *d, bool pfs_changed, struct outcome *ret);
/* What became of each, a line each. */
void tell_lags(struct invocation *in, const struct vfctl_declared *d, const struct outcome *outcomes);
#endif
