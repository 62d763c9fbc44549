// SPDX-License-Identifier: GPL-2.0-or-later
#include "state/store.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/json.h"
#include "base/vfattr.h"
#include "state/file.h"
#include "state/journal.h"

int store_open(struct vfctl_ctx *ctx, enum store_mode mode, struct store **ret_store)
{
	_cleanup_(store_closep) struct store *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return ctx_oom(ctx);
	r = state_file_open(ctx, mode == STORE_WRITE, &s->db);
	if (r == 0)
		*ret_store = steal(s);
	return r;
}

void store_leave_log(struct store *store)
{
	db_leave_log(store->db);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	db_close(store->db);
	free(store);
}

/* ---- changes ---- */

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
	return r < 0 ? db_roll_back(s->db, r) : 0;
}

/* The holder of the resource that @sql selects; "" if there is none. */
static char *holder_of(struct store *s, const char *sql, const char *text, int64_t number)
{
	_cleanup_(query_freep) struct query *q = NULL;
	int r = text ? query_new(s->db, &q, sql, "s", text)
		     : query_new(s->db, &q, sql, "i", number);

	if (r < 0 || query_step(q) != 1)
		return strdup("");
	return strdup(query_text(q, 0));
}

static int insert_vf(struct store *s, const char *id, const struct vfctl_lease_vf *vf)
{
	_free_ char *intent = json_of_attrs(&vf->intent);
	int r;

	if (!intent)
		return ctx_oom(db_ctx(s->db));
	r = db_run(s->db, "INSERT INTO lease_vf (bdf, lease, pf, idx, transient, intent, port) "
		"VALUES (?, ?, ?, ?, ?, ?, ?)", "sssiiss", TEXT(&vf->bdf), id, TEXT(&vf->pf),
		(int64_t)vf->index, vf->returns_identity ? INT64_C(2) : (int64_t)vf->transient, intent,
		vf->port_id[0] ? vf->port_id : NULL);
	if (r == -EEXIST) {
		_free_ char *name = holder_of(s, "SELECT domain_name FROM lease JOIN lease_vf ON "
			"lease.id = lease WHERE bdf = ?", TEXT(&vf->bdf), 0);

		return ctx_fail(db_ctx(s->db), r, "VF %u (%s) is leased to domain %s", vf->index,
			TEXT(&vf->bdf), name && name[0] ? name : "?");
	}
	return r;
}

static int fail_cpu(struct store *s, int cpu)
{
	_free_ char *name = holder_of(s, "SELECT domain_name FROM lease JOIN lease_cpu ON "
		"lease.id = lease WHERE cpu = ?", NULL, cpu);
	_free_ char *sharer = holder_of(s, "SELECT domain_name FROM lease JOIN lease_qemu_cpu ON "
		"lease.id = lease WHERE cpu = ? ORDER BY domain_name", NULL, cpu);

	if (sharer && sharer[0])
		return ctx_fail(db_ctx(s->db), -EEXIST, "CPU %d runs shared QEMU threads of domain "
			"%s", cpu, sharer);
	return ctx_fail(db_ctx(s->db), -EEXIST, "CPU %d is leased to domain %s", cpu,
		name && name[0] ? name : "?");
}

static int insert_cpu(struct store *s, const char *id, int cpu)
{
	int r = db_run(s->db, "INSERT INTO lease_cpu (cpu, lease) VALUES (?, ?)", "is",
		(int64_t)cpu, id);

	return r == -EEXIST ? fail_cpu(s, cpu) : r;
}

static int insert_qemu_cpu(struct store *s, const char *id, int cpu)
{
	int r = db_run(s->db, "INSERT INTO lease_qemu_cpu (cpu, lease) VALUES (?, ?)", "is",
		(int64_t)cpu, id);

	return r == -EEXIST ? fail_cpu(s, cpu) : r;
}

static int insert_set(struct store *s, const char *id, const struct vfctl_cpuset *set,
	int (*insert)(struct store *s, const char *id, int cpu))
{
	int r = 0;

	for (int cpu = vfctl_cpuset_next(set, 0); cpu >= 0 && r == 0;
		cpu = vfctl_cpuset_next(set, (unsigned)cpu + 1))
		r = insert(s, id, cpu);
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
	int r = db_run(s->db, "INSERT INTO lease (id, domain_uuid, domain_name, created, transient,"
		" node, memory_bytes, page_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", "sssiiiii", l->id,
		l->domain_uuid, l->domain_name, l->created ? l->created : (int64_t)time(NULL),
		(int64_t)l->transient, (int64_t)l->node, (int64_t)l->memory_bytes,
		(int64_t)l->page_bytes);

	if (r == -EEXIST)
		return ctx_fail(db_ctx(s->db), r, "domain %s (%s) already has a lease; end it with: "
			"vfctl undefine %s", l->domain_name, l->domain_uuid, l->domain_uuid);
	for (size_t i = 0; i < l->vf_count && r == 0; i++)
		r = insert_vf(s, l->id, &l->vfs[i]);
	for (size_t i = 0; i < l->cell_count && r == 0; i++)
		r = insert_cell(s, l->id, i, &l->cells[i]);
	if (r == 0)
		r = insert_set(s, l->id, &l->cpus, insert_cpu);
	return r < 0 ? r : insert_set(s, l->id, &l->qemu_cpus, insert_qemu_cpu);
}

int store_take(struct store *store, const struct vfctl_lease *lease)
{
	return in_transaction(store, take, lease);
}

struct running_lease {
	const struct vfctl_lease *lease;
	const char *id;
	const struct vfctl_lease_vf *vf; /* NULL: the whole lease */
	const struct journal_entry *entry;
	const struct op *mark;
};

