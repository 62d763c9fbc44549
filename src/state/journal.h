/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_JOURNAL_H
#define VFCTL_STATE_JOURNAL_H

#include <stdint.h>

#include "base/steps.h"
#include "base/util.h"

/*
 * Changes that go on, or that went on when their process died. A change is open from one
 * durable commit before its first effect until all of it is done or taken back. Marks of
 * progress are not kept: whoever comes after looks at the host.
 */
extern const struct journal state_journal;

struct db;

struct open_change {
	int64_t id;
	char *story;	/* "create ens1 4" */
	char *lock;	/* what its process holds as long as it lives */
	char boot[37];	/* the boot of the host it was begun in */
	int64_t pid;
	int64_t begun;	/* seconds since the epoch */
	char run[37];	/* UUID of the domain whose run it is; "": it is none */
	char **words;	/* one for each op: its step's line, "" for those after the first */
	struct op *ops;
	size_t op_count;
	char *unknown;	/* an op's type that this vfctl does not know; NULL: none */
};

struct open_changes {
	struct open_change *v;
	size_t count;
};

/*
 * The last begun first; @lock NULL: of all locks. Names stand for the operations that the
 * context was opened with. A state file that is not there, or that an older vfctl wrote, has none.
 */
int journal_read(struct vfctl_ctx *ctx, const char *lock, struct open_changes **ret);
/*
 * The runs of domains, which stay open until they end: that of one domain, or (@run NULL) all.
 */
int journal_read_runs(struct vfctl_ctx *ctx, const char *run, struct open_changes **ret);
/*
 * More of a run, before it is done: @entry says whose; one that did not begin yet begins.
 * @first: the one op that says that the hook prepared it. Durable when this returns.
 */
int journal_note(struct vfctl_ctx *ctx, const struct journal_entry *entry,
	const struct op *ops, size_t count, bool first);
/* The same within a transaction that is open. */
int journal_note_in(struct db *db, const struct journal_entry *entry, const struct op *ops, size_t count,
	bool first);
/* The run did not do that after all. */
int journal_forget(struct vfctl_ctx *ctx, const char *run, const struct op *op);
/* It is done, taken back, or accepted as it is. */
int journal_end(struct vfctl_ctx *ctx, int64_t id);
void open_changes_free(struct open_changes *changes);
DEFINE_FREEP(struct open_changes, open_changes_free)

#endif
