// SPDX-License-Identifier: GPL-2.0-or-later
#include "state/asked.h"

#include <errno.h>
#include <time.h>

#include "state/file.h"

/* The first schema with the table. */
#define VERSION_ASKED 7

#define SHAPE "vcpus, isolated, cells, vfs, memory_bytes, page_bytes"
#define SHAPE_OF(s)                                                                      \
	(int64_t)(s)->vcpus, (int64_t)(s)->isolated, (int64_t)(s)->cells, (int64_t)(s)->vfs,   \
		(int64_t)(s)->memory_bytes, (int64_t)(s)->page_bytes

static int sum(struct db *db, const char *sql, int64_t *ret)
{
	_query_ struct query *q = NULL;
	int r = query_new(db, &q, sql, "");

	if (r == 0)
		r = query_step(q);
	if (r < 0)
		return r;
	*ret = r ? query_int(q, 0) : 0;
	return 0;
}

/* From now on they count. */
static int settle_asked(struct db *db)
{
	int64_t all = 0;
	int r = db_run(db, "UPDATE asked SET settled = settled + fresh, fresh = 0", "");

	if (r == 0)
		r = sum(db, "SELECT sum(settled) FROM asked", &all);
	if (r == 0 && all > ASKED_TOTAL_MAX)
		r = db_run(db, "UPDATE asked SET settled = (settled + 1) / 2", "");
	if (r == 0)
		r = db_run(db, "DELETE FROM asked WHERE (" SHAPE ") NOT IN (SELECT " SHAPE " FROM "
			"asked ORDER BY last DESC, settled DESC, " SHAPE " LIMIT ?)", "i",
			(int64_t)ASKED_SHAPES_MAX);
	return r;
}

int asked_add(struct db *db, const struct asked_shape *shape)
{
	int64_t fresh = 0;
	int r = db_run(db, "INSERT INTO asked (" SHAPE ", settled, fresh, last) VALUES (?, ?, ?, ?, "
		"?, ?, 0, 1, ?) ON CONFLICT DO UPDATE SET fresh = fresh + 1, last = excluded.last",
		"iiiiiii", SHAPE_OF(shape), (int64_t)time(NULL));

	if (r == 0)
		r = sum(db, "SELECT sum(fresh) FROM asked", &fresh);
	return r < 0 || fresh < ASKED_STEP ? r : settle_asked(db);
}

int asked_take_back(struct db *db, const struct asked_shape *shape)
{
	return db_run(db, "UPDATE asked SET fresh = fresh - 1 WHERE fresh > 0 AND (" SHAPE ") = "
		"(?, ?, ?, ?, ?, ?)", "iiiiii", SHAPE_OF(shape));
}

static int read_rows(struct db *db, struct asked *ret)
{
	_query_ struct query *q = NULL;
	int r = query_new(db, &q, "SELECT " SHAPE ", settled FROM asked WHERE settled > 0 ORDER BY "
		"settled DESC, " SHAPE, "");

	while (r >= 0 && (r = query_step(q)) == 1) {
		if (!array_grow(ret->v, ret->count))
			return ctx_oom(db_ctx(db));
		ret->v[ret->count++] = (struct asked_row){
			.shape = {.vcpus = (uint32_t)query_int(q, 0), .isolated = query_int(q, 1) != 0,
				.cells = (uint32_t)query_int(q, 2), .vfs = (uint32_t)query_int(q, 3),
				.memory_bytes = (uint64_t)query_int(q, 4),
				.page_bytes = (uint64_t)query_int(q, 5)},
			.count = (uint64_t)query_int(q, 6)};
		ret->guests += (uint64_t)query_int(q, 6);
	}
	return r;
}

int asked_read(struct vfctl_ctx *ctx, struct asked *ret)
{
	struct db *db = NULL;
	int version = 0, r = state_file_open(ctx, false, &db);

	*ret = (struct asked){0};
	if (r < 0)
		return ctx_forgive(ctx, r, -ENOENT);
	r = db_version(db, &version);
	if (r == 0 && version >= VERSION_ASKED)
		r = read_rows(db, ret);
	db_close(db);
	if (r < 0) {
		asked_clear(ret);
		*ret = (struct asked){0};
	}
	return r;
}
