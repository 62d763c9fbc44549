/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SPEC_DOC_H
#define VFCTL_SPEC_DOC_H

#include "base/ctx.h"
#include "base/util.h"

/*
 * A YAML document as a tree with positions. All scalars are text: the reader of each key decides
 * what they mean, not YAML's implicit types (NO, 1e3, 0x10, 1:30).
 */
enum doc_kind { DOC_SCALAR, DOC_MAP, DOC_LIST };

struct doc_node {
	enum doc_kind kind;
	const char *file; /* the name that was passed to doc_parse(); not owned */
	unsigned line, column; /* from 1; 0: it was made from options and has no position */
	char *text;  /* of a scalar: UTF-8; \t and \n are the only control characters */
	bool quoted; /* distinguishes '' and 'null' from an absent value */
	struct doc_node **items; /* of a list; of a map: the values */
	struct doc_node **keys;  /* of a map: scalars, no two equal */
	size_t count;
};

/* Every error message starts with "file:line:column: ". Returns @error. */
int doc_fail(struct vfctl_ctx *ctx, const struct doc_node *at, int error, const char *fmt, ...)
	_printf_(4, 5);

/*
 * One document of at most @max bytes. Rejected: other encodings than UTF-8 (-EILSEQ), aliases,
 * anchors, tags, repeated keys, a second document (-EINVAL).
 */
int doc_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	size_t max, struct doc_node **ret);

/*
 * Move the members of the mapping @from into the mapping @into, to combine two documents. Lists of
 * the same key are joined; any other key that both have is an error (-EINVAL), and the message
 * names both places. So is anything that is not a mapping. @same: whether these are two spellings
 * of one key.
 */
int doc_merge(struct vfctl_ctx *ctx, struct doc_node *into, struct doc_node *from,
	bool (*same)(const char *a, const char *b));

/*
 * The document as JSON in one line. All its scalars are strings, so doc_parse() reads the same
 * document from it. NULL if memory is exhausted.
 */
char *doc_json(const struct doc_node *root);
/*
 * The document, a mapping or a list, as YAML in block style for people, without its comments.
 * doc_parse() reads the same document from it. NULL if memory is exhausted.
 */
char *doc_yaml(const struct doc_node *root);

void doc_free(struct doc_node *node);
DEFINE_FREEP(struct doc_node, doc_free)

/* "FILE:LINE:COLUMN", for messages after the document was freed; NULL if memory is exhausted. */
char *doc_at(const struct doc_node *node);

#endif
