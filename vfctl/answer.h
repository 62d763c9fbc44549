/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_ANSWER_H
#define VFCTL_ANSWER_H

#include <stddef.h>

#include "base/address.h"
#include "base/cpuset.h"
#include "base/record.h"
#include "out.h"

/*
 * A JSON answer is a table of members. The tables print the answers. The JSON schemas (vfctl schema
 * VERB) and docs/reference/json.md are made from the same rows, so a member exists in all three or
 * in none.
 */

enum member_kind {
	MEMBER_END, /* ends a table */
	MEMBER_NAMED, /* the first row of a table with a section of its own in docs/reference/json.md */
	MEMBER_MADE,  /* get.made makes the rows that follow, one by one */
	MEMBER_RECORD, /* the whole table: the members of the record @arg (base/record.h) */
	/* Scalars that are members of the struct, at @offset. */
	MEMBER_AT_TEXT,  /* char *; NULL prints null */
	MEMBER_AT_CHARS, /* char []; "" prints null */
	MEMBER_AT_BOOL,
	MEMBER_AT_U8,
	MEMBER_AT_U16,
	MEMBER_AT_U32,
	MEMBER_AT_U64,
	MEMBER_AT_INT,
	MEMBER_AT_I64,
	MEMBER_AT_REAL, /* prints null if it is not finite */
	MEMBER_AT_BDF,
	MEMBER_AT_CPUS,
	/* Scalars that a function of @get returns. */
	MEMBER_TEXT,
	MEMBER_NUMBER,
	MEMBER_FLAG,
	MEMBER_CONSTANT, /* always true */
	/* Objects of @table: the struct at @offset, behind a pointer at @offset, or from get.object. */
	MEMBER_OBJECT,
	MEMBER_OBJECT_AT,
	MEMBER_OBJECT_GET,
	/* Parts, found in the same ways: the members of @table become members of this object. */
	MEMBER_PART,
	MEMBER_PART_AT,
	MEMBER_PART_GET,
	/* Lists of objects of @table, or of scalars of kind @each. */
	MEMBER_LIST,  /* a pointer at @offset, a number at @count_offset */
	MEMBER_ARRAY, /* the elements are in the struct itself */
	MEMBER_TEXTS, /* char **, NULL-terminated */
	MEMBER_FILL,  /* get.fill prints the elements */
	/* get.put prints the member, which is of kind @each, or of any kind (MEMBER_END). */
	MEMBER_PUT,
};

/* Size of the buffer for the text of a member, in bytes. */
#define MEMBER_ROOM 4096

/* A row of a table. A table is an array of rows that ends with END. */
struct member {
	const char *name; /* NULL: a part; in a MEMBER_NAMED row the name of the table, "VF" */
	const char *help; /* one line without a full stop; in a MEMBER_NAMED row about the table */
	enum member_kind kind, each, count_kind;
	bool nullable; /* it may be null; members at an offset say so by their kind */
	bool filled;   /* a text that is never null: "" is printed as it is */
	bool below_0;  /* a negative number is printed, not null */
	bool nonzero;  /* the number 0 is printed as null */
	bool optional; /* left out if it is null or false */
	/* Null, or left out, if the number, bool or pointer at @known_offset is 0, false or NULL. */
	enum member_kind known_kind;
	size_t known_offset;
	size_t offset, count_offset, stride;
	size_t via; /* not 0: the value is in the struct that the pointer at @via - 1 points to */
	const struct member *table;
	const void *arg; /* for get.put */
	union {
		const char *(*text)(const void *of, char *room); /* NULL: null */
		bool (*number)(const void *of, int64_t *ret);    /* false: null */
		bool (*flag)(const void *of);
		const void *(*object)(const void *of); /* NULL: null; a part then has no members */
		int (*fill)(struct out *out, const void *of); /* a negative result ends the answer */
		void (*put)(struct out *out, const struct member *member, const void *of);
		bool (*made)(size_t at, struct member *ret); /* false past the last row */
	} get;
};

/* A form of a command's answer. Arrays of them end with an entry without a table. */
struct answer {
	const char *when; /* "With `--dry-run`"; NULL if there is only this form */
	const struct member *table;
	bool list; /* a list of such objects */
};

/* ---- rows of tables; OF is the struct that they print ---- */

#define MEMBER_FIELD(field) (((OF *)0)->field)
/* clang-format off */
/* An array decays in _Generic, so its address is used. size_t is uint64_t or uint32_t. */
#define MEMBER_KIND(value) \
	_Generic(&(value), char (*)[sizeof(value)]: MEMBER_AT_CHARS, \
		const char (*)[sizeof(value)]: MEMBER_AT_CHARS, \
		default: _Generic((value), char *: MEMBER_AT_TEXT, const char *: MEMBER_AT_TEXT, \
			bool: MEMBER_AT_BOOL, uint8_t: MEMBER_AT_U8, uint16_t: MEMBER_AT_U16, \
			uint32_t: MEMBER_AT_U32, uint64_t: MEMBER_AT_U64, int: MEMBER_AT_INT, \
			int64_t: MEMBER_AT_I64, double: MEMBER_AT_REAL, \
			struct vfctl_bdf: MEMBER_AT_BDF, struct vfctl_cpuset: MEMBER_AT_CPUS))
