/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SPEC_READER_H
#define VFCTL_SPEC_READER_H

#include "spec/doc.h"
#include "core/vfattr.h"

/* Where we are, for the messages. */
struct reader {
	struct vfctl_ctx *ctx;
	const char *path; /* "" or "vfs[2]." */
};

/*
 * One key of a mapping, a row of a table. @read fills the member @offset of the
 * structure; @words and @min, @max are for those readers that use them.
 */
struct key {
	const char *name;
	int (*read)(struct reader *r, const struct key *key, const struct doc_node *value,
		void *object);
	size_t offset;
	uint64_t min, max;
	const char *const *words; /* NULL-terminated; the value is the index */
};

/*
 * What a reader takes, for the JSON schema (schema.c): an alternative for each member that is
 * set. The schema takes all that the reader takes; what it cannot say, it leaves to the reader.
 */
enum {
	SHAPE_NUMBER = 1, /* @min..@max, or those of the row when @max is 0 */
	SHAPE_TEXT = 2,   /* one value, whatever YAML takes it for; the row's length */
	SHAPE_STRING = 4, /* one value that YAML takes for text only */
	SHAPE_SWITCH = 8,
	SHAPE_WORDS = 16, /* one of the row's */
	SHAPE_ATTR = 32,  /* a VF attribute: the row's first word, else its name */
	SHAPE_FILLED = 64, /* a list has an entry, a mapping a key, at least */
};

struct shape {
	int (*read)(struct reader *r, const struct key *key, const struct doc_node *value,
		void *object);
	unsigned kinds;
	uint64_t min, max;
	const char *pattern; /* of text; understood by POSIX and ECMA-262 alike */
	const char *const *words; /* NULL-terminated, besides the rest */
	const struct table *map;  /* a mapping by that table */
	const char *named; /* and one level in between: keys like this, each with such a mapping */
	const struct shape *each; /* a list of these, at most as many as @most or the row's max */
	uint64_t most;
};

/* The rows of a mapping with the shapes of those readers that are not in reader.h. */
struct table {
	const struct key *keys;
	size_t count;
	const struct shape *shapes;
	size_t shape_count;
	const char *const *required; /* NULL-terminated; "a|b": one of the two */
	/* Keys for VF attributes besides the rows: which, where they are, and whose spelling. */
	uint32_t attr_bits;
	size_t attrs;
	enum attr_file { HOST_FILE, GUEST_FILE } attr_file;
};

/* The row of a key, or of an attribute behind the rows; false past the last. */
bool table_key(const struct table *table, size_t index, struct key *ret);

/*
 * Read the mapping @node by its table. @ret_seen (may be NULL) receives the value of each
 * key or NULL, in the order of the table, which has at most 64 rows.
 */
int reader_map(struct reader *r, const struct doc_node *node, const struct key *keys,
	size_t count, void *object, const struct doc_node **ret_seen);
/* The same with the attributes of the table, which @ret_seen does not have. */
int reader_table(struct reader *r, const struct doc_node *node, const struct table *table,
	void *object, const struct doc_node **ret_seen);

/* The same of the mapping that is the value of @key: its words name both keys. */
int reader_inner(struct reader *r, const struct key *key, const struct doc_node *value,
	const struct table *table, void *object);
/* Or of a value that stands for the first key of @table alone. @hint: what to write instead of {}. */
int reader_short(struct reader *r, const struct key *key, const struct doc_node *value,
	const struct table *table, void *object, const char *hint);
/* @value as the VF attribute that is called like the row's first word, else like its name. */
int reader_attr(struct reader *r, const struct key *key, const struct doc_node *value,
	struct vfctl_vf_attrs *io);

/* "mac-pools" and "mac_pools" are one key: our files have grown with both spellings. */
bool reader_same_key(const char *a, const char *b);

int reader_fail(struct reader *r, const struct doc_node *at, const char *key, int error,
	const char *fmt, ...) _printf_(5, 6);

/* Call @one for each entry of a list of at most @max, with the path "key[n].". */
int reader_each(struct reader *r, const struct key *key, const struct doc_node *list,
	size_t max, void *object,
	int (*one)(struct reader *r, const struct doc_node *node, void *object));

/* The text of a scalar that is there; words say what else came. */
int reader_text(struct reader *r, const struct key *key, const struct doc_node *value,
	const char **ret);

/* Readers for tables. Members: uint32_t, bool, unsigned-sized enum, char *. */
int read_u32(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_switch(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_word(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* One of @words, kept as text. */
int read_word_text(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* One line, @min..@max bytes. */
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
/* The same or "500ms", as milliseconds: @min..@max. */
int read_milliseconds(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object);
/* A VF attribute of a table. */
int read_table_attr(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* A list of texts of one line each, 1..@max of them; a char **. */
int read_lines(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);

#endif
