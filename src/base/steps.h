/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_STEPS_H
#define VFCTL_BASE_STEPS_H

#include "base/ctx.h"

/*
 * A change is a list of steps. The same list is printed by a dry run, carried out,
 * rolled back and logged. @describe is owned by the list. @undo may be NULL when there
 * is nothing to take back; @verify (may be NULL) looks at the kernel again after @apply.
 */
struct step {
	char *describe;
	int (*apply)(struct vfctl_ctx *ctx, void *data);
	int (*verify)(struct vfctl_ctx *ctx, void *data);
	int (*undo)(struct vfctl_ctx *ctx, void *data);
	void *data;
	/*
	 * It cannot be taken back (a guest let go of its VF, a definition is gone): once it is
	 * done the change goes forward, whatever fails. Such rows come after those with an undo.
	 */
	bool commit;
};

struct steps {
	struct step *v;
	size_t count;
	bool failed; /* out of memory while adding */
};

/* Add a row. @describe is copied from the format. */
void steps_add(struct steps *s, const struct step *row, const char *fmt, ...)
	_printf_(3, 4);

/*
 * Carry out all rows in order. On a failure (or a cancel, -EINTR) those done are
 * undone in reverse order and the error of the failed one is returned; when an undo failed
 * too its words say what remains (then -ESTALE). Past a row with @commit the others are all
 * tried instead, and the words name those that are still to be done (-ESTALE as well). Each
 * row leaves a line in the system's log.
 */
int steps_run(struct vfctl_ctx *ctx, struct steps *s);

void steps_clear(struct steps *s);
#define _steps_ _cleanup_(steps_clear)

#endif
