// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the leases of the state file. */
#include <errno.h>
#include <stdio.h>

#include "base/json.h"
#include "base/vfattr.h"
#include "state/file.h"
#include "state/journal.h"
#include "state/leases.h"
#include "state/store.h"

/*
 * An unreadable text must not count as "nothing to restore": the guest's MAC would stay on a free
 * VF.
 */
static int parse_attrs(struct store *s, const char *what, const char *text,
	const struct vfctl_bdf *vf, struct vfctl_vf_attrs *ret)
{
	if (json_to_attrs(text, ret) == 0)
		return 0;
	return ctx_fail(db_ctx(s->db), -EBADF, "the state file has values that cannot be read, "
		"'%.100s', which VF %s %s; restore the file from a backup", text, TEXT(vf), what);
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
			r = parse_attrs(s, "had before its guest", query_text(q, 1), &vf->bdf, &saved);
		if (r < 0)
			return r;
		if (vf)
			attrs_copy(&vf->saved, &saved, ~vf->saved.mask);
	}
	return r;
}

/* @in_run: the journal has a run of its domain. */
static int read_vfs(struct store *s, struct vfctl_lease *l, bool in_run)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT bdf, pf, idx, transient, intent, port FROM lease_vf "
		"WHERE lease = ? ORDER BY bdf", "s", l->id);

	while (r >= 0 && (r = query_step(q)) == 1) {
		struct vfctl_lease_vf *vf;

		if (!array_grow(l->vfs, l->vf_count))
			return ctx_oom(db_ctx(s->db));
		vf = &l->vfs[l->vf_count];
		*vf = (struct vfctl_lease_vf){.index = (uint32_t)query_int(q, 2),
			.transient = query_int(q, 3) != 0, .returns_identity = query_int(q, 3) == 2};
		if (vfctl_bdf_parse(query_text(q, 0), &vf->bdf) < 0 ||
			vfctl_bdf_parse(query_text(q, 1), &vf->pf) < 0)
			return ctx_fail(db_ctx(s->db), -EBADF, "the state file holds '%s', which is not "
				"a PCI address", query_text(q, 0));
		if (parse_attrs(s, "is leased with", query_text(q, 4), &vf->bdf, &vf->intent) < 0)
			return -EBADF;
		str_copy(vf->port_id, sizeof(vf->port_id), query_text(q, 5));
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

static int read_cpus(struct store *s, struct vfctl_lease *l)
{
	int r = read_set(s, l->id, "SELECT cpu FROM lease_cpu WHERE lease = ?", &l->cpus);

	if (r == 0)
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

static int read_cells(struct store *s, struct vfctl_lease *l)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT node, memory_node, memory_bytes, page_bytes, "
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

static int read_lease(struct store *s, struct query *q, struct vfctl_lease *l)
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
	l->run_begun = query_int(q, 11);
	r = read_vfs(s, l, query_int(q, 10));
	if (r == 0)
		r = read_cells(s, l);
	return r < 0 ? r : read_cpus(s, l);
}

/* A run is a change in the journal. */
static const char query_leases[] = "SELECT lease.id, domain_uuid, domain_name, created, "
	"EXISTS (SELECT 1 FROM change_op WHERE change = c.id AND number = 0 AND type = 'run'), "
	"node, memory_bytes, page_bytes, transient, coalesce(c.boot, ''), c.id IS NOT NULL, "
	"coalesce(c.begun, 0) FROM lease LEFT JOIN change c ON run = domain_uuid "
	"WHERE ?1 IS NULL OR domain_uuid = ?1 ORDER BY lease.id";

static int read_leases(struct store *store, const char *domain_uuid,
	struct vfctl_leases **ret_leases)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = calloc(1, sizeof(*leases));
	_cleanup_(query_freep) struct query *q = NULL;
	int r;

	if (!leases)
		return ctx_oom(db_ctx(store->db));
	r = query_new(store->db, &q, query_leases, "s", domain_uuid);
	while (r >= 0 && (r = query_step(q)) == 1) {
		if (!array_grow(leases->v, leases->count))
			return ctx_oom(db_ctx(store->db));
		leases->v[leases->count] = (struct vfctl_lease){0};
		r = read_lease(store, q, &leases->v[leases->count++]);
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
