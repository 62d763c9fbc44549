/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_RECORD_H
#define VFCTL_BASE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A record is a struct that is described once, as a table of its members. The table gives the
 * strict reader and the writer of its JSON, and the function that frees it (base/record.h). It also
 * gives the JSON schema and the reference of an answer (RECORD_ROW() in vfctl/answer.h).
 */

/* What a member is in the struct, and in JSON. */
enum record_kind {
	RECORD_VERSION, /* nothing: the document has the version @max, and no other */
	RECORD_NUMBER,	/* an integer of @size bytes: 0..@max */
	RECORD_FLAG,	/* a bool */
	RECORD_WORD,	/* an enum: one of the words that @word has for 0..@max */
	RECORD_TEXT,	/* a char *: a text of at most RECORD_TEXT_MAX bytes */
	RECORD_CHARS,	/* a char[@size]: a text that fits */
	RECORD_UUID,	/* a char[37]; "": not known */
	RECORD_TEXTS,	/* a char **, NULL-terminated: a list of texts */
	RECORD_CPUS,	/* a struct vfctl_cpuset: "0-3,8" */
	RECORD_ADDRESS, /* a struct vfctl_bdf: "0000:3b:00.1" */
	RECORD_LIST,	/* a pointer, and a size_t at @count: a list of records of @inner */
	RECORD_ARRAY,	/* at most @max structs in the struct itself, else like a list */
	RECORD_OWN,	/* anything: @own reads and writes it */
};

#define RECORD_TEXT_MAX 256

enum {
	RECORD_REQUIRED = 1,
	/*
	 * The member may be null, or be missing, which means the same. A number is then stored as
	 * all ones (-1, UINT32_MAX, UINT64_MAX); any other member stays zero.
	 */
	RECORD_NULLABLE = 2,
	/* The writer leaves the member out if it is zero or empty. */
	RECORD_OPTIONAL = 4,
};

/* How the writer breaks lines before members and list entries. */
enum record_lines {
	RECORD_FLAT,	/* it does not */
	RECORD_COMPACT, /* nor does it write spaces */
	RECORD_HANGING, /* before the member, and before each entry but the first */
	RECORD_TALL,	/* before the member, and before each entry */
};

/* A row of the table: one member. */
struct record_row {
	const char *name;
	const char *help; /* one line without a full stop; NULL: it is in no answer */
	enum record_kind kind;
	unsigned flags;
	size_t offset, size, count;
	size_t via; /* not 0: the member is in the struct that the pointer at @via - 1 points to */
	uint64_t max;
	const char *(*word)(int value); /* NULL: the value has no word, and is written as null */
	const struct record *inner;
	const struct record_own *own;
	enum record_kind like; /* of an own member: the kind with the same JSON; RECORD_OWN: any */
	enum record_lines lines; /* RECORD_FLAT: those of the record */
};

struct record {
	const struct record_row *rows;
	size_t row_count;
	size_t size; /* of the struct */
	enum record_lines lines;
	bool loose; /* the reader ignores unknown members: a newer version may have written them */
	const char *name; /* of its own section in docs/reference/json.md, "FREEVF"; or NULL */
};

/* Where a row's member is in the struct @type. */
#define RECORD_AT(type, member) \
	.offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)
#define RECORD_ENTRIES(type, member, number) \
	.offset = offsetof(type, member), .count = offsetof(type, number)
/* A record of all rows of a table. */
#define RECORD(type, table) \
	.rows = (table), .row_count = sizeof(table) / sizeof((table)[0]), .size = sizeof(type)

#endif
