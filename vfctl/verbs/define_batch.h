/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VERBS_DEFINE_BATCH_H
#define VFCTL_VERBS_DEFINE_BATCH_H

#include "command.h"

/* define --batch DIR: place and define all guests of a directory. Returns the exit status. */
int run_define_batch(struct invocation *in, const char *dir);
extern const struct member answer_define_batch[];

#endif
