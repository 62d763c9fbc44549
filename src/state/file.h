/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_FILE_H
#define VFCTL_STATE_FILE_H

#include "state/sqlite.h"

/* First version of the file with identities. */
#define STATE_HAS_IDENTITIES 2
/* First version with the notes of the fleet's store. */
#define STATE_HAS_NOTES 3

/*
 * Open the context's state file. @write creates the file and its directory and migrates an older
 * schema; without it -ENOENT if there is no file, and the schema may be an older one. While the
 * file is open for writing, further calls return that connection.
 */
int state_file_open(struct vfctl_ctx *ctx, bool write, struct db **ret_db);
/* An empty database in memory, for readers if there is no file. */
int state_memory_open(struct vfctl_ctx *ctx, struct db **ret_db);

#endif
