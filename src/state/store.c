// SPDX-License-Identifier: GPL-2.0-or-later
#include "state/store.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/json.h"
#include "base/vfattr.h"
#include "state/file.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

/* The first schema with the table of cells (state/file.c). */
#define VERSION_CELLS 4
/* .. with what each VF was leased with. */
#define VERSION_INTENT 5

struct store {
	struct db *db;
};

int store_open(struct vfctl_ctx *ctx, enum store_mode mode, struct store **ret_store)
{
	_store_ struct store *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return ctx_oom(ctx);
	r = state_file_open(ctx, mode == STORE_WRITE, &s->db);
	if (r == 0)
		*ret_store = steal(s);
	return r;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	db_close(store->db);
	free(store);
}

/* ---- changes ---- */

/* The words of the failure are kept. */
static int roll_back(struct store *s, int error)
{
	struct vfctl_ctx *ctx = db_ctx(s->db);
	_free_ char *words = steal(ctx->error);

	db_exec(s->db, "ROLLBACK");
	return ctx_fail(ctx, error, "%s", words ? words : "");
}

/* Run @change between BEGIN and COMMIT; on failure everything is as before. */
static int in_transaction(struct store *s, int (*change)(struct store *s, const void *data),
	const void *data)
{
	int r = db_exec(s->db, "BEGIN IMMEDIATE");

	if (r < 0)
		return r;
	r = change(s, data);
	if (r == 0)
		r = db_exec(s->db, "COMMIT");
	return r < 0 ? roll_back(s, r) : 0;
}

/* Who holds what @sql asks for? "" when nobody does. */
static char *holder_of(struct store *s, const char *sql, const char *text, int64_t number)
{
	_query_ struct query *q = NULL;
	int r = text ? query_new(s->db, &q, sql, "s", text)
		     : query_new(s->db, &q, sql, "i", number);

	if (r < 0 || query_step(q) != 1)
		return strdup("");
	return strdup(query_text(q, 0));
}

static int insert_vf(struct store *s, const char *id, const struct vfctl_lease_vf *vf)
{
	_free_ char *intent = vf->has_intent ? json_of_attrs(&vf->intent) : NULL;
	int r;

	if (vf->has_intent && !intent)
		return ctx_oom(db_ctx(s->db));
	r = db_run(s->db, "INSERT INTO lease_vf (bdf, lease, pf, idx, transient, intent) "
		"VALUES (?, ?, ?, ?, ?, ?)", "sssiis", TEXT(&vf->bdf), id, TEXT(&vf->pf),
		(int64_t)vf->index, vf->returns_identity ? INT64_C(2) : (int64_t)vf->transient, intent);
	if (r == -EEXIST) {
		_free_ char *name = holder_of(s, "SELECT domain_name FROM lease JOIN lease_vf ON "
			"lease.id = lease WHERE bdf = ?", TEXT(&vf->bdf), 0);

		return ctx_fail(db_ctx(s->db), r, "VF %u (%s) is leased to domain %s", vf->index,
			TEXT(&vf->bdf), name && name[0] ? name : "?");
	}
	return r;
}

static int insert_cpu(struct store *s, const char *id, int cpu)
{
	int r = db_run(s->db, "INSERT INTO lease_cpu (cpu, lease) VALUES (?, ?)", "is",
		(int64_t)cpu, id);

	if (r == -EEXIST) {
		_free_ char *name = holder_of(s, "SELECT domain_name FROM lease JOIN lease_cpu ON "
			"lease.id = lease WHERE cpu = ?", NULL, cpu);

		return ctx_fail(db_ctx(s->db), r, "CPU %d is leased to domain %s", cpu,
			name && name[0] ? name : "?");
	}
	return r;
}

static int insert_cell(struct store *s, const char *id, size_t number,
	const struct vfctl_lease_cell *c)
{
	return db_run(s->db, "INSERT INTO lease_cell (lease, cell, node, memory_node, "
		"memory_bytes, page_bytes, shared_vcpus) VALUES (?, ?, ?, ?, ?, ?, ?)", "siiiiii",
		id, (int64_t)number, (int64_t)c->node, (int64_t)c->memory_node,
		(int64_t)c->memory_bytes, (int64_t)c->page_bytes, (int64_t)c->shared_vcpus);
}

