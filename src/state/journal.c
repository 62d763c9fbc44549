// SPDX-License-Identifier: GPL-2.0-or-later
#include "state/journal.h"

#include <errno.h>
#include <time.h>

#include "state/file.h"

DEFINE_FREEP(struct db, db_close)

/* ---- writing ---- */

static int insert_op(struct db *db, int64_t change, int64_t number, const char *message,
	const struct op *op)
{
	return db_run(db, "INSERT INTO change_op (change, number, words, type, target, want, before) "
		"VALUES (?, ?, ?, ?, ?, ?, ?)", "iisssss", change, number, message,
		op->type->name, op->target, op->want, op->before);
}

static int insert_step(struct db *db, int64_t change, const struct step *step, int64_t *number)
{
	int r = 0;

	for (size_t k = 0; k < step->op_count && r == 0; k++)
		r = insert_op(db, change, (*number)++, k ? "" : step->describe, &step->ops[k]);
	return r;
}

/* One number from @sql; @none if there is no row. */
static int query_number(struct db *db, const char *sql, const char *text, int64_t none,
	int64_t *ret)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(db, &q, sql, "s", text);

	if (r == 0)
		r = query_step(q);
	if (r >= 0)
		*ret = r == 1 ? query_int(q, 0) : none;
	return r < 0 ? r : 0;
}

/* The loop ends when this returns 0. */
#define RUN_ID "SELECT id FROM change WHERE run = ?"
#define RUN_NEXT "SELECT max(number) + 1 FROM change_op JOIN change ON id = change WHERE run = ?"

static int insert_entry(struct db *db, const struct journal_entry *entry, int64_t *ret_id)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(db, &q, "INSERT INTO change (story, lock, boot, pid, begun, run) "
		"VALUES (?, ?, ?, ?, ?, ?) RETURNING id", "sssiis", entry->story,
		entry->lock ? entry->lock : "", entry->boot, (int64_t)getpid(),
		(int64_t)time(NULL), entry->run);

	if (r == 0)
		r = query_step(q);
	if (r < 0)
		return r;
	*ret_id = query_int(q, 0);
	return query_step(q); /* read to the end, or the statement stays open */
}

static int insert_change(struct db *db, const struct journal_entry *entry,
	const struct steps *s, int64_t *ret_id)
{
	int64_t number = 0;
	int r = 0;

	*ret_id = 0;
	if (entry->joins)
		r = query_number(db, RUN_ID, entry->run, 0, ret_id);
	if (r == 0 && *ret_id)
		r = query_number(db, RUN_NEXT, entry->run, 0, &number);
	else if (r == 0)
		r = insert_entry(db, entry, ret_id);
	for (size_t i = 0; i < s->count && r == 0; i++)
		r = insert_step(db, *ret_id, &s->v[i], &number);
	return r;
}

/*
 * The state file stays open during the change, so that later writes and the end need not open it
 * again. The last process to close the file merges its log, which takes three fsyncs.
 */
static int begin_journal(struct vfctl_ctx *ctx, const struct journal_entry *entry,
	const struct steps *s, int64_t *ret_id)
{
	_cleanup_(db_closep) struct db *db = NULL;
	int r = state_file_open(ctx, true, &db);

	if (r == 0)
		r = db_exec(db, "PRAGMA synchronous = FULL");
	if (r == 0)
		r = db_exec(db, "BEGIN IMMEDIATE");
	if (r < 0)
		return r;
	r = insert_change(db, entry, s, ret_id);
	if (r == 0)
		r = db_exec(db, "COMMIT");
	if (r < 0)
		return db_roll_back(db, r);
	db_close(ctx->journal);
	ctx->journal = steal(db);
	return 0;
}

static void leave(struct vfctl_ctx *ctx)
{
	db_close(steal(ctx->journal));
}

/* ---- runs ---- */

/* The mark of a prepared run comes first, so it is rolled back last. */
#define FIRST_NUMBER 0

int journal_note_in(struct db *db, const struct journal_entry *entry, const struct op *ops,
	size_t count, bool first)
{
	int64_t id, number = FIRST_NUMBER;
	int r = query_number(db, RUN_ID, entry->run, 0, &id);

	if (r == 0 && !id)
		r = insert_entry(db, entry, &id);
	if (r == 0)
		r = db_run(db, "UPDATE change SET boot = ? WHERE id = ?", "si", entry->boot, id);
	if (r == 0 && first)
		r = db_run(db, "DELETE FROM change_op WHERE change = ? AND number = ?", "ii", id,
			number);
	else if (r == 0)
		r = query_number(db, RUN_NEXT, entry->run, 0, &number);
	if (r == 0 && !first && number == FIRST_NUMBER)
		number++;
	for (size_t i = 0; i < count && r == 0; i++)
		r = insert_op(db, id, number++, "", &ops[i]);
	return r;
}

int journal_note(struct vfctl_ctx *ctx, const struct journal_entry *entry,
	const struct op *ops, size_t count, bool first)
{
	_cleanup_(db_closep) struct db *db = NULL;
	int r = state_file_open(ctx, true, &db);

	if (r == 0)
		r = db_exec(db, "BEGIN IMMEDIATE");
	if (r < 0)
		return r;
	r = journal_note_in(db, entry, ops, count, first);
	if (r == 0)
		r = db_exec(db, "COMMIT");
	return r < 0 ? db_roll_back(db, r) : 0;
}

int journal_forget(struct vfctl_ctx *ctx, const char *run, const struct op *op)
{
	_cleanup_(db_closep) struct db *db = NULL;
	int r = state_file_open(ctx, true, &db);

	return r < 0 ? r : db_run(db, "DELETE FROM change_op WHERE type = ? AND target = ? AND "
		"before = ? AND change IN (" RUN_ID ")", "ssss", op->type->name, op->target,
		op->before, run);
}

