/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKERS_H
#define VFCTL_WORKERS_H

#include "command.h"

/* How one of several changes that go on at the same time ended. */
struct outcome {
	int error;     /* 0 done, else a negative errno */
	bool moved;    /* GUIDs, MACs or P_Keys changed hands */
	bool changed;  /* of a VF-LAG: it was not as declared before */
	char *pending; /* what is left for the operator, or NULL */
	char *words;   /* of the error, or NULL */
};

struct outcomes {
	struct outcome *v;
	size_t count;
};

void outcome_clear(struct outcome *outcome);
void outcomes_clear(struct outcomes *outcomes);
/* Of a change that ended with @error, whose words are in the context. */
void outcome_fill(struct invocation *in, int error, const struct vfctl_change *change, struct outcome *ret);

/*
 * Call @one for each of 0..@count-1, each in a process of its own, at most @at_once of them at
 * the same time, and await them all. A signal that would end this one makes them roll back, and
 * so does its death. @return 0; -ENOMEM, or no process could be made: then the outcomes say so.
 */
int workers_run(struct invocation *in, size_t count, size_t at_once,
	void (*one)(struct invocation *in, void *data, size_t index, struct outcome *ret),
	void *data, struct outcome *ret_outcomes);

#endif
