/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VERBS_APPLY_H
#define VFCTL_VERBS_APPLY_H

#include "command.h"
#include "vfs/apply.h"

/*
 * The declared and the present state. The pools are closed again, because children open their own.
 */
struct apply_view {
	struct vfctl_snapshot *snapshot;
	struct vfctl_host_spec *spec;
	struct vfctl_declared *declared;
};

/* An exit status. */
int apply_open(struct invocation *in, const char *path, struct apply_view *ret);
void apply_close(struct apply_view *view);
/*
 * apply_open() for the declaration on the command line, after interrupted changes were recovered.
 * Waits up to @wait_seconds for absent PFs.
 */
int apply_look(struct invocation *in, unsigned wait_seconds, struct apply_view *view,
	bool *ret_recovered);
/* Print the differences; returns an exit status. */
int apply_dry_run(struct invocation *in, const struct apply_view *view);
extern const struct member answer_apply_dry[];
/* The file or directory that the command line names; NULL: the default. */
const char *apply_declaration(const struct invocation *in);

#endif
