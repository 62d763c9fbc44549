/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKERS_H
#define VFCTL_WORKERS_H

#include <stdbool.h>

#include "command.h"

/* The outcome of one of several concurrent changes. */
struct outcome {
	int error;     /* 0: done, else a negative errno; -ECANCELED: tried and rolled back */
	bool moved;    /* GUIDs, MACs or P_Keys got another owner */
	bool changed;  /* of a VF-LAG: it differed from its declaration before */
	char *pending; /* what the administrator still has to do, or NULL */
	char *message;   /* of the error, or NULL */
};

struct outcomes {
	struct outcome *v;
	size_t count;
};

void outcome_clear(struct outcome *outcome);
void outcomes_clear(struct outcomes *outcomes);
/* Fill in the outcome of a change that ended with @error, whose message is in the context. */
void outcome_fill(struct invocation *in, int error, const struct vfctl_change *change,
	struct outcome *ret);

/* Changes that are carried out concurrently. */
struct jobs {
	struct invocation *in;
	size_t count, at_once;
	/* Carry out number @index of 0..count-1; called in a separate process. */
	void (*one)(struct invocation *in, void *data, size_t index, struct outcome *ret);
	/* Its title for progress: "ens1". */
	void (*title)(void *data, size_t index, char *buf, size_t size);
	void *data;
	struct outcome *outcomes; /* one for each; owned by the caller */
};

/*
 * Carry them out, each in a separate process, and wait for all. A signal that would end this
 * process makes them roll back, and so does its death. @return 0; -ENOMEM. A process that could not
 * be started is an error in its outcome.
 */
int workers_run(const struct jobs *jobs);

/* Changes that are applied, and wait for the decision whether to keep them. */
struct trial;

/*
 * Carry them out likewise, but each process waits, with its locks, after everything that can be
 * rolled back. When this returns, all of them wait or have ended.
 */
int trial_begin(const struct jobs *jobs, struct trial **ret_trial);
/*
 * The reason not to ask the user: a change has failed, or a signal ends this process. NULL: ask.
 */
bool trial_failed(const struct trial *trial);
/* Keep them, or roll them back, and wait for the end of all. Frees the trial; NULL is allowed. */
void trial_end(struct trial *trial, bool keep);

/*
 * Record the signals that end a process from now on, and forward them to workers; SIGUSR1 as well.
 */
void note_signals(void);
/* The last recorded signal; 0 if none came. */
int noted_signal(void);

#endif