#define MEMBER_FIELD_KIND(field) MEMBER_KIND(MEMBER_FIELD(field))
#define MEMBER_LIST_KIND(field) \
	(__builtin_types_compatible_p(__typeof__(MEMBER_FIELD(field)), \
		__typeof__(&MEMBER_FIELD(field)[0])) ? MEMBER_LIST : MEMBER_ARRAY)
#define MEMBER_ELEMENTS(field, count) \
	.offset = offsetof(OF, field), \
	.count_offset = offsetof(OF, count), .count_kind = MEMBER_FIELD_KIND(count), \
	.stride = sizeof(MEMBER_FIELD(field)[0])
#define MEMBER(key, what, about, ...) {.name = (key), .help = (about), .kind = (what), __VA_ARGS__}

/* The last arguments may be flags. */
#define NULLABLE .nullable = true
#define OPTIONAL .optional = true
#define FILLED .filled = true
#define BELOW_0 .below_0 = true
#define NONZERO .nonzero = true
#define KNOWN_BY(field) \
	.known_kind = MEMBER_FIELD_KIND(field), .known_offset = offsetof(OF, field)
#define KNOWN_BY_POINTER(field) .known_kind = MEMBER_AT_TEXT, .known_offset = offsetof(OF, field)

#define FIELD_AS(key, field, about, ...) \
	MEMBER(key, MEMBER_FIELD_KIND(field), about, .offset = offsetof(OF, field), __VA_ARGS__)
#define FIELD(field, about, ...) FIELD_AS(#field, field, about, __VA_ARGS__)
/* A scalar of the struct that @pointer points to; null if @pointer is NULL. */
#define FIELD_VIA(key, pointer, field, about, ...) \
	MEMBER(key, MEMBER_FIELD_KIND(pointer->field), about, .via = offsetof(OF, pointer) + 1, \
		.offset = offsetof(__typeof__(*MEMBER_FIELD(pointer)), field), __VA_ARGS__)
#define TEXTS_VIA(key, pointer, field, about, ...) \
	MEMBER(key, MEMBER_TEXTS, about, .via = offsetof(OF, pointer) + 1, .each = MEMBER_TEXT, \
		.offset = offsetof(__typeof__(*MEMBER_FIELD(pointer)), field), __VA_ARGS__)
#define TEXT(key, function, about, ...) \
	MEMBER(key, MEMBER_TEXT, about, .get.text = (function), __VA_ARGS__)
#define NUMBER(key, function, about, ...) \
	MEMBER(key, MEMBER_NUMBER, about, .get.number = (function), __VA_ARGS__)
#define FLAG(key, function, about, ...) \
	MEMBER(key, MEMBER_FLAG, about, .get.flag = (function), __VA_ARGS__)
#define ALWAYS_TRUE(key, about) MEMBER(key, MEMBER_CONSTANT, about, )
#define OBJECT(key, field, of, about, ...) \
	MEMBER(key, MEMBER_OBJECT, about, .offset = offsetof(OF, field), .table = (of), __VA_ARGS__)
#define OBJECT_AT(key, field, of, about, ...) \
	MEMBER(key, MEMBER_OBJECT_AT, about, .offset = offsetof(OF, field), .table = (of), \
		__VA_ARGS__)
#define OBJECT_GET(key, function, of, about, ...) \
	MEMBER(key, MEMBER_OBJECT_GET, about, .get.object = (function), .table = (of), __VA_ARGS__)
#define PART(field, of, ...) \
	MEMBER(NULL, MEMBER_PART, NULL, .offset = offsetof(OF, field), .table = (of), __VA_ARGS__)
#define PART_SELF(of, ...) MEMBER(NULL, MEMBER_PART, NULL, .table = (of), __VA_ARGS__)
#define PART_AT(field, of, ...) \
	MEMBER(NULL, MEMBER_PART_AT, NULL, .offset = offsetof(OF, field), .table = (of), __VA_ARGS__)
#define PART_GET(function, of, ...) \
	MEMBER(NULL, MEMBER_PART_GET, NULL, .get.object = (function), .table = (of), __VA_ARGS__)
#define LIST(key, field, count, of, about, ...) \
	MEMBER(key, MEMBER_LIST_KIND(field), about, MEMBER_ELEMENTS(field, count), .table = (of), \
		__VA_ARGS__)
#define LIST_VIA(key, pointer, field, count, of, about, ...) \
	MEMBER(key, MEMBER_LIST, about, .via = offsetof(OF, pointer) + 1, .table = (of), \
		.offset = offsetof(__typeof__(*MEMBER_FIELD(pointer)), field), \
		.count_offset = offsetof(__typeof__(*MEMBER_FIELD(pointer)), count), \
		.count_kind = MEMBER_FIELD_KIND(pointer->count), \
		.stride = sizeof(MEMBER_FIELD(pointer->field)[0]), __VA_ARGS__)
