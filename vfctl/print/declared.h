/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_DECLARED_H
#define VFCTL_PRINT_DECLARED_H

#include "command.h"
#include "vfctl/apply.h"

/* Is there anything to do about this PF? */
bool declared_differs(const struct vfctl_declared_pf *pf);
/* "ens1 (0000:10:00.0)". */
void declared_title(const struct vfctl_declared_pf *pf, char *buf, size_t size);
/* Each PF with the steps that would make it as declared: the dry run, and status. */
void print_declared(struct invocation *in, const struct vfctl_declared *declared);
/* What is common to all JSON about one; the object is open, and stays so. */
void print_declared_json(struct invocation *in, const struct vfctl_declared_pf *pf);

/* Is there anything to do about this VF-LAG? */
bool declared_lag_differs(const struct vfctl_declared_lag *lag);
/* What is common to all JSON about one; the object is open, and stays so. */
void print_declared_lag_json(struct invocation *in, const struct vfctl_declared_lag *lag);

/* Is something to be done about the host as a whole? */
bool declared_host_differs(const struct vfctl_declared *d);
/* Its steps, as members of an object that is open. */
void print_declared_host_json(struct invocation *in, const struct vfctl_declared *d);

#endif