static int take(struct store *s, const void *data)
{
	const struct vfctl_lease *l = data;
	int r = db_run(s->db, "INSERT INTO lease (id, domain_uuid, domain_name, created, running,"
		" transient, node, memory_bytes, page_bytes, boot) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "
		"?, ?)", "sssiiiiiis", l->id, l->domain_uuid, l->domain_name,
		l->created ? l->created : (int64_t)time(NULL), (int64_t)l->running,
		(int64_t)l->transient, (int64_t)l->node, (int64_t)l->memory_bytes,
		(int64_t)l->page_bytes, l->boot_id);

	if (r == -EEXIST)
		return ctx_fail(db_ctx(s->db), r, "domain %s (%s) holds a lease already; end that "
			"with: vfctl undefine %s", l->domain_name, l->domain_uuid, l->domain_uuid);
	for (size_t i = 0; i < l->vf_count && r == 0; i++)
		r = insert_vf(s, l->id, &l->vfs[i]);
	for (size_t i = 0; i < l->cell_count && r == 0; i++)
		r = insert_cell(s, l->id, i, &l->cells[i]);
	for (int cpu = vfctl_cpuset_next(&l->cpus, 0); cpu >= 0 && r == 0;
		cpu = vfctl_cpuset_next(&l->cpus, (unsigned)cpu + 1))
		r = insert_cpu(s, l->id, cpu);
	return r;
}

int store_take(struct store *store, const struct vfctl_lease *lease)
{
	return in_transaction(store, take, lease);
}

/* A statement that must change one row, else -ENOENT. */
static int change_one(struct store *s, int r, const char *what)
{
	if (r == 0 && db_changes(s->db) == 0)
		return ctx_fail(db_ctx(s->db), -ENOENT, "there is no lease of %s", what);
	return r;
}

int store_drop(struct store *store, const char *id)
{
	return change_one(store, db_run(store->db, "DELETE FROM lease WHERE id = ?", "s", id),
		id);
}

int store_add_vf(struct store *store, const char *id, const struct vfctl_lease_vf *vf)
{
	return insert_vf(store, id, vf);
}

int store_remove_vf(struct store *store, const char *id, const struct vfctl_bdf *vf)
{
	return change_one(store, db_run(store->db,
		"DELETE FROM lease_vf WHERE lease = ? AND bdf = ?", "ss", id, TEXT(vf)), TEXT(vf));
}

#define HAD "had before its guest"

/*
 * What a VF had before its guest. A text that says nothing must not be taken for nothing to
 * put back: the guest's MAC would stay on a free VF.
 */
static int parse_attrs(struct store *s, const char *what, const char *text,
	const struct vfctl_bdf *vf, struct vfctl_vf_attrs *ret)
{
	if (!*text || json_to_attrs(text, ret) == 0)
		return 0;
	return ctx_fail(db_ctx(s->db), -EBADF, "the state file holds '%.100s' as what VF %s %s, "
		"which cannot be read; restore the file from a backup", text, TEXT(vf), what);
}

static int read_saved(struct store *s, const struct vfctl_bdf *vf, struct vfctl_vf_attrs *ret)
{
	_query_ struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT saved FROM lease_vf WHERE bdf = ?", "s", TEXT(vf));

	*ret = (struct vfctl_vf_attrs){0};
	if (r == 0)
		r = query_step(q);
	if (r == 1)
		r = parse_attrs(s, HAD, query_text(q, 0), vf, ret);
	return r < 0 ? r : 0;
}

int store_save_attrs(struct store *store, const struct vfctl_bdf *vf,
	const struct vfctl_vf_attrs *attrs)
{
	_free_ char *text = NULL;
	struct vfctl_vf_attrs saved;
	int r = read_saved(store, vf, &saved);

	if (r < 0)
		return r;
	attrs_copy(&saved, attrs, ~saved.mask);
	text = json_of_attrs(&saved);
	if (!text)
		return ctx_oom(db_ctx(store->db));
	return change_one(store, db_run(store->db,
		"UPDATE lease_vf SET saved = ? WHERE bdf = ?", "ss", text, TEXT(vf)), TEXT(vf));
}

int store_forget_attrs(struct store *store, const struct vfctl_bdf *vf)
{
	return change_one(store, db_run(store->db,
		"UPDATE lease_vf SET saved = NULL WHERE bdf = ?", "s", TEXT(vf)), TEXT(vf));
}

int store_set_intent(struct store *store, const struct vfctl_bdf *vf,
	const struct vfctl_vf_attrs *intent)
{
	_free_ char *text = json_of_attrs(intent);

	if (!text)
		return ctx_oom(db_ctx(store->db));
	return change_one(store, db_run(store->db,
		"UPDATE lease_vf SET intent = ? WHERE bdf = ?", "ss", text, TEXT(vf)), TEXT(vf));
}

