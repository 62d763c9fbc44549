// SPDX-License-Identifier: GPL-2.0-or-later
#include "state/file.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "state/part.h"

/*
 * The number in the file (PRAGMA user_version). The numbers before 11 belong to builds from before
 * the first release, which are not read. CONTRIBUTING.md: how a schema changes after a release.
 */
#define SCHEMA 11

static const char tables[] =
	"CREATE TABLE lease ("
	"  id TEXT PRIMARY KEY, domain_uuid TEXT NOT NULL UNIQUE, domain_name TEXT NOT NULL,"
	"  created INTEGER NOT NULL, transient INTEGER NOT NULL, node INTEGER NOT NULL,"
	"  memory_bytes INTEGER NOT NULL, page_bytes INTEGER NOT NULL"
	") STRICT;"
	/*
	 * transient: 1: until the run ends; 2: and its identities are released then.
	 * intent: the values with which the VF was leased; they decide what its guest gets. port: the
	 * PF of the VF, wherever that is now: its permanent MAC or GUID. NULL: the kernel did not tell
	 * it, and the PF at the address is assumed to be the right one.
	 */
	"CREATE TABLE lease_vf ("
	"  bdf TEXT PRIMARY KEY, lease TEXT NOT NULL REFERENCES lease ON DELETE CASCADE,"
	"  pf TEXT NOT NULL, idx INTEGER NOT NULL, transient INTEGER NOT NULL, intent TEXT NOT NULL,"
	"  port TEXT"
	") STRICT;"
	"CREATE INDEX lease_vf_lease ON lease_vf(lease);"
	"CREATE TABLE lease_cell ("
	"  lease TEXT NOT NULL REFERENCES lease ON DELETE CASCADE, cell INTEGER NOT NULL,"
	"  node INTEGER NOT NULL, memory_node INTEGER NOT NULL, memory_bytes INTEGER NOT NULL,"
	"  page_bytes INTEGER NOT NULL, shared_vcpus INTEGER NOT NULL,"
	"  PRIMARY KEY (lease, cell)"
	") STRICT, WITHOUT ROWID;"
	"CREATE TABLE lease_cpu ("
	"  cpu INTEGER PRIMARY KEY, lease TEXT NOT NULL REFERENCES lease ON DELETE CASCADE"
	") STRICT;"
	"CREATE INDEX lease_cpu_lease ON lease_cpu(lease);"
	/* CPUs for QEMU's threads of several guests: no single guest holds them. */
	"CREATE TABLE lease_qemu_cpu ("
	"  lease TEXT NOT NULL REFERENCES lease ON DELETE CASCADE, cpu INTEGER NOT NULL,"
	"  PRIMARY KEY (lease, cpu)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX lease_qemu_cpu_cpu ON lease_qemu_cpu(cpu);"
	"CREATE TRIGGER lease_cpu_alone BEFORE INSERT ON lease_cpu"
	"  WHEN EXISTS (SELECT 1 FROM lease_qemu_cpu WHERE cpu = NEW.cpu)"
	"  BEGIN SELECT RAISE(ABORT, 'the CPU is shared'); END;"
	"CREATE TRIGGER lease_qemu_cpu_shared BEFORE INSERT ON lease_qemu_cpu"
	"  WHEN EXISTS (SELECT 1 FROM lease_cpu WHERE cpu = NEW.cpu)"
	"  BEGIN SELECT RAISE(ABORT, 'the CPU is leased alone'); END;"

	/* Identities. Values are ordered as unsigned numbers: the top bit is flipped. */
	"CREATE TABLE pool ("
	"  name TEXT PRIMARY KEY, kind INTEGER NOT NULL, shape INTEGER NOT NULL,"
	"  size INTEGER NOT NULL, declared INTEGER NOT NULL, rest INTEGER NOT NULL,"
	"  leased INTEGER NOT NULL DEFAULT 0, block INTEGER NOT NULL DEFAULT 0,"
	"  resting INTEGER NOT NULL DEFAULT 0, quarantined INTEGER NOT NULL DEFAULT 0"
	") STRICT, WITHOUT ROWID;"
	/*
	 * Free values as intervals: finding, splitting and joining them is one index look-up each.
	 */
	"CREATE TABLE pool_free ("
	"  pool TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,"
	"  PRIMARY KEY (pool, first)"
	") STRICT, WITHOUT ROWID;"
	"CREATE TABLE identity ("
	"  kind INTEGER NOT NULL, value INTEGER NOT NULL, pool TEXT NOT NULL,"
	"  state INTEGER NOT NULL, owner TEXT NOT NULL, host TEXT NOT NULL,"
	"  domain_uuid TEXT NOT NULL, domain_name TEXT NOT NULL, device TEXT NOT NULL,"
	"  pkey INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL,"
	"  pending INTEGER NOT NULL, note TEXT NOT NULL, PRIMARY KEY (kind, value)"
	") STRICT, WITHOUT ROWID;"
	/* 0 leased, 1 block, 2 resting, 3 quarantined (enum vfctl_id_state) */
	"CREATE UNIQUE INDEX identity_owner ON identity(kind, owner) WHERE state = 0;"
	"CREATE INDEX identity_rested ON identity(kind, owner) WHERE state = 2;"
	"CREATE INDEX identity_pool ON identity(pool, state, until);"
	"CREATE INDEX identity_domain ON identity(domain_uuid) WHERE domain_uuid <> '';"
	"CREATE INDEX identity_pending ON identity(kind, value) WHERE pending <> 0;"
	"CREATE TABLE fleet_note (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"

	/*
	 * The journal: changes in progress, each an array of operations (base/op.h). A domain's run is
	 * a change that stays open until the run ends; run: the domain's UUID. The values of a VF
	 * before its guest are in its operations, and are deleted when the VF leaves the domain.
	 */
	"CREATE TABLE change ("
	"  id INTEGER PRIMARY KEY AUTOINCREMENT, story TEXT NOT NULL, lock TEXT NOT NULL,"
	"  boot TEXT NOT NULL, pid INTEGER NOT NULL, begun INTEGER NOT NULL, run TEXT"
	") STRICT;"
	"CREATE UNIQUE INDEX change_run ON change(run) WHERE run IS NOT NULL;"
	"CREATE TABLE change_op ("
	"  change INTEGER NOT NULL REFERENCES change ON DELETE CASCADE, number INTEGER NOT NULL,"
	"  words TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL, want TEXT,"
	"  before TEXT, PRIMARY KEY (change, number)"
	") STRICT, WITHOUT ROWID;"
	"CREATE TRIGGER lease_ends_run AFTER DELETE ON lease"
	"  BEGIN DELETE FROM change WHERE run = OLD.domain_uuid; END;"
	"CREATE TRIGGER vf_leaves_run AFTER DELETE ON lease_vf BEGIN"
	"  DELETE FROM change_op WHERE type = 'guest-attrs' AND target = OLD.pf || '/' || OLD.idx"
	"    AND change IN (SELECT c.id FROM change c JOIN lease l ON c.run = l.domain_uuid"
	"      WHERE l.id = OLD.lease);"
	"END;";

