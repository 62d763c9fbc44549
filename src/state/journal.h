/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_JOURNAL_H
#define VFCTL_STATE_JOURNAL_H

#include <stdint.h>

#include "base/steps.h"
#include "base/util.h"

/*
 * Changes in progress, and changes whose process died. A change is open from one durable commit
 * before its first effect until all of it is done or rolled back. The journal does not record
 * progress: recovery looks at the host.
 */
extern const struct journal state_journal;

struct db;

struct open_change {
	int64_t id;
	char *story;	/* "create ens1 4" */
	char *lock;	/* the lock that its process holds as long as it lives */
	char boot[37];	/* boot id of the host when it began */
	int64_t pid;
	int64_t begun;	/* seconds since the epoch */
	char run[37];	/* UUID of the domain whose run it is; "" for other changes */
	char **message;	/* for each op the line of its step; "" after the first op of a step */
	struct op *ops;
	size_t op_count;
	char *unknown;	/* the type of an op that this vfctl does not have; NULL: none */
};

struct open_changes {
	struct open_change *v;
	size_t count;
};

/*
 * Read the open changes, the latest first; @lock NULL: of all locks. Operations are found by name
 * among those of the context. A missing state file has none.
 */
int journal_read(struct vfctl_ctx *ctx, const char *lock, struct open_changes **ret);
/*
 * Read the runs of domains, which stay open until they end: of one domain, or (@run NULL) of all.
 */
int journal_read_runs(struct vfctl_ctx *ctx, const char *run, struct open_changes **ret);
/*
 * Record operations of a run before they are done. @entry names the run, which begins if it has not
 * yet. @first: the op that marks the run as prepared by the hook. Durable when this returns.
 */
int journal_note(struct vfctl_ctx *ctx, const struct journal_entry *entry,
	const struct op *ops, size_t count, bool first);
/* Do the same within an open transaction. */
int journal_note_in(struct db *db, const struct journal_entry *entry, const struct op *ops,
	size_t count,
	bool first);
/* Remove operations from the record: the run did not do them. */
int journal_forget(struct vfctl_ctx *ctx, const char *run, const struct op *op);
/* The change is done, rolled back, or accepted as it is. */
int journal_end(struct vfctl_ctx *ctx, int64_t id);
void open_changes_free(struct open_changes *changes);
DEFINE_FREEP(struct open_changes, open_changes_free)

#endif
