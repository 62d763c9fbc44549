/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SPEC_SCHEMA_H
#define VFCTL_SPEC_SCHEMA_H

#include "spec/reader.h"

/* The JSON schema of a file that @table reads. The caller frees it. @return 0; -ENOMEM. */
int schema_write(struct vfctl_ctx *ctx, const char *title, const struct table *table, char **ret);

#endif
