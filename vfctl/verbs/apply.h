/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VERBS_APPLY_H
#define VFCTL_VERBS_APPLY_H

#include "command.h"
#include "core/apply.h"

/* What is declared, against what is. The pools are closed again: children open their own. */
struct apply_view {
	struct vfctl_snapshot *snapshot;
	struct vfctl_host_spec *spec;
	struct vfctl_declared *declared;
};

/* An exit status. */
int apply_open(struct invocation *in, const char *path, struct apply_view *ret);
void apply_close(struct apply_view *view);
/* The file or directory that the command names; NULL: the usual one. */
const char *apply_declaration(const struct invocation *in);

#endif
