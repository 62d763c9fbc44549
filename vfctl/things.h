/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_THINGS_H
#define VFCTL_THINGS_H

#include "columns.h"
#include "command.h"

/*
 * The objects that monitor reports, at one point in time: PFs, VFs, domains, drift, findings, open
 * changes, and what could not be read. Each has members as text, so that two states can be
 * compared.
 */
#define THING_MEMBERS 12

struct thing {
	const char *kind;    /* "pf", "vf", "domain", "drift", "finding", "change", "unread" */
	char *key;	     /* identifies it among its kind, also in another state */
	char *name;	     /* name for messages */
	char *address;	     /* of a PF or VF; else NULL */
	struct {
		const char *name; /* not owned */
		char *value;	  /* "" if it has none */
	} members[THING_MEMBERS];
	size_t member_count;
};

struct things {
	struct thing *v;
	size_t count, room;
	bool failed; /* memory was exhausted */
};

/*
 * Read the host, with the host.yaml of --host-yaml. 0 or a negative errno with a message; after a
 * failure it contains what could be read, and "unread" entries for the rest.
 */
int things_read(struct invocation *in, struct things *ret);
void things_free(struct things *things);
/*
 * Find the same object, searching first at position @from, where it usually is. NULL if it does not
 * exist.
 */
const struct thing *things_find(const struct things *things, const struct thing *like, size_t from);
/* NULL if it has no such member. */
const char *thing_member(const struct thing *thing, const char *name);

#endif
