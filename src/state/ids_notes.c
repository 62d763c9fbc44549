// SPDX-License-Identifier: GPL-2.0-or-later
/* Short notes that the fleet's store keeps from one command to the next. */

#include "state/ids_db.h"
#include "state/ids_sqlite.h"

int id_sqlite_note(struct id_store *store, const char *name, char *buf, size_t size)
{
	struct ids_db *s = ids_db_of(store);
	_cleanup_(query_freep) struct query *q = NULL;
	int r = query_new(s->db, &q, "SELECT value FROM fleet_note WHERE name = ?", "s", name);

	buf[0] = '\0';
	if (r == 0)
		r = query_step(q);
	if (r == 1)
		str_copy(buf, size, query_text(q, 0));
	return r < 0 ? r : 0;
}

int id_sqlite_set_note(struct id_store *store, const char *name, const char *value)
{
	struct ids_db *s = ids_db_of(store);

	return db_run(s->db, "INSERT INTO fleet_note (name, value) VALUES (?, ?) ON CONFLICT "
		"(name) DO UPDATE SET value = excluded.value", "ss", name, value);
}

int id_sqlite_drop_note(struct id_store *store, const char *name)
{
	return db_run(ids_db_of(store)->db, "DELETE FROM fleet_note WHERE name = ?", "s", name);
}

int id_sqlite_next_unread(struct id_store *store, char *io, size_t size, char *value,
	size_t value_size)
{
	_cleanup_(query_freep) struct query *q = NULL;
	/* '!' is the character after the space. */
	int r = query_new(ids_db_of(store)->db, &q, "SELECT name, value FROM fleet_note WHERE "
		"name > ? AND name < 'unread!' ORDER BY name LIMIT 1", "s",
		io[0] ? io : ID_NOTE_UNREAD);

	if (r == 0)
		r = query_step(q);
	if (r == 1) {
		str_copy(io, size, query_text(q, 0));
		str_copy(value, value_size, query_text(q, 1));
	}
	return r;
}

int id_sqlite_set_durable(struct id_store *store, bool durable)
{
	return db_exec(ids_db_of(store)->db, durable ? "PRAGMA synchronous = FULL"
						     : "PRAGMA synchronous = NORMAL");
}
