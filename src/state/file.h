/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_FILE_H
#define VFCTL_STATE_FILE_H

#include "state/sqlite.h"

/* Version from which on the file holds identities. */
#define STATE_HAS_IDENTITIES 2
/* .. and what the fleet's store remembers. */
#define STATE_HAS_NOTES 3

/*
 * Open the context's state file. @write makes file and directory and brings an older
 * schema up to date; else -ENOENT when there is none, and the schema may be an older one.
 * While one is open for writing, the next ones are that one.
 */
int state_file_open(struct vfctl_ctx *ctx, bool write, struct db **ret_db);
/* An empty one in memory, for looking where there is no file. */
int state_memory_open(struct vfctl_ctx *ctx, struct db **ret_db);

#endif
