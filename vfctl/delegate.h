/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_DELEGATE_H
#define VFCTL_DELEGATE_H

#include "command.h"

/* The path of vfctl-bench; false: it cannot be determined. */
bool delegate_path(char *buf, size_t size);
/* Execute vfctl-bench if it carries out this command line (struct program). */
int start_delegate(struct invocation *in, char **argv);

#endif
