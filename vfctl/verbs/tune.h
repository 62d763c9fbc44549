/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNE_VERBS_H
#define VFCTL_TUNE_VERBS_H

#include "command.h"
#include "types/hostspec.h"

/* The functions of `vfctl tune VERB`. The arguments are in->args[1] and following. */
/* verbs/tune_profiles.c */
int tune_run_profiles(struct invocation *in);
/* verbs/tune_show.c */
int tune_run_show(struct invocation *in);
int tune_run_set(struct invocation *in);
/* verbs/tune_domain.c: for the domain that in->args[1] names. */
int tune_show_domain(struct invocation *in, const struct vfctl_host_spec *spec);
/* verbs/tune_guest.c */
int tune_run_guest(struct invocation *in);

extern const struct answer tune_profiles_answer[], tune_show_answer[], tune_guest_answer[];
/* For a struct vfctl_guest_tuned. */
extern const struct member answer_tuned[];

#endif
