/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_DOMAIN_SAID_H
#define VFCTL_DOMAIN_SAID_H

#include "base/buf.h"
#include "base/ctx.h"
#include "core/guest.h"

/*
 * What a guest's file and its template say, a line "KEY=VALUE" for each value, as it is kept in the
 * metadata of the domain. Whoever defines domains may have written that.
 */

/* NULL: the guest is from no file, or memory ran out. */
char *guest_said(const struct vfctl_guest *guest, const char *template_text);

/* The value of that key, which ends with its line; NULL: none. libvirt may have indented lines. */
const char *said_find(const char *lines, const char *key, size_t key_len);
/* Does a line's key begin so? */
bool said_has(const char *lines, const char *prefix, size_t len);

/* *ret: vfctl defined the domain of that XML, under that name. A clone has another. */
int said_is_defined(struct vfctl_ctx *ctx, const char *xml, const char *name, bool *ret);
/* Of a domain without a lease: 0, or, when vfctl defined it, -EPERM with the way to its lease. */
int said_check_lost(struct vfctl_ctx *ctx, const char *xml, const char *name);

/* How a file differs from what it said. */
struct said_change {
	bool any;
	bool place; /* keys that the planner asks */
	bool vcpus, memory, cells; /* how many, and how much */
	struct buf refused; /* what is not changed in a domain that is there, and why */
	size_t refused_count;
};
void said_change_clear(struct said_change *change);

void said_compare(const char *now, const char *was, struct said_change *ret);

#endif
