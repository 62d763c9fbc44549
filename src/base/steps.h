/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_STEPS_H
#define VFCTL_BASE_STEPS_H

#include "base/op.h"
#include "core/vfattr.h"

/*
 * A change is a list of steps. The same list is printed by a dry run, carried out,
 * rolled back, logged and kept in the journal. A step is a line for people and its effects.
 */
struct step {
	char *describe;
	struct op *ops;
	size_t op_count;
};

struct steps {
	struct step *v;
	size_t count;
	bool failed; /* out of memory while adding */
};

/* Add a step, whose effects step_op() then adds. */
void step_begin(struct steps *s, const char *fmt, ...) _printf_(2, 3);
/* @want and @before are copied, and may be NULL: see struct op. */
void step_op(struct steps *s, const struct op_type *type, const char *want,
	const char *before, const char *target_fmt, ...) _printf_(5, 6);
/* The same of attributes of a VF: what it is given, and what it had; NULL: as above. */
void step_attrs_op(struct steps *s, const struct op_type *type, const struct vfctl_vf_attrs *want,
	const struct vfctl_vf_attrs *before, const char *target_fmt, ...) _printf_(5, 6);
/* One step that is one op. */
#define step_add_op(s, type, want, before, target, ...)                                  \
	do {                                                                             \
		step_begin((s), __VA_ARGS__);                                            \
		step_op((s), (type), (want), (before), "%s", (target));                  \
	} while (0)

/* The step added last is carried out as number @index, from 0. */
void steps_put(struct steps *s, size_t index);

struct journal;

/* One entry of a journal: what the change is for people, and the lock that its owner holds. */
struct journal_entry {
	const struct journal *journal; /* NULL: the change is not kept */
	char *story, *lock;
	char boot[37]; /* which boot of the host this is */
	/*
	 * UUID of the domain whose run this is, or NULL. Such a change stays open when it is done:
	 * whoever ends the run takes it back.
	 */
	const char *run;
	bool joins; /* that run began before: this is more of it, and a failure does not end it */
};

/*
 * Where a change is kept while it goes on, for whoever comes after the death of this process.
 * @begin is durable when it returns. @end: everything is done, or taken back. @leave: neither,
 * and the entry stays. One of the two is called after a @begin that succeeded.
 */
struct journal {
	int (*begin)(struct vfctl_ctx *ctx, const struct journal_entry *entry,
		const struct steps *s, int64_t *ret_id);
	int (*end)(struct vfctl_ctx *ctx, int64_t id);
	void (*leave)(struct vfctl_ctx *ctx);
};

/*
 * Carry out all rows in order. On a failure (or a cancel, -EINTR) those done are
 * undone in reverse order and the error of the failed one is returned; when an undo failed
 * too its words say what remains (then -ESTALE). Past one that cannot be taken back the others are
 * all tried instead, and the words name those that are still to be done (-ESTALE as well). Each
 * row leaves a line in the system's log. What stays half done stays in the journal.
 */
int steps_run(struct vfctl_ctx *ctx, struct steps *s, const struct journal_entry *entry);

/* Take back the first @done rows, the last first. Each is tried; -ESTALE names those that stay. */
int steps_revert(struct vfctl_ctx *ctx, const struct steps *s, size_t done);

void steps_clear(struct steps *s);
#define _steps_ _cleanup_(steps_clear)

#endif
