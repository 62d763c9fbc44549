/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_DECLARED_H
#define VFCTL_PRINT_DECLARED_H

#include "command.h"
#include "result.h"
#include "vfs/apply.h"

/* Whether there is anything to do about this PF. */
bool declared_differs(const struct vfctl_declared_pf *pf);
/* "ens1 (0000:10:00.0)". */
void declared_title(const struct vfctl_declared_pf *pf, char *buf, size_t size);
/* Print each PF with the steps to its declared state, for the dry run and for status. */
void print_declared(struct invocation *in, const struct vfctl_declared *declared);

/* Whether there is anything to do about this VF-LAG. */
bool declared_lag_differs(const struct vfctl_declared_lag *lag);

/* Whether there is anything to do about the host as a whole. */
bool declared_host_differs(const struct vfctl_declared *d);
/* Whether there is anything to do at all. */
bool declared_some_differ(const struct vfctl_declared *d);

struct pf_result;

/* JSON: one declared object (the host, a PF, a VF-LAG), and its steps or its outcome. */
struct declared_view {
	const struct vfctl_change *host; /* of the host: its steps */
	const struct vfctl_declared_pf *pf;
	const struct vfctl_declared_lag *lag;
	bool status, apply; /* the command: the flag is called drift, or changed */
	bool differs;
	const char *error, *pending;
	const struct vfctl_change *operations; /* NULL: none are shown */
	const struct pf_result *result;	       /* its VFs afterwards; NULL: none are shown */
};
extern const struct member answer_declared_host[], answer_declared_pf[], answer_declared_lag[];

/* All declared objects, and their steps. */
struct differences {
	const struct vfctl_declared *declared;
	bool status, apply, differs;
};
extern const struct member answer_differences[];

#endif