#define WAL_TRIES 600
#define WAL_RETRY_MS 50

/* SQLite does not wait by itself while another process changes the journal mode. */
static int use_wal(struct db *db)
{
	static const struct timespec pause = {0, WAL_RETRY_MS * 1000000};
	int r = db_exec(db, "PRAGMA journal_mode = WAL");

	for (int tries = 1; r == -EBUSY && tries < WAL_TRIES &&
		ctx_time_left(db_ctx(db), WAL_RETRY_MS); tries++) {
		nanosleep(&pause, NULL);
		r = db_exec(db, "PRAGMA journal_mode = WAL");
	}
	return r;
}

static int make_tables(struct db *db)
{
	_free_ char *mark = str_format("PRAGMA user_version = %d", SCHEMA);
	int r = mark ? use_wal(db) : ctx_oom(db_ctx(db));

	if (r == 0)
		r = db_exec(db, "BEGIN IMMEDIATE");
	if (r == 0)
		r = db_exec(db, tables);
	if (r == 0)
		r = db_exec(db, mark);
	return r < 0 ? r : db_exec(db, "COMMIT");
}

static const char *file_type(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

/*
 * SQLite opens any kind of file: it blocks on a FIFO, and a device may react. Everything but a
 * plain file is rejected beforehand, with its type; a missing file is accepted.
 */
static int check_plain(struct vfctl_ctx *ctx, const char *path)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		_free_ char *file = str_format("%s%s", path, suffixes[i]);
		struct stat st;

		if (!file)
			return ctx_oom(ctx);
		if (lstat(file, &st) < 0 || S_ISREG(st.st_mode))
			continue;
		return ctx_fail(ctx, -EBADF, "state file %s is %s, not a file; move it, or name another "
			"with --state", file, file_type(st.st_mode));
	}
	return 0;
}

DEFINE_FREEP(struct db, db_close)

/* Try to read the file as it is. The message of the failure is kept unless that succeeds. */
static int open_frozen(struct vfctl_ctx *ctx, int error, struct db **db, int *ret_version)
{
	_free_ char *message = steal(ctx->error);
	struct db *frozen = NULL;
	int r = db_open_frozen(ctx, ctx->state_path, &frozen);

	if (r == 0)
		r = db_version(frozen, ret_version);
	if (r < 0) {
		db_close(frozen);
		return ctx_fail(ctx, error, "%s", message ? message : "");
	}
	db_close(*db);
	*db = frozen;
	return 0;
}

