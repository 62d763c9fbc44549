/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_DELEGATE_H
#define VFCTL_DELEGATE_H

#include "command.h"

/* Become vfctl-bench if it carries out this command line (struct program). */
int start_delegate(struct invocation *in, char **argv);

#endif
