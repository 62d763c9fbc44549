/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_SQLITE_H
#define VFCTL_STATE_SQLITE_H

#include <stdint.h>

#include "base/ctx.h"
#include "base/util.h"

/*
 * The few things we need of SQLite, with errors in words; the one file that includes its
 * header is sqlite.c.
 */
struct db;
struct query;

/* What helps against an errno value of a file or its disk, in parentheses; "" nothing known. */
const char *db_way_out(int error);
/* Make the directory that @path is in, for root alone, unless it is there. */
int db_make_directory(struct vfctl_ctx *ctx, const char *path);
/* @write false: -ENOENT when there is no file. */
int db_open(struct vfctl_ctx *ctx, const char *path, bool write, struct db **ret_db);
/*
 * To read only, where SQLite cannot make the index of its log: the disk is full or read-only.
 * -EBUSY without words when the log holds something, which would be missed.
 */
int db_open_frozen(struct vfctl_ctx *ctx, const char *path, struct db **ret_db);
/*
 * A process that was killed while it wrote may leave what only a writer can put right; whoever
 * reads is refused (-EACCES) until then.
 */
int db_mend(struct vfctl_ctx *ctx, const char *path);
/* Closed when each that opened or shares it has closed it. */
void db_close(struct db *db);
/*
 * What is committed is in the log, on the disk, and stays there when this one is closed: whoever closes
 * the file next, or a log of some length, brings it into the file itself. Spares the last of several
 * waits for the disk.
 */
void db_leave_log(struct db *db);
/* The same once more, for another user of that file; NULL while a transaction is open on it. */
struct db *db_share(struct db *db, const char *path);
/* Opened by this process, and still the file of that name. */
bool db_is_current(const struct db *db);
struct vfctl_ctx *db_ctx(struct db *db);
/* Statements without results, several allowed. */
int db_exec(struct db *db, const char *sql);
/* Take the transaction back, which failed by @error; returns that, and its words stay. */
int db_roll_back(struct db *db, int error);
int db_version(struct db *db, int *ret_version); /* PRAGMA user_version */
/* Rows changed by the last statement. */
int db_changes(struct db *db);

/* Arguments by @types: 's' const char *, 'i' int64_t. NULL string: SQL NULL. */
int query_new(struct db *db, struct query **ret, const char *sql, const char *types, ...);
/* 1: a row is there; 0: no more; -EEXIST: a unique value is taken; other errno. */
int query_step(struct query *q);
const char *query_text(struct query *q, int column); /* never NULL */
int64_t query_int(struct query *q, int column);
void query_free(struct query *q);
DEFINE_FREEP(struct query, query_free)
/* query_new() + query_step() for a statement without rows. */
int db_run(struct db *db, const char *sql, const char *types, ...);

#endif
