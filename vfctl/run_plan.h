/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_RUN_PLAN_H
#define VFCTL_RUN_PLAN_H

#include "command.h"
#include "vfctl/session.h"

/* The session of a verb that is a call of the library, and the options of the call. */
struct planning {
	struct vfctl_session *session;
	char *options[OPTIONS_MAX + ARGS_MAX + 1]; /* "--key=value"; then attributes; then NULL */
	size_t option_count;
};

/*
 * Check the options, and open the host and, if @with_libvirt, libvirt. The options are those of
 * the command line that in->command->call has, and the VF attributes in the arguments from
 * @first_attr on. 0, or the exit status after the reason was printed. @ret must be zeroed;
 * planning_close() clears it, also after a failure.
 */
int planning_open(struct invocation *in, size_t first_attr, bool with_libvirt,
	struct planning *ret);
void planning_close(struct planning *p);
const char *const *planning_options(const struct planning *p);
/*
 * Report the failure @r of the plan; or run @change, and after it the host's after-change command
 * if identities moved. If that command fails, the change stays applied: EXIT_PARTLY.
 */
int planning_run(struct invocation *in, struct planning *p, int r, struct vfctl_change *change,
	const char *done);

/* A plan of a domain. Arguments after its name are VF attributes if the call takes them. */
typedef int plan_fn(struct vfctl_session *session, const char *domain,
	const char *const options[], bool dry_run, struct vfctl_change **ret);
/* All of this, for the domain that is the first argument. */
int run_plan(struct invocation *in, plan_fn *plan, const char *done);

#endif
