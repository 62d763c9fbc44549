// SPDX-License-Identifier: GPL-2.0-or-later
/* The leases of the state file, which may have the schema of an older vfctl. */
#include <errno.h>
#include <stdio.h>

#include "base/json.h"
#include "base/vfattr.h"
#include "state/file.h"
#include "state/journal.h"
#include "state/store.h"

/* The first schema with the table of cells (state/file.c). */
#define VERSION_CELLS 4
/* The first one with the values with which each VF was leased. */
#define VERSION_INTENT 5
/* The first one with the CPUs that QEMU's threads of several domains share. */
#define VERSION_QEMU 7
/* The first one with runs as changes of the journal. */
#define VERSION_RUNS 8
/* The first one with the identification of each VF's PF. */
#define VERSION_PORTS 9

#define HAD "had before its guest"

/*
 * The values of a VF before its guest. An unreadable text must not count as "nothing to restore":
 * the guest's MAC would stay on a free VF.
 */
static int parse_attrs(struct store *s, const char *what, const char *text,
	const struct vfctl_bdf *vf, struct vfctl_vf_attrs *ret)
{
	if (!*text || json_to_attrs(text, ret) == 0)
		return 0;
	return ctx_fail(db_ctx(s->db), -EBADF, "the state file has values that cannot be read, "
		"'%.100s', which VF %s %s; restore the file from a backup", text, TEXT(vf), what);
}

/* By version: the values of VFs before their guests were a column once. */
static const char *vfs_query(int version)
{
	if (version < VERSION_INTENT)
		return "SELECT bdf, pf, idx, saved, transient, NULL, NULL FROM lease_vf WHERE lease = ? "
			"ORDER BY bdf";
	if (version < VERSION_RUNS)
		return "SELECT bdf, pf, idx, saved, transient, intent, NULL FROM lease_vf "
			"WHERE lease = ? ORDER BY bdf";
	if (version < VERSION_PORTS)
		return "SELECT bdf, pf, idx, NULL, transient, intent, NULL FROM lease_vf "
			"WHERE lease = ? ORDER BY bdf";
	return "SELECT bdf, pf, idx, NULL, transient, intent, port FROM lease_vf WHERE lease = ? "
		"ORDER BY bdf";
}

static struct vfctl_lease_vf *find_target(struct vfctl_lease *l, const char *target)
{
	char own[VFCTL_BDF_TEXT + 16];

	for (size_t i = 0; i < l->vf_count; i++) {
		snprintf(own, sizeof(own), "%s/%u", TEXT(&l->vfs[i].pf), l->vfs[i].index);
		if (str_eq(own, target))
			return &l->vfs[i];
	}
	return NULL;
}

/*
 * Read them from the run's operations: the first one of a VF and attribute has the original value.
 */
static int read_saved(struct store *s, struct vfctl_lease *l)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT target, before FROM change_op JOIN change ON "
		"id = change WHERE run = ? AND type = 'guest-attrs' ORDER BY number", "s",
		l->domain_uuid);

	while (r >= 0 && (r = query_step(q)) == 1) {
		struct vfctl_lease_vf *vf = find_target(l, query_text(q, 0));
		struct vfctl_vf_attrs saved = {0};

		if (vf)
			r = parse_attrs(s, HAD, query_text(q, 1), &vf->bdf, &saved);
		if (r < 0)
			return r;
		if (vf)
			attrs_copy(&vf->saved, &saved, ~vf->saved.mask);
	}
	return r;
}

/* @in_run: the journal has a run of its domain. */
static int read_vfs(struct store *s, struct vfctl_lease *l, int version, bool in_run)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, vfs_query(version), "s", l->id);

	while (r >= 0 && (r = query_step(q)) == 1) {
		struct vfctl_lease_vf *vf;

		if (!array_grow(l->vfs, l->vf_count))
			return ctx_oom(db_ctx(s->db));
		vf = &l->vfs[l->vf_count];
		*vf = (struct vfctl_lease_vf){.index = (uint32_t)query_int(q, 2),
			.transient = query_int(q, 4) != 0, .returns_identity = query_int(q, 4) == 2};
		if (vfctl_bdf_parse(query_text(q, 0), &vf->bdf) < 0 ||
			vfctl_bdf_parse(query_text(q, 1), &vf->pf) < 0)
			return ctx_fail(db_ctx(s->db), -EBADF, "the state file holds '%s', which is not "
				"a PCI address", query_text(q, 0));
		if (parse_attrs(s, HAD, query_text(q, 3), &vf->bdf, &vf->saved) < 0 ||
			parse_attrs(s, "is leased with", query_text(q, 5), &vf->bdf, &vf->intent) < 0)
			return -EBADF;
		vf->has_intent = query_text(q, 5)[0];
		str_copy(vf->port_id, sizeof(vf->port_id), query_text(q, 6));
		l->vf_count++;
	}
	return r < 0 || !in_run ? r : read_saved(s, l);
}

