/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_OPS_H
#define VFCTL_HOST_OPS_H

#include "base/op.h"

/* A whole file of the administrator. Target: its path; want and before: its text, "" for none. */
extern const struct op_type op_file;

#endif
