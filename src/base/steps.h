/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_STEPS_H
#define VFCTL_BASE_STEPS_H

#include "base/op.h"
#include "base/vfattr.h"

/*
 * A change is a list of steps. The same list is printed by a dry run, carried out, rolled back,
 * logged and recorded in the journal. A step is a line of text and its operations.
 */
struct step {
	char *describe;
	struct op *ops;
	size_t op_count;
};

struct steps {
	struct step *v;
	size_t count;
	bool failed; /* memory was exhausted while steps were added */
};

/* Add a step; step_op() then adds its operations. */
void step_begin(struct steps *s, const char *fmt, ...) _printf_(2, 3);
/* @want and @before are copied, and may be NULL: see struct op. */
void step_op(struct steps *s, const struct op_type *type, const char *want,
	const char *before, const char *target_fmt, ...) _printf_(5, 6);
/* Add an operation for attributes of a VF: the new ones and the previous ones; NULL as above. */
void step_attrs_op(struct steps *s, const struct op_type *type, const struct vfctl_vf_attrs *want,
	const struct vfctl_vf_attrs *before, const char *target_fmt, ...) _printf_(5, 6);
/* Add a step with a single operation. */
#define step_add_op(s, type, want, before, target, ...)                                  \
	do {                                                                             \
		step_begin((s), __VA_ARGS__);                                            \
		step_op((s), (type), (want), (before), "%s", (target));                  \
	} while (0)

/* Move the last step to position @index, from 0. */
void steps_put(struct steps *s, size_t index);

struct journal;

/* An entry of a journal: the description of the change, and the lock that its process holds. */
struct journal_entry {
	const struct journal *journal; /* NULL: the change is not recorded */
	char *story, *lock;
	char boot[37]; /* boot id of the host */
	/*
	 * UUID of the domain whose run this is, or NULL. The entry of a run stays open when its
	 * steps are done: the end of the run rolls them back.
	 */
	const char *run;
	bool joins; /* the run began before: these steps are added to it, and a failure does not end it */
};

/*
 * The record of a change while it is applied, for recovery after the death of this process. @begin
 * returns after the entry is durable. @end: everything is done or rolled back. @leave: neither, and
 * the entry stays open. After a successful @begin one of the two is called.
 */
struct journal {
	int (*begin)(struct vfctl_ctx *ctx, const struct journal_entry *entry,
		const struct steps *s, int64_t *ret_id);
	int (*end)(struct vfctl_ctx *ctx, int64_t id);
	void (*leave)(struct vfctl_ctx *ctx);
};

/*
 * Carry out all steps in order. On a failure (or a cancel, -EINTR) the completed rows are rolled
 * back in reverse order, and the error of the failed row is returned. If a roll-back fails too, the
 * message says what remains (then -ESTALE). After a row that cannot be rolled back, all other rows
 * are tried instead, and the message names those that are still to be done (-ESTALE as well). Each
 * row leaves a line in the system log. What remains incomplete stays in the journal.
 */
int steps_run(struct vfctl_ctx *ctx, struct steps *s, const struct journal_entry *entry);

/*
 * Roll back the first @done rows in reverse order. Each is tried; -ESTALE names those that remain.
 */
int steps_revert(struct vfctl_ctx *ctx, const struct steps *s, size_t done);

void steps_clear(struct steps *s);
#define _steps_ _cleanup_(steps_clear)

#endif