static int read_set(struct store *s, const char *id, const char *sql, struct vfctl_cpuset *ret)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, sql, "s", id);

	while (r >= 0 && (r = query_step(q)) == 1)
		vfctl_cpuset_add(ret, (unsigned)query_int(q, 0));
	return r;
}

static int read_cpus(struct store *s, struct vfctl_lease *l, int version)
{
	int r = read_set(s, l->id, "SELECT cpu FROM lease_cpu WHERE lease = ?", &l->cpus);

	if (r == 0 && version >= VERSION_QEMU)
		r = read_set(s, l->id, "SELECT cpu FROM lease_qemu_cpu WHERE lease = ?",
			&l->qemu_cpus);
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

/* In a file that no newer vfctl has written yet, a lease has one cell. */
static int read_old_cell(struct store *s, struct vfctl_lease *l)
{
	const struct vfctl_lease_cell cell = {.node = l->node, .memory_node = l->node,
		.memory_bytes = l->memory_bytes, .page_bytes = l->page_bytes};

	return l->node < 0 ? 0 : add_cell(s, l, &cell);
}

static int read_cells(struct store *s, struct vfctl_lease *l, int version)
{
	_cleanup_(query_freep) struct query *q = NULL;
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
	l->run_begun = version >= VERSION_RUNS ? query_int(q, 11) : 0;
	r = read_vfs(s, l, version, version >= VERSION_RUNS && query_int(q, 10));
	if (r == 0)
		r = read_cells(s, l, version);
	return r < 0 ? r : read_cpus(s, l, version);
}

#define LEASE "SELECT lease.id, domain_uuid, domain_name, created, "
#define LEASE_ON ", node, memory_bytes, page_bytes, transient, "
#define LEASE_OF " WHERE ?1 IS NULL OR domain_uuid = ?1 ORDER BY lease.id"

/* A run is a change in the journal; it was a column once. */
static const char *leases_query(int version)
{
	if (version < VERSION_INTENT)
		return LEASE "running" LEASE_ON "'' FROM lease" LEASE_OF;
	if (version < VERSION_RUNS)
		return LEASE "running" LEASE_ON "boot FROM lease" LEASE_OF;
	return LEASE "EXISTS (SELECT 1 FROM change_op WHERE change = c.id AND number = 0 AND "
		"type = 'run')"
		LEASE_ON "coalesce(c.boot, ''), c.id IS NOT NULL, coalesce(c.begun, 0) FROM lease "
		"LEFT JOIN change c ON run = domain_uuid" LEASE_OF;
}

static int read_leases(struct store *store, const char *domain_uuid,
	struct vfctl_leases **ret_leases)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = calloc(1, sizeof(*leases));
	_cleanup_(query_freep) struct query *q = NULL;
	int r, version;

	if (!leases)
		return ctx_oom(db_ctx(store->db));
	r = db_version(store->db, &version);
	if (r == 0)
		r = query_new(store->db, &q, leases_query(version), "s", domain_uuid);
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
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	/* One transaction, so that all tables show the same state. */
	int r = db_exec(store->db, "BEGIN");

	if (r < 0)
		return r;
	r = read_leases(store, domain_uuid, &leases);
	if (r == 0)
		r = db_exec(store->db, "COMMIT");
	if (r < 0)
		return db_roll_back(store->db, r);
	*ret_leases = steal(leases);
	return 0;
}

int vfctl_leases_read(struct vfctl_ctx *ctx, struct vfctl_leases **ret_leases)
{
	_cleanup_(store_closep) struct store *store = NULL;
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