/* ---- the end ---- */

/*
 * This need not be durable: if the change is found open after a loss of power, it is found done and
 * closed.
 */
int journal_end(struct vfctl_ctx *ctx, int64_t id)
{
	_cleanup_(db_closep) struct db *db = NULL;
	int r = state_file_open(ctx, true, &db);

	if (r == 0)
		r = db_exec(db, "PRAGMA synchronous = NORMAL");
	if (r == 0)
		r = db_run(db, "DELETE FROM change WHERE id = ?", "i", id);
	if (r == 0)
		r = db_exec(db, "PRAGMA synchronous = FULL");
	return r;
}

static int end_journal(struct vfctl_ctx *ctx, int64_t id)
{
	int r = journal_end(ctx, id);

	leave(ctx);
	return r;
}

const struct journal state_journal = {begin_journal, end_journal, leave};

/* ---- reading ---- */

static const struct op_type *find_type(const struct vfctl_ctx *ctx, const char *name)
{
	const struct op_type *const *types = ctx->tables->op_types;

	while (*types && !str_eq((*types)->name, name))
		types++;
	return *types;
}

/* SQL NULL reads as ""; the query tells the two apart. */
static char *copy_or_null(struct query *q, int column, int is_null)
{
	return query_int(q, is_null) ? NULL : strdup(query_text(q, column));
}

static int read_op(struct vfctl_ctx *ctx, struct query *q, struct open_change *c)
{
	const struct op_type *type = find_type(ctx, query_text(q, 1));
	struct op *op;

	if (!type && !c->unknown)
		c->unknown = strdup(query_text(q, 1));
	if (!type)
		return c->unknown ? 0 : ctx_oom(ctx);
	if (!array_grow(c->ops, c->op_count) || !array_grow(c->message, c->op_count))
		return ctx_oom(ctx);
	op = &c->ops[c->op_count];
	*op = (struct op){type, strdup(query_text(q, 2)), copy_or_null(q, 3, 5),
		copy_or_null(q, 4, 6)};
	c->message[c->op_count++] = strdup(query_text(q, 0));
	if (!op->target || !c->message[c->op_count - 1] || (!op->want && !query_int(q, 5)) ||
		(!op->before && !query_int(q, 6)))
		return ctx_oom(ctx);
	return 0;
}

static int read_ops(struct vfctl_ctx *ctx, struct db *db, struct open_change *c)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(db, &q, "SELECT words, type, target, want, before, want IS NULL, "
		"before IS NULL FROM change_op WHERE change = ? ORDER BY number", "i", c->id);

	while (r >= 0 && (r = query_step(q)) == 1) {
		r = read_op(ctx, q, c);
		if (r < 0)
			return r;
	}
	return r;
}

static const char query_changes[] = "SELECT id, story, lock, boot, pid, begun, '' FROM change "
	"WHERE run IS NULL AND (?1 IS NULL OR lock = ?1) ORDER BY id DESC";
static const char query_runs[] = "SELECT id, story, lock, boot, pid, begun, run FROM change "
	"WHERE run IS NOT NULL AND (?1 IS NULL OR run = ?1) ORDER BY id DESC";

static int read_changes(struct vfctl_ctx *ctx, struct db *db, const char *sql,
	const char *which, struct open_changes *all)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(db, &q, sql, "s", which);

	while (r >= 0 && (r = query_step(q)) == 1) {
		struct open_change *c;

		if (!array_grow(all->v, all->count))
			return ctx_oom(ctx);
		c = &all->v[all->count++];
		*c = (struct open_change){.id = query_int(q, 0), .story = strdup(query_text(q, 1)),
			.lock = strdup(query_text(q, 2)), .pid = query_int(q, 4),
			.begun = query_int(q, 5)};
		str_copy(c->boot, sizeof(c->boot), query_text(q, 3));
		str_copy(c->run, sizeof(c->run), query_text(q, 6));
		r = c->story && c->lock ? read_ops(ctx, db, c) : ctx_oom(ctx);
		if (r < 0)
			return r;
	}
	return r;
}

static int read_open(struct vfctl_ctx *ctx, const char *sql, const char *which,
	struct open_changes **ret)
{
	_cleanup_(open_changes_freep) struct open_changes *all = calloc(1, sizeof(*all));
	_cleanup_(db_closep) struct db *db = NULL;
	int r = all ? state_file_open(ctx, false, &db) : ctx_oom(ctx);

	if (r == -ENOENT) {
		ctx_clear(ctx);
		*ret = steal(all);
		return 0;
	}
	if (r < 0)
		return r;
	r = db_exec(db, "BEGIN");
	if (r == 0)
		r = read_changes(ctx, db, sql, which, all);
	r = r < 0 ? db_roll_back(db, r) : db_exec(db, "COMMIT");
	if (r == 0)
		*ret = steal(all);
	return r;
}

int journal_read(struct vfctl_ctx *ctx, const char *lock, struct open_changes **ret)
{
	return read_open(ctx, query_changes, lock, ret);
}

int journal_read_runs(struct vfctl_ctx *ctx, const char *run, struct open_changes **ret)
{
	return read_open(ctx, query_runs, run, ret);
}

void open_changes_free(struct open_changes *changes)
{
	if (!changes)
		return;
	for (size_t i = 0; i < changes->count; i++) {
		struct open_change *c = &changes->v[i];

		for (size_t k = 0; k < c->op_count; k++) {
			op_clear(&c->ops[k]);
			free(c->message[k]);
		}
		free(c->ops);
		free(c->message);
		free(c->story);
		free(c->lock);
		free(c->unknown);
	}
	free(changes->v);
	free(changes);
}
