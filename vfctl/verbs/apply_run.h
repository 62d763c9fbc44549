/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VERBS_APPLY_RUN_H
#define VFCTL_VERBS_APPLY_RUN_H

#include "verbs/apply.h"
#include "workers.h"

/* A declaration that is being applied: what is to be done, and the outcomes. */
struct applying {
	struct invocation *in;
	const struct vfctl_host_spec *spec;
	const struct vfctl_declared *declared;
	bool of_host;	/* the host as a whole differs */
	size_t *chosen; /* PFs that differ: indexes in the declaration */
	size_t count;
	struct outcome host;
	struct outcomes pfs;  /* in the order of @chosen */
	struct outcomes lags; /* in the order of the declaration */
	bool changed;
	struct vfctl_snapshot *after; /* only while JSON is printed */
	bool kept;	   /* of a trial: the user confirmed it */
	const char *ended; /* of a trial: "confirmed", "timeout", ...; NULL: there was nothing to try */
};

/* Initialize it from @view. 0, or -ENOMEM. */
int applying_init(struct invocation *in, const struct apply_view *view, struct applying *ret);
void applying_clear(struct applying *a);
/* The host as a whole comes before the PFs, because huge pages need unfragmented memory. */
struct jobs applying_host_jobs(struct applying *a);
struct jobs applying_pf_jobs(struct applying *a);
/* Carry out a single job in this process. */
void applying_run_here(const struct jobs *jobs);

/* The exit status of @a, also before anything was done. */
int applying_status(const struct applying *a);
/* Print the outcome of each, as JSON by @table, and run after-change; returns an exit status. */
int applying_tell(struct applying *a, const struct member *table);
/* JSON members for struct applying. */
extern const struct member answer_applied[];

#endif
