/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SPEC_READER_H
#define VFCTL_SPEC_READER_H

#include "base/vfattr.h"
#include "spec/doc.h"

/* The position in the file, for messages. */
struct reader {
	struct vfctl_ctx *ctx;
	const char *path; /* "" or "vfs[2]." */
};

/*
 * One key of a mapping, a row of a table. @read fills the member @offset of the structure; @choices
 * and @min, @max are for the readers that use them.
 */
struct key {
	const char *name;
	int (*read)(struct reader *r, const struct key *key, const struct doc_node *value,
		void *object);
	size_t offset;
	uint64_t min, max;
	const char *const *choices; /* NULL-terminated; the value is the index */
};

/*
 * The values that a reader accepts, for the JSON schema (schema.c): one alternative for each member
 * that is set. The schema accepts everything that the reader accepts; it may accept more.
 */
enum {
	SHAPE_NUMBER = 1, /* @min..@max, or those of the row if @max is 0 */
	SHAPE_TEXT = 2,   /* one scalar of any YAML type, of the row's length */
	SHAPE_STRING = 4, /* one scalar that YAML reads as text */
	SHAPE_SWITCH = 8,
	SHAPE_WORDS = 16, /* one of the row's words */
	SHAPE_ATTR = 32,  /* a VF attribute: the one named by the row's first word, else by the key */
	SHAPE_FILLED = 64, /* a list needs an entry, a mapping a key */
};

struct shape {
	int (*read)(struct reader *r, const struct key *key, const struct doc_node *value,
		void *object);
	unsigned kinds;
	uint64_t min, max;
	const char *pattern; /* for text; valid in POSIX and in ECMA-262 */
	const char *const *choices; /* NULL-terminated, besides the other alternatives */
	const struct table *map;  /* a mapping with that table */
	const char *named; /* a level in between: keys of this form, each with such a mapping */
	const struct shape *each; /* a list of these, with at most @most entries, or the row's max */
	uint64_t most;
};

/* The rows of a mapping, and the shapes of readers that are not in reader.h. */
struct table {
	const struct key *keys;
	size_t count;
	const struct shape *shapes;
	size_t shape_count;
	const char *const *required; /* NULL-terminated; "a|b": one of the two */
	/* What to write if one is missing; NULL: the reader of the mapping checks that. */
	const char *remedy;
	/*
	 * Keys for VF attributes besides the rows: which attributes, where they are stored, and in
	 * which spelling.
	 */
	uint32_t attr_bits;
	size_t attrs;
	enum attr_file { HOST_FILE, GUEST_FILE } attr_file;
};

/* The row of a key, then of the attributes; false past the last one. */
bool table_key(const struct table *table, size_t index, struct key *ret);

/*
 * Read the mapping @node by its table. @ret_seen (may be NULL) receives the value of each
 * key or NULL, in the order of the table, which has at most 64 rows.
 */
int reader_map(struct reader *r, const struct doc_node *node, const struct key *keys,
	size_t count, void *object, const struct doc_node **ret_seen);
/*
 * Also read the attributes of the table, which @ret_seen does not contain, and check that the
 * required keys are there.
 */
int reader_table(struct reader *r, const struct doc_node *node, const struct table *table,
	void *object, const struct doc_node **ret_seen);

/* Read the mapping that is the value of @key: messages name both keys. */
int reader_inner(struct reader *r, const struct key *key, const struct doc_node *value,
	const struct table *table, void *object);
/*
 * Also accept a scalar, which is the value of the first key of @table. @hint: what to write instead
 * of {}.
 */
int reader_short(struct reader *r, const struct key *key, const struct doc_node *value,
	const struct table *table, void *object, const char *hint);
/* Read @value as the VF attribute with the name of the row's first word, or else of the key. */
int reader_attr(struct reader *r, const struct key *key, const struct doc_node *value,
	struct vfctl_vf_attrs *io);

/*
 * Whether two spellings mean the same key: "mac-pools" and "mac_pools" do, because both are in use.
 */
bool reader_same_key(const char *a, const char *b);

int reader_fail(struct reader *r, const struct doc_node *at, const char *key, int error,
	const char *fmt, ...) _printf_(5, 6);

/* Call @one for each entry of a list of at most @max, with the path "key[n].". */
int reader_each(struct reader *r, const struct key *key, const struct doc_node *list,
	size_t max, void *object,
	int (*one)(struct reader *r, const struct doc_node *node, void *object));

/* The text of a scalar; otherwise the message says what was found. */
int reader_text(struct reader *r, const struct key *key, const struct doc_node *value,
	const char **ret);

/* Readers for tables. Members: uint32_t, bool, unsigned-sized enum, char *. */
int read_u32(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_switch(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_word(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* One of @choices, stored as text. */
int read_word_text(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* One line of @min..@max bytes. */
int read_line(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_string(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* An absolute path without newline. */
int read_path(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);

/* "90s", "30m", "1h", "7d" as seconds: @min..@max. */
int read_seconds(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* Likewise, or "500ms", as milliseconds: @min..@max. */
int read_milliseconds(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object);
/* A VF attribute of the table. */
int read_table_attr(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* A list of 1..@max texts of one line each; a char **. */
int read_lines(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);

#endif
