/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_BRIDGE_RECORD_H
#define VFCTL_TUNING_BRIDGE_RECORD_H

#include <stdint.h>

#include "base/ctx.h"

struct vfctl_ctx;

/**
 * 1: vfctl_bridge_follow() runs in a process of this host; 0: it does not; a negative errno: not
 * known, because this is a captured host or another user's process.
 */
int vfctl_bridge_is_followed(struct vfctl_ctx *ctx);

/*
 * What vfctl monitor --bridge added to the tables of functions: /run/vfctl/bridge. The first line
 * is "#PROCESS BEGUN"; then follow lines "+FUNCTION MAC PORT" and "-FUNCTION MAC", a line for each
 * change. Like the tables it does not outlive a reboot.
 */
struct bridge_record;

/* The lock that vfctl monitor --bridge holds. */
#define BRIDGE_LOCK "bridge"

struct bridge_row {
	struct vfctl_bdf function;
	struct vfctl_mac mac;
	char port[16];
};

/* Read what the run before left, and begin to write. */
int bridge_record_open(struct vfctl_ctx *ctx, struct bridge_record **ret);
void bridge_record_close(struct bridge_record *record);
/*
 * Read what a run left that was killed, with the lock that keeps the next run away until it is
 * closed. *@ret NULL: nothing is left, or the monitor runs.
 */
int bridge_record_read_left(struct vfctl_ctx *ctx, int *ret_lock, struct bridge_record **ret);
/* The process that wrote it, and when that began; 0: not known. */
void bridge_record_process(const struct bridge_record *record, int64_t *ret_pid,
	int64_t *ret_begun);
/* The steps that bridge_record_end() undoes, a text for each function; NULL: out of memory. */
char **bridge_record_steps(const struct bridge_record *record);
/*
 * Close what a run left: with @undo the entries are removed from the tables. Those that cannot be
 * removed stay in the record, and the first error is returned.
 */
int bridge_record_end(struct vfctl_ctx *ctx, struct bridge_record *record, bool undo);
/* The rows of the run before, by number; NULL past the last one. */
const struct bridge_row *bridge_record_row(const struct bridge_record *record, size_t index);
/* They have been dealt with: the caller's own entries are all that is there. */
void bridge_record_forget(struct bridge_record *record);
/* Whether so many lines are about entries that are gone that it should be written anew. */
bool bridge_record_is_long(const struct bridge_record *record, size_t entries);
/* Write it anew, with these rows alone. */
int bridge_record_rewrite(struct vfctl_ctx *ctx, struct bridge_record *record,
	const struct bridge_row *rows, size_t count);
int bridge_record_add(struct vfctl_ctx *ctx, struct bridge_record *record,
	const struct vfctl_bdf *function, const struct vfctl_mac *mac, const char *port);
/* A line that cannot be written costs nothing but a removal by the next run. */
void bridge_record_remove(struct vfctl_ctx *ctx, struct bridge_record *record,
	const struct vfctl_bdf *function, const struct vfctl_mac *mac);

#endif
