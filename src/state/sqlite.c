// SPDX-License-Identifier: GPL-2.0-or-later
#include "state/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "base/buf.h"
#include "base/dl.h"
#include "base/lock_holder.h"
#include "base/sonames.h"

#define SYMBOLS(each) \
	each(sqlite3_bind_int64) each(sqlite3_bind_text) each(sqlite3_busy_handler) \
	each(sqlite3_changes) each(sqlite3_close) each(sqlite3_column_int64) \
	each(sqlite3_column_text) each(sqlite3_errmsg) each(sqlite3_exec) \
	each(sqlite3_file_control) each(sqlite3_extended_errcode) each(sqlite3_finalize) \
	each(sqlite3_get_autocommit) each(sqlite3_open_v2) each(sqlite3_prepare_v2) \
	each(sqlite3_clear_bindings) each(sqlite3_reset) each(sqlite3_sql) each(sqlite3_step) \
	each(sqlite3_db_config)
DL_SYMBOLS(symbols, SYMBOLS);

/* Another command's transaction takes milliseconds. */
#define BUSY_TIMEOUT_MS 30000
#define BUSY_PAUSE_MS 5
#define BUSY_TELL_MS 1000

/* Number of prepared statements that are kept: preparing one takes longer than running it. */
#define IDLE_MAX 24

struct db {
	struct vfctl_ctx *ctx;
	sqlite3 *handle;
	char *path;
	size_t sharers; /* number of users besides the one that opened it */
	pid_t opener;
	dev_t device;
	ino_t inode;
	sqlite3_stmt *idle[IDLE_MAX];
	size_t next_idle; /* the next slot to be replaced */
	bool leaves_log;
	unsigned busy_ms; /* time waited so far for the current statement */
};

#define MEMORY ":memory:"

struct query {
	struct db *db;
	sqlite3_stmt *statement;
};

/* ---- error messages ---- */

const char *db_way_out(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return " (it needs root)";
	case EROFS:
		return " (its file system is mounted read-only: mount it read-write)";
	case ENOSPC:
	case EDQUOT:
		return " (its disk is full: free some space there)";
	default:
		return "";
	}
}

/* Disk space that SQLite needs for its log and the log's index. */
#define ROOM_LEAST (128 << 10)

/* The fault of the disk with the state file: EROFS, ENOSPC, or 0. SQLite does not report it. */
static int disk_fault(const char *path)
{
	_free_ char *dir = strdup(path);
	char *slash = dir ? strrchr(dir, '/') : NULL;
	struct statvfs fs;

	if (slash)
		slash[slash == dir] = '\0';
	if (statvfs(slash ? dir : ".", &fs) < 0)
		return 0;
	if (fs.f_flag & ST_RDONLY)
		return EROFS;
	return (uint64_t)fs.f_bfree * fs.f_frsize < ROOM_LEAST || (fs.f_files && !fs.f_ffree)
		? ENOSPC : 0;
}

/* In WAL mode writers lock the index beside the file. */
static char *find_holder(const struct db *db)
{
	_free_ char *index = str_format("%s-shm", db->path);
	char *holder = index ? lock_holder(index, true) : NULL;

	if (!holder)
		holder = lock_holder(db->path, true);
	return holder ? holder : strdup("another vfctl");
}

static int fail_busy(struct db *db)
{
	_free_ char *holder = find_holder(db);

	return ctx_fail(db->ctx, -EBUSY, "state file %s: %s (%s holds it)", db->path,
		sym_sqlite3_errmsg(db->handle), holder ? holder : "?");
}

static void tell_wait(struct db *db)
{
	_free_ char *holder = find_holder(db);

	log_info(db->ctx, "waiting for the state file %s, which is held by %s", db->path,
		holder ? holder : "?");
}

#define MOVE_IT "move it with its -wal and -shm files; then restore it from a backup, or run " \
	"vfctl recover --rebuild)"

