/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_DECLARED_H
#define VFCTL_PRINT_DECLARED_H

#include "command.h"
#include "result.h"
#include "core/apply.h"

/* Is there anything to do about this PF? */
bool declared_differs(const struct vfctl_declared_pf *pf);
/* "ens1 (0000:10:00.0)". */
void declared_title(const struct vfctl_declared_pf *pf, char *buf, size_t size);
/* Each PF with the steps that would make it as declared: the dry run, and status. */
void print_declared(struct invocation *in, const struct vfctl_declared *declared);

/* Is there anything to do about this VF-LAG? */
bool declared_lag_differs(const struct vfctl_declared_lag *lag);

/* Is something to be done about the host as a whole? */
bool declared_host_differs(const struct vfctl_declared *d);
/* Is there anything to do at all? */
bool declared_some_differ(const struct vfctl_declared *d);

struct pf_result;

/* JSON: one that is declared (the host, a PF, a VF-LAG), and what became of it or is to be done. */
struct declared_view {
	const struct vfctl_change *host; /* of the host: its steps */
	const struct vfctl_declared_pf *pf;
	const struct vfctl_declared_lag *lag;
	bool status, apply; /* whose answer it is: the flag is called drift, or changed */
	bool differs;
	const char *error, *pending;
	const struct vfctl_change *operations; /* NULL: none are told */
	const struct pf_result *result;	       /* its VFs afterwards; NULL: none are told */
};
extern const struct member answer_declared_host[], answer_declared_pf[], answer_declared_lag[];

/* All that is declared, and what is to be done about it. */
struct differences {
	const struct vfctl_declared *declared;
	bool status, apply, differs;
};
extern const struct member answer_differences[];

#endif