int store_begin_run(struct store *store, const char *id, const char *name,
	const char *boot_id)
{
	return change_one(store, db_run(store->db, "UPDATE lease SET running = 1, "
		"domain_name = ?, boot = ? WHERE id = ?", "sss", name, boot_id, id), id);
}

int store_end_run(struct store *store, const char *id)
{
	return change_one(store, db_run(store->db,
		"UPDATE lease SET running = 0 WHERE id = ?", "s", id), id);
}

int store_make_transient(struct store *store, const char *id)
{
	return change_one(store, db_run(store->db,
		"UPDATE lease SET transient = 1 WHERE id = ?", "s", id), id);
}

/* ---- reading ---- */

static int read_vfs(struct store *s, struct vfctl_lease *l, int version)
{
	_query_ struct query *q = NULL;
	int r = query_new(s->db, &q, version < VERSION_INTENT
		? "SELECT bdf, pf, idx, saved, transient, NULL FROM lease_vf WHERE lease = ? "
		  "ORDER BY bdf"
		: "SELECT bdf, pf, idx, saved, transient, intent FROM lease_vf WHERE lease = ? "
		  "ORDER BY bdf", "s", l->id);

	while (r >= 0 && (r = query_step(q)) == 1) {
		struct vfctl_lease_vf *vf;

		if (!array_grow(l->vfs, l->vf_count))
			return ctx_oom(db_ctx(s->db));
		vf = &l->vfs[l->vf_count];
		*vf = (struct vfctl_lease_vf){.index = (uint32_t)query_int(q, 2),
			.transient = query_int(q, 4) != 0, .returns_identity = query_int(q, 4) == 2};
		if (vfctl_bdf_parse(query_text(q, 0), &vf->bdf) < 0 ||
			vfctl_bdf_parse(query_text(q, 1), &vf->pf) < 0)
			return ctx_fail(db_ctx(s->db), -EBADF, "the state file holds '%s', which is "
				"no PCI address", query_text(q, 0));
		if (parse_attrs(s, HAD, query_text(q, 3), &vf->bdf, &vf->saved) < 0 ||
			parse_attrs(s, "is leased with", query_text(q, 5), &vf->bdf, &vf->intent) < 0)
			return -EBADF;
		vf->has_intent = query_text(q, 5)[0];
		l->vf_count++;
	}
	return r;
}

static int read_cpus(struct store *s, struct vfctl_lease *l)
{
	_query_ struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT cpu FROM lease_cpu WHERE lease = ?", "s", l->id);

	while (r >= 0 && (r = query_step(q)) == 1)
		vfctl_cpuset_add(&l->cpus, (unsigned)query_int(q, 0));
	return r;
}

static int add_cell(struct store *s, struct vfctl_lease *l,
	const struct vfctl_lease_cell *cell)
{
	if (!array_grow(l->cells, l->cell_count))
		return ctx_oom(db_ctx(s->db));
	l->cells[l->cell_count++] = *cell;
	return 0;
}

/* In a file that no newer vfctl has written to yet, a lease has one cell. */
static int read_old_cell(struct store *s, struct vfctl_lease *l)
{
	const struct vfctl_lease_cell cell = {.node = l->node, .memory_node = l->node,
		.memory_bytes = l->memory_bytes, .page_bytes = l->page_bytes};

	return l->node < 0 ? 0 : add_cell(s, l, &cell);
}

static int read_cells(struct store *s, struct vfctl_lease *l, int version)
{
	_query_ struct query *q = NULL;
	int r;

	if (version < VERSION_CELLS)
		return read_old_cell(s, l);
	r = query_new(s->db, &q, "SELECT node, memory_node, memory_bytes, page_bytes, "
			"shared_vcpus FROM lease_cell WHERE lease = ? ORDER BY cell", "s", l->id);
	while (r >= 0 && (r = query_step(q)) == 1) {
		const struct vfctl_lease_cell cell = {.node = (int)query_int(q, 0),
			.memory_node = (int)query_int(q, 1),
			.memory_bytes = (uint64_t)query_int(q, 2),
			.page_bytes = (uint64_t)query_int(q, 3),
			.shared_vcpus = (uint32_t)query_int(q, 4)};

		r = add_cell(s, l, &cell);
	}
	return r;
}

