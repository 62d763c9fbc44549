/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHECKS_CHECK_H
#define VFCTL_CHECKS_CHECK_H

#include "base/ctx.h"
#include "core/doctor.h"

struct exam;

/*
 * One thing that goes wrong on real hosts. @run looks for it and calls found() for each place where
 * it is so, unknown() where it could not look.
 */
struct check {
	const char *name;
	enum vfctl_severity severity;
	const char *what, *cause, *remedy;
	void (*run)(struct exam *e);
};

struct guest_list;

struct exam {
	struct vfctl_ctx *ctx;
	struct vfctl_snapshot *snapshot;
	const struct vfctl_host_spec *spec;
	int spec_error; /* why there is none, and in words; 0: none is declared */
	const char *spec_words;
	const struct check *check; /* the one that is made now */
	struct vfctl_diagnosis *diagnosis;
	bool failed; /* out of memory */
	struct guest_list *guests; /* checks/guest.h; NULL: not read yet */
};

/* It is so. The result may be changed: severity, remedy (its own), fix; NULL when out of memory. */
struct vfctl_ailment *found(struct exam *e, const char *subject, const char *evidence, ...)
	_printf_(3, 4);
void unknown(struct exam *e, const char *why, ...) _printf_(2, 3);
/* Another remedy than the check's. */
void set_remedy(struct exam *e, struct vfctl_ailment *a, const char *fmt, ...) _printf_(3, 4);

/* Is the VF a guest's, now or by its lease? */
bool is_taken(const struct vfctl_vf *vf);
/* "ens1", or the address. */
const char *pf_title(const struct vfctl_pf *pf, char buf[VFCTL_BDF_TEXT]);

#define VF_TITLE 64
/* "ens1/3" */
/* What its lease asks for; NULL: nothing. */
const struct vfctl_vf_attrs *vf_intent(const struct exam *e, const struct vfctl_vf *vf);
const char *vf_title(const struct vfctl_pf *pf, const struct vfctl_vf *vf, char buf[VF_TITLE]);

/* What each file of checks has, ended by a row without a name. */
extern const struct check pci_checks[], vf_checks[], system_checks[], rdma_checks[], log_checks[],
	guest_checks[], place_checks[], process_checks[], eswitch_checks[];

void exam_run(struct exam *e, const struct check *checks);
/* What was read for it goes; the diagnosis stays. */
void exam_end(struct exam *e);

#endif