static int fail_db(struct db *db)
{
	static const struct {
		int code, error;
		const char *message;
		bool disk; /* the disk may be the reason */
	} kinds[] = {
		{SQLITE_CANTOPEN, EACCES, " (check that the directory exists and is readable)", true},
		{SQLITE_PERM, EACCES, "", false}, {SQLITE_READONLY, EACCES, " (it needs root)", true},
		{SQLITE_AUTH, EACCES, "", false}, {SQLITE_FULL, ENOSPC, "", true},
		{SQLITE_IOERR, EIO, " (see dmesg: its disk may be damaged)", true},
		{SQLITE_NOTADB, EBADF, " (it is damaged, or not vfctl's; if it is vfctl's, " MOVE_IT, false},
		{SQLITE_CORRUPT, EBADF, " (" MOVE_IT, false},
		{SQLITE_CONSTRAINT, EEXIST, "", false}, {SQLITE_NOMEM, ENOMEM, "", false},
	};
	int code = db->handle ? sym_sqlite3_extended_errcode(db->handle) & 0xff : SQLITE_NOMEM;

	if (code == SQLITE_BUSY)
		return fail_busy(db);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		int error = kinds[i].code == code && kinds[i].disk ? disk_fault(db->path) : 0;

		if (kinds[i].code == code)
			return ctx_fail(db->ctx, -(error ? error : kinds[i].error), "state file %s: %s%s",
				db->path, sym_sqlite3_errmsg(db->handle),
				error ? db_way_out(error) : kinds[i].message);
	}
	return ctx_fail(db->ctx, -EIO, "state file %s: %s", db->path,
		sym_sqlite3_errmsg(db->handle));
}

/* SQLite asks whether to retry. All statements of this context share one budget. */
static int wait_for_others(void *data, int tries)
{
	static const struct timespec pause = {0, BUSY_PAUSE_MS * 1000000};
	struct db *db = data;

	db->busy_ms = tries ? db->busy_ms + BUSY_PAUSE_MS : 0;
	if (db->busy_ms >= BUSY_TIMEOUT_MS || !ctx_time_left(db->ctx, BUSY_PAUSE_MS))
		return 0;
	ctx_progress(db->ctx, "waiting for another process that holds the state file %s", db->path);
	if (db->busy_ms >= BUSY_TELL_MS && db->busy_ms - BUSY_PAUSE_MS < BUSY_TELL_MS)
		tell_wait(db);
	nanosleep(&pause, NULL);
	return 1;
}

/* ---- file modes ---- */

#define STATE_DIR_DEFAULT "/var/lib/vfctl"

static bool is_left_alone(const struct stat *st)
{
	return st->st_uid != geteuid() || !(st->st_mode & 077);
}

/*
 * The mode allows only the owner, regardless of the umask and of the process that created the file.
 */
static int make_private(struct vfctl_ctx *ctx, const char *path, int flags, mode_t mode)
{
	_close_ int fd = -1;
	struct stat st;

	/* The usual case; a link is rejected below. */
	if (lstat(path, &st) == 0 && !S_ISLNK(st.st_mode) && is_left_alone(&st))
		return 0;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags);
	/* It does not exist, or belongs to another user: SQLite reports the error. */
	if (fd < 0 && (errno == ENOENT || errno == EACCES))
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return ctx_fail(ctx, -errno, "open %s: %s", path, strerror(errno));
	if (is_left_alone(&st))
		return 0;
	if (fchmod(fd, mode) < 0)
		return errno == EROFS ? 0 : ctx_fail(ctx, -errno, "make %s private: %s", path,
			strerror(errno));
	log_warn(ctx, "other users of this host could read %s; vfctl made it private", path);
	return 0;
}

/*
 * Another user who can open the file beside it could hold SQLite's lock there and so block every
 * start of a guest. Only vfctl's own directory is made private, not others.
 */
static int make_files_private(struct vfctl_ctx *ctx, const char *path)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
	int r = 0;

	if (str_starts(path, STATE_DIR_DEFAULT "/"))
		r = make_private(ctx, STATE_DIR_DEFAULT, O_DIRECTORY, 0700);
	for (size_t i = 0; i < ARRAY_SIZE(suffixes) && r == 0; i++) {
		_free_ char *file = str_format("%s%s", path, suffixes[i]);

		r = file ? make_private(ctx, file, 0, 0600) : ctx_oom(ctx);
	}
	return r;
}

/* SQLite would create it with the umask; its other files get this file's mode. */
static int make_file(struct vfctl_ctx *ctx, const char *path)
{
	_close_ int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST)
		return make_files_private(ctx, path);
	if (fd < 0)
		return ctx_fail(ctx, -errno, "make the state file %s: %s%s", path, strerror(errno),
			db_way_out(errno));
	if (fchmod(fd, 0600) < 0)
		return ctx_fail(ctx, -errno, "make %s private: %s", path, strerror(errno));
	return 0;
}

int db_make_directory(struct vfctl_ctx *ctx, const char *path)
{
	_free_ char *dir = strdup(path);
	char *slash = dir ? strrchr(dir, '/') : NULL;

	if (!dir)
		return ctx_oom(ctx);
	if (!slash || slash == dir)
		return 0;
	*slash = '\0';
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return ctx_fail(ctx, -errno, "make the directory %s for the state file: %s%s", dir,
			strerror(errno), db_way_out(errno));
	return 0;
}

