/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_THINGS_H
#define VFCTL_THINGS_H

#include "columns.h"
#include "command.h"
#include "core/watch.h"

/*
 * What monitor tells of, at one moment: PFs, VFs, domains, drift, findings, open changes, and
 * what could not be read; each with members in words, so that two moments can be compared.
 */
#define THING_MEMBERS 12

struct thing {
	const char *kind;    /* "pf", "vf", "domain", "drift", "finding", "change", "unread" */
	char *key;	     /* which one of its kind: the same at another moment */
	char *name;	     /* as a person calls it */
	char *address;	     /* of a PF or VF; else NULL */
	struct {
		const char *name; /* not owned */
		char *value;	  /* "": it has none */
	} members[THING_MEMBERS];
	size_t member_count;
};

struct things {
	struct thing *v;
	size_t count, room;
	bool failed; /* out of memory */
};

/*
 * Look at the host. Of host.yaml: --host-yaml. 0 or a negative errno with words in the context;
 * what of it can be shown in spite of a failure elsewhere is there, and the rest "unread".
 */
int things_read(struct invocation *in, struct things *ret);
void things_free(struct things *things);
/* The same thing; looked for from place @from on, where it mostly is. NULL: it is not there. */
const struct thing *things_find(const struct things *things, const struct thing *like, size_t from);
/* NULL when it has no such member. */
const char *thing_member(const struct thing *thing, const char *name);

#endif