#define SCALARS(key, field, count, about, ...) \
	MEMBER(key, MEMBER_LIST_KIND(field), about, MEMBER_ELEMENTS(field, count), \
		.each = MEMBER_KIND(MEMBER_FIELD(field)[0]), __VA_ARGS__)
#define TEXTS(key, field, about, ...) \
	MEMBER(key, MEMBER_TEXTS, about, .offset = offsetof(OF, field), .each = MEMBER_TEXT, __VA_ARGS__)
#define FILL(key, function, of, about, ...) \
	MEMBER(key, MEMBER_FILL, about, .get.fill = (function), .table = (of), __VA_ARGS__)
#define FILL_EACH(key, function, what, about, ...) \
	MEMBER(key, MEMBER_FILL, about, .get.fill = (function), .each = (what), __VA_ARGS__)
#define PUT(key, function, what, about, ...) \
	MEMBER(key, MEMBER_PUT, about, .get.put = (function), .each = (what), __VA_ARGS__)
/* The first row of a table with a name, the row of a table that is made, and the last row. */
#define SECTION(table_name, about) {.name = (table_name), .help = (about), .kind = MEMBER_NAMED}
#define MADE(function) {.kind = MEMBER_MADE, .get.made = (function)}
/* The members of a record, which the library prints itself; these rows only describe them. */
#define RECORD_ROW(record) {.kind = MEMBER_RECORD, .arg = (record)}
#define END {.kind = MEMBER_END}
/* clang-format on */

/*
 * Functions for rows, each with a single expression. @it is the struct; @room has MEMBER_ROOM
 * bytes.
 * @known tells whether a number is known; otherwise it is null.
 */
#define TEXT_OF(function, type, value)                              \
	static const char *function(const void *of, char *room)     \
	{                                                           \
		const type *it = of;                                \
		(void)room;                                         \
		return (value);                                     \
	}
#define NUMBER_OF(function, type, known, value)                     \
	static bool function(const void *of, int64_t *ret)          \
	{                                                           \
		const type *it = of;                                \
		*ret = (int64_t)(value);                            \
		return (known);                                     \
	}
#define FLAG_OF(function, type, value)                              \
	static bool function(const void *of)                        \
	{                                                           \
		const type *it = of;                                \
		return (value);                                     \
	}
#define OBJECT_OF(function, type, value)                            \
	static const void *function(const void *of)                 \
	{                                                           \
		const type *it = of;                                \
		return (value);                                     \
	}

/* ---- functions on tables ---- */

/*
 * Print @of as an object of @table; @key is NULL at the top and in a list. The result is negative
 * if a function of a row failed; the answer is then left open for out_error().
 */
int answer_put(struct out *out, const char *key, const struct member *table, const void *of);
/* Print only the members, into an object that is already open. */
int answer_put_members(struct out *out, const struct member *table, const void *of);
/* Print a list of objects; @fill prints the elements. */
int answer_put_list(struct out *out, int (*fill)(struct out *out, const void *of), const void *of);

/* Get the member or part at position @at; false past the last one. */
bool table_member(const struct member *table, size_t at, struct member *ret);
/* The name of a table, or NULL. */
const char *table_name(const struct member *table);
/* Get the member of a record at position @at, as a row of a table. */
bool record_row_member(const struct record *record, size_t at, struct member *ret);

/*
 * The JSON type of @member, or of its elements: "string", "boolean", "integer", "number", "object",
 * "array"; NULL for any type.
 */
const char *member_type(const struct member *member);
const char *member_each_type(const struct member *member);
/* Whether the value of @member may be null. */
bool member_is_nullable(const struct member *member);

/* Collect named tables, each once, in the order in which they are found. */
#define TABLES_MAX 64
struct tables {
	const struct member *v[TABLES_MAX];
	size_t count;
};
void tables_collect(struct tables *tables, const struct member *table);

/*
 * The answer about several objects of the command line: {"objects": [...]}, each as for one object.
 */
extern const struct member answer_several[];
/* clang-format off */
#define ANSWER_SEVERAL {"For several objects", answer_several, false}
/* clang-format on */
void answer_open_several(struct out *out);
void answer_close_several(struct out *out);

/* The member "error" in the answer of any command that fails. */
extern const struct member answer_failed[];
/* Print the JSON schema of the answers of @typed ("list", "guid pools"). */
void answer_schema(struct out *out, const char *typed, const struct answer *answer);

/*
 * --get: print only these @members, separated by commas, of the answer that follows. @members is
 * cut apart and must last as long as the output. 0, or EXIT_USAGE for a name that no answer has.
 */
struct invocation;
int answer_set_get(struct invocation *in, char *members);

/*
 * Run `vfctl schema VERB`. @typed is the verb and its sub-verb, or "reference". Returns an exit
 * status.
 */
int answer_run_schema(struct invocation *in, const char *const *typed, size_t count);

#endif