DEFINE_FREEP(struct db, db_close)

int db_open(struct vfctl_ctx *ctx, const char *path, bool write, struct db **ret_db)
{
	_cleanup_(db_closep) struct db *db = NULL;
	int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	int r, keep = 1;
	struct stat st;

	if (!write && access(path, F_OK) < 0 && errno == ENOENT)
		return ctx_fail(ctx, -ENOENT, "state file %s does not exist yet", path);
	r = dl_bind(ctx, SONAME_SQLITE, symbols, ARRAY_SIZE(symbols));
	if (r == 0 && write && !str_eq(path, MEMORY))
		r = db_make_directory(ctx, path);
	if (r == 0 && !str_eq(path, MEMORY))
		r = write ? make_file(ctx, path) : make_files_private(ctx, path);
	if (r < 0)
		return r;
	db = calloc(1, sizeof(*db));
	if (!db)
		return ctx_oom(ctx);
	db->ctx = ctx;
	db->path = strdup(path);
	if (!db->path)
		return ctx_oom(ctx);
	if (sym_sqlite3_open_v2(path, &db->handle, flags | SQLITE_OPEN_NOFOLLOW, NULL))
		return fail_db(db);
	/*
	 * The log's file is kept, but emptied, when the last process closes it, because creating
	 * and removing it for each call is slow. Only the log's index records which part of the log
	 * is already in the database, and the next process that opens the log builds the index
	 * again. So a log that is not truncated would be read, and grow, with each run
	 * (walIndexRecover() and sqlite3WalClose() of SQLite's wal.c).
	 */
	sym_sqlite3_file_control(db->handle, NULL, SQLITE_FCNTL_PERSIST_WAL, &keep);
	sym_sqlite3_busy_handler(db->handle, wait_for_others, db);
	r = db_exec(db, "PRAGMA foreign_keys = ON");
	if (r == 0 && write)
		r = db_exec(db, "PRAGMA journal_size_limit = 0");
	if (r < 0)
		return r;
	db->opener = getpid();
	if (stat(path, &st) == 0) {
		db->device = st.st_dev;
		db->inode = st.st_ino;
	}
	*ret_db = steal(db);
	return 0;
}

/* Escape a path as in a URI of SQLite. */
static char *frozen_uri(const char *path)
{
	_buf_ struct buf uri = {0};

	buf_printf(&uri, *path == '/' ? "file://" : "file:");
	for (; *path; path++)
		buf_printf(&uri, strchr("%?#", *path) ? "%%%02x" : "%c", *path);
	buf_printf(&uri, "?immutable=1");
	return buf_steal(&uri);
}

int db_open_frozen(struct vfctl_ctx *ctx, const char *path, struct db **ret_db)
{
	_free_ char *log = str_format("%s-wal", path), *uri = frozen_uri(path);
	_cleanup_(db_closep) struct db *db = calloc(1, sizeof(*db));
	struct stat st;

	if (db)
		db->ctx = ctx;
	if (!db || !log || !uri || !(db->path = strdup(path)))
		return ctx_oom(ctx);
	if (stat(log, &st) == 0 && st.st_size > 0)
		return -EBUSY;
	if (sym_sqlite3_open_v2(uri, &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI |
		SQLITE_OPEN_NOFOLLOW, NULL))
		return fail_db(db);
	*ret_db = steal(db);
	return 0;
}

int db_mend(struct vfctl_ctx *ctx, const char *path)
{
	_cleanup_(db_closep) struct db *db = NULL;
	_cleanup_(query_freep) struct query *q = NULL;
	int r = access(path, W_OK) < 0 ? -errno : db_open(ctx, path, true, &db);

	if (r == 0)
		r = query_new(db, &q, "SELECT count(*) FROM sqlite_master", "");
	return r < 0 ? r : query_step(q) < 0 ? -EIO : 0;
}

/* SQLite reads the whole log when it opens the file: a long log would cost more than it saves. */
#define LOG_BYTES (128 << 10)

void db_leave_log(struct db *db)
{
	db->leaves_log = true;
}

