/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_DOMAIN_XML_H
#define VFCTL_DOMAIN_XML_H

#include <stdint.h>

#include "base/ctx.h"
#include "base/util.h"

/*
 * A document and its elements: the part of libxml2 that this room needs. Names are those of
 * elements without namespace, unless a function says _ns. A failed allocation is remembered in the
 * document and reported by xml_print(); functions that make an element may return NULL then, and
 * all functions take NULL for an element.
 */
struct xml;
struct xml_node;

/*
 * Read @len bytes. Nothing is fetched. A DOCTYPE is rejected before its content is read, so no
 * entity can be declared. Error messages start with "file:line: ".
 */
int xml_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct xml **ret);
/* Like xml_parse(), and the root must be <domain>. */
int xml_parse_domain(
	struct vfctl_ctx *ctx, const char *file, const char *text, struct xml **ret);
/* Create a document with only a root. */
int xml_new(struct vfctl_ctx *ctx, const char *root, struct xml **ret);
void xml_free(struct xml *xml);
DEFINE_FREEP(struct xml, xml_free)
/* The text, indented, without XML declaration. */
int xml_print(struct vfctl_ctx *ctx, struct xml *xml, char **ret);

struct xml_node *xml_root(struct xml *xml);
/* Local name; "" for an element of another namespace. */
const char *xml_name(const struct xml_node *node);
/* Its namespace, "" without one; owned by the document. */
const char *xml_ns(const struct xml_node *node);
unsigned xml_line(const struct xml_node *node);
/* First child and next sibling with that name; any name when it is NULL. */
struct xml_node *xml_child(const struct xml_node *node, const char *name);
struct xml_node *xml_next(const struct xml_node *node, const char *name);
struct xml_node *xml_child_ns(
	const struct xml_node *node, const char *ns, const char *name);
struct xml_node *xml_next_ns(
	const struct xml_node *node, const char *ns, const char *name);
struct xml_node *xml_parent(const struct xml_node *node);
/* Elements of any namespace. */
bool xml_has_children(const struct xml_node *node);
struct xml_node *xml_first(const struct xml_node *node);
struct xml_node *xml_after(const struct xml_node *node);
/* Name and namespace are the same. */
bool xml_same_name(const struct xml_node *a, const struct xml_node *b);
#define xml_each(c, node, name)                                                          \
	for (struct xml_node *c = xml_child(node, name); c; c = xml_next(c, name))

/* Value of an attribute without namespace, owned by the document; NULL without it. */
const char *xml_get(const struct xml_node *node, const char *attr);
bool xml_get_is(const struct xml_node *node, const char *attr, const char *value);
/* Call @fn for each attribute without namespace, until it returns non-zero. */
int xml_each_attr(const struct xml_node *node,
	int (*fn)(void *data, const char *name, const char *value), void *data);
/* Call it for all, also with the namespace ("" without). */
int xml_each_attr_of_any(const struct xml_node *node,
	int (*fn)(void *data, const char *ns, const char *name, const char *value), void *data);
/* Its text without that of its children; "" without text. free() it; NULL: memory is exhausted. */
char *xml_own_text(const struct xml_node *node);
/* The element's text without white space at the ends; NULL if it does not fit. */
const char *xml_text(const struct xml_node *node, char *buf, size_t size);

struct xml_node *xml_add(struct xml_node *parent, const char *name);
/* Move the element with the comments above it; @sibling keeps those above it. */
void xml_move_before(struct xml_node *node, struct xml_node *sibling);
/* Insert the new element before @sibling, or last if that is NULL. */
struct xml_node *xml_add_before(
	struct xml_node *parent, struct xml_node *sibling, const char *name);
/* Declare the namespace on the element, unless a declaration is in force. */
struct xml_node *xml_add_ns(
	struct xml_node *parent, const char *ns, const char *prefix, const char *name);
/* Append a copy of an element with its contents, of this or another document, to @parent. */
struct xml_node *xml_add_copy(struct xml_node *parent, const struct xml_node *node);
/*
 * Whether two elements mean the same. The order of attributes and children, white space in text and
 * namespace prefixes do not matter. NULL is an absent element. 1 or 0; -ENOMEM.
 */
int xml_same(const struct xml_node *a, const struct xml_node *b);
/* Compare only their own text, without that of their children. */
int xml_same_text(const struct xml_node *a, const struct xml_node *b);
void xml_set(struct xml_node *node, const char *attr, const char *value);
void xml_setf(struct xml_node *node, const char *attr, const char *fmt, ...)
	_printf_(3, 4);
void xml_set_text(struct xml_node *node, const char *text);
void xml_set_textf(struct xml_node *node, const char *fmt, ...) _printf_(2, 3);
void xml_unset(struct xml_node *node, const char *attr);
void xml_remove(struct xml_node *node);
/* Remove its attributes and contents; the element keeps its position. */
void xml_clear(struct xml_node *node);
void xml_remove_children(struct xml_node *node, const char *name);

#endif
