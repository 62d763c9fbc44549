/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_SQLITE_H
#define VFCTL_STATE_SQLITE_H

#include <stdint.h>

#include "base/ctx.h"
#include "base/util.h"

/*
 * The functions of SQLite that vfctl needs, with error messages; only sqlite.c includes its header.
 */
struct db;
struct query;

/* A remedy for an errno of a file or its disk, in parentheses; "" if none is known. */
const char *db_way_out(int error);
/* Create the directory of @path, for root alone, unless it exists. */
int db_make_directory(struct vfctl_ctx *ctx, const char *path);
/* @write false: -ENOENT if there is no file. */
int db_open(struct vfctl_ctx *ctx, const char *path, bool write, struct db **ret_db);
/*
 * Open the file for reading if SQLite cannot create the index of its log, because the disk is full
 * or read-only. -EBUSY without a message if the log is not empty: its contents would be missed.
 */
int db_open_frozen(struct vfctl_ctx *ctx, const char *path, struct db **ret_db);
/*
 * A process that was killed while it wrote may leave a state that only a writer can repair. Until
 * then, readers get -EACCES.
 */
int db_mend(struct vfctl_ctx *ctx, const char *path);
/* The connection is closed when every user of it has closed it. */
void db_close(struct db *db);
/*
 * Committed data is in the log, on the disk, and stays there when this connection is closed. The
 * next process that closes the file, or a long log, merges it into the file. This saves the last of
 * several waits for the disk.
 */
void db_leave_log(struct db *db);
/* Share the connection with another user of that file; NULL while a transaction is open on it. */
struct db *db_share(struct db *db, const char *path);
/* This process opened it, and it is still the file of that name. */
bool db_is_current(const struct db *db);
struct vfctl_ctx *db_ctx(struct db *db);
/* Run statements without results; several are allowed. */
int db_exec(struct db *db, const char *sql);
/* Roll back the transaction, which failed with @error. Returns @error and keeps its message. */
int db_roll_back(struct db *db, int error);
int db_version(struct db *db, int *ret_version); /* PRAGMA user_version */
/* The number of rows that the last statement changed. */
int db_changes(struct db *db);

/* Arguments by @types: 's' const char *, 'i' int64_t. NULL string: SQL NULL. */
int query_new(struct db *db, struct query **ret, const char *sql, const char *types, ...);
/* 1: a row was read; 0: there are no more; -EEXIST: a unique value is taken; or another errno. */
int query_step(struct query *q);
const char *query_text(struct query *q, int column); /* never NULL */
int64_t query_int(struct query *q, int column);
void query_free(struct query *q);
DEFINE_FREEP(struct query, query_free)
/* query_new() + query_step() for a statement without rows. */
int db_run(struct db *db, const char *sql, const char *types, ...);

#endif
