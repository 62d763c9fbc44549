/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_MONITOR_BRIDGE_RECORD_H
#define VFCTL_MONITOR_BRIDGE_RECORD_H

#include "base/ctx.h"
#include "core/types.h"

/*
 * What vfctl monitor --bridge added to the tables of functions: /run/vfctl/bridge, lines "+FUNCTION
 * MAC PORT" and "-FUNCTION MAC", a line for each change. Like the tables it does not outlive a
 * reboot.
 */
struct bridge_record;

struct bridge_row {
	struct vfctl_bdf function;
	struct vfctl_mac mac;
	char port[16];
};

/* Read what the run before left, and begin to write. */
int bridge_record_open(struct vfctl_ctx *ctx, struct bridge_record **ret);
void bridge_record_close(struct bridge_record *record);
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
