/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_DOMAIN_XML_H
#define VFCTL_DOMAIN_XML_H

#include <stdint.h>

#include "base/ctx.h"
#include "base/util.h"

/*
 * A document and its elements, as much of libxml2 as this room needs. Names are those of
 * elements without namespace, unless a function says _ns. A failed allocation is
 * remembered in the document and reported by xml_print(); functions that make an element
 * may return NULL then, and all functions take NULL for an element.
 */
struct xml;
struct xml_node;

/*
 * Read @len bytes. Nothing is fetched, and a DOCTYPE is refused before its content is
 * looked at, so that no entity can be declared. Words of failures start "file:line: ".
 */
int xml_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct xml **ret);
/* As xml_parse(), and the root must be <domain>. */
int xml_parse_domain(
	struct vfctl_ctx *ctx, const char *file, const char *text, struct xml **ret);
/* A document with only a root. */
int xml_new(struct vfctl_ctx *ctx, const char *root, struct xml **ret);
void xml_free(struct xml *xml);
DEFINE_FREEP(struct xml, xml_free)
/* The text, indented, without XML declaration. */
int xml_print(struct vfctl_ctx *ctx, struct xml *xml, char **ret);

struct xml_node *xml_root(struct xml *xml);
/* Local name; "" for an element of another namespace. */
const char *xml_name(const struct xml_node *node);
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
/* Text of the element without white space at its ends; NULL when it does not fit. */
const char *xml_text(const struct xml_node *node, char *buf, size_t size);

struct xml_node *xml_add(struct xml_node *parent, const char *name);
/* The new element stands before @sibling, or last when that is NULL. */
struct xml_node *xml_add_before(
	struct xml_node *parent, struct xml_node *sibling, const char *name);
/* With a declaration of the namespace on the element, unless one is in force. */
struct xml_node *xml_add_ns(
	struct xml_node *parent, const char *ns, const char *prefix, const char *name);
/* A copy of an element with all it holds, of this or another document: the last of @parent. */
struct xml_node *xml_add_copy(struct xml_node *parent, const struct xml_node *node);
/*
 * Do they say the same? The order of attributes and children, white space in text and prefixes of
 * namespaces do not count. NULL is an element that is not there. 1, 0; -ENOMEM.
 */
int xml_same(const struct xml_node *a, const struct xml_node *b);
/* The same of their own text, without that of their children. */
int xml_same_text(const struct xml_node *a, const struct xml_node *b);
void xml_set(struct xml_node *node, const char *attr, const char *value);
void xml_setf(struct xml_node *node, const char *attr, const char *fmt, ...)
	_printf_(3, 4);
void xml_set_text(struct xml_node *node, const char *text);
void xml_set_textf(struct xml_node *node, const char *fmt, ...) _printf_(2, 3);
void xml_unset(struct xml_node *node, const char *attr);
void xml_remove(struct xml_node *node);
/* Take out its attributes and all it holds; the element keeps its place. */
void xml_clear(struct xml_node *node);
void xml_remove_children(struct xml_node *node, const char *name);

#endif