/* The last process to close the file merges the log into it, unless this is disabled. */
static void choose_log(struct db *db)
{
	_free_ char *log = db->leaves_log ? str_format("%s-wal", db->path) : NULL;
	struct stat st;

	if (log && stat(log, &st) == 0 && st.st_size <= LOG_BYTES)
		sym_sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

void db_close(struct db *db)
{
	if (!db || (db->sharers && db->sharers--))
		return;
	if (db->ctx->state == db)
		db->ctx->state = NULL;
	for (size_t i = 0; i < IDLE_MAX && db->handle; i++)
		sym_sqlite3_finalize(db->idle[i]);
	if (db->handle) {
		choose_log(db);
		sym_sqlite3_close(db->handle);
	}
	free(db->path);
	free(db);
}

struct db *db_share(struct db *db, const char *path)
{
	if (!str_eq(db->path, path) || !sym_sqlite3_get_autocommit(db->handle))
		return NULL;
	db->sharers++;
	return db;
}

bool db_is_current(const struct db *db)
{
	struct stat st;

	return db->opener == getpid() && stat(db->path, &st) == 0 && st.st_dev == db->device &&
		st.st_ino == db->inode;
}

struct vfctl_ctx *db_ctx(struct db *db)
{
	return db->ctx;
}

int db_exec(struct db *db, const char *sql)
{
	if (!strchr(sql, ';')) { /* prepared and kept like the others; a PRAGMA returns a row */
		int r = db_run(db, sql, "");

		return r < 0 ? r : 0;
	}
	return sym_sqlite3_exec(db->handle, sql, NULL, NULL, NULL) ? fail_db(db) : 0;
}

int db_roll_back(struct db *db, int error)
{
	_free_ char *message = steal(db->ctx->error);

	db_exec(db, "ROLLBACK");
	return ctx_fail(db->ctx, error, "%s", message ? message : "");
}

int db_changes(struct db *db)
{
	return sym_sqlite3_changes(db->handle);
}

int db_version(struct db *db, int *ret_version)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(db, &q, "PRAGMA user_version", "");

	if (r == 0)
		r = query_step(q);
	if (r < 0)
		return r;
	*ret_version = (int)query_int(q, 0);
	return 0;
}

static int bind_all(struct query *q, const char *types, va_list args)
{
	for (int i = 0; types[i]; i++) {
		int r;

		if (types[i] == 's')
			r = sym_sqlite3_bind_text(q->statement, i + 1, va_arg(args, const char *), -1,
				SQLITE_TRANSIENT);
		else
			r = sym_sqlite3_bind_int64(q->statement, i + 1, va_arg(args, int64_t));
		if (r)
			return fail_db(q->db);
	}
	return 0;
}

/* An idle statement of that text, or a new one. */
static int take_statement(struct db *db, const char *sql, sqlite3_stmt **ret)
{
	for (size_t i = 0; i < IDLE_MAX; i++)
		if (db->idle[i] && str_eq(sym_sqlite3_sql(db->idle[i]), sql)) {
			*ret = steal(db->idle[i]);
			return 0;
		}
	return sym_sqlite3_prepare_v2(db->handle, sql, -1, ret, NULL) ? fail_db(db) : 0;
}

static void give_statement(struct db *db, sqlite3_stmt *statement)
{
	size_t at = 0;

	/* The error is already in the message. */
	sym_sqlite3_reset(statement);
	sym_sqlite3_clear_bindings(statement);
	while (at < IDLE_MAX && db->idle[at])
		at++;
	if (at == IDLE_MAX) {
		at = db->next_idle++ % IDLE_MAX;
		sym_sqlite3_finalize(db->idle[at]);
	}
	db->idle[at] = statement;
}

static int new_query(struct db *db, struct query **ret, const char *sql, const char *types,
	va_list args)
{
	_cleanup_(query_freep) struct query *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return ctx_oom(db->ctx);
	q->db = db;
	r = take_statement(db, sql, &q->statement);
	if (r == 0)
		r = bind_all(q, types, args);
	if (r == 0)
		*ret = steal(q);
	return r;
}

int query_new(struct db *db, struct query **ret, const char *sql, const char *types, ...)
{
	va_list args;
	int r;

	va_start(args, types);
	r = new_query(db, ret, sql, types, args);
	va_end(args);
	return r;
}

int query_step(struct query *q)
{
	switch (sym_sqlite3_step(q->statement)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return fail_db(q->db);
	}
}

const char *query_text(struct query *q, int column)
{
	const unsigned char *text = sym_sqlite3_column_text(q->statement, column);

	return text ? (const char *)text : "";
}

int64_t query_int(struct query *q, int column)
{
	return sym_sqlite3_column_int64(q->statement, column);
}

void query_free(struct query *q)
{
	if (!q)
		return;
	if (q->statement)
		give_statement(q->db, q->statement);
	free(q);
}

int db_run(struct db *db, const char *sql, const char *types, ...)
{
	_cleanup_(query_freep) struct query *q = NULL;
	va_list args;
	int r;

	va_start(args, types);
	r = new_query(db, &q, sql, types, args);
	va_end(args);
	return r < 0 ? r : query_step(q);
}
