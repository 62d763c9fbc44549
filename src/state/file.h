/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_FILE_H
#define VFCTL_STATE_FILE_H

#include "state/sqlite.h"

/*
 * Open the context's state file. @write creates the file and its directory; without it -ENOENT if
 * the file does not exist. -EBADF: it has another schema than that of this vfctl. While the file is
 * open for writing, further calls return that connection.
 */
int state_file_open(struct vfctl_ctx *ctx, bool write, struct db **ret_db);
/* An empty database in memory, for readers if there is no file. */
int state_memory_open(struct vfctl_ctx *ctx, struct db **ret_db);

#endif
