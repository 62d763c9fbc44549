/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHECKS_CHECK_H
#define VFCTL_CHECKS_CHECK_H

#include "base/ctx.h"
#include "checks/doctor.h"
#include "types/snapshot.h"

struct check_ctx;

/*
 * A known problem of real hosts. @run looks for it, calls found() for each occurrence, and
 * unknown() for what it could not check.
 */
struct check {
	const char *name;
	enum vfctl_severity severity;
	const char *what, *cause, *remedy;
	void (*run)(struct check_ctx *e);
};

struct guest_list;
struct known_domains;

struct check_ctx {
	struct vfctl_ctx *ctx;
	struct vfctl_snapshot *snapshot;
	const struct vfctl_host_spec *spec;
	int spec_error; /* errno and message if it could not be read; 0: none is declared */
	const char *spec_text;
	const struct check *check; /* the current check */
	struct vfctl_doctor_report *report;
	bool failed; /* memory was exhausted */
	struct known_domains *domains; /* check_ctx_domains(); NULL: not read yet */
	struct guest_list *guests; /* checks/guest.h; NULL: not read yet */
};

/*
 * Report an occurrence. The result may be changed: severity, remedy (its own), fix; NULL if memory
 * is exhausted.
 */
struct vfctl_issue *found(struct check_ctx *e, const char *subject, const char *evidence, ...)
	_printf_(3, 4);
void unknown(struct check_ctx *e, const char *why, ...) _printf_(2, 3);
/* Use another remedy than that of the check. */
void set_remedy(struct check_ctx *e, struct vfctl_issue *a, const char *fmt, ...) _printf_(3, 4);

/* Whether a guest has the VF, now or by its lease. */
bool is_taken(const struct vfctl_vf *vf);
/* "ens1", or the address. */
const char *pf_title(const struct vfctl_pf *pf, char buf[VFCTL_BDF_TEXT]);

#define VF_TITLE 64
/* "ens1/3" */
/* The values of its lease; NULL: none. */
const struct vfctl_vf_attrs *vf_intent(const struct check_ctx *e, const struct vfctl_vf *vf);
const char *vf_title(const struct vfctl_pf *pf, const struct vfctl_vf *vf, char buf[VF_TITLE]);

/* The checks of each file, ended by a row without a name. */
extern const struct check pci_checks[], vf_checks[], system_checks[], rdma_checks[], log_checks[],
	guest_checks[], place_checks[], process_checks[], eswitch_checks[], creator_checks[];

/*
 * Compare the leases, which are known, with libvirt's domains and the VFs: the issues that status
 * shows (vfctl_findings_read()), except those of the bridge monitor.
 */
void leases_compare(struct check_ctx *e);

void check_ctx_run(struct check_ctx *e, const struct check *checks);
/* Free what was read for the checks; the report is kept. */
void check_ctx_end(struct check_ctx *e);

#endif
