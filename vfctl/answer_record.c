// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of documents that the library prints from its records. */
#include "answer.h"

#define TABLES_OF_RECORDS 64

/* The table of a record in another one: made once, so that it is the same table each time. */
static const struct member *table_of(const struct record *record)
{
	static struct member tables[TABLES_OF_RECORDS];
	size_t i = 0;

	while (i < TABLES_OF_RECORDS && tables[i].arg && tables[i].arg != record)
		i++;
	if (i == TABLES_OF_RECORDS)
		return NULL;
	tables[i] = (struct member)RECORD_ROW(record);
	return &tables[i];
}

static enum member_kind kind_of(enum record_kind kind)
{
	switch (kind) {
	case RECORD_VERSION:
	case RECORD_NUMBER:
		return MEMBER_NUMBER;
	case RECORD_FLAG:
		return MEMBER_FLAG;
	case RECORD_TEXTS:
	case RECORD_LIST:
	case RECORD_ARRAY:
		return MEMBER_FILL;
	case RECORD_OWN:
		return MEMBER_END;
	default:
		return MEMBER_TEXT;
	}
}

bool record_row_member(const struct record *record, size_t at, struct member *ret)
{
	const struct record_row *row = &record->rows[at];
	enum member_kind kind;

	if (at >= record->row_count)
		return false;
	kind = kind_of(row->kind == RECORD_OWN ? row->like : row->kind);
	*ret = (struct member){.name = row->name, .help = row->help, .kind = MEMBER_PUT,
		.each = kind, .optional = row->flags & RECORD_OPTIONAL};
	/* What may be null is left out instead. */
	ret->nullable = row->flags & RECORD_NULLABLE && !ret->optional;
	if (kind != MEMBER_FILL)
		return true;
	ret->kind = MEMBER_FILL;
	ret->table = row->inner ? table_of(row->inner) : NULL;
	/* A list in an own form is a list of lists. */
	ret->each = row->kind == RECORD_TEXTS ? MEMBER_TEXT : MEMBER_FILL;
	return true;
}