static int read_version(struct vfctl_ctx *ctx, struct db **db, bool write, int *ret)
{
	int r = db_version(*db, ret);
	_free_ char *message = NULL;

	if (!write && (r == -EROFS || r == -ENOSPC))
		return open_frozen(ctx, r, db, ret);
	if (r != -EACCES || write)
		return r;
	message = steal(ctx->error);
	if (db_mend(ctx, ctx->state_path) < 0)
		return ctx_fail(ctx, r, "%s", message ? message : "");
	return db_version(*db, ret);
}

/* The contents of the log would not be renamed with the file. */
static int close_whole(struct db *db, const char *path)
{
	struct vfctl_ctx *ctx = db_ctx(db);
	_free_ char *log = str_format("%s-wal", path);
	struct stat st;
	int r = db_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)");

	db_close(db);
	if (r < 0)
		return r;
	if (!log)
		return ctx_oom(ctx);
	return stat(log, &st) == 0 && st.st_size > 0
		? ctx_fail(ctx, -EBUSY, "another process reads %s; wait until it ends", path) : 0;
}

/*
 * The file gets its name when it is complete, so a killed process leaves no empty file behind.
 * Another process may create the file meanwhile.
 */
static int make_first(struct vfctl_ctx *ctx)
{
	_cleanup_(part_clear) struct part part = NO_PART;
	struct db *db = NULL;
	int r = db_make_directory(ctx, ctx->state_path);

	if (r < 0)
		return r;
	r = part_open(ctx, ctx->state_path, true, &part);
	if (r < 0 && r != -EEXIST && db_way_out(-r)[0])
		return ctx_append(ctx, r, "%s", db_way_out(-r));
	if (r == 0)
		r = db_open(ctx, part.path, true, &db);
	if (r < 0)
		return ctx_ignore_error(ctx, r, -EEXIST);
	r = make_tables(db);
	if (r < 0) {
		db_close(db);
		return r;
	}
	r = close_whole(db, part.path);
	if (r == 0)
		r = part_publish(ctx, &part, ctx->state_path);
	return ctx_ignore_error(ctx, r, -EEXIST);
}

static int fail_empty(struct vfctl_ctx *ctx)
{
	return ctx_fail(ctx, -EBADF, "state file %s is empty or was written by another program, so its "
		"leases are lost; restore a backup (vfctl help backup), or remove the file; then run: "
		"vfctl recover --rebuild",
		ctx->state_path);
}

static int check_schema(struct vfctl_ctx *ctx, int schema)
{
	if (schema == SCHEMA)
		return 0;
	if (schema == 0)
		return fail_empty(ctx);
	if (schema > SCHEMA)
		return ctx_fail(ctx, -EBADF, "state file %s was written by a newer vfctl (schema %d; "
			"this vfctl supports %d)", ctx->state_path, schema, SCHEMA);
	return ctx_fail(ctx, -EBADF, "state file %s has schema %d, which this vfctl does not support (it "
		"supports %d); move the file away, then run: vfctl recover --rebuild",
		ctx->state_path, schema, SCHEMA);
}

/*
 * Opening the file takes longer than most queries, so a command opens it at most once for reading
 * and once for writing. A connection for reading that stays open would prevent the merge of the
 * log, so it is closed before the file is opened for writing. No connection may be used in a forked
 * process.
 */
static bool share_open(struct vfctl_ctx *ctx, bool write, struct db **ret_db)
{
	if (ctx->reader && (write || !db_is_current(ctx->reader)))
		db_close(steal(ctx->reader));
	if (ctx->state && (*ret_db = db_share(ctx->state, ctx->state_path)))
		return true;
	return ctx->reader && (*ret_db = db_share(ctx->reader, ctx->state_path));
}

static void keep_reader(struct vfctl_ctx *ctx, struct db *db)
{
	if (ctx->reader || !(ctx->reader = db_share(db, ctx->state_path)))
		return;
	ctx->reader_close = db_close;
}

int state_file_open(struct vfctl_ctx *ctx, bool write, struct db **ret_db)
{
	_cleanup_(db_closep) struct db *db = NULL;
	const struct db *opened;
	int r, version = 0;

	if (share_open(ctx, write, ret_db))
		return 0;
	r = check_plain(ctx, ctx->state_path);
	if (r == 0 && write && access(ctx->state_path, F_OK) < 0 && errno == ENOENT)
		r = make_first(ctx);
	if (r == 0)
		r = db_open(ctx, ctx->state_path, write, &db);
	opened = db;
	if (r == 0)
		r = read_version(ctx, &db, write, &version);
	if (r < 0)
		return r;
	r = check_schema(ctx, version);
	if (r < 0)
		return r;
	if (write && !ctx->state)
		ctx->state = db;
	if (!write && db == opened)
		keep_reader(ctx, db);
	*ret_db = steal(db);
	return 0;
}

int state_memory_open(struct vfctl_ctx *ctx, struct db **ret_db)
{
	_cleanup_(db_closep) struct db *db = NULL;
	int r = db_open(ctx, ":memory:", true, &db);

	if (r == 0)
		r = make_tables(db);
	if (r == 0)
		*ret_db = steal(db);
	return r;
}
