// SPDX-License-Identifier: GPL-2.0-or-later
/* The transactions of the host's store of identities. */
#include "state/ids_db.h"

#include <time.h>

int64_t ids_db_now(const struct ids_db *s)
{
	return s->base.now ? s->base.now : (int64_t)time(NULL);
}

int ids_db_begin(struct id_store *store)
{
	struct ids_db *s = ids_db_of(store);
	int r = 0;

	if (s->depth == 0)
		r = db_run(s->db, s->write ? "BEGIN IMMEDIATE" : "BEGIN", "");
	if (r == 0)
		s->depth++;
	return r;
}

/*
 * Within a larger transaction, the caller that began it handles a failure and rolls back
 * everything.
 */
int ids_db_finish(struct ids_db *s, int r)
{
	if (--s->depth > 0)
		return r;
	if (r >= 0) {
		int error = db_run(s->db, "COMMIT", "");

		if (error == 0)
			return r;
		r = error;
	}
	return db_roll_back(s->db, r);
}