static int take_running(struct store *s, const void *data)
{
	const struct running_lease *l = data;
	int r = l->vf ? insert_vf(s, l->id, l->vf) : take(s, l->lease);

	return r < 0 ? r : journal_note_in(s->db, l->entry, l->mark, 1, true);
}

int store_take_running(struct store *store, const struct vfctl_lease *lease,
	const struct journal_entry *entry, const struct op *mark)
{
	const struct running_lease l = {.lease = lease, .entry = entry, .mark = mark};

	return in_transaction(store, take_running, &l);
}

int store_add_vf_running(struct store *store, const char *id, const struct vfctl_lease_vf *vf,
	const struct journal_entry *entry, const struct op *mark)
{
	const struct running_lease l = {.id = id, .vf = vf, .entry = entry, .mark = mark};

	return in_transaction(store, take_running, &l);
}

/* A statement that must change one row, else -ENOENT. */
static int change_one(struct store *s, int r, const char *what)
{
	if (r == 0 && db_changes(s->db) == 0)
		return ctx_fail(db_ctx(s->db), -ENOENT, "no lease of %s found", what);
	return r;
}

int store_drop(struct store *store, const char *id)
{
	return change_one(store, db_run(store->db, "DELETE FROM lease WHERE id = ?", "s", id),
		id);
}

struct replacement {
	const char *id;
	const struct vfctl_lease *lease;
};

static int replace(struct store *s, const void *data)
{
	const struct replacement *p = data;
	int r = store_drop(s, p->id);

	return r < 0 ? r : take(s, p->lease);
}

int store_replace(struct store *store, const char *id, const struct vfctl_lease *lease)
{
	const struct replacement p = {id, lease};

	return in_transaction(store, replace, &p);
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

int store_set_intent(struct store *store, const struct vfctl_bdf *vf,
	const struct vfctl_vf_attrs *intent)
{
	_free_ char *text = json_of_attrs(intent);

	if (!text)
		return ctx_oom(db_ctx(store->db));
	return change_one(store, db_run(store->db,
		"UPDATE lease_vf SET intent = ? WHERE bdf = ?", "ss", text, TEXT(vf)), TEXT(vf));
}

int store_set_port(struct store *store, const struct vfctl_bdf *vf, const char *port_id)
{
	return change_one(store, db_run(store->db, "UPDATE lease_vf SET port = ? WHERE bdf = ?", "ss",
		port_id[0] ? port_id : NULL, TEXT(vf)), TEXT(vf));
}

int store_rename(struct store *store, const char *id, const char *name)
{
	return change_one(store, db_run(store->db, "UPDATE lease SET domain_name = ? WHERE id = ?",
		"ss", name, id), id);
}

struct successor {
	const char *id, *uuid, *name;
};

/*
 * In the row of an identity, @owner contains the UUID (id_owner_key()); values in their cooldown
 * stay with the former owner.
 */
static int hand_over(struct store *s, const void *data)
{
	const struct successor *h = data;
	int r = db_run(s->db, "UPDATE identity SET owner = replace(owner, domain_uuid, ?), domain_uuid = "
		"?, domain_name = ? WHERE state = 0 AND domain_uuid = "
		"(SELECT domain_uuid FROM lease WHERE id = ?)", "ssss", h->uuid, h->uuid, h->name, h->id);

	return r < 0 ? r : change_one(s, db_run(s->db, "UPDATE lease SET domain_uuid = ?, domain_name = ? "
		"WHERE id = ?", "sss", h->uuid, h->name, h->id), h->id);
}

int store_hand_over(struct store *store, const char *id, const char *uuid, const char *name)
{
	const struct successor h = {id, uuid, name};

	return in_transaction(store, hand_over, &h);
}

int store_make_transient(struct store *store, const char *id)
{
	return change_one(store, db_run(store->db,
		"UPDATE lease SET transient = 1 WHERE id = ?", "s", id), id);
}

int store_set_leaving(struct store *store, const struct vfctl_bdf *vf, enum store_leaving leaving)
{
	return change_one(store, db_run(store->db, "UPDATE lease_vf SET transient = ? WHERE bdf = ?",
		"is", (int64_t)leaving, TEXT(vf)), TEXT(vf));
}

struct new_shape {
	const char *id;
	const struct vfctl_lease *l;
};

static int set_shape(struct store *s, const void *data)
{
	static const char *const gone[] = {"DELETE FROM lease_cpu WHERE lease = ?",
		"DELETE FROM lease_qemu_cpu WHERE lease = ?", "DELETE FROM lease_cell WHERE lease = ?"};
	const struct new_shape *n = data;
	const struct vfctl_lease *l = n->l;
	int r = change_one(s, db_run(s->db, "UPDATE lease SET node = ?, memory_bytes = ?, "
		"page_bytes = ? WHERE id = ?", "iiis", (int64_t)l->node, (int64_t)l->memory_bytes,
		(int64_t)l->page_bytes, n->id), n->id);

	for (size_t i = 0; i < ARRAY_SIZE(gone) && r == 0; i++)
		r = db_run(s->db, gone[i], "s", n->id);
	for (size_t i = 0; i < l->cell_count && r == 0; i++)
		r = insert_cell(s, n->id, i, &l->cells[i]);
	if (r == 0)
		r = insert_set(s, n->id, &l->cpus, insert_cpu);
	return r < 0 ? r : insert_set(s, n->id, &l->qemu_cpus, insert_qemu_cpu);
}

int store_set_shape(struct store *store, const char *id, const struct vfctl_lease *shape)
{
	const struct new_shape n = {id, shape};

	return in_transaction(store, set_shape, &n);
}
