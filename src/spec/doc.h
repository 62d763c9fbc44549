/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SPEC_DOC_H
#define VFCTL_SPEC_DOC_H

#include "base/ctx.h"
#include "base/util.h"

/*
 * A YAML document as a tree with places, all scalars as text: what they mean is for the
 * reader of each key to say, not for YAML's guessing (NO, 1e3, 0x10, 1:30).
 */
enum doc_kind { DOC_SCALAR, DOC_MAP, DOC_LIST };

struct doc_node {
	enum doc_kind kind;
	const char *file; /* as the caller of doc_parse() called it; not owned */
	unsigned line, column; /* from 1; 0: it was made of options, and has no place */
	char *text;  /* of a scalar: UTF-8 without control characters but \t \n */
	bool quoted; /* so that '' and 'null' are values */
	struct doc_node **items; /* of a list; of a map: the values */
	struct doc_node **keys;  /* of a map: scalars, no two equal */
	size_t count;
};

/* The words of every failure start "file:line:column: ". Returns @error. */
int doc_fail(struct vfctl_ctx *ctx, const struct doc_node *at, int error, const char *fmt, ...)
	_printf_(4, 5);

/*
 * One document of at most @max bytes. Refused: other encodings than UTF-8 (-EILSEQ),
 * aliases, anchors, tags, repeated keys, a second document (-EINVAL).
 */
int doc_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	size_t max, struct doc_node **ret);

/*
 * Move what the mapping @from says into the mapping @into: two documents become one. Lists of one
 * key are joined; any other key that both have is refused with both places (-EINVAL), and so is
 * what is no mapping. @same: are these two spellings of one key?
 */
int doc_merge(struct vfctl_ctx *ctx, struct doc_node *into, struct doc_node *from,
	bool (*same)(const char *a, const char *b));

/*
 * The document as JSON in one line, whose scalars are all strings: doc_parse() reads the same document
 * from it. NULL: out of memory.
 */
char *doc_json(const struct doc_node *root);

void doc_free(struct doc_node *node);
DEFINE_FREEP(struct doc_node, doc_free)

#endif
