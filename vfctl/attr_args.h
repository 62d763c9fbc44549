/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_ATTR_ARGS_H
#define VFCTL_ATTR_ARGS_H

#include "base/vfattr.h"
#include "command.h"

/* Add an ATTRIBUTE=VALUE word to @io; 0 or EXIT_USAGE. */
int attr_arg(struct invocation *in, const char *word, struct vfctl_vf_attrs *io);

#endif