static int read_lease(struct store *s, struct query *q, struct vfctl_lease *l, int version)
{
	int r;

	str_copy(l->id, sizeof(l->id), query_text(q, 0));
	str_copy(l->domain_uuid, sizeof(l->domain_uuid), query_text(q, 1));
	l->domain_name = strdup(query_text(q, 2));
	l->created = query_int(q, 3);
	l->running = query_int(q, 4) != 0;
	l->node = (int)query_int(q, 5);
	l->memory_bytes = (uint64_t)query_int(q, 6);
	l->page_bytes = (uint64_t)query_int(q, 7);
	l->transient = query_int(q, 8) != 0;
	str_copy(l->boot_id, sizeof(l->boot_id), query_text(q, 9));
	if (!l->domain_name)
		return ctx_oom(db_ctx(s->db));
	r = read_vfs(s, l, version);
	if (r == 0)
		r = read_cells(s, l, version);
	return r < 0 ? r : read_cpus(s, l);
}

static void free_leases(struct vfctl_leases **leases)
{
	vfctl_leases_free(*leases);
}

static int read_leases(struct store *store, const char *domain_uuid,
	struct vfctl_leases **ret_leases)
{
	_cleanup_(free_leases) struct vfctl_leases *leases = calloc(1, sizeof(*leases));
	_query_ struct query *q = NULL;
	int r, version;

	if (!leases)
		return ctx_oom(db_ctx(store->db));
	r = db_version(store->db, &version);
	if (r == 0)
		r = query_new(store->db, &q, version < VERSION_INTENT
			? "SELECT id, domain_uuid, domain_name, created, running, node, "
			  "memory_bytes, page_bytes, transient, '' FROM lease "
			  "WHERE ?1 IS NULL OR domain_uuid = ?1 ORDER BY id"
			: "SELECT id, domain_uuid, domain_name, created, running, node, "
			  "memory_bytes, page_bytes, transient, boot FROM lease "
			  "WHERE ?1 IS NULL OR domain_uuid = ?1 ORDER BY id", "s", domain_uuid);
	while (r >= 0 && (r = query_step(q)) == 1) {
		if (!array_grow(leases->v, leases->count))
			return ctx_oom(db_ctx(store->db));
		leases->v[leases->count] = (struct vfctl_lease){0};
		r = read_lease(store, q, &leases->v[leases->count++], version);
	}
	if (r == 0)
		*ret_leases = steal(leases);
	return r;
}

int store_read(struct store *store, const char *domain_uuid,
	struct vfctl_leases **ret_leases)
{
	/* One transaction, so that the tables are of the same moment. */
	int r = db_exec(store->db, "BEGIN");

	if (r < 0)
		return r;
	r = read_leases(store, domain_uuid, ret_leases);
	if (r == 0)
		r = db_exec(store->db, "COMMIT");
	return r < 0 ? roll_back(store, r) : 0;
}

int vfctl_leases_read(struct vfctl_ctx *ctx, struct vfctl_leases **ret_leases)
{
	_store_ struct store *store = NULL;
	int r = store_open(ctx, STORE_READ, &store);

	if (r == -ENOENT) {
		ctx_clear(ctx);
		*ret_leases = calloc(1, sizeof(**ret_leases));
		return *ret_leases ? 0 : ctx_oom(ctx);
	}
	return r < 0 ? r : store_read(store, NULL, ret_leases);
}

void vfctl_leases_free(struct vfctl_leases *leases)
{
	if (!leases)
		return;
	for (size_t i = 0; i < leases->count; i++) {
		free(leases->v[i].domain_name);
		free(leases->v[i].cells);
		free(leases->v[i].vfs);
	}
	free(leases->v);
	free(leases);
}

const struct vfctl_lease *vfctl_leases_find_uuid(const struct vfctl_leases *leases,
	const char *uuid)
{
	for (size_t i = 0; i < leases->count && uuid[0]; i++)
		if (str_eq(leases->v[i].domain_uuid, uuid))
			return &leases->v[i];
	return NULL;
}

const struct vfctl_lease *vfctl_leases_find(const struct vfctl_leases *leases,
	const char *uuid_or_name)
{
	const struct vfctl_lease *lease = vfctl_leases_find_uuid(leases, uuid_or_name);

	for (size_t i = 0; i < leases->count && !lease; i++)
		if (str_eq(leases->v[i].domain_name, uuid_or_name))
			lease = &leases->v[i];
	return lease;
}

const struct vfctl_lease *vfctl_leases_find_vf(const struct vfctl_leases *leases,
	const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < leases->count; i++)
		for (size_t k = 0; k < leases->v[i].vf_count; k++)
			if (vfctl_bdf_compare(&leases->v[i].vfs[k].bdf, vf) == 0)
				return &leases->v[i];
	return NULL;
}
